import re
import shutil
import socket
import types

import pytest
import sklearn.datasets

from lops_adapters.core import LopsError
from lops_adapters.datasets import load, published, sources

from .conftest import FRAME


@pytest.fixture(autouse=True)
def cache(no_data):
    return no_data


@pytest.fixture(autouse=True)
def fetched(monkeypatch):
    """Record what would be fetched; nothing can be."""
    calls = []

    def refuse(url, destination, git_blob, **options):
        calls.append(url)
        raise LopsError("no network")

    monkeypatch.setattr(sources, "fetch", refuse)
    return calls


def newsgroups_bunch(**changes):
    groups = ["alt.atheism", "misc.forsale", "sci.space"]
    root = "/home/x/scikit_learn_data/20news_home/20news-bydate-"
    parts = {
        "data": ["moon\n", "none\n", "Caf\xe9\n"],
        "target": [2, 0, 1],
        "target_names": groups,
        "filenames": [
            f"{root}test/sci.space/70000",
            f"{root}train/alt.atheism/51060",
            f"{root}train/misc.forsale/2",
        ],
    }
    return types.SimpleNamespace(**{**parts, **changes})


@pytest.fixture
def sklearn_calls(monkeypatch):
    calls = []

    def recorded(**options):
        calls.append((options, socket.getdefaulttimeout()))
        return newsgroups_bunch()

    monkeypatch.setattr(sklearn.datasets, "fetch_20newsgroups", recorded)
    return calls


def test_newsgroups_come_through_sklearn_and_are_kept(sklearn_calls, cache):
    dataset = load("20news", quiet=True)
    assert dataset.corpus.ids == ("train/alt.atheism/51060", "test/sci.space/70000")
    assert dataset.gold.labels == ("religion", "sci")
    assert sklearn_calls == [({"subset": "all", "remove": ()}, 60.0)]
    assert socket.getdefaulttimeout() is None
    assert [path.name for path in (cache / "20news").iterdir()] == ["documents.jsonl"]
    assert load("20news-fine", offline=True).gold.labels == ("alt.atheism", "sci.space")
    assert load(cache / "20news").corpus.texts == ("none\n", "Café\n", "moon\n")
    assert len(sklearn_calls) == 1


@pytest.mark.slow
def test_sklearn_and_the_archive_give_the_same_corpus(monkeypatch, real_data):
    archive = load(real_data / "20news-bydate.tar.gz", quiet=True)
    order = list(range(len(archive)))[::-1]
    labels = archive.gold.labels
    targets = {group: number for number, group in enumerate(published.GROUPS)}
    bunch = types.SimpleNamespace(
        data=[archive.corpus.texts[i] for i in order],
        target=[targets[labels[i]] for i in order],
        target_names=list(published.GROUPS),
        filenames=["/x/20news-bydate-" + archive.corpus.ids[i] for i in order],
    )
    monkeypatch.setattr(sklearn.datasets, "fetch_20newsgroups", lambda **options: bunch)
    expected = load("20news", data_dir=real_data, quiet=True)
    monkeypatch.delenv("LOPS_DATA", raising=False)
    assert load("20news", quiet=True).corpus.checksum == expected.corpus.checksum


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"filenames": ["a", "b", "c"]}, "scikit-learn calls a message 'a'"),
        ({"target": [0, 0, 1]}, "scikit-learn calls a message"),
    ],
)
def test_unknown_names_from_sklearn(monkeypatch, changes, message):
    monkeypatch.setattr(
        sklearn.datasets, "fetch_20newsgroups", lambda **options: newsgroups_bunch(**changes)
    )
    with pytest.raises(LopsError, match=message):
        sources.newsgroups_from_sklearn()


def test_agnews_comes_from_the_original_file(monkeypatch, cache):
    calls = []

    def recorded(url, destination, git_blob, **options):
        calls.append((url, git_blob))
        destination.parent.mkdir(parents=True)
        destination.write_text('"1","Race","on"\n"2","Goal","today"\n"3","Up","a"\n"4","PC","b"\n')

    monkeypatch.setattr(sources, "fetch", recorded)
    dataset = load("agnews", quiet=True)
    assert dataset.gold.labels == ("politics", "sports", "business", "technology")
    assert dataset.corpus.texts[0] == "Race on"
    assert calls == [(published.AGNEWS_URL, published.AGNEWS_BLOB)]
    assert load("agnews", offline=True) == dataset
    assert (cache / "agnews" / "train.csv").is_file()


