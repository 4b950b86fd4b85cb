"""Files as people have them: no row is lost, and no cell is quietly misread."""

import csv
import json
from itertools import cycle
from pathlib import Path

import pytest

from lops_adapters.cli import apply, select
from lops_adapters.core import LopsError
from lops_adapters.formats.readers import open_table
from lops_adapters.labels.columns import Columns
from lops_adapters.tables.survey import survey_of

from ..noisy import noisy_texts, read_table, write_table

pytestmark = [
    pytest.mark.usefixtures("here"),
    pytest.mark.filterwarnings("ignore::lops_adapters.core.LopsWarning"),
]
TEXTS, LABELS, GOLD = noisy_texts(n=90, k=3)
NAMES = ("class 0", "class 1", "class 2")
OPTIONS = ["--text", "text", "--encoder", "none", "--quiet", "--force", "--output", "out"]


def table(name, **columns):
    """A table of the texts and further columns."""
    columns = {"text": TEXTS, **columns}
    return write_table(
        Path(name), [list(row) for row in zip(*columns.values(), strict=True)], [*columns]
    )


def run(*arguments, capsys=None):
    select.main([*map(str, arguments), *OPTIONS])
    return "" if capsys is None else capsys.readouterr().out


def counts(folder="out", suffix="csv"):
    """Rows that are kept or rejected, and rows without a label."""
    sizes = {
        part: len(read_table(path))
        for part in ("kept", "rejected", "abstained")
        if (path := Path(folder, f"{part}.{suffix}")).exists()
    }
    return sizes["kept"] + sizes["rejected"], sizes.get("abstained", 0)


def surveyed(path, label="label", **options):
    """Rows with a label, and rows without one, as a first reading of the table counts them."""
    keep_na = options.pop("keep_na", False)
    table = open_table([Path(path)], quiet=True, keep_na=keep_na)
    survey = survey_of(table, Columns("text", label, **options))
    labelled = sum(survey.classes().rows.values())
    return labelled, survey.tally.rows - labelled


def codes(minus, form):
    """The labels as numbers, spelt by ``form``; every third is ``minus``."""
    return [minus if i % 3 == 0 else form(int(label[-1])) for i, label in enumerate(LABELS)]


@pytest.mark.parametrize(
    ("suffix", "labels", "abstain"),
    [
        (".csv", codes("-1.0", lambda n: f"{n}.0"), None),
        (".csv", codes("-1", str), ["-1.0"]),
        (
            ".tsv",
            ["" if i == 1 else x for i, x in enumerate(codes("-1.0", lambda n: f"{n}.0"))],
            ["-1"],
        ),
        (".jsonl", codes(-1.0, float), ["-1"]),
        (".jsonl", codes(-1, int), ["-1.0"]),
        (".parquet", codes(-1.0, float), None),
    ],
)
def test_minus_one_is_no_label_in_any_spelling(suffix, labels, abstain):
    gone = 30 + labels.count("")
    assert surveyed(table(f"t{suffix}", label=labels), abstain=abstain) == (90 - gone, gone)


def test_minus_one_is_no_vote_in_any_spelling(capsys):
    votes = codes("-1.0", lambda n: f"{n}.0")
    said = run(table("t.csv", a=votes, b=[*votes[1:], ""]), "--labels", "a,b", capsys=capsys)
    assert {row["lops_label"] for row in read_table(Path("out/kept.csv"))} == {"0.0", "1.0", "2.0"}
    assert counts()[0] == sum(
        one != "-1.0" or other not in ("-1.0", "")
        for one, other in zip(votes, [*votes[1:], ""], strict=True)
    )
    assert "Without a vote" not in said
    assert "-1.0" not in said


WORDS = ["NULL", "NaN", "None", "N/A", "null", "NA"]


def with_words():
    words = cycle(WORDS)
    return [next(words) if i % 5 == 0 else label for i, label in enumerate(LABELS)]


