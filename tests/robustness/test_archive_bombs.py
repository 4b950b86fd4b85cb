"""Archives that declare, or unpack to, far more than a data set."""

import gzip
import io
import tarfile

import pytest

from lops_adapters.core import LopsError
from lops_adapters.datasets import load_dataset as load

from .bounded import outcomes

pytestmark = pytest.mark.slow

NAME = "20news-bydate-train/sci.space/60000"
SPARSE = {
    "GNU.sparse.major": "1",
    "GNU.sparse.minor": "0",
    "GNU.sparse.name": NAME,
    "GNU.sparse.realsize": str(2**40),
}


def header(name, size, kind=tarfile.REGTYPE, **pax):
    member = tarfile.TarInfo(name)
    member.size, member.type, member.pax_headers = size, kind, pax
    return member.tobuf(tarfile.PAX_FORMAT if pax else tarfile.GNU_FORMAT)


def write(path, kind):
    """Gzip files one after another are one file; so zeros are packed once."""
    parts = {
        "a message": [header(NAME, 3 * 2**30), *[None] * 48],
        "many entries": [header(NAME, 0) * 100_000] * 20,
        "a long name": [header("././@LongLink", 2**30, tarfile.GNUTYPE_LONGNAME), *[None] * 16],
        "a long header": [header("x", 2**30, tarfile.XHDTYPE), *[None] * 16],
        "sparse": [header(NAME, 512, **SPARSE), b"1\n0\n0\n".ljust(512, b"\0")],
        "a size of 2**60": [header("other", 2**60)],
        "a size of 2**70": [header("other", 2**70)],
    }[kind]
    zeros = gzip.compress(bytes(64 * 2**20), compresslevel=1)
    with path.open("wb") as file:
        for part in parts:
            file.write(zeros if part is None else gzip.compress(part, compresslevel=1))
    return path


WANTED = {
    "a message": "wanted at most 268,435,456 bytes",
    "many entries": "wanted at most 268,435,456 bytes",
    "a long name": "wanted at most 268,435,456 bytes",
    "a long header": "wanted at most 268,435,456 bytes",
    "sparse": "is sparse; wanted plain files",
    "a size of 2**60": "cannot be read as a tar archive",
    "a size of 2**70": "cannot be read as a tar archive",
}


def test_bombs_are_refused_within_limits(tmp_path):
    paths = [write(tmp_path / f"{place}.tar.gz", kind) for place, kind in enumerate(WANTED)]
    assert sum(path.stat().st_size for path in paths) < 64 * 2**20
    found = outcomes(load, paths)
    for (kind, wanted), message in zip(WANTED.items(), found, strict=True):
        assert wanted in str(message), kind


@pytest.mark.parametrize("mode", ["w", "w:gz", "w:bz2", "w:xz"])
def test_plain_archives_are_read(tmp_path, mode):
    path = tmp_path / "a.tar"
    with tarfile.open(path, mode) as file:
        for number, text in enumerate([b"Orbit", b"x" * 512 * 40, b""], 60000):
            member = tarfile.TarInfo(f"20news-bydate-train/sci.space/{number}")
            member.size = len(text)
            file.addfile(member, io.BytesIO(text))
    assert load(path, quiet=True).corpus.texts == ("Orbit", "x" * 512 * 40, "")
    path.write_bytes(path.read_bytes()[:100])
    with pytest.raises(LopsError, match="cannot be read as a tar archive"):
        load(path, quiet=True)
