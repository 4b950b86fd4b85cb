"""The members of a committee by what they score: the table, and what they are built from.

A new member is a class in :mod:`~lops_adapters.selection.members` or a module of its own, and a row
of the table.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from lops_adapters.encoders.static import STATIC
from lops_adapters.encoders.topics import Topics
from lops_adapters.encoders.word_counts import (
    AUTO,
    CHAR,
    KnownWords,
    WordCounts,
    count_words,
    is_unspaced,
)
from lops_adapters.probes import probe_class
from lops_adapters.probes.base import Probe
from lops_adapters.probes.embedding import EmbeddingProbe, given_vectors
from lops_adapters.probes.linear import LinearProbe
from lops_adapters.selection.members import (
    ClassWords,
    Learnt,
    Member,
    Neighbours,
    OwnProbabilities,
    VectorRegression,
)

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


@dataclass
class Inputs:
    """What members are built from.

    Args:
        samples: n texts or tokens, or vectors, or probabilities.
        probe: of the first member; None: the default.
        encoder: of texts; None: no members that need one.
        words: of every class; None: no member that needs them.
        seed: of members that draw.
        quiet: no progress bars.

    """

    samples: Sequence[Any]
    probe: Probe | None
    encoder: EmbeddingProbe | None = None
    words: Mapping[Hashable, Sequence[str]] | None = None
    seed: int = 0
    quiet: bool = True

    @cached_property
    def text_probe(self) -> Probe:
        """The probe of texts, by default the linear one."""
        return self.probe or probe_class("linear")(quiet=self.quiet)

    @cached_property
    def counts(self) -> WordCounts:
        """The words of the texts, counted once for all members."""
        probe = self.text_probe
        return count_words(self.samples, probe.analyzer if isinstance(probe, LinearProbe) else AUTO)

    @cached_property
    def count_further(self) -> KnownWords:
        """Counts the words of further texts."""
        return KnownWords(self.counts)

    @property
    def is_static(self) -> bool:
        """Whether the encoder is the static one."""
        return self.encoder is not None and self.encoder.encoder == STATIC

    @cached_property
    def shared(self) -> dict[str, Any]:
        """How members of an encoder read texts: the static one reads counted words, once."""
        if not self.is_static or self.counts.analyzer == CHAR:
            return {}
        return {"read": self.vectors(self.counts), "reader": self.count_further}

    @property
    def vectors(self) -> Callable[[Any], np.ndarray]:
        """Gives the encoder's vectors; members that share it encode further texts once."""
        assert self.encoder is not None
        return self.encoder.vectors


class Row(NamedTuple):
    """A row of the table.

    Attributes:
        scores: texts, vectors or probabilities.
        needs: which inputs it needs besides samples.
        make: builds the member.

    """

    scores: str
    needs: tuple[str, ...]
    make: Callable[[Inputs], Member]


def _probe_of_texts(inputs: Inputs) -> Member:
    probe = inputs.text_probe
    member = Learnt("TF-IDF" if probe.kind == "linear" else probe.name, probe)
    if isinstance(probe, LinearProbe):
        member.read, member.reader = inputs.counts, inputs.count_further
    return member


def _neighbours_by_topics(inputs: Inputs) -> Member:
    spaced = 2 * sum(map(is_unspaced, inputs.counts.words)) <= len(inputs.counts.words)
    size = _TOPICS_WITH_STATIC if inputs.is_static and spaced else {}
    topics = Topics(inputs.counts, inputs.seed, **size)
    return Neighbours("neighbours (LSA)", topics, read=inputs.counts, reader=inputs.count_further)


def _neighbours_by_encoder(inputs: Inputs) -> Member:
    weight = _WEIGHT_OF_STATIC if inputs.is_static else 1.0
    return Neighbours("neighbours", inputs.vectors, **inputs.shared, weight=weight)


def _regression_on_encoder(inputs: Inputs) -> Member:
    return VectorRegression("regression", inputs.vectors, **inputs.shared)


def _class_words(inputs: Inputs) -> Member:
    return ClassWords("class words", inputs.vectors, inputs.words or {})


MEMBERS = (
    Row("texts", (), _probe_of_texts),
    Row("texts", (), _neighbours_by_topics),
    Row("texts", ("encoder",), _neighbours_by_encoder),
    Row("texts", ("encoder",), _regression_on_encoder),
    Row("texts", ("encoder", "words"), _class_words),
    Row("vectors", (),
        lambda inputs: Learnt("the probe", inputs.probe or EmbeddingProbe(quiet=inputs.quiet))),
    Row("vectors", (), lambda inputs: Neighbours("neighbours", _unit)),
    Row("vectors", (), lambda inputs: VectorRegression("regression", _unit)),
    Row("probabilities", (), lambda inputs: OwnProbabilities("your classifier")),
)  # fmt: skip


def members_of(inputs: Inputs, scores: str) -> list[Member]:
    """Return the members that score texts, vectors or probabilities from these inputs."""
    return [
        row.make(inputs)
        for row in MEMBERS
        if row.scores == scores and all(getattr(inputs, name) is not None for name in row.needs)
    ]


def _unit(samples: Sequence[Any]) -> np.ndarray:
    """Return given vectors scaled to unit length."""
    vectors = given_vectors(samples)
    assert vectors is not None
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.maximum(lengths, 1e-9))
