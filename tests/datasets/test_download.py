import hashlib
import http.server
import logging
import os
import socket
import subprocess
import threading

import pytest

from lops_adapters.core import LopsError
from lops_adapters.datasets.download import fetch, git_blob_id

CONTENT = bytes(range(256)) * 2000
BLOB = hashlib.sha1(b"blob %d\0" % len(CONTENT) + CONTENT).hexdigest()
QUICK = {"quiet": True, "pause": 0.0, "timeout": 5.0}


class Server:
    """A file server whose faults can be set, and which remembers the ranges it was asked for."""

    def __init__(self):
        self.content = CONTENT
        self.ranges_supported = True
        self.cuts = []  # bytes to send before the connection is closed, one a request
        self.answers = []  # status codes to answer with first
        self.shift = 0  # how far the range sent is from the one asked for
        self.length_known = True
        self.hang = False
        self.asked = []
        owner = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                owner.answer(self)

            def log_message(self, *args):
                pass

        self.http = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.http.daemon_threads = True
        self.released = threading.Event()
        threading.Thread(
            target=self.http.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True
        ).start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.http.server_port}/data/df.pkl"

    def answer(self, request):
        asked = request.headers.get("Range")
        self.asked.append(asked)
        if self.hang:
            self.released.wait(10)
            return
        if self.answers:
            request.send_error(self.answers.pop(0))
            return
        start = (
            int(asked.removeprefix("bytes=").rstrip("-")) if asked and self.ranges_supported else 0
        )
        if start >= len(self.content) and start:
            request.send_response(416)
            request.send_header("Content-Range", f"bytes */{len(self.content)}")
            request.end_headers()
            return
        body = self.content[start:]
        request.send_response(206 if start else 200)
        if start:
            first = start + self.shift
            request.send_header(
                "Content-Range", f"bytes {first}-{len(self.content) - 1}/{len(self.content)}"
            )
        if self.length_known:
            request.send_header("Content-Length", str(len(body)))
        request.end_headers()
        request.wfile.write(body[: self.cuts.pop(0)] if self.cuts else body)


@pytest.fixture
def server():
    served = Server()
    yield served
    served.released.set()
    served.http.shutdown()
    served.http.server_close()


@pytest.fixture
def target(tmp_path):
    return tmp_path / "cache" / "nyt-coarse" / "df.pkl"


def part_of(target):
    return target.with_name("df.pkl.part")


def entries(target):
    return sorted(path.name for path in target.parent.iterdir())


def test_the_blob_id_is_gits(tmp_path):
    path = tmp_path / "x"
    path.write_bytes(CONTENT)
    assert git_blob_id(path) == BLOB
    found = subprocess.run(
        ["git", "hash-object", "--no-filters", str(path)],
        capture_output=True,
        text=True,
        check=False,
    )
    if found.returncode == 0:
        assert found.stdout.strip() == BLOB


def test_a_plain_download(server, target):
    assert fetch(server.url, target, git_blob=BLOB, **QUICK) == target
    assert target.read_bytes() == CONTENT
    assert entries(target) == ["df.pkl"]
    assert server.asked == [None]
    fetch(server.url, target, git_blob=BLOB, **QUICK)
    fetch(server.url, target, git_blob=BLOB, offline=True)
    assert len(server.asked) == 1


def test_a_cut_connection_is_resumed(server, target, caplog):
    server.cuts = [100_000, 200_000]
    fetch(server.url, target, git_blob=BLOB, **QUICK)
    assert target.read_bytes() == CONTENT
    assert server.asked == [None, "bytes=100000-", "bytes=300000-"]
    assert "cut after 100000 of 512000 bytes; attempt 2 of 5 follows" in caplog.text


def test_a_later_call_goes_on_where_the_first_was_cut(server, target):
    server.cuts = [100_000]
    cut = r"the connection was cut after 100000 of 512000 bytes\. To do it by hand"
    with pytest.raises(LopsError, match=f"could not be fetched: {cut}"):
        fetch(server.url, target, git_blob=BLOB, attempts=1, **QUICK)
    assert entries(target) == ["df.pkl.part"]
    fetch(server.url, target, git_blob=BLOB, **QUICK)
    assert server.asked[-1] == "bytes=100000-"
    assert target.read_bytes() == CONTENT
    assert entries(target) == ["df.pkl"]


def test_a_server_without_ranges_starts_again(server, target):
    server.ranges_supported = False
    server.cuts = [100_000]
    fetch(server.url, target, git_blob=BLOB, **QUICK)
    assert server.asked == [None, "bytes=100000-"]
    assert target.read_bytes() == CONTENT


