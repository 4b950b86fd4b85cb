"""What an encoder costs: texts per second on one and two threads, disk and memory.

    python -m benchmarks.encoder_costs --data-dir DIR

Each encoder is measured in processes of its own, on texts of AG News; an encoder with a result file
is skipped. Seconds are those of the processor, shared out over the threads, which sleep while they
wait: other work on the machine hardly counts, and two threads are at most as fast as said.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from benchmarks.record import RESULTS, command_line, write_result
from lops_adapters import shipped
from lops_adapters.datasets import Corpus, load_dataset
from lops_adapters.encoders import pretrained
from lops_adapters.encoders.static import FOLDER, STATIC

THREADS = (1, 2)
_REPEATS = 2
_SLEEPING = {"OMP_WAIT_POLICY": "PASSIVE", "GOMP_SPINCOUNT": "0", "KMP_BLOCKTIME": "0"}
_WEIGHTS = (".npy", ".safetensors", ".bin")
# How many texts: enough for a second at least.
TEXTS = {"static": 7600, "minilm": 256, "all-mpnet-base-v2": 128}
_PROGRAM = """
import json, resource, sys, time
import numpy as np
from lops_adapters.encoders.static import static_vectors
from lops_adapters.encoders.text_vectors import TextEncoder
texts, encoder = json.load(sys.stdin), sys.argv[1]
encode = static_vectors if encoder == "static" else TextEncoder(encoder, device="cpu").encode
encode(["a text", "another"])  # loads tables and weights
start = time.process_time()
encode(texts)
spent = time.process_time() - start
print(json.dumps([spent, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024]))
"""


def measured(encoder: str, texts: list[str]) -> dict[str, Any]:
    """Return texts per second by number of threads, and peak bytes of the process.

    Args:
        encoder: ``static``, ``minilm`` or a folder.
        texts: what is encoded; the best of a few repeats counts.

    """
    rates, peaks = {}, []
    for threads in THREADS[:1] if encoder == STATIC else THREADS:  # the table uses one
        runs = [_run(encoder, texts, threads) for _ in range(_REPEATS)]
        rates[str(threads)] = len(texts) * threads / min(seconds for seconds, _ in runs)
        peaks += [peak for _, peak in runs]
    return {"texts": len(texts), "texts_per_second": rates, "peak_bytes": max(peaks)}


def _run(encoder: str, texts: list[str], threads: int) -> tuple[float, int]:
    environment = {**os.environ, **_SLEEPING, "OMP_NUM_THREADS": str(threads)}
    done = subprocess.run(
        [sys.executable, "-c", _PROGRAM, encoder],
        input=json.dumps(texts),
        stdout=subprocess.PIPE,
        env=environment,
        encoding="utf-8",
        check=True,
    )
    seconds, peak = json.loads(done.stdout.splitlines()[-1])
    return seconds, peak


def size_on_disk(encoder: str) -> int:
    """Return the bytes of an encoder's weights."""
    folder = shipped.HERE / FOLDER if encoder == STATIC else Path(pretrained.locate(encoder))
    files = (path for path in folder.iterdir() if path.suffix in _WEIGHTS)
    return sum(path.stat().st_size for path in files)


def main() -> None:
    """Measure the encoders that have no result yet."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data-dir", type=Path, required=True)
    options = parser.parse_args()
    every = load_dataset("agnews", data_dir=str(options.data_dir), quiet=True).corpus
    for name, count in TEXTS.items():
        if (RESULTS / "encoder-costs" / f"{name}.json").exists():
            continue
        folder = options.data_dir / name
        encoder = str(folder) if folder.is_dir() else name
        texts = list(every.texts[:: len(every.texts) // count][:count])
        result = {**measured(encoder, texts), "bytes": size_on_disk(encoder)}
        print(name, result, flush=True)
        corpus = Corpus("agnews", tuple(every.ids[:count]), tuple(texts), every.classes)
        write_result(f"encoder-costs/{name}", result, corpus, command=command_line("encoder_costs"))


if __name__ == "__main__":
    main()
