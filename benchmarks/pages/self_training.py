"""Tables of self-training (the paper's tables 3, 5 and 6, and its figures 5 and 6)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from statistics import mean
from typing import Any

from benchmarks.over_seeds import PREFIX, is_of
from benchmarks.pages.common import Block, Files, paper, results, spread, table
from benchmarks.significance import share_of_gap_closed
from lops_adapters.runs.arms import ADAPTIVE, LOPS, STANDARD
from lops_adapters.selection import METHODS

DATASETS = {
    "cpu": ("20news-coarse", "20news-fine", "agnews"),
    "rounds": ("20news-coarse", "20news-fine", "agnews"),
    "paper": ("nyt-coarse", "nyt-fine", "20news-coarse", "20news-fine", "agnews", "books"),
}
CLASSIFIERS = {
    "cpu": ("linear", "minilm"),
    "paper": ("bert-base-uncased", "xlnet-base-cased", "gpt2", "roberta-base"),
}
# the paper's classifier that is shown beside those the paper does not have
_BESIDE = "bert-base-uncased"


def files_of(
    protocol: str, classifier: str, kind: str = "self-training"
) -> dict[str, list[dict[str, Any]]]:
    """Return data set -> its result files, one per seed; an empty list if nothing was measured."""
    return {
        data: results(f"{protocol}/{kind}-{classifier}-{data}-seed*.json")
        for data in DATASETS[protocol]
    }


def rule_and_keep(item: dict[str, Any]) -> tuple[Any, Any]:
    """Return the rule of a run's one arm, and the fraction that it keeps.

    The first files call the settings rule and tau.
    """
    settings, arm = item["about"]["settings"], only_arm([item])
    rule = settings.get("method", settings.get("rule")) if arm == LOPS else arm
    return rule, settings.get("keep", settings.get("tau"))


def methods_in(groups: Sequence[Files]) -> list[str]:
    """Return the methods that any file has, in the order of the table of methods."""
    found = {arm for files in groups for item in files for arm in item["result"]["arms"]}
    return [name for name in dict.fromkeys(("standard", LOPS, ADAPTIVE, *METHODS)) if name in found]


def values(files: Files, arm: str, key: str) -> list[float | None]:
    """Return one number of an arm per file; None if the file has no such arm."""
    return [item["result"]["arms"].get(arm, {}).get(key) for item in files]


def f1(protocol: str, classifier: str) -> Block:
    """Return micro and macro-F1 per method and data set, beside the paper's."""
    groups = files_of(protocol, classifier)
    published = paper()["self_training"]
    beside = classifier if classifier in published else _BESIDE
    heads = [(f"{data}, micro / macro-F1 %", f"the paper, {beside}") for data in groups]
    rows = [["method", *(head for pair in heads for head in pair)]]
    for method in methods_in(list(groups.values())):
        row = [method]
        for data, files in groups.items():
            theirs = published[beside].get(method, {}).get(data)
            scores = [spread(values(files, method, kind)) for kind in ("micro_f1", "macro_f1")]
            row.append(" / ".join(scores) if files else "-")
            row.append("{:.1f} ± {:.2f} / {:.1f} ± {:.2f}".format(*theirs) if theirs else "-")
        rows.append(row)
    return table(rows, groups.values())


def gap(protocol: str, classifier: str) -> Block:
    """Return the share of the gap from standard to optimal that a method closes, in macro-F1."""
    groups = files_of(protocol, classifier)
    rows = [["method", *(f"{data}, share of the gap %" for data in groups)]]
    for method in methods_in(list(groups.values())):
        if method not in ("standard", "optimal"):
            shares = ([closed(item, method) for item in files] for files in groups.values())
            rows.append([method, *map(spread, shares)])
    return table(rows, groups.values())


def closed(item: dict[str, Any], method: str) -> float | None:
    """Return the share of the gap from standard to optimal that a method closes in one file."""
    arms = item["result"]["arms"]
    scores = [arms.get(arm, {}).get("macro_f1") for arm in ("standard", method, "optimal")]
    return None if None in scores else share_of_gap_closed(*scores)


def significance(protocol: str, classifier: str, kind: str = "self-training") -> Block:
    """Return differences in macro-F1 in points, and their significance.

    Per cell: the mean difference; in how many seeds the paired bootstrap over documents gives
    p < 0.05 in either direction; and, if seeds share their documents and were compared, the 95 %
    interval and the p-value of the bootstrap over seeds and documents.
    """
    groups = files_of(protocol, classifier, kind)
    together = {
        data: _over_seeds(f"{protocol}/{PREFIX}{kind}-{classifier}-{data}.json", files)
        for data, files in groups.items()
    }
    methods = methods_in(list(groups.values()))
    pairs = [("lops", other) for other in methods if other != "lops"]
    pairs += [(method, "standard") for method in methods if method not in ("lops", "standard")]
    shown = "points of macro-F1 (seeds with p < 0.05) [95 % interval over seeds and documents, p]"
    rows = [["difference", *(f"{data}, {shown}" for data in groups)]]
    for first, second in pairs:
        cells = (
            _difference(files, together[data].get(first, {}).get(second), first, second)
            for data, files in groups.items()
        )
        rows.append([f"{first} - {second}", *cells])
    return table(rows, groups.values())


