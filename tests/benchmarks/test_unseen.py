"""The corpora that no setting has seen, built from small sources."""

import gzip
import json

import pytest

from benchmarks import unseen
from lops_adapters.core import LopsError
from lops_adapters.datasets import load_dataset

PACKAGES = """Package: zgame-data
Source: zgame (1.0)
Section: games
Description-md5: 1

Package: zgame
Source: zgame
Section: games
Description-md5: 2

Package: lib
Section: libs
Description-md5: 3

Package: anote
Section: sound
Description-md5: 4
"""
TRANSLATIONS = """Package: any
Description-md5: {}
Description-en: a title {}
 more of it
 .
 the end
"""


@pytest.fixture
def lists(tmp_path, monkeypatch):
    """A folder with lists of packages, and a helper that reads them."""
    helper = tmp_path / "helper"
    helper.write_text('#!/bin/sh\ncat "$2"\n', encoding="utf-8")
    helper.chmod(0o700)
    monkeypatch.setattr(unseen, "_HELPER", str(helper))
    folder = tmp_path / "lists"
    folder.mkdir()
    stem = "deb.debian.org_debian_dists_any_main_"
    (folder / f"{stem}binary-amd64_Packages").write_text(PACKAGES, encoding="utf-8")
    texts = "\n".join(TRANSLATIONS.format(n, n) for n in (1, 2, 4))
    (folder / f"{stem}i18n_Translation-en").write_text(texts, encoding="utf-8")
    return folder


def test_one_description_per_source_package(lists):
    assert unseen.debian(lists, {"games", "sound"}) == [
        ("a title 4\nmore of it\n\nthe end", "sound"),
        ("a title 2\nmore of it\n\nthe end", "games"),  # zgame is before zgame-data
    ]


def test_lists_that_are_not_there_are_named(tmp_path):
    with pytest.raises(LopsError, match=r"has no .*Translation-en.*; run apt-get update"):
        unseen.debian(tmp_path, {"games"})


def test_a_corpus_is_a_folder_with_the_committed_words(tmp_path):
    path = tmp_path / "german.csv.gz"
    with gzip.open(path, "wt", encoding="utf-8") as file:
        file.write("text,label,gold\nEin Spiel.,,Sport\nEin Film.,Sport,Kultur\n")
    rows = unseen.german_news(path)
    assert rows == [("Ein Spiel.", "Sport"), ("Ein Film.", "Kultur")]
    unseen.write(tmp_path / "german-news", rows, "german-news")
    dataset = load_dataset(tmp_path / "german-news")
    words = json.loads(unseen.WORDS.read_text(encoding="utf-8"))["german-news"]
    assert dict(dataset.corpus.seeds) == {name: tuple(of) for name, of in words["seeds"].items()}
    assert dataset.corpus.names["Etat"] == ("medien",)
    assert dataset.gold.labels == ("Sport", "Kultur")
    with pytest.raises(LopsError, match=r"gold labels \['Auto'\], which are no classes"):
        unseen.write(tmp_path / "other", [("a", "Auto")], "german-news")
