"""Tables of self-training: the shape of the paper's tables 3, 5 and 6, and its figures of F1 over
iterations and over tau.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from statistics import mean
from typing import Any

from benchmarks.over_seeds import PREFIX, is_of
from benchmarks.pages.common import paper, results, spread, table
from lops_adapters.evaluation import share_of_gap_closed
from lops_adapters.selection import METHODS

Files = Sequence[dict[str, Any]]
DATASETS = {
    "cpu": ("20news-coarse", "20news-fine", "agnews"),
    "paper": ("nyt-coarse", "nyt-fine", "20news-coarse", "20news-fine", "agnews", "books"),
}
CLASSIFIERS = {
    "cpu": ("linear", "minilm"),
    "paper": ("bert-base-uncased", "xlnet-base-cased", "gpt2", "roberta-base"),
}
# of the paper's classifiers the one that stands beside those the paper does not have
_BESIDE = "bert-base-uncased"


def files_of(
    protocol: str, classifier: str, kind: str = "self-training"
) -> dict[str, list[dict[str, Any]]]:
    """Data set -> its result files, one a seed; an empty list is a hole."""
    return {
        data: results(f"{protocol}/{kind}-{classifier}-{data}-seed*.json")
        for data in DATASETS[protocol]
    }


def methods_in(groups: Sequence[Files]) -> list[str]:
    """Return the methods that any file has, in the order of the table of methods."""
    found = {arm for files in groups for item in files for arm in item["result"]["arms"]}
    return [name for name in METHODS if name in found]


def values(files: Files, arm: str, key: str) -> list[float | None]:
    """One number of an arm a file; None where it has no such arm."""
    return [item["result"]["arms"].get(arm, {}).get(key) for item in files]


def f1(protocol: str, classifier: str) -> str:
    """Return methods against data sets, micro and macro-F1 over seeds, with the paper's beside
    them.
    """
    groups = files_of(protocol, classifier)
    published = paper()["self_training"]
    beside = classifier if classifier in published else _BESIDE
    rows = [
        [
            "method",
            *(
                head
                for data in groups
                for head in (f"{data}, micro / macro-F1 %", f"the paper, {beside}")
            ),
        ]
    ]
    for method in methods_in(list(groups.values())):
        row = [method]
        for data, files in groups.items():
            theirs = published[beside].get(method, {}).get(data)
            row.append(
                f"{spread(values(files, method, 'micro_f1'))} / {spread(values(files, method, 'macro_f1'))}"
                if files
                else "-"
            )
            row.append("{:.1f} ± {:.2f} / {:.1f} ± {:.2f}".format(*theirs) if theirs else "-")
        rows.append(row)
    return table(rows, groups.values())


def gap(protocol: str, classifier: str) -> str:
    """Return methods against data sets: the share of the way from standard to optimal, in macro-F1."""
    groups = files_of(protocol, classifier)
    rows = [["method", *(f"{data}, share of the gap %" for data in groups)]]
    for method in methods_in(list(groups.values())):
        if method not in ("standard", "optimal"):
            rows.append(
                [
                    method,
                    *(
                        spread([_closed(item, method) for item in files])
                        for files in groups.values()
                    ),
                ]
            )
    return table(rows, groups.values())


def _closed(item: dict[str, Any], method: str) -> float | None:
    scores = [
        item["result"]["arms"].get(arm, {}).get("macro_f1")
        for arm in ("standard", method, "optimal")
    ]
    return None if None in scores else share_of_gap_closed(*scores)


def significance(protocol: str, classifier: str, kind: str = "self-training") -> str:
    """Return differences in macro-F1 in points, and how sure they are.

    In how many seeds the paired bootstrap over documents gives p < 0.05, whichever of the two is
    ahead; and, where seeds have the same documents and were compared, the 95 % interval and the
    p-value of the bootstrap over seeds and documents.
    """
    groups = files_of(protocol, classifier, kind)
    together = {
        data: _over_seeds(f"{protocol}/{PREFIX}{kind}-{classifier}-{data}.json", files)
        for data, files in groups.items()
    }
    methods = methods_in(list(groups.values()))
    pairs = [("lops", other) for other in methods if other != "lops"]
    pairs += [(method, "standard") for method in methods if method not in ("lops", "standard")]
    what = "points of macro-F1 (seeds with p < 0.05, either way) [95 % interval over seeds and documents, p]"
    rows = [["difference", *(f"{data}, {what}" for data in groups)]]
    for first, second in pairs:
        rows.append(
            [
                f"{first} - {second}",
                *(
                    _difference(files, together[data], first, second)
                    for data, files in groups.items()
                ),
            ]
        )
    return table(rows, groups.values())


def _over_seeds(pattern: str, files: Files) -> dict[str, Any]:
    """The comparison over just these runs, first -> second -> scores; empty where there is none."""
    found = [item["result"]["significance"] for item in results(pattern) if is_of(item, files)]
    return found[0] if found else {}


def _difference(files: Files, together: dict[str, Any], first: str, second: str) -> str:
    found = [item["result"].get("significance", {}).get(first, {}).get(second) for item in files]
    if not found or None in found:
        return "-"
    macro = [item["macro"] for item in found]
    sure = sum(item["p_value"] < 0.05 for item in macro)
    text = f"{100 * mean(item['difference'] for item in macro):+.1f} ({sure} of {len(macro)})"
    over = together.get(first, {}).get(second)
    if over is None:
        return text
    return f"{text} [{100 * over['macro']['low']:+.1f} to {100 * over['macro']['high']:+.1f}, p {over['macro']['p_value']:.3f}]"


def iterations(protocol: str, classifier: str, kind: str = "self-training") -> str:
    """Return macro-F1 after each iteration, what is kept in the first and the last and its noise, a
    row a data set and method.
    """
    groups = files_of(protocol, classifier, kind)
    most = max(
        (
            len(arm["iterations"])
            for files in groups.values()
            for item in files
            for arm in item["result"]["arms"].values()
        ),
        default=0,
    )
    scored = (f"iteration {number}, macro-F1 %" for number in range(most))
    rows = [
        [
            "data",
            "method",
            *scored,
            *(
                f"{what}, {when}"
                for what in ("kept %", "noise of it %")
                for when in ("first", "last")
            ),
        ]
    ]
    for data, files in groups.items():
        for method in methods_in([files]):
            arms = [item["result"]["arms"].get(method, {}).get("iterations", []) for item in files]
            scores = [
                spread([arm[number]["macro_f1"] if number < len(arm) else None for arm in arms])
                for number in range(most)
            ]
            kept = [
                spread(
                    [
                        arm[at]["selected"] / arm[at]["pseudo_labels"] if arm else None
                        for arm in arms
                    ]
                )
                for at in (0, -1)
            ]
            noise = [
                spread([arm[at]["selected_noise"] if arm else None for arm in arms])
                for at in (0, -1)
            ]
            rows.append([data, method, *scores, *kept, *noise])
    return table(rows, groups.values())


def tau(protocol: str) -> str:
    """Return macro-F1 of lops for some tau, a row a classifier, data set, rule and tau; standard,
    where measured, is beside them.
    """
    groups: dict[tuple[str, ...], list[dict[str, Any]]] = {}
    for item in results(f"{protocol}/tau-*.json"):
        settings = item["about"]["settings"]
        key = (
            settings["classifier"],
            item["about"]["dataset"]["name"],
            settings["rule"],
            f"{settings['tau']:g}",
        )
        groups.setdefault(key, []).append(item)
    rows = [
        ["classifier", "data", "rule", "tau", "micro-F1 %", "macro-F1 %", "standard, macro-F1 %"]
    ]
    for (classifier, data, rule, number), files in sorted(groups.items()):
        usual = results(f"{protocol}/self-training-{classifier}-{data}-seed*.json")
        scores = [spread(values(files, "lops", key)) for key in ("micro_f1", "macro_f1")]
        rows.append(
            [classifier, data, rule, number, *scores, spread(values(usual, "standard", "macro_f1"))]
        )
    return table(rows, groups.values())


_OF_CLASSIFIER = {"f1": f1, "gap": gap, "significance": significance, "iterations": iterations}
TABLES: dict[str, Callable[[], str]] = {
    **{
        f"{protocol}-{name}-{classifier}": partial(make, protocol, classifier)
        for protocol, classifiers in CLASSIFIERS.items()
        for classifier in classifiers
        for name, make in _OF_CLASSIFIER.items()
    },
    **{
        f"cpu-{make.__name__}-{classifier}-stratified": partial(
            make, "cpu", classifier, "stratified"
        )
        for classifier in CLASSIFIERS["cpu"]
        for make in (significance, iterations)
    },
    **{f"{protocol}-tau": partial(tau, protocol) for protocol in CLASSIFIERS},
}
