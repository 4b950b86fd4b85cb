"""Fetch a file over HTTP: in limited time, verified, renamed to its final name when complete."""

from __future__ import annotations

import hashlib
import http.client
import logging
import queue
import socket
import ssl
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import IO

from lops_adapters import storage
from lops_adapters.console import progress
from lops_adapters.core import LopsError

logger = logging.getLogger(__name__)

_CHUNK = 2**16
_TIMEOUT, _DEADLINE = 30.0, 3600.0  # seconds without an answer, seconds in all
_ATTEMPTS, _PAUSE = 5, 1.0  # seconds before the second attempt, doubled before each further one
_LARGEST = 2**31  # bytes
# Temporary answers: time-outs, too many requests, server errors.
_TEMPORARY = {408, 425, 429, 500, 502, 503, 504}
_NETWORK_ERRORS = (
    urllib.error.URLError,
    http.client.HTTPException,
    TimeoutError,
    ConnectionError,
    ssl.SSLError,
)
_HANDLERS = (  # without the ones for files, data and FTP: a redirect leads to http or https only
    urllib.request.ProxyHandler,
    urllib.request.HTTPHandler,
    urllib.request.HTTPSHandler,
    urllib.request.HTTPRedirectHandler,
    urllib.request.HTTPErrorProcessor,
    urllib.request.HTTPDefaultErrorHandler,
    urllib.request.UnknownHandler,
)


class _RefusedError(Exception):
    """What the server sends is not fetched, now or later."""


def fetch(url: str, destination: Path, git_blob: str, *, quiet: bool = False) -> None:
    """Fetch a file to ``destination``; a file that is there stays if the download fails.

    Args:
        url: an http or https address.
        destination: the final path.
        git_blob: the git blob id (SHA-1 of ``blob <size>\0`` and the content, in hex) the file
            must have.
        quiet: show no progress bar.

    Raises:
        LopsError: the file cannot be fetched (no network, an HTTP error, out of time), has the
            wrong contents, or cannot be written. The message does not repeat the address.

    """
    end = time.monotonic() + _DEADLINE
    try:
        destination.parent.mkdir(parents=True, exist_ok=True)
        storage.restore(destination)
        with storage.replacing(destination) as part:

            def receive(is_late: threading.Event) -> None:
                with part.open("wb") as file:
                    _receive(url, file, is_late, destination.name, quiet)

            _try_repeatedly(receive, destination.name, end)
            blob = git_blob_id(part)
            if blob != git_blob:
                raise LopsError(f"its contents are wrong (git blob {blob}, wanted {git_blob})")
    except OSError as error:
        raise LopsError(
            f"cannot write to {destination.parent} ({error}); choose a writable folder"
        ) from error


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


def _try_repeatedly(receive: Callable[[threading.Event], None], name: str, end: float) -> None:
    for attempt in range(1, _ATTEMPTS + 1):
        try:
            _run_until(end, receive)
            return
        except _NETWORK_ERRORS as error:
            if isinstance(error, urllib.error.HTTPError):
                reason = f"the server answered {error.code} {error.reason}"
                is_temporary = error.code in _TEMPORARY
            else:
                reason = str(getattr(error, "reason", None) or error) or type(error).__name__
                is_temporary = not _is_unknown_host(error)
            if not is_temporary or attempt == _ATTEMPTS:
                tried = f" (after {attempt} attempts)" if attempt > 1 else ""
                raise LopsError(f"{reason:.200}{tried}") from error
            logger.warning("%s: %s; attempt %d of %d follows", name, reason, attempt + 1, _ATTEMPTS)
            time.sleep(max(0.0, min(end - time.monotonic(), _PAUSE * 2 ** (attempt - 1))))
        except (_RefusedError, ValueError) as error:  # ValueError: of malformed addresses, headers
            raise LopsError(f"{error!s:.200}") from error


def _is_unknown_host(error: BaseException) -> bool:
    """Return whether the host name is unknown, as it is on a machine without network."""
    cause = getattr(error, "reason", None)
    return isinstance(cause, socket.gaierror) and cause.errno == socket.EAI_NONAME


def _run_until(end: float, receive: Callable[[threading.Event], None]) -> None:
    """Run a download in a thread, and leave the thread behind when time is up.

    A time-out of a socket counts from byte to byte, so a server that sends a byte now and then
    would hold a handshake or headers for days.
    """
    is_late = threading.Event()
    outcome: queue.Queue[BaseException | None] = queue.Queue()

    def run() -> None:
        try:
            receive(is_late)
        except BaseException as error:  # the caller raises it
            outcome.put(error)
        else:
            outcome.put(None)

    threading.Thread(target=run, daemon=True).start()
    try:
        error = outcome.get(timeout=max(0.0, end - time.monotonic()))
    except queue.Empty:
        raise _RefusedError("it takes too long") from None
    finally:
        is_late.set()
    if error is not None:
        raise error


def _receive(url: str, file: IO[bytes], is_late: threading.Event, name: str, quiet: bool) -> None:
    opener = urllib.request.OpenerDirector()
    for handler in _HANDLERS:
        opener.add_handler(handler())
    response = opener.open(url, timeout=_TIMEOUT)
    if response is None:
        raise _RefusedError("the server gave no answer")
    with (
        response,
        progress(total=response.length, unit="B", unit_scale=True, desc=name, quiet=quiet) as bar,
    ):
        while chunk := response.read1(_CHUNK):
            if file.tell() + len(chunk) + (response.length or 0) > _LARGEST:
                raise _RefusedError(f"it has more than {_LARGEST:,} bytes")
            if is_late.is_set():
                return
            file.write(chunk)
            bar.update(len(chunk))
        if response.length:
            raise ConnectionError(f"the connection was cut after {file.tell()} bytes")
