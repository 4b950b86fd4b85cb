import csv
import json
from types import SimpleNamespace

import numpy as np
import pytest

from lops_adapters import storage
from lops_adapters.core import ClassReport, Selection
from lops_adapters.datasets import Corpus
from lops_adapters.evaluation import Evaluator
from lops_adapters.runs.files import (
    label_table,
    selection_table,
    telling_words,
    write_labels,
    write_predictions,
    write_tables,
    write_to_check,
)
from lops_adapters.runs.folder import RunFolder
from lops_adapters.runs.metrics import (
    add_arm,
    arm_metrics,
    finished_arms,
    noise_metrics,
    selection_metrics,
)
from lops_adapters.runs.stages import Samples

from ..framework_tools import read_rows


def rows(path):
    with path.open(encoding="utf-8", newline="") as handle:
        return list(csv.reader(handle))


@pytest.fixture
def selection():
    report = {
        "law": ClassReport(3, 1, 2, 2, 1.5, "closed"),
        "arts": ClassReport(1, 1, 0, 0, None, "never"),
    }
    confidence = np.array([0.5, -1 / 3, 1.0, 0.123456789])
    return Selection(
        np.array([1, 0, 1, 0]),
        np.array([1.5, np.inf, 1.0, 12.25]),
        confidence,
        report,
        "released",
        "all closed",
    )


def test_pseudo_labels(tmp_path):
    samples = Samples(["d,1", 'd"2', "d\n3"], np.arange(3), ["law", "arts", "ä"], [2, 0.85, 1 / 3])
    write_tables(tmp_path, {"a.csv": label_table(samples), "words.json": {"law": ["court"]}})
    assert json.loads((tmp_path / "words.json").read_text()) == {"law": ["court"]}
    assert rows(tmp_path / "a.csv") == [
        ["id", "pseudo_label", "score"],
        ["d,1", "law", "2"],
        ['d"2', "arts", "0.85"],
        ["d\n3", "ä", "0.333333"],
    ]


def test_selection(tmp_path, selection):
    samples = Samples("abcd", np.array([1, 1, 1, 0]), CLASSES)
    write_tables(tmp_path, {"a.csv": selection_table(samples, selection)})
    assert rows(tmp_path / "a.csv") == [
        ["id", "pseudo_label", "learnt_at", "confidence", "selected"],
        ["a", "law", "1.5", "0.5", "1"],
        ["b", "law", "", "-0.333333", "0"],
        ["c", "law", "1", "1", "1"],
        ["d", "arts", "12.25", "0.123457", "0"],
    ]


def test_predictions(tmp_path):
    probabilities = np.array([[0.2, 0.7, 0.1], [0.4, 0.2, 0.4], [0, 0, 1]], dtype=np.float32)
    write_predictions(tmp_path / "a.csv", ["x", "y", "z"], ["law", "arts", "sport"], probabilities)
    assert rows(tmp_path / "a.csv") == [
        ["id", "predicted", "probability"],
        ["x", "arts", "0.700000"],
        ["y", "law", "0.400000"],  # of equals the first
        ["z", "sport", "1.000000"],
    ]


def test_columns_of_different_length_write_nothing(tmp_path, selection):
    for ids in ("abc", "abcde"):
        with pytest.raises(ValueError, match="argument"):
            write_tables(
                tmp_path,
                {"a.csv": label_table(Samples(ids, np.arange(4), tuple("abcd"), range(4)))},
            )
        with pytest.raises(ValueError, match="argument"):
            write_tables(
                tmp_path,
                {"a.csv": selection_table(Samples(ids, np.arange(4), tuple("abcd")), selection)},
            )
        with pytest.raises(ValueError, match="argument"):
            write_predictions(tmp_path / "a.csv", ids, "x", np.ones((4, 1)))
    assert list(tmp_path.iterdir()) == []


