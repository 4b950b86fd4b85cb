"""Selections as tables of label issues."""

import numpy as np
import pytest

from lops_adapters import select
from lops_adapters.integrations.cleanlab import label_issues, scores

from ..noisy import noisy_texts

pandas = pytest.importorskip("pandas", reason="the table is pandas'")
TEXTS, LABELS, GOLD = noisy_texts()


@pytest.fixture(scope="module")
def selection():
    return select(TEXTS, LABELS, encoder=None)


def test_the_table_has_the_columns_of_cleanlabs_own(selection):
    cleanlab = pytest.importorskip("cleanlab", reason="cleanlab is not installed")
    pytest.importorskip("datasets", reason="Datalab needs datasets")
    lab = cleanlab.Datalab({"text": TEXTS, "label": LABELS}, label_name="label")
    found = label_issues(selection)
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


def test_scores_of_other_methods_are_ranks():
    ranked = select(TEXTS, LABELS, probe="linear", method="learning-order", keep=0.5)
    found = scores(ranked.confidence)
    assert found.min() == 0
    assert found.max() == 1
    np.testing.assert_array_equal(np.argsort(found), np.argsort(scores(found)))
    assert (np.diff(found[np.argsort(ranked.confidence, kind="stable")]) >= 0).all()
    assert scores(np.array([-2.0, -2.0])).tolist() == [0, 0]
