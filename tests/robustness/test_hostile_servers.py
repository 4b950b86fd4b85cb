"""Servers that redirect elsewhere, never end, drip, or lie; several processes at once."""

import contextlib
import http.server
import os
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from lops_adapters.core import LopsError
from lops_adapters.datasets.download import fetch

ROOT = Path(__file__).parents[2]
QUICK = {"quiet": True, "pause": 0.0, "timeout": 5.0, "attempts": 2}
CONTENT = b"content" * 10_000


SLOW_HEADS = {
    "drip-status": b"HTTP/1.0 ",
    "drip-headers": b"HTTP/1.0 200 OK\r\nX-Long: ",
    "drip-chunk-size": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
}


class Handler(http.server.BaseHTTPRequestHandler):
    asked = 0

    def do_GET(self):
        type(self).asked += 1
        kind = self.path.strip("/")
        length = {"negative": "-5", "words": "ten", "huge": str(2**50), "digits": "9" * 5000}
        if kind.startswith("to"):
            where = {"to-ftp": "ftp://127.0.0.1/x", "to-file": "file:///etc/passwd"}
            where |= {"to-drip": "/drip-headers"}
            where |= {"to-odd": "http://[", "to-itself": "/to-itself", "to-plain": "/plain"}
            self.send_response(302)
            self.send_header("Location", where[kind])
            self.end_headers()
            return
        if kind in SLOW_HEADS:
            with contextlib.suppress(OSError):
                self.wfile.write(SLOW_HEADS[kind])
                for _ in range(600):
                    self.wfile.write(b"x")
                    self.wfile.flush()
                    time.sleep(0.05)
            return
        self.send_response(200)
        if kind in length:
            self.send_header("Content-Length", length[kind])
        if kind == "headers":
            for number in range(500):
                self.send_header(f"X-{number}", "x")
        self.end_headers()
        try:
            if kind == "endless":
                while True:
                    self.wfile.write(bytes(2**16))
            elif kind == "drip":
                for _ in range(300):
                    self.wfile.write(b"x")
                    time.sleep(0.1)
            else:
                time.sleep(0.5 if kind == "slow" else 0)
                self.wfile.write(CONTENT)
        except OSError:
            pass

    def log_message(self, *args):
        pass


@pytest.fixture
def url():
    Handler.asked = 0
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    server.block_on_close = False
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    server.server_close()


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        ("to-ftp", "redirects to ftp://127.0.0.1/x; wanted an http or https address"),
        ("to-file", "could not be fetched.*file:///etc/passwd"),
        ("to-odd", "could not be fetched"),
        ("to-itself", "could not be fetched.*infinite loop"),
        ("negative", "its Content-Length is '-5'; wanted a number"),
        ("words", "its Content-Length is 'ten'; wanted a number"),
        ("digits", "its Content-Length is '9{40}'; wanted a number"),
        ("huge", "it has more than 1,000,000 bytes"),
        ("headers", "could not be fetched.*got more than 100 headers"),
        ("endless", "it has more than 1,000,000 bytes"),
        ("drip", "it takes too long; the next attempt continues it"),
        ("drip-status", "it takes too long; the next attempt continues it"),
        ("drip-headers", "it takes too long; the next attempt continues it"),
        ("drip-chunk-size", "it takes too long; the next attempt continues it"),
        ("to-drip", "it takes too long; the next attempt continues it"),
    ],
)
def test_a_sentence_within_the_deadline(url, tmp_path, kind, message):
    start = time.monotonic()
    with pytest.raises(LopsError, match=f"(?s){message}.*To do it by hand, fetch"):
        fetch(url + kind, tmp_path / "a", max_bytes=1_000_000, deadline=2.0, **QUICK)
    assert time.monotonic() - start < 20  # it would drip for 30
    assert not {path.name for path in tmp_path.iterdir()} - {"a.part"}


def test_a_handshake_that_never_ends(tmp_path):
    """A server that accepts a connection and drips bytes that are no TLS record."""
    server = socket.create_server(("127.0.0.1", 0))

    def drip():
        with contextlib.suppress(OSError):
            while True:
                client = server.accept()[0]
                client.sendall(b"\x16\x03\x03\x40\x00")  # a record of 16,384 bytes begins
                for _ in range(600):
                    client.sendall(b"x")
                    time.sleep(0.05)

    threading.Thread(target=drip, daemon=True).start()
    start, address = time.monotonic(), f"https://127.0.0.1:{server.getsockname()[1]}/a"
    with pytest.raises(LopsError, match="it takes too long; the next attempt continues it"):
        fetch(address, tmp_path / "a", deadline=2.0, **QUICK)
    assert time.monotonic() - start < 20  # it would drip for 30
    server.close()


def test_no_thread_or_socket_stays(url, tmp_path):
    threads = threading.active_count()
    fetch(url + "plain", tmp_path / "a", **QUICK)
    deadline = time.monotonic() + 30
    while threading.active_count() > threads and time.monotonic() < deadline:
        time.sleep(0.05)
    assert threading.active_count() <= threads


def test_a_redirect_to_http_is_followed(url, tmp_path):
    assert fetch(url + "to-plain", tmp_path / "a", **QUICK).read_bytes() == CONTENT


def test_several_processes_fetch_a_file_once(url, tmp_path):
    code = (
        "import sys; from lops_adapters.datasets.download import fetch; "
        "fetch(sys.argv[1], sys.argv[2], quiet=True)"
    )
    given = [sys.executable, "-c", code, f"{url}slow", str(tmp_path / "a")]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    processes = [subprocess.Popen(given, env=environment) for _ in range(3)]
    assert [process.wait(60) for process in processes] == [0, 0, 0]
    assert (tmp_path / "a").read_bytes() == CONTENT
    assert Handler.asked == 1
    assert [path.name for path in tmp_path.iterdir()] == ["a"]