def test_metrics_of_a_selection(selection):
    law = {"count": 3, "threshold": 1, "learnt": 2, "kept": 2, "closed_at": 1.5, "why": "closed"}
    arts = {"count": 1, "threshold": 1, "learnt": 0, "kept": 0, "closed_at": None, "why": "never"}
    found = selection_metrics(selection)
    assert found == {
        "selected": 2,
        "rule": "released",
        "stopped": "all closed",
        "per_class": {"law": law, "arts": arts},
    }
    assert json.loads(json.dumps(found)) == found


def iteration(number, seconds, f1=0.5):
    return {
        "iteration": number,
        "micro_f1": f1,
        "macro_f1": f1 / 2,
        "selected": 10 + number,
        "selected_noise": None,
        "seconds": seconds,
    }


def test_an_arm_is_its_last_iteration_and_the_time_of_all():
    iterations = (iteration(0, 1.5, f1=0.9), iteration(1, 2, f1=0.7))
    assert arm_metrics(iterations) == {
        "micro_f1": 0.7, "macro_f1": 0.35, "selected": 11, "selected_noise": None, "seconds": 3.5,
        "iterations": list(iterations),
    }  # fmt: skip


def test_arms_of_earlier_calls_stay(tmp_path):
    run, path = RunFolder(tmp_path), tmp_path / "metrics.json"
    assert finished_arms(run) == {}
    lops, standard, again = (arm_metrics([iteration(0, seconds)]) for seconds in (1, 2, 3))
    first = {"dataset": "toy", "old": 1, "arms": {"lops": lops}}
    assert add_arm(run, {"dataset": "toy", "old": 1}, "lops", lops) == first
    assert json.loads(path.read_text()) == first
    about = {"dataset": "toy", "seconds": {"vectors": np.float64(1.5)}, "kappa": [float("inf")]}
    arms = {"standard": standard, "lops": lops}
    assert list(add_arm(run, about, "standard", standard)["arms"].items()) == list(arms.items())
    stored = json.loads(path.read_text())
    about = {"dataset": "toy", "seconds": {"vectors": 1.5}, "kappa": [None]}
    assert stored == {**about, "arms": arms}
    for arm in ("lops-all", "standard"):
        add_arm(run, about, arm, again)
    stored = json.loads(path.read_text())["arms"]
    assert list(stored.items()) == [("standard", again), ("lops", lops), ("lops-all", again)]


N, CLASSES = 400, ("arts", "law")
POSITIONS = np.arange(0, N, 2)
CODES = np.arange(len(POSITIONS)) % 2
LABELS = np.array(CLASSES, dtype=object)[CODES]
CORPUS = Corpus("toy", [f"d{i}" for i in range(N)], [f"text {i}" for i in range(N)], CLASSES)


def test_the_noise_by_checked_documents():
    """Half of "arts" is law or nothing; document 1 has no pseudo-label."""
    checked = {0: "arts", 4: "law", 8: "arts", 12: None, 2: "law", 1: "law"}
    found = noise_metrics(Evaluator(None, checked), POSITIONS, LABELS)
    assert found["noise"] is None
    assert (found["checked_noise"]["checked"], found["checked_noise"]["value"]) == (5, 2 / 5)
    per_class = found["checked_noise_per_class"]
    assert {label: rate["value"] for label, rate in per_class.items()} == {"arts": 0.5, "law": 0}
    assert per_class["arts"]["low"] < 0.3
    assert per_class["arts"]["high"] > 0.7


def test_nothing_checked_says_nothing():
    assert noise_metrics(Evaluator(LABELS), np.arange(200), LABELS) == {"noise": 0}
    found = noise_metrics(Evaluator(None, {1: "law"}), POSITIONS, LABELS)
    assert (found["checked_noise"], found["checked_noise_per_class"]) == (None, {})


def test_an_evaluator_of_some_documents_has_their_checks():
    some = Evaluator(None, {3: "law", 5: None}).at(np.array([5, 9, 3]))
    assert some.checked == {0: None, 2: "law"}


