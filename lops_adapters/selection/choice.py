"""How to select: from the options of ``lops select`` to the method."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING, Any

from lops_adapters.core import LopsError
from lops_adapters.encoders.static import STATIC
from lops_adapters.probes import Probe
from lops_adapters.probes.embedding import EmbeddingProbe

if TYPE_CHECKING:
    from lops_adapters.selection.method import Method

AUTO = "auto"
NONE = "none"  # no encoder, as an option of a command
RULES = "rules"
LABELLED_BY = (RULES, "model", "people")
Keep = float | Mapping[Any, float]


def is_fraction(value: Any) -> bool:
    """Return whether a value is a number above 0 and at most 1."""
    number = isinstance(value, Real) and not isinstance(value, bool)
    return bool(number and 0 < value <= 1)


@dataclass(frozen=True)
class Choice:
    """How to select: the arguments of :func:`lops_adapters.select` that are no data; see there.

    Besides these:

    Attributes:
        keep: also class -> fraction, of a method that takes it.
        n: how many samples to keep, see :func:`lops_adapters.selection.build`.
        score_unseen: fit what scores samples outside the table, see :attr:`.Outcome.fitted`.
    """

    method: str = "committee"
    keep: Any = AUTO
    per_class: bool | None = None
    probe: Probe | str | Any = AUTO
    every: int | None = None
    sure: float | None = None
    encoder: str | EmbeddingProbe | None = STATIC
    words: Mapping[Any, Sequence[str]] | None = None
    analyzer: str = AUTO
    seed: int = 0
    strict: bool = False
    quiet: bool = True
    class_shares: Mapping[Any, float] | None = None
    labelled_by: str | None = None
    n: int | None = None
    score_unseen: bool = False

    @property
    def row(self) -> "Method":
        """The method."""
        from lops_adapters.selection.method_table import METHODS

        return METHODS[self.method]

    @property
    def asked(self) -> dict[str, Any]:
        """How many to keep and how often to look, as a report records it."""
        return {"keep": self.keep, "every": self.every, "per_class": self.per_class}

    @property
    def given(self) -> list[str]:
        """The names of what is given and few methods take.

        >>> Choice("learning-order").given, Choice(encoder="minilm", sure=0.9).given
        ([], ['encoder', 'sure'])
        """
        encoder = self.encoder
        usual = encoder is None or (isinstance(encoder, str) and encoder in (STATIC, NONE))
        given = {"encoder": not usual, "words": self.words is not None}
        names = ("sure", "class_shares", "labelled_by")
        given |= {name: getattr(self, name) is not None for name in names}
        given["score_unseen"] = self.score_unseen
        return [name for name, is_given in given.items() if is_given]

    @property
    def origin(self) -> str | None:
        """Who labelled; words of the classes imply rules. None: not known."""
        return RULES if self.labelled_by is None and self.words is not None else self.labelled_by

    @property
    def classifier(self) -> Probe:
        """The probe; a LopsError if none is given."""
        if not isinstance(self.probe, Probe):
            raise LopsError(f"{self.method} needs a probe; pass one, such as probe='linear'")
        return self.probe
