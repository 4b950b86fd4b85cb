"""Odd options, links, file modes, damaged results."""

import json
import os

import pytest

from lops_adapters import storage
from lops_adapters.cli import select as command
from lops_adapters.core import LopsError
from lops_adapters.vendoring import copies

from ..noisy import noisy_rows, read_table, write_table

OPTIONS = ["--text", "text", "--label", "weak", "--probe", "linear", "--encoder", "none", "--quiet"]


@pytest.mark.parametrize("encoding", ["hex", "rot13", "zlib", "undefined", "no-such", "a\0b", ""])
def test_encodings_that_are_not_of_text(here, encoding):
    write_table(here / "a.csv", noisy_rows())
    with pytest.raises(LopsError, match=r"encoding is .*wanted a name such as utf-8"):
        command.main(["a.csv", "--encoding", encoding, *OPTIONS])


@pytest.mark.parametrize("delimiter", ['"', "\n", "\r", "\0"])
def test_delimiters_that_mean_something_else(here, delimiter):
    write_table(here / "a.csv", noisy_rows())
    with pytest.raises(LopsError, match=r"delimiter is .*wanted one character"):
        command.main(["a.csv", "--delimiter", delimiter, *OPTIONS])


@pytest.mark.parametrize("cell", [["x", "y"], {"a": 1}])
def test_gold_labels_that_are_lists(here, cell):
    rows = [{"text": row[1], "weak": row[2], "true": cell} for row in noisy_rows()]
    (here / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    with pytest.raises(LopsError, match=r"line 1: the gold label is .*; check gold"):
        command.main(["a.jsonl", "--gold", "true", *OPTIONS])


def test_links_stay_links_and_files_keep_their_modes(here):
    write_table(here / "a.csv", noisy_rows())
    for name in ("folder", "files"):
        (here / name).mkdir()
    (here / "out").symlink_to(here / "folder")
    (here / "files" / "real.csv").write_text("old")
    (here / "files" / "real.csv").chmod(0o640)
    (here / "clean.csv").symlink_to(here / "files" / "real.csv")
    given = ["a.csv", "--output", "out", "--corrected", "clean.csv", "--force", *OPTIONS]
    assert command.main(given) == 0
    assert (here / "out").is_symlink()
    assert (here / "clean.csv").is_symlink()
    assert (here / "folder" / "kept.csv").is_file()
    assert len(read_table(here / "files" / "real.csv")) > 50
    assert (here / "files" / "real.csv").stat().st_mode & 0o777 == 0o640
    path, _ = copies.vendor(here)
    path.chmod(0o755)
    copies.vendor(here)
    assert path.stat().st_mode & 0o777 == 0o755


def test_a_checkout_that_cannot_be_written(here, monkeypatch):
    def refuse(dir):
        raise PermissionError(13, "Permission denied", str(dir))

    monkeypatch.setattr(storage.tempfile, "TemporaryFile", refuse)
    with pytest.raises(LopsError, match=r"cannot write into .*\(Permission denied\)"):
        storage.check_writable(here, "give write access to the checkout")


def test_an_encoder_with_code_of_its_own_never_asks(here, monkeypatch):
    pytest.importorskip("transformers")
    from lops_adapters.encoders import pretrained

    def asked(*_):
        raise AssertionError("the user is asked")

    monkeypatch.setattr("builtins.input", asked)
    config = {"model_type": "strange", "auto_map": {"AutoConfig": "code.Strange"}}
    (here / "config.json").write_text(json.dumps(config))
    (here / "code.py").write_text("import os\nos.mkdir('ran')\n")
    with pytest.raises(LopsError, match="needs code from its own repository, which is never run"):
        pretrained.load_config(str(here))
    assert "ran" not in os.listdir(here)
