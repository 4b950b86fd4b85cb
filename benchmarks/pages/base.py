"""Tables of the base encoder: fine-tuned as a probe, and frozen in self-training."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import accumulate
from statistics import mean
from typing import Any

from benchmarks.encoder_costs import TEXTS, THREADS
from benchmarks.nc_curves import noise_at
from benchmarks.pages import curves, equal, gpu
from benchmarks.pages.common import (
    CORPORA,
    HOLE,
    Block,
    Files,
    commits,
    heads,
    markdown,
    results,
    spread,
    spread_number,
    table,
)
from benchmarks.pages.distributions import distribution
from lops_adapters.runs.arms import ADAPTIVE, LOPS, STANDARD

_PROTOCOL, _HALF = "fine-tuned", 0.5
_NAMES = ("learning-order", "probability", "margin", "automatic", "random")
_INSIDE = "learning-order, every 6 updates"
_ARMS = ("standard", "random", LOPS, ADAPTIVE, "committee", "optimal")
_WITH_CONTROL = (STANDARD, LOPS, f"random-of-{LOPS}", ADAPTIVE, "committee", "random", "optimal")
# Places of the table on equal terms at which the committee of README's table selects.
_COMMITTEE_AT = ("first", "all", "predictions")
# Who has the cells of an encoder on whole corpora, by rank, and with the hybrid classifier.
_ENCODERS = {"static": "rounds", "base": "base"}


def ranking() -> Block:
    """Return how a fine-tuned probe ranks, and what the better half is worth.

    One row per data set and confidence.
    """
    head = ["data", "confidence", "AUROC", "AUNC", "noise of the better half, %"]
    rows = [[*head, "the same of every class, %", "macro-F1, trained on these, %"]]
    groups = curves.groups_of(_PROTOCOL)
    for (_, data), files in groups.items():
        for name in (*_NAMES[:1], _INSIDE, *_NAMES[1:]):
            found = curves.of_confidence(files, name)
            cells = [spread_number([each["auroc"] for each in found], 3)]
            cells += [spread_number([each["aunc"] for each in found], 3)]
            cells += [spread([noise_at(each, _HALF) for each in found])]
            even = f"{name}, per class" if name == "probability" else name
            rows.append([CORPORA[data], f"`{name}`", *cells, *_trained(files, even, _HALF)])
        alone = spread_number([auroc_of_epochs(item) for item in files], 3)
        rows.append([CORPORA[data], "epoch of learning alone", alone, "-", "-", "-", "-"])
        together = _trained(files, "probability", _HALF)
        rows.append([CORPORA[data], "`probability`, all classes together", *["-"] * 3, *together])
        rows.append([CORPORA[data], "all labels", *["-"] * 3, *_trained(files, "all", 1.0)])
    return table(rows, groups.values())


def _trained(files: Files, name: str, share: float) -> list[str]:
    """Return noise and macro-F1 of classifiers trained on a share of the labels, as cells."""
    found = curves.f1_rows(files, name, share)
    return [spread([row[key] for row in found]) for key in ("noise", "macro_f1")]


def auroc_of_epochs(item: dict[str, Any]) -> float:
    """Return how often a right label is learnt in an earlier epoch than a wrong one; a tie is half.

    >>> learnt = {"correct": [0.9, 0.1], "wrong": [0.5, 0.5]}
    >>> round(auroc_of_epochs({"result": {"distributions": {"learnt_at": learnt}}}), 3)
    0.7
    """
    learnt = item["result"]["distributions"]["learnt_at"]
    later = [1 - before for before in accumulate(learnt["wrong"])]
    pairs = zip(learnt["correct"], learnt["wrong"], later, strict=True)
    return float(sum(right * (after + wrong / 2) for right, wrong, after in pairs))


def self_training() -> Block:
    """Return macro-F1 after the first and the last iteration, by encoder."""
    rows = [["data", "encoder", "seeds", "after iteration", *heads(_ARMS)]]
    groups = []
    for data, shown in CORPORA.items():
        for encoder, protocol in _ENCODERS.items():
            files = results(f"{protocol}/self-training-hybrid-{data}-seed*.json")
            if not files:
                continue
            groups.append(files)
            for number, at in ((1, 0), (5, -1)):
                cells = [spread(list(_macro(files, arm, at))) for arm in _ARMS]
                rows.append([shown, encoder, str(len(files)), str(number), *cells])
    return table(rows, groups)


def headline() -> Block:
    """Return README's table: each framework as it is, with LOPS twice, and with ours.

    One row per framework: means over the runs that have all arms. LOPS selects where the paper has
    it, and at the step of the committee.
    """
    same = "LOPS, same step"
    arms = (STANDARD, LOPS, same, "committee")
    rows = [["framework", "corpora", "runs", "standard", "LOPS as published", same, "ours"]]
    found: dict[str, dict[str, dict[str, dict[int, float]]]] = {}
    groups: list[Files] = []
    for cell in equal.cells():
        known = found.setdefault(cell.framework, {}).setdefault(cell.data, {})
        for arm in arms:
            if by_seed := cell.scores(arm):
                known.setdefault(arm, by_seed)
        if cell.place in _COMMITTEE_AT:
            known[same] = cell.scores(LOPS)
        groups.append(cell.files)
    for data, shown in CORPORA.items():
        for item in results(f"base/self-training-hybrid-{data}-seed*.json"):
            scores = found.setdefault("self-training", {}).setdefault(shown, {})
            groups.append([item])
            for arm, measured in item["result"]["arms"].items():
                for name in (arm, same) if arm == LOPS else (arm,):
                    scores.setdefault(name, {})[item["about"]["seed"]] = measured["macro_f1"]
    for framework, corpora in found.items():
        runs = [
            [[scores[arm][seed] for arm in arms] for seed in sorted(seeds)]
            for scores in corpora.values()
            if (seeds := set.intersection(*(set(scores.get(arm, ())) for arm in arms)))
        ]
        every = [run for of_corpus in runs for run in of_corpus]
        if every:
            means = (f"{100 * mean(values):.1f}" for values in zip(*every, strict=True))
            rows.append([framework, str(len(runs)), str(len(every)), *means])
    return table(rows, groups) if len(rows) > 1 else HOLE


def costs() -> Block:
    """Return what each encoder costs."""
    head = ["encoder", "texts per second, one thread", "two threads, at most", "weights, MB"]
    rows, found = [[*head, "memory, MB"]], []
    for name in TEXTS:
        for item in results(f"encoder-costs/{name}.json"):
            found.append(item)
            result = item["result"]
            rates = [result["texts_per_second"].get(str(threads)) for threads in THREADS]
            cells = ["uses one" if rate is None else f"{rate:,.0f}" for rate in rates]
            sizes = [f"{result[key] / 1e6:,.0f}" for key in ("bytes", "peak_bytes")]
            rows.append([f"`{name}`", *cells, *sizes])
    where = f"commits {commits(found)}: `python -m benchmarks.encoder_costs --data-dir DIR`"
    return Block(f"{markdown(rows)}\n\nTexts of AG News, {where}.") if found else HOLE


def _macro(files: Files, arm: str, at: int) -> Iterator[float | None]:
    for item in files:
        found = item["result"]["arms"].get(arm)
        yield found["iterations"][at]["macro_f1"] if found else None


TABLES: dict[str, Callable[[], Block]] = {
    "fine-tuned-ranking": ranking,
    "fine-tuned-learnt-at": partial(distribution, _PROTOCOL, "learnt_at"),
    "fine-tuned-probability": partial(distribution, _PROTOCOL, "probability"),
    "base-self-training": self_training,
    "base-frameworks": partial(gpu.frameworks, "base/{}-{}-seed*.json", _WITH_CONTROL),
    "headline-lops": headline,
    "encoder-costs": costs,
}
