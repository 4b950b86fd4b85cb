"""The public checks: what this package ships keeps every promise, and each broken one is named."""

import csv
import io
import shutil
from dataclasses import replace
from unittest import mock

import numpy as np
import pytest

from lops_adapters import formats
from lops_adapters.selection import MEMBERS, METHODS, FunctionMethod, Member, MemberFactory, Outcome
from lops_adapters.selection.methods.baselines import Standard
from lops_adapters.testing import (
    check_format,
    check_framework,
    check_member,
    check_method,
    check_run,
    noisy_texts,
)

from ..frameworks.toy import TOY
from ..noisy import write_table

# Committee and automatic take seconds; tests/selection/test_methods.py checks every method.
QUICK = ("random", "learning-order", "released", "confident-learning", "optimal")


@pytest.mark.parametrize("name", QUICK)
def test_methods_keep_their_promises(name):
    if name == "confident-learning":
        pytest.importorskip("cleanlab")
    check_method(name)


class Plain(FunctionMethod):
    """A method that ranks by a score of (samples, labels)."""


class Alone(Plain):
    """It is given the rows as they come."""

    alone = True


class TakesN(Plain):
    """It says that it takes n, and does not."""

    takes_n = True


def method(score, kind=Plain, kept="{share} by a toy"):
    return kind("toy", "a toy", kept, per_class=None, function=score)


def lengths(samples, labels):
    return np.array([float(len(text)) for text in samples])


def by_place(samples, labels):
    return np.arange(len(samples), dtype=float)


RANDOM = np.random.default_rng()


def by_chance(samples, labels):
    return RANDOM.uniform(size=len(samples))


class Twice(Outcome):
    """Kept rows are also rejected."""

    def selection(self, classes, corrected=False):
        selection = super().selection(classes, corrected)
        selection.rejected = selection.kept
        return selection


class Uncounted(Outcome):
    """No class is counted."""

    def selection(self, classes, corrected=False):
        selection = super().selection(classes, corrected)
        selection.per_class = {}
        return selection


def answering(kind):
    """A method whose outcomes are of this kind."""

    class Answers(Standard):
        def __call__(self, labelled, choice):
            return kind(**vars(super().__call__(labelled, choice)))

    return Answers("toy", "a toy", "all", per_class=None)


@pytest.mark.parametrize(
    ("row", "words"),
    [
        (method(by_place, Alone), "toy: mask depends on the order of the rows"),
        (method(by_chance), "toy, once more with the same seed: mask differs"),
        (method(lengths, TakesN), "toy keeps 45 samples, and n is 1"),
        (method(lengths, kept=" "), "toy does not say what it keeps"),
        (replace(method(lengths), summary="a\nb"), "toy: its summary has 2 lines; wanted one"),
        (answering(Twice), "kept and rejected are not every sample once"),
        (answering(Uncounted), "toy: per_class says {}; wanted {'class"),
    ],
)
def test_broken_methods_are_named(row, words):
    with mock.patch.dict(METHODS, toy=method(lengths)):
        check_method("toy")
    with mock.patch.dict(METHODS, toy=row), pytest.raises(AssertionError) as raised:
        check_method("toy")
    assert words in str(raised.value)


@pytest.mark.parametrize("name", MEMBERS)
def test_members_keep_their_promises(name):
    check_member(MEMBERS[name])


class Toy(Member):
    """Scores that a function gives, of labelled samples and of further ones."""

    name = "toy"

    def __init__(self, held_out, further):
        self.held_out, self.further = held_out, further

    def score(self, labelled):
        return self.held_out(labelled)

    def score_unseen(self, samples, groups=None):
        return self.further(samples, groups)


def even(n):
    return np.full((n, 3), 1 / 3)


def evenly(labelled):
    return even(len(labelled.codes))


def further(samples, groups):
    return even(len(samples))


def own_labels(labelled):
    return np.eye(3)[labelled.codes]


def of_block(samples, groups):
    rows = np.array([[1.0, 1.0, float(len(samples))]] * len(samples))
    return rows / rows.sum(axis=1, keepdims=True)


def of_group(labelled):
    return even(len(labelled.codes)) if labelled.groups is None else np.eye(3)[labelled.codes]


def by_dice(labelled):
    rows = RANDOM.uniform(size=(len(labelled.codes), 3))
    return rows / rows.sum(axis=1, keepdims=True)


def negative(labelled):
    return np.array([[2.0, -1.0, 0.0]] * len(labelled.codes))


