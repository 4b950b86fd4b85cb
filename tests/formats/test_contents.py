"""Files under another name than they should have."""

import gzip
import io
import zipfile

import pytest

from lops_adapters.core import LopsError
from lops_adapters.formats import readers

ZIP = io.BytesIO()
with zipfile.ZipFile(ZIP, "w") as archive:
    archive.writestr("a.csv", "text,label\n")


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.csv", gzip.compress(b"a"), "is packed by gzip, not .csv; rename it to a.csv.gz"),
        ("a.json", ZIP.getvalue(), "is a zip archive, as .xlsx files are, not .json; rename it"),
        ("a.csv", b"PAR1....", "is Parquet, not .csv; rename it to a.parquet"),
        ("a.xlsx", b"\xd0\xcf\x11\xe0....", "is an old or a protected spreadsheet, not .xlsx; s"),
        ("a.xlsx", b"text,label\n", "cannot be read as a spreadsheet (no .xlsx file); is it text?"),
    ],
    ids=["gzip", "zip", "parquet", "old spreadsheet", "text"],  # gzip writes the time
)
def test_another_kind_of_file_is_named(tmp_path, name, content, said):
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(LopsError) as error:
        readers.open_table([path])
    assert f"{path} {said}" in str(error.value)


def test_the_first_line_tells_a_table_in_a_text_file(tmp_path):
    path = tmp_path / "a.txt"
    for content, kind in (
        (b"a text\nand more\n", "txt"),
        (b"__label__a some\ttext\n", "txt"),
        ("\u0909\u0924\n".encode("utf-16"), "txt"),  # the byte of a tab, and no tab
        (b"id\ttext\n1\ta\n", "tsv"),
        (b'"text" "label"\n"1" "a" "x"\n', "tsv"),
    ):
        path.write_bytes(content)
        encoding = "utf-16" if content.startswith(b"\xff\xfe") else "utf-8"
        assert readers.open_table([path], encoding=encoding).format.name == kind


@pytest.mark.parametrize("suffix", ["csv", "jsonl", "json", "txt", "parquet", "xlsx", "gz", "bin"])
def test_a_pointer_of_git_lfs(tmp_path, suffix):
    path = tmp_path / f"a.{suffix}"
    path.write_bytes(b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 839073\n")
    with pytest.raises(LopsError, match=r"a pointer of Git LFS, not .*; fetch it: git lfs pull"):
        readers.open_table([path])
