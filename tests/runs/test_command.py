"""What a command settles before the framework runs."""

import io
import json
import tarfile

import pytest

from lops_adapters.core import LopsError
from lops_adapters.runs import command
from lops_adapters.runs.framework import named


@pytest.fixture
def newsgroups(tmp_path):
    """Path of an archive of two messages."""
    path = tmp_path / "20news-bydate.tar.gz"
    with tarfile.open(path, "w:gz") as file:
        for name in ("20news-bydate-train/sci.space/1", "20news-bydate-test/rec.autos/2"):
            content = b"From: x\nSubject: Moon\n\nOrbit"
            member = tarfile.TarInfo(name)
            member.size = len(content)
            file.addfile(member, io.BytesIO(content))
    return path


@pytest.mark.parametrize(
    ("name", "given", "headers"),
    [
        ("xclass", [], "strip"),
        ("lotclass", [], "strip"),
        ("xclass", ["--headers", "keep"], "keep"),
        ("xclass", ["--preset", "paper"], "keep"),
        ("xclass", ["--faithful"], "keep"),
        ("xclass", ["--faithful", "--preset", "paper"], "keep"),
        ("conwea", [], "keep"),
        ("westclass", [], "keep"),
        ("self_training", [], "keep"),
        ("self_training", ["--headers", "strip"], "strip"),
    ],
)
def test_the_run_folder_says_what_became_of_headers(
    monkeypatch, newsgroups, tmp_path, caplog, name, given, headers
):
    seen = []

    def look(framework, dataset, job, arms):
        config = json.loads((job.folder.path / "config.json").read_text(encoding="utf-8"))
        seen.append((config["settings"]["headers"], dataset.corpus.texts[0]))
        raise LopsError("seen")

    monkeypatch.setattr(command, "run", look)
    preset = [] if "--preset" in given else ["--preset", "quick"]
    asked = ["--dataset", str(newsgroups), "--output", str(tmp_path / "run"), *preset, *given]
    with pytest.raises(LopsError, match="seen"), caplog.at_level("INFO"):
        command.command(named(name))(asked)
    whole = "From: x\nSubject: Moon\n\nOrbit"
    assert seen == [(headers, {"keep": whole, "strip": "Moon\n\nOrbit"}[headers])]
    resolved = headers == "strip" and "--headers" not in given
    assert ("message headers are stripped; --headers keep reads them" in caplog.text) == resolved
    paper = [one.getMessage() for one in caplog.records if one.levelname == "WARNING"]
    faithful = (
        "--faithful without all of the paper's settings (in brackets): encoder minilm "
        "(bert-base-uncased), max_pieces 128 (512), learning_rate None (5e-05), max_tokens 128 "
        "(512); --preset paper takes them"
    )
    assert paper == ([faithful] if given == ["--faithful"] else [])
