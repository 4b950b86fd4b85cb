"""The members of a committee: what each needs and gives, and how it is built.

A new member is a class in :mod:`~.members` or a module of its own, and a
row of :data:`MEMBERS`.
"""

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from lops_adapters.core import LopsError
from lops_adapters.encoders.static import STATIC
from lops_adapters.encoders.tf_idf import Topics, of_unit_length
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
from lops_adapters.registry import Registry
from lops_adapters.selection.committee.member import Member
from lops_adapters.selection.committee.members import (
    ClassWords,
    Learnt,
    Neighbours,
    VectorRegression,
    Vectors,
)

TEXTS, VECTORS, WORDS = "texts", "vectors", "words"
KINDS = (TEXTS, VECTORS, WORDS)  # of inputs, as members need them
# Chosen on half of the tables of benchmarks.static_encoder, confirmed on the others: neighbours by
# static vectors repeat much of what the regression on them says, and topics of 20,000 words do.
_WEIGHT_OF_STATIC = 0.5
_TOPICS_WITH_STATIC = {"width": 100, "most": 20_000}


class Inputs:
    """What members are built from; each part is made when a member asks for it, and once.

    Args:
        samples: n texts, tokens, or vectors, (n, width).
        probe: of the first member; default: a linear one, on vectors a softmax.
        encoder: of texts; None: none.
        words: class -> words; they need an encoder.
        seed: of decompositions.
        quiet: no progress bars.

    Attributes:
        kinds: the present ones of :data:`KINDS`: ``texts``, the samples are texts or tokens;
            ``vectors``, :attr:`encode` works; ``words``, every class has words, and
            :attr:`encode` reads them, too.
    """

    def __init__(
        self,
        samples: Any,
        probe: Probe | None = None,
        encoder: EmbeddingProbe | None = None,
        words: Mapping[Hashable, Sequence[str]] | None = None,
        seed: int = 0,
        quiet: bool = True,
    ) -> None:
        self.samples, self.encoder, self.seed, self.quiet = samples, encoder, seed, quiet
        self.words: Mapping[Hashable, Sequence[str]] = words or {}
        self._probe = probe
        self.kinds = kinds_of(given_vectors(samples) is None, encoder, words)

    @cached_property
    def probe(self) -> Probe:
        """The probe of the first member."""
        if TEXTS not in self.kinds:
            return self._probe or EmbeddingProbe(quiet=self.quiet)
        return self._probe or probe_class("linear")(quiet=self.quiet)

    @cached_property
    def counts(self) -> WordCounts:
        """The words of texts, counted as a linear probe reads them."""
        probe = self.probe
        analyzer = probe.analyzer if isinstance(probe, LinearProbe) else AUTO
        return count_words(self.samples, analyzer)

    @cached_property
    def counted(self) -> dict[str, Any]:
        """``read`` and ``reader`` of members that take counted words."""
        return {"read": self.counts, "reader": KnownWords(self.counts)}

    @property
    def encode(self) -> Vectors:
        """Samples to vectors of unit length: the encoder, or the samples themselves."""
        return _unit if self.encoder is None or TEXTS not in self.kinds else self.encoder.vectors

    @property
    def is_static(self) -> bool:
        """Whether the encoder of texts is the static one."""
        return TEXTS in self.kinds and getattr(self.encoder, "encoder", None) == STATIC

    @cached_property
    def encoded(self) -> dict[str, Any]:
        """``read`` and ``reader`` of members on an encoder.

        The static encoder reads counted words; members that share it encode unseen texts once.
        """
        if not self.is_static or self.counts.analyzer == CHAR:
            return {}
        return {**self.counted, "read": self.encode(self.counts)}


@dataclass(frozen=True)
class MemberFactory:
    """A row of :data:`MEMBERS`.

    Attributes:
        name: of the row.
        needs: kinds of inputs, of :data:`KINDS`; without all of them it is not built.
        gives: what its probabilities are, in a few words, for the line that names the members;
            ``{probe}`` becomes the probe.
        make: builds the member.

    Raises:
        LopsError: an unknown kind of input.
    """

    name: str
    needs: tuple[str, ...]
    gives: str
    make: Callable[[Inputs], Member] = field(repr=False)

    def __post_init__(self) -> None:
        unknown = [kind for kind in self.needs if kind not in KINDS]
        if unknown:
            raise LopsError(
                f"the member {self.name!r} needs {unknown[0]!r}; wanted some of {', '.join(KINDS)}"
            )


