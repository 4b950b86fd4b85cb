"""Selection for tables: a pandas or polars DataFrame or a ``datasets.Dataset`` in and out::

    from lops_adapters.integrations.frames import select_frame

    marked = select_frame(frame, text="review", label="rating")
    marked[~marked.lops_selected]                                  # labels to check

Rows keep their order and their columns.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, TypeVar

import numpy as np

from lops_adapters.core import LopsError
from lops_adapters.formats.cells import single
from lops_adapters.texts.result import COLUMNS
from lops_adapters.texts.select import select

Frame = TypeVar("Frame")
SUGGESTED = COLUMNS[-1]


def select_frame(
    frame: Frame,
    text: str = "text",
    label: str = "label",
    *,
    kept_only: bool = False,
    **choice: Any,
) -> Frame:
    """Select the pseudo-labels of a table to trust.

    Args:
        frame: a pandas or polars DataFrame, or a ``datasets.Dataset``, of N rows; not changed.
        text: name of the text column.
        label: name of the column of pseudo-labels, one class per row.
        kept_only: return only the kept rows.
        choice: as for :func:`lops_adapters.select`: method, keep, per_class, probe,
            every, sure, encoder, words, analyzer, class_shares, labelled_by, seed, strict, quiet.

    Returns:
        A table of the same kind with its index or its features and format, and new columns:
        ``lops_learnt_at`` (float64, epochs; missing: never learnt; only of methods with learning
        times), ``lops_confidence`` (float64, larger is more trusted), ``lops_selected`` (bool) and
        ``lops_suggested`` (the most probable label, of the type of the labels). The confidence
        is missing in a row without a label, which is neither kept nor rejected.

    Raises:
        LopsError: another kind of table, missing columns, columns with the new names, rows without
            a text, and what the probe and the selection raise.

    >>> import pandas
    >>> texts = ["the striker scored a late goal"] * 20 + ["the bank cut its rates"] * 20
    >>> labels = ["sports"] * 20 + ["money"] * 19 + ["sports"]
    >>> frame = pandas.DataFrame({"text": texts, "label": labels})
    >>> marked = select_frame(frame)
    >>> marked[~marked.lops_selected].index.tolist()
    [39]
    """
    table: Any = frame
    add: Callable[..., Any]
    if _has(frame, "iloc", "columns"):
        names, read, add = list(table.columns), _read_pandas, _add_to_pandas
    elif _has(frame, "with_columns", "get_column"):
        names, read, add = table.columns, _read_polars, _add_to_polars
    elif _has(frame, "add_column", "with_format", "__len__"):
        names, read, add = table.column_names, _read_dataset, _add_to_dataset
    else:
        raise LopsError(
            f"frame is a {type(frame).__name__}; wanted a pandas or polars DataFrame or a "
            "datasets.Dataset: pass one split of a DatasetDict, collect() of a LazyFrame, and "
            "to_pandas() of other tables"
        )
    _check_columns(names, text, label)
    texts, labels = read(frame, text), read(frame, label)
    selection = select(texts, labels, **choice)
    columns = {name: np.array(values) for name, values in selection.added().items()}
    marked: Frame = add(frame, columns, label, selection.kept if kept_only else None)
    return marked


def _has(frame: Any, *names: str) -> bool:
    return not isinstance(frame, type) and all(hasattr(frame, name) for name in names)


def _check_columns(names: list[Hashable], *columns: Hashable) -> None:
    for name in columns:
        if not isinstance(name, Hashable) or names.count(name) != 1:
            missing = f"not among {', '.join(map(str, names)) or 'none'}"
            fault = "twice" if isinstance(name, Hashable) and name in names else missing
            raise LopsError(
                f"column {name!r:.80} is {fault}; wanted a column of "
                "texts and one of pseudo-labels: pass text= and label="
            )
    for name in COLUMNS:
        if name in [first[0] if isinstance(first, tuple) and first else first for first in names]:
            raise LopsError(
                f"there is a column {name!r} already, perhaps from an earlier selection; drop or "
                "rename it"
            )


def _read_pandas(frame: Any, name: str) -> list[Any]:
    column = frame[name]
    missing = column.isna().to_numpy()
    return [None if gone else value for value, gone in zip(column.tolist(), missing, strict=True)]


def _read_polars(frame: Any, name: str) -> list[Any]:
    values: list[Any] = frame.get_column(name).to_list()
    return values


def _read_dataset(frame: Any, name: str) -> list[Any]:
    plain = [single(value) for value in frame.with_format(None)[name]]
    names = getattr(_inner(frame.features[name]), "names", None)  # of a ClassLabel; -1: no label
    name_of = dict(enumerate(names or ()))
    return plain if names is None else list(map(name_of.get, plain))


def _inner(feature: Any) -> Any:
    return getattr(feature, "feature", feature)


def _plain(column: np.ndarray) -> list[Any]:
    return [None if value != value else value for value in column.tolist()]  # noqa: PLR0124


def _add_to_pandas(
    frame: Any, columns: dict[str, np.ndarray], label: Hashable, kept: np.ndarray | None
) -> Any:
    marked, labels = frame.copy(deep=False), frame[label]
    below = ("",) * (frame.columns.nlevels - 1)
    for name, column in columns.items():
        # numpy's integers have no missing value.
        plain = isinstance(labels.dtype, np.dtype) and labels.dtype.kind in "iub"
        typed = name == SUGGESTED and not (plain and None in column.tolist())
        values = type(labels)(column, index=frame.index, dtype=labels.dtype) if typed else column
        marked[(name, *below) if below else name] = values
    return marked if kept is None else marked.iloc[kept]


def _add_to_polars(
    frame: Any, columns: dict[str, np.ndarray], label: str, kept: np.ndarray | None
) -> Any:
    labels = frame.get_column(label)
    marked = frame.with_columns(
        [
            type(labels)(name, _plain(column), dtype=labels.dtype if name == SUGGESTED else None)
            for name, column in columns.items()
        ]
    )
    return marked if kept is None else marked[kept.tolist()]


def _add_to_dataset(
    frame: Any, columns: dict[str, np.ndarray], label: str, kept: np.ndarray | None
) -> Any:
    marked = frame
    for name, column in columns.items():
        marked = marked.add_column(name, _plain(column))
    kind = _inner(frame.features[label])
    if marked.features[SUGGESTED] != kind:
        marked = marked.cast_column(SUGGESTED, kind)
    form = frame.format
    if form["type"] is not None:
        everything = set(form["columns"]) == set(frame.column_names)
        shown = None if everything else form["columns"]
        marked = marked.with_format(
            form["type"], shown, form["output_all_columns"], **form["format_kwargs"]
        )
    return marked if kept is None else marked.select(kept)
