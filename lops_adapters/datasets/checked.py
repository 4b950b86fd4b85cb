"""Labels of documents by id: checked ones, ``checked.csv`` of a data set, and any others."""

from pathlib import Path

from lops_adapters.console import listed
from lops_adapters.core import LopsError
from lops_adapters.datasets.corpus import Corpus
from lops_adapters.datasets.rows import readable
from lops_adapters.formats.cells import NO_CLASS, Names, cell_text
from lops_adapters.formats.readers import open_saved

NAME = "checked.csv"


def read_checked(
    path: Path, corpus: Corpus, *, sampled: bool = False, column: str = "checked"
) -> dict[int, str | None]:
    """Return position of a document -> its class by a person; None: none of the classes.

    The table has the columns ``id`` and ``label``, as the corrections of a report; if it has the
    ``column``, that counts where it is filled. ``sampled``: the corpus is a sample, so that some of
    these documents are not in it.

    LopsError: missing columns, an unknown id or class, two classes for one document.
    """
    position = {name: i for i, name in enumerate(corpus.ids)}
    labels: dict[int, str | None] = {}
    classes = Names(corpus.classes)
    for line, name, text in _lines(path, column):
        label = None if text is None else classes.meant(text) or text
        if name not in position and not sampled:
            raise LopsError(
                f"{path}, line {line}: the id {name!r:.80} is of no document of {corpus.name}; "
                f"wanted ids such as {listed(corpus.ids, 3)}"
            )
        if label not in (None, *corpus.classes):
            raise LopsError(
                f"{path}, line {line}: {label!r:.80} is no class of {corpus.name}; wanted one of "
                f"{listed(corpus.classes)}, or - if no class fits; a new class needs seed words or "
                "a name first"
            )
        if name in position and labels.setdefault(position[name], label) != label:
            raise LopsError(
                f"{path}, line {line}: the document {name!r:.80} is {label!r:.80} here, and "
                f"{labels[position[name]]!r:.80} before; give it once"
            )
    return labels


def read_given_labels(path: Path, corpus: Corpus) -> dict[int, str]:
    """Return position of a document -> its label, of a table in which every row has one.

    It is read as by :func:`read_checked`. LopsError for no row, or a row without a label.
    """
    labels = read_checked(path, corpus, column="pseudo_label")
    labelled = {row: label for row, label in labels.items() if label is not None}
    if not labelled or len(labelled) < len(labels):
        what = "a row without a label" if labels else "no row"
        raise LopsError(
            f"{path} holds {what}; wanted the columns id and label, and one labelled document per "
            "row"
        )
    return labelled


def _lines(path: Path, column: str) -> list[tuple[int, str, str | None]]:
    with readable(path):
        table = open_saved(path)
        label = column if column in table.columns else "label"
        if not {"id", label} <= set(table.columns):
            raise LopsError(
                f"{path} has the columns {listed(map(repr, table.columns))}; wanted 'id' and "
                f"'label' (or {column!r})"
            )
        rows = [
            (line, cell_text(name).strip(), cell_text(text).strip())
            for _, line, (name, text) in table.cells(("id", label))
        ]
    return [
        (line, name, None if text in ("", NO_CLASS) else text)
        for line, name, text in rows
        if text or label == "label"
    ]
