"""Random malformed input, the same for a seed: an answer or a LopsError, nothing else."""

import argparse
import contextlib
import gzip
import io
import itertools
import json
import random
import shutil
import signal
import sys
import tarfile
import tempfile
import time
import traceback
import warnings
from pathlib import Path

from lops_adapters.cli import select as command
from lops_adapters.core import RULES, LopsError, LopsWarning
from lops_adapters.datasets import load_dataset as load
from lops_adapters.datasets.safe_pickle import read_frame
from lops_adapters.formats.readers import open_table, rehearse
from lops_adapters.labels.columns import Columns
from lops_adapters.tables.survey import survey_of

from ..noisy import HEADER, noisy_rows, write_table
from .fuzz_votes import votes

SECONDS = 30  # of processor time for one case; ten times as long on the clock: others may be busy
FIXTURES = sorted((Path(__file__).parents[1] / "datasets" / "fixtures").glob("*.pkl"))
ROWS = noisy_rows(n=24)
SUFFIXES = (".csv", ".tsv", ".jsonl", ".parquet")
BITS = (b"\0", b"\r", b"\n", b'"', b"\xff", b"\xef\xbb\xbf", b"\\ud800", b"[[[[", b"1e999", b"\t,;")
CELLS = ("", "a\rb", '"', "\ufeff", "\ud800", None, True, 1, 1.0, float("nan"), 10**400, [1], {})
LAYOUTS = {
    "xclass": {"dataset.txt": "a b\nc d\n", "classes.txt": "x\ny\n", "labels.txt": "0\n1\n"},
    "westclass": {"dataset.csv": '1,"a b"\n2,c\n', "classes.txt": "0:x\n1:y\n"},
    "lotclass": {
        "train.txt": "a\nb\n",
        "label_names.txt": "x\ny z\n",
        "train_labels.txt": "0\n1\n",
    },
    "seeds": {"a.csv": "text,label\na,x\nb,y\n", "seeds.json": '{"x": ["a"], "y": ["b"]}'},
}


def damaged(draw, content):
    """Bytes with a few changes: flipped, cut, repeated or inserted."""
    content = bytearray(content)
    for _ in range(draw.randint(0, 4)):
        place = draw.randrange(len(content) + 1)
        kind = draw.randrange(4)
        if kind == 0 and place < len(content):
            content[place] = draw.randrange(256)
        elif kind == 1:
            content[place:place] = draw.choice(BITS)
        elif kind == 2:
            del content[place : place + draw.choice((1, 5, 10**6))]
        else:
            content[place:place] = content[place : place + 50] * draw.choice((1, 100))
    return bytes(content)


def table(draw, folder):
    """A damaged table, or one with odd cells."""
    suffix = draw.choice(SUFFIXES)
    rows = [list(row) for row in ROWS]
    path = folder / f"a{suffix}"
    if draw.random() < 0.5 and suffix == ".jsonl":
        for _ in range(draw.randint(1, 5)):
            draw.choice(rows)[draw.randrange(4)] = draw.choice(CELLS)
        lines = [json.dumps(dict(zip(HEADER, row, strict=True))) for row in rows]
        path.write_text("\n".join(lines))
        return path
    write_table(path, rows)
    path.write_bytes(damaged(draw, path.read_bytes()))
    return path


def tables(draw, folder):
    path = table(draw, folder)
    with contextlib.suppress(LopsError):
        load(path, text_column="text", label_column=draw.choice(("weak", "true", None)), quiet=True)
    if path.suffix != ".parquet" and draw.random() < 0.2:
        press = gzip.compress(path.read_bytes(), mtime=0)
        path = path.with_name(f"{path.name}.gz")
        path.write_bytes(damaged(draw, press) if draw.random() < 0.5 else press)
    found = open_table([path], encoding=draw.choice(("utf-8", "latin-1", "utf-16")), quiet=True)
    wanted = Columns(
        draw.choice(("text", None)),
        draw.choice(("weak", None)),
        draw.choice(("true", None)),
        None,
        draw.choice((None, ("class 0",), ("",))),
        draw.choice(("nr", "true", None)),
        draw.choice((("weak",), ("weak", "nr"), ())),
    )
    wanted.check(found)
    survey = survey_of(found, wanted)
    survey.sample(survey.classes())
    rehearse(found, draw.choice(("csv", "tsv", "jsonl", "parquet")), ["n"])