@pytest.mark.parametrize(
    ("held_out", "others", "words"),
    [
        (own_labels, further, "toy knows its own label: it agrees with 100% of labels"),
        (of_group, further, "toy knows the label of its group: it agrees with 100%"),
        (evenly, of_block, "toy: the scores of an unseen sample depend on the others"),
        (by_dice, further, "toy: the same samples and labels give other probabilities"),
        (negative, further, "toy: scores are no probabilities that sum to 1"),
        (lambda one: even(3), further, "toy: found scores of shape (3, 3); wanted (240, 3)"),
    ],
)
def test_broken_members_are_named(held_out, others, words):
    check_member(MemberFactory("toy", (), "nothing", lambda inputs: Toy(evenly, further)))
    broken = MemberFactory("toy", (), "nothing", lambda inputs: Toy(held_out, others))
    with pytest.raises(AssertionError) as raised:
        check_member(broken)
    assert words in str(raised.value)


ROWS = [{"text": f"a text, {i}", "label": "xy"[i % 2]} for i in range(5)]


@pytest.mark.parametrize("name", ["csv", "tsv", "jsonl", "json", "parquet", "xlsx"])
def test_formats_keep_their_promises(name, tmp_path):
    format = formats.FORMATS[name]
    path = tmp_path / f"a{format.suffixes[0]}"
    write_table(path, [list(row.values()) for row in ROWS], list(ROWS[0]))
    check_format(format, path, ROWS, tmp_path)


def test_broken_formats_are_named(tmp_path):
    format = formats.FORMATS["csv"]
    path = write_table(tmp_path / "a.csv", [list(row.values()) for row in ROWS], list(ROWS[0]))
    usual = format.blocks
    with pytest.raises(AssertionError, match=r"csv: the columns .* lack \['gold'\]"):
        check_format(format, path, [{**ROWS[0], "gold": "x"}], tmp_path)
    with pytest.raises(AssertionError, match="csv: other rows, or in another order"):
        check_format(format, path, ROWS[::-1], tmp_path)

    def again(*given):
        yield from usual(*given)
        yield from usual(*given)

    with (
        mock.patch.object(type(format), "blocks", lambda one, *given: again(*given)),
        pytest.raises(AssertionError, match="csv: other rows"),
    ):
        check_format(format, path, ROWS, tmp_path)
    start = format.start(path, READING)
    with (
        mock.patch.object(type(format), "start", return_value=start),
        pytest.raises(AssertionError, match="csv takes an empty file"),
    ):
        check_format(format, path, ROWS, tmp_path)


READING = formats.base.Reading()


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A run of the toy framework, with all its promises kept."""
    return check_framework(TOY, tmp_path_factory.mktemp("toy"), ["--epochs", "2"])


def without_a_row(text):
    return "".join(text.splitlines(keepends=True)[:-1])


def with_another_class(text):
    rows = list(csv.reader(io.StringIO(text)))
    rows[1][1] = "weather"
    return "".join(",".join(row) + "\n" for row in rows)


def with_nothing_selected(text):
    return text.replace(",1\n", ",0\n").replace(",1\r\n", ",0\r\n")


@pytest.mark.parametrize(
    ("name", "change", "words"),
    [
        ("lops/predictions.csv", without_a_row, "59 predictions of 60 documents"),
        ("lops/predictions.csv", with_another_class, "predicted holds ['weather'], which are no"),
        ("lops/selection-0.csv", with_nothing_selected, "selection-0.csv 0 kept"),
        ("pseudo_labels.csv", without_a_row, "pseudo_labels.csv has other rows"),
        ("config.json", lambda text: text.replace('"toy"', '"other"', 1), "wanted toy"),
    ],
)
def test_broken_runs_are_named(run, tmp_path, name, change, words):
    copy = tmp_path / "run"
    shutil.copytree(run, copy)
    check_run(copy, "toy")
    text = (copy / name).read_bytes().decode()
    (copy / name).write_bytes(change(text).encode())
    with pytest.raises(AssertionError) as raised:
        check_run(copy, "toy")
    assert words in str(raised.value)


def test_a_framework_that_reads_gold_labels_is_named(tmp_path):
    class Peeping(type(TOY)):
        def prepare(self, corpus, job):
            prepared = super().prepare(corpus, job)
            path = job.folder.path.parent / "toy" / "documents.jsonl"
            other = job.folder.path.parent / "permuted" / "toy" / "documents.jsonl"
            gold = (other if other.exists() else path).read_text(encoding="utf-8")
            scores = np.full(len(prepared.samples), float(hash(gold) % 1000))
            return replace(prepared, samples=replace(prepared.samples, scores=scores))

    with pytest.raises(AssertionError, match=r"toy: gold labels change .*pseudo_labels"):
        check_framework(Peeping(), tmp_path, ["--epochs", "2"])


def test_a_texts_topics():
    texts, labels, gold = noisy_texts(40, 4, noise=0.0)
    assert labels == gold
    assert all(f"topic{i % 4}word" in text for i, text in enumerate(texts))
