"""Where registered data sets come from: their original files, or the authors' repository."""

from pathlib import Path

from lops_adapters.core import LopsError
from lops_adapters.datasets import published
from lops_adapters.datasets.download import fetch
from lops_adapters.datasets.newsgroups import ARCHIVE


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
