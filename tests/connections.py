"""Which connections are opened: those that Python reports, and those that Linux lists.

An audit hook sees what Python code opens in this process, lookups of names included. Sockets of
compiled code and of other processes are in ``/proc`` while they are open.
"""

import ipaddress
import os
import sys
from contextlib import contextmanager
from pathlib import Path

_EVENTS = {"socket.connect": 1, "socket.sendto": 1, "socket.getaddrinfo": 0}  # -> where the host is
_recorded: list[str] | None = None


def _note(event, args):
    if _recorded is not None and event in _EVENTS:
        address = args[_EVENTS[event]]
        host = address[0] if isinstance(address, tuple) else address
        if not isinstance(host, (str, bytes)) or (
            event != "socket.getaddrinfo" and host is address
        ):
            return  # a socket of Unix, which is a path, or any address of this machine
        if not is_loopback(os.fsdecode(host)):
            _recorded.append(f"{event} {os.fsdecode(host)}")


sys.addaudithook(_note)  # it cannot be removed


def is_loopback(host):
    """Return whether an address is this machine's own, by number or by name.

    >>> is_loopback("127.0.0.53"), is_loopback("localhost"), is_loopback("8.8.8.8")
    (True, True, False)
    """
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return host == "localhost"
    mapped = getattr(address, "ipv4_mapped", None)
    return (mapped or address).is_loopback or address.is_unspecified


@contextmanager
def recorded():
    """Record what this process opens beyond loopback, as ``event host``."""
    global _recorded  # noqa: PLW0603
    _recorded = found = []
    try:
        yield found
    finally:
        _recorded = None


def remote_peers(root):
    """Return the hosts beyond loopback that a process and its descendants are connected to."""
    wanted = {inode for process in _descendants(root) for inode in _sockets(process)}
    peers = set()
    for table in ("tcp", "tcp6", "udp", "udp6"):
        for line in Path("/proc/net", table).read_text(encoding="ascii").splitlines()[1:]:
            cells = line.split()
            if cells[9] in wanted:
                peers.add(_host(cells[2].partition(":")[0]))
    return {host for host in peers if not is_loopback(host)}


def _descendants(root):
    parents = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            rest = path.read_text(encoding="utf-8", errors="replace").rpartition(")")[2]
        except OSError:  # it has ended
            continue
        parents[int(path.parent.name)] = int(rest.split()[1])
    found = {root}
    while more := {child for child, parent in parents.items() if parent in found} - found:
        found |= more
    return found


def _sockets(process):
    for link in Path(f"/proc/{process}/fd").glob("*"):
        try:
            target = link.readlink().name
        except OSError:
            continue
        if target.startswith("socket:["):
            yield target.removeprefix("socket:[").rstrip("]")


def _host(words):
    """Return an address of ``/proc/net``: words of four bytes, each in the machine's order."""
    raw = b"".join(
        int(words[i : i + 8], 16).to_bytes(4, sys.byteorder) for i in range(0, len(words), 8)
    )
    return str(ipaddress.ip_address(raw))
