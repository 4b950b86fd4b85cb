"""Two ideas for pseudo-labels: members that do not see the seed words, and names as sentences.

    python -m benchmarks.pseudo_labels --data-dir DIR
    python -m benchmarks.pseudo_labels --data-dir DIR --tables hidden-agnews,names-agnews-static

``hidden-NAME``: :mod:`benchmarks.hidden_seeds`; ``names-NAME-ENCODER``:
:mod:`benchmarks.name_sentences`. DIR as for :mod:`benchmarks.real_noise`, and the encoder
``all-mpnet-base-v2``. What has a result file is skipped.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from benchmarks import hidden_seeds, name_sentences
from benchmarks.record import measure_tables

NAMES = (
    *(f"hidden-{name}" for name in hidden_seeds.TABLES),
    *(f"names-{name}" for name in name_sentences.TABLES),
)


def load(name: str, data_dir: Path) -> Any:
    """Return what is measured: its texts, its classes, and the function that measures it."""
    part, _, table = name.partition("-")
    texts: Sequence[str]
    measure: Callable[[], dict[str, Any]]
    if part == "hidden":
        seeded = hidden_seeds.load(table, data_dir)
        texts, classes = seeded.table.texts, tuple(seeded.words)
        measure = partial(hidden_seeds.run, table, seeded)
    else:
        named = name_sentences.load(table, data_dir)
        texts, classes = named.texts, tuple(named.names)
        measure = partial(name_sentences.run, table, named, data_dir)
    return SimpleNamespace(texts=texts, classes=classes, measure=measure)


def main() -> None:
    """Measure what has no result yet."""
    measure_tables("pseudo_labels", __doc__, NAMES, load, lambda loaded: loaded.measure())


if __name__ == "__main__":
    main()
