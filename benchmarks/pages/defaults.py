"""Tables of the protocols ``grid``, the frameworks with the defaults of today, and ``faithful``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from statistics import mean
from typing import Any

from benchmarks.pages.common import (
    CORPORA,
    HOLE,
    Block,
    Files,
    heads,
    paper,
    results,
    spread,
    table,
)
from benchmarks.pages.self_training import values
from lops_adapters.runs.arms import ADAPTIVE, LOPS

FRAMEWORKS = {
    "conwea": "ConWea",
    "xclass": "X-Class",
    "westclass": "WeSTClass",
    "lotclass": "LOTClass",
}
# Where the framework's wrong labels are: on its pseudo-labels, or on documents it has predicted.
_ARMS = {
    "standard": ("standard",),
    "random": ("random", "random-documents"),
    ADAPTIVE: (ADAPTIVE, f"{ADAPTIVE}-documents"),
    "committee": ("committee", "committee-documents"),
    "optimal": ("optimal", "optimal-documents"),
}


def files_of(framework: str, data: str) -> Files:
    """Return one result file per seed."""
    return results(f"grid/{framework}-{data}-seed*.json") or results(
        f"grid/{framework}-{data}-4000-seed*.json"
    )


def summary() -> Block:
    """Return macro-F1 of the arms per framework and data set, beside the paper's."""
    theirs = ("the paper's standard", "the paper's LOPS")
    rows = [["framework", "data", "documents", "seeds", *heads(_ARMS), "gap closed %", *theirs]]
    groups = []
    for framework, title in FRAMEWORKS.items():
        for data, shown in CORPORA.items():
            files = files_of(framework, data)
            if not files:
                continue
            groups.append(files)
            documents = files[0]["about"]["dataset"]["documents"]
            published = paper()["frameworks"][framework][data]
            rows.append(
                [
                    title,
                    shown,
                    f"{documents:,}",
                    str(len(files)),
                    *(_score(files, arm) for arm in _ARMS),
                    _closed(files),
                    *(f"{published[arm][1]:.1f}" for arm in ("standard", "lops")),
                ]
            )
    return table(rows, groups)


def _score(files: Files, arm: str) -> str:
    """Return the macro-F1 of an arm; of its variant on documents if that is what was run."""
    scores = _scores(files, arm)
    return spread(scores) if scores else "-"


def _scores(files: Files, arm: str) -> list[float]:
    """Return the macro-F1 of an arm per seed; [] if it was not run."""
    for name in reversed(_ARMS[arm]):
        scores = values(files, name, "macro_f1")
        if None not in scores:
            return [score for score in scores if score is not None]
    return []


def _closed(files: Files) -> str:
    return gap_closed(*(_scores(files, arm) for arm in ("standard", "committee", "optimal")))


def gap_closed(
    standard: Sequence[float], committee: Sequence[float], optimal: Sequence[float]
) -> str:
    """Return how much of the gap between all labels and only right ones the committee closes.

    Scores are per seed; empty: not measured. A dash if some are missing, or if there is no gap:
    all arms share a network.

    >>> gap_closed([0.5, 0.7], [0.7, 0.8], [0.8, 1.0]), gap_closed([0.5], [0.5], [0.5])
    ('50', '-')
    """
    if not (standard and committee and optimal) or mean(optimal) == mean(standard):
        return "-"
    closed = mean(committee) - mean(standard)
    return f"{100 * closed / (mean(optimal) - mean(standard)):.0f}"


def framework(name: str) -> Block:
    """Return every arm of a framework after its last iteration, means over seeds."""
    rows = [["data", "arm", "kept", "noise after %", "micro-F1 %", "macro-F1 %", "seconds"]]
    groups = [files for data in CORPORA if (files := files_of(name, data))]
    for files in groups:
        data = files[0]["about"]["dataset"]["name"]
        for arm in files[0]["result"]["arms"]:
            runs = [item["result"]["arms"][arm] for item in files]
            last = [run["iterations"][-1] for run in runs]
            scores = (
                spread([item[key] for item in last])
                for key in ("selected_noise", "micro_f1", "macro_f1")
            )
            kept, seconds = (
                mean(item["selected"] for item in last),
                mean(run["seconds"] for run in runs),
            )
            rows.append([CORPORA[data], arm, f"{kept:,.0f}", *scores, f"{seconds:.0f}"])
    return table(rows, groups)


