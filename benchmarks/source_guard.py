"""Would a guard by held-out votes help? Joined labels next to the majority and Dawid-Skene.

    python -m benchmarks.source_guard --data-dir DIR

Per table of :mod:`benchmarks.source_tables` with votes of several classes or of rules: six draws of
its sources and of at most 600 rows with a vote. Of each draw: how accurate ``select``, the majority
and Dawid-Skene are, and how much better Dawid-Skene predicts each vote from the others of its row
than the joined labels do. Gold labels only measure.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

from benchmarks.label_models import largest, majority
from benchmarks.record import measure_tables
from benchmarks.source_tables import VotedTable, load_voted
from lops_adapters import select
from lops_adapters.probes.regression import softmax
from lops_adapters.selection.committee import belief
from lops_adapters.selection.votes.signals import weighed
from lops_adapters.selection.votes.sources import Sources, fit

DRAWN = (
    "yelp-rules",
    "youtube-rules",
    "chemprot-rules",
    "questions-rules",
    "newsbias-llm",
    "stance-llms",
    "emotion-llms",
    "politeness-llms",
    "emoji-people-llm",
    "hate-portuguese",
    "centralbank-llms",
)
DRAWS, ROWS = 6, 600
_ROUNDS, _LITTLE = 100, 1e-2


def drawn(table: VotedTable, draw: int) -> VotedTable:
    """Return a table with some of its sources, and rows on which these vote.

    Three to six people or language models, or 30 to 70 % of the rules.
    """
    rng, m = np.random.default_rng([draw, len(table.texts)]), len(table.sources)
    rules = table.sources[0].startswith("rule")
    count = max(4, int(m * rng.uniform(0.3, 0.7))) if rules else int(rng.integers(3, 7))
    sources = np.sort(rng.permutation(m)[: min(count, m - 1)])
    votes = table.votes[:, sources]
    rows = np.sort(rng.permutation(np.flatnonzero((votes >= 0).any(axis=1)))[:ROWS])
    texts = [table.texts[row] for row in rows.tolist()]
    return table._replace(texts=texts, votes=votes[rows], gold=table.gold[rows])


def dawid_skene(votes: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the logarithms of the classes' frequencies, (k,), and of each vote, (n, m, k)."""
    said = (votes[:, :, None] == np.arange(k)).astype(np.float64)
    true = majority(votes, k).probabilities
    for _ in range(_ROUNDS):
        confusions = np.einsum("nc,nmv->mcv", true, said) + _LITTLE
        confusions /= confusions.sum(axis=2, keepdims=True)
        logs = np.einsum("nmv,mcv->nmc", said, np.log(confusions))
        prior = np.log(np.maximum(true.mean(axis=0), 1e-12))
        true = softmax(prior + logs.sum(axis=1))
    return prior, logs


def joined(
    sources: Sources, votes: np.ndarray, likely: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the logarithms of what joined labels say without votes, (n, k), and of each vote."""
    shared = weighed(sources.signals.matrix(votes), sources.model.overlap).tocsr()
    logs = np.zeros((*votes.shape, likely.shape[1]))
    rows = np.repeat(np.arange(len(votes)), np.diff(shared.indptr))
    owners = sources.signals.keys[shared.indices] // likely.shape[1]
    says = sources.trust * shared.data[:, None]
    logs[rows, owners] = says * sources.model.ratios[shared.indices]
    return sources.total(np.zeros(likely.shape), likely), logs


def predicted(votes: np.ndarray, start: np.ndarray, logs: np.ndarray) -> np.ndarray:
    """Return how well each row's votes are predicted from its others, (n,) logarithms."""
    total, found, k = start + logs.sum(axis=1), np.zeros(len(votes)), logs.shape[2]
    for source in range(votes.shape[1]):
        rows = np.flatnonzero(votes[:, source] >= 0)
        codes, others = votes[rows, source], softmax(total[rows] - logs[rows, source])
        share = (np.bincount(codes, minlength=k) + 0.5) / (len(rows) + 0.5 * k)
        confusion = others.T @ np.eye(k)[codes] + 2 * share
        confusion /= confusion.sum(axis=1, keepdims=True)
        right = (others * confusion[:, codes].T).sum(axis=1)
        found[rows] += np.log(right) - np.log(share[codes])
    return found


def measure(table: VotedTable) -> dict[str, Any]:
    """Return the accuracies and the gain of held-out votes per draw."""
    return {"draws": [_measured(drawn(table, draw)) for draw in range(DRAWS)]}


def _measured(table: VotedTable) -> dict[str, float]:
    fitted: list[tuple[Sources, np.ndarray, np.ndarray]] = []

    def recorded(votes: np.ndarray, likely: np.ndarray, tells: bool) -> Sources:
        fitted.append((fit(votes, likely, tells), votes, likely))
        return fitted[-1][0]

    with patch.object(belief, "fit_sources", recorded):
        labels = table.coded(select(table.texts, table.named(table.votes).tolist()).labels)
    k, each = len(table.classes), np.arange(len(table.gold))
    sources, votes, likely = fitted[0]
    prior, logs = dawid_skene(table.votes, k)
    said = softmax(prior + logs.sum(axis=1))
    own = predicted(votes, *joined(sources, votes, likely))
    gains = predicted(votes, *dawid_skene(votes, likely.shape[1])) - own
    shares = majority(table.votes, k).probabilities
    return {
        "sources": votes.shape[1],
        "select": float((labels == table.gold).mean()),
        "majority": float(largest(shares)[each, table.gold].mean()),
        "dawid-skene": float(largest(said)[each, table.gold].mean()),
        "errors": float(gains.sum() / max(1e-9, gains.std() * len(gains) ** 0.5)),
    }


def _load(name: str, data_dir: Path) -> VotedTable:
    return load_voted(name, data_dir).with_votes()


if __name__ == "__main__":
    measure_tables("source_guard", __doc__, DRAWN, _load, measure)
