"""How a table is written must not change what `lops select` decides: every format, quoting, line
end, column order and splitting, with the options that read more columns.
"""

import csv
from pathlib import Path

import pytest

from lops_adapters.cli import select
from lops_adapters.testing.data import noisy_texts

from ..noisy import read_table, write_table

pytestmark = [
    pytest.mark.slow,
    pytest.mark.usefixtures("here"),
    pytest.mark.filterwarnings("ignore::lops_adapters.core.LopsWarning"),
]
HEADER = ["nr", "text", "weak", "a", "b", "group", "right"]
OPTIONS = {
    "labels": "--label weak",
    "votes of groups": "--labels weak,a,b --group group --sure 0.8",
    "checked": "--label weak --checked-column right",
    "ranked": "--label weak --method learning-order --keep 0.5",
}


def table(n=90):
    """Rows under :data:`HEADER`, all strings; ten are checked."""
    texts, weak, gold = noisy_texts(n=n, k=3, noise=0.2)
    named = [[label.replace(" ", "_") for label in labels] for labels in (weak, gold)]
    return [
        [f"r{i}", f'{text}, "{i % 4}"', w, g if i % 3 else w, g if i % 2 else "",
         f"g{i % 20}", g if i % 9 == 0 else ""]
        for i, (text, w, g) in enumerate(zip(texts, *named, strict=True))
    ]  # fmt: skip


def write_csv(path, rows, header=HEADER, encoding="utf-8", **style):
    with path.open("w", encoding=encoding, newline="") as file:
        csv.writer(file, **style).writerows([header, *rows])
    return [path]


def in_parts(rows):
    return [*write_csv(Path("p1.csv"), rows[:40]), *write_csv(Path("p2.csv"), rows[40:])]


def more_columns(rows):
    return write_csv(
        Path("t.csv"), [["x,y", *row, "\n"] for row in rows], ["first", *HEADER, "last"]
    )


def more_rows(rows):
    return write_csv(Path("t.csv"), [*rows, *([f"u{i}", f"new {i}", *[""] * 5] for i in range(15))])


def without_trailing_line_end(rows):
    (path,) = write_csv(Path("t.csv"), rows)
    path.write_bytes(path.read_bytes().rstrip(b"\r\n"))
    return [path]


WRITTEN = {
    "rows in reverse": lambda rows: write_csv(Path("t.csv"), rows[::-1]),
    "columns in reverse": lambda rows: write_csv(
        Path("t.csv"), [row[::-1] for row in rows], HEADER[::-1]
    ),
    "more columns": more_columns,
    "rows without a label": more_rows,
    "all in quotes, line ends of Unix": lambda rows: write_csv(
        Path("t.csv"), rows, quoting=csv.QUOTE_ALL, lineterminator="\n"
    ),
    "no line end at the end": without_trailing_line_end,
    "a byte order mark": lambda rows: write_csv(Path("t.csv"), rows, encoding="utf-8-sig"),
    "two files": in_parts,
    **{
        suffix: lambda rows, suffix=suffix: [write_table(Path(f"t{suffix}"), rows, HEADER)]
        for suffix in (".csv.gz", ".tsv", ".jsonl", ".json", ".parquet", ".arrow")
    },
}


def decided(paths, options):
    """Return the numbers of the kept rows, and the confidences of all rows, rounded."""
    usual = "--text text --encoder none --quiet --force --output out --format jsonl"
    assert select.main([*map(str, paths), *usual.split(), *options.split()]) == 0
    kept, rejected = (read_table(Path("out", f"{part}.jsonl")) for part in ("kept", "rejected"))
    confidences = {row["nr"]: round(float(row["lops_confidence"]), 4) for row in kept + rejected}
    return {row["nr"] for row in kept}, confidences


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
def test_how_it_is_written_must_not_matter(options):
    rows, different = table(), []
    before = decided(write_csv(Path("t.csv"), rows), options)
    assert 0 < len(before[0]) < len(rows)
    for name, write in WRITTEN.items():
        if decided(write(rows), options) != before:
            different.append(name)
    assert not different
