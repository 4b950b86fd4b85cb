"""Selection for small-text: a ``TextDataset`` in, one of the trusted rows out::

    from lops_adapters.integrations.small_text import select_dataset

    clean, selection = select_dataset(train, names=["sports", "money"])

Rows without a label are neither kept nor judged. Tested with small-text 1.4.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from lops_adapters import extras
from lops_adapters.core import LopsError
from lops_adapters.texts.result import TextSelection
from lops_adapters.texts.select import select


def select_dataset(
    dataset: Any, names: Sequence[str] | None = None, **choice: Any
) -> tuple[Any, TextSelection]:
    """Select the rows of a small-text data set whose labels to trust.

    Args:
        dataset: a ``TextDataset`` or a view of one, as active learners make them; not changed.
        names: class names, in the order of the codes; default: the codes.
        choice: as for :func:`lops_adapters.select`.

    Returns:
        A new ``TextDataset`` of the kept rows, with the same target labels; and the selection, with
        positions in the given data set.

    Raises:
        LopsError: small-text is not installed, another kind of data set, several labels per row,
            codes without a name, and what the selection raises.

    """
    library = extras.load("small_text", "A TextDataset")
    whole, positions = _unwrapped(dataset, library)
    if whole.is_multi_label:
        raise LopsError(
            "the data set has several labels per row; wanted one: use select_multilabel of "
            "lops_adapters.texts.multilabel"
        )
    codes = np.asarray(whole.y)[positions]
    if names is not None and len(codes) and codes.max() >= len(names):
        raise LopsError(f"a label has code {codes.max()}, and there are {len(names)} names")
    texts = [whole.x[position] for position in positions.tolist()]
    known = range(int(codes.max(initial=-1)) + 1) if names is None else names
    labels = [known[code] if code >= 0 else None for code in codes.tolist()]
    selection = select(texts, labels, **choice)
    kept = [texts[row] for row in selection.kept.tolist()]
    clean = library.TextDataset(kept, codes[selection.kept], target_labels=whole.target_labels)
    return clean, selection


def _unwrapped(dataset: Any, library: Any) -> tuple[Any, np.ndarray]:
    """Return the data set behind a view, and the view's (n,) positions in it.

    Views of small-text 1.4 cannot return their texts, nor their length, under NumPy 2.
    """
    if isinstance(dataset, library.TextDatasetView):
        whole, inside = _unwrapped(dataset.dataset, library)
        return whole, np.atleast_1d(inside[dataset.selection])
    if not isinstance(dataset, library.TextDataset):
        raise LopsError(
            f"dataset is a {type(dataset).__name__}; wanted a small_text.TextDataset: other kinds "
            "hold no texts"
        )
    return dataset, np.arange(len(dataset))