def test_a_complete_part_is_only_verified(server, target):
    target.parent.mkdir(parents=True)
    part_of(target).write_bytes(CONTENT)
    fetch(server.url, target, git_blob=BLOB, **QUICK)
    assert server.asked == []
    assert entries(target) == ["df.pkl"]
    part_of(target).write_bytes(CONTENT)
    target.unlink()
    # Without a checksum the server is asked whether there is more.
    fetch(server.url, target, **QUICK)
    assert server.asked == [f"bytes={len(CONTENT)}-"]
    assert target.read_bytes() == CONTENT


def test_a_part_longer_than_the_file_is_dropped(server, target):
    target.parent.mkdir(parents=True)
    part_of(target).write_bytes(CONTENT + b"more")
    fetch(server.url, target, git_blob=BLOB, **QUICK)
    assert target.read_bytes() == CONTENT


def test_another_range_than_asked_for_is_not_joined(server, target):
    server.cuts = [100_000]
    server.shift = 7
    fetch(server.url, target, git_blob=BLOB, **QUICK)
    assert server.asked == [None, "bytes=100000-", None]
    assert target.read_bytes() == CONTENT


def test_wrong_contents_are_deleted(server, target):
    server.content = b"<html>please log in</html>"
    wrong = rf"wrong contents: git blob \w{{40}}, wanted {BLOB}; the download is deleted"
    with pytest.raises(LopsError, match=wrong):
        fetch(server.url, target, git_blob=BLOB, **QUICK)
    assert entries(target) == []


def test_a_wrong_file_in_place_is_replaced_only_by_the_right_one(server, target, caplog):
    target.parent.mkdir(parents=True)
    target.write_bytes(b"old")
    with pytest.raises(LopsError, match="downloads are switched off"):
        fetch(server.url, target, git_blob=BLOB, offline=True)
    server.answers = [404]
    with pytest.raises(LopsError, match="404"):
        fetch(server.url, target, git_blob=BLOB, **QUICK)
    assert target.read_bytes() == b"old"
    fetch(server.url, target, git_blob=BLOB, **QUICK)
    assert target.read_bytes() == CONTENT
    assert "is not the file wanted" in caplog.text


def test_an_unknown_address_is_not_tried_again(server, target):
    server.answers = [404, 404]
    with pytest.raises(LopsError) as caught:
        fetch(server.url, target, git_blob=BLOB, **QUICK)
    assert f"{server.url} could not be fetched: the server answered 404 Not Found" in str(
        caught.value
    )
    assert f"fetch {server.url} and put it at {target}" in str(caught.value)
    assert len(server.asked) == 1


def test_a_busy_server_is_tried_again(server, target):
    server.answers = [503, 429]
    fetch(server.url, target, git_blob=BLOB, **QUICK)
    assert len(server.asked) == 3


def test_no_length(server, target):
    server.length_known = False
    fetch(server.url, target, git_blob=BLOB, **QUICK)
    assert target.read_bytes() == CONTENT


def test_no_server(target):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}/df.pkl"
    with pytest.raises(
        LopsError, match=r"after 2 attempts: .*[Rr]efused.*To do it by hand, fetch http.*put it at"
    ):
        fetch(url, target, attempts=2, **QUICK)
    assert entries(target) == []


def test_a_silent_server_runs_into_the_time_limit(server, target):
    server.hang = True
    with pytest.raises(LopsError, match="timed out"):
        fetch(server.url, target, attempts=1, quiet=True, timeout=0.2)


def test_the_pause_doubles(server, target, monkeypatch):
    pauses = []
    monkeypatch.setattr("time.sleep", pauses.append)
    server.answers = [500] * 4
    with pytest.raises(LopsError, match="after 4 attempts: the server answered 500"):
        fetch(server.url, target, attempts=4, pause=0.5, quiet=True)
    assert pauses == [0.5, 1.0, 2.0]


def test_offline_never_tries(server, target):
    with pytest.raises(LopsError) as caught:
        fetch(server.url, target, offline=True)
    assert "downloads are switched off" in str(caught.value)
    assert f"fetch {server.url} and put it at {target}" in str(caught.value)
    assert server.asked == []
    assert not target.parent.exists()


def test_other_schemes_and_bad_folders_are_refused(server, tmp_path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(LopsError, match="only http and https"):
        fetch((tmp_path / "file").as_uri(), tmp_path / "copy")
    with pytest.raises(LopsError, match="cannot write to"):
        fetch(server.url, tmp_path / "file" / "below", **QUICK)


def test_an_interruption_leaves_no_file_under_the_final_name(server, target, monkeypatch):
    def interrupt(*args):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", interrupt)
    with pytest.raises(KeyboardInterrupt):
        fetch(server.url, target, git_blob=BLOB, **QUICK)
    assert entries(target) == ["df.pkl.part"]


def test_progress_can_be_switched_off(server, target, capsys, bars, caplog):
    caplog.set_level(logging.INFO)
    fetch(server.url, target, **QUICK)
    assert capsys.readouterr().err == ""
    target.unlink()
    fetch(server.url, target)
    assert "512k" in capsys.readouterr().err
