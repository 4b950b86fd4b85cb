"""Data files of the package: a damaged one is one message, never another result."""

from pathlib import Path

import pytest

from lops_adapters import shipped
from lops_adapters.core import LopsError
from lops_adapters.datasets import load_dataset
from lops_adapters.encoders.static import piece_table
from lops_adapters.report import layout
from lops_adapters.selection.committee.calibration import coefficients
from lops_adapters.vendoring import upstreams

ONLY_SHOWN = {".css", ".js", ".md", ".py", ".pyc", ".typed", ""}
READERS = {
    "datasets/demo/documents.jsonl": lambda: load_dataset("demo"),
    "encoders/word_pieces/pieces.txt": piece_table.__wrapped__,
    "report/page.css": lambda: layout._resource("page.css"),
    "selection/committee/calibration.json": coefficients.__wrapped__,
    "vendoring/upstreams.toml": lambda: upstreams.load("conwea"),
}


def copied(here, monkeypatch, name):
    path = here / name
    path.parent.mkdir(parents=True)
    path.write_bytes((shipped.HERE / name).read_bytes())
    monkeypatch.setattr(shipped, "HERE", here)
    return path


def test_every_file_that_makes_results_has_its_checksum():
    paths = [path for path in shipped.HERE.rglob("*") if path.is_file()]
    named = {path.relative_to(shipped.HERE).as_posix(): path.suffix for path in paths}
    assert {name for name, suffix in named.items() if suffix not in ONLY_SHOWN} == {*shipped.SHA256}
    for name in shipped.SHA256:
        shipped.data(name)


@pytest.mark.parametrize("name", shipped.SHA256)
def test_a_changed_file(tmp_path, monkeypatch, name):
    path = copied(tmp_path, monkeypatch, name)
    content = path.read_bytes()
    if path.suffix != ".npy":
        path.write_bytes(content.replace(b"\n", b"\r\n"))
        assert shipped.data(name) == content
    for changed in (b"", content[:-1], content[1:] + content[:1], content + b"\n"):
        path.write_bytes(changed)
        with pytest.raises(LopsError, match=r"damaged or missing \(checksum .*\); install lops_ad"):
            shipped.data(name)


@pytest.mark.parametrize("name", READERS)
def test_a_missing_file(tmp_path, monkeypatch, name):
    monkeypatch.setattr(shipped, "HERE", tmp_path)
    with pytest.raises(LopsError, match=rf"{Path(name).name} is damaged or missing \(No such file"):
        READERS[name]()


def test_a_part_of_the_page_that_is_not_text(tmp_path, monkeypatch):
    copied(tmp_path, monkeypatch, "report/page.css").write_bytes(b"\xff")
    with pytest.raises(LopsError, match=r"page.css is damaged or missing \('utf-8' codec can't"):
        shipped.text("report/page.css")
