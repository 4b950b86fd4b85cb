"""As many threads as processors are free, so that a busy machine does not slow down further."""

import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from lops_adapters.surroundings import processors

_VARIABLE = "OMP_NUM_THREADS"


@contextmanager
def limited() -> Iterator[list[str]]:
    """Limit the threads of numerical libraries; yield a sentence about it, or none without limit.

    Threads of torch wait for each other in a loop, which costs most while other programs compute.
    Nothing is limited if OMP_NUM_THREADS is set, all processors are free, or the load is unknown
    (Windows).
    """
    every = processors()
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0
    threads = max(1, every - round(load))
    if os.environ.get(_VARIABLE) or threads == every:
        yield []
        return
    from threadpoolctl import threadpool_limits  # comes with scikit-learn

    with ExitStack() as stack:
        # Libraries that are loaded later read the variable; torch has its own number.
        os.environ[_VARIABLE] = str(threads)
        stack.callback(os.environ.pop, _VARIABLE, None)
        stack.enter_context(threadpool_limits(threads))
        if torch := sys.modules.get("torch"):
            stack.callback(torch.set_num_threads, torch.get_num_threads())
            torch.set_num_threads(threads)
        yield [
            f"Threads: {threads} of {every}, since the machine is busy (load {load:.1f}); "
            f"{_VARIABLE}=N sets another number."
        ]
