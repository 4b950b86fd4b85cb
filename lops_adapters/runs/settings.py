"""Settings of a run: one field per setting, with its help, its range and its option."""

from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field, asdict, dataclass, field, fields, replace
from typing import Any, ClassVar, NamedTuple, TypeVar

from lops_adapters.console import typed
from lops_adapters.core import LopsError
from lops_adapters.encoders.static import STATIC
from lops_adapters.probes import FROZEN, Probe
from lops_adapters.runs.arms import (
    ADAPTIVE,
    ADAPTIVE_METHOD,
    CONTROLS,
    CORRECTED,
    LOPS,
    STANDARD,
    Arm,
    parent,
    read_arms,
)
from lops_adapters.selection import METHODS, Method
from lops_adapters.selection.choice import AUTO
from lops_adapters.selection.committee.committee import KEEP_ALL

SomeSettings = TypeVar("SomeSettings", bound="FrameworkSettings")


class Range(NamedTuple):
    """The values a setting may have: what an error says is wanted, and the test."""

    wanted: str
    holds: Callable[[Any], bool]


AT_LEAST_ONE = Range("at least 1", lambda value: value >= 1)
ABOVE_ZERO = Range("a number above 0", lambda value: value > 0)
NOT_NEGATIVE = Range("a number, at least 0", lambda value: 0 <= value < float("inf"))
FRACTION = Range("a fraction above 0 and at most 1", lambda value: 0 < value <= 1)
KEEP = Range(
    "a fraction above 0 and at most 1, or auto", lambda value: value == "auto" or 0 < value <= 1
)
SHARE = Range("a fraction from 0 to 1", lambda value: 0 <= value <= 1)
BELOW_ONE = Range("a fraction, at least 0 and below 1", lambda value: 0 <= value < 1)
CHECKPOINTS = Range(
    "a number of updates, at least 1, or epoch",
    lambda value: value == "epoch" or (isinstance(value, int) and value >= 1),
)


# The setting ``every``; frameworks have different defaults.
EVERY: Mapping[str, Any] = {
    "help": "look at the probe after every B updates, or once per epoch",
    "within": CHECKPOINTS,
    "metavar": "B|epoch",
    "option": "selection",
}


def one_of(choices: tuple[str, ...]) -> Range:
    """Return the range of a setting with named values."""
    return Range(f"one of {', '.join(choices)}", lambda value: value in choices)


def setting(
    default: Any,
    help: str,
    *,
    within: Range | None = None,
    choices: tuple[str, ...] | None = None,
    metavar: str | None = None,
    usual: str | None = None,
    option: str | None = "",
) -> Any:
    """Return a settings field.

    Args:
        default: its value; a preset may have another.
        help: one line, for ``--help`` and the class documentation.
        within: the values allowed; default: of a whole number, at least 1. None is allowed where
            the field's type says so.
        choices: the names allowed.
        metavar: of the option.
        usual: the default as ``--help`` shows it; default: its value, per preset.
        option: its group in ``--help``: "" for the framework's own; None: there is no option.
    """
    if type(default) is int and within is None:
        within = AT_LEAST_ONE
    about = {
        "help": help,
        "within": one_of(choices) if choices else within,
        "choices": choices,
        "metavar": metavar,
        "usual": usual,
        "option": option,
    }
    return field(default=default, metadata=about)