def _probe(inputs: Inputs) -> Member:
    name = "TF-IDF" if inputs.probe.kind == "linear" else inputs.probe.name
    if TEXTS not in inputs.kinds:
        return Learnt("the probe", inputs.probe)
    counted = inputs.counted if isinstance(inputs.probe, LinearProbe) else {}
    return Learnt(name, inputs.probe, **counted)


def _topics(inputs: Inputs) -> Member:
    counts = inputs.counts
    fewer = inputs.is_static and 2 * sum(map(is_unspaced, counts.words)) <= len(counts.words)
    topics = Topics(counts, inputs.seed, **(_TOPICS_WITH_STATIC if fewer else {}))
    return Neighbours("neighbours (LSA)", topics, **inputs.counted)


def _neighbours(inputs: Inputs) -> Member:
    weight = _WEIGHT_OF_STATIC if inputs.is_static else 1.0
    return Neighbours("neighbours", inputs.encode, **inputs.encoded, weight=weight)


_ROWS = (
    MemberFactory("probe", (), "{probe}", _probe),
    MemberFactory("topics", (TEXTS,), "neighbours by LSA", _topics),
    MemberFactory("neighbours", (VECTORS,), "neighbours", _neighbours),
    MemberFactory("regression", (VECTORS,), "logistic regression",
                  lambda inputs: VectorRegression("regression", inputs.encode, **inputs.encoded)),
    MemberFactory("class words", (TEXTS, VECTORS, WORDS), "class words",
                  lambda inputs: ClassWords("class words", inputs.encode, inputs.words)),
)  # fmt: skip
MEMBERS = Registry("member", "lops_adapters.members", MemberFactory, _ROWS)


def register_member(member: MemberFactory) -> MemberFactory:
    """Add a member to every committee and return it; a package may name it as an entry point.

    It is built where the inputs that it needs are there, see docs/extend.md.

    Raises:
        LopsError: another member has this name.
    """
    return MEMBERS.register(member)


def kinds_of(texts: bool, encoder: object, words: object) -> frozenset[str]:
    """Return the kinds of inputs that there are; without texts, samples are vectors.

    >>> sorted(kinds_of(True, "static", None)), sorted(kinds_of(True, None, {"a": ["b"]}))
    (['texts', 'vectors'], ['texts'])
    """
    if not texts:
        return frozenset({VECTORS})
    encoded = () if encoder is None else (VECTORS, *(() if words is None else (WORDS,)))
    return frozenset({TEXTS, *encoded})


def members_of(inputs: Inputs) -> list[Member]:
    """Return the members of :data:`MEMBERS` that have what they need, in its order."""
    return [row.make(inputs) for row in MEMBERS.values() if inputs.kinds.issuperset(row.needs)]


def names_of(kinds: frozenset[str], probe: str, encoder: str | None = None) -> str:
    """Return what these kinds of inputs give; ``probe`` and ``encoder`` are names.

    >>> names_of(kinds_of(True, "static", None), "TF-IDF", "static")
    'TF-IDF, neighbours by LSA, neighbours and logistic regression on static'
    """
    rows = [row for row in MEMBERS.values() if kinds.issuperset(row.needs)]
    on_encoder = [row.gives for row in rows if row.needs == (VECTORS,) and encoder is not None]
    names = [row.gives.format(probe=probe) for row in rows if row.gives not in on_encoder[1:]]
    together = f"{' and '.join(on_encoder)} on {encoder}"
    return ", ".join(together if name in on_encoder else name for name in names)


def _unit(samples: Sequence[Any]) -> np.ndarray:
    """Return given vectors scaled to unit length."""
    vectors = given_vectors(samples)
    assert vectors is not None
    return of_unit_length(vectors.copy())
