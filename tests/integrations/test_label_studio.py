"""The real Label Studio (``make test-integrations``): labels out, checked, and back into it."""

import csv
import json
import os
import secrets
import socket
import subprocess
import time
from pathlib import Path
from urllib.error import URLError
from urllib.request import ProxyHandler, Request, build_opener

import pytest

from lops_adapters.cli.main import main

from ..noisy import noisy_texts

TEXTS, LABELS, GOLD = noisy_texts(n=60, k=2, noise=0.1)
TOKEN, WORD = secrets.token_hex(20), secrets.token_hex(8)
CONFIG = """<View><Text name="text" value="$text"/><Choices name="topic" toName="text">
<Choice value="class 0"/><Choice value="class 1"/></Choices></View>"""
QUIET = {"COLLECT_ANALYTICS": "false", "LATEST_VERSION_CHECK": "false", "SENTRY_DSN": ""}
STARTS = 1500  # seconds; the first start makes the tables of its data base


class Server:
    """A server of this machine and its user."""

    def __init__(self, address):
        self.address, self._open = address, build_opener(ProxyHandler({})).open

    def ask(self, path, body=None):
        """The answer to a GET, or with a body to a POST."""
        head = {"Authorization": f"Token {TOKEN}", "Content-Type": "application/json"}
        content = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
        with self._open(Request(f"{self.address}{path}", content, head), timeout=120) as answer:
            return answer.read()

    def project(self, title, tasks):
        """The id of a new project with tasks."""
        made = self.ask("/api/projects/", {"title": title, "label_config": CONFIG})
        number = json.loads(made)["id"]
        self.ask(f"/api/projects/{number}/import", tasks)
        return number

    def export(self, project, kind="JSON"):
        return self.ask(f"/api/projects/{project}/export?exportType={kind}&download_all_tasks=true")


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    command = os.environ.get("LABEL_STUDIO")
    if not command:
        pytest.skip("Label Studio is not installed: make test-integrations")
    home = tmp_path_factory.mktemp("label-studio")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    started = [
        *(command, "start", "--no-browser", "--data-dir", home, "--port", str(port)),
        *("--internal-host", "127.0.0.1", "--username", "me@example.org", "--password", WORD),
        *("--user-token", TOKEN, "--enable-legacy-api-token"),
    ]
    log = home / "log.txt"
    with log.open("w") as out:
        process = subprocess.Popen(
            started, stdout=out, stderr=out, env={**os.environ, **QUIET, "HOME": str(home)}
        )
        try:
            running = Server(f"http://127.0.0.1:{port}")
            end = time.monotonic() + STARTS
            while not _answers(running):
                assert process.poll() is None, log.read_text()[-2000:]
                assert time.monotonic() < end, log.read_text()[-2000:]
                time.sleep(1)
            yield running
        finally:
            process.terminate()
            process.wait(timeout=30)


def _answers(server):
    try:
        return bool(server.ask("/health"))
    except URLError:
        return False


def labels_of(tasks):
    """Number of the text -> the choices of its annotations."""
    return {
        task["data"]["nr"]: [
            choice
            for annotation in task["annotations"]
            for result in annotation["result"]
            for choice in result["value"]["choices"]
        ]
        for task in tasks
    }


@pytest.mark.timeout(STARTS + 300)
def test_labels_go_out_and_come_back_corrected(server, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    texts = [{"data": {"text": text, "nr": nr}} for nr, text in enumerate(TEXTS)]
    first = server.project("first", texts)
    for task in json.loads(server.export(first)):
        value = {"choices": [LABELS[task["data"]["nr"]]]}
        result = {"from_name": "topic", "to_name": "text", "type": "choices", "value": value}
        server.ask(f"/api/tasks/{task['id']}/annotations/", {"result": [result]})
    Path("export.json").write_bytes(server.export(first))
    assert main(["select", "export.json", "--encoder", "none", "--quiet", "--output", "out"]) == 0

    order = [task["data"]["nr"] for task in json.loads(Path("export.json").read_text())]
    expected = {nr: [label] for nr, label in enumerate(LABELS)}
    with open("out/to_check.csv", encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    for number, row in enumerate(rows):
        nr = order[int(row["row"]) - 1]
        row["checked"] = GOLD[nr] if number else "-"  # one fits no class
        expected[nr] = [GOLD[nr]] if number else []
    with open("checked.csv", "w", encoding="utf-8", newline="") as file:
        written = csv.DictWriter(file, rows[0])
        written.writeheader()
        written.writerows(rows)
    assert main(["apply", "checked.csv", "export.json", "--output", "corrected.json"]) == 0
    assert expected != {nr: [label] for nr, label in enumerate(LABELS)}

    second = server.project("second", Path("corrected.json").read_bytes())
    assert labels_of(json.loads(server.export(second))) == expected
    short = json.loads(server.export(second, "JSON_MIN"))
    assert {row["nr"]: [row["topic"]] if "topic" in row else [] for row in short} == expected
