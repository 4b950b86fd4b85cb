"""Selection past one machine, on Ray."""

from typing import Any

__all__ = ["select_dataset"]


def __getattr__(name: str) -> Any:
    """Return what needs more than the standard library when it is first used."""
    if name in __all__:
        from lops_adapters.scale.dataset import select_dataset

        return select_dataset
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
