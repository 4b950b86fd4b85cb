import json

import pytest

from lops_adapters.core import LopsError
from lops_adapters.datasets import load_dataset as load
from lops_adapters.datasets.newsgroups import without_header

from .conftest import write_archive

MESSAGES = {
    "20news-bydate-test/sci.space/70000": b"From: x\n\nOrbit\x85",
    "20news-bydate-train/sci.space/60000": b"From: y\r\n\r\nCaf\xe9",
    "20news-bydate-train/sci.space/9999": b"From: z\n\nMoon",
    "20news-bydate-train/alt.atheism/51060": b"From: w\n\nNone",
}
IDS = (
    "train/alt.atheism/51060",
    "train/sci.space/9999",
    "train/sci.space/60000",
    "test/sci.space/70000",
)


@pytest.mark.parametrize("prefix", ["", "./", "20news/"])
def test_archive(tmp_path, prefix):
    dataset = load(write_archive(tmp_path / "20news-bydate.tar.gz", MESSAGES, prefix), quiet=True)
    assert dataset.corpus.name == "20news-bydate"
    assert dataset.corpus.ids == IDS
    assert dataset.corpus.texts[2:] == ("From: y\r\n\r\nCafé", "From: x\n\nOrbit\x85")
    assert dataset.gold.labels == ("alt.atheism", "sci.space", "sci.space", "sci.space")
    assert len(dataset.corpus.classes) == 20


def test_tree_gives_what_the_archive_gives(tmp_path, put):
    tree = load(
        put("20news-bydate", {**MESSAGES, "20news-bydate-train/sci.space/.DS_Store": b"\0"}),
        quiet=True,
    )
    packed = load(write_archive(tmp_path / "20news-bydate.tar.gz", MESSAGES), quiet=True)
    assert tree == packed


def test_bad_archives(tmp_path):
    good = write_archive(
        tmp_path / "20news-bydate.tar.gz",
        {**MESSAGES, "20news-bydate-train/sci.med/1": bytes(range(256)) * 999},
    )
    cut = tmp_path / "cut.tar.gz"
    cut.write_bytes(good.read_bytes()[:-800])
    with pytest.raises(LopsError, match=r"cut\.tar\.gz: cannot be read as a tar archive"):
        load(cut, quiet=True)
    (tmp_path / "page.tar.gz").write_bytes(b"<html>404</html>")
    with pytest.raises(LopsError, match="cannot be read as a tar archive"):
        load(tmp_path / "page.tar.gz", quiet=True)
    with pytest.raises(LopsError, match="no message found"):
        load(write_archive(tmp_path / "other.tar.gz", {"a/b/1": b"x"}), quiet=True)
    with pytest.raises(LopsError, match=r"sci\.fiction is not one of the twenty"):
        load(
            write_archive(
                tmp_path / "more.tar.gz", {**MESSAGES, "20news-bydate-train/sci.fiction/1": b"x"}
            ),
            quiet=True,
        )


@pytest.mark.parametrize(
    ("message", "kept"),
    [
        ("From: a\nSubject: Re: Orbits\nLines: 2\n\nOf?\n-- \nme", "Re: Orbits\n\nOf?\n-- \nme"),
        ("From: a\r\nSubject: Orbits\r\n\r\nOf what?\r\n", "Orbits\n\nOf what?\r\n"),
        (" relay!of!news\nSUBJECT: Orbits\nFrom: a\n\nOf what?", "Orbits\n\nOf what?"),
        ("Subject: Orbits\n\tof moons\n and more\nFrom: a\n\nx", "Orbits of moons and more\n\nx"),
        ("From: a\nSubject: Orbits\n\n", "Orbits"),
        ("From: a\nSubject: Orbits\n", "Orbits"),
        ("From: a\nSubject:\n\nOf what?", "Of what?"),
        ("From: a\nSubject:\n\n", ""),
        ("From: a\nSubject: x\n\nSubject: y\n\nz\x85\n", "x\n\nSubject: y\n\nz\x85\n"),
    ],
)
def test_subject_and_body(message, kept):
    assert without_header(message) == kept


@pytest.mark.parametrize(
    "text",
    ["", "Of what?", "From: a\n\nno subject", "It says\nSubject: x\n\nhere", "\nSubject: x\n\ny"],
)
def test_texts_without_a_header_stay(text):
    assert without_header(text) == text


def test_headers_are_stripped_where_messages_are_read(tmp_path):
    messages = {
        "20news-bydate-train/sci.space/1": b"From: x\nSubject: Moon\n\nOrbit",
        "20news-bydate-test/rec.autos/2": b"From: x\nSubject: Car\n\n",
    }
    path = write_archive(tmp_path / "20news-bydate.tar.gz", messages)
    whole = load(path, quiet=True)
    for bare in (
        load(path, headers="strip", quiet=True),
        load(tmp_path, headers="strip", quiet=True),
        load("20news-coarse", data_dir=tmp_path, headers="strip", quiet=True),
        load(path, headers="auto", quiet=True),
        load("20news-coarse", data_dir=tmp_path, headers="auto", quiet=True),
    ):
        assert bare.headers == bare.sample(1, 0).headers == "strip"
        assert bare.corpus.texts == ("Moon\n\nOrbit", "Car")
        assert bare.corpus.ids == whole.corpus.ids
    assert load(path, headers="keep", quiet=True) == whole
    assert whole.headers == whole.sample(1, 0).headers == "keep"
    assert load(path, headers="strip", quiet=True).corpus.checksum != whole.corpus.checksum


def test_headers_are_refused_where_there_are_none(put):
    folder = put("mine", {"a.csv": "text\nx\n", "agnews/train.csv": '"1","a","b"\n'})
    with pytest.raises(LopsError, match=r"a\.csv has no message headers to strip"):
        load(folder / "a.csv", headers="strip")
    with pytest.raises(LopsError, match="demo has no message headers"):
        load("demo", headers="strip")
    with pytest.raises(LopsError, match="agnews has no message headers"):
        load("agnews", data_dir=folder, headers="strip")
    with pytest.raises(LopsError, match="headers is 'off'; wanted one of auto, keep, strip"):
        load(folder / "a.csv", headers="off")


def test_auto_leaves_texts_without_headers_alone(put):
    message = "From: x\nSubject: Moon\n\nOrbit"
    folder = put("mine", {"a.jsonl": json.dumps({"text": message}) + "\n"})
    found = load(folder, headers="auto")
    assert found == load(folder)
    assert (found.headers, found.corpus.texts) == ("keep", (message,))
    assert load("demo", headers="auto") == load("demo")


def test_headers_of_the_real_messages(real_data):
    if not (real_data / "20news-bydate.tar.gz").is_file():
        pytest.skip("LOPS_DATA holds no 20news-bydate.tar.gz")
    whole, bare = (
        load("20news-coarse", data_dir=real_data, headers=headers, quiet=True)
        for headers in ("keep", "strip")
    )
    assert len(whole) == len(bare) == 17_871
    assert whole.corpus.ids == bare.corpus.ids
    assert whole.gold == bare.gold
    pairs = list(zip(whole.corpus.texts, bare.corpus.texts, strict=True))
    assert all(0 < len(short) < len(text) for text, short in pairs)
    assert all(text.partition("\n\n")[2].strip() in short for text, short in pairs)
    assert not any(short.startswith(("From:", "Path:")) for _, short in pairs)
