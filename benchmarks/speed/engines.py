"""``lops select`` on generated rows: in one process, and on Ray with 1 and 2 workers.

    python -m benchmarks.speed.engines --documents 1000000
    python -m benchmarks.speed.engines --documents 10000 --encoder minilm

With a transformer, every engine runs twice: the second run finds the vectors of the first.
All engines read the same Parquet file, one after the other. Memory is the peak of each process, as
the kernel counts it (Linux only); pages that processes share count in each of them. Processor time
is more telling than wall time on a machine that others use.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.record import command_line, write_result
from benchmarks.speed.generated import documents
from lops_adapters.formats.files import checksums

ENGINES = ("process", "ray-2", "ray-1")
_CHUNK = 500_000  # rows generated at once
_PAUSE = 1.0  # seconds between two looks at the processes
_WORKERS = """
import sys, ray
ray.init(address="local", num_cpus=int(sys.argv[1]), include_dashboard=False,
         log_to_driver=False, logging_level="ERROR")
from lops_adapters.cli.main import main
sys.exit(main(sys.argv[2:]))
"""
_STAGE = re.compile(r"^(\w+), [\d,]+ parts?, ([\d.]+) s", re.MULTILINE)


@dataclass(frozen=True)
class Generated:
    """What a result file says about the rows, which are too many to be held as a corpus."""

    rows: int
    checksum: str
    name: str = "generated"
    classes: tuple[str, ...] = ()
    seeds: Mapping[str, Any] = field(default_factory=dict)
    names: Mapping[str, Any] = field(default_factory=dict)

    def __len__(self) -> int:
        """The number of rows."""
        return self.rows


def write_rows(path: Path, rows: int) -> None:
    """Write generated rows into a Parquet file, in row groups of at most 50,000."""
    import pyarrow as pa
    from pyarrow import parquet

    schema = pa.schema([("text", pa.string()), ("label", pa.string())])
    with parquet.ParquetWriter(path, schema) as file:
        for seed, start in enumerate(range(0, rows, _CHUNK)):
            corpus, labels = documents(min(_CHUNK, rows - start), seed=seed)
            table = pa.table([list(corpus.texts), labels], schema=schema)
            file.write_table(table, row_group_size=min(50_000, max(1, rows // 20)))


def measured(engine: str, path: Path, probe_rows: int, encoder: str) -> dict[str, Any]:
    """Run the command with an engine and return its time, memory and result."""
    name, _, workers = engine.partition("-")
    output = path.parent / engine
    asked = ["select", str(path), "--text", "text", "--label", "label", "--encoder", encoder]
    asked += ["--engine", name, "--output", str(output), "--probe-rows", str(probe_rows)]
    how = ["-c", _WORKERS, workers] if workers else ["-m", "lops_adapters.cli.main"]
    start = time.perf_counter()
    with tempfile.TemporaryFile("w+") as errors:
        # Ray would give its workers less priority than other programs.
        surroundings = {**os.environ, "RAY_worker_niceness": "0"}
        surroundings["XDG_CACHE_HOME"] = str(path.parent / f"{engine}-cache")  # of vectors
        process = subprocess.Popen(
            [sys.executable, *how, *asked],
            stdout=subprocess.DEVNULL,
            stderr=errors,
            env=surroundings,
        )
        seen: dict[int, dict[str, Any]] = {}
        while process.poll() is None:
            look(process.pid, seen)
            time.sleep(_PAUSE)
        errors.seek(0)
        said = errors.read()
    if process.returncode:
        raise SystemExit(f"{engine} failed:\n{said}")
    page = json.loads((output / "summary.json").read_text(encoding="utf-8"))
    shutil.rmtree(output)  # as large as the input
    return {
        "seconds": time.perf_counter() - start,
        "processor_seconds": sum(one["processor_seconds"] for one in seen.values()),
        "peak_bytes": max(one["peak_bytes"] for one in seen.values()),
        "processes": sorted(seen.values(), key=lambda one: -one["peak_bytes"])[:8],
        "stages": {stage: float(seconds) for stage, seconds in _STAGE.findall(said)},
        "rows": page["n_rows"],
        "kept": page["n_kept"],
    }


def look(root: int, seen: dict[int, dict[str, Any]]) -> None:
    """Note name, peak memory and processor time of a process and all that it began."""
    parents: dict[int, int] = {}
    found: dict[int, dict[str, Any]] = {}
    for place in Path("/proc").glob("[0-9]*"):
        try:
            text = (place / "stat").read_text()
            status = (place / "status").read_text()
        except OSError:  # it has ended
            continue
        name, fields = text[text.index("(") + 1 : text.rindex(")")], text.rpartition(")")[2].split()
        peak = re.search(r"^VmHWM:\s+(\d+)", status, re.MULTILINE)
        parents[int(place.name)] = int(fields[1])
        ticks = int(fields[11]) + int(fields[12])
        found[int(place.name)] = {
            "name": name,
            "peak_bytes": int(peak[1]) * 1024 if peak else 0,
            "processor_seconds": ticks / os.sysconf("SC_CLK_TCK"),
        }
    family = {root}
    while more := {one for one, parent in parents.items() if parent in family} - family:
        family |= more
    for one in family & found.keys():
        before = seen.get(one, {"peak_bytes": 0, "processor_seconds": 0.0})
        for kind in before.keys() - {"name"}:  # a process that ends has no memory
            found[one][kind] = max(before[kind], found[one][kind])
        seen[one] = found[one]


def main() -> None:
    """Measure the engines at one size and write the result."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--documents", type=int, default=1_000_000)
    parser.add_argument("--probe-rows", type=int, default=300_000)
    parser.add_argument("--encoder", default="none")
    parser.add_argument("--engines", nargs="+", choices=ENGINES, default=ENGINES)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.parquet"
        write_rows(path, options.documents)
        load = os.getloadavg()[0]
        numbers: dict[str, Any] = {
            "documents": options.documents,
            "probe_rows": options.probe_rows,
            "encoder": options.encoder,
            "classifier": "LinearProbe",
            "file_bytes": path.stat().st_size,
            "load_before": load,
        }
        rows = Generated(options.documents, checksums([path])[str(path)])
        free = {"none": "engines", "static": "engines-static"}
        what = free.get(options.encoder, f"encoding-{Path(options.encoder).name}")
        name, command = f"speed/speed-{what}-{options.documents}", command_line("speed.engines")
        for engine in options.engines:  # written after each: a run on a busy machine takes hours
            run = partial(measured, engine, path, options.probe_rows, options.encoder)
            numbers[engine] = run()
            if options.encoder not in free:
                numbers[engine]["again"] = run()
            print(write_result(name, numbers, rows, command=command), flush=True)


if __name__ == "__main__":
    main()
