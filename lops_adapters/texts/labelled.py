"""Selection among labels that are read, in memory or in a table."""

import warnings
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from lops_adapters.console import typed
from lops_adapters.core import ClassReport, LopsError, LopsWarning
from lops_adapters.labels.labelled import Labelled, about_others, with_checked
from lops_adapters.labels.votes import Votes
from lops_adapters.probes import Probe
from lops_adapters.probes.embedding import EmbeddingProbe, given_vectors
from lops_adapters.selection import Choice, Outcome, decide
from lops_adapters.selection.choice import AUTO, NONE
from lops_adapters.selection.committee.checking import rows_to_check
from lops_adapters.selection.committee.member_table import kinds_of, names_of
from lops_adapters.selection.committee.members import check_words
from lops_adapters.selection.votes.sources import MOST_ROWS, first_codes
from lops_adapters.texts import explain
from lops_adapters.texts.choices import choose_members, choose_probe, described, device_of
from lops_adapters.texts.explain import Place, Why, cannot_tell, positions
from lops_adapters.texts.rest import SAID, Rest, rest_of
from lops_adapters.texts.result import TextSelection, suggested_pairs
from lops_adapters.texts.sources import about_sources

FEWEST = 10  # texts, for cross-validation
# A class that a source votes for, or a person names, and that is the label of no row in the end.
_NO_ROWS = ClassReport(0, 0, 0, 0, None, "no row has this label")
_BYTES = 100  # per text and class, at the peak of a selection, as measured
# Per class, at the peak of joining votes, as measured: for each text, and each class of a source.
_BYTES_OF_ROW, _BYTES_OF_PAIR = 150, 20


def select_labelled(
    labelled: Labelled,
    choice: Choice,
    labels: list[Any],
    *,
    embeddings: Any = None,
    pred_probs: Any = None,
    checked: Any = None,
    notes: Sequence[str] = (),
    problems: Sequence[str] = (),
    column: Any = None,
    where: Place = positions,
    rest: Sequence[str] = (),
) -> TextSelection:
    """Select among labels that are read: :func:`select` from here on, also of a table.

    Args:
        labelled: n texts; of votes, the codes only tell which texts have one.
        choice: how to select, with a probe in place of a classifier of scikit-learn.
        embeddings, pred_probs, checked: as for :func:`select`.
        where: names texts in sentences, given their positions.
        rest: texts without a label that are in no selection, and only learnt from.
    """
    row, shown = choice.row, labelled.samples
    if labelled.votes is not None:
        check_votes(labelled.votes)
        labelled = replace(labelled, codes=first_codes(labelled.votes))
        labels = labelled.labels
    known = labelled.with_label()
    matrix = _read_given(embeddings, pred_probs, len(labels), choice, known.places)
    _check_size(known, choice)
    if choice.words is not None:
        check_words(choice.words, known.classes)
    labelled = with_checked(labelled, checked, where)
    known = labelled.with_label()
    known = known if matrix is None else replace(known, samples=matrix)
    labels_rest = row.assesses and matrix is None and len(known.codes) < len(labels) + len(rest)
    choice = replace(choice, score_unseen=choice.score_unseen or labels_rest)
    used, scored_by = _scorers(choice, known, pred_probs)
    options: dict[str, Any] = {} if pred_probs is None else {"probabilities": True}
    outcome = decide(known, used, **options)
    selection = outcome.selection(known.classes)
    for message in explain.complaints(selection, row):
        if choice.strict:
            raise LopsError(message)
        warnings.warn(message, LopsWarning, stacklevel=3)
    samples = "texts" if matrix is None else "vectors" if pred_probs is None else "pred_probs"
    suggests = labels_rest and not cannot_tell(selection)
    if row.assesses:
        labels = list(labels)
        for place, code in zip(known.places.tolist(), outcome.labels.tolist(), strict=True):
            labels[place] = known.classes[code]
    every = *labelled.classes, *labelled.others
    reports = {label: selection.per_class.get(label, _NO_ROWS) for label in every}
    said = explain.reasons(scored_by, selection, row, {**choice.asked, "sure": choice.sure})
    if labelled.votes is not None:
        changed = int((outcome.labels != known.codes).sum())
        notes = [*notes, *about_sources(labelled.votes, changed, outcome.joined)]
    said = _explained(said, outcome, known, labels, used, where)
    return TextSelection(
        outcome,
        known,
        reports,
        shown,
        labels,
        replace(
            said, texts=[*problems, *said.texts], notes=[*notes, *([SAID] if suggests else [])]
        ),
        {**_used(used), "samples": samples},
        to_check=rows_to_check(outcome, known, choice.seed) if row.assesses else None,
        votes=labelled.votes,
        rest=_rest_of(outcome, known, shown, used, rest) if suggests else None,
        column=column,
    )


def _rest_of(
    outcome: Outcome, known: Labelled, texts: Sequence[str], choice: Choice, others: Sequence[str]
) -> Rest:
    """Learn to label texts without a label, from the others and the committee."""
    assert outcome.fitted is not None
    pool = [texts[i] for i in np.setdiff1d(np.arange(len(texts)), known.places).tolist()]
    codes = outcome.corrected(bool(known.checked))
    return rest_of(
        outcome.fitted,
        known.samples,
        codes,
        [*pool, *others],
        encoder=choice.encoder,
        seed=choice.seed,
    )


