"""LOPS for weakly supervised text classification: choose which pseudo-labels to trust."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lops_adapters.core import LearningOrder, LopsError, LopsWarning, Selection, __version__
    from lops_adapters.runs.models import load
    from lops_adapters.selection import build, corrected, trusted_positions
    from lops_adapters.texts.agree import agree
    from lops_adapters.texts.select import select

__all__ = [
    "LearningOrder",
    "LopsError",
    "LopsWarning",
    "Selection",
    "__version__",
    "agree",
    "build",
    "corrected",
    "load",
    "select",
    "trusted_positions",
]

# Imported when first used: NumPy alone takes longer than the help of a command.
_CORE = ("LearningOrder", "LopsError", "LopsWarning", "Selection", "__version__")
_LATER = {
    **dict.fromkeys(_CORE, "lops_adapters.core"),
    "agree": "lops_adapters.texts.agree",
    "load": "lops_adapters.runs.models",
    "select": "lops_adapters.texts.select",
    **dict.fromkeys(("build", "corrected", "trusted_positions"), "lops_adapters.selection"),
}


def __getattr__(name: str) -> Any:
    if name == "core":
        return import_module("lops_adapters.core")
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_LATER[name]), name)


def __dir__() -> list[str]:
    return __all__
