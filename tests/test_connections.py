"""The tracer of connections sees what Python and what Linux know."""

import os
import socket
import sys
from contextlib import suppress

import pytest

from .connections import _host, recorded, remote_peers

ELSEWHERE = ("192.0.2.1", 9)  # an address for documentation; over UDP nothing is sent


def udp():
    return socket.socket(socket.AF_INET, socket.SOCK_DGRAM)


def test_python_reports():
    with recorded() as found, udp() as one, udp() as other, socket.socket(socket.AF_UNIX) as unix:
        one.connect(("127.0.0.1", 9))
        with suppress(OSError):
            other.connect(ELSEWHERE)
        with suppress(OSError):
            unix.connect("no such socket")
        with suppress(OSError):
            socket.getaddrinfo("nowhere.invalid", 80)
    assert found == ["socket.connect 192.0.2.1", "socket.getaddrinfo nowhere.invalid"]


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_linux_lists():
    assert [_host("0100007F"), _host("0" * 32)] == ["127.0.0.1", "::"]
    with udp() as one, udp() as other:
        one.connect(("127.0.0.1", 9))
        assert remote_peers(os.getpid()) == set()
        try:
            other.connect(ELSEWHERE)
        except OSError:
            pytest.skip("no network: nothing can be connected")
        assert remote_peers(os.getpid()) == {"192.0.2.1"}
