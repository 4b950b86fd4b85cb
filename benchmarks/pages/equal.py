"""Tables of the protocol ``equal``: LOPS beside everything else, on the same pseudo-labels.

python -m benchmarks.pages.equal    prints them, and what is missing
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from statistics import mean, pstdev

from benchmarks.pages.common import CORPORA, Block, Files, heads, results, spread, table
from benchmarks.protocol import protocol_path, read_cells
from lops_adapters.runs.arms import ADAPTIVE, CORRECTED, LOPS, STANDARD

_CORPORA = {**CORPORA, "german-news": "German news", "debian": "Debian packages"}
UNSEEN = ("german-news", "debian")
# Framework, what its arms select among, cells of the first arms, cells of the others, end of names.
_PLACES = (
    ("ConWea", "labelled documents", "conwea", "conwea", ""),
    ("X-Class", "confident half", "xclass", "xclass", ""),
    ("X-Class", "all documents", "xclass-all", "xclass", ""),
    ("WeSTClass", "pseudo documents", "westclass", None, ""),
    ("WeSTClass", "predictions", "westclass", "westclass", "-documents"),
    ("LOTClass", "rows", "lotclass", None, ""),
    ("LOTClass", "predictions", "lotclass", "lotclass", "-documents"),
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
        scores: arm -> macro-F1 by seed; arms that were not measured are left out.
    """

    framework: str
    place: str
    data: str
    files: Files
    scores: dict[str, dict[int, float]]

    @property
    def documents(self) -> int:
        """The documents of a seed."""
        return int(self.files[0]["about"]["dataset"]["documents"])

    def differences(self, arm: str, other: str) -> list[float]:
        """Return how much better an arm is than another in macro-F1, per seed that has both."""
        of, than = self.scores.get(arm, {}), self.scores.get(other, {})
        return [of[seed] - than[seed] for seed in sorted(of.keys() & than.keys())]

    def verdict(self, arm: str, other: str) -> tuple[str, float] | None:
        """Return better, level or worse, and the mean difference; None: not measured.

        Level: no more than the deviation over seeds, or than two standard errors of a share of all
        documents, where it is largest.
        """
        found = self.differences(arm, other)
        if not found:
            return None
        points, least = mean(found), max(pstdev(found), (self.documents * len(found)) ** -0.5)
        return (LEVEL if abs(points) <= least else BETTER if points > 0 else WORSE), points


def cells() -> Iterator[Cell]:
    """Yield the measured cells, in the order of the tables."""
    for framework, place, first, others, end in _PLACES:
        for data in _CORPORA:
            files = _files(first, data)
            if not files:
                continue
            scores = _scores(files, _FIRST, end)
            if others is not None:
                scores |= _scores(_files(others, data), _OTHERS, end)
            yield Cell(framework, place, data, files, scores)


def _files(name: str, data: str) -> list[dict[str, object]]:
    patterns = (f"equal/{name}-{data}-seed*.json", f"equal/{name}-{data}-[0-9]*-seed*.json")
    return [item for pattern in patterns for item in results(pattern)]


def _scores(files: Files, arms: tuple[str, ...], end: str) -> dict[str, dict[int, float]]:
    found: dict[str, dict[int, float]] = {}
    for item in files:
        measured = item["result"]["arms"]
        for arm in arms:
            name = arm if arm == STANDARD else f"{arm}{end}"
            if name in measured:
                scores = found.setdefault(arm, {})
                scores[item["about"]["seed"]] = measured[name]["macro_f1"]
    return found


def scores(unseen: bool = False) -> Block:
    """Return macro-F1 of every arm, one row per framework, place and corpus."""
    rows = [["framework", "selects among", "data", "documents", "seeds", *heads(ARMS)]]
    chosen = [cell for cell in cells() if (cell.data in UNSEEN) == unseen]
    for cell in chosen:
        values = (spread(list(cell.scores.get(arm, {}).values())) for arm in ARMS)
        about = (_CORPORA[cell.data], f"{cell.documents:,}", str(len(cell.files)))
        rows.append([cell.framework, cell.place, *about, *values])
    return table(rows, [cell.files for cell in chosen])


def verdicts() -> Block:
    """Return where an arm beats what it has to beat, cell by cell, and in how many cells."""
    rows = [["framework", "selects among", "data", *(_against(*pair) for pair in PAIRS)]]
    counts, groups = [Counter[str]() for _ in PAIRS], []
    for cell in cells():
        groups.append(cell.files)
        row = [cell.framework, cell.place, _CORPORA[cell.data]]
        for (arm, other), counted in zip(PAIRS, counts, strict=True):
            found = cell.verdict(arm, other)
            row.append("-" if found is None else f"{found[0]} {100 * found[1]:+.1f}")
            if found is not None:
                counted[found[0]] += 1
        rows.append(row)
    kinds = (BETTER, LEVEL, WORSE)
    totals = (", ".join(f"{counted[kind]} {kind}" for kind in kinds) for counted in counts)
    rows.append(["all cells", "", "", *totals])
    return table(rows, groups)


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
    found = [f"`{name}` seeds {', '.join(each)}" for name, each in seeds.items()]
    return Block(f"Missing: {'; '.join(found)}." if found else "Nothing is missing.")


TABLES: dict[str, Callable[[], Block]] = {
    "equal": scores,
    "equal-unseen": lambda: scores(unseen=True),
    "equal-verdicts": verdicts,
    "equal-missing": missing,
}

if __name__ == "__main__":
    for title, make in TABLES.items():
        print(f"{title}\n\n{make().text}\n")