def _over_seeds(pattern: str, files: Files) -> dict[str, Any]:
    """Return the comparison over exactly these runs, first -> second -> scores, or nothing."""
    found = [item["result"]["significance"] for item in results(pattern) if is_of(item, files)]
    return found[0] if found else {}


def _difference(files: Files, together: dict[str, Any] | None, first: str, second: str) -> str:
    found = [item["result"].get("significance", {}).get(first, {}).get(second) for item in files]
    if not found or None in found:
        return "-"
    macro = [item["macro"] for item in found]
    sure = sum(item["p_value"] < 0.05 for item in macro)
    text = f"{100 * mean(item['difference'] for item in macro):+.1f} ({sure} of {len(macro)})"
    if together is None:
        return text
    over = together["macro"]
    interval = f"{100 * over['low']:+.1f} to {100 * over['high']:+.1f}"
    return f"{text} [{interval}, p {over['p_value']:.3f}]"


def iterations(protocol: str, classifier: str, kind: str = "self-training") -> Block:
    """Return macro-F1 after each iteration, and the kept share and its noise, first and last.

    One row per data set and method.
    """
    groups = files_of(protocol, classifier, kind)
    every = [item["result"]["arms"] for files in groups.values() for item in files]
    most = max((len(arm["iterations"]) for arms in every for arm in arms.values()), default=0)
    scored = (f"iteration {number}, macro-F1 %" for number in range(most))
    ends = ("kept %, first", "kept %, last", "noise after %, first", "noise after %, last")
    rows = [["data", "method", *scored, *ends]]
    for data, files in groups.items():
        for method in methods_in([files]):
            arms = [item["result"]["arms"].get(method, {}).get("iterations", []) for item in files]
            scores = [
                spread([arm[number]["macro_f1"] if number < len(arm) else None for arm in arms])
                for number in range(most)
            ]
            kept = [spread([kept_share(arm, at) for arm in arms]) for at in (0, -1)]
            noise = [
                spread([arm[at]["selected_noise"] if arm else None for arm in arms])
                for at in (0, -1)
            ]
            rows.append([data, method, *scores, *kept, *noise])
    return table(rows, groups.values())


def kept_share(iterations_of_arm: Sequence[dict[str, Any]], at: int) -> float | None:
    """Return the share of the pseudo-labels that an arm keeps in one iteration."""
    if not iterations_of_arm:
        return None
    found = iterations_of_arm[at]
    return float(found["selected"] / found["pseudo_labels"])


def tau(protocol: str) -> Block:
    """Return F1 by tau, beside standard; one row per classifier, data set, rule and tau."""
    groups: dict[tuple[str, ...], list[dict[str, Any]]] = {}
    for item in results(f"{protocol}/tau-*.json"):
        settings = item["about"]["settings"]
        rule, keep = rule_and_keep(item)
        about = (settings["classifier"], item["about"]["dataset"]["name"], rule, f"{keep:g}")
        groups.setdefault(about, []).append(item)
    scores = ("micro-F1 %", "macro-F1 %", "standard, macro-F1 %")
    rows = [["classifier", "data", "rule", "tau", *scores]]
    for (classifier, data, rule, number), files in sorted(groups.items()):
        usual = results(f"{protocol}/self-training-{classifier}-{data}-seed*.json")
        cells = [spread(values(files, only_arm(files), key)) for key in ("micro_f1", "macro_f1")]
        cells.append(spread(values(usual, "standard", "macro_f1")))
        rows.append([classifier, data, rule, number, *cells])
    return table(rows, groups.values())


def only_arm(files: Files) -> str:
    """Return the name of the one arm of these runs that selects."""
    (name,) = {arm for item in files for arm in item["result"]["arms"]} - {STANDARD}
    return name


OF_CLASSIFIER = {"f1": f1, "gap": gap, "significance": significance, "iterations": iterations}
TABLES: dict[str, Callable[[], Block]] = {
    **{
        f"{protocol}-{name}-{classifier}": partial(make, protocol, classifier)
        for protocol, classifiers in CLASSIFIERS.items()
        for classifier in classifiers
        for name, make in OF_CLASSIFIER.items()
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
