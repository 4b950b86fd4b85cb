"""Selection among labels that are read, in memory or in a table."""

import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from lops_adapters.core import LopsError, LopsWarning, Selection
from lops_adapters.labels.checked import with_checked, with_copies
from lops_adapters.labels.labelled import Labelled
from lops_adapters.probes import Probe
from lops_adapters.selection import Suggestions
from lops_adapters.selection.assessment import Fitted, FittedCommittee
from lops_adapters.selection.auto_keep import AUTO
from lops_adapters.selection.building import build, check_data
from lops_adapters.selection.members import check_words
from lops_adapters.selection.source_table import Source
from lops_adapters.selection.sources import first_codes
from lops_adapters.texts.assessed import Assessed
from lops_adapters.texts.checked import sentences as checked_sentences
from lops_adapters.texts.choices import Choice, choose_members, choose_probe, described, device_of
from lops_adapters.texts.copies import Place, copies, positions
from lops_adapters.texts.explain import (
    complaints,
    pair_sentences,
    reasons,
    say_copies,
    script_sentences,
)
from lops_adapters.texts.given import check_alone, probe_of_vectors, read_given
from lops_adapters.texts.reading import check_memory
from lops_adapters.texts.result import TextSelection
from lops_adapters.texts.sources import report_sources

FEWEST = 10  # texts, for cross-validation


def select_labelled(
    labelled: Labelled,
    choice: Choice,
    labels: list[Any],
    *,
    embeddings: Any = None,
    pred_probs: Any = None,
    checked: Any = None,
    notes: Sequence[str] = (),
    column: Any = None,
    place: Place = positions,
    fitted: Fitted | None = None,
) -> TextSelection:
    """Select among labels that are read: :func:`select` from here on, also of a table.

    Args:
        labelled: n texts; of votes, the codes only tell which texts have one.
        choice: how to select, with a probe in place of a classifier of scikit-learn.
        labels: n labels to show.
        embeddings, pred_probs, checked, fitted: as for :func:`select`.
        notes: sentences about the labels.
        column: of texts, as it was given.
        place: names texts in sentences, given their positions.
    """
    row, shown = choice.row, labelled.samples
    if labelled.votes is not None:
        labelled = replace(labelled, codes=first_codes(labelled.votes))
        labels = labelled.labels
    known = labelled.with_label()
    matrix = read_given(embeddings, pred_probs, len(labels), row, choice.probe, known.places)
    check_alone(matrix, choice.encoder, choice.words, choice.analyzer)
    _check_size(known, choice)
    if choice.words is not None:
        check_words(choice.words, known.classes)
    labelled = with_checked(labelled, checked, place)
    known = labelled.with_label()
    known = known if matrix is None else replace(known, samples=matrix)
    probe, which, options = _scorers(choice, known, pred_probs)
    committees, estimates = list[FittedCommittee](), list[Source]()
    voted = "votes" in row.takes and known.votes is not None
    unvoted = voted and matrix is None and len(known.codes) < len(labels)
    options |= {"fitted": committees.append} if unvoted or fitted is not None else {}
    options |= {"assessed": estimates.extend} if voted else {}
    seen = Assessed(len(known.codes)) if row.assesses else Suggestions(len(known.codes))
    selection = _select(choice, probe, options, known, seen)
    if isinstance(seen, Assessed):
        seen.finish(known, choice.seed)
        labels = list(labels)
        for place_of, code in zip(known.places.tolist(), seen.labels.tolist(), strict=True):
            labels[place_of] = known.classes[code]
    _warn(complaints(selection, row), choice.strict)
    settings = {
        **_used(probe, options),
        **choice.asked,
        "method": choice.method,
        "seed": choice.seed,
        "samples": "texts" if matrix is None else "vectors" if pred_probs is None else "pred_probs",
    }
    why = reasons(which, selection, row, {**choice.asked, **options})
    result = TextSelection(
        selection, shown, labels, known.places, seen, why, settings, known.checked_labels, column
    )
    _explain(result, known, probe, place)
    why.notes += notes
    if labelled.votes is not None:
        changed = int((seen.labels != known.codes).sum()) if isinstance(seen, Assessed) else 0
        told, groups = committees if unvoted else (), _other_groups(labelled, known)
        report_sources(result, labelled.votes, changed, estimates, told, groups)
    if fitted is not None:
        fitted(*committees)
    return result


