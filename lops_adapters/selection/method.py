"""What a method is: a small class with one call, ``method(labelled, choice) -> Outcome``."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar

from lops_adapters.console import typed
from lops_adapters.core import LopsError
from lops_adapters.labels.labelled import Labelled
from lops_adapters.selection.choice import AUTO, Choice
from lops_adapters.selection.outcome import Outcome

RANKED = "{share} that {name} ranks highest"
_OWN = "option"


def option(default: Any) -> Any:
    """Return a field of a method that is an option of its own, with its default."""
    return field(default=default, metadata={_OWN: True})


def check_variant(variant: str, known: Sequence[str]) -> None:
    """Raise a LopsError about an unknown variant of a method."""
    if variant not in known:
        raise LopsError(f"variant is {variant!r}; wanted one of {', '.join(known)}")


@dataclass(frozen=True)
class Method:
    """A selection method, a row of :data:`~lops_adapters.selection.METHODS`.

    A subclass says what it needs, takes and can do by the class attributes below; its own options
    are fields made by :func:`option`.

    Attributes:
        name: what :func:`lops_adapters.selection.build` takes.
        summary: one line.
        kept: what is kept, as a sentence without its full stop; ``{share}`` becomes the
            fraction, ``{name}`` the name. A method that decides how many to keep needs its own.
        kept_evenly: the same with ``per_class``, of a method that decides how many to keep.
        is_probability: whether its confidence is the probability that the label is right.
        per_class: whether it keeps the same share of every class by default, as the paper
            describes it; None: it has no choice.
        by_class: whether the fraction may differ between classes.

    Raises:
        LopsError: a method that decides how many to keep has no sentence of its own.
    """

    name: str
    summary: str
    kept: str = RANKED
    kept_evenly: str = ""
    is_probability: bool = False
    per_class: bool | None = False
    by_class: bool = False

    needs_probe = True  # a probe is trained
    texts = False  # it scores texts, also where a framework's own samples are something else
    takes_n = True  # it can keep exactly n samples
    takes_keep = True  # it keeps a fraction of the samples; others decide how many
    checkpoints = False  # it looks at the probe while that trains
    validates = False  # it uses cross-validation
    timed = False  # it notes when a sample is learnt
    warns = False  # it warns of classes of which nothing is learnt
    keeps_all = False  # as the Standard arm
    control = False  # a framework gives it the numbers per class that another arm kept
    alone = False  # each row is scored by itself, so that the order of the rows cannot matter
    # Votes, groups, checked rows, gold labels; and parts of a choice that few methods take.
    takes: ClassVar[tuple[str, ...]] = ()
    reads: ClassVar[tuple[str, ...]] = ()

    def __post_init__(self) -> None:
        silent = "kept" if "{share}" in self.kept else ""
        if self.per_class is not None and not self.kept_evenly:
            silent = silent or "kept_evenly"
        if not self.takes_keep and silent:
            raise LopsError(
                f"the method {self.name!r} decides how many to keep and does not say what; give "
                f"{silent}, such as 'rows whose label ...'"
            )

    def __call__(self, labelled: Labelled, choice: Choice) -> Outcome:
        """Select among samples that come in the order of their content, see :mod:`.canonical`."""
        raise NotImplementedError

    def check(self, choice: Choice) -> None:
        """Raise a LopsError about parts of a choice that cannot work."""

    def check_probe(self, choice: Choice) -> None:
        """Raise a LopsError about the probe of a choice, before the first selection."""
        if self.needs_probe:
            _ = choice.classifier

    @property
    def options(self) -> tuple[str, ...]:
        """The names of what it takes and few others do."""
        own = tuple(one.name for one in fields(self) if _OWN in one.metadata)
        return (*own, *self.reads)

    def check_names(self, names: Iterable[str]) -> None:
        """Raise a LopsError if one of these is no option of the method."""
        unknown = sorted(set(names) - set(self.options))
        if unknown:
            name, known = typed(unknown[0]), ", ".join(self.options) or "none of its own"
            hint = f"its options are: {known}" if name == unknown[0] else "leave it out"
            raise LopsError(f"{self.name} has no option {name!r}; {hint}")

    @property
    def assesses(self) -> bool:
        """Whether it says how probable each class is, see :class:`Assessor`."""
        return isinstance(self, Assessor)

    @property
    def corrects(self) -> bool:
        """Whether it can correct labels."""
        return "correct" in self.options

    @property
    def needs_gold(self) -> bool:
        """Whether it is defined by gold labels; no other method may be given any."""
        return "gold" in self.takes

    @property
    def train_on(self) -> str:
        """What a classifier gains most from, see docs/limits.md."""
        corrected = "on train.csv, the corrected labels with their weights"
        return corrected if self.assesses else "on the kept rows"

    def says(self, arguments: Mapping[str, Any]) -> str:
        """Return what is kept, in words, given ``keep``, ``per_class`` and ``sure``."""
        keep, even, sure = (arguments.get(name) for name in ("keep", "per_class", "sure"))
        even = self.per_class if even is None else even
        if not self.takes_keep:
            if even:
                return self.kept_evenly
            if sure is not None:
                return f"rows whose label is right with a probability of at least {float(sure):g}"
            return self.kept.format(name=self.name)
        share = "a share found by cross-validation,"
        if keep is not None and keep != AUTO:
            share = f"the fraction {float(keep):g}"
        sentence = self.kept.format(share=share, name=self.name)
        return f"per class, {sentence}" if even else sentence


class Assessor(Method):
    """A method that says how probable each class of each sample is.

    Then labels are also corrected and weighted, wrong labels counted, and rows named that are worth
    a check. With :attr:`.Choice.score_unseen` its outcome has what scores unseen samples.
    """

    takes = ("votes", "groups", "checked")
