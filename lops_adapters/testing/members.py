"""What every committee member promises."""

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np

from lops_adapters.probes.embedding import EmbeddingProbe
from lops_adapters.selection import Member, MemberFactory
from lops_adapters.selection.committee.folds import FOLDS, Folded
from lops_adapters.selection.committee.member_table import Inputs
from lops_adapters.testing.data import noisy_texts, topic_words

N, K = 240, 3
BY_CHANCE = 0.5  # agreement of three classes by chance is 0.33, with a standard deviation of 0.03
_ALONE = 1e-5  # between probabilities of a sample alone and in a block


def check_member(factory: MemberFactory, inputs: Callable[[Any], Inputs] | None = None) -> None:
    """Check a committee member.

    Its held-out scores are probabilities, the same each time, and do not know the labels that they
    score: of labels drawn at random, it agrees with no more than by chance, also where a group
    shares its label. It scores unseen samples one by one, with and without groups, also after
    pickling.

    Args:
        factory: of the member.
        inputs: samples to what it is built from; default: texts with the static encoder and words
            of every class.

    Raises:
        AssertionError: a promise is broken, or the inputs lack what the member needs.
    """
    build = inputs or _inputs
    texts, labels, _ = noisy_texts(N, K)
    others, _, _ = noisy_texts(40, K, seed=1)
    lacking = sorted(set(factory.needs) - build(texts).kinds)
    assert not lacking, f"{factory.name} needs {', '.join(lacking)}; give inputs with them"
    codes = np.array([int(label[-1]) for label in labels])

    def scored(codes: np.ndarray, **options: Any) -> tuple[Member, np.ndarray]:
        member = factory.make(build(texts))
        names = [f"class {code}" for code in range(K)]
        labelled = Folded(texts, codes, names, FOLDS, **options)
        probabilities = member.score(labelled)
        member.fit(labelled)
        return member, probabilities

    member, probabilities = scored(codes)
    assert member.name, f"{factory.name} has no name"
    assert member.weight > 0, f"{factory.name}: found the weight {member.weight}; wanted above 0"
    _check_probabilities(factory.name, probabilities, N)
    same = np.array_equal(scored(codes)[1], probabilities)
    assert same, f"{factory.name}: the same samples and labels give other probabilities"
    _check_unseen(factory.name, member, others)
    rng = np.random.default_rng(0)
    at_random = rng.permutation(np.arange(N) % K)
    _check_blind(factory.name, "its own label", scored(at_random)[1], at_random)
    groups = np.arange(N) // 4
    of_groups = rng.permutation(np.arange(N // 4) % K)[groups]
    member, probabilities = scored(of_groups, groups=groups)
    _check_blind(factory.name, "the label of its group", probabilities, of_groups)
    again = member.score_unseen(_read(member, texts), groups)
    _check_blind(factory.name, "the label of its group, of unseen samples,", again, of_groups)


def _inputs(samples: Any) -> Inputs:
    return Inputs(samples, encoder=EmbeddingProbe("static"), words=topic_words(K))


def _read(member: Member, samples: Any) -> Any:
    return samples if member.reader is None else member.reader(samples)


def _check_probabilities(name: str, probabilities: np.ndarray, n: int) -> None:
    shape = np.shape(probabilities)
    assert shape == (n, K), f"{name}: found scores of shape {shape}; wanted ({n}, {K})"
    fine = np.isfinite(probabilities).all() and (probabilities >= 0).all()
    fine = fine and np.allclose(probabilities.sum(axis=1), 1, atol=1e-3)
    assert fine, f"{name}: scores are no probabilities that sum to 1"


def _check_unseen(name: str, member: Member, samples: list[str]) -> None:
    probabilities = member.score_unseen(_read(member, samples))
    _check_probabilities(name, probabilities, len(samples))
    stored = pickle.loads(pickle.dumps(member))
    alone = [stored.score_unseen(_read(stored, [sample])) for sample in samples]
    same = np.allclose(np.concatenate(alone), probabilities, atol=_ALONE)
    assert same, f"{name}: the scores of an unseen sample depend on the others, or on pickling"


def _check_blind(name: str, what: str, probabilities: np.ndarray, codes: np.ndarray) -> None:
    agreed = float((probabilities.argmax(axis=1) == codes).mean())
    assert agreed < BY_CHANCE, (
        f"{name} knows {what}: it agrees with {agreed:.0%} of labels that were drawn at random"
    )