def pickles(draw, folder):
    path = folder / "df.pkl"
    content = draw.choice(FIXTURES).read_bytes()
    if draw.random() < 0.2:
        other = draw.choice(FIXTURES).read_bytes()
        content = content[: draw.randrange(len(content))] + other[draw.randrange(len(other)) :]
    path.write_bytes(damaged(draw, content))
    for cells in read_frame(path).values():
        assert all(cell is None or type(cell) in (str, int, float, bool) for cell in cells)


def folders(draw, folder):
    for name, text in LAYOUTS[draw.choice(sorted(LAYOUTS))].items():
        kind = draw.random()
        if kind < 0.1:
            (folder / name).symlink_to(folder / "nowhere")
        elif kind < 0.15:
            (folder / name).mkdir()
        elif kind < 0.95:
            (folder / name).write_bytes(damaged(draw, text.encode()))
    load(folder, quiet=True)


def archives(draw, folder):
    path = folder / "20news-bydate.tar.gz"
    with tarfile.open(path, draw.choice(("w:gz", "w"))) as file:
        for number in range(3):
            member = tarfile.TarInfo(f"20news-bydate-train/sci.space/{number}")
            member.size = 600
            file.addfile(member, io.BytesIO(b"x" * 600))
    path.write_bytes(damaged(draw, path.read_bytes()))
    load(path, quiet=True)


def commands(draw, folder):
    path = table(draw, folder)
    given = [
        str(path), "--text", "text", "--label", "weak", "--probe", "linear", "--encoder", "none",
        "--quiet",
    ]  # fmt: skip
    options = {
        "--keep": ("0.5", "auto", "-1", "nan", "x"),
        "--method": ("margin", "learning-order", *RULES, "none"),
        "--format": ("csv", "jsonl", "parquet", "xlsx"),
        "--encoding": ("utf-8", "latin-1", "hex"),
        "--delimiter": (",", "tab", "", '"'),
        "--gold": ("true", "text", "weak", "none"),
        "--id": ("nr", "none"),
        "--corrected": (str(folder / "k.csv"), str(folder / "out" / "k.csv"), str(path)),
        "--seed": ("0", "-1", "x"),
    }
    for name in draw.sample(sorted(options), draw.randint(0, 3)):
        given += [name, draw.choice(options[name])]
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        command.main([*given, "--output", str(folder / "out")])


# Per cent of the cases: few of the slow ones, so that many fit into the tests of every change.
KINDS = {
    kind.__name__: (kind, share)
    for kind, share in (
        (tables, 50), (folders, 20), (archives, 14), (pickles, 10), (commands, 4), (votes, 2),
    )
}  # fmt: skip


def _late(*_):
    raise TimeoutError(f"more than {SECONDS} seconds of processor time, or {10 * SECONDS} seconds")


def case(seed, number, folder):
    """Run one case; return its kind and None, or the traceback of anything but a LopsError."""
    draw = random.Random(f"{seed} {number}")
    (kind,) = draw.choices(list(KINDS), [share for _, share in KINDS.values()])
    for each in (signal.SIGPROF, signal.SIGALRM):
        signal.signal(each, _late)
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    signal.alarm(10 * SECONDS)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", LopsWarning)
            KINDS[kind][0](draw, folder)
    except (LopsError, SystemExit):
        pass
    except Exception:  # what is looked for
        return kind, traceback.format_exc()
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.alarm(0)
    return kind, None


def run(cases, seed=0, first=0):
    """Return (number, kind, traceback) of every case that failed."""
    found = []
    for number in itertools.islice(itertools.count(first), cases):
        folder = Path(tempfile.mkdtemp(prefix="fuzz-"))
        try:
            kind, failure = case(seed, number, folder)
        finally:
            shutil.rmtree(folder)
        if failure is not None:
            found.append((number, kind, failure))
    return found


def main():
    parser = argparse.ArgumentParser(prog="python -m tests.robustness", description=__doc__)
    parser.add_argument("--cases", type=int, default=1000, metavar="N")
    parser.add_argument("--seed", type=int, default=0, metavar="S")
    parser.add_argument(
        "--first", type=int, default=0, metavar="I", help="number of the first case"
    )
    parser.add_argument(
        "--kills", type=int, metavar="K", help="kill commands at K random moments instead"
    )
    options = parser.parse_args()
    if options.kills is not None:
        from .random_kills import report

        return report(options.kills, options.seed)
    import resource

    start = time.perf_counter()
    found = run(options.cases, options.seed, options.first)
    for number, kind, failure in found:
        sys.stdout.write(f"case {number}, {kind}:\n{failure}\n")
    megabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    sys.stdout.write(
        f"{options.cases} cases, {len(found)} failures, {time.perf_counter() - start:.0f} s, "
        f"{megabytes} MB at most\n"
    )
    return bool(found)
