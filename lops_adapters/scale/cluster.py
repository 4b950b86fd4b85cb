"""Ray: a cluster to work on, and work spread over it."""

import os
import secrets
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import islice
from typing import Any

from lops_adapters import extras
from lops_adapters.console import as_command
from lops_adapters.core import LopsError

_AHEAD = 2  # tasks per processor that wait for a free one
_QUIET: dict[str, Any] = {"logging_level": "ERROR", "log_to_driver": False}


@contextmanager
def connected(address: str | None) -> Iterator[Any]:
    """Yield ray, connected: to the cluster at an address, or to one on this machine.

    A program that is connected already stays so. What is started here ends here.
    """
    ray = extras.load("ray", "--engine ray")
    if ray.is_initialized():
        yield ray
        return
    try:
        if address is None:
            start(ray)
        else:
            with _sigterm_handler_restored():
                ray.init(address=address, **_QUIET)
    except Exception as error:  # Ray raises a bare one if a busy machine starts it too slowly
        way_out = "give the --address of a running cluster, or none to start one here"
        if address is None:
            way_out = "if the machine is busy, try again; or give --engine process"
        elif "RAY_AUTH_MODE" not in os.environ:
            way_out += "; a cluster with a token needs RAY_AUTH_MODE=token"
        raise LopsError(
            f"Ray cannot be reached at {address or 'this machine'} ({error!s:.200}); {way_out}"
        ) from None
    try:
        yield ray
    finally:
        ray.shutdown()


def start(ray: Any, **options: Any) -> None:
    """Start Ray on this machine; it serves this process and the processes that it starts.

    It listens on the loopback interface only, and asks for a random token, since other users of the
    machine also reach that. The token is in the environment of these processes and in no file.
    ``RAY_AUTH_MODE`` and ``RAY_AUTH_TOKEN`` of the user stay. Options as of ``ray.init``.
    """
    from ray._private import ray_constants
    from ray._raylet import Config

    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # they go over the network
    os.environ.setdefault("RAY_AUTH_MODE", "token")
    os.environ.setdefault("RAY_AUTH_TOKEN", secrets.token_hex(32))
    Config.initialize("")  # Ray has read these variables when it was imported
    several = getattr(ray_constants, "ENABLE_RAY_CLUSTER", True)
    # As Ray does on macOS and Windows; it has no public option for one machine only. The variable
    # is for processes that this one starts.
    os.environ.setdefault("RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER", "0")
    ray_constants.ENABLE_RAY_CLUSTER = False
    try:
        with _sigterm_handler_restored():
            ray.init(address="local", include_dashboard=False, **_QUIET, **options)
    finally:
        ray_constants.ENABLE_RAY_CLUSTER = several


@contextmanager
def _sigterm_handler_restored() -> Iterator[None]:
    """Undo that ``ray.init`` handles SIGTERM: a process that is forked later would inherit it."""
    handler = signal.getsignal(signal.SIGTERM)  # SIG_DFL is 0, and None was not set by Python
    try:
        yield
    finally:
        if handler is not None and threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGTERM, handler)


def spread(
    ray: Any, work: Callable[..., Any], items: Sequence[Any], *shared: Any, cards: int = 0
) -> Iterator[tuple[int, Any]]:
    """Run ``work(item, *shared)`` for all items, some at a time, on one processor each.

    Yields place and result of each item, in any order. Lost tasks run again, elsewhere. ``work`` is
    a function of a module; references in ``shared`` are resolved there; ``cards`` are the GPUs of
    each item. LopsError: raised by the work, or a worker that is lost again and again.
    """
    # retry_exceptions stays off: what a row raises, it raises again.
    task = ray.remote(num_cpus=1, num_gpus=cards, max_retries=3)(as_command)
    waiting = iter(enumerate(items))
    running: dict[Any, int] = {}  # reference -> place
    most = _AHEAD * max(1, int(ray.cluster_resources().get("CPU", 1)))
    try:
        while True:
            for index, item in islice(waiting, most - len(running)):
                running[task.remote(work, item, *shared)] = index
            if not running:
                return
            (ready,), _ = ray.wait(list(running), num_returns=1)
            yield running.pop(ready), got(ray, ready)
    finally:
        for reference in running:
            ray.cancel(reference, force=False)
        if running:
            ray.wait(list(running), num_returns=len(running), timeout=10)
        for reference in running:  # errors that nobody asks for are printed
            with suppress(ray.exceptions.RayError):
                ray.get(reference, timeout=0)


def got(ray: Any, reference: Any) -> Any:
    """Return the value of a reference; errors of the work as they were raised."""
    try:
        return ray.get(reference)
    except ray.exceptions.RayTaskError as error:
        raise error.cause from None
    except ray.exceptions.RayError as error:
        reason = str(error).strip().splitlines()[0]
        raise LopsError(
            f"a worker was lost several times ({reason:.200}); give its node more memory, or cut "
            "the input into smaller files"
        ) from None
