"""One of two processes of a distributed training on CPUs: trains, looks, and writes what it
recorded.
"""

import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[0] = str(ROOT)  # for tests.integrations and the package beside it


def main(encoder, folder):
    from tests.integrations.test_huggingface import by_hand, make_trainer, watched

    trainer = make_trainer(
        encoder, folder / "run", num_train_epochs=2, save_strategy="epoch", ddp_backend="gloo"
    )
    record = watched(trainer)
    rank = int(os.environ["RANK"])
    record.save(folder / f"process{rank}.npz")
    if rank == 0:
        import numpy as np

        np.save(folder / "by_hand.npy", by_hand(trainer))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
