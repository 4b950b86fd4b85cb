"""The timed probes."""

from __future__ import annotations

from lops_adapters.probes import Probe, text_probe


def probe_called(name: str, device: str = "auto", max_tokens: int = 128) -> tuple[Probe, str]:
    """Return a probe with default settings, ``linear`` or an encoder's, and its device."""
    if name == "linear":
        return text_probe("linear", encoder="", max_tokens=max_tokens, device=device), "cpu"

    from lops_adapters.encoders.torch_tools import resolve_device

    found = str(resolve_device(device))
    return text_probe("transformer", encoder=name, max_tokens=max_tokens, device=found), found
