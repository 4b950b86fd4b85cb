"""Selections as tables of label issues and as an issue type of cleanlab's Datalab."""

import sys

import numpy as np
import pytest

from lops_adapters import LopsError, select
from lops_adapters.integrations.cleanlab import add_issues, label_issues, scores

from ..noisy import noisy_texts

pandas = pytest.importorskip("pandas", reason="the table is pandas'")
TEXTS, LABELS, GOLD = noisy_texts()


@pytest.fixture(scope="module")
def selection():
    return select(TEXTS, LABELS, encoder=None)


def datalab(labels=LABELS):
    cleanlab = pytest.importorskip("cleanlab", reason="cleanlab is not installed")
    pytest.importorskip("datasets", reason="Datalab needs datasets")
    return cleanlab.Datalab({"text": TEXTS[: len(labels)], "label": labels}, label_name="label")


def test_the_table_has_the_columns_of_cleanlabs_own(selection):
    lab, found = datalab(), label_issues(selection)
    truth = np.array([label == gold for label, gold in zip(LABELS, GOLD, strict=True)])
    probabilities = np.where(np.array(GOLD)[:, None] == np.array(lab.class_names), 0.9, 0.1)
    lab.find_issues(pred_probs=probabilities, issue_types={"label": {}})
    own = lab.get_issues("label")
    assert list(found.columns) == list(own.columns)
    assert (found.dtypes == own.dtypes).all()
    assert found.is_label_issue.tolist() == (~selection.mask).tolist()
    assert found.given_label.tolist() == own.given_label.tolist() == LABELS
    rejected = found[found.is_label_issue]
    assert (rejected.predicted_label == np.array(GOLD)[rejected.index]).mean() > 0.8
    assert found.label_score[truth].mean() > found.label_score[~truth].mean()


def test_the_table_has_the_index_of_the_texts(selection):
    column = pandas.Series(TEXTS, index=range(100, 220))
    found = label_issues(select(column, LABELS, encoder=None))
    assert found.index.tolist() == list(range(100, 220))
    assert found.label_score.tolist() == label_issues(selection).label_score.tolist()


def test_rows_without_a_label_are_no_issues():
    labels = [None if i < 5 else label for i, label in enumerate(LABELS)]
    for choice in ({"encoder": None}, {"method": "learning-order", "keep": 0.5}):
        selection = select(TEXTS, labels, probe="linear", **choice)
        found = label_issues(selection)
        assert found.label_score.isna().tolist() == [i < 5 for i in range(120)]
        assert np.flatnonzero(found.is_label_issue).tolist() == selection.rejected.tolist()
        with pytest.raises(LopsError, match="5 rows of the selection have no label"):
            add_issues(datalab(), selection)


def test_scores_of_other_methods_are_ranks():
    ranked = select(TEXTS, LABELS, probe="linear", method="learning-order", keep=0.5)
    found = scores(ranked.confidence)
    assert found.min() == 0
    assert found.max() == 1
    np.testing.assert_array_equal(np.argsort(found), np.argsort(scores(found)))
    assert (np.diff(found[np.argsort(ranked.confidence, kind="stable")]) >= 0).all()
    assert scores(np.array([-2.0, -2.0])).tolist() == [0, 0]


@pytest.mark.filterwarnings("ignore:Overwriting")  # as cleanlab warns
def test_datalab_shows_the_selection_as_an_issue_type(selection, capsys):
    lab = datalab()
    for _ in range(2):  # a second one replaces the first
        add_issues(lab, selection)
    found = lab.get_issues("lops")
    assert found.is_lops_issue.tolist() == (~selection.mask).tolist()
    np.testing.assert_array_equal(found.lops_score, scores(selection.confidence))
    assert lab.get_info("lops")["predicted_label"].tolist() == selection.suggested.tolist()
    summary = lab.get_issue_summary("lops")
    assert summary.num_issues.tolist() == [len(selection.rejected)]
    capsys.readouterr()
    lab.report()
    assert "lops issues" in capsys.readouterr().out


def test_what_does_not_fit_is_refused(selection):
    with pytest.raises(LopsError, match="lab is a dict; wanted a cleanlab"):
        add_issues({}, selection)
    with pytest.raises(LopsError, match="the Datalab has 60 labels and the selection 120"):
        add_issues(datalab(LABELS[:60]), selection)


def test_the_extra_is_named_where_cleanlab_is_missing(selection, monkeypatch):
    for name in [name for name in sys.modules if name.split(".")[0] == "cleanlab"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "cleanlab", None)
    with pytest.raises(LopsError, match=r"run: pip install 'lops_adapters\[cleanlab\]'"):
        add_issues(None, selection)
