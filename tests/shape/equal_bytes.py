"""Whether a change of shape changes a byte: what many commands print and write, before and after.

    python -m tests.shape.equal_bytes record FOLDER     # in the checkout of before
    python -m tests.shape.equal_bytes compare FOLDER    # in the changed checkout

Tables, cases and the demo corpus are read from ``LOPS_DATA``, without it only the demo corpus.
Versions, commits, devices and times are left out.
"""

import csv
import gzip
import hashlib
import io
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from tqdm import tqdm

HERE = Path(__file__).resolve().parents[2]
ROWS = 300  # of a table; a method decides on all of its rows
VOLATILE = re.compile(
    r'"(?:[a-z_]*seconds|(?:git_)?commit|edited|python|platform|date|started|finished)": [^,}\n]*'
    r"|\d+(?:\.\d+)? (?:s|seconds|minutes)\b"
)
METHODS = (
    "learning-order", "released", "algorithm1", "stop-and-take-all", "ranked", "probability",
    "entropy", "mc-dropout", "o2u-net", "stability", "margin", "confident-learning", "automatic",
    "committee", "no-such-method",
)  # fmt: skip
OPTIONS = (
    ["--keep", "0.3"], ["--keep", "0.5", "--method", "learning-order", "--per-class"],
    ["--keep", "2"], ["--sure", "0.9"], ["--sure", "-1"], ["--seed", "3"], ["--seed", "-3"],
    ["--encoder", "none"], ["--analyzer", "char"], ["--every", "40", "--method", "learning-order"],
    ["--probe-rows", "100"], ["--relabel", "0.9"], ["--classes", "sports"], ["--abstain", "sports"],
    ["--escape-formulas"], ["--format", "jsonl"], ["--label", "nothing"], ["--text", "nothing"],
    ["--gold", "gold"], ["--id", "id"], ["--group", "gold"], ["--verbose"], ["--quiet"],
    ["--words", "first/words.json"], ["--corrected", "corrected.csv"], ["--keep", "auto"],
    ["--checked", "first/selection/to_check.csv", "--checked-column", "gold"],
)  # fmt: skip


def tables(data: Path) -> Iterator[tuple[str, bytes]]:
    """Yield name and content of every table, its first rows."""
    folders = [data / "real-noise", data / "fresh-noise"]
    for path in sorted(path for folder in folders for path in folder.glob("*.csv*")):
        text = (gzip.open if path.suffix == ".gz" else open)(
            path, "rt", encoding="utf-8", newline=""
        )
        with text as file:
            rows = [row for row, _ in zip(csv.reader(file), range(ROWS + 1), strict=False)]
        if "label" in rows[0] and "test" not in path.name:
            written = io.StringIO(newline="")
            csv.writer(written).writerows(rows)
            yield path.name.partition(".")[0] + ".csv", written.getvalue().encode()


def commands(folder: Path, data: Path | None) -> Iterator[list[str]]:
    """Write the inputs into a folder and yield the commands, run there one after the other."""
    select = ["select", "first/labels.csv", "--text", "text", "--label", "weak"]
    yield ["demo", "--output", "first"]
    for method in METHODS:
        yield [*select, "--method", method, "--output", f"method-{method}"]
    for number, options in enumerate(OPTIONS):
        yield [*select, *options, "--output", f"options-{number}"]
    if data is None:
        return
    for name, content in tables(data):
        (folder / name).write_bytes(content)
        header = content.decode().splitlines()[0].split(",")
        sources = [column for column in header if column not in ("text", "label", "gold")]
        out = name.removesuffix(".csv")
        yield [
            "select",
            name,
            "--text",
            "text",
            "--label",
            "label",
            "--gold",
            "gold",
            "--output",
            out,
        ]
        checked = [f"{out}/to_check.csv", "--checked-column", "gold"]
        if len(sources) > 1:
            votes = ["--text", "text", "--labels", ",".join(sources[:40])]
            yield ["select", name, *votes, "--output", f"{out}-votes"]
            yield ["agree", name, *votes]
        yield ["select", name, "--text", "text", "--label", "label", "--checked", *checked,
               "--output", f"{out}-checked"]  # fmt: skip
        yield [
            "apply",
            f"{out}/to_check.csv",
            name,
            "--label",
            "label",
            "--output",
            f"{out}.new.csv",
        ]
    cases = data.parent / "cases"
    for path in sorted(cases.glob("case-*.*")):
        (folder / path.name).write_bytes(path.read_bytes())
        yield ["select", path.name, "--text", "text", "--label", "label", "--output", path.stem]


def run(command: list[str], folder: Path) -> dict[str, str]:
    """Return what a command prints, its status, and a hash of each file that it writes."""
    before = {path: path.stat().st_mtime_ns for path in folder.rglob("*") if path.is_file()}
    environment = {
        **os.environ, "PYTHONPATH": str(HERE), "OMP_NUM_THREADS": "1", "COLUMNS": "100",
        "XDG_CACHE_HOME": str(folder.parent / "cache"),
    }  # fmt: skip
    program = [sys.executable, "-m", "lops_adapters.cli.main", *command]
    done = subprocess.run(
        program, check=False, cwd=folder, env=environment, capture_output=True, text=True
    )
    said = {"status": str(done.returncode), "out": done.stdout, "error": done.stderr}
    for path in sorted(folder.rglob("*")):
        if path.is_file() and before.get(path) != path.stat().st_mtime_ns:
            content = path.read_bytes().decode("utf-8", "surrogateescape")
            content = VOLATILE.sub("", content)
            if path.suffix == ".json":
                content = sorted_keys(content)
            digest = hashlib.sha256(content.encode("utf-8", "surrogateescape"))
            said[path.relative_to(folder).as_posix()] = digest.hexdigest()
    return {key: VOLATILE.sub("", value) for key, value in said.items()}


def sorted_keys(content: str) -> str:
    """Return JSON with its keys in order; the lines, where volatile values are cut out of it."""
    try:
        return json.dumps(json.loads(content), sort_keys=True)
    except ValueError:
        return "\n".join(sorted(line.strip(" ,") for line in content.splitlines()))


def main(arguments: list[str]) -> int:
    """Record, or compare and print what differs; 1 if something does."""
    action, record = arguments[0], Path(arguments[1])
    data = os.environ.get("LOPS_DATA")
    differ = 0
    record.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as top:
        folder = Path(top) / "work"  # the same name in both checkouts, since outputs name it
        folder.mkdir()
        every = list(commands(folder, None if data is None else Path(data)))
        for number, command in enumerate(tqdm(every)):
            said = json.dumps(run(command, folder), indent=1).replace(top, "")
            file = record / f"{number:03d}.json"
            if action == "record":
                file.write_text(json.dumps({"command": command}) + "\n" + said, encoding="utf-8")
            elif file.read_text(encoding="utf-8").partition("\n")[2] != said:
                differ += 1
                tqdm.write(f"differs: lops {' '.join(command)}")
                (record / f"{number:03d}.new.json").write_text(said, encoding="utf-8")
    sys.stdout.write(f"{len(every)} commands, {differ} differ\n")
    return int(differ > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
