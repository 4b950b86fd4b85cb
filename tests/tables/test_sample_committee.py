"""Rows of the sample keep their assessment; other rows are assessed by the fitted committee."""

import pickle

import numpy as np

from lops_adapters.selection.canonical import content_keys
from lops_adapters.selection.committee.assessment import Assessment
from lops_adapters.tables.draw import Draw
from lops_adapters.tables.sample_committee import SampleCommittee, vote_ids

from ..selection.committee.test_assessment import CLASSES, CODES, OTHERS, fitted


def test_rows_of_the_sample_and_their_copies():
    """A drawn row keeps its assessment; a copy outside has that of the first drawn one."""
    _, committee = fitted(sure=0.8)
    texts = [*OTHERS[:5], OTHERS[0], OTHERS[0], OTHERS[2]]
    codes = np.array([*CODES[:5], CODES[0], (CODES[0] + 1) % 3, CODES[2]])
    labels = content_keys(CLASSES, 0)
    keys = content_keys(texts, 0)
    draw, drawn = Draw(10), np.array([0, 1, 5])
    draw.add(keys[drawn], labels[codes[drawn]], drawn, drawn.tolist())
    told = Assessment(
        np.array([True, False, False]),
        np.array([0.1, 0.2, 0.3]),
        np.array([2, 2, 1]),
        np.ones(3),
        codes[drawn],
    )
    sampled = pickle.loads(pickle.dumps(SampleCommittee(committee, draw.result(), told, labels)))
    found = sampled(texts, codes, keys, np.arange(8))
    alone = committee(texts, codes)
    assert found.right[[0, 1, 5]].tolist() == [0.1, 0.2, 0.3]
    for other in (2, 3, 4, 6, 7):
        assert found.right[other] == alone.right[other]
    moved = sampled(texts, codes, keys, np.arange(8) + 100)
    assert moved.right[[0, 1, 5]].tolist() == [0.1, 0.2, 0.1]


def test_copies_with_the_same_votes_as_a_drawn_row():
    """They get its decision in whatever block they stand; a copy with other votes is scored."""
    _, committee = fitted(sure=0.8)
    texts, codes = [*OTHERS[:2], OTHERS[0], OTHERS[0]], CODES[[0, 1, 0, 0]]
    votes = np.column_stack([codes, codes])
    votes[3, 1] = -1
    keys = content_keys(texts, 0)
    draw, drawn = Draw(10), np.array([0, 1])
    draw.add(keys[drawn], content_keys(CLASSES, 0)[codes[drawn]], drawn, drawn.tolist())
    right, mask = np.array([0.1, 0.2]), np.array([True, False])
    told = Assessment(mask, right, codes[drawn], np.ones(2), codes[drawn])
    of_sample = draw.result()._replace(ids=vote_ids(keys[drawn], votes[drawn]))
    sampled = SampleCommittee(committee, of_sample, told, np.zeros(0, dtype=np.uint64))
    asked = []

    def scored(samples, votes, groups):
        asked.extend(samples)
        codes = votes[:, 0]
        return Assessment(codes >= 0, np.full(len(codes), 0.7), codes, np.ones(len(codes)), codes)

    sampled.committee = scored
    found = sampled(texts, votes, keys, np.arange(4) + 100)
    assert found.right.tolist() == [0.1, 0.2, 0.1, 0.7]
    assert asked == [OTHERS[0]]
