"""What the settings of all frameworks share: the selection, the presets, the checks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, ClassVar, TypeVar

from lops_adapters.core import RULES, LopsError

SomeSettings = TypeVar("SomeSettings", bound="FrameworkSettings")


@dataclass(frozen=True, kw_only=True)
class FrameworkSettings:
    """All that decides the outcome of a run besides data and seed; survives a trip through JSON.

    A framework's settings are a subclass that adds fields and names its probes, its presets, and
    what must be at least 1.

    Args:
        probe: the classifier that is watched; ``same`` is the framework's own.
        rule, tau: of the selection, see :class:`lops_adapters.selection.Lops`.
        every: look at the probe after every so many updates, or ``epoch``.
        faithful: the original's ways where they can be chosen, see the framework's page in the
            documentation.

    """

    ARMS: ClassVar[tuple[str, ...]] = ("standard", "lops")  # those a run has by default
    MORE_ARMS: ClassVar[tuple[str, ...]] = ()
    PROBES: ClassVar[tuple[str, ...]] = ("same",)
    PRESETS: ClassVar[Mapping[str, Mapping[str, Any]]] = {"quick": {}, "paper": {}}
    WHEN_FAITHFUL: ClassVar[Mapping[str, Any]] = {}
    AT_LEAST_ONE: ClassVar[tuple[str, ...]] = ()

    probe: str = "same"
    rule: str = "released"
    tau: float = 0.5
    every: int | str = "epoch"
    faithful: bool = False

    def __post_init__(self) -> None:
        self._one_of("probe", self.PROBES)
        self._one_of("rule", RULES)
        if not 0 < self.tau <= 1:
            raise LopsError(f"tau is {self.tau}; wanted a fraction above 0 and at most 1")
        if self.every != "epoch" and (not isinstance(self.every, int) or self.every < 1):
            raise LopsError(f"every is {self.every}; wanted a number of updates, at least 1, or epoch")
        for name in self.AT_LEAST_ONE:
            value = getattr(self, name)
            if value is not None and value < 1:
                raise LopsError(f"{name} is {value}; wanted at least 1")

    def _one_of(self, name: str, choices: tuple[str, ...]) -> None:
        if getattr(self, name) not in choices:
            raise LopsError(f"{name} is {getattr(self, name)!r}; wanted one of {', '.join(choices)}")

    @property
    def updates_between_checkpoints(self) -> int | None:
        """What a selector calls ``every``: a number of updates, None for once an epoch."""
        return None if isinstance(self.every, str) else self.every

    def check_checkpoints(self, updates: int, samples: str) -> None:
        """Refuse to look at a probe more rarely than it makes ``updates`` in all; ``samples`` says
        on what.
        """
        if (self.updates_between_checkpoints or 0) > updates:
            raise LopsError(f"every is {self.every}, and the probe makes {updates} updates on {samples}; wanted a smaller number, or epoch")

    def as_dict(self) -> dict[str, Any]:
        """Return the settings in JSON's own types."""
        return asdict(self)

    @classmethod
    def preset(cls: type[SomeSettings], name: str, **overrides: Any) -> SomeSettings:
        """Return a preset with single settings overridden; an override of None leaves the preset's
        value.
        """
        if name not in cls.PRESETS:
            raise LopsError(f"preset is {name!r}; wanted one of {', '.join(cls.PRESETS)}")
        unknown = set(overrides) - {field.name for field in fields(cls)}
        if unknown:
            raise LopsError(f"unknown settings: {', '.join(sorted(unknown))}")
        settings = cls(**{**cls.PRESETS[name], **{key: value for key, value in overrides.items() if value is not None}})
        return replace(settings, **cls.WHEN_FAITHFUL) if settings.faithful else settings