def test_words_for_a_missing_value_are_no_label(capsys):
    """As pandas and R read them; the cells stay as they are."""
    path = table("t.csv", label=with_words())
    said = run(path, "--label", "label", capsys=capsys)
    assert "Problem: Read as no label: N/A (3), NA (3), NULL (3), NaN (3), None (3) and 1" in said
    assert counts() == (72, 18)
    assert {row["label"] for row in read_table(Path("out/abstained.csv"))} == set(WORDS)
    said = run(path, "--label", "label", "--keep-na", capsys=capsys)
    assert counts() == (90, 0)
    assert "NULL (3)" in said


def test_words_in_a_file_with_tabs():
    path = table("t.tsv", label=with_words())
    assert surveyed(path) == (72, 18)
    assert surveyed(path, keep_na=True) == (90, 0)


def test_words_in_quotes_are_classes():
    with open("t.csv", "w", encoding="utf-8", newline="") as file:
        rows = zip(TEXTS, with_words(), strict=True)
        csv.writer(file, quoting=csv.QUOTE_ALL).writerows([("text", "label"), *rows])
    assert surveyed("t.csv") == (90, 0)


def test_words_in_a_spreadsheet():
    assert surveyed(table("t.xlsx", label=with_words())) == (72, 18)


@pytest.mark.parametrize("form", [str.upper, lambda label: label[-1], lambda label: f"{label}."])
def test_gold_labels_of_another_vocabulary(form):
    path = table("t.csv", label=LABELS, gold=[form(label) for label in GOLD])
    message = r"the gold labels in column 'gold' are .*, and the classes are 'class 0', 'class 1'"
    with pytest.raises(LopsError, match=message):
        run(path, "--label", "label", "--gold", "gold")


@pytest.mark.parametrize("suffix", [".jsonl", ".parquet"])
def test_a_list_of_one_label_is_the_label(suffix):
    labels = [[] if i == 0 else [label] for i, label in enumerate(LABELS)]
    records = [{"text": t, "accept": label} for t, label in zip(TEXTS, labels, strict=True)]
    if suffix == ".jsonl":
        with open("t.jsonl", "w", encoding="utf-8") as file:
            file.writelines(json.dumps(record) + "\n" for record in records)
    else:
        pa = pytest.importorskip("pyarrow")
        from pyarrow import parquet

        parquet.write_table(pa.Table.from_pylist(records), "t.parquet")
    run(f"t{suffix}", "--label", "accept", "--relabel", "0.01")
    assert counts(suffix=suffix[1:]) == (89, 1)
    relabelled = read_table(Path(f"out/relabelled{suffix}"))
    assert relabelled
    assert all(row["accept"] in [[name] for name in NAMES] for row in relabelled)
    assert all(row["lops_given"] in NAMES for row in relabelled)
    Path("c.csv").write_text("row,label\n3,new\n", encoding="utf-8")
    apply.main(["c.csv", f"t{suffix}", "--label", "accept", "--output", f"new{suffix}"])
    found = [row["accept"] for row in read_table(Path(f"new{suffix}"))]
    assert found == [*labels[:2], ["new"], *labels[3:]]


@pytest.mark.parametrize("label", ["['a', 'b']", '{"choices": ["a", "b"]}', '["a"]'])
def test_lists_in_text_hold_several_classes(label):
    path = table("t.csv", label=[label, *LABELS[1:]])
    with pytest.raises(LopsError, match=r"line 2: the label .* is a list or an object, which"):
        run(path, "--label", "label")


def test_joined_labels_are_named(capsys):
    path = table("t.csv", label=["class 0#class 1", *LABELS[1:]])
    said = run(path, "--label", "label", capsys=capsys)
    assert "Problem: Labels that hold several classes: 'class 0#class 1' (1)." in said


