"""Labels of every type reach every format; what cannot be written is said before the work."""

import datetime
import json

import pytest

from lops_adapters.cli import select as command
from lops_adapters.core import LopsError
from lops_adapters.formats import FORMATS
from lops_adapters.tables import fit

from ..noisy import noisy_texts, read_table

pytestmark = pytest.mark.usefixtures("here")
VALUES = {
    "float": [0.0, 1.0, 2.0],  # pandas makes floats of integers with gaps
    "int": [0, 1, 2],
    "bool": [False, True, True],
    "date": [datetime.date(2020, 1, day) for day in (1, 2, 3)],
    "string": ["a", "b", "c"],
}
IN_TEXT = {"float": "0 1 2", "int": "0 1 2", "bool": "0 1", "string": "a b c",
           "date": "2020-01-01 2020-01-02 2020-01-03"}  # fmt: skip
GIVEN = {"label": ["--label", "weak"], "source": ["--label", "weak", "--source", "source"],
         "labels": ["--labels", "weak,gold"]}  # fmt: skip
OPTIONS = ["--text", "text", "--quiet", "--encoder", "none"]


def write(values, missing=12):
    """A Parquet table of 120 rows whose labels have a type, every so manieth missing."""
    pa, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    texts, weak, gold = noisy_texts(k=3)
    columns = {"text": texts, "source": [f"s{i % 2}" for i in range(120)]}
    for name, labels in (("weak", weak), ("gold", gold)):
        coded = [values[int(label[-1])] for label in labels]
        columns[name] = [
            None if i % missing == missing - 1 else label for i, label in enumerate(coded)
        ]
    parquet.write_table(pa.table(columns), "a.parquet")
    return columns


def cached(select):
    """Return a function that selects once."""
    made = []

    def selected(*arguments, **more):
        made.extend([] if made else [select(*arguments, **more)])
        return made[0]

    return selected


@pytest.mark.parametrize(
    ("kind", "given"),
    [*((kind, "labels") for kind in VALUES), ("float", "source"), ("date", "source"),
     ("string", "label")],
)  # fmt: skip
def test_the_types_of_labels(here, kind, given, monkeypatch):
    """The last rejected label is a label of the table, or as text where there is no such type.

    One selection is written in both formats.
    """
    monkeypatch.setattr(fit, "select_labelled", cached(fit.select_labelled))
    write(VALUES[kind])
    for suffix in ("parquet", "csv"):
        command.main(["a.parquet", *OPTIONS, *GIVEN[given], "--format", suffix, "--force"])
        rows = [row for part in ("kept", "rejected", "relabelled", "abstained")
                for row in read_table(here / "a-lops" / f"{part}.{suffix}")]  # fmt: skip
        assert len(rows) >= 120
        own = [row["lops_label"] for row in rows if row.get("lops_label") is not None]
        typed = suffix == "parquet" and kind != "date"  # new columns hold these as text
        assert set(own) <= set(VALUES[kind] if typed else IN_TEXT[kind].split())
        assert (given == "label") == (not own)


def test_a_label_without_a_place_in_the_format_is_said_before_the_work(here, monkeypatch):
    write(VALUES["string"])
    monkeypatch.setattr(fit, "select_labelled", lambda *_, **__: pytest.fail("the work has begun"))

    def full(self, path, start, added, like, escape):
        raise LopsError("a label has no place here")

    monkeypatch.setattr(type(FORMATS["csv"]), "writer", full)
    for given in GIVEN.values():
        with pytest.raises(LopsError, match="a label has no place here"):
            command.main(["a.parquet", *OPTIONS, *given, "--format", "csv"])


@pytest.mark.parametrize("more", [[], ["--probe-rows", "90"]])
def test_a_source_that_always_says_a_class_that_no_row_ends_with(here, more, capsys):
    """Its class comes between the others, and has no rows."""
    columns = write(VALUES["string"], missing=10**6)
    rows = [f"{text},{weak},{gold},aa" for text, weak, gold in
            zip(columns["text"], columns["weak"], columns["gold"], strict=True)]  # fmt: skip
    (here / "v.csv").write_text("\n".join(["text,one,two,always", *rows]))
    more = [*more, "--labels", "one,two,always"]
    assert command.main(["v.csv", *OPTIONS, *more]) == 0
    labels = [row["lops_label"] for row in read_table(here / "v-lops" / "kept.csv")]
    assert set(labels) == {"a", "b", "c"}
    printed = capsys.readouterr().out.splitlines()
    counts = {line.split()[0]: int(line.split()[1]) for line in printed[2:5]}
    assert sum(counts.values()) == 120
    summary = json.loads((here / "v-lops" / "summary.json").read_text())
    classes = {row["label"]: row["count"] for row in summary["classes"]}
    assert classes == {**counts, "aa": 0}
