"""A distributed training on CPUs by two processes, forks of this one, which imports the libraries
once for both: each trains, looks, and writes what it recorded.
"""

import os
import sys
import traceback
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[0] = str(ROOT)  # for tests.integrations and the package beside it


def train(rank, encoder, folder):
    """Train as one of the processes."""
    import numpy as np

    from tests.integrations.test_huggingface import by_hand, make_trainer, watched

    os.environ.update(RANK=str(rank), LOCAL_RANK=str(rank))
    trainer = make_trainer(
        encoder, folder / "run", num_train_epochs=2, save_strategy="epoch", ddp_backend="gloo"
    )
    record = watched(trainer)
    record.save(folder / f"process{rank}.npz")
    if rank == 0:
        np.save(folder / "by_hand.npy", by_hand(trainer))


def start(rank, encoder, folder):
    """Start a process of the training and return its id."""
    child = os.fork()
    if child:
        return child
    status = 1
    try:
        train(rank, encoder, folder)
        status = 0
    except Exception:
        traceback.print_exc()
    os._exit(status)


if __name__ == "__main__":
    import tests.integrations.test_huggingface  # noqa: F401  (before the forks)

    children = [start(rank, *map(Path, sys.argv[1:])) for rank in range(2)]
    endings = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
    sys.exit(any(endings))