@pytest.mark.parametrize(
    ("labels", "given", "expected"),
    [
        (["2.0", "4.0"], "2", "2.0"),
        (["True", "False"], "TRUE", "True"),
        (["04", "05"], "4", "04"),
        (["a", "b"], " B", "b"),
        (["1.50", "2"], "1.5", "1.50"),
    ],
)
def test_spellings_of_a_spreadsheet(labels, given, expected, capsys):
    """Corrections and checked rows take the spelling of the table."""
    Path("t.csv").write_text(
        "text,label\n" + "".join(f"x,{label}\n" for label in [*labels, labels[1]]), encoding="utf-8"
    )
    Path("c.csv").write_text(f"row,label\n3,{given}\n", encoding="utf-8")
    apply.main(["c.csv", "t.csv", "--output", "out.csv", "--force"])
    assert read_table(Path("out.csv"))[2]["label"] == expected
    assert "New classes" not in capsys.readouterr().out


def test_two_spellings_are_asked_about():
    Path("t.csv").write_text("text,label\nx,2.0\nx,02\n", encoding="utf-8")
    Path("c.csv").write_text("row,label\n1,2\n", encoding="utf-8")
    with pytest.raises(LopsError, match=r"the label is '2', and the table has '02', '2.0';"):
        apply.main(["c.csv", "t.csv", "--output", "out.csv"])


def test_unused_columns_need_no_names():
    """As in the file of SMS messages that many know; also with delimiters at the end of rows."""
    rows = "".join(f'{label},"{text}",,,\n' for text, label in zip(TEXTS, LABELS, strict=True))
    Path("t.csv").write_text(f"v1,text,,,\n{rows}", encoding="utf-8")
    run("t.csv", "--label", "v1")
    assert counts() == (90, 0)
    with open("out/kept.csv", encoding="utf-8", newline="") as file:
        header, first, *_ = csv.reader(file)
    assert header[:5] == ["v1", "text", "", "", ""]
    assert first[2:5] == ["", "", ""]
    with pytest.raises(LopsError, match=r"3 columns are named '', and jsonl needs different names"):
        run("t.csv", "--label", "v1", "--format", "jsonl")
    Path("t.csv").write_text(f"v1,text\n{rows}", encoding="utf-8")
    assert surveyed("t.csv", label="v1") == (90, 0)
    Path("t.csv").write_text(f"v1,text,,\n{rows.replace(',,,', '')}", encoding="utf-8")
    assert surveyed("t.csv", label="v1") == (90, 0)


def test_ids_of_classes_in_parquet(capsys):
    """As Hugging Face's datasets write them: shown and corrected by name, written as ids."""
    datasets = pytest.importorskip("datasets")
    names = ["zero", "one", "two"]
    codes = [-1 if i == 0 else int(label[-1]) for i, label in enumerate(LABELS)]
    features = {"text": datasets.Value("string"), "label": datasets.ClassLabel(names=names)}
    datasets.Dataset.from_dict(
        {"text": TEXTS, "label": codes}, features=datasets.Features(features)
    ).to_parquet("t.parquet")
    said = run("t.parquet", "--label", "label", "--relabel", "0.01", capsys=capsys)
    assert [line.split()[0] for line in said.splitlines()[2:5]] == ["one", "two", "zero"]
    assert counts(suffix="parquet") == (89, 1)
    row = read_table(Path("out/relabelled.parquet"))[0]
    assert names[row["label"]] == row["lops_suggested"] != row["lops_given"]
    again = datasets.Dataset.from_parquet("out/kept.parquet")
    assert again.features["label"].names == names
    Path("c.csv").write_text("row,label\n2,Two\n", encoding="utf-8")
    apply.main(["c.csv", "t.parquet", "--output", "new.parquet"])
    found = [row["label"] for row in read_table(Path("new.parquet"))]
    assert found == [codes[0], 2, *codes[2:]]
    Path("c.csv").write_text("row,label\n2,four\n", encoding="utf-8")
    with pytest.raises(LopsError, match="'four' is no class of the column 'label'"):
        apply.main(["c.csv", "t.parquet", "--output", "other.parquet"])


def test_no_row_group_is_empty():
    parquet = pytest.importorskip("pyarrow.parquet")
    run(table("t.parquet", label=LABELS), "--label", "label")
    for part in ("kept", "rejected", "relabelled"):
        about = parquet.read_metadata(f"out/{part}.parquet")
        assert all(about.row_group(i).num_rows for i in range(about.num_row_groups))