def test_the_papers_file_of_agnews_is_tried_next(fetched):
    with pytest.raises(LopsError, match=r"AG News could not .*the authors' file could not be"):
        load("agnews")
    assert [url.rpartition("/")[2] for url in fetched] == ["train.csv", "df.pkl"]


def test_the_papers_files_are_verified_and_read(monkeypatch, cache):
    calls = []

    def recorded(url, destination, git_blob, **options):
        calls.append((url, git_blob, options))
        destination.parent.mkdir(parents=True)
        destination.write_bytes(FRAME.replace(b"business", b"politics"))
        return destination

    monkeypatch.setattr(sources, "fetch", recorded)
    dataset = load("nyt", quiet=True, text_column="body")
    assert dataset.gold.labels == ("sports", "sports", "politics", "politics")
    base = "https://raw.githubusercontent.com/dheeraj7596/LOPS/a3bcc18008b856bd91a7f75bc36cd672a9545b5c/data"
    assert calls == [
        (f"{base}/nyt-coarse/df.pkl", "e2490bc3d3a68480c88a683d0f81617693a35727", {"quiet": True})
    ]
    assert (cache / "nyt-coarse" / "df.pkl").is_file()
    assert load("nyt", offline=True) == dataset


def test_the_second_source_is_used_where_the_first_fails(monkeypatch, put, cache):
    monkeypatch.setattr(
        sklearn.datasets,
        "fetch_20newsgroups",
        lambda **options: (_ for _ in ()).throw(OSError("down")),
    )
    ready = put(
        "ready",
        {"df.pkl": FRAME.replace(b"sports", b"comp\0\0").replace(b"business", b"sci\0\0\0\0\0")},
    )

    def recorded(url, destination, git_blob, **options):
        destination.parent.mkdir(parents=True)
        shutil.copy(ready / "df.pkl", destination)

    monkeypatch.setattr(sources, "fetch", recorded)
    with pytest.raises(LopsError, match="taken for 20news-coarse, but its gold labels"):
        load("20news")
    assert (cache / "20news-coarse-nomisc" / "df.pkl").is_file()


@pytest.mark.parametrize("name", ["20news", "agnews", "books", "nyt"])
def test_no_network_says_what_was_tried_and_how_to_do_it_by_hand(monkeypatch, name, cache):
    def down(*args, **options):
        raise OSError("Name or service not known")

    monkeypatch.setattr(sklearn.datasets, "fetch_20newsgroups", down)
    with pytest.raises(LopsError) as caught:
        load(name)
    message = str(caught.value)
    assert "is in none of" in message
    assert "no network" in message
    if name == "20news":
        assert (
            "scikit-learn could not fetch 20 Newsgroups (OSError: Name or service not known)"
            in message
        )
        archive = cache / "20news-bydate.tar.gz"
        address = f"http://qwone.com/~jason/20Newsgroups/{archive.name}"
        assert f"{address} and put it at {archive}" in message
    if name == "agnews":
        assert "AG News could not be fetched: no network" in message
        assert str(cache / "agnews" / "train.csv") in message
    file = rf"{re.escape(str(cache))}/\S+/df\.pkl"
    (address,) = re.findall(rf"(https://raw\S+/df\.pkl) and put it at {file}", message)
    assert message.count(address) == 1
    assert re.search(r"check: git hash-object prints \w{40}\)", message)
    assert message.endswith("Without a download: --dataset demo")
    assert not list(cache.rglob("*.jsonl"))


def test_a_cache_that_cannot_be_written(sklearn_calls, monkeypatch, tmp_path):
    (tmp_path / "file").write_text("x")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    with pytest.raises(LopsError, match=r"cannot write to .*XDG_CACHE_HOME"):
        load("20news")
