"""Downloads: whole or not at all, and from servers that cut, lie or never end."""

import contextlib
import hashlib
import http.server
import logging
import os
import socket
import threading
import time

import pytest

from lops_adapters.core import LopsError
from lops_adapters.datasets import download
from lops_adapters.datasets.download import fetch

CONTENT = bytes(range(256)) * 2000
BLOB = hashlib.sha1(b"blob %d\0" % len(CONTENT) + CONTENT).hexdigest()
LENGTHS = {"negative": "-5", "words": "ten", "digits": "9" * 5000, "huge": str(2**50)}
LOCATIONS = {"to-file": "file:///etc/passwd", "to-odd": "http://[", "to-itself": "/to-itself"}
LOCATIONS |= {"to-plain": "/plain"}


class Handler(http.server.BaseHTTPRequestHandler):
    """The fixture sets what it answers with and what it remembers."""

    def do_GET(self):
        kind = self.path.strip("/")
        with contextlib.suppress(OSError):
            if kind in LOCATIONS:
                self.send_response(302)
                self.send_header("Location", LOCATIONS[kind])
                self.end_headers()
            elif kind == "drip":
                self.drip()
            elif self.answers:
                self.send_error(self.answers.pop(0))
            elif kind == "silent":
                time.sleep(1)
            else:
                self.send(kind)

    def send(self, kind):
        self.send_response(200)
        if kind not in ("no-length", "endless"):
            self.send_header("Content-Length", LENGTHS.get(kind, str(len(self.content))))
        for number in range(500 if kind == "headers" else 0):
            self.send_header(f"X-{number}", "x")
        self.end_headers()
        while kind == "endless":
            self.wfile.write(bytes(2**16))
        self.wfile.write(self.content[: self.cuts.pop(0)] if self.cuts else self.content)

    def drip(self):
        self.wfile.write(b"HTTP/1.0 200 OK\r\n\r\n")
        for _ in range(200):
            self.wfile.write(b"x")
            self.wfile.flush()
            time.sleep(0.05)

    def log_message(self, *args):
        pass


@pytest.fixture
def server(monkeypatch):
    """The class that answers; its faults can be set."""
    served = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    served.daemon_threads = True
    served.block_on_close = False
    threading.Thread(target=served.serve_forever, args=(0.01,), daemon=True).start()
    attributes = {
        "url": f"http://127.0.0.1:{served.server_port}/",
        "content": CONTENT,
        "cuts": [],  # bytes to send before the connection is closed
        "answers": [],  # status codes to answer with first
    }
    for name, value in attributes.items():
        monkeypatch.setattr(Handler, name, value, raising=False)
    yield Handler
    served.shutdown()
    served.server_close()


@pytest.fixture
def target(tmp_path):
    return tmp_path / "cache" / "nyt-coarse" / "df.pkl"


def entries(target):
    return sorted(path.name for path in target.parent.glob("*"))


@pytest.mark.parametrize("kind", ["plain", "no-length", "to-plain", "negative", "words", "digits"])
def test_a_download(server, target, kind):
    for checksum in (BLOB, hashlib.sha256(CONTENT).hexdigest()):
        fetch(server.url + kind, target, checksum, quiet=True)
        assert target.read_bytes() == CONTENT
    assert entries(target) == ["df.pkl"]
    assert threading.active_count() < 20


def test_a_cut_connection(server, target):
    server.cuts = [100_000]
    with pytest.raises(LopsError, match=r"^the connection was cut after 100000 bytes$"):
        fetch(server.url, target, BLOB, quiet=True)
    assert entries(target) == []


def test_an_unknown_address(server, target):
    server.answers = [404]
    with pytest.raises(LopsError) as caught:
        fetch(server.url, target, BLOB, quiet=True)
    assert str(caught.value) == "the server answered 404 Not Found"


def test_a_failed_download_leaves_no_folder(server, target):
    server.answers = [404, 404]
    new = target.parent / "data" / "nyt" / target.name
    with pytest.raises(LopsError):
        fetch(server.url, new, BLOB, quiet=True)
    assert not (target.parent / "data").exists()
    target.parent.mkdir(parents=True, exist_ok=True)
    with pytest.raises(LopsError):
        fetch(server.url, new, BLOB, quiet=True)
    assert target.parent.is_dir()


def test_no_server(target):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}/df.pkl"
    with pytest.raises(LopsError, match=r"[Rr]efused"):
        fetch(url, target, BLOB, quiet=True)
    assert entries(target) == []


def test_only_the_right_file_replaces_another(server, target):
    target.parent.mkdir(parents=True)
    target.write_bytes(b"old")
    server.content = b"<html>please log in</html>"
    wrong = rf"its contents are wrong \(checksum \w{{40}}, wanted {BLOB}\)"
    with pytest.raises(LopsError, match=wrong):
        fetch(server.url, target, BLOB, quiet=True)
    assert target.read_bytes() == b"old"
    assert entries(target) == ["df.pkl"]
    server.content = CONTENT
    fetch(server.url, target, BLOB, quiet=True)
    assert target.read_bytes() == CONTENT


def test_an_interruption_leaves_nothing(server, target, monkeypatch):
    def interrupt(*args):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", interrupt)
    with pytest.raises(KeyboardInterrupt):
        fetch(server.url, target, BLOB, quiet=True)
    assert entries(target) == []


def test_other_addresses_and_bad_folders_are_refused(server, tmp_path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(LopsError, match="unknown url type: file"):
        fetch((tmp_path / "file").as_uri(), tmp_path / "copy", BLOB)
    with pytest.raises(LopsError, match="unknown url type: nowhere"):
        fetch("nowhere", tmp_path / "copy", BLOB)
    with pytest.raises(LopsError, match=r"cannot write to .*; choose a writable folder"):
        fetch(server.url, tmp_path / "file" / "below", BLOB, quiet=True)


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        ("to-file", "the server answered 302 .*file:///etc/passwd"),
        ("to-odd", "Invalid IPv6 URL"),
        ("to-itself", "infinite loop"),
        ("huge", "it has more than 1,000,000 bytes"),
        ("endless", "it has more than 1,000,000 bytes"),
        ("headers", "got more than 100 headers"),
        ("silent", "timed out"),
        ("drip", "it takes too long"),
    ],
)
def test_a_sentence_within_the_deadline(server, target, monkeypatch, kind, message):
    monkeypatch.setattr(download, "_LARGEST", 1_000_000)
    monkeypatch.setattr(download, "_TIMEOUT" if kind == "silent" else "_DEADLINE", 0.3)
    start = time.monotonic()
    with pytest.raises(LopsError, match=f"(?s){message}"):
        fetch(server.url + kind, target, BLOB, quiet=True)
    assert time.monotonic() - start < 8
    assert entries(target) == []


def test_progress_can_be_switched_off(server, target, capsys, bars, caplog):
    caplog.set_level(logging.INFO)
    fetch(server.url, target, BLOB, quiet=True)
    assert capsys.readouterr().err == ""
    fetch(server.url, target, BLOB)
    assert "512k" in capsys.readouterr().err
