"""Where registered data sets come from: scikit-learn, and files on GitHub."""

from __future__ import annotations

import json
import re
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from lops_adapters import storage
from lops_adapters.core import LopsError
from lops_adapters.datasets import published
from lops_adapters.datasets.download import fetch
from lops_adapters.datasets.newsgroups import ARCHIVE, sorted_rows
from lops_adapters.datasets.rows import Rows

_TIMEOUT_SECONDS = 60.0
_MESSAGE = re.compile(r"20news-bydate-(train|test)/([^/]+)/(\d+)$")


def obtain(name: str, paper_folder: str, cache: Path, quiet: bool = False) -> Path:
    """Download a data set into the cache.

    Args:
        name: the registered name.
        paper_folder: the folder of the authors' repository that holds it.
        cache: the user cache.
        quiet: show no progress bars.

    Returns:
        The path to read.

    Raises:
        LopsError: no source could be reached; the message says why, for each.

    """

    def fetched(what: str, url: str, place: str, blob: str) -> Path:
        try:
            fetch(url, cache / place, blob, quiet=quiet)
        except LopsError as error:
            raise LopsError(f"{what} could not be fetched: {error}") from error
        return cache / place

    paper = f"{paper_folder}/df.pkl"
    url, blob = _paper_url(paper_folder), published.BLOBS[paper_folder]
    sources: list[Callable[[], Path]] = [
        lambda: fetched("the authors' file", url, paper, blob).parent
    ]
    if name.startswith("20news"):
        sources.insert(0, lambda: _keep(newsgroups_from_sklearn(), cache / "20news"))
    elif name == "agnews":
        original = (published.AGNEWS_URL, "agnews/train.csv", published.AGNEWS_BLOB)
        sources.insert(0, lambda: fetched("AG News", *original))
    reasons = []
    for source in sources:
        try:
            return source()
        except LopsError as error:
            reasons.append(str(error))
    raise LopsError("; ".join(reasons))


def by_hand(name: str, paper_folder: str, folder: Path) -> str:
    """Return which files to fetch by hand, where in ``folder`` to put them, how to check them."""
    file, blob = folder / paper_folder / "df.pkl", published.BLOBS[paper_folder]
    ways = [
        f"{_paper_url(paper_folder)} and put it at {file} (check: git hash-object prints {blob})"
    ]
    if name.startswith("20news"):
        ways.insert(0, f"{published.NEWSGROUPS_URL} and put it at {folder / ARCHIVE}")
    elif name == "agnews":
        place = folder / "agnews" / "train.csv"
        check = f"git hash-object prints {published.AGNEWS_BLOB}"
        ways.insert(0, f"{published.AGNEWS_URL} and put it at {place} (check: {check})")
    return f"Fetch {', or '.join(ways)}"


def newsgroups_from_sklearn() -> Rows:
    """Fetch 20 Newsgroups (all messages, with headers) through scikit-learn.

    Returns:
        The same rows, in the same order, as in the official archive.

    Raises:
        LopsError: scikit-learn could not fetch them, or names a message in an unknown way.

    """
    from sklearn.datasets import fetch_20newsgroups

    try:
        with _socket_timeout():
            found = fetch_20newsgroups(subset="all", remove=())
    except Exception as error:  # network, disk, checksum: scikit-learn does not document which
        raise LopsError(
            f"scikit-learn could not fetch 20 Newsgroups ({type(error).__name__}: {error})"
        ) from error
    messages = []
    for path, text, target in zip(found.filenames, found.data, found.target, strict=True):
        name = _MESSAGE.search(str(path).replace("\\", "/"))
        if name is None or name[2] != found.target_names[target]:
            raise LopsError(
                f"scikit-learn calls a message {path!r}; "
                "wanted .../20news-bydate-train/<group>/<number>"
            )
        messages.append((name[1], name[2], int(name[3]), text))
    return sorted_rows("scikit-learn", messages)


def _paper_url(folder: str) -> str:
    return f"{published.PAPER_FILES}/{folder}/df.pkl"


def _keep(rows: Rows, folder: Path) -> Path:
    """Write rows to ``documents.jsonl`` in a cache folder, completely or not at all."""
    path = folder / "documents.jsonl"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with (
            storage.replacing(path) as part,
            part.open("w", encoding="utf-8", newline="\n") as file,
        ):
            for number, text in enumerate(rows.texts):
                record = {"id": rows.ids[number] if rows.ids else str(number), "text": text}
                if rows.labels is not None:
                    record["label"] = rows.labels[number]
                file.write(json.dumps(record, ensure_ascii=False) + "\n")
    except OSError as error:
        raise LopsError(
            f"cannot write to {folder} ({error}); set XDG_CACHE_HOME to a writable folder"
        ) from error
    return path


@contextmanager
def _socket_timeout() -> Iterator[None]:
    """Give sockets a default timeout, since scikit-learn would wait forever."""
    previous = socket.getdefaulttimeout()
    socket.setdefaulttimeout(_TIMEOUT_SECONDS)
    try:
        yield
    finally:
        socket.setdefaulttimeout(previous)
