"""Tables of the protocol ``gpu``: whole corpora, the frameworks with the last stage of rounds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from benchmarks.pages.common import CORPORA, Block, Files, heads, results, spread, table
from benchmarks.pages.defaults import FRAMEWORKS, gap_closed
from benchmarks.pages.rounds import split

_ARMS = ("standard", "random", "lops", "committee", "optimal")
_ROUNDS = 2
_UPDATES, _RATES = (400, 200, 100), ("0.0005", "0.001")


def frameworks() -> Block:
    """Return macro-F1 of each arm before the last stage and after each of its rounds."""
    rows = [["framework", "data", "seeds", "after", *heads(_ARMS), "gap closed %"]]
    groups = []
    for framework, title in FRAMEWORKS.items():
        for data, shown in CORPORA.items():
            files = results(f"gpu/{framework}-{data}-seed*.json")
            if not files:
                continue
            groups.append(files)
            scores = {arm: [_stages(item, arm) for item in files] for arm in _ARMS}
            before = "its network" if framework in ("westclass", "lotclass") else "the framework"
            for number, stage in enumerate([before, "round 1", "round 2"]):
                of_stage = {arm: [run[number] for run in scores[arm]] for arm in _ARMS}
                cells = [spread(of_stage[arm]) for arm in _ARMS]
                closed = gap_closed(
                    of_stage["standard"], of_stage["committee"], of_stage["optimal"]
                )
                rows.append([title, shown, str(len(files)), stage, *cells, closed])
    return table(rows, groups)


def _stages(item: dict[str, Any], arm: str) -> list[float]:
    names = item["result"]["arms"]
    own, after = split(item, next(name for name in names if name.startswith(arm)), _ROUNDS)
    return [own, *after]


def self_training() -> Block:
    """Return macro-F1 of self-training with frozen MiniLM, first and last iteration."""
    rows = [["data", "documents", "seeds", "after iteration", *heads(_ARMS)]]
    groups = []
    for data, shown in CORPORA.items():
        files = results(f"gpu/self-training-hybrid-{data}-seed*.json")
        groups.append(files)
        documents = f"{files[0]['about']['dataset']['documents']:,}"
        for number in (1, 5):
            cells = [spread(_after(files, arm, number)) for arm in _ARMS]
            rows.append([shown, documents, str(len(files)), str(number), *cells])
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


TABLES: dict[str, Callable[[], Block]] = {
    "gpu-frameworks": frameworks,
    "gpu-self-training": self_training,
    "gpu-lotclass-head": lotclass_head,
}
