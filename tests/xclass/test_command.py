"""Bad input through the command: one clear line on standard error, exit status 2, before any long
work; odd input that works.
"""

import json

import pytest

from lops_adapters.encoders.context_encoder import ContextEncoder

from ..framework_checks import metrics_of
from ..framework_tools import ARTS, LAW, read_rows
from .toys import CLASSES, documents, write_folder

TEXTS, LABELS = documents(30)


def test_options_that_cannot_work(refuse, good):
    words = "every is 21, and the probe makes 4 updates on about 15 pseudo-labelled documents;"
    refuse(good, "--every 21 --probe linear", words)
    few = "found 2 documents with a word among 2, for 3 classes; wanted at least as many"
    refuse(good, "--max-docs 2", few)


def test_names_that_are_the_same_words(refuse, tmp_path):
    words = "the class names 'Law', 'law' are the same words; wanted names that differ"
    refuse(write_folder(tmp_path / "data", TEXTS, None, ["arts", "Law", "law"]), "", words)


def only_of_learning(err, *also):
    return all(
        line.startswith(("warning: nothing was learnt", "warning: no document is aligned", *also))
        for line in err.splitlines()
    )


def test_odd_data_that_work(run, tmp_path):
    """Documents that are empty, of marks, without a frequent word; names of several words, that the
    corpus lacks, that need quotes.
    """
    odd = ["", "...", "zyzzyva quux", "日本語 ☃", "word " * 300]
    classes = ['arts, "fine"', "<law>", "sport_match", "quidditch"]
    names = dict(zip(CLASSES, classes, strict=False))
    labels = [*(names[label] for label in LABELS), *["quidditch"] * 5]
    status, out, err = run(
        write_folder(tmp_path / "data", [*TEXTS, *odd], labels, classes), "--arms lops"
    )
    assert status == 0, err
    assert only_of_learning(err, "warning: no text holds the class name quidditch"), err
    assert "35 documents" in out
    metrics = metrics_of(tmp_path / "run")
    assert metrics["classes"] == sorted(classes)
    assert metrics["name_vectors"] == {
        'arts, "fine"': "parts",
        "<law>": "corpus",
        "quidditch": "template",
        "sport_match": "parts",
    }
    assert metrics["documents_without_words"] == 2
    rows = read_rows(tmp_path / "run" / "lops" / "predictions.csv")
    assert len(rows) == 35
    assert {row["predicted"] for row in rows} <= set(classes)


def test_names_apart_from_labels(run, good, tmp_path, monkeypatch):
    """Another run with other names encodes nothing; labels stay what they are."""
    fast = "--arms standard --classifier linear"
    assert run(good, fast)[0] == 0
    monkeypatch.setattr(ContextEncoder, "encode", lambda *_: pytest.fail("encoded again"))
    given = {"arts": ARTS[0], "law": [LAW[0], "unused"]}
    (tmp_path / "names.json").write_text(json.dumps(given), encoding="utf-8")
    path = tmp_path / "named"
    more = ["--names", tmp_path / "names.json", "--output", path]
    status, _, err = run(good, fast, *more)
    assert status == 0, err
    assert metrics_of(path)["classes"] == list(CLASSES)
    assert metrics_of(path)["name_vectors"] == dict.fromkeys(CLASSES, "corpus")
    config = json.loads((path / "config.json").read_text(encoding="utf-8"))
    assert config["dataset"]["names"] == {
        "arts": [ARTS[0]],
        "law": [LAW[0], "unused"],
        "sport": ["sport"],
    }
    words = json.loads((path / "class_words.json").read_text(encoding="utf-8"))
    assert ARTS[0] not in words["arts"]  # the name itself is not in the list
    assert {row["predicted"] for row in read_rows(path / "standard" / "predictions.csv")} <= set(
        CLASSES
    )
