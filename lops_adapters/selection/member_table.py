"""The members of a committee by what they score, and what they are built from.

A new member is a class in :mod:`~lops_adapters.selection.members` or a module of its own, and a
line here.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np

from lops_adapters.encoders.static import STATIC
from lops_adapters.encoders.topics import Topics
from lops_adapters.encoders.word_counts import AUTO, CHAR, KnownWords, count_words, is_unspaced
from lops_adapters.probes import probe_class
from lops_adapters.probes.base import Probe
from lops_adapters.probes.embedding import EmbeddingProbe, given_vectors
from lops_adapters.probes.linear import LinearProbe
from lops_adapters.selection.members import ClassWords, Learnt, Member, Neighbours, VectorRegression

# Chosen on half of the tables of benchmarks.static_encoder, confirmed on the others: neighbours by
# static vectors repeat much of what the regression on them says, and topics of 20,000 words do.
_WEIGHT_OF_STATIC = 0.5
_TOPICS_WITH_STATIC = {"width": 100, "most": 20_000}


def is_transformer(encoder: object) -> bool:
    """Return whether an encoder, None for none, is not the static one.

    >>> is_transformer(None), is_transformer("static"), is_transformer("minilm")
    (False, False, True)
    """
    return encoder not in (None, STATIC)


def members_of_vectors(probe: Probe | None, quiet: bool = True) -> list[Member]:
    """Return the members that score vectors; the probe is by default a softmax on them."""
    return [
        Learnt("the probe", probe or EmbeddingProbe(quiet=quiet)),
        Neighbours("neighbours", _unit),
        VectorRegression("regression", _unit),
    ]


def members_of_texts(
    texts: Sequence[Any],
    probe: Probe | None,
    encoder: EmbeddingProbe | None,
    words: Mapping[Hashable, Sequence[str]] | None = None,
    seed: int = 0,
    quiet: bool = True,
) -> list[Member]:
    """Return the members that score texts or tokens; they count the words once.

    The probe is by default the linear one; without an encoder, or without words of every class,
    there are no members that need these.
    """
    probe = probe or probe_class("linear")(quiet=quiet)
    linear, static = isinstance(probe, LinearProbe), encoder and encoder.encoder == STATIC
    counts = count_words(texts, probe.analyzer if isinstance(probe, LinearProbe) else AUTO)
    counted: dict[str, Any] = {"read": counts, "reader": KnownWords(counts)}
    fewer = static and 2 * sum(map(is_unspaced, counts.words)) <= len(counts.words)
    topics = Topics(counts, seed, **(_TOPICS_WITH_STATIC if fewer else {}))
    name = "TF-IDF" if probe.kind == "linear" else probe.name
    members: list[Member] = [
        Learnt(name, probe, **(counted if linear else {})),
        Neighbours("neighbours (LSA)", topics, **counted),
    ]
    if encoder is None:
        return members
    vectors, weight = encoder.vectors, _WEIGHT_OF_STATIC if static else 1.0
    # The static encoder reads counted words; members that share it encode further texts once.
    encoded = {} if not static or counts.analyzer == CHAR else {**counted, "read": vectors(counts)}
    members += [
        Neighbours("neighbours", vectors, **encoded, weight=weight),
        VectorRegression("regression", vectors, **encoded),
    ]
    return members if words is None else [*members, ClassWords("class words", vectors, words)]


def _unit(samples: Sequence[Any]) -> np.ndarray:
    """Return given vectors scaled to unit length."""
    vectors = given_vectors(samples)
    assert vectors is not None
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.maximum(lengths, 1e-9))
