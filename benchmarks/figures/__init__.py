"""The figures of the paper, drawn from result files alone into ``docs/figures``.

A drawing stores the numbers it was made from. These are compared with the result files, so the
check needs no matplotlib and does not depend on its version.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from benchmarks.figures import best, ranking, training
from benchmarks.figures.drawing import draw, drawn
from benchmarks.figures.model import Figure
from benchmarks.pages.common import HOLE, Block

FOLDER = Path("docs") / "figures"
_CURVES = {"cpu": ("linear", "minilm"), "paper": ("bert-base-uncased",)}
_OF_CLASSIFIER = {
    1: ranking.first_distribution,
    3: ranking.noise_coverage,
    4: best.f1_coverage,
    7: ranking.other_distributions,
    8: ranking.noise_ratio,
    9: best.f1_threshold,
}
FIGURES: dict[str, Callable[[], Figure | None]] = {
    **{
        f"{protocol}-{classifier}-figure-{number}": partial(make, protocol, classifier)
        for protocol, classifiers in _CURVES.items()
        for classifier in classifiers
        for number, make in _OF_CLASSIFIER.items()
    },
    **{f"{protocol}-figure-5": partial(training.over_tau, protocol) for protocol in _CURVES},
    **{f"{protocol}-figure-6": partial(training.over_iterations, protocol) for protocol in _CURVES},
}


def caption(name: str) -> Block:
    """Return a figure for a page in ``docs/results``: picture, what it shows, the findings."""
    of, number = name.split("figure-")
    classifier = of.partition("-")[2].removesuffix("-")
    label = f"Figure {number}{classifier and ', ' + classifier}"
    figure = FIGURES[name]()
    if figure is None:
        return Block(f"{label}: {HOLE.text.lower()}")
    return figure.caption(label, f"../{FOLDER.name}/{name}.svg")


def refresh(root: Path, *, check: bool) -> list[str]:
    """Draw new and changed figures and remove old ones; with ``check``, only find them.

    Returns:
        The paths below ``root`` that were out of date.

    Raises:
        LopsError: a figure must be drawn and matplotlib is not installed.

    """
    stale = []
    for name, make in FIGURES.items():
        figure, path = make(), root / FOLDER / f"{name}.svg"
        if (None if figure is None else figure.data()) == drawn(path) and (
            figure is not None or not path.exists()
        ):
            continue
        stale.append(path)
        if not check:
            path.unlink(missing_ok=True) if figure is None else draw(figure, path)
    for path in sorted((root / FOLDER).glob("*.svg")):
        if path.stem not in FIGURES:
            stale.append(path)
            if not check:
                path.unlink()
    return [path.relative_to(root).as_posix() for path in stale]
