"""Random votes, sources, groups and checked rows: every row comes back once, or one sentence."""

import contextlib
import csv
import io
import json

from lops_adapters.cli import select as command
from lops_adapters.formats.cells import cell_text

from ..noisy import noisy_texts, read_table, write_table

HEADER = ["nr", "text", "a", "b", "c", "source", "group", "seen", "true"]
SUFFIXES = (".csv", ".tsv", ".jsonl", ".parquet")
TEXTS, WEAK, GOLD = noisy_texts(n=60, k=3)
ODD = ("", " ", "-1", "-", "unsure", "Class 0.", "=1+1", "class 3", "\ufeff", "a\nb", "x" * 300)
OF_JSON = (None, 1, 1.0, True, [1], {"a": 1}, 10**30, "\ud800", 0.5)
LABELS = (["--label", "a"], ["--labels", "a,b"], ["--labels", "a,b,c"], ["--labels", "?"],
          ["--label", "a", "--source", "source"])  # fmt: skip
OPTIONS = {
    "--group": ("group", "source", "nr"),
    "--checked-column": ("seen", "true"),
    "--checked": ("checked.csv",),
    "--classes": ("class 0,class 1,class 2", "class 0,class 1", "0,1", ""),
    "--abstain": ("class 2", "-1", ""),
    "--probe-rows": ("30", "45"),
    "--sure": ("0.5", "0.9", "1"),
    "--gold": ("true", "seen"),
    "--format": ("csv", "jsonl", "parquet"),
    "--seed": ("1", "4294967296"),
}
FLAGS = ("--per-class", "--escape-formulas")


def rows_of(draw, suffix):
    """60 rows at most, of votes with gaps and odd cells."""
    odd = ODD if suffix != ".jsonl" else (*ODD, *OF_JSON)
    share, constant = draw.choice((0, 0.02, 0.2)), draw.random() < 0.2
    rows = []
    for nr in range(draw.choice((0, 1, 11, 40, 60))):
        votes = [WEAK[nr], GOLD[nr], "class 1" if constant else draw.choice((GOLD[nr], ""))]
        votes = [draw.choice(odd) if draw.random() < share else vote for vote in votes]
        seen = draw.choice((GOLD[nr], "-", "class 9")) if draw.random() < share else ""
        group = draw.choice(odd) if draw.random() < share else f"g{nr // 4}"
        text = draw.choice(("", TEXTS[0], "\ud800" if suffix == ".jsonl" else "ö"))
        text = text if draw.random() < share else TEXTS[nr]
        rows.append([f"{nr:03d}", text, *votes, f"s{nr % 3}", group, seen, GOLD[nr]])
    return rows


def votes(draw, folder):
    """Run the command; if it ends well, every row is written once, as it was."""
    suffix = draw.choice(SUFFIXES)
    rows = rows_of(draw, suffix)
    if suffix == ".parquet":  # whose columns have one type
        rows = [[cell_text(cell) for cell in row] for row in rows]
    path = write_table(folder / f"t{suffix}", rows, HEADER)
    checks = [f"{draw.randrange(70)},{draw.choice((*ODD[:4], *GOLD[:3]))}" for _ in range(5)]
    (folder / "checked.csv").write_text("\n".join(["row,label", *checks]), encoding="utf-8")
    given = [str(path), "--text", "text", *draw.choice(LABELS), "--encoder", "none", "--quiet"]
    for name in draw.sample(sorted(OPTIONS), draw.randint(0, 3)):
        value = draw.choice(OPTIONS[name])
        given += [name, str(folder / value) if name == "--checked" else value]
    given += draw.sample(FLAGS, draw.randint(0, 2))
    with contextlib.redirect_stdout(io.StringIO()):
        command.main([*given, "--output", str(folder / "out")])
    check(given, rows, folder / "out")


def check(given, rows, out):
    """Raise an AssertionError about what was written, if it is not what was given."""
    parts = {}
    for part in ("kept", "rejected", "relabelled", "abstained"):
        for path in out.glob(f"{part}.*"):
            parts[part] = read_table(path)
    written = [row for part in ("kept", "rejected", "abstained") for row in parts.get(part, ())]
    if "--source" in given:  # the rows of a text are one row
        texts = {cell_text(row[1]).strip() for row in rows}
        rows = [row for row in rows if row[0] in {row["nr"] for row in written}]
        assert {cell_text(row[1]).strip() for row in rows} == texts, given
    assert sorted(row["nr"] for row in written) == sorted(row[0] for row in rows), given
    texts = {row[0]: cell_text(row[1]) for row in rows}
    for row in [*written, *parts["relabelled"]]:
        text = cell_text(row["text"])
        assert text in (texts[row["nr"]], f"'{texts[row['nr']]}"), (given, row)
    scored = [*parts["kept"], *parts["rejected"]]
    assert all(0 <= float(row["lops_confidence"]) <= 1 for row in scored), given
    assert {row["nr"] for row in parts["relabelled"]} <= {row["nr"] for row in parts["rejected"]}
    summary = json.loads((out / "summary.json").read_text(encoding="utf-8"))
    assert (summary["n_rows"], summary["n_kept"]) == (len(scored), len(parts["kept"])), given
    for path in out.glob("*.csv"):
        with path.open(encoding="utf-8-sig", newline="") as file:
            widths = {len(row) for row in csv.reader(file)}
        assert len(widths) == 1, (given, path)
