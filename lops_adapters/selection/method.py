"""A selection method as a row that speaks for itself, so that no other module knows its name."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from lops_adapters.core import LopsError
from lops_adapters.selection.auto_keep import AUTO
from lops_adapters.selection.selectors import Select

RANKED = "{share} that {name} ranks highest"


@dataclass(frozen=True)
class Method:
    """A row of :data:`~lops_adapters.selection.methods.METHODS`.

    Attributes:
        name: what :func:`lops_adapters.selection.build` takes.
        summary: one line.
        make: from a checked :class:`~lops_adapters.selection.request.Request` to what selects among
            labelled samples; options are its further arguments.
        kept: what is kept, as a sentence without its full stop; ``{share}`` becomes the
            fraction, ``{name}`` the name. A method that decides how many to keep needs its own.
        kept_evenly: the same with ``per_class``, of a method that decides how many to keep.
        is_probability: whether its confidence is the probability that the label is right.
        assesses: whether it tells a :class:`~lops_adapters.selection.suggestions.Listener` how
            probable each class is, by ``settle``. Then the labels are also corrected and weighted,
            wrong labels counted, and rows named that are worth a check.
        takes: which of votes, groups, checked rows and gold labels it takes, as :func:`build`
            names them.
        needs_probe: whether a probe is trained.
        takes_n: whether it can keep exactly n samples.
        takes_keep: whether it keeps a fraction of the samples; others decide how many.
        per_class: whether it keeps the same share of every class by default, as the paper
            describes it; None: it has no choice.
        by_class: whether the fraction may differ between classes.
        checkpoints: whether it looks at the probe while that trains.
        timed: whether it notes when a sample is learnt.
        warns: whether it warns of classes of which nothing is learnt.
        texts: whether it scores texts, also where a framework's own samples are something else.
        alone: whether each row is scored by itself, so that the order of the rows cannot matter.
        keeps_all: whether it keeps everything, as the Standard arm.
        control: whether a framework gives it the numbers per class that another arm kept.
        options: names of its own options. Some say what the method can do: ``folds``, it uses
            cross-validation; ``encoder``, it has members; ``probabilities``, it takes those of a
            classifier in place of samples; ``correct``, it can correct labels; ``fitted``, it can
            score further rows; ``sure``, the least probability that it keeps.
        check: raises a LopsError about their values.

    Raises:
        LopsError: a method that decides how many to keep has no sentence of its own.
    """

    name: str
    summary: str
    make: Callable[..., Select] = field(repr=False)
    kept: str = RANKED
    kept_evenly: str = ""
    is_probability: bool = False
    assesses: bool = False
    takes: tuple[str, ...] = ()
    needs_probe: bool = True
    takes_n: bool = True
    takes_keep: bool = True
    per_class: bool | None = False
    by_class: bool = False
    checkpoints: bool = False
    timed: bool = False
    warns: bool = False
    texts: bool = False
    alone: bool = False
    keeps_all: bool = False
    control: bool = False
    options: tuple[str, ...] = ()
    check: Callable[..., None] | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        silent = "kept" if "{share}" in self.kept else ""
        if self.per_class is not None and not self.kept_evenly:
            silent = silent or "kept_evenly"
        if not self.takes_keep and silent:
            raise LopsError(
                f"the method {self.name!r} decides how many to keep and does not say what; give "
                f"{silent}, such as 'rows whose label ...'"
            )

    @property
    def needs_gold(self) -> bool:
        """Whether it is defined by gold labels; no other method may be given any."""
        return "gold" in self.takes

    @property
    def corrects(self) -> bool:
        """Whether it can correct labels."""
        return "correct" in self.options

    @property
    def scores_further(self) -> bool:
        """Whether it can be fitted to a sample and score further rows."""
        return "fitted" in self.options

    @property
    def has_members(self) -> bool:
        """Whether members on an encoder can also score the rows."""
        return "encoder" in self.options

    @property
    def train_on(self) -> str:
        """What a classifier gains most from, see docs/how-much.md."""
        return "on the corrected labels with their weights" if self.assesses else "on the kept rows"

    def says(self, arguments: Mapping[str, Any]) -> str:
        """Return what is kept, in words, given ``keep``, ``per_class`` and the options."""
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