@pytest.mark.parametrize("seed", [0, 1])
def test_documents_to_check(tmp_path, seed):
    labels = Samples([CORPUS.ids[i] for i in POSITIONS], CODES, CLASSES, None, POSITIONS)
    write_to_check(tmp_path / "first.csv", CORPUS, labels, [], seed)
    first = read_rows(tmp_path / "first.csv")
    assert [*first[0]][1:] == ["label", "checked", "text"]
    ids = [next(iter(row.values())) for row in first]
    assert len(set(ids)) == 50
    assert sum(row["label"] == "arts" for row in first) == 25
    assert {row["text"] for row in first} == {f"text {name[1:]}" for name in ids}
    write_to_check(tmp_path / "next.csv", CORPUS, labels, [int(name[1:]) for name in ids], seed)
    later = [next(iter(row.values())) for row in read_rows(tmp_path / "next.csv")]
    assert not set(later) & set(ids)


@pytest.mark.parametrize(
    ("change", "kept"),
    [
        (lambda text: text.replace(",,", ",law,", 1), True),
        (lambda text: text.replace(",,", ",-,", 1), True),  # none of the classes
        (lambda text: text.replace(",,", ", ,", 1), False),
        (lambda text: text.replace(",,", ",novel,", 1), True),  # an answer, though of no class
        (lambda text: text.replace(",,", ",arts,", 1).replace(",", ";"), True),  # a spreadsheet
        (lambda text: text.replace("checked", "done"), True),
        (lambda text: "\x00", True),
        (lambda text: text, False),
        (lambda text: text[: len(text) // 2], False),
    ],
)
def test_documents_that_a_person_has_checked_are_kept(tmp_path, caplog, change, kept):
    labels = Samples([CORPUS.ids[i] for i in POSITIONS], CODES, CLASSES, None, POSITIONS)
    path = tmp_path / "to_check.csv"
    write_to_check(path, CORPUS, labels, [], 0)
    changed = change(path.read_text(encoding="utf-8-sig"))
    path.write_text(changed, encoding="utf-8-sig")
    write_to_check(path, CORPUS, labels, [], 1)
    assert (path.read_text(encoding="utf-8-sig") == changed) is kept
    assert (f"{path} has answers and is kept" in caplog.text) is kept
    path.write_bytes(b"")
    write_to_check(path, CORPUS, labels, [], 1)
    assert len(read_rows(path)) == 50


def test_words_that_tell_a_class_from_the_others_whatever_the_order_of_texts():
    texts = ["the goal of the match", "a goal late", "the bank and the shares", "shares fall"]
    codes = np.array([0, 0, 2, 2])
    words = telling_words(texts, codes, 3)
    assert [found[:1] for found in words] == [["goal"], [], ["shares"]]
    assert "the" not in [word for found in words for word in found]
    assert telling_words(texts[::-1], codes[::-1], 3) == words


def test_a_word_of_most_texts_tells_less_than_a_rare_one():
    texts = ["his goal"] * 2 + ["his"] * 8 + ["his"] * 5 + ["bank"] * 5
    assert telling_words(texts, np.repeat([0, 1], 10), 2)[0] == ["goal", "his"]


def test_an_id_with_a_line_break_keeps_the_labels_of_a_run(tmp_path):
    lines = ["id,predicted,probability", "a\u2028b,law,0.9", "d,arts,0.8"]
    (tmp_path / "arm").mkdir()
    storage.write_text(tmp_path / "arm" / "predictions.csv", "\n".join([*lines, ""]))
    corpus = SimpleNamespace(texts=["court", "song"], classes=["arts", "law"])
    prepared = SimpleNamespace(corpus=corpus, samples=SimpleNamespace(of=None), tables={})
    write_labels(tmp_path / "arm", prepared, SimpleNamespace(folder=SimpleNamespace(path=tmp_path)))
    words = json.loads((tmp_path / "class_words.json").read_text())
    assert words == {"arts": ["song"], "law": ["court"]}
