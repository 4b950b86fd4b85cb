"""Write the tables and figures of README and docs from the committed result files.

    python -m benchmarks tables            rewrites every generated part
    python -m benchmarks tables --check    exits 1 if a part is out of date

A generated part is between ``<!-- table: NAME -->``, or ``figure``, and ``<!-- end -->``. Below it
are the numbers of its sources, which ``docs/results/measurements.md`` lists. Tables are made in
``benchmarks/pages``, figures in ``benchmarks/figures``.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

from benchmarks import again, figures
from benchmarks.pages import (
    agreement,
    base,
    calibration,
    checked,
    committee,
    conwea,
    copies,
    curves,
    defaults,
    distributions,
    equal,
    findings,
    frameworks,
    gpu,
    heuristics,
    label_sources,
    pseudo_labels,
    real_noise,
    rounds,
    scale,
    select,
    self_training,
    source_constants,
    speed,
    static,
    unlabelled,
)
from benchmarks.pages.common import Block, Files, markdown, sources

ROOT = Path(__file__).parent.parent
SOURCES = "docs/results/measurements.md"
# Sources are numbered in this order; pages that change most often are last.
PAGES = (
    "README.md",
    "docs/output.md",
    "docs/encoders.md",
    "docs/results/comparison.md",
    "docs/results/checked-rows.md",
    "docs/results/unlabelled.md",
    "docs/results/pseudo-labels.md",
    "docs/results/real-noise.md",
    "docs/results/real-noise-classifiers.md",
    "docs/results/calibration.md",
    "docs/results/sources.md",
    "docs/results/sources-trust.md",
    "docs/results/sources-constants.md",
    "docs/results/speed.md",
    "docs/own-texts.md",
    "docs/results/ranking.md",
    "docs/results/self-training.md",
    "docs/results/appendix.md",
    "docs/results/rounds.md",
    "docs/results/whole-corpora.md",
    "docs/findings.md",
    "docs/conwea.md",
    "docs/xclass.md",
    "docs/westclass.md",
    "docs/lotclass.md",
    "docs/results/lotclass.md",
    "docs/results/frameworks.md",
    "docs/results/base-encoder.md",
    SOURCES,
)
_PART = re.compile(r"(<!-- (?:table|figure): (\S+) -->\n)(.*?)(<!-- end -->)", re.DOTALL)
_LIST = "sources"  # the part that lists all sources


def again_table() -> Block:
    """Return what the last second measurements gave, a row per result."""
    rows = [["result", "numbers", "moved", "moved most", "committed", "now", "package"]]
    for name, found in again.stored().items():
        moved = [f"{found[key]:.4f}" if found["moved"] else "-" for key in ("old", "new")]
        most = f"`{found['most']}`" if found["moved"] else "-"
        commit = found["git_commit"][:10] + (" edited" if found["edited"] else "")
        rows.append([f"`{name}`", str(found["n"]), str(found["moved"]), most, *moved, commit])
    return Block(markdown(rows))


_MEASURED: dict[str, Callable[[], Block]] = {
    "conwea-20news-coarse": partial(frameworks.iterations, "conwea-20news-coarse-4000-*.json"),
    "conwea-20news-careful": partial(
        frameworks.iterations, "conwea-careful-20news-coarse-4000-*.json"
    ),
    "conwea-demo": partial(frameworks.iterations, "conwea-demo-*.json"),
    "conwea-causes": conwea.causes,
    "contextualisation": speed.contextualisation,
    "westclass": frameworks.westclass,
    "westclass-demo": partial(frameworks.iterations, "westclass-demo-*.json"),
    "westclass-ranked": frameworks.westclass_ranked,
    "westclass-granularity": speed.westclass_granularity,
    "xclass": frameworks.xclass,
    "xclass-encoding": speed.xclass_encoding,
    "lotclass": frameworks.lotclass,
    "lotclass-speed": speed.lotclass_speed,
    "select": select.numbers,
    **calibration.TABLES_OF_PAGE,
    **real_noise.TABLES_OF_PAGE,
    **static.TABLES_OF_PAGE,
    **checked.TABLES_OF_PAGE,
    **unlabelled.TABLES_OF_PAGE,
    **pseudo_labels.TABLES_OF_PAGE,
    **copies.TABLES_OF_PAGE,
    **agreement.TABLES_OF_PAGE,
    **label_sources.TABLES_OF_PAGE,
    **source_constants.TABLES_OF_PAGE,
    "again": again_table,
    "select-printed": partial(select.printed, "select-agnews-tau-auto.json"),
    "speed-pairs": speed.pairs,
    "speed-scale": speed.scale,
    "speed-frameworks": speed.frameworks,
    "engines": scale.engines,
    "engines-costs": scale.costs,
    "engines-encoding": scale.encoding,
    "own-texts-costs": speed.per_thousand,
    "speed-watching": speed.watching,
    "heuristics": heuristics.noise_of_heuristics,
    "datasets": heuristics.statistics,
    "frameworks": frameworks.all_frameworks,
    "paper-frameworks": partial(frameworks.all_frameworks, "paper"),
    **committee.TABLES,
    **findings.TABLES,
    **defaults.TABLES,
    **equal.TABLES,
    **self_training.TABLES,
    **rounds.TABLES,
    **gpu.TABLES,
    **base.TABLES,
    **curves.TABLES,
    **distributions.TABLES,
    **{name: partial(figures.caption, name) for name in figures.FIGURES},
}
# Sections of the paper's own grid, per page: title -> its tables and figures.
_PAPER_GRID: dict[str, dict[str, Sequence[str]]] = {
    "grid-self-training": {
        **{
            classifier: tuple(f"paper-{part}-{classifier}" for part in self_training.OF_CLASSIFIER)
            for classifier in self_training.CLASSIFIERS["paper"]
        },
        "Tau and iterations": ("paper-tau", "paper-figure-5", "paper-figure-6"),
    },
    "grid-ranking": {
        "Ranking": tuple(f"paper-{part}" for part in (*curves.MAKERS, *distributions.MAKERS)),
        "Figures": tuple(name for name in figures.FIGURES if "paper-bert" in name),
    },
    "grid-frameworks": {"Frameworks": ("paper-frameworks",)},
}


def paper_grid(name: str) -> Block:
    """Return the measured sections of the paper's own grid; empty if there are none."""
    text: list[str] = []
    groups: list[Files] = []
    for title, parts in _PAPER_GRID[name].items():
        blocks = [block for part in parts if (block := _MEASURED[part]()).groups]
        if blocks:
            text += [f"### {title}", *(block.text for block in blocks)]
            groups += [files for block in blocks for files in block.groups]
    return Block("\n\n".join(["## The paper's own grid", *text]) if text else "", groups)


