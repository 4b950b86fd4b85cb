import io
import tarfile
import time

import pytest

from lops_adapters.core import LopsError
from lops_adapters.datasets import read

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


def archive(path, messages, prefix=""):
    with tarfile.open(path, "w:gz") as file:
        for name, content in messages.items():
            member = tarfile.TarInfo(prefix + name)
            member.size = len(content)
            file.addfile(member, io.BytesIO(content))
    return path


@pytest.mark.parametrize("prefix", ["", "./", "20news/"])
def test_archive(tmp_path, prefix):
    dataset = read(archive(tmp_path / "20news-bydate.tar.gz", MESSAGES, prefix), quiet=True)
    assert dataset.corpus.name == "20news-bydate"
    assert dataset.corpus.ids == IDS
    assert dataset.corpus.texts[2:] == ("From: y\r\n\r\nCafé", "From: x\n\nOrbit\x85")
    assert dataset.gold.labels == ("alt.atheism", "sci.space", "sci.space", "sci.space")
    assert len(dataset.corpus.classes) == 20


def test_tree_gives_what_the_archive_gives(tmp_path, put):
    tree = read(
        put("20news-bydate", {**MESSAGES, "20news-bydate-train/sci.space/.DS_Store": b"\0"}),
        quiet=True,
    )
    packed = read(archive(tmp_path / "20news-bydate.tar.gz", MESSAGES), quiet=True)
    assert tree == packed


def test_a_folder_with_the_archive_in_it(tmp_path):
    archive(tmp_path / "20news-bydate.tar.gz", MESSAGES)
    assert read(tmp_path, quiet=True).corpus.ids == IDS


def test_bad_archives(tmp_path):
    good = archive(
        tmp_path / "20news-bydate.tar.gz",
        {**MESSAGES, "20news-bydate-train/sci.med/1": bytes(range(256)) * 999},
    )
    cut = tmp_path / "cut.tar.gz"
    cut.write_bytes(good.read_bytes()[:-800])
    with pytest.raises(LopsError, match=r"cut\.tar\.gz: cannot be read as a tar archive"):
        read(cut, quiet=True)
    (tmp_path / "page.tar.gz").write_bytes(b"<html>404</html>")
    with pytest.raises(LopsError, match="cannot be read as a tar archive"):
        read(tmp_path / "page.tar.gz", quiet=True)
    with pytest.raises(LopsError, match="no message found"):
        read(archive(tmp_path / "other.tar.gz", {"a/b/1": b"x"}), quiet=True)
    with pytest.raises(LopsError, match=r"sci\.fiction is not one of the twenty"):
        read(
            archive(
                tmp_path / "more.tar.gz", {**MESSAGES, "20news-bydate-train/sci.fiction/1": b"x"}
            ),
            quiet=True,
        )


def test_real_archive(real_data):
    start = time.process_time()
    dataset = read(real_data / "20news-bydate.tar.gz", quiet=True)
    assert time.process_time() - start < 15
    splits = [name.split("/")[0] for name in dataset.corpus.ids]
    assert (len(dataset), splits.count("train"), splits.count("test")) == (18_846, 11_314, 7_532)
    assert len(set(dataset.gold.labels)) == 20
