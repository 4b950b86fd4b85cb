"""File formats: a module and a row of :data:`FORMATS` each; nothing else knows them by name."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from lops_adapters.console import typed
from lops_adapters.core import LopsError
from lops_adapters.formats.argilla import Argilla
from lops_adapters.formats.arrow import Arrow
from lops_adapters.formats.base import Format
from lops_adapters.formats.delimited import Delimited
from lops_adapters.formats.json_array import Json
from lops_adapters.formats.json_table import JsonTable
from lops_adapters.formats.jsonl import Jsonl
from lops_adapters.formats.label_studio import LabelStudio
from lops_adapters.formats.lines import binary, is_packed, unpacked_name
from lops_adapters.formats.parquet import Parquet
from lops_adapters.formats.plain_text import Folders, Lines
from lops_adapters.formats.prodigy import Prodigy
from lops_adapters.formats.xlsx import Xlsx
from lops_adapters.remote import opened

FORMATS: dict[str, Format] = {
    one.name: one
    for one in (
        Delimited("csv", ","),
        Delimited("tsv", "\t"),
        Jsonl(),
        Json(),
        Parquet(),
        Arrow(),
        Xlsx(),
        Lines(),
        LabelStudio(),
        Argilla(),
        Prodigy(),
        Folders(),
        JsonTable(),
    )
}
WRITTEN = tuple(name for name, one in FORMATS.items() if one.native == name)
_POINTER = b"version https://git-lfs"
_KINDS = (  # first bytes, suffixes that fit, what it is, what to do
    (b"\x1f\x8b", (".gz",), "packed by gzip", "rename it to {name}.gz"),
    (
        b"PK\x03\x04",
        (".zip", ".xlsx", ".xlsm"),
        "a zip archive, as .xlsx files are",
        "rename it to {stem}.xlsx, or to {name}.zip",
    ),
    (b"PAR1", (".parquet", ".pq"), "Parquet", "rename it to {stem}.parquet"),
    (b"ARROW1", (".arrow",), "Arrow", "rename it to {stem}.arrow"),
    (b"\xd0\xcf\x11\xe0", (), "an old or a protected spreadsheet", "save it as .xlsx"),
)


def of_suffix(path: Path) -> Format | None:
    """Return the format of a file, packed or not, by its suffix; None: unknown.

    >>> of_suffix(Path("rows.NDJSON.gz")).name, of_suffix(Path("rows.parquet.gz"))
    ('jsonl', None)
    """
    suffix = unpacked_name(path).suffix.lower()
    fitting = (one for one in FORMATS.values() if suffix in one.suffixes)
    return next((one for one in fitting if one.packs or not is_packed(path)), None)


def suffixes(names: Sequence[str] = tuple(FORMATS)) -> list[str]:
    """Return the suffixes of formats, for messages."""
    return [suffix for name in names for suffix in FORMATS[name].suffixes]


def to_read(path: Path) -> Format:
    """Return the format of a file or of class folders; a LopsError if its suffix is unknown."""
    format = FORMATS["folders"] if path.is_dir() else of_suffix(path)
    if path.is_file():
        check_contents(path)
    if format is None:
        if is_packed(path):
            with binary(path):  # says what is wrong with an archive
                pass
        known = ", ".join([*suffixes(), "a text format with .gz or .zip"])
        raise LopsError(
            f"{path}: unknown suffix {path.suffix!r}; wanted one of {known}; rename or unpack the "
            "file"
        )
    return FORMATS[format.fitting(path)]


def check_contents(path: Path) -> None:
    """Raise a LopsError: a file is of another kind than its name says, or a pointer of Git LFS."""
    with opened(path, buffering=0) as file:
        start = file.read(len(_POINTER)) or b""
    if start == _POINTER:
        raise LopsError(
            f"{path} is a pointer of Git LFS, not the file itself; fetch it: git lfs pull"
        )
    for first, suffixes, kind, way_out in _KINDS:
        if start.startswith(first) and path.suffix.lower() not in suffixes:
            way_out = way_out.format(name=path.name, stem=path.stem)  # noqa: PLW2901
            raise LopsError(f"{path} is {kind}, not {path.suffix or 'text'}; {way_out}")


def to_write(path: Path, option: str) -> str:
    """Return the name of the format of a file to write; ``option`` names the file.

    >>> to_write(Path("rows.TSV"), "output")
    'tsv'
    """
    format = None if is_packed(path) else of_suffix(path)
    if format is None or format.name not in WRITTEN:
        known = ", ".join(suffixes(WRITTEN))
        raise LopsError(f"{typed(option)} is {path}; wanted a name that ends in one of {known}")
    return format.name