def _used(choice: Choice) -> dict[str, Any]:
    encoder, probe = choice.encoder if "encoder" in choice.row.reads else None, choice.classifier
    shares = choice.class_shares
    return {
        "probe": repr(probe),
        "device": device_of(probe),
        "sure": choice.sure,
        "class_shares": shares and {str(label): float(share) for label, share in shares.items()},
        "labelled_by": choice.labelled_by,
        "encoder": getattr(encoder, "encoder", encoder),
        "analyzer": getattr(probe, "analyzer", None),
        **choice.asked,
        "method": choice.method,
        "seed": choice.seed,
    }


def _explained(
    said: Why, outcome: Outcome, known: Labelled, labels: list[Any], choice: Choice, where: Place
) -> Why:
    """Return the sentences with those about suggestions, checked rows, copies and scripts."""
    texts, pairs, rows = about_others(known), list[str](), list[str]()
    if choice.row.assesses:
        pairs = explain.pair_sentences(suggested_pairs(outcome, known.classes))
        rate = outcome.noise.total if outcome.noise is not None and known.checked else None
        rows += explain.checked_sentences(rate, len(known))
    if not isinstance(known.samples, np.ndarray):
        of_rows = [labels[row] for row in known.places.tolist()]
        problems, others = explain.about_copies(
            known.samples, of_rows, lambda rows: where(known.places[rows].tolist())
        )
        texts += problems
        rows += [*others, *explain.script_sentences(known.samples, choice.classifier)]
    return replace(said, texts=texts, pairs=pairs, rows=rows)


def _scorers(choice: Choice, known: Labelled, pred_probs: Any) -> tuple[Choice, str]:
    """Return the choice with its probe and encoder, and a sentence that names what scores."""
    probe, quiet, has_members = choice.probe, choice.quiet, "encoder" in choice.row.reads
    if choice.encoder == NONE:
        choice = replace(choice, encoder=None)
    if isinstance(known.samples, np.ndarray):
        chosen = probe if isinstance(probe, Probe) else EmbeddingProbe(quiet=quiet)
        first = chosen.name if chosen is probe else "logistic regression"
        choice = replace(choice, probe=chosen)
        if pred_probs is not None:
            return choice, "Member: the given probabilities."
        if not has_members:
            return choice, f"Probe, on the given vectors: {first}."
        names = names_of(kinds_of(False, None, None), first)
        return choice, f"Members, on the given vectors: {names}."
    if has_members and isinstance(probe, str) and probe == AUTO:
        probe = "linear"
    probe, scored_by = choose_probe(probe, len(known.samples), quiet, choice.analyzer)
    choice = replace(choice, probe=probe)
    if not has_members:
        return choice, scored_by
    words, first = choice.words, described(probe)
    encoder, scored_by = choose_members(choice.encoder, first, words=words is not None)
    return replace(choice, encoder=encoder), scored_by


def _check_size(known: Labelled, choice: Choice) -> None:
    n, k, row = len(known.codes), len(known.classes), choice.row
    needed, free = n * k * _BYTES, free_memory()
    if free is not None and needed > free:
        raise LopsError(
            f"{n:,} texts of {k:,} classes take about {needed / 1e9:.1f} GB of memory, and "
            f"{free / 1e9:.1f} GB are free; select among fewer classes or texts at a time"
        )
    validates = row.validates or (row.takes_keep and choice.keep == AUTO)
    if validates and n < FEWEST:
        raise LopsError(
            f"found {n} texts with a label, and {row.name} uses cross-validation; wanted at least "
            f"{FEWEST}, or a ranking with a number for keep, such as method='learning-order', "
            "keep=0.5"
        )


def check_votes(votes: Votes) -> None:
    """Raise a LopsError about more classes of more sources than the memory holds."""
    k, (_, codes) = len(votes.classes), votes.used
    rows, sources = np.nonzero(codes >= 0)
    pairs = len(np.unique(sources * k + codes[rows, sources]))
    per_class = min(len(codes), MOST_ROWS) * _BYTES_OF_ROW + pairs * _BYTES_OF_PAIR
    needed, free = k * per_class, free_memory()
    if free is not None and needed > free:
        raise LopsError(
            f"{len(votes.sources):,} sources vote for {k:,} classes in {pairs:,} ways, which take "
            f"about {needed / 1e9:.1f} GB of memory, and {free / 1e9:.1f} GB are free; leave out "
            "sources or rare classes"
        )


def free_memory() -> int | None:
    """Return the bytes of memory that programs can still have; None: unknown."""
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
    except OSError:  # not Linux
        return None
    sizes = dict(line.split(":", 1) for line in lines if ":" in line)
    return int(sizes["MemAvailable"].split()[0]) * 1024 if "MemAvailable" in sizes else None


def _read_given(
    embeddings: Any, pred_probs: Any, n: int, choice: Choice, rows: np.ndarray
) -> np.ndarray | None:
    """Return the rows to score in place of n texts, (m, width) float32; None: not given.

    ``rows`` are the (m,) positions with a label. Raises a LopsError about no matrix of numbers with
    a row per label, and a choice that reads texts.
    """
    if embeddings is not None and pred_probs is not None:
        raise LopsError("found embeddings and pred_probs; leave one of them out")
    name = "pred_probs" if embeddings is None else "embeddings"
    values = pred_probs if embeddings is None else embeddings
    if values is None:
        return None
    method, probe = choice.row, choice.probe
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
    for_texts = {
        "encoder": choice.encoder not in ("static", "none", None),
        "words": choice.words is not None,
        "analyzer": choice.analyzer != "auto",
    }
    for option, asked in for_texts.items():
        if asked:
            raise LopsError(
                f"{typed(option)} is for texts, and vectors or probabilities are scored in their "
                "place; leave it out"
            )
    return given_vectors(matrix[rows])
