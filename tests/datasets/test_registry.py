import logging
import os
from pathlib import Path

import pytest

from lops_adapters.core import LopsError
from lops_adapters.datasets import load_dataset as load
from lops_adapters.datasets import names, published, registry

from .conftest import FRAME

AGNEWS = '"3","Fears","Unions"\n"1","Race","on"\n'
NEWS = {
    "20news-bydate-train/sci.space/1": "moon",
    "20news-bydate-train/misc.forsale/2": "cheap",
    "20news-bydate-test/talk.politics.misc/3": "vote",
    "20news-bydate-test/alt.atheism/4": "none",
}


@pytest.fixture
def no_download(monkeypatch):
    """Fail where something would be downloaded."""

    def refuse(*args, **kwargs):
        raise AssertionError("a download was tried")

    monkeypatch.setattr(registry, "obtain", refuse)


pytestmark = pytest.mark.usefixtures("no_data", "no_download")


def test_published_parts_belong_together():
    assert names() == (
        "20news-coarse", "20news-fine", "agnews", "books", "demo", "nyt-coarse", "nyt-fine",
    )  # fmt: skip
    assert {task.paper_folder for task in registry.TASKS.values()} == set(published.BLOBS)
    assert set(published.COARSE_GROUPS.values()) == set(published.SEEDS["20news-coarse"])
    assert (
        set(published.FINE_GROUPS)
        == set(published.FINE_GROUPS.values())
        == set(published.SEEDS["20news-fine"])
    )
    assert set(published.GROUPS) - set(published.COARSE_GROUPS) == {"misc.forsale"}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "n_documents", "n_classes"), [("20news", 17_871, 5), ("20news-fine", 16_468, 17)]
)
def test_real_newsgroups(real_data, name, n_documents, n_classes):
    dataset = load(name, data_dir=real_data, quiet=True)
    assert (len(dataset), len(dataset.corpus.classes), len(set(dataset.gold.labels))) == (
        n_documents,
        n_classes,
        n_classes,
    )
    assert dataset.corpus.name in ("20news-coarse", "20news-fine")


@pytest.mark.parametrize("where", ["", "20news/", "20news-bydate/", "20news-coarse/"])
def test_newsgroups_are_grouped_wherever_they_lie(put, where):
    folder = put("data", {where + name: content for name, content in NEWS.items()})
    coarse = load("20news", data_dir=folder, quiet=True)
    assert coarse.corpus.ids == (
        "train/sci.space/1",
        "test/alt.atheism/4",
        "test/talk.politics.misc/3",
    )
    assert coarse.corpus.texts == ("moon", "none", "vote")
    assert coarse.gold.labels == ("sci", "religion", "talk")
    assert coarse.corpus.seeds == published.SEEDS["20news-coarse"]
    if where != "20news-coarse/":
        assert load("20news-fine", data_dir=folder, quiet=True).gold.labels == (
            "sci.space",
            "alt.atheism",
        )


def test_places_are_tried_in_order(put, tmp_path, monkeypatch, no_data):
    def one(text):
        return {"agnews/a.csv": f'"1","{text}","x"\n'}

    first, second = put("first", one("first")), put("second", one("second"))
    put("cache/lops_adapters", one("cache"))
    assert load("agnews").corpus.texts == ("cache x",)
    monkeypatch.setenv("LOPS_DATA", str(second))
    assert load("agnews").corpus.texts == ("second x",)
    assert load("agnews", data_dir=first).corpus.texts == ("first x",)
    with pytest.raises(LopsError, match=r"data_dir .*: no such folder"):
        load("agnews", data_dir=tmp_path / "nowhere")


@pytest.mark.parametrize("path", ["a\0b", "a\ud800b", "a" * 5000])
def test_a_path_that_no_folder_can_have(path, monkeypatch):
    with pytest.raises(LopsError, match="neither an existing path nor a registered data set"):
        load(path)
    with pytest.raises(LopsError, match=r"data_dir .* no such folder"):
        load("agnews", data_dir=path)
    monkeypatch.setattr(registry.os, "environ", {**os.environ, "LOPS_DATA": path})
    with pytest.raises(LopsError, match="agnews is in none of"):
        load("agnews", offline=True)


def test_names_that_are_not_utf8(tmp_path):
    """They name the corpus, which goes into checksums and files."""
    folder = tmp_path / "data\udcff"
    try:
        folder.mkdir()
    except OSError:
        pytest.skip("the file system wants UTF-8")
    (folder / "\udcfe.csv").write_text("text\nx\n")
    assert load(folder).corpus.name == "data?"
    assert len(load(folder / "\udcfe.csv").corpus.checksum) == 64


