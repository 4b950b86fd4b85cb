"""Connections that end at a time on the clock, even if the server sends a byte now and then."""

from __future__ import annotations

import http.client
import socket
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any


@contextmanager
def opener(
    end: float, *handlers: urllib.request.BaseHandler
) -> Iterator[urllib.request.OpenerDirector]:
    """Yield an opener whose connections are shut down at ``end`` and when the context ends.

    A time-out of a socket counts from byte to byte, so a server that sends a byte now and then
    would hold a handshake, headers or chunk sizes for days.

    Args:
        end: on the clock of ``time.monotonic``.
        handlers: further handlers of the opener.

    """
    watched = _Watched(end)
    timer = threading.Timer(max(0.0, end - time.monotonic()), watched.cut)
    timer.daemon = True
    timer.start()
    try:
        yield urllib.request.build_opener(
            _handler(urllib.request.HTTPHandler, watched),
            _handler(urllib.request.HTTPSHandler, watched),
            *handlers,
        )
    finally:
        timer.cancel()
        watched.cut()


class _Watched:
    """The sockets of an opener, as second handles that stay valid inside TLS."""

    def __init__(self, end: float) -> None:
        self._end = end
        self._sockets: list[socket.socket] = []
        self._lock = threading.Lock()

    def connect(self, *arguments: Any, **settings: Any) -> socket.socket:
        """Connect as ``socket.create_connection`` does."""
        opened = socket.create_connection(*arguments, **settings)
        with self._lock:
            if time.monotonic() > self._end:
                opened.close()
                raise TimeoutError("out of time")
            self._sockets.append(opened.dup())
        return opened

    def cut(self) -> None:
        """Shut all connections down; their readers find the end of the stream."""
        with self._lock:
            while self._sockets:
                with self._sockets.pop() as handle, suppress(OSError):
                    handle.shutdown(socket.SHUT_RDWR)


def _handler(kind: type[Any], watched: _Watched) -> Any:
    """Return a handler of http or https whose connections are watched."""

    class Handler(kind):
        def do_open(self, http_class: Callable[..., Any], req: Any, **settings: Any) -> Any:
            def connection(host: str, **more: Any) -> http.client.HTTPConnection:
                made: Any = http_class(host, **more)
                made._create_connection = watched.connect  # where http.client makes its socket
                return made

            return super().do_open(connection, req, **settings)

    return Handler()
