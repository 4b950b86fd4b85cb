"""Labels for texts that have none: rounds of self-training, as in the paper's Algorithm 2.

The committee labels them first, and the best half of each class joins the corrected labels. A
classifier is trained on these and labels the others, and again the best half of each class joins.
Classes join by their probable shares. Labels that are missing at random have the shares of the
others. Rules label some classes more often than others: the more the committee's predictions for
texts with and without a label differ, the more its own shares count, see :func:`class_shares`.
Few texts without a label are worth no training: the committee labels them, weighted by how often
each class occurs among the corrected labels. Measurements: docs/results/unlabelled.md.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lops_adapters.encoders.static import STATIC
from lops_adapters.probes import Probe, text_probe
from lops_adapters.probes.base import cut
from lops_adapters.probes.embedding import EmbeddingProbe
from lops_adapters.selection.by_rank import SHARE, best_by_rank
from lops_adapters.selection.canonical import content_keys, content_order
from lops_adapters.selection.committee.assessment import FittedCommittee

# Chosen with gold labels, see docs/reproducibility.md, note 36.
_TRAININGS, _EPOCHS = 4, 20
SAID = "Rows without a label: with a suggestion."
MOST = 20_000  # texts with a label, and as many without, that the classifier learns from
_LEAST = 1e-6  # share of a class
_DIFFERS = 0.05  # of the predictions, where the committee's shares count half
_FEW = 0.05  # of the texts with a label
_MAX_TOKENS = 128


@dataclass(frozen=True)
class Prior:
    """A committee, its probabilities weighted by the (k,) shares of the classes."""

    committee: FittedCommittee
    shares: np.ndarray

    def predict_proba(self, texts: Sequence[str]) -> np.ndarray:
        """Return the probabilities of the classes of m texts, (m, k) float64."""
        both = self.committee.probabilities(texts) * self.shares
        return np.asarray(both / both.sum(axis=1, keepdims=True))


@dataclass(frozen=True)
class Rest:
    """Labels texts that have none of the k classes; can be pickled."""

    classes: Sequence[Hashable]
    classifier: Probe | Prior

    def __call__(self, texts: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
        """Return the most probable class of m texts, (m,) int64 codes, and how probable it is."""
        if not texts:
            return np.zeros(0, dtype=np.int64), np.zeros(0)
        probabilities = self.classifier.predict_proba(texts).astype(np.float64)
        return probabilities.argmax(axis=1), probabilities.max(axis=1)


def rest_of(
    committee: FittedCommittee,
    texts: Sequence[str],
    known: np.ndarray,
    pool: Sequence[str],
    *,
    encoder: str | EmbeddingProbe | None = STATIC,
    seed: int = 0,
) -> Rest:
    """Learn to label texts without a label; the order of the texts changes nothing.

    Args:
        texts: n texts with a label; of more than :data:`MOST`, the first by a hash of the content.
        known: (n,) int codes of the corrected labels; -1: of no class.
        pool: m texts without a label, at least one.
    """
    classes = list(committee.classes)
    drawn = np.flatnonzero(known >= 0)
    if len(pool) < _FEW * len(drawn):
        shares = np.bincount(known[drawn], minlength=len(classes)) / len(drawn)
        return Rest(classes, Prior(committee, np.maximum(shares, _LEAST)))
    drawn = drawn[content_order([texts[i] for i in drawn.tolist()], known[drawn], seed)][:MOST]
    first = np.argsort(content_keys(pool, seed), kind="stable")[:MOST]
    known, chosen = known[drawn], [pool[i] for i in first.tolist()]
    added = np.full(len(chosen), -1)
    classifier = _classifier(encoder)
    labelled = [texts[i] for i in drawn.tolist()]
    read = classifier.read([*labelled, *chosen])
    of_pool = np.arange(len(drawn), len(drawn) + len(chosen))
    probabilities = committee.probabilities(chosen)
    usual = class_shares(known, committee.probabilities(labelled), probabilities)
    for number in range(_TRAININGS):
        predicted = np.bincount(probabilities.argmax(axis=1), minlength=len(classes))
        shares = (usual + predicted / len(probabilities)) / 2
        best, fitted = best_by_rank(probabilities, np.flatnonzero(added < 0), shares, SHARE)
        added[best] = fitted[best].argmax(axis=1)
        joined = np.flatnonzero(added >= 0)
        rows = np.concatenate([np.arange(len(drawn)), of_pool[joined]])
        codes = np.concatenate([known, added[joined]])
        classifier.fit(cut(read, rows), codes, len(classes), seed=seed + number)
        if len(joined) == len(added):
            break
        probabilities = classifier.predict_proba(cut(read, of_pool))
    return Rest(classes, classifier)


def class_shares(known: np.ndarray, labelled: np.ndarray, pool: np.ndarray) -> np.ndarray:
    """Return the probable shares of k classes among texts without a label, (k,), sum to 1.

    The share of a class among the labels, times its share among the texts without a label, over its
    share among the texts with one; and the shares of the committee's predictions, which count d /
    (d + .05), where d is how far the predictions for both differ (total variation), beyond chance.

    Args:
        known: (n,) int codes of labels.
        labelled, pool: (n, k) and (m, k) probabilities of the committee, of texts with a label and
            of texts without one.

    >>> known, sure = np.repeat([0, 1], [80, 20]), np.eye(2)
    >>> there = sure[np.repeat([0, 1], [50, 50])]
    >>> for pool in (there, sure[np.repeat([0, 1], [10, 90])]):
    ...     print(class_shares(known, there, pool).round(2).tolist())
    [0.8, 0.2]
    [0.13, 0.87]
    """
    k = pool.shape[1]
    usual = np.bincount(known, minlength=k) * pool.mean(axis=0)
    usual /= np.maximum(labelled.mean(axis=0), _LEAST)
    predicted, there = (
        np.bincount(one.argmax(axis=1), minlength=k) / len(one) for one in (pool, labelled)
    )
    both = (predicted * len(pool) + there * len(labelled)) / (len(pool) + len(labelled))
    chance = np.sqrt(both * (1 - both) * (1 / len(pool) + 1 / len(labelled)) * 2 / np.pi).sum() / 2
    differs = max(0.0, float(np.abs(predicted - there).sum()) / 2 - float(chance))
    weight = differs / (differs + _DIFFERS)
    return np.asarray(weight * predicted + (1 - weight) * usual / usual.sum())


def _classifier(encoder: str | EmbeddingProbe | None) -> Probe:
    settings: dict[str, Any] = {"encoder": STATIC, "max_tokens": _MAX_TOKENS, "device": "auto"}
    if isinstance(encoder, EmbeddingProbe):
        encoder_settings = encoder.settings()
        settings |= {name: encoder_settings[name] for name in settings}
    elif encoder is not None:
        settings["encoder"] = encoder
    kind = "linear" if encoder is None else "hybrid"
    return text_probe(kind, **settings, epochs=_EPOCHS)
