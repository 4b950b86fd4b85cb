"""The committee in every framework: it judges texts, and ``random`` is its control."""

import re
from statistics import mean

import numpy as np
import pytest

from lops_adapters.selection import Outcome
from lops_adapters.selection.committee import committee

from ..framework_checks import metrics_of
from ..framework_tools import read_rows

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def scored(stand, case, tmp_path_factory):
    """A run of the committee and its control, and what the committee was given."""
    path, given = tmp_path_factory.mktemp("committee") / "run", []
    usual = committee.Committee.members

    def noted(self, samples, choice):
        members, kind = usual(self, samples, choice)
        given.append((list(samples), [member.name for member in members]))
        return members, kind

    with pytest.MonkeyPatch.context() as patch, case.small():
        patch.setattr(committee.Committee, "members", noted)
        status, _, err = stand.command(path, "--arms", "committee,random")
    assert status == 0, err
    return path, given


def test_it_judges_texts(scored, stand, case):
    samples = scored[1][0][0]
    assert samples
    if case.name == "westclass":  # it judges pseudo documents, which are sentences of tokens
        assert all(isinstance(word, str) for text in samples for part in text for word in part)
    elif case.name == "lotclass":  # known word pieces are put together again
        words = set(re.findall(r"\w+", " ".join(stand.texts).lower()))
        assert set(re.findall(r"\w+", " ".join(samples))) <= words
    else:
        assert set(samples) <= set(stand.texts)
    members = ("TF-IDF", "neighbours (LSA)", "neighbours", "regression", "class words")
    assert {tuple(names) for _, names in scored[1]} == {members}


def test_random_keeps_as_many_per_class(scored, case):
    if case.name == "toy":
        pytest.skip("it asks for no control")
    path, _ = scored
    assert list(metrics_of(path)["arms"])[:2] == ["committee", "random"]
    kept = {}
    for arm in ("committee", "random"):
        table = sorted((path / arm).glob("selection*.csv"))[0]  # later rounds have other labels
        rows = read_rows(table)
        label = "corrected" if "corrected" in rows[0] else "pseudo_label"
        kept[arm] = sorted(row[label] for row in rows if row["selected"] == "1")
    assert 0 < len(kept["committee"]) == len(kept["random"]) <= len(rows)
    if "corrected" not in read_rows(sorted((path / "committee").glob("selection*.csv"))[0])[0]:
        assert kept["random"] == kept["committee"]


def test_the_classifier_is_trained_on_corrected_labels(stand, case, tmp_path, monkeypatch):
    """Here every label becomes the next class, which predictions follow."""
    if case.name == "toy":
        pytest.skip("it corrects nothing")
    usual = committee.Committee.__call__

    def rotated(self, labelled, choice):
        if not self.correct:  # pseudo documents, rows of LOTClass
            return usual(self, labelled, choice)
        n, k = len(labelled), len(labelled.classes)
        how = {"rule": "standard", "stopped": "rotated", "why": "rotated"}
        return Outcome.of(np.ones(n, bool), np.zeros(n), (labelled.codes + 1) % k, k, **how)

    monkeypatch.setattr(committee.Committee, "__call__", rotated)
    arm = "committee-documents" if case.name in ("lotclass", "westclass") else "committee"
    with case.small():
        status, _, err = stand.command(tmp_path / "run", "--arms", arm)
    assert status == 0, err
    table = sorted((tmp_path / "run" / arm).glob("selection*.csv"))[-1]
    rows = {row["id"]: row for row in read_rows(table)}
    predicted = {
        row["id"]: row["predicted"]
        for row in read_rows(tmp_path / "run" / arm / "predictions.csv")
        if row["id"] in rows
    }
    followed, ignored = (
        mean(rows[name][column] == label for name, label in predicted.items())
        for column in ("corrected", "pseudo_label")
    )
    assert followed > ignored
