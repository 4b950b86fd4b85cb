"""Tables of the protocol ``equal``: LOPS beside everything else, on the same pseudo-labels.

python -m benchmarks.pages.equal    prints them, and what is missing
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from statistics import mean, pstdev
from typing import Any

from benchmarks.pages.common import CORPORA, Block, Files, heads, results, spread, table
from benchmarks.protocol import protocol_path, read_cells
from lops_adapters.runs.arms import ADAPTIVE, CORRECTED, LOPS, STANDARD

_CORPORA = {**CORPORA, "german-news": "German", "debian": "Debian"}
UNSEEN = ("german-news", "debian")
_ALL = "all"  # of X-Class; its committee, in both places, is the same
# Framework, what its arms select among, cells of the first arms, cells of the others, end of names,
# stage.
_PLACES = (
    ("ConWea", "first", "conwea", "conwea", "", 0),
    ("ConWea", "sixth", "conwea", "conwea", "", -1),
    ("X-Class", "half", "xclass", "xclass", "", -1),
    ("X-Class", _ALL, "xclass-all", "xclass", "", -1),
    ("WeSTClass", "pseudo", "westclass", None, "", -1),
    ("WeSTClass", "predictions", "westclass", "westclass", "-documents", -1),
    ("LOTClass", "rows", "lotclass", None, "", -1),
    ("LOTClass", "predictions", "lotclass", "lotclass", "-documents", -1),
)
# Arms of the first cells, and of the others; ``random`` is the committee's control.
_FIRST = (STANDARD, LOPS, f"random-of-{LOPS}", ADAPTIVE)
_OTHERS = ("committee", "random", CORRECTED, f"random-of-{CORRECTED}")
ARMS = (*_FIRST, *_OTHERS)
# What is compared: an arm, and what it has to beat.
PAIRS = (
    (LOPS, STANDARD),
    (LOPS, f"random-of-{LOPS}"),
    (ADAPTIVE, STANDARD),
    ("committee", STANDARD),
    ("committee", "random"),
    (CORRECTED, STANDARD),
    (CORRECTED, f"random-of-{CORRECTED}"),
    ("committee", LOPS),
)
BETTER, LEVEL, WORSE = "better", "level", "worse"


@dataclass(frozen=True)
class Cell:
    """A framework on a corpus, at one place of selection.

    Attributes:
        framework, place, data: as the tables name them.
        files: one per seed, of standard and of the arms of LOPS.
        arms: arm -> seed -> a stage of its; arms that were not measured are left out.
    """

    framework: str
    place: str
    data: str
    files: Files
    arms: dict[str, dict[int, dict[str, Any]]]

    @property
    def documents(self) -> int:
        """The documents of a seed."""
        return int(self.files[0]["about"]["dataset"]["documents"])

    def scores(self, arm: str) -> dict[int, float]:
        """Return the macro-F1 of an arm by seed; {}: it was not measured."""
        return {seed: item["macro_f1"] for seed, item in self.arms.get(arm, {}).items()}

    def verdict(self, arm: str, other: str) -> tuple[str, float] | None:
        """Return better, level or worse, and the mean difference over seeds that have both.

        Level: no more than the deviation over seeds, or than two standard errors of a share of all
        documents, where it is largest. None: not measured, or at another place.
        """
        of, than = self.scores(arm), self.scores(other)
        found = [of[seed] - than[seed] for seed in sorted(of.keys() & than.keys())]
        if not found or (self.place == _ALL and {arm, other} <= {*_OTHERS}):
            return None
        points, least = mean(found), max(pstdev(found), (self.documents * len(found)) ** -0.5)
        return (LEVEL if abs(points) <= least else BETTER if points > 0 else WORSE), points


def cells() -> Iterator[Cell]:
    """Yield the measured cells, in the order of the tables."""
    for framework, place, first, others, end, stage in _PLACES:
        for data in _CORPORA:
            files = _files(first, data)
            if not files:
                continue
            arms = _arms(files, _FIRST, end, stage)
            if others is not None:
                arms |= _arms(_files(others, data), _OTHERS, end, stage)
            yield Cell(framework, place, data, files, arms)


def _files(name: str, data: str) -> list[dict[str, Any]]:
    patterns = (f"equal/{name}-{data}-seed*.json", f"equal/{name}-{data}-[0-9]*-seed*.json")
    return [item for pattern in patterns for item in results(pattern)]


def _arms(
    files: Files, arms: tuple[str, ...], end: str, stage: int
) -> dict[str, dict[int, dict[str, Any]]]:
    found: dict[str, dict[int, dict[str, Any]]] = {}
    for item in files:
        measured = item["result"]["arms"]
        for arm in arms:
            name = arm if arm == STANDARD else f"{arm}{end}"
            if name in measured:
                stages = measured[name]["iterations"]
                found.setdefault(arm, {})[item["about"]["seed"]] = stages[stage]
    return found


def scores(unseen: bool = False) -> Block:
    """Return macro-F1 of every arm, one row per framework, place and corpus."""
    rows = [["framework", "place", "data", "seeds", *heads(ARMS)]]
    chosen = [cell for cell in cells() if (cell.data in UNSEEN) == unseen]
    for cell in chosen:
        values = (spread(list(cell.scores(arm).values())) for arm in ARMS)
        about = (_CORPORA[cell.data], f"{len(cell.files)} x {cell.documents:,}")
        rows.append([cell.framework, cell.place, *about, *values])
    return table(rows, [cell.files for cell in chosen])


def verdicts() -> Block:
    """Return where an arm beats what it has to beat, cell by cell."""
    rows = [["framework", "place", "data", *(_against(*pair) for pair in PAIRS)]]
    groups = []
    for cell in cells():
        groups.append(cell.files)
        found = (cell.verdict(*pair) for pair in PAIRS)
        shown = ("-" if one is None else f"{one[0]} {100 * one[1]:+.1f}" for one in found)
        rows.append([cell.framework, cell.place, _CORPORA[cell.data], *shown])
    return table(rows, groups)


def counts() -> Block:
    """Return in how many cells an arm beats what it has to beat, on corpora of both kinds."""
    rows = [["arm", "against", "cells where settings saw gold labels", "cells where none did"]]
    every = list(cells())
    for arm, other in PAIRS:
        row = heads((arm, other))
        for unseen in (False, True):
            found = [cell.verdict(arm, other) for cell in every if (cell.data in UNSEEN) == unseen]
            known = [one for one in found if one is not None]
            kinds = Counter(kind for kind, _ in known)
            numbers = ", ".join(f"{kinds[kind]} {kind}" for kind in (BETTER, LEVEL, WORSE))
            points = f" (mean {100 * mean(one for _, one in known):+.1f})" if known else ""
            row.append(f"{numbers}{points}")
        rows.append(row)
    return table(rows, [cell.files for cell in every])


def noise() -> Block:
    """Return how many labels are kept and wrong per place, means over corpora and seeds."""
    arms = (LOPS, f"random-of-{LOPS}", ADAPTIVE, "committee", CORRECTED)
    rows = [["framework", "place", "wrong %", *(f"`{arm}`: kept, wrong %" for arm in arms)]]
    places: dict[tuple[str, str], list[Cell]] = {}
    for cell in cells():
        places.setdefault((cell.framework, cell.place), []).append(cell)
    for place, found in places.items():
        last = {
            arm: [each for cell in found for each in cell.arms[arm].values()]
            for arm in (STANDARD, *arms)
            if all(arm in cell.arms for cell in found)
        }
        if last[STANDARD][0]["noise"] is None or len(last) <= len(arms):
            continue
        shown = (
            f"{100 * mean(one['selected'] / one['pseudo_labels'] for one in last[arm]):.0f}, "
            f"{100 * mean(one['selected_noise'] for one in last[arm]):.1f}"
            for arm in arms
        )
        rows.append([*place, f"{100 * mean(one['noise'] for one in last[STANDARD]):.1f}", *shown])
    return table(rows, [cell.files for each in places.values() for cell in each])


def _against(arm: str, other: str) -> str:
    return " against ".join(heads((arm, other)))


def missing() -> Block:
    """Return the cells of the protocol that have no result, as a sentence."""
    done = {item["about"]["command"] for item in results("equal/*.json")}
    seeds: dict[str, list[str]] = {}
    for cell in read_cells(protocol_path("equal")):
        if cell.command not in done:
            name, _, seed = cell.name.rpartition("-seed")
            seeds.setdefault(name, []).append(seed)
    names: dict[str, list[str]] = {}
    for name, each in seeds.items():
        names.setdefault(", ".join(each), []).append(f"`{name}`")
    found = [f"seeds {each} of {', '.join(of)}" for each, of in names.items()]
    return Block(f"Missing: {'; '.join(found)}." if found else "Nothing is missing.")


TABLES: dict[str, Callable[[], Block]] = {
    "equal": scores,
    "equal-unseen": lambda: scores(unseen=True),
    "equal-verdicts": verdicts,
    "equal-counts": counts,
    "equal-noise": noise,
    "equal-missing": missing,
}

if __name__ == "__main__":
    for title, make in TABLES.items():
        print(f"{title}\n\n{make().text}\n")
