"""Equal doors: lists, and tables of every format, long or wide, in any order, say the same."""

import json
import random

import pytest

import lops_adapters
from lops_adapters.cli import agree as agree_command
from lops_adapters.cli import select as select_command
from lops_adapters.texts.agree import agree

from ..noisy import noisy_texts, read_table, write_table

pytestmark = pytest.mark.usefixtures("here")
SUFFIXES = (".csv", ".jsonl", ".parquet", ".xlsx")
NAMES = ["ann", "ben", "eve"]


def votes_of(gold, seed=0, blank=0.15):
    """Votes of three sources, some missing, as name -> votes; rows may have none."""
    draw, classes = random.Random(seed), sorted(set(gold))
    votes = {name: [] for name in NAMES}
    for column in votes.values():
        for label in gold:
            vote = draw.choice([label, label, label, *classes])
            column.append(None if draw.random() < blank else vote)
    return votes


def labels_of(n, seed=0):
    draw = random.Random(seed)
    return [draw.choice("xyz") for _ in range(n)]


def table_of(texts, votes):
    """Rows with a column per source."""
    return [[text, *row] for text, *row in zip(texts, *votes.values(), strict=True)]


def by_text(stored, texts):
    """What a page says, with texts in place of positions."""
    stored["to_check"] = [texts[row] for row in stored["to_check"]]
    for rows in (stored["disagreements"], *stored["sent_back"].values()):
        for row in rows:
            assert row["text"] == texts[row.pop("row")]
    return stored


@pytest.mark.parametrize("repeats", [1, 3])
def test_agreement_is_the_same_in_any_order_of_rows(repeats):
    n, gold = 90, labels_of(90)
    texts, votes = [f"text {i // repeats}" for i in range(n)], votes_of(gold)
    checked = {i: gold[i] if i % 4 else None for i in range(0, n, 3)}
    order = random.Random(0).sample(range(n), n)
    place = {row: i for i, row in enumerate(order)}
    moved = {name: [column[row] for row in order] for name, column in votes.items()}
    moved_texts = [texts[row] for row in order]
    for seen in ({}, checked):
        first = agree(texts, votes, checked=seen).to_json()
        there = {place[row]: label for row, label in seen.items()}
        second = agree(moved_texts, moved, checked=there).to_json()
        assert by_text(first, texts) == by_text(second, moved_texts)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_agreement_of_long_and_wide_tables(here, suffix):
    gold = labels_of(40)
    texts, votes = [f"text {i}" for i in range(40)], votes_of(gold)
    expected = by_text(agree(texts, votes).to_json(), texts)
    wide = table_of(texts, votes)
    long = [[row[0], name, vote] for row in wide for name, vote in zip(NAMES, row[1:], strict=True)]
    tables = {
        "wide": (wide, ["text", *NAMES], ["--labels", ",".join(NAMES)]),
        "long": (long, ["text", "who", "label"], ["--label", "label", "--source", "who"]),
    }
    for name, (rows, header, given) in tables.items():
        random.Random(1).shuffle(rows)
        write_table(here / f"{name}{suffix}", rows, header)
        arguments = [f"{name}{suffix}", "--text", "text", *given, "--output", name, "--quiet"]
        assert agree_command.main(arguments) == 0
        found = json.loads((here / name / "agreement.json").read_text())
        found = by_text(found, [None, *dict.fromkeys(row[0] for row in rows)])  # from 1
        found["notes"] = expected["notes"]
        assert found == expected


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_votes_and_checked_rows_in_lists_and_tables(here, suffix):
    texts, _, gold = noisy_texts(n=120, k=3)
    votes = votes_of(gold)
    checked = {row: gold[row] for row in range(0, 120, 10)} | {5: None, 7: "new"}
    result = lops_adapters.select(texts, votes, encoder=None, checked=checked)
    write_table(here / f"t{suffix}", table_of(texts, votes), ["text", *NAMES])
    lines = [[row + 1, "-" if label is None else label] for row, label in checked.items()]
    write_table(here / "checked.csv", lines, ["row", "label"])
    given = ["--text", "text", "--labels", ",".join(NAMES), "--checked", "checked.csv"]
    more = ["--encoder", "none", "--quiet", "--output", "out"]
    assert select_command.main([f"t{suffix}", *given, *more]) == 0
    parts = {
        part: {row["text"]: row for row in read_table(here / "out" / f"{part}{suffix}")}
        for part in ("kept", "rejected")
    }
    for i, text in enumerate(texts):
        row = parts["kept" if result.mask[i] else "rejected"][text]
        assert float(row["lops_confidence"]) == pytest.approx(result.confidence[i], abs=1e-5)
        assert (row["lops_suggested"] or None) == result.shown_suggestion(i)
        assert row["lops_label"] == (result.corrected[i] if result.mask[i] else result.labels[i])