def _select(
    choice: Choice, probe: Probe, options: dict[str, Any], known: Labelled, seen: Suggestions
) -> Selection:
    """Select among these samples; copies of a checked row are also checked."""
    method, checks = choice.method, known.checked or None
    check_data(method, votes=known.votes, groups=known.groups, checked=checks)
    samples = known.samples
    alike = range(len(known)) if isinstance(samples, np.ndarray) else samples
    known = replace(with_copies(replace(known, samples=alike)), samples=samples)
    more: dict[str, Any] = {"seed": choice.seed, "quiet": choice.quiet, "strict": choice.strict}
    return build(method, probe, **choice.asked, **options, **more).select(known, seen)


def _used(probe: Probe, options: dict[str, Any]) -> dict[str, Any]:
    """Return the settings of the probe and the encoder in use."""
    encoder = options.get("encoder")
    return {
        "probe": repr(probe),
        "device": device_of(probe),
        "sure": options.get("sure"),
        "encoder": getattr(encoder, "encoder", encoder),
        "analyzer": getattr(probe, "analyzer", None),
    }


def _explain(result: TextSelection, known: Labelled, probe: Probe, place: Place) -> None:
    """Add the sentences about corrections, checked rows, copies and scripts."""
    why, labels = result.said, [result.labels[row] for row in known.places.tolist()]
    if result.checks_rows:
        why.pairs = pair_sentences(result.corrections())
        why.rows += checked_sentences(result.checked_rate, len(labels))
    if not isinstance(known.samples, np.ndarray):
        copied = copies(known.samples, labels)
        say_copies(why, copied, lambda rows: place(known.places[rows].tolist()))
        why.rows += script_sentences(known.samples, probe)


def _other_groups(labelled: Labelled, known: Labelled) -> np.ndarray | None:
    """Return the groups of the texts without a label, -1: none that has one; None: no groups."""
    if labelled.groups is None or known.groups is None:
        return None
    others = labelled.groups[labelled.codes < 0]
    return np.where(np.isin(others, known.groups), others, -1)


def _warn(messages: Sequence[str], strict: bool) -> None:
    """Warn of what is odd in a selection; raise a LopsError instead if ``strict``."""
    for message in messages:
        if strict:
            raise LopsError(message)
        warnings.warn(message, LopsWarning, stacklevel=4)


def _scorers(choice: Choice, known: Labelled, pred_probs: Any) -> tuple[Probe, str, dict[str, Any]]:
    """Return the probe, a sentence that names what scores the rows, and options of the method."""
    probe, quiet = choice.probe, choice.quiet
    if isinstance(known.samples, np.ndarray):
        watched, which = probe_of_vectors(probe, quiet, choice.row.has_members)
        if pred_probs is not None:
            options = {**choice.options, "probabilities": True}
            return watched, "Member: the given probabilities.", options
        return watched, which, choice.options
    has_members = choice.row.has_members
    linear = has_members and isinstance(probe, str) and probe == "auto"
    named = "linear" if linear else probe
    watched, which = choose_probe(named, len(known.samples), quiet, choice.analyzer)
    if not has_members:
        return watched, which, choice.options
    words = choice.words
    chosen, which = choose_members(choice.encoder, described(watched), words=words is not None)
    return watched, which, {**choice.options, "encoder": chosen, "words": words}


def _check_size(known: Labelled, choice: Choice) -> None:
    """Raise a LopsError of too few labels, and of too many for the memory."""
    n, row = len(known.codes), choice.row
    check_memory(n, len(known.classes))
    validates = "folds" in row.options or (row.takes_keep and choice.keep == AUTO)
    if validates and n < FEWEST:
        raise LopsError(
            f"found {n} texts with a label, and {row.name} uses cross-validation; wanted at least "
            f"{FEWEST}, or a ranking with a number for keep, such as method='learning-order', "
            "keep=0.5"
        )
