"""An S3 server of this machine, in a process of its own: moto, kept in memory."""

import os
import subprocess
import sys
from contextlib import contextmanager

import pytest

_SERVER = """
import logging, sys, time
from moto.server import ThreadedMotoServer
logging.getLogger("werkzeug").setLevel(logging.ERROR)
server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
server.start()
print(server.get_host_and_port()[1], flush=True)
sys.stdin.read()
"""
BUCKET = "tables"


@contextmanager
def served(patch):
    """Yield a client of a server with one bucket; skip if moto is not installed."""
    boto3 = pytest.importorskip("boto3", reason="needs moto[s3], flask and flask-cors")
    pytest.importorskip("moto.server", reason="needs moto[s3], flask and flask-cors")
    command = [sys.executable, "-c", _SERVER]
    server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        port = int(server.stdout.readline())
        for name in [name for name in os.environ if name.startswith("AWS_")]:
            patch.delenv(name)
        patch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{port}")
        patch.setenv("AWS_ACCESS_KEY_ID", "me")
        patch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
        patch.setenv("AWS_REGION", "us-east-1")
        patch.setenv("AWS_EC2_METADATA_DISABLED", "true")
        client = boto3.client("s3", region_name="us-east-1")
        client.create_bucket(Bucket=BUCKET)
        yield client
    finally:
        server.stdin.close()
        server.wait(timeout=10)
