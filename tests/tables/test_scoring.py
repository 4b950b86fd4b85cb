"""A block of a table that is scored."""

import pickle

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from lops_adapters.core import LopsError
from lops_adapters.formats import readers
from lops_adapters.labels.columns import Columns
from lops_adapters.report.totals import Totals
from lops_adapters.selection import Choice
from lops_adapters.selection.canonical import content_keys
from lops_adapters.selection.committee.assessment import Assessment
from lops_adapters.tables import fit
from lops_adapters.tables.scoring import SampleCommittee, Scoring
from lops_adapters.tables.survey import TableJob, survey_of

from ..noisy import noisy_rows, write_table
from ..selection.committee.test_assessment import CODES, OTHERS, fitted

COLUMNS = Columns("text", "weak")


@pytest.fixture(scope="module")
def committee():
    return fitted(sure=0.8)[1]


def surveyed(folder, n=60, **settings):
    table = readers.open_table([write_table(folder / "t.csv", noisy_rows(n=n))])
    survey = survey_of(table, COLUMNS, **settings)
    classes = survey.classes()
    return table, classes, survey.sample(classes)


def test_relabelled_rows_of_several_blocks_add_up(tmp_path):
    table, classes, sample = surveyed(tmp_path)
    codes = sample.labelled.codes
    rejected = np.arange(60) % 3 == 0
    right, probability = np.full(60, 0.2), np.where(np.arange(60) % 2, 0.95, 0.5)
    said = Assessment(~rejected, right, (codes + 1) % len(classes.names), probability, codes)
    job = TableJob(COLUMNS, Choice(), 60, relabel=0.9)
    scoring = Scoring(
        job=job, classes=classes, columns=(), positions=np.arange(60), assessment=said,
        learnt_at=None, has_checks=False,
    )  # fmt: skip
    totals, (block,) = Totals.of(len(classes.names)), table.blocks()
    for _ in range(2):
        scoring.score(block, 0, totals)
    assert totals.relabelled == 2 * (rejected & (probability >= 0.9)).sum() == 20
    assert totals.rows.sum() == 120


@pytest.mark.parametrize("most", [30, 60])
def test_a_sample_is_fitted_by_one_thread(tmp_path, monkeypatch, most):
    """As workers that score blocks have one; a table that is its own sample may use all."""
    _, _, sample = surveyed(tmp_path, most=most)
    assert sample.is_whole == (most == 60)

    def select(*_, **__):
        used = {one["num_threads"] for one in threadpool_info() if one["user_api"] == "blas"}
        raise LopsError(f"{max(used)} threads")

    monkeypatch.setattr(fit, "select_labelled", select)
    used = 1 if most == 30 else 2
    with threadpool_limits(2), pytest.raises(LopsError, match=f"{used} threads"):
        fit.fit(sample, TableJob(COLUMNS, Choice(), most))


def test_rows_of_the_sample_and_their_copies(committee):
    """A drawn row keeps its assessment; a copy outside has that of the first drawn one."""
    texts = [*OTHERS[:5], OTHERS[0], OTHERS[0], OTHERS[2]]
    codes = np.array([*CODES[:5], CODES[0], (CODES[0] + 1) % 3, CODES[2]])
    keys, drawn = content_keys(texts, 0), np.array([0, 1, 5])
    told = Assessment(
        np.array([True, False, False]),
        np.array([0.1, 0.2, 0.3]),
        np.array([2, 2, 1]),
        np.ones(3),
        codes[drawn],
    )
    sampled = SampleCommittee(committee, drawn, told, keys[drawn], codes[drawn])
    sampled = pickle.loads(pickle.dumps(sampled))
    found = sampled(texts, codes, keys, np.arange(8))
    alone = committee(texts, codes)
    assert found.right[[0, 1, 5]].tolist() == [0.1, 0.2, 0.3]
    for other in (2, 3, 4, 6, 7):
        assert found.right[other] == alone.right[other]
    moved = sampled(texts, codes, keys, np.arange(8) + 100)
    assert moved.right[[0, 1, 5]].tolist() == [0.1, 0.2, 0.1]


def test_copies_with_the_same_votes_as_a_drawn_row(committee):
    """They get its decision in whatever block they stand; a copy with other votes is scored."""
    texts, codes = [*OTHERS[:2], OTHERS[0], OTHERS[0]], CODES[[0, 1, 0, 0]]
    votes = np.column_stack([codes, codes])
    votes[3, 1] = -1
    keys, drawn = content_keys(texts, 0), np.array([0, 1])
    right, mask = np.array([0.1, 0.2]), np.array([True, False])
    told = Assessment(mask, right, codes[drawn], np.ones(2), codes[drawn])
    sampled = SampleCommittee(committee, drawn, told, keys[drawn], votes[drawn])
    asked = []

    def scored(samples, votes, groups):
        asked.extend(samples)
        codes = votes[:, 0]
        return Assessment(codes >= 0, np.full(len(codes), 0.7), codes, np.ones(len(codes)), codes)

    sampled.committee = scored
    found = sampled(texts, votes, keys, np.arange(4) + 100)
    assert found.right.tolist() == [0.1, 0.2, 0.1, 0.7]
    assert asked == [OTHERS[0]]


def test_a_copy_in_another_group_is_scored(committee):
    """Of the same group, it has the decision of the drawn row."""
    keys, codes, zero = content_keys(OTHERS[:1] * 2, 0), CODES[[0, 0]], np.array([0])
    told = Assessment(np.array([True]), np.array([0.1]), codes[:1], np.ones(1), codes[:1])
    sampled = SampleCommittee(committee, zero, told, keys[:1], codes[:1], groups=zero)
    sampled.committee = lambda samples, codes, groups: told._replace(right=np.array([0.7]))
    found = sampled(OTHERS[:1] * 2, codes, keys, np.array([8, 9]), groups=np.array([0, 1]))
    assert found.right.tolist() == [0.1, 0.7]
