"""The arms of a run: what they are called, and what older run folders call them."""

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any, NamedTuple

from lops_adapters.console import typed
from lops_adapters.core import LopsError
from lops_adapters.selection.choice import AUTO
from lops_adapters.selection.committee.committee import SURE_IN_FRAMEWORKS

# No selection; LOPS as published, by the setting ``method``; the learning order that keeps the
# share a held-out probe agrees with, by ADAPTIVE_METHOD.
STANDARD, LOPS, ADAPTIVE = "standard", "lops", "lops-adaptive"
ADAPTIVE_METHOD = "ranked"
# The committee's labels, nothing rejected.
CORRECTED = "corrected"
# Controls, each named after the arm that says how many samples it keeps, or relabels.
_CONTROL = "random-of-"
CONTROLS = tuple(f"{_CONTROL}{arm}" for arm in (LOPS, ADAPTIVE, "committee", CORRECTED))


class Arm(NamedTuple):
    """How an arm selects: its method, the fraction to keep, the least probability of a kept label.

    ``relabels``: nothing is rejected, and a control changes as many labels.
    """

    method: str
    keep: float | str
    sure: float = SURE_IN_FRAMEWORKS
    relabels: bool = False


def parent(arm: str) -> str | None:
    """Return the arm that a control is named after; None: it is no such control.

    >>> parent("random-of-lops-documents"), parent("random")
    ('lops-documents', None)
    """
    return arm.removeprefix(_CONTROL) if arm.startswith(_CONTROL) else None


def read_arms(text: str, known: Sequence[str]) -> list[str]:
    """Return the arms of a comma-separated list, in the order of the known ones.

    >>> read_arms("lops,standard", ("standard", "lops"))
    ['standard', 'lops']
    """
    asked = [name.strip() for name in text.split(",") if name.strip()]
    unknown = [name for name in asked if name not in known]
    if unknown or not asked:
        near = get_close_matches(unknown[0], known, n=1) if unknown else []
        hint = f"; {unknown[0]!r} is unknown" if unknown else ""
        hint += f" (did you mean {near[0]}?)" if near else ""
        raise LopsError(
            f"{typed('arms')} are {text!r}{hint}; wanted some of {', '.join(known)}, "
            "comma-separated"
        )
    return [name for name in known if name in asked]


def arm_of_today(arm: str, settings: Mapping[str, Any]) -> str:
    """Return today's name of an arm of a run with these settings, as ``config.json`` has them.

    ``lops`` was once whatever the setting ``method`` said, first called ``rule``.

    >>> arm_of_today("lops-documents", {"method": "ranked", "keep": "auto"})
    'lops-adaptive-documents'
    >>> arm_of_today("lops", {"rule": "ranked", "tau": 0.5})
    'ranked'
    >>> arm_of_today("lops", {"method": "released", "keep": 0.5})
    'lops'
    """
    method = settings.get("method", settings.get("rule"))
    name, dash, place = arm.partition("-")
    if name != LOPS or method != ADAPTIVE_METHOD or arm.startswith(ADAPTIVE):
        return arm
    share = settings.get("keep", settings.get("tau"))
    return f"{ADAPTIVE if share == AUTO else method}{dash}{place}"


def refuse_renamed(old: Any, now: Any, path: Path) -> None:
    """Refuse to go on with a run whose arm lops is another one today."""
    both = isinstance(old, dict) and isinstance(now, dict) and "method" in now
    if both and (today := arm_of_today(LOPS, old)) != LOPS:
        raise LopsError(
            f"{path} was started by an older version, whose arm lops is {today} today; read it as "
            "it is, or give another --output"
        )
