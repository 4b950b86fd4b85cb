"""Published data sets: where each is fetched from, and what is said without a network."""

import re

import pytest

from lops_adapters.core import LopsError
from lops_adapters.datasets import download, published
from lops_adapters.datasets import load_dataset as load

from .conftest import FRAME, write_archive


@pytest.fixture(autouse=True)
def cache(no_data):
    return no_data


@pytest.fixture(autouse=True)
def fetched(monkeypatch):
    """Record what would be fetched; nothing can be."""
    calls = []

    def refuse(url, destination, checksum, **options):
        calls.append(url)
        raise LopsError("no network")

    monkeypatch.setattr(download, "fetch", refuse)
    return calls


@pytest.fixture
def answers(monkeypatch):
    """Downloads come from a writer: answers(write) -> a list of what is fetched."""

    def answer(write):
        calls = []

        def recorded(url, destination, checksum, **options):
            calls.append((url, checksum, options))
            destination.parent.mkdir(parents=True)
            write(destination)

        monkeypatch.setattr(download, "fetch", recorded)
        return calls

    return answer


def test_newsgroups_come_as_the_original_archive(answers, cache):
    messages = {
        "20news-bydate-test/sci.space/70000": b"moon\n",
        "20news-bydate-train/alt.atheism/51060": b"none\n",
        "20news-bydate-train/misc.forsale/2": b"Caf\xe9\n",
    }
    calls = answers(lambda path: write_archive(path, messages))
    dataset = load("20news", quiet=True)
    assert dataset.corpus.ids == ("train/alt.atheism/51060", "test/sci.space/70000")
    assert dataset.gold.labels == ("religion", "sci")
    assert [call[:2] for call in calls] == [(published.NEWSGROUPS_URL, published.NEWSGROUPS_SHA256)]
    assert [path.name for path in cache.iterdir()] == ["20news-bydate.tar.gz"]
    assert load("20news-fine", offline=True).gold.labels == ("alt.atheism", "sci.space")
    assert len(calls) == 1


def test_agnews_comes_from_the_original_file(answers, cache):
    rows = '"1","Race","on"\n"2","Goal","today"\n"3","Up","a"\n"4","PC","b"\n'
    calls = answers(lambda path: path.write_text(rows))
    dataset = load("agnews", quiet=True)
    assert dataset.gold.labels == ("politics", "sports", "business", "technology")
    assert dataset.corpus.texts[0] == "Race on"
    assert [call[:2] for call in calls] == [(published.AGNEWS_URL, published.AGNEWS_BLOB)]
    assert load("agnews", offline=True) == dataset
    assert (cache / "agnews" / "train.csv").is_file()


def test_the_papers_file_of_agnews_is_tried_next(fetched):
    with pytest.raises(LopsError, match=r"AG News could not .*the authors' file could not be"):
        load("agnews")
    assert [url.rpartition("/")[2] for url in fetched] == ["train.csv", "df.pkl"]


def test_the_papers_files_are_verified_and_read(answers, cache):
    calls = answers(lambda path: path.write_bytes(FRAME.replace(b"business", b"politics")))
    dataset = load("nyt", quiet=True, text_column="body")
    assert dataset.gold.labels == ("sports", "sports", "politics", "politics")
    base = "https://raw.githubusercontent.com/dheeraj7596/LOPS/a3bcc18008b856bd91a7f75bc36cd672a9545b5c/data"
    assert calls == [
        (f"{base}/nyt-coarse/df.pkl", "e2490bc3d3a68480c88a683d0f81617693a35727", {"quiet": True})
    ]
    assert (cache / "nyt-coarse" / "df.pkl").is_file()
    assert load("nyt", offline=True) == dataset


def test_the_second_source_is_used_where_the_first_fails(answers, cache):
    def write(path):
        if path.name != "df.pkl":
            path.parent.rmdir()
            raise LopsError("down")
        path.write_bytes(FRAME.replace(b"sports", b"comp\0\0"))

    answers(write)
    with pytest.raises(LopsError, match="taken for 20news-coarse, but its gold labels"):
        load("20news")
    assert (cache / "20news-coarse-nomisc" / "df.pkl").is_file()


@pytest.mark.parametrize("name", ["20news", "agnews", "books", "nyt"])
def test_no_network_says_what_was_tried_and_how_to_do_it_by_hand(name, cache):
    with pytest.raises(LopsError) as caught:
        load(name)
    message = str(caught.value)
    assert "is in none of" in message
    assert "no network" in message
    if name == "20news":
        assert "20 Newsgroups could not be fetched: no network" in message
        place = cache / "20news-bydate.tar.gz"
        assert f"{published.NEWSGROUPS_URL} and put it at {place} (check: sha256sum" in message
    if name == "agnews":
        assert "AG News could not be fetched: no network" in message
        assert str(cache / "agnews" / "train.csv") in message
    file = rf"{re.escape(str(cache))}/\S+/df\.pkl"
    (address,) = re.findall(rf"(https://raw\S+/df\.pkl) and put it at {file}", message)
    assert message.count(address) == 1
    assert re.search(r"check: git hash-object prints \w{40}\)", message)
    assert message.endswith("Without a download: --dataset demo")