TABLES: dict[str, Callable[[], Block]] = {
    **_MEASURED,
    **{name: partial(paper_grid, name) for name in _PAPER_GRID},
}


def rebuilt(pages: Mapping[str, str]) -> dict[str, str]:
    """Return pages with their generated parts made anew.

    Args:
        pages: path below the root -> text, in the order in which sources are numbered.

    """
    blocks = {
        name: TABLES[name]()
        for text in pages.values()
        for _, name, *_ in _PART.findall(text)
        if name != _LIST
    }
    lines = dict.fromkeys(line for block in blocks.values() for line in sources(block.groups))
    numbers = {line: number for number, line in enumerate(lines, 1)}
    listed = "\n".join(f"{number}. {line}" for line, number in numbers.items())

    def part(match: re.Match[str], page: str) -> str:
        block = Block(listed) if match[2] == _LIST else blocks[match[2]]
        below = _numbered(sorted(numbers[line] for line in sources(block.groups)), page)
        return f"{match[1]}\n{block.text}\n\n{below}{match[4]}"

    return {page: _PART.sub(partial(part, page=page), text) for page, text in pages.items()}


def _numbered(numbers: Sequence[int], page: str) -> str:
    """Return the line below a part: the numbers of its sources, with a link to their list."""
    if not numbers:
        return ""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    shown = ", ".join(str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs)
    link = os.path.relpath(SOURCES, Path(page).parent).replace(os.sep, "/")
    return f"[{'Sources' if len(numbers) > 1 else 'Source'} {shown}]({link})\n\n"


def main(*, check: bool = False) -> int:
    """Rewrite all pages, or ``check`` whether they are up to date; returns the exit status."""
    stale = figures.refresh(ROOT, check=check)
    old = {name: (ROOT / name).read_text(encoding="utf-8") for name in PAGES}
    for name, text in rebuilt(old).items():
        if text != old[name]:
            stale.append(name)
            if not check:
                (ROOT / name).write_text(text, encoding="utf-8")
    said = "out of date: " if check else "rewritten: "
    print(said + ", ".join(stale) if stale else "all tables and figures are up to date")
    return int(check and bool(stale))
