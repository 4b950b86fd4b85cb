"""The committee in every framework: it judges texts, and ``random`` is its control."""

import re

import pytest

from lops_adapters.selection import committee

from ..framework_checks import metrics_of
from ..framework_tools import read_rows

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def judged(stand, case, tmp_path_factory):
    """A run of the committee and its control, and what the committee was given."""
    path, given = tmp_path_factory.mktemp("committee") / "run", []
    usual = committee.Committee.__call__

    def noted(self, samples, labels):
        given.append((list(samples), [member.name for member in self.members]))
        return usual(self, samples, labels)

    with pytest.MonkeyPatch.context() as patch, case.small():
        patch.setattr(committee.Committee, "__call__", noted)
        status, _, err = stand.command(path, "--arms", "committee,random")
    assert status == 0, err
    return path, given


def test_it_judges_texts(judged, stand, case):
    samples = judged[1][0][0]
    assert samples
    if case.name == "westclass":  # it judges pseudo documents, which are sentences of tokens
        assert all(isinstance(word, str) for text in samples for part in text for word in part)
    elif case.name == "lotclass":  # known word pieces are put together again
        words = set(re.findall(r"\w+", " ".join(stand.texts).lower()))
        assert set(re.findall(r"\w+", " ".join(samples))) <= words
    else:
        assert set(samples) <= set(stand.texts)
    members = ("TF-IDF", "neighbours (LSA)", "neighbours", "regression", "class words")
    assert {tuple(names) for _, names in judged[1]} == {members}


def test_random_keeps_as_many_per_class(judged, case):
    if case.name == "toy":
        pytest.skip("it asks for no control")
    path, _ = judged
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
