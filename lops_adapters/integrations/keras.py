"""Learning order inside your own ``model.fit`` (Keras 3).

The model is the probe: train a new one on the kept samples::

    from lops_adapters.integrations.keras import LopsCallback

    callback = LopsCallback(x, pseudo_labels)
    model.fit(x, pseudo_labels, epochs=4, callbacks=[callback])
    selection = callback.record.select(keep=0.5)
    clean = x[selection.kept]
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lops_adapters.integrations.keras_callback import LopsCallback

__all__ = ["LopsCallback"]


def __getattr__(name: str) -> Any:
    if name != "LopsCallback":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from lops_adapters.integrations.keras_callback import LopsCallback

    return LopsCallback
