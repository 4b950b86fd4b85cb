"""Tables of rounds by rank: self-training on samples, and the last stage of the frameworks."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from benchmarks.pages.common import CORPORA, Block, heads, results, spread, table
from benchmarks.pages.self_training import iterations, values
from benchmarks.unequal import SAMPLES
from lops_adapters.runs.arms import ADAPTIVE

_ARMS = ("standard", "random", ADAPTIVE, "committee", "optimal")
_RULES = {
    "by rank, the default": "",
    "by rank, `--learning-rate 0.1`": "rate-",
    "`--delta 0.6`, as published": "delta-",
}
_UNEQUAL = ("standard", "random", "committee")
_UNEQUAL_RULES = {
    "rank": "by rank",
    "share": "`--share 0.3`",
    "rate": "`--learning-rate 0.1`",
    "delta": "`--delta 0.6`",
}
_ROUNDS = 5
# The last one is the whole corpus, as is the one with MiniLM.
_SIZES = [f"rounds/self-training-hybrid{size}" for size in ("-500", "-1000", "-2000", "-4000", "")]
_MINILM = "gpu/self-training-hybrid"
_FRAMEWORKS = {"conwea": "ConWea", "xclass": "X-Class", "westclass": "WeSTClass"}
_JOINED = {**_FRAMEWORKS, "self_training": "self-training"}


def self_training() -> Block:
    """Return macro-F1 after the last iteration, for both rules of bootstrapping."""
    rows = [["data", "bootstrapping", "seeds", *heads(_ARMS)]]
    groups = []
    for data, title in CORPORA.items():
        for rule, part in _RULES.items():
            files = results(f"rounds/self-training-hybrid-{part}2000-{data}-seed*.json")
            if files:
                groups.append(files)
                scores = [spread(values(files, arm, "macro_f1")) for arm in _ARMS]
                rows.append([title, rule, str(len(files)), *scores])
    return table(rows, groups)


def sizes() -> Block:
    """Return macro-F1 after the last iteration, by the number of documents, and with MiniLM."""
    arms = ("standard", "random", "committee")
    rows = [["data", "documents", "seeds", *heads(arms), "`committee`, first iteration"]]
    groups = []
    for data, title in CORPORA.items():
        for size in (*_SIZES, _MINILM):
            files = results(f"{size}-{data}-seed*.json")
            if not files:
                continue
            groups.append(files)
            scores = [spread(values(files, arm, "macro_f1")) for arm in arms]
            documents = f"{files[0]['about']['dataset']['documents']:,}"
            documents += ", MiniLM" if size == _MINILM else ""
            first = spread([_scores(item, "committee")[0] for item in files])
            rows.append([title, documents, str(len(files)), *scores, first])
    return table(rows, groups)


def unequal() -> Block:
    """Return macro-F1 after the first and the last iteration, on samples of unequal classes."""
    columns = (f"{head}, first to last" for head in heads(_UNEQUAL))
    rows = [["data", "shares", "bootstrapping", "seeds", *columns]]
    groups = []
    for name in SAMPLES:
        for rule, shown in _UNEQUAL_RULES.items():
            files = results(f"rounds/unequal-{name}-{rule}-seed*.json")
            if not files:
                continue
            groups.append(files)
            corpus, shares = SAMPLES[name]
            about = [CORPORA[corpus], " : ".join(map(str, shares)), shown, str(len(files))]
            scores = [[_scores(item, arm) for item in files] for arm in _UNEQUAL]
            ends = [[spread([each[at] for each in own]) for at in (0, -1)] for own in scores]
            rows.append([*about, *(" to ".join(pair) for pair in ends)])
    return table(rows, groups)


def frameworks() -> Block:
    """Return macro-F1 of the frameworks' own predictions and after each round of the last stage."""
    numbers = [f"round {number}" for number in range(1, _ROUNDS + 1)]
    rows = [["framework", "data", "seeds", "arm", "without rounds", *numbers]]
    groups = []
    for framework, shown in _FRAMEWORKS.items():
        for data in ("agnews", "20news-coarse"):
            files = results(f"rounds/{framework}-2000-{data}-seed*.json")
            if not files:
                continue
            groups.append(files)
            for arm in ("standard", "random", "committee"):
                name = next(key for key in files[0]["result"]["arms"] if key.startswith(arm))
                own, after = zip(*(split(item, name, _ROUNDS) for item in files), strict=True)
                cells = [spread([scores[i] for scores in after]) for i in range(len(numbers))]
                about = [shown, CORPORA[data], str(len(files)), f"`{name}`"]
                rows.append([*about, spread(own), *cells])
    return table(rows, groups)


def small() -> Block:
    """Return macro-F1 before two rounds and after them, on samples of the demo corpus."""
    arms = ("standard", "random", ADAPTIVE, "committee")
    rows = [["framework", "documents", "seeds", *heads(arms)]]
    groups = []
    for framework in ("conwea", "xclass"):
        for documents in ("120", "300"):
            files = results(f"rounds/{framework}-demo-{documents}-seed*.json")
            groups.append(files)
            cells = []
            for arm in arms:
                own, after = zip(*(split(item, arm, 2) for item in files), strict=True)
                cells.append(f"{spread(own)} to {spread([scores[-1] for scores in after])}")
            rows.append([_FRAMEWORKS[framework], documents, str(len(files)), *cells])
    return table(rows, groups)


def joined() -> Block:
    """Return macro-F1 of four runs, of their majority, and of ``select`` on their predictions."""
    ways = {
        "best run": lambda one: max(one["runs"].values()),
        "mean run": lambda one: sum(one["runs"].values()) / len(one["runs"]),
        "majority": lambda one: one["majority"],
        "`select`": lambda one: one["select"],
    }
    rows = [["data", "seeds", *_JOINED.values(), *ways]]
    groups = []
    for data, title in CORPORA.items():
        files = results(f"joined/2000-{data}-seed*.json")
        if files:
            groups.append(files)
            found = [item["result"] for item in files]
            runs = [spread([one["runs"][key] for one in found]) for key in _JOINED]
            means = [spread([way(one) for one in found]) for way in ways.values()]
            rows.append([title, str(len(files)), *runs, *means])
    return table(rows, groups)


def _scores(item: dict[str, Any], arm: str) -> list[float]:
    return [row["macro_f1"] for row in item["result"]["arms"][arm]["iterations"]]


def split(item: dict[str, Any], arm: str, rounds: int) -> tuple[float, list[float]]:
    """Return macro-F1 before the last stage and after each of its ``rounds``.

    Rounds end when no document is left to add; the last score is then that of the others, too.
    """
    rows = item["result"]["arms"][arm]["iterations"]
    at = next(i for i, row in enumerate(rows) if str(row.get("stage", "")).startswith("round"))
    scores = _scores(item, arm)
    after = scores[at:]
    return scores[at - 1], after + after[-1:] * (rounds - len(after))


TABLES: dict[str, Callable[[], Block]] = {
    "rounds-self-training": self_training,
    "rounds-iterations": partial(iterations, "rounds", "hybrid-2000"),
    "rounds-sizes": sizes,
    "rounds-unequal": unequal,
    "rounds-frameworks": frameworks,
    "rounds-small": small,
    "rounds-joined": joined,
}
