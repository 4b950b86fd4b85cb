"""Fetch a file over HTTP: resumable, verified, renamed to its final name only when complete."""

from __future__ import annotations

import hashlib
import http.client
import logging
import os
import ssl
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lops_adapters import storage
from lops_adapters.console import progress
from lops_adapters.core import LopsError
from lops_adapters.datasets.connections import opener

logger = logging.getLogger(__name__)

_CHUNK = 2**16
_POLL = 0.2  # seconds
# Temporary answers: time-outs, too many requests, server errors.
_PASSING = {408, 425, 429, 500, 502, 503, 504}
_NETWORK_ERRORS = (
    urllib.error.URLError,
    http.client.HTTPException,
    TimeoutError,
    ConnectionError,
    ssl.SSLError,
)


class _RefusedError(Exception):
    """The server answers with something that is not fetched, now or later."""


@dataclass(frozen=True)
class _Limits:
    """Limits of one download: seconds without an answer, the end on the clock, bytes."""

    timeout: float
    end: float
    max_bytes: int

    def check(self, n_bytes: int) -> None:
        """Raise a _RefusedError beyond a limit."""
        if n_bytes > self.max_bytes:
            raise _RefusedError(f"it has more than {self.max_bytes:,} bytes")
        if time.monotonic() > self.end:
            raise _RefusedError("it takes too long; the next attempt continues it")


def fetch(
    url: str,
    destination: str | Path,
    *,
    git_blob: str | None = None,
    offline: bool = False,
    quiet: bool = False,
    timeout: float = 30.0,
    attempts: int = 5,
    pause: float = 1.0,
    max_bytes: int = 2**31,
    deadline: float = 3600.0,
) -> Path:
    """Fetch a file unless it is already there.

    Args:
        url: an http or https address.
        destination: the final path. Until it is complete and verified, the file is called
            ``<destination>.part``; a later call resumes it.
        git_blob: the git blob id (SHA-1 of ``blob <size>\\0`` and the content, in hex) the file
            must have.
        offline: never open a connection.
        quiet: show no progress bar.
        timeout: seconds without an answer until a connection counts as cut.
        attempts: number of attempts in all if connections are cut or refused.
        pause: seconds before the second attempt; doubled before each further one.
        max_bytes: a larger file is refused.
        deadline: seconds for all attempts, and for another process that fetches the same file.

    Returns:
        ``destination``.

    Raises:
        LopsError: the file cannot be fetched (offline, no network, an HTTP error) or has the wrong
            contents; the message says what to fetch and where to put it.

    """
    destination = Path(destination)
    by_hand = f"To do it by hand, fetch {url} and put it at {destination}"
    if destination.is_file():
        if git_blob is None or git_blob_id(destination) == git_blob:
            return destination
        logger.warning(
            "%s is not the file wanted (git blob %s); replacing it", destination, git_blob
        )
    if offline:
        raise LopsError(
            f"{destination} is missing or has the wrong contents, and downloads are switched off. "
            f"{by_hand}"
        )
    if not url.startswith(("http://", "https://")):
        raise LopsError(f"{url}: only http and https addresses can be fetched. {by_hand}")
    part = destination.with_name(destination.name + ".part")
    limits = _Limits(timeout, time.monotonic() + deadline, max_bytes)
    before = _stamp(destination)
    try:
        destination.parent.mkdir(parents=True, exist_ok=True)
        with _alone(destination, limits.end):
            if _stamp(destination) not in (None, before):
                return destination  # another process has fetched it meanwhile
            if not (git_blob is not None and part.is_file() and git_blob_id(part) == git_blob):
                _download(url, part, attempts, pause, limits, quiet, by_hand)
            if git_blob is not None:
                _verify(url, part, git_blob, by_hand)
            os.replace(part, destination)
    except OSError as error:
        raise LopsError(
            f"cannot write to {destination.parent} ({error}); choose a writable folder"
        ) from error
    return destination


def git_blob_id(path: Path) -> str:
    """Return git's id of a file's contents, in hex.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "hello"
    >>> _ = path.write_bytes(b"hello\\n")
    >>> git_blob_id(path)
    'ce013625030ba8dba906f756967f9e9ca394464a'
    """
    digest = hashlib.sha1(b"blob %d\0" % path.stat().st_size, usedforsecurity=False)
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            digest.update(chunk)
    return digest.hexdigest()


