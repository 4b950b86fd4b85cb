"""Files whose first bytes contradict their names."""

from pathlib import Path

from lops_adapters.core import LopsError
from lops_adapters.remote import opened

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