def network_and_classifier() -> Block:
    """Return macro-F1 of the network, and of the classifier trained on what it predicts."""
    arms = [name for name in _ARMS if name != "standard"]
    rows = [["framework", "data", "network", "classifier", *(f"`{arm}-documents`" for arm in arms)]]
    groups = []
    for framework in ("westclass", "lotclass"):
        for data, shown in CORPORA.items():
            files = files_of(framework, data)
            if not files:
                continue
            groups.append(files)
            standard = [item["result"]["arms"]["standard"]["iterations"] for item in files]
            network, classifier = (
                spread([steps[number]["macro_f1"] for steps in standard]) for number in (-2, -1)
            )
            scores = [_score(files, arm) for arm in arms]
            rows.append([FRAMEWORKS[framework], shown, network, classifier, *scores])
    return table(rows, groups) if groups else HOLE


def over_iterations(name: str, data: str) -> Block:
    """Return macro-F1 of each arm after every iteration, mean over seeds."""
    files = files_of(name, data)
    if not files:
        return HOLE
    arms = files[0]["result"]["arms"]
    count = len(arms["standard"]["iterations"])
    rows = [["arm", *(f"iteration {number}" for number in range(count))]]
    for arm in arms:
        runs = [item["result"]["arms"][arm]["iterations"] for item in files]
        cells = [spread([run[number]["macro_f1"] for run in runs]) for number in range(count)]
        rows.append([arm, *cells])
    return table(rows, [files])


def xclass_shares() -> Block:
    """Return X-Class with the shares of the mixture, and with shares closer together."""
    rows = [["data", "`--share-power`", "documents", "noise %", "standard, macro-F1 %"]]
    groups = []
    for data, shown in CORPORA.items():
        before = results(f"xclass-shares/xclass-{data}-*.json")
        after = files_of("xclass", data)
        if not before or not after:
            continue
        groups += [before, after]
        for power, files in (("1", before), ("0.5", after)):
            documents = files[0]["about"]["dataset"]["documents"]
            noise = spread([item["result"]["pseudo_labels"]["noise"] for item in files])
            score = spread(_scores(files, "standard"))
            rows.append([shown, power, f"{documents:,}", noise, score])
    return table(rows, groups) if groups else HOLE


def xclass_names() -> Block:
    """Return X-Class on one sample of 20news-coarse by the name of the class rec."""
    arms = ("standard", "committee", "optimal")
    shown = ("noise, all %", "noise, aligned best %", "best in `rec`", "best in `sci`")
    rows = [["name of `rec`", *shown, *heads(arms)]]
    groups = []
    for name in ("sports", "recreation"):
        files = results(f"xclass-names/{name}-20news-coarse-2500-seed*.json")
        groups.append(files)
        noise = (
            spread([item["result"]["arms"][arm]["iterations"][-1]["noise"] for item in files])
            for arm in ("committee", "standard")
        )
        best = [item["result"]["arms"]["standard"]["iterations"][-1]["per_class"] for item in files]
        counts = (f"{mean(of[label]['count'] for of in best):,.0f}" for label in ("rec", "sci"))
        rows.append([name, *noise, *counts, *(_score(files, arm) for arm in arms)])
    return table(rows, groups)


def xclass_classifiers() -> Block:
    """Return a fine-tuned encoder beside the hybrid classifier, on the same samples."""
    rows = [["classifier", "standard, macro-F1 %", "arm", "macro-F1 %", "seconds, standard"]]
    groups = []
    cells = (("fine-tuned MiniLM", "frameworks", LOPS), ("hybrid", "grid", ADAPTIVE))
    for title, folder, arm in cells:
        files = results(f"{folder}/xclass-agnews-4000-seed*.json")
        if not files:
            return HOLE
        groups.append(files)
        usual, selected = (spread(values(files, name, "macro_f1")) for name in ("standard", arm))
        seconds = [item["result"]["arms"]["standard"]["seconds"] for item in files]
        rows.append(
            [title, usual, f"`{arm}`", selected, f"{min(seconds):.0f} to {max(seconds):.0f}"]
        )
    return table(rows, groups)


