"""Pseudo-labels from a CSV file."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from lops_adapters.console import listed
from lops_adapters.core import LopsError
from lops_adapters.datasets import Corpus
from lops_adapters.pseudo_labels import PseudoLabels
from lops_adapters.tables.formats.delimited import csv_records


def read_pseudo_labels(path: Path, corpus: Corpus) -> PseudoLabels:
    """Read pseudo-labels from a CSV file with the columns ``id`` and ``pseudo_label``.

    The second column can also be named ``label``. Other columns are ignored. Scores are 1.

    Raises:
        LopsError: a missing column, no row, a row of another length, an unknown id or class, or a
            repeated id.

    """
    records = csv_records(path, quiet=True)
    _, header = next(records, (0, []))
    column = next((name for name in ("pseudo_label", "label") if name in header), None)
    if "id" not in header or column is None:
        raise LopsError(
            f"{path} has the columns {listed(header)}; wanted id and pseudo_label (or label)"
        )
    id_at, label_at = header.index("id"), header.index(column)
    labels: dict[str, str] = {}
    for line, fields in records:
        if len(fields) != len(header):
            raise LopsError(
                f"{path}, line {line}: found {len(fields)} fields; wanted {len(header)}, as in the "
                "header"
            )
        if fields[id_at] in labels:
            raise LopsError(
                f"{path}, line {line}: the id {fields[id_at]!r} is there a second time; wanted one "
                "pseudo-label per document"
            )
        labels[fields[id_at]] = fields[label_at]
    if not labels:
        raise LopsError(f"{path} holds no pseudo-label; wanted one row per labelled document")
    unknown = sorted(set(labels) - set(corpus.ids))
    if unknown:
        raise LopsError(
            f"{path}: {len(unknown)} ids are of no document of {corpus.name} "
            f"({listed(unknown, 5)}); wanted ids of its documents"
        )
    strange = sorted(set(labels.values()) - set(corpus.classes))
    if strange:
        raise LopsError(
            f"{path}: {listed(strange, 5)} is no class of {corpus.name}; wanted some of "
            f"{listed(corpus.classes)}"
        )
    positions = np.array(
        [position for position, name in enumerate(corpus.ids) if name in labels], dtype=np.int64
    )
    names = np.array([labels[corpus.ids[position]] for position in positions], dtype=object)
    return PseudoLabels(positions, names, np.ones(len(positions)), len(corpus), corpus.classes)
