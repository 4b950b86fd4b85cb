"""Tables of when correct and wrong labels are learnt (the paper's figures 1 and 7, table 7)."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from benchmarks.nc_curves import BINS
from benchmarks.pages.common import Block, spread, spread_number, table
from benchmarks.pages.curves import PROTOCOLS, Groups, groups_of

_EXAMPLES = 4  # as in the paper's table


def distribution(protocol: str, kind: str) -> Block:
    """Return the shares of correct and wrong pseudo-labels by probability or learning epoch."""
    groups = groups_of(protocol)
    epochs = _most_epochs(groups)
    bins = [f"{number / BINS:.1f} to {(number + 1) / BINS:.1f}" for number in range(BINS)]
    by_epoch = [*(f"epoch {number}" for number in range(1, epochs + 1)), "never"]
    heads = bins if kind == "probability" else by_epoch
    rows = [["classifier", "data", "pseudo-labels", *(f"{head}, %" for head in heads)]]
    for (classifier, data), files in groups.items():
        for side in ("correct", "wrong"):
            found = [item["result"]["distributions"][kind][side] for item in files]
            if None in found or len({len(shares) for shares in found}) > 1:
                continue
            cells = [spread(list(column)) for column in zip(*found, strict=True)]
            rows.append([classifier, data, side, *_never_last(cells, len(heads))])
    return table(rows, groups.values())


def wrong(protocol: str) -> Block:
    """Return the number of wrong pseudo-labels by probability and learning epoch.

    Empty bins are left out.
    """
    groups = _with_wrong(protocol)
    epochs = _most_epochs(groups)
    heads = (f"epoch {number}" for number in range(1, epochs + 1))
    rows = [["classifier", "data", "probability", *heads, "never"]]
    for (classifier, data), files in groups.items():
        per_file = [item["result"]["wrong"]["counts"] for item in files]
        for number in range(BINS):
            counts = list(zip(*(bins[number] for bins in per_file), strict=True))
            if any(map(any, counts)):
                cells = _never_last([spread_number(values, 1) for values in counts], epochs + 1)
                span = f"{number / BINS:.1f} to {(number + 1) / BINS:.1f}"
                rows.append([classifier, data, span, *cells])
    return table(rows, groups.values())


def wrong_examples(protocol: str) -> Block:
    """Return wrong pseudo-labels with large probabilities that are learnt after the first epoch.

    They are taken from the first seed.
    """
    groups = _with_wrong(protocol)
    heads = ("document", "pseudo-label", "gold label", "probability", "learnt in epoch", "seed")
    rows = [["classifier", "data", *heads]]
    for (classifier, data), (item, *_) in groups.items():
        late = [row for row in item["result"]["wrong"]["examples"] if row["learnt_at"] is not None]
        for row in sorted(late, key=lambda row: -row["probability"])[:_EXAMPLES]:
            labels = [row["id"], row["pseudo_label"], row["gold"]]
            numbers = [f"{row['probability']:.2f}", row["learnt_at"], item["about"]["seed"]]
            rows.append([classifier, data, *labels, *map(str, numbers)])
    return table(rows, groups.values())


def _most_epochs(groups: Groups) -> int:
    every = [item["result"]["epochs"] for files in groups.values() for item in files]
    return max(every, default=0)


def _never_last(cells: list[str], width: int) -> list[str]:
    """Fill up the rows of shorter trainings; the last column is that for never."""
    return [*cells[:-1], *["-"] * (width - len(cells)), cells[-1]]


def _with_wrong(protocol: str) -> Groups:
    """Return the groups whose files all count wrong labels and train for the same epochs."""
    return {
        key: files
        for key, files in groups_of(protocol).items()
        if all("wrong" in item["result"] for item in files)
        and len({item["result"]["epochs"] for item in files}) == 1
    }


MAKERS: dict[str, Callable[[str], Block]] = {
    "probabilities": partial(distribution, kind="probability"),
    "epochs": partial(distribution, kind="learnt_at"),
    "wrong": wrong,
    "wrong-examples": wrong_examples,
}
TABLES: dict[str, Callable[[], Block]] = {
    f"{protocol}-{name}": partial(make, protocol)
    for protocol in PROTOCOLS
    for name, make in MAKERS.items()
}
