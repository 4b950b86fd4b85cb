"""A hub of this machine with one data set: what huggingface_hub asks of ``hf://`` for files."""

import base64
import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import PurePosixPath
from threading import Thread
from urllib.parse import parse_qs, unquote, urlsplit

from lops_adapters.remote import path as remote_path

REPO = "me/tables"
_API, _FILES = f"/api/datasets/{REPO}", f"/datasets/{REPO}/resolve/main/"
_OID = "0" * 40


class Hub:
    """The files of the data set, path -> bytes, and how many commits wrote them."""

    here = f"hf://datasets/{REPO}"

    def __init__(self):
        self.files: dict[str, bytes] = {}
        self.commits = 0

    def entry(self, path):
        """What the hub says of a file or a folder; None: there is none."""
        if path in self.files:
            size = len(self.files[path])
            return {"type": "file", "path": path, "size": size, "oid": _OID}
        if any(name.startswith(f"{path}/") for name in self.files):
            return {"type": "directory", "path": path, "size": 0, "oid": _OID}
        return None

    def tree(self, folder, recursive):
        """The entries below a folder; None: there is no such folder."""
        if folder and (self.entry(folder) or {}).get("type") != "directory":
            return None
        paths = {
            str(one)
            for name in self.files
            for one in (PurePosixPath(name), *PurePosixPath(name).parents)
            if one.parts and (not folder or one.is_relative_to(folder)) and str(one) != folder
        }
        depth = len(PurePosixPath(folder).parts) + 1
        return [
            self.entry(path)
            for path in sorted(paths)
            if recursive or len(PurePosixPath(path).parts) == depth
        ]

    def commit(self, lines):
        """Carry out a commit: a JSON object per line."""
        self.commits += 1
        for line in map(json.loads, lines.splitlines()):
            value = line["value"]
            if line["key"] == "file":
                self.files[value["path"]] = base64.b64decode(value["content"])
            elif line["key"] == "deletedFile":
                del self.files[value["path"]]
            elif line["key"] == "deletedFolder":
                prefix = value["path"].rstrip("/") + "/"
                for path in [path for path in self.files if path.startswith(prefix)]:
                    del self.files[path]


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    hub: Hub

    def log_message(self, *_):
        pass

    def _send(self, body, status=200, **headers):
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(content))}.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(content)

    def do_GET(self):
        path, query = unquote(urlsplit(self.path).path), urlsplit(self.path).query
        if path in (_API, f"{_API}/revision/main"):
            self._send({"id": REPO, "sha": _OID, "private": False, "tags": [], "siblings": []})
        elif path.startswith(f"{_API}/tree/main"):
            folder = path.removeprefix(f"{_API}/tree/main").strip("/")
            tree = self.hub.tree(folder, "recursive=true" in query.lower())
            self._missing("EntryNotFound") if tree is None else self._send(tree)
        elif path.startswith(_FILES) and path.removeprefix(_FILES) in self.hub.files:
            self._send_file(self.hub.files[path.removeprefix(_FILES)])
        else:
            self._missing("EntryNotFound" if path.startswith(_FILES) else "RepoNotFound")

    def _missing(self, code):
        self._send({"error": "not found"}, 404, X_Error_Code=code)

    def _send_file(self, content):
        headers = {"ETag": f'"{hash(content)}"', "X_Repo_Commit": _OID}
        wanted = self.headers.get("Range")
        if wanted is None:
            return self._send(content, **headers)
        first, last = wanted.removeprefix("bytes=").split("-")
        part = content[int(first) : int(last or len(content)) + 1]
        about = f"bytes {first}-{int(first) + len(part) - 1}/{len(content)}"
        return self._send(part, 206, Content_Range=about, **headers)

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.path == f"{_API}/paths-info/main":
            entries = map(self.hub.entry, parse_qs(body.decode())["paths"])
            self._send([one for one in entries if one])
        elif self.path == f"{_API}/preupload/main":
            names = [one["path"] for one in json.loads(body)["files"]]
            modes = [{"path": x, "uploadMode": "regular", "shouldIgnore": False} for x in names]
            self._send({"files": modes})
        elif self.path.startswith(f"{_API}/commit/main"):
            self.hub.commit(body)
            self._send({"commitUrl": f"{self.path}/{_OID}", "commitOid": _OID, "hookOutput": ""})
        else:
            self._missing("RepoNotFound")


def _forget_instances():
    """Of the library's file system, which keep an address."""
    from huggingface_hub import HfFileSystem

    HfFileSystem.clear_instance_cache()
    remote_path._store.cache_clear()


@contextmanager
def served(patch) -> Iterator[Hub]:
    """Yield an empty hub, which huggingface_hub takes for its own."""
    from huggingface_hub import constants

    hub = Hub()
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"hub": hub}))
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    address = f"http://127.0.0.1:{server.server_port}"
    template = constants.HUGGINGFACE_CO_URL_TEMPLATE.replace(constants.ENDPOINT, address)
    patch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", template)
    patch.setattr(constants, "ENDPOINT", address)
    patch.setattr(constants, "HF_HUB_OFFLINE", False)
    patch.setenv("HF_TOKEN", "hf_x")
    _forget_instances()
    try:
        yield hub
    finally:
        _forget_instances()
        server.shutdown()
        thread.join()
