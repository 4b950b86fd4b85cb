"""Paths that cannot be read are errors in one sentence, from Python and from every command."""

from pathlib import Path

import pytest

from lops_adapters.cli import select as command
from lops_adapters.core import LopsError
from lops_adapters.datasets import load_dataset as load
from lops_adapters.datasets.readers import LAYOUTS

from .bounded import outcomes

SUFFIXES = (".csv", ".tsv", ".jsonl", ".parquet", ".pkl", ".tar.gz")
OPTIONS = ["--text", "text", "--label", "label", "--quiet"]


def deny(monkeypatch, name):
    """Deny opening a file, to an administrator as well."""
    real = Path.open

    def denied(self, *args, **kwargs):
        if self.name == name:
            raise PermissionError(13, "Permission denied", str(self))
        return real(self, *args, **kwargs)

    monkeypatch.setattr(Path, "open", denied)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_files(here, monkeypatch, suffix):
    (here / f"link{suffix}").symlink_to(here / "nowhere")
    (here / f"folder{suffix}").mkdir()
    (here / f"cut{suffix}").write_bytes(b"PAR1\x00\x01garbage\xff\xfePAR1")
    for name in (f"link{suffix}", f"folder{suffix}", f"cut{suffix}", "n" * 300 + suffix):
        with pytest.raises(LopsError):
            load(here / name)
        if suffix in SUFFIXES[:4]:
            with pytest.raises(LopsError):
                command.main([name, *OPTIONS])
    (here / f"shut{suffix}").write_bytes(b"x")
    deny(monkeypatch, f"shut{suffix}")
    with pytest.raises(LopsError, match="shut"):
        load(here / f"shut{suffix}")


@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda layout: layout.name)
@pytest.mark.parametrize("kind", ["link", "folder"])
def test_layouts_whose_files_are_no_files(here, layout, kind):
    for name in layout.marks[0]:
        if kind == "folder":
            (here / name).mkdir()
        else:
            (here / name).symlink_to(here / "nowhere")
    with pytest.raises(LopsError):
        load(here)


def test_a_folder_that_cannot_be_listed(here, monkeypatch):
    def denied(self):
        raise PermissionError(13, "Permission denied", str(self))

    monkeypatch.setattr(Path, "iterdir", denied)
    with pytest.raises(LopsError, match=r"cannot be read \(Permission denied\)"):
        load(here)


@pytest.mark.parametrize("column", ["text", "other"])
def test_parquet_whose_strings_are_not_utf8(here, column):
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    columns = {"text": [f"a{place}" for place in range(20)], "label": ["x", "y"] * 10}
    columns["other"] = columns["text"]
    raw = pa.array([b"\xe1\x28"] * 20).view(pa.string())
    parquet.write_table(pa.table({**columns, column: raw}), here / "a.parquet")
    with pytest.raises(LopsError, match=r"a.parquet: .*'utf-8' codec can't decode"):
        load(here / "a.parquet", text_column=column)
    with pytest.raises(LopsError, match=r"cannot read a.parquet: a text that is not UTF-8"):
        command.main(["a.parquet", "--format", "csv", *OPTIONS])


def test_deep_json_and_long_integers(here):
    for cell in ("[" * 100_000 + "]" * 100_000, "9" * 5000, '{"a":' * 50_000 + "1" + "}" * 50_000):
        lines = ['{"text": "a", "label": "x"}', f'{{"text": "b", "label": {cell}}}']
        (here / "a.jsonl").write_text("\n".join(lines))
        for call in (lambda: load(here / "a.jsonl"), lambda: command.main(["a.jsonl", *OPTIONS])):
            with pytest.raises(LopsError, match="line 2"):
                call()


def test_cells_nested_too_deeply_for_a_table(here):
    deep = "[" * 900 + "]" * 900
    lines = [f'{{"text": "a{place}", "label": "{place % 2}", "x": {deep}}}' for place in range(20)]
    (here / "a.jsonl").write_text("\n".join(lines))
    with pytest.raises(LopsError, match="nested too deeply for csv; give format='jsonl'"):
        command.main(["a.jsonl", "--format", "csv", *OPTIONS])


def test_damaged_statistics_of_parquet_do_not_end_the_process(here):
    """A column that may be empty is said to be never so; pyarrow ends the process if asked why."""
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    path = here / "a.parquet"
    parquet.write_table(pyarrow.table({"text": ["a", "b"], "label": ["x", "y"]}), path)
    of_schema = b"\x25\x02\x18\x04text"  # optional, and the name
    content = path.read_bytes()
    assert content.count(of_schema) == 1
    path.write_bytes(content.replace(of_schema, b"\x25\x00\x18\x04text"))
    (message,) = outcomes(load, [path])
    assert f"{path}" in message
