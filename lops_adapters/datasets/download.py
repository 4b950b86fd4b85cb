"""Where registered data sets come from: fetched over HTTP, in limited time, and verified.

A file is renamed to its final name when it is complete.
"""

import hashlib
import http.client
import time
import urllib.error
import urllib.request
from contextlib import suppress
from pathlib import Path
from typing import IO

from lops_adapters import storage
from lops_adapters.console import progress
from lops_adapters.core import LopsError
from lops_adapters.datasets import published
from lops_adapters.datasets.newsgroups import ARCHIVE

_CHUNK = 2**16
_TIMEOUT, _DEADLINE = 30.0, 3600.0  # seconds without an answer, seconds in all
_LARGEST = 2**31  # bytes
_NETWORK_ERRORS = (
    *(http.client.HTTPException, TimeoutError, ConnectionError, urllib.error.URLError),
    ValueError,  # of malformed addresses and headers
)


def obtain(name: str, paper_folder: str, cache: Path, quiet: bool = False) -> Path:
    """Download a data set into the user cache, and return the path to read.

    ``paper_folder`` is the folder of the authors' repository that holds it. Raises a LopsError if
    no source could be reached; the message says why, for each.
    """
    reasons = []
    for what, url, target, checksum in _files(name, paper_folder):
        try:
            fetch(url, cache / target, checksum, quiet=quiet)
        except LopsError as error:
            reasons.append(f"{what} could not be fetched: {error}")
        else:
            path = cache / target
            return path.parent if path.name == "df.pkl" else path
    raise LopsError("; ".join(reasons))


def by_hand(name: str, paper_folder: str, folder: Path) -> str:
    """Return which files to fetch by hand, where in ``folder`` to put them, how to check them."""
    ways = []
    for _, url, target, checksum in _files(name, paper_folder):
        check = "sha256sum" if len(checksum) == 64 else "git hash-object"
        ways.append(f"{url} and put it at {folder / target} (check: {check} prints {checksum})")
    return f"Fetch {', or '.join(ways)}"


def _files(name: str, paper_folder: str) -> list[tuple[str, str, str, str]]:
    """Return what it is, address, place in a data folder and checksum of files, the best first."""
    file = f"{paper_folder}/df.pkl"
    url, blob = f"{published.PAPER_FILES}/{file}", published.BLOBS[paper_folder]
    files = [("the authors' file", url, file, blob)]
    if name.startswith("20news"):
        archive = (published.NEWSGROUPS_URL, ARCHIVE, published.NEWSGROUPS_SHA256)
        files.insert(0, ("20 Newsgroups", *archive))
    elif name == "agnews":
        original = (published.AGNEWS_URL, "agnews/train.csv", published.AGNEWS_BLOB)
        files.insert(0, ("AG News", *original))
    return files


def fetch(url: str, destination: Path, checksum: str, *, quiet: bool = False) -> None:
    """Fetch a file to ``destination``; a file that is there stays if the download fails.

    The checksum, in hex, is its SHA-256, or its git blob id (SHA-1 of ``blob <size>\\0`` and the
    content).

    Raises a LopsError if the file cannot be fetched (no network, an HTTP error, out of time), has
    the wrong contents, or cannot be written. The message does not repeat the address.
    """
    folders = (destination.parent, *destination.parent.parents)
    new = [folder for folder in folders if not folder.exists()]
    try:
        destination.parent.mkdir(parents=True, exist_ok=True)
        storage.restore(destination)
        with storage.replacing(destination) as part:
            with part.open("wb") as file:
                _receive(url, file, destination.name, quiet)
            actual = _checksum(part, len(checksum) == 64)
            if actual != checksum:
                raise LopsError(f"its contents are wrong (checksum {actual}, wanted {checksum})")
    except LopsError:
        raise
    except urllib.error.HTTPError as error:
        raise LopsError(f"the server answered {error.code} {error.reason}"[:200]) from error
    except _NETWORK_ERRORS as error:
        reason = getattr(error, "reason", None) or error
        raise LopsError(f"{str(reason) or type(error).__name__:.200}") from error
    except OSError as error:
        raise LopsError(
            f"cannot write to {destination.parent} ({error}); choose a writable folder"
        ) from error
    finally:
        for folder in new:
            with suppress(OSError):  # it holds the file, unless that failed
                folder.rmdir()


def _checksum(path: Path, is_sha256: bool) -> str:
    """Return the SHA-256 of a file, or its git blob id, in hex."""
    start = b"blob %d\0" % path.stat().st_size
    digest = hashlib.sha256() if is_sha256 else hashlib.sha1(start, usedforsecurity=False)
    with path.open("rb") as file:  # hashlib.file_digest needs Python 3.11
        while chunk := file.read(_CHUNK):
            digest.update(chunk)
    return digest.hexdigest()


def _receive(url: str, file: IO[bytes], name: str, quiet: bool) -> None:
    end = time.monotonic() + _DEADLINE
    if not url.startswith(("http://", "https://")):
        raise LopsError(f"unknown url type: {url:.60}")
    with (
        urllib.request.urlopen(url, timeout=_TIMEOUT) as response,
        progress(total=response.length, unit="B", unit_scale=True, desc=name, quiet=quiet) as bar,
    ):
        while chunk := response.read1(_CHUNK):
            if file.tell() + len(chunk) + (response.length or 0) > _LARGEST:
                raise LopsError(f"it has more than {_LARGEST:,} bytes")
            if time.monotonic() > end:
                raise LopsError("it takes too long")
            file.write(chunk)
            bar.update(len(chunk))
        if response.length:
            raise ConnectionError(f"the connection was cut after {file.tell()} bytes")
