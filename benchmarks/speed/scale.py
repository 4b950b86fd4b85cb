"""Speed and memory of selection at scale, on short generated documents.

    python -m benchmarks.speed.scale --probe linear --documents 1000000

Measure one size per process: the peak memory is the process's own.
"""

from __future__ import annotations

import argparse
import resource
import sys
import time
from typing import Any

from benchmarks.record import command_line, write_result
from benchmarks.speed.generated import documents
from benchmarks.speed.probes import probe_called
from lops_adapters.probes import Probe
from lops_adapters.selection import build


def peak_bytes() -> int:
    """Return the peak memory of this process so far."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def measured(method: str, probe: Probe, texts: Any, labels: list[str]) -> dict[str, Any]:
    """Select once and return its cost."""
    start = time.perf_counter()
    selection = build(method, probe)(texts, labels)
    seconds = time.perf_counter() - start
    return {
        "seconds": seconds,
        "documents_per_second": len(labels) / seconds,
        "kept": len(selection.kept),
        "stopped": selection.stopped,
    }


def main() -> None:
    """Measure one probe at one size and write the result."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--probe", default="linear", help="linear, minilm, a hub name or a folder (default: linear)"
    )
    parser.add_argument("--documents", type=int, default=10_000)
    parser.add_argument("--device", default="auto")
    options = parser.parse_args()
    corpus, labels = documents(options.documents)
    before = peak_bytes()
    probe, device = probe_called(options.probe, options.device)
    lops = measured("released", probe, corpus.texts, labels)  # stops when the rule has seen enough
    result = {
        "probe": options.probe,
        "classifier": options.probe,
        "lops": lops,
        "peak_bytes": peak_bytes(),
        "texts_bytes": before,
    }
    if probe.kind == "linear":
        # watches the whole training
        result["margin"] = measured("margin", probe, corpus.texts, labels)
        result["peak_bytes"] = peak_bytes()
    name = f"speed/speed-scale-{options.probe.replace('/', '-')}-{options.documents}"
    print(write_result(name, result, corpus, device=device, command=command_line("speed.scale")))


if __name__ == "__main__":
    main()
