"""Vectors and probabilities of one's own in place of texts."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from lops_adapters import select
from lops_adapters.core import LopsError


def noisy_vectors(n=120, seed=0):
    """Vectors of two groups, labels of which a tenth are wrong, and which are."""
    rng = np.random.default_rng(seed)
    gold = np.arange(n) % 2
    vectors = rng.normal(size=(n, 8)) + 4 * np.eye(8)[gold]
    wrong = np.zeros(n, dtype=bool)
    wrong[rng.permutation(n)[: n // 10]] = True
    labels = np.where(wrong, 1 - gold, gold)
    return vectors, [f"class {code}" for code in labels], wrong


def probabilities(gold, seed=0):
    rng = np.random.default_rng(seed)
    scores = np.exp(rng.normal(size=(len(gold), 2)) + 4 * np.eye(2)[gold])
    return scores / scores.sum(axis=1, keepdims=True)


def test_vectors_are_scored_in_place_of_texts():
    vectors, labels, wrong = noisy_vectors()
    found = select(None, labels, embeddings=vectors)
    assert found.mask[~wrong].mean() > 0.95
    assert found.mask[wrong].mean() < 0.3
    assert found.noise.low < wrong.mean() < found.noise.high
    assert found.texts[3] == "(row 3)"
    assert found.settings["samples"] == "vectors"
    assert "given vectors" in found.why[0]
    ranked = select(None, labels, "margin", embeddings=vectors, keep=0.5)
    assert ranked.why[0] == "Probe, on the given vectors: logistic regression."
    shown = select([f"text {i}" for i in range(120)], labels, embeddings=vectors.tolist())
    np.testing.assert_array_equal(shown.mask, found.mask)
    assert shown.texts[3] == "text 3"


@pytest.mark.usefixtures("full_training")
@pytest.mark.parametrize(
    "settings", [{"method": "learning-order", "keep": 0.5}, {"method": "automatic"}]
)
def test_other_methods_read_vectors_too(settings):
    vectors, labels, wrong = noisy_vectors()
    found = select(None, labels, embeddings=vectors, **settings)
    assert wrong[found.rejected].mean() > 1.9 * wrong.mean()
    assert found.confidence[wrong].max() < np.quantile(found.confidence[~wrong], 0.1)
    # The default probe predicts these few vectors with little certainty, so it rejects too few.
    assert wrong[found.kept].mean() < 0.75 * wrong.mean()


def test_a_classifier_of_your_own_judges_the_vectors():
    vectors, labels, wrong = noisy_vectors()
    found = select(None, labels, probe=LogisticRegression(), embeddings=vectors)
    assert found.mask[~wrong].mean() > 0.95
    assert found.mask[wrong].mean() < 0.2
    assert found.why[0] == (
        "Members, on the given vectors: LogisticRegression, neighbours, logistic regression."
    )
    assert "LogisticRegression" in found.settings["probe"]


def test_probabilities_are_scored_in_place_of_texts():
    _, labels, wrong = noisy_vectors()
    gold = np.array([int(label[-1]) for label in labels]) ^ wrong
    found = select(None, labels, pred_probs=probabilities(gold))
    assert wrong[found.kept].mean() < wrong.mean() / 3
    assert found.settings["samples"] == "pred_probs"
    order = np.random.default_rng(1).permutation(120)
    again = select(None, [labels[i] for i in order], pred_probs=probabilities(gold)[order])
    np.testing.assert_array_equal(again.mask, found.mask[order])


BAD = {
    "both": ({"embeddings": [[1.0]], "pred_probs": [[1.0]]}, "leave one of them out"),
    "neither": ({}, "texts are None; wanted texts"),
    "rows": ({"embeddings": np.ones((3, 2))}, "found 3 rows of embeddings and 120 labels"),
    "vector": ({"embeddings": np.ones(120)}, r"shape \(120,\); wanted a matrix"),
    "texts": ({"embeddings": [["a"]] * 120}, "wanted a matrix of numbers"),
    "ragged": ({"embeddings": [[1.0]] * 119 + [[1.0, 2.0]]}, "wanted a matrix of numbers"),
    "columns": ({"pred_probs": np.full((120, 3), 1 / 3)}, r"shape \(120, 3\); wanted \(120, 2\)"),
    "method": (
        {"pred_probs": np.full((120, 2), 0.5), "method": "automatic"},
        "pred_probs are for the committee",
    ),
    "encoder": (
        {"embeddings": np.ones((120, 2)), "encoder": "minilm"},
        "encoder is for texts, and vectors or probabilities are scored in their place; leave it",
    ),
    "words": (
        {"embeddings": np.ones((120, 2)), "words": {"class 0": ["a"], "class 1": ["b"]}},
        "words is for texts, and vectors",
    ),
    "probe": ({"embeddings": np.ones((120, 2)), "probe": "minilm"}, "which reads texts"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input(case):
    settings, message = BAD[case]
    with pytest.raises(LopsError, match=message):
        select(None, noisy_vectors()[1], **settings)
