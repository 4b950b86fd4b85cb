"""Options that commands share."""

import argparse
from collections.abc import Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, TypeVar

from lops_adapters.core import LopsError
from lops_adapters.formats.layouts import by_columns
from lops_adapters.formats.readers import Table, open_table
from lops_adapters.labels.columns import Columns, vote_columns
from lops_adapters.labels.derived import with_soft_label, with_text, with_votes
from lops_adapters.remote import located
from lops_adapters.tables.annotations import by_several

Kind = TypeVar("Kind")  # a dataclass


class _Once(argparse.Action):
    _values: argparse.Namespace | None = None

    def __call__(
        self, parser: Any, namespace: argparse.Namespace, values: Any, option_string: Any = None
    ) -> None:
        if option_string is not None and self._values is namespace:
            raise LopsError(
                f"{option_string} is given twice: {getattr(namespace, self.dest)} and {values}; "
                "leave one of them out"
            )
        self._values = namespace
        setattr(namespace, self.dest, values)


_OF_COLUMNS = (
    *("text", "label", "labels", "soft_labels", "source", "gold", "id", "group"),
    *("checked_column", "embeddings"),
)


def parser(command: str, description: str, examples: str) -> argparse.ArgumentParser:
    """Return the parser of a command, without its options; one with a value is given once."""
    made = argparse.ArgumentParser(
        prog=f"lops {command}",
        description=description,
        epilog=f"examples:\n{examples}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    for action in (None, "store"):
        made.register("action", action, _Once)
    return made


def add_table(parser: argparse.ArgumentParser) -> Any:
    """Add the options that name a table and its columns, and return their group."""
    data = parser.add_argument_group("data")
    data.add_argument(
        "files",
        nargs="+",
        metavar="FILE",
        help="CSV, TSV, JSONL, JSON or fastText's .txt (also with .gz or .zip), Parquet, .arrow or "
        ".xlsx: files, folders, or patterns such as 'part-*.csv'; a folder of class folders; -: "
        "standard input. Also s3://, gs://, hf:// and https://",
    )
    data.add_argument(
        "--text",
        action="append",
        metavar="COLUMN",
        help="column of texts; repeatable: the columns are joined, such as a title and a body",
    )
    data.add_argument("--label", metavar="COLUMN", help="column of noisy labels")
    data.add_argument(
        "--abstain",
        action="append",
        metavar="VALUE",
        help="a label that is no class; repeatable (default: -1 among integer codes). An empty "
        "label never is",
    )
    add_text_format(data)
    return data


def add_sources(data: Any) -> None:
    """Add the options that name label sources, and the classes."""
    data.add_argument(
        "--labels",
        action="append",
        metavar="COLUMNS",
        help="in place of --label: columns of labels by several sources, such as rules, annotators "
        "and models; names with commas between them, or a pattern such as 'rule*'; an empty cell "
        "is no vote. Or one column of lists, with a vote per source",
    )
    data.add_argument(
        "--soft-labels",
        action="append",
        metavar="COLUMN",
        help="in place of --label: a column of probabilities or votes, once per class, or one "
        "column of lists or objects; the label is the largest",
    )
    data.add_argument(
        "--source",
        metavar="COLUMN",
        help="column with the source of each label, such as the rule or prompt that gave it; "
        "file: the name of its file, if each file holds the labels of one source",
    )
    data.add_argument(
        "--classes",
        metavar="NAMES",
        help="the classes, with commas between them; labels that nearly name one, such as "
        "'Sports.', are read as it and listed, others are refused",
    )


def add_text_format(data: Any) -> None:
    """Add the options that say how to read text files."""
    data.add_argument(
        "--delimiter",
        type=delimiter,
        metavar="C",
        help="of CSV or TSV; 'tab' for a tab (default: by the suffix)",
    )
    data.add_argument(
        "--sheet",
        action="append",
        metavar="NAME",
        help="of .xlsx; repeatable, for sheets with the same columns (default: the first)",
    )
    data.add_argument(
        "--header-row",
        type=int,
        default=1,
        metavar="N",
        help="of CSV, TSV or .xlsx: the line of the names of columns, if a title stands above it "
        "(default: 1)",
    )
    data.add_argument(
        "--encoding", default="utf-8", metavar="NAME", help="of text files (default: utf-8)"
    )
    data.add_argument(
        "--quotes",
        action=argparse.BooleanOptionalAction,
        help="of CSV or TSV: whether quotes hold cells together (default: decided from the file)",
    )
    data.add_argument(
        "--keep-na",
        action="store_true",
        help="of CSV, TSV and .xlsx: a label NA, N/A, NULL, NaN or None is a class (default: no "
        "label, unless it is in quotes)",
    )


def opened(options: argparse.Namespace, paths: Sequence[Path], raw: bool = False) -> Table:
    """Return the table of the files; raise as :func:`~lops_adapters.formats.readers.open_table`.

    ``raw``: with the text of every row.
    """
    values = (getattr(options, name, None) for name in _OF_COLUMNS)
    asked = [
        one for value in values for one in ([value] if isinstance(value, str) else value or ())
    ]
    return open_table(
        paths,
        delimiter=options.delimiter,
        encoding=options.encoding,
        quiet=options.quiet,
        sheets=options.sheet or (),
        header_row=options.header_row,
        quotes=options.quotes,
        keep_na=options.keep_na,
        raw=raw,
        nested=[name for one in asked for name in (one, *one.split(","))],
    )


def laid_out(options: argparse.Namespace, table: Table) -> Table:
    """Fill in the columns by the layout of a tool if none is given; return the table, with a note.

    Annotators are sources if a text has labels by several.
    """
    layout = table.start.layout or by_columns(table.columns)
    named = ("text", "label", "labels", "source", "soft_labels", "embeddings")
    if layout is None or any(getattr(options, name, None) for name in named):
        return table
    if layout.source is not None and not by_several(table, layout.text, layout.source):
        layout = layout._replace(source=None)
    options.text, options.label, options.source = layout[:3]
    tool = f"as an export of {layout.tool}" if layout.tool else "by the names of its columns"
    return replace(table, notes=(*table.notes, f"Read {tool}: {layout}."))


def with_columns(
    options: argparse.Namespace, table: Table, kind: type[Columns] = Columns
) -> tuple[Table, Columns]:
    """Return a table and the columns that the options name, some of them read from others."""
    if options.text is not None:
        taken = {name for name in (options.label, getattr(options, "gold", None)) if name}
        table, options.text = with_text(table, options.text, taken)
    table = laid_out(options, table)
    table, votes = with_votes(table, vote_columns(table, options.labels or ()))
    columns = of_options(kind, options, votes=votes, classes=names(options.classes))
    table, columns = with_soft_label(table, columns)
    columns.check(table)
    return table, columns


def of_options(kind: type[Kind], options: argparse.Namespace, **read: Any) -> Kind:
    """Return a dataclass of the options that its fields name; ``read``: what some of them hold."""
    values = {**vars(options), **read}
    found = (one.name for one in fields(kind))  # type: ignore[arg-type]
    return kind(**{name: values[name] for name in found if values.get(name) is not None})


def delimiter(text: str) -> str:
    r"""Return a delimiter; ``tab`` and ``\t`` are a tab."""
    return "\t" if text in ("tab", "\\t") else text


def add_output(group: Any, default: str) -> None:
    """Add the option of the folder, named after the first file by default."""
    group.add_argument(
        "--output",
        type=path,
        metavar="DIR",
        help=f"folder to write (default: ./FILE-{default}, by the first file's name)",
    )


def add_run(group: Any) -> None:
    """Add the options of every run."""
    group.add_argument("--seed", type=int, default=0, metavar="S", help="random seed (default: 0)")
    group.add_argument(
        "--force", action="store_true", help="replace earlier output of this command"
    )
    group.add_argument("--quiet", action="store_true", help="no progress bars")


def path(text: str) -> Path:
    """Return the path of a file or folder, of this machine or remote."""
    try:
        return located(text)
    except LopsError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def names(text: str | None) -> tuple[str, ...] | None:
    """Return names with commas between them; None if none are given.

    >>> names("sport, sci/tech"), names(None)
    (('sport', 'sci/tech'), None)
    """
    if text is None:
        return None
    return tuple(filter(None, (name.strip() for name in text.split(","))))


def fraction(text: str) -> float | str:
    """Return a number, or ``auto`` unchanged."""
    return text if text == "auto" else number(text, "auto or a number")


def number(text: str, kind: str = "a number") -> float:
    """Return a number, or raise the error that argparse prints."""
    try:
        return float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"found {text!r}; wanted {kind} such as 0.5") from None
