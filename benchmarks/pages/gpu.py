"""Tables of the protocols ``gpu`` and ``agnews-24000``: whole corpora, frameworks with rounds."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from benchmarks.pages.common import CORPORA, Block, Files, heads, results, spread, table
from benchmarks.pages.defaults import FRAMEWORKS, gap_closed
from benchmarks.pages.rounds import split
from lops_adapters.runs.arms import ADAPTIVE

_ARMS = ("standard", "random", ADAPTIVE, "committee", "optimal")
_ROUNDS = 2
_DOCUMENTS = (2000, 4000, 8000, 16000, 24000)
_UPDATES, _RATES = (400, 200, 100), ("0.0005", "0.001")


def frameworks(cells: str = "gpu/{}-{}-seed*.json", arms: tuple[str, ...] = _ARMS) -> Block:
    """Return macro-F1 of each arm before the last stage and after each of its rounds.

    ``cells`` is the pattern of the result files, given framework and data.
    """
    rows = [["framework", "data", "seeds", "after", *heads(arms), "gap closed %"]]
    groups = []
    for framework, title in FRAMEWORKS.items():
        for data, shown in CORPORA.items():
            files = results(cells.format(framework, data))
            if not files:
                continue
            groups.append(files)
            scores = {arm: [_stages(item, arm) for item in files] for arm in arms}
            before = "its network" if framework in ("westclass", "lotclass") else "the framework"
            for number, stage in enumerate([before, "round 1", "round 2"]):
                of_stage = {arm: [run[number] for run in scores[arm]] for arm in arms}
                scored = [spread(of_stage[arm]) for arm in arms]
                closed = gap_closed(
                    of_stage["standard"], of_stage["committee"], of_stage["optimal"]
                )
                rows.append([title, shown, str(len(files)), stage, *scored, closed])
    return table(rows, groups)


def _stages(item: dict[str, Any], arm: str) -> list[float]:
    names = item["result"]["arms"]
    own, after = split(item, arm if arm in names else f"{arm}-documents", _ROUNDS)
    return [own, *after]


def self_training() -> Block:
    """Return macro-F1 of self-training with MiniLM, first and last iteration."""
    rows = [["data", "documents", "MiniLM", "seeds", "after iteration", *heads(_ARMS)]]
    groups = []
    for data, shown in CORPORA.items():
        for classifier, kind, last in (("hybrid", "frozen", 5), ("minilm", "fine-tuned", 1)):
            files = results(f"gpu/self-training-{classifier}-{data}-seed*.json")
            if not files:
                continue
            groups.append(files)
            about = [shown, f"{files[0]['about']['dataset']['documents']:,}", kind, str(len(files))]
            for number in sorted({1, last}):
                scores = [spread(_after(files, arm, number)) for arm in _ARMS]
                rows.append([*about, str(number), *scores])
    return table(rows, groups)


def by_documents() -> Block:
    """Return macro-F1 of self-training on AG News by the number of documents."""
    rows = [["encoder", "documents", "seeds", "after iteration", *heads(_ARMS)]]
    groups = []
    for encoder, shown in {"static": "static", "minilm": "MiniLM"}.items():
        for documents in _DOCUMENTS:
            files = results(f"agnews-24000/{encoder}-hybrid-agnews-{documents}-seed*.json")
            if not files:
                continue
            groups.append(files)
            for number in (1, 5):
                scores = [spread(_after(files, arm, number)) for arm in _ARMS]
                rows.append([shown, f"{documents:,}", str(len(files)), str(number), *scores])
    return table(rows, groups)


def _after(files: Files, arm: str, number: int) -> list[float]:
    return [item["result"]["arms"][arm]["iterations"][number - 1]["macro_f1"] for item in files]


def lotclass_head() -> Block:
    """Return LOTClass on 1,000 documents by the updates and learning rate of a missing head."""
    rows = [["data", "updates", "learning rate", "network", "standard", "`committee`"]]
    groups = []
    for data in ("agnews", "20news-coarse"):
        for updates in _UPDATES:
            for rate in _RATES:
                files = results(f"gpu/lotclass-1000-{data}-{updates}-{rate}-seed*.json")
                if not files:
                    rows.append([CORPORA[data], str(updates), rate, "refused", "-", "-"])
                    continue
                groups.append(files)
                arms = files[0]["result"]["arms"]
                scores = [arms["standard"]["iterations"][at]["macro_f1"] for at in (-2, -1)]
                scores.append(arms["committee-documents"]["iterations"][-1]["macro_f1"])
                about = [CORPORA[data], str(updates), rate]
                rows.append([*about, *(spread([score]) for score in scores)])
    return table(rows, groups)


def lotclass_thresholds() -> Block:
    """Return LOTClass on 4,000 documents of 20news-fine, with thresholds per class or one."""
    rows = [["thresholds", "seed", "rows", "noise %", "network", "standard", "`committee`"]]
    groups = []
    for name in ("lotauto", "lotuniform"):
        for item in results(f"gpu/{name}-20news-fine-4000-seed*.json"):
            groups.append([item])
            result = item["result"]
            values = sorted(set(result["match_thresholds"].values()))
            shown = f"{values[0]} for all" if len(values) == 1 else f"{values[0]} to {values[-1]}"
            made, arms = result["pseudo_labels"], result["arms"]
            scores = [arms["standard"]["iterations"][at]["macro_f1"] for at in (-2, -1)]
            scores.append(arms["committee-documents"]["iterations"][-1]["macro_f1"])
            about = [shown, str(item["about"]["seed"]), f"{made['count']:,}"]
            noise = f"{100 * made['noise']:.1f}"
            rows.append([*about, noise, *(spread([score]) for score in scores)])
    return table(rows, groups)


TABLES: dict[str, Callable[[], Block]] = {
    "gpu-frameworks": frameworks,
    "gpu-self-training": self_training,
    "gpu-lotclass-head": lotclass_head,
    "gpu-lotclass-thresholds": lotclass_thresholds,
    "agnews-documents": by_documents,
    "agnews-frameworks": partial(frameworks, "agnews-24000/{}-{}-24000-seed*.json"),
}
