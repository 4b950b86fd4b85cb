"""Vectors or probabilities in place of texts."""

from typing import Any

import numpy as np

from lops_adapters.console import typed
from lops_adapters.core import LopsError
from lops_adapters.probes import Probe
from lops_adapters.probes.embedding import EmbeddingProbe, given_vectors
from lops_adapters.selection import Method
from lops_adapters.selection.member_table import kinds_of, names_of


def read_given(
    embeddings: Any, pred_probs: Any, n: int, method: Method, probe: Probe | str, rows: np.ndarray
) -> np.ndarray | None:
    """Return the rows to score in place of texts, (n, width) float32; None: not given.

    Args:
        embeddings, pred_probs: at most one of them, a matrix of numbers with a row per label.
        n: number of labels.
        method, probe: that have to read them.
        rows: positions of the rows that have a label; others are left out.
    """
    if embeddings is not None and pred_probs is not None:
        raise LopsError("found embeddings and pred_probs; leave one of them out")
    name = "pred_probs" if embeddings is None else "embeddings"
    values = pred_probs if embeddings is None else embeddings
    if values is None:
        return None
    if pred_probs is not None and "probabilities" not in method.options:
        raise LopsError(
            f"pred_probs are for the committee, and the method is {method.name}; leave method out"
        )
    if isinstance(probe, str) and probe not in ("auto", "linear", "embedding"):
        raise LopsError(f"probe is {probe!r}, which reads texts; leave it out with {name}")
    try:
        matrix = np.asarray(values)
    except ValueError:
        matrix = np.empty(0, dtype=object)
    if matrix.ndim != 2 or matrix.dtype.kind not in "fiu" or not matrix.size:
        raise LopsError(
            f"{name} are of type {matrix.dtype} and shape {matrix.shape}; wanted a matrix of "
            "numbers, one row per label"
        )
    if len(matrix) != n:
        raise LopsError(f"found {len(matrix)} rows of {name} and {n} labels; wanted one per label")
    return given_vectors(matrix[rows])


def check_alone(vectors: np.ndarray | None, encoder: Any, words: Any, analyzer: str) -> None:
    """Raise a LopsError if members that read texts are asked for, and none can."""
    if vectors is None:
        return
    for name, asked in (
        ("encoder", encoder not in ("static", "none", None)),
        ("words", words is not None),
        ("analyzer", analyzer != "auto"),
    ):
        if asked:
            raise LopsError(
                f"{typed(name)} is for texts, and vectors or probabilities are scored in their "
                "place; leave it out"
            )


def probe_of_vectors(probe: Probe | str, quiet: bool, members: bool) -> tuple[Probe, str]:
    """Return the probe for vectors, and a sentence that names it, or the members."""
    chosen = probe if isinstance(probe, Probe) else EmbeddingProbe(quiet=quiet)
    first = chosen.name if chosen is probe else "logistic regression"
    if not members:
        return chosen, f"Probe, on the given vectors: {first}."
    names = names_of(kinds_of(False, None, None), first)
    return chosen, f"Members, on the given vectors: {names}."