def lotclass_thresholds() -> Block:
    """Return LOTClass on one sample of AG News with the published threshold and a lower one."""
    rows = [["`--match-threshold`", "rows", "noise %", "network", "standard", "`committee`"]]
    groups = []
    for name in ("first", "threshold10"):
        files = results(f"frameworks/lotclass-{name}-agnews-4000-seed0.json")
        if not files:
            return HOLE
        groups.append(files)
        standard = files[0]["result"]["arms"]["standard"]["iterations"]
        rows.append(
            [
                str(files[0]["about"]["settings"]["match_threshold"]),
                f"{standard[0]['pseudo_labels']:,}",
                spread([standard[0]["noise"]]),
                *(spread([stage["macro_f1"]]) for stage in standard[-2:]),
                _score(files, "committee"),
            ]
        )
    return table(rows, groups)


def lotclass_places() -> Block:
    """Return LOTClass with a document's class read at its first token and at all, same samples."""
    stages = ("masked category prediction", "self-training", "standard", "`committee`")
    rows = [["data", "`--read-at`", *stages]]
    groups = []
    for data, shown in CORPORA.items():
        for place, name in (("first", "frameworks/lotclass-first"), ("tokens", "grid/lotclass")):
            files = results(f"{name}-{data}-4000-seed0.json")
            if not files or not results(f"frameworks/lotclass-first-{data}-4000-seed0.json"):
                continue
            groups.append(files)
            standard = files[0]["result"]["arms"]["standard"]["iterations"]
            scores = [spread([stage["macro_f1"]]) for stage in standard]
            rows.append([shown, place, *scores, _score(files, "committee")])
    return table(rows, groups) if groups else HOLE


def lotclass_classes() -> Block:
    """Return LOTClass's rows per class on the samples of 20news-coarse, and what became of them."""
    files = files_of("lotclass", "20news-coarse")
    heads = ("words", "rows", "documents predicted", "of them right")
    rows = [["seed", "class", *heads]]
    for item in files:
        arms = item["result"]["arms"]
        stages = (
            ("standard", 0, "count"),
            *(("optimal-documents", -1, key) for key in ("count", "kept")),
        )
        for name in item["result"]["classes"]:
            counts = [
                arms[arm]["iterations"][stage]["per_class"][name][key] for arm, stage, key in stages
            ]
            words = item["result"]["words_per_class"][name]
            rows.append([str(item["about"]["seed"]), name, *(f"{n:,}" for n in (words, *counts))])
    return table(rows, [files])


def faithful() -> Block:
    """Return macro-F1 under ``--faithful``, and of earlier runs on as many documents and seeds."""
    rows = [["framework", "data", "documents", "seeds", "arm", "earlier defaults", "`--faithful`"]]
    groups = []
    for framework, title in FRAMEWORKS.items():
        for data, shown in CORPORA.items():
            by_size: dict[int, list[dict[str, Any]]] = {}
            for item in results(f"faithful/{framework}-{data}-*seed*.json"):
                by_size.setdefault(item["about"]["dataset"]["documents"], []).append(item)
            for documents, now in sorted(by_size.items()):
                seeds = [item["about"]["seed"] for item in now]
                earlier = [
                    item
                    for item in results(f"frameworks/{framework}-{data}-*seed*.json")
                    if item["about"]["dataset"]["documents"] == documents
                    and item["about"]["seed"] in seeds
                ]
                groups += [earlier, now]
                about = [title, shown, f"{documents:,}", str(len(now))]
                for arm in ("standard", "lops"):
                    scores = [spread(values(files, arm, "macro_f1")) for files in (earlier, now)]
                    rows.append([*about, f"`{arm}`", *scores])
    return table(rows, groups) if groups else HOLE


TABLES: dict[str, Callable[[], Block]] = {
    "defaults": summary,
    **{f"defaults-{name}": partial(framework, name) for name in FRAMEWORKS},
    "defaults-final": network_and_classifier,
    "defaults-xclass-shares": xclass_shares,
    "defaults-xclass-classifiers": xclass_classifiers,
    "defaults-xclass-names": xclass_names,
    "defaults-lotclass-classes": lotclass_classes,
    "defaults-lotclass-places": lotclass_places,
    "defaults-lotclass-thresholds": lotclass_thresholds,
    "faithful": faithful,
    "defaults-conwea-iterations": partial(over_iterations, "conwea", "20news-coarse"),
}