@dataclass(frozen=True, kw_only=True)
class FrameworkSettings:
    """Everything that decides the result of a run besides data and seed.

    A framework's settings are a subclass that adds fields and names its arms, probes and presets.
    They survive a round trip through JSON. ``probe="same"`` is the framework's own classifier.
    """

    ARMS: ClassVar[tuple[str, ...]] = (STANDARD, LOPS)
    MORE_ARMS: ClassVar[tuple[str, ...]] = ()
    PLACES: ClassVar[tuple[str, ...]] = ()  # where arms can select, as the end of their names
    PROBES: ClassVar[tuple[str, ...]] = ("same",)
    PRESETS: ClassVar[Mapping[str, Mapping[str, Any]]] = {"quick": {}, "paper": {}}
    WHEN_FAITHFUL: ClassVar[Mapping[str, Any]] = {}
    # What made the paper's numbers, under the preset ``paper`` and ``faithful``.
    PUBLISHED: ClassVar[Mapping[str, Any]] = {"method": "released"}

    # First: it changes others, and an error of --resume names the first setting that differs.
    faithful: bool = setting(
        False, "follow the original where this package differs from it; see the docs", option="run"
    )
    probe: str = setting(
        "same", "classifier that is watched; same: the framework's own", option="selection"
    )
    method: str = setting(
        "algorithm1",
        "the lops arms: the paper's algorithm1, or released, as the authors' code selects",
        choices=("algorithm1", "released"),
        usual="algorithm1; paper and --faithful: released",
        option="selection",
    )
    keep: float | str = setting(
        0.5,
        "fraction to keep per class; auto, always of lops-adaptive: the share that a held-out "
        "linear probe agrees with",
        within=KEEP,
        metavar="F|auto",
        option="selection",
    )
    every: int | str = setting("epoch", **EVERY)

    def __init_subclass__(cls) -> None:
        """List the fields that are not of all frameworks in a subclass's documentation."""
        inherited = cls.__dataclass_fields__.items()  # of the class above
        named = {name: value for name, value in inherited if not hasattr(FrameworkSettings, name)}
        named |= {name: value for name, value in vars(cls).items() if isinstance(value, Field)}
        lines = [f"        {name}: {value.metadata['help']}." for name, value in named.items()]
        if lines:
            cls.__doc__ = "\n".join([cls.__doc__ or "", "", "    Args:", *lines, ""])

    def __post_init__(self) -> None:
        _check("probe", self.probe, one_of(self.PROBES))
        for item in fields(self):
            value, within = getattr(self, item.name), item.metadata.get("within")
            if within is not None and not (value is None and "None" in str(item.type)):
                _check(item.name, value, within)

    @property
    def frozen_encoder(self) -> str | None:
        """The encoder that the classifier reads without training it, if any."""
        frozen = getattr(self, "classifier", None) in FROZEN
        return getattr(self, "encoder", None) if frozen else None

    @property
    def committee_encoder(self) -> str:
        """The encoder of a committee: the classifier's, which has then read the texts."""
        return self.frozen_encoder or STATIC

    @property
    def usual_arms(self) -> tuple[str, ...]:
        """The arms of a run that names none.

        With a classifier on a frozen encoder, ``committee`` is one of them: it takes seconds,
        and docs/findings.md shows that it pays.
        """
        pays = self.frozen_encoder is not None and not self.faithful
        return (*self.ARMS, "committee") if pays else self.ARMS

    @classmethod
    def split(cls, arm: str) -> tuple[str, str]:
        """Return the method that an arm is named after, and the place where it selects, if named.

        >>> FrameworkSettings.split("lops")
        ('lops', '')
        """
        for place in cls.PLACES:
            if arm.endswith(f"-{place}"):
                return arm.removesuffix(f"-{place}"), place
        return arm, ""

    def arm(self, name: str) -> Arm:
        """Return how the arm of a name selects."""
        method, _ = self.split(name)
        own = {
            LOPS: Arm(self.method, self.keep),
            ADAPTIVE: Arm(ADAPTIVE_METHOD, AUTO),
            CORRECTED: Arm("committee", self.keep, KEEP_ALL, relabels=True),
        }
        return own.get(method) or Arm("random" if parent(method) else method, self.keep)

    def row(self, arm: str) -> Method:
        """Return the method of an arm."""
        return METHODS[self.arm(arm).method]

    @classmethod
    def known_arms(cls) -> tuple[str, ...]:
        """Return the arms that a run can have: the settings' own, every other method, controls."""
        own = (*cls.ARMS, ADAPTIVE, *cls.MORE_ARMS)
        return (*own, *(name for name in METHODS if name not in own), CORRECTED, *CONTROLS)

    def arms(self, text: str | None) -> list[str]:
        """Return the arms to run: those of a comma-separated list; None: the usual ones."""
        return read_arms(",".join(self.usual_arms) if text is None else text, self.known_arms())

    @property
    def reads_seeds(self) -> bool:
        """Whether seed words supervise the framework, not names alone."""
        return True

    @property
    def final_rounds(self) -> int:
        """The rounds of the last stage, see :mod:`lops_adapters.runs.rounds`."""
        return 0

    def final_method(self, arm: str) -> str:
        """Return the method that an arm selects with before these rounds."""
        return arm

    def recipe(self, probing: bool) -> dict[str, Any]:
        """Return sizes and epochs of the classifier or the probe, as ``text_probe`` takes them."""
        return {"max_tokens": 128}

    @property
    def updates_between_checkpoints(self) -> int | None:
        """``every`` as a selector takes it: a number of updates, None for once per epoch."""
        return None if isinstance(self.every, str) else self.every

    def check_probe(self, probe: Probe, n_samples: int, samples: str) -> None:
        """Refuse an ``every`` larger than the updates that a probe makes on n samples.

        ``samples`` names them in the error.
        """
        batch_size = int(getattr(probe, "batch_size", 1))
        self.check_checkpoints(probe.max_epochs * -(-n_samples // batch_size), samples)

    def check_checkpoints(self, updates: int, samples: str) -> None:
        """Refuse an ``every`` larger than the ``updates`` a probe makes on these ``samples``."""
        if (self.updates_between_checkpoints or 0) > updates:
            raise LopsError(
                f"{typed('every')} is {self.every}, and the probe makes {updates} updates on "
                f"{samples}; wanted a smaller number, or epoch"
            )

    def as_dict(self) -> dict[str, Any]:
        """Return the settings in JSON's own types."""
        return asdict(self)

    @classmethod
    def preset(cls: type[SomeSettings], name: str, **overrides: Any) -> SomeSettings:
        """Return a preset, settings overridden unless None; LopsError: an unknown or bad value."""
        if name not in cls.PRESETS:
            raise LopsError(
                f"{typed('preset')} is {name!r}; wanted one of {', '.join(cls.PRESETS)}"
            )
        unknown = set(overrides) - {item.name for item in fields(cls)}
        if unknown:
            raise LopsError(f"unknown settings: {', '.join(sorted(unknown))}")
        values = {key: value for key, value in overrides.items() if value is not None}
        published = cls.PUBLISHED if name == "paper" or values.get("faithful") else {}
        settings = cls(**{**published, **cls.PRESETS[name], **values})
        return replace(settings, **cls.WHEN_FAITHFUL) if settings.faithful else settings

    def unlike_paper(self) -> dict[str, tuple[Any, Any]]:
        """Return the settings that the preset ``paper`` has otherwise: name -> (here, there)."""
        paper = self.preset("paper", faithful=self.faithful)
        names = {name for values in self.PRESETS.values() for name in values}
        pairs = {
            item.name: (getattr(self, item.name), getattr(paper, item.name))
            for item in fields(self)
            if item.name in names
        }
        return {name: pair for name, pair in pairs.items() if pair[0] != pair[1]}

    @classmethod
    def usual(cls, name: str) -> str:
        """Return the default of a setting as ``--help`` shows it, per preset where they differ."""
        item = next(item for item in fields(cls) if item.name == name)
        if item.metadata["usual"] is not None:
            return str(item.metadata["usual"])
        assert item.default is not MISSING
        usual = {preset: values.get(name, item.default) for preset, values in cls.PRESETS.items()}
        quick = usual["quick"]
        shown = ["none" if quick is None else str(quick)]
        for preset, value in usual.items():
            if value != quick:
                shown.append(f"{preset}: {'none' if value is None else value}")
        return "; ".join(shown)

    @classmethod
    def shown_arms(cls) -> str:
        """Return :attr:`usual_arms` as ``--help`` shows them."""
        usual, always = cls.preset("quick").usual_arms, ",".join(cls.ARMS)
        if usual == cls.ARMS:
            return always
        others = f"with --faithful or another --classifier than {' or '.join(FROZEN)}"
        return f"{','.join(usual)}; {others}: {always}"


def _check(name: str, value: Any, within: Range) -> None:
    try:
        fine = within.holds(value)
    except TypeError:
        fine = False
    if not fine:
        raise LopsError(f"{typed(name)} is {value!r}; wanted {within.wanted}")