@pytest.mark.parametrize(
    ("files", "taken"),
    [
        (["agnews_test.csv"], "agnews_test.csv"),
        (["test.csv", "train.csv"], "train.csv"),
        (["agnews/test.csv", "agnews/train.csv"], "train.csv"),
        (["ag_news_test.csv", "ag_news_train.csv"], "ag_news_train.csv"),
        (["test.csv", "agnews/test.csv"], "agnews/test.csv"),
    ],
)
def test_agnews_files(put, files, taken, caplog):
    caplog.set_level(logging.INFO, logger="lops_adapters.datasets")
    contents = {name: AGNEWS + f'"2","{name}",""\n' for name in files}
    folder = put("data", {**contents, "other.csv": "text\nx\n", "train.txt": "x"})
    dataset = load("agnews", data_dir=folder)
    assert dataset.corpus.texts[2].strip().endswith(taken)
    assert f"{taken.split('/')[-1]}" in caplog.text
    assert dataset.gold.labels == ("business", "politics", "sports")


@pytest.mark.parametrize("place", ["nyt-coarse", "nyt/coarse"])
def test_the_published_classes_and_seed_words_hold_in_every_layout(put, place):
    files = {
        "dataset.txt": "a\nb\n",
        "classes.txt": "sports\narts\n",
        "labels.txt": "0\n1\n",
        "seeds.json": '{"arts": ["x"]}',
    }
    folder = put("data", {f"{place}/{name}": content for name, content in files.items()})
    dataset = load("nyt", data_dir=folder)
    assert dataset.corpus.name == "nyt-coarse"
    assert dataset.corpus.classes == ("arts", "business", "politics", "science", "sports")
    assert dataset.corpus.seeds["arts"] == ("music", "film", "album", "movie", "dance")
    assert dataset.gold.labels == ("sports", "arts")
    assert load("nyt", data_dir=folder, seeds={"arts": ["opera"]}).corpus.seeds == {
        "arts": ("opera",)
    }


def test_the_papers_frame_and_labels_that_do_not_fit(put):
    folder = put(
        "data", {"agnews/df.pkl": FRAME, "agnews/train.csv": AGNEWS, "nyt-fine/df.pkl": FRAME}
    )
    assert load("agnews", data_dir=folder).gold.labels == (
        "sports",
        "sports",
        "business",
        "business",
    )
    with pytest.raises(
        LopsError, match=r"taken for nyt-fine, but its gold labels business, sports are not among"
    ):
        load("nyt-fine", data_dir=folder)


def test_named_columns_reach_the_file(put):
    folder = put("data", {"books/mine.csv": "review,genre\nnice,poetry\n"})
    dataset = load("books", data_dir=folder, text_column="review", label_column="genre")
    assert (dataset.corpus.texts, dataset.gold.labels) == (("nice",), ("poetry",))


def test_a_folder_without_a_layout_is_passed_over(put, caplog):
    folder = put("data", {"nyt-coarse/readme.txt": "x", "nyt/coarse/df.pkl.part": "x"})
    with pytest.raises(LopsError, match="nyt-coarse is in none of"):
        load("nyt", data_dir=folder, offline=True)
    assert "is skipped: no known layout" in caplog.text


def test_paths_are_read_and_names_win(put, monkeypatch):
    folder = put("data", {"agnews/mine.csv": "text\nmine\n", "agnews_test.csv": AGNEWS})
    assert load(folder / "agnews").corpus.texts == ("mine",)
    monkeypatch.chdir(folder)
    assert load("./agnews", seeds={"a": ["b"]}).corpus.classes == ("a",)
    assert load(Path("agnews")).corpus.texts == ("mine",)
    assert len(load("agnews_test.csv")) == 2


def test_unknown_names():
    with pytest.raises(LopsError, match=r"did you mean nyt-coarse.*Registered are 20news-coarse,"):
        load("nyt-corse")
    with pytest.raises(LopsError, match=r"nor a registered data set\. Registered are"):
        load("zzzzz")


@pytest.mark.parametrize("name", ["nyt", "20news-fine", "agnews", "books"])
def test_offline_says_what_to_fetch_and_where_to_put_it(name, tmp_path, no_data):
    with pytest.raises(LopsError) as caught:
        load(name, offline=True)
    message = str(caught.value)
    task = registry.TASKS[registry.ALIASES.get(name, name)]
    assert f"is in none of {no_data}, and downloads are switched off" in message
    assert f"/a3bcc18008b856bd91a7f75bc36cd672a9545b5c/data/{task.paper_folder}/df.pkl" in message
    assert str(no_data / task.paper_folder / "df.pkl") in message
    if name == "20news-fine":
        assert str(no_data / "20news-bydate.tar.gz") in message
    with pytest.raises(LopsError, match=str(tmp_path / task.paper_folder)):
        load(name, offline=True, data_dir=tmp_path)


def test_a_missing_data_set_names_those_that_are_there(put, no_data, caplog):
    folder = put("data", {"agnews/train.csv": AGNEWS, "books/readme.txt": "x"})
    with pytest.raises(LopsError, match=r"Without a download: --dataset agnews or demo$"):
        load("nyt", data_dir=folder, offline=True)
    assert not caplog.records
