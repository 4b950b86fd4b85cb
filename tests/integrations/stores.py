"""Object stores of this machine, each in a process of its own and in memory, with one bucket."""

import json
import os
import subprocess
import sys
from contextlib import contextmanager
from urllib.parse import quote
from urllib.request import ProxyHandler, Request, build_opener

import pytest

_S3 = """
import logging, sys
from moto.server import ThreadedMotoServer
logging.getLogger("werkzeug").setLevel(logging.ERROR)
server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
server.start()
print(server.get_host_and_port()[1], flush=True)
sys.stdin.read()
"""
# The emulator, and a server that gives out the token that Google's library asks for.
_GS = """
import os, socket, sys
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread
from gcp_storage_emulator.server import create_server

class Tokens(BaseHTTPRequestHandler):
    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        body = b'{"access_token": "t", "expires_in": 3600, "token_type": "Bearer", "id_token": "i"}'
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

with socket.create_server(("127.0.0.1", 0)) as free:
    port = free.getsockname()[1]
create_server("127.0.0.1", port, in_memory=True, default_bucket="tables").start()
tokens = HTTPServer(("127.0.0.1", 0), Tokens)
Thread(target=tokens.serve_forever, daemon=True).start()
print(port, tokens.server_port, flush=True)
sys.stdin.read()
os._exit(0)
"""
BUCKET = "tables"


class S3:
    """The bucket, by Amazon's own client."""

    here, needs = f"s3://{BUCKET}", ("boto3", "moto.server", "flask_cors")

    def __init__(self, ports, patch, _):
        import boto3

        for name in [name for name in os.environ if name.startswith("AWS_")]:
            patch.delenv(name)
        patch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{ports[0]}")
        patch.setenv("AWS_ACCESS_KEY_ID", "me")
        patch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
        patch.setenv("AWS_REGION", "us-east-1")
        patch.setenv("AWS_EC2_METADATA_DISABLED", "true")
        self._client = boto3.client("s3", region_name="us-east-1")
        self._client.create_bucket(Bucket=BUCKET)

    def put(self, path, key):
        self._client.upload_file(str(path), BUCKET, key)

    def get(self, key):
        return self._client.get_object(Bucket=BUCKET, Key=key)["Body"].read()

    def sizes(self, prefix=""):
        listed = self._client.list_objects_v2(Bucket=BUCKET, Prefix=prefix)
        return {one["Key"]: one["Size"] for one in listed.get("Contents", [])}

    def delete(self, key):
        self._client.delete_object(Bucket=BUCKET, Key=key)


class Google:
    """The bucket, by the JSON API."""

    here, needs = f"gs://{BUCKET}", ("gcp_storage_emulator",)

    def __init__(self, ports, patch, folder):
        self._address = f"http://127.0.0.1:{ports[0]}"
        self._open = build_opener(ProxyHandler({})).open
        credentials = {
            "type": "authorized_user",
            **dict.fromkeys(("client_id", "client_secret", "refresh_token"), "x"),
            "token_uri": f"http://127.0.0.1:{ports[1]}/token",
        }
        path = folder / "credentials.json"
        path.write_text(json.dumps(credentials))
        patch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(path))
        patch.setenv("CLOUD_STORAGE_EMULATOR_ENDPOINT", self._address)

    def _ask(self, path, body=None, method=None):
        with self._open(Request(f"{self._address}{path}", body, method=method)) as answer:
            return answer.read()

    def put(self, path, key):
        query = f"uploadType=media&name={quote(key, safe='')}"
        self._ask(f"/upload/storage/v1/b/{BUCKET}/o?{query}", path.read_bytes())

    def get(self, key):
        return self._ask(f"/storage/v1/b/{BUCKET}/o/{quote(key, safe='')}?alt=media")

    def sizes(self, prefix=""):
        listed = json.loads(self._ask(f"/storage/v1/b/{BUCKET}/o?prefix={quote(prefix, safe='')}"))
        return {one["name"]: int(one["size"]) for one in listed.get("items", [])}

    def delete(self, key):
        self._ask(f"/storage/v1/b/{BUCKET}/o/{quote(key, safe='')}", method="DELETE")


@contextmanager
def served(kind, patch, folder):
    """Yield a store, :class:`S3` or :class:`Google`; skip if its server is not installed."""
    for module in kind.needs:
        pytest.importorskip(module, reason="make test-integrations")
    script = _S3 if kind is S3 else _GS
    server = subprocess.Popen(
        [sys.executable, "-c", script],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
    )  # fmt: skip
    try:
        yield kind([int(port) for port in server.stdout.readline().split()], patch, folder)
    finally:
        server.stdin.close()
        server.wait(timeout=10)