def _stamp(path: Path | int) -> tuple[int, int] | None:
    """Return what changes when a file is replaced; None: no such file."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns


@contextmanager
def _alone(destination: Path, end: float) -> Iterator[None]:
    """Wait until no other process fetches the file."""
    place = destination.with_name(destination.name + ".lock")
    while True:
        with place.open("w") as file:
            # The other process deletes the file that it had locked: then it is another one.
            if storage.lock(file) and _stamp(place) == _stamp(file.fileno()):
                try:
                    yield
                finally:
                    place.unlink(missing_ok=True)
                return
        if time.monotonic() > end:
            raise LopsError(
                f"another process is fetching {destination}; wait until it ends, then try again"
            )
        time.sleep(_POLL)


class _Redirects(urllib.request.HTTPRedirectHandler):
    """Follow redirects to http and https addresses only."""

    def redirect_request(
        self, req: Any, fp: Any, code: Any, msg: Any, headers: Any, newurl: str
    ) -> Any:
        """Return the next request."""
        if not newurl.lower().startswith(("http://", "https://")):
            raise _RefusedError(f"it redirects to {newurl[:80]}; wanted an http or https address")
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def _verify(url: str, part: Path, git_blob: str, by_hand: str) -> None:
    found = git_blob_id(part)
    if found != git_blob:
        part.unlink()
        raise LopsError(
            f"{url} gave the wrong contents: git blob {found}, wanted {git_blob}; "
            f"the download is deleted. Try again. {by_hand}"
        )


def _download(
    url: str, part: Path, attempts: int, pause: float, limits: _Limits, quiet: bool, by_hand: str
) -> None:
    for attempt in range(1, attempts + 1):
        try:
            _transfer(url, part, limits, quiet)
            return
        except _NETWORK_ERRORS as error:
            if isinstance(error, urllib.error.HTTPError):
                reason = f"the server answered {error.code} {error.reason}"
                passing = error.code in _PASSING
            else:
                reason = str(getattr(error, "reason", None) or error) or type(error).__name__
                passing = True
            if not passing or attempt == attempts:
                tried = f" after {attempt} attempts" if attempt > 1 else ""
                raise LopsError(
                    f"{url} could not be fetched{tried}: {reason}. {by_hand}"
                ) from error
            logger.warning("%s: %s; attempt %d of %d follows", url, reason, attempt + 1, attempts)
            left = max(0.0, limits.end - time.monotonic())
            time.sleep(min(left, pause * 2 ** (attempt - 1)))
        except (_RefusedError, ValueError) as error:  # ValueError: of malformed headers
            raise LopsError(f"{url} could not be fetched: {error!s:.200}. {by_hand}") from error


def _transfer(url: str, part: Path, limits: _Limits, quiet: bool) -> None:
    """Continue the download of ``part``; raise a network error if the connection is cut."""
    limits.check(0)
    with opener(limits.end, _Redirects()) as connections:
        _receive(connections, url, part, limits, quiet)


def _receive(
    connections: urllib.request.OpenerDirector, url: str, part: Path, limits: _Limits, quiet: bool
) -> None:
    have = part.stat().st_size if part.is_file() else 0
    request = urllib.request.Request(url, headers={"Range": f"bytes={have}-"} if have else {})
    try:
        response = connections.open(request, timeout=limits.timeout)
    except urllib.error.HTTPError as error:
        if error.code != http.client.REQUESTED_RANGE_NOT_SATISFIABLE or not have:
            raise
        if error.headers.get("Content-Range", "").strip() == f"bytes */{have}":
            return
        part.unlink()
        raise ConnectionError(
            f"the server has fewer than the {have} bytes already fetched; starting again"
        ) from None
    with response:
        resumed = response.status == http.client.PARTIAL_CONTENT
        if resumed and not response.headers.get("Content-Range", "").startswith(f"bytes {have}-"):
            part.unlink()
            raise ConnectionError(
                "the server sent another part of the file than requested; starting again"
            )
        start = have if resumed else 0
        total = _total(response.headers.get("Content-Length"), start)
        limits.check(total or 0)
        with (
            part.open("ab" if resumed else "wb") as file,
            progress(
                total=total, initial=start, unit="B", unit_scale=True, desc=part.stem, quiet=quiet
            ) as bar,
        ):
            while chunk := response.read1(_CHUNK):  # what has arrived, so that time is checked
                limits.check(file.tell() + len(chunk))
                file.write(chunk)
                bar.update(len(chunk))
            fetched = file.tell()
    limits.check(fetched)  # a connection shut down by time looks complete without a length
    if total is not None and fetched != total:
        raise ConnectionError(f"the connection was cut after {fetched} of {total} bytes")


def _total(length: str | None, start: int) -> int | None:
    """Return the size of the whole file by the header Content-Length; None: not given."""
    if length is None:
        return None
    if not (length.isascii() and length.isdecimal() and len(length) < 20):
        raise _RefusedError(f"its Content-Length is {length[:40]!r}; wanted a number")
    return start + int(length)
