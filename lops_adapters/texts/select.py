"""Texts with noisy labels in, a selection out: ``lops_adapters.select``."""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np

from lops_adapters.core import LopsError, LopsWarning
from lops_adapters.probes import Probe
from lops_adapters.probes.base import check_counts
from lops_adapters.probes.embedding import EmbeddingProbe
from lops_adapters.probes.estimator import as_probe
from lops_adapters.selection import Method, Suggestions, build
from lops_adapters.selection.assessment import Fitted, FittedCommittee
from lops_adapters.selection.auto_keep import AUTO
from lops_adapters.selection.members import check_words
from lops_adapters.selection.methods import check, offered
from lops_adapters.selection.selectors import encode
from lops_adapters.selection.source_table import Source
from lops_adapters.texts.assessed import Assessed
from lops_adapters.texts.checked import read_checked, with_copies
from lops_adapters.texts.checked import sentences as checked_sentences
from lops_adapters.texts.choices import (
    choose_members,
    choose_probe,
    described,
    device_of,
    member_options,
)
from lops_adapters.texts.copies import Place, copies, positions
from lops_adapters.texts.explain import (
    complaints,
    pair_sentences,
    reasons,
    say_copies,
    script_sentences,
    without_label,
)
from lops_adapters.texts.given import check_alone, probe_of_vectors, read_given
from lops_adapters.texts.reading import check_memory, group_codes, read_labels, read_texts
from lops_adapters.texts.result import TextSelection
from lops_adapters.texts.soft import hard_labels
from lops_adapters.texts.votes import joined_labels, report_sources

FEWEST = 10  # texts, for cross-validation


def select(
    texts: Sequence[str] | None,
    labels: Any = None,
    method: str = "committee",
    *,
    keep: float | str = "auto",
    per_class: bool | None = None,
    probe: Probe | str | Any = "auto",
    every: int | None = None,
    sure: float | None = None,
    encoder: str | EmbeddingProbe | None = "static",
    words: Mapping[Any, Sequence[str]] | None = None,
    analyzer: str = "auto",
    embeddings: Any = None,
    pred_probs: Any = None,
    soft_labels: Any = None,
    abstain: Any = None,
    checked: Mapping[int, Hashable | None] | None = None,
    source: Sequence[Hashable] | None = None,
    classes: Sequence[Hashable] | None = None,
    groups: Sequence[Hashable] | None = None,
    seed: int = 0,
    strict: bool = False,
    quiet: bool = True,
    place: Place | None = None,
    fitted: Fitted | None = None,
) -> TextSelection:
    """Select the texts whose labels to trust.

    Args:
        texts: n strings, in a list, array, pandas column or data set column. None is allowed with
            ``embeddings`` or ``pred_probs``.
        labels: n class names of one type, in the same kinds. None: neither kept nor rejected.
            Or the votes of m sources, such as rules, annotators and language models: an (n, m)
            array, a list of rows, or a frame or dict with a column per source, such as
            :func:`~lops_adapters.pseudo_labels.seed_votes`; None or blank: no vote. The committee
            then joins votes and members to one label per text.
        method: ``committee`` keeps the labels that several held-out members score as right;
            ``automatic`` asks one; ``learning-order`` keeps what the probe learns first. The
            others: :data:`lops_adapters.selection.METHODS`.
        keep: fraction to keep, of methods that rank; ``auto``: the share of labels that a held-out
            probe prefers. Methods that decide how many to keep take ``auto`` only.
        per_class: keep the same share of every class; with methods that decide how many, the same
            total. Default: as the method is described (learning-order: True; other rankings and the
            committee: False).
        probe: ``linear`` (TF-IDF), ``minilm`` (packaged transformer, fine-tuned), the folder or hub
            name of an encoder, a probe, or a scikit-learn classifier (see
            :class:`lops_adapters.probes.estimator.EstimatorProbe`). ``auto``: linear; with a GPU
            and another method than committee, minilm. In a committee, the first member.
        every: updates between checkpoints of the probe, of methods that have some. Default: one
            checkpoint per epoch.
        sure: keep labels that are right with at least this probability, of committee and automatic;
            default: as many labels are rejected as are estimated to be wrong. Labels by rules
            share their errors: a value such as 0.9 removes more of them.
        encoder: of two members of the committee: ``static``, a table of word vectors that ships
            with the package; ``minilm``, a folder or a hub name, a frozen transformer; or an
            :class:`~lops_adapters.probes.embedding.EmbeddingProbe` with other settings; None:
            without these members.
        words: class to words, such as its name and seed words: a further member, with an encoder.
        analyzer: of TF-IDF: ``word``; ``char``: n-grams of one to three characters; ``auto``:
            n-grams in scripts without spaces between words, words elsewhere.
        embeddings: (n, width) vectors, of texts or of anything else; they are scored in
            place of the texts, which are shown only.
        pred_probs: (n, k) held-out class probabilities of your classifier, a column per
            class in the order of the sorted labels; they are scored in place of the texts. Only
            of a committee.
        soft_labels: (n, k) probabilities or votes of the classes, in place of labels: a matrix, or
            a pandas DataFrame with the names of the classes. The label is the largest; a text with
            a tie, or zeros, has none.
        abstain: a label that is no class, or a list of them; None, NaN and blank strings never are.
            Default: -1, if the labels are integer codes from 0 with at least two other classes.
        checked: position -> the right label, as a person says, or None for none of the classes; of
            the committee only. It learns from them how far to believe its members and the labels,
            keeps these rows (None: rejects), and measures the noise.
            :meth:`~lops_adapters.texts.result.TextSelection.to_check` says which rows.
        source: n names, of the rule, annotator, prompt or seed word that gave each label; the
            committee then estimates how often each of them is right.
        classes: the classes; labels and votes that nearly name one are read as it, such as
            "Sports." for "sport", and listed. Others are refused, unless ``abstain`` names them.
        groups: n names, such as customers, threads or documents; texts of a group do not score
            each other, since they may share what makes a label wrong. Of the committee only.
        seed: of trainings, folds and ties.
        strict: raise instead of warning about a class without kept or learnt texts, or about labels
            unrelated to the texts.
        quiet: no progress bars.
        place: names texts in the sentences about them, given their positions.
        fitted: receives the committee, fitted to assess further texts, a
            :class:`~lops_adapters.selection.assessment.FittedCommittee`.

    Returns:
        The selection, with positions in the order of ``texts``.

    Raises:
        LopsError: missing texts or labels, labels of several types, fewer than two classes,
            settings that contradict each other, an unavailable encoder, and what the method raises.

    >>> texts = ["the striker scored a late goal"] * 9 + ["the bank cut its rates"] * 9
    >>> selection = select(texts, ["sports"] * 9 + ["money"] * 8 + ["sports"])
    >>> selection.rejected.tolist(), selection.suggested[17]
    ([17], 'money')

    """
    probe, place = as_probe(probe, quiet), place or positions
    options = member_options(method, encoder, words, sure)
    asked: dict[str, Any] = {"keep": keep, "every": every, "per_class": per_class}
    row = check(method, **asked, options=options, among=offered())
    check_counts(seed)
    labels, abstain, votes, said = joined_labels(labels, source, abstain, classes)
    shown, names, at = _read(
        texts, labels, soft_labels, abstain, embeddings is None and pred_probs is None
    )
    matrix = read_given(embeddings, pred_probs, len(names), row, probe, at)
    check_alone(matrix, encoder, words, analyzer)
    read, judged = [shown[i] for i in at.tolist()], [names[i] for i in at.tolist()]
    _check_size(judged, row, keep)
    if words is not None:
        check_words(words, list(dict.fromkeys(judged)))
    checks = read_checked(checked, names, at, place)
    grouped, of_others = group_codes(groups, len(names), at)
    watched, which, more = _scorers(
        row, probe, encoder, words, analyzer, len(read), quiet, matrix, pred_probs
    )
    committees, estimates = list[FittedCommittee](), list[Source]()
    voted = "votes" in row.takes and votes is not None
    unvoted = voted and matrix is None and len(at) < len(names)
    more |= {"fitted": committees.append} if unvoted or fitted is not None else {}
    options |= {**more, "assessed": estimates.extend} if voted else more
    seen = Assessed(len(read)) if row.assesses else Suggestions(len(read))
    selector = build(
        method,
        watched,
        **asked,
        **options,
        seed=seed,
        quiet=quiet,
        seen=seen,
        strict=strict,
        checked=with_copies(checks, read if matrix is None else range(len(judged)), judged),
        votes=None if votes is None else votes.at(at),
        groups=grouped,
    )
    samples: Any = read if matrix is None else matrix
    selection = selector(samples, judged)
    if isinstance(seen, Assessed):
        known = list(selection.per_class)
        codes = encode([*checks.values()], [None, *known]) - 1
        seen.finish(samples, checks.keys(), codes, seed)
        judged = [known[code] for code in seen.labels.tolist()]
        for position, label in zip(at.tolist(), judged, strict=True):
            names[position] = label
    _warn(complaints(selection, row), strict)
    settings = {
        **_members_used(watched, options),
        **asked,
        "method": method,
        "seed": seed,
        "samples": "texts" if matrix is None else "vectors" if pred_probs is None else "pred_probs",
    }
    why = reasons(which, selection, row, {**asked, **options})
    result = TextSelection(selection, shown, names, at, seen, why, settings, checks, texts)
    if row.assesses:
        why.pairs = pair_sentences(result.corrections())
        why.rows += checked_sentences(result.checked_rate, len(judged))
    if matrix is None:
        say_copies(why, copies(read, judged), lambda rows: place(at[rows].tolist()))
        why.rows += script_sentences(read, watched)
    why.notes += said
    if votes is None:
        why.notes += without_label(len(names) - len(at))
    else:
        report_sources(result, votes, estimates, committees if unvoted else (), of_others)
    if fitted is not None:
        fitted(*committees)
    return result


def _warn(messages: Sequence[str], strict: bool) -> None:
    """Warn of what is odd in a selection; raise a LopsError instead if ``strict``."""
    for message in messages:
        if strict:
            raise LopsError(message)
        warnings.warn(message, LopsWarning, stacklevel=3)


def _read(
    texts: Any, labels: Any, soft_labels: Any, abstain: Any, needed: bool
) -> tuple[list[str], list[Any], np.ndarray]:
    """Return n texts (row numbers unless ``needed``), n labels, positions of labelled texts."""
    if texts is None and needed:
        raise LopsError("texts are None; wanted texts, or embeddings or pred_probs")
    read = None if texts is None else read_texts(texts)
    if (labels is None) == (soft_labels is None):
        raise LopsError("wanted labels or soft_labels, one of the two")
    names, labelled = read_labels(hard_labels(soft_labels) if labels is None else labels, abstain)
    if read is None:
        read = [f"(row {position})" for position in range(len(names))]
    if len(read) != len(names):
        raise LopsError(
            f"found {len(read)} texts and {len(names)} labels; wanted one label per text, in the "
            "same order"
        )
    return read, names, np.flatnonzero(labelled)


def _scorers(
    method: Method,
    probe: Probe | str,
    encoder: str | EmbeddingProbe | None,
    words: Any,
    analyzer: str,
    n: int,
    quiet: bool,
    matrix: np.ndarray | None,
    pred_probs: Any,
) -> tuple[Probe, str, dict[str, Any]]:
    """Return the probe, a sentence that names what scores the rows, and options of the method."""
    if matrix is not None:
        watched, which = probe_of_vectors(probe, quiet, method.has_members)
        if pred_probs is not None:
            return watched, "Member: the given probabilities.", {"probabilities": True}
        return watched, which, {}
    linear = method.has_members and isinstance(probe, str) and probe == "auto"
    watched, which = choose_probe("linear" if linear else probe, n, quiet, analyzer)
    if not method.has_members:
        return watched, which, {}
    chosen, which = choose_members(encoder, described(watched), words=words is not None)
    return watched, which, {"encoder": chosen, "words": words}


def _members_used(watched: Probe, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of the probe and the encoder in use."""
    encoder = options.get("encoder")
    return {
        "probe": repr(watched),
        "device": device_of(watched),
        "sure": options.get("sure"),
        "encoder": getattr(encoder, "encoder", encoder),
        "analyzer": getattr(watched, "analyzer", None),
    }


def _check_size(labels: Sequence[Hashable], row: Method, keep: float | str) -> None:
    """Raise a LopsError of too few labels, and of too many for the memory."""
    n = len(labels)
    check_memory(n, len(set(labels)))
    validates = "folds" in row.options or (row.takes_keep and keep == AUTO)
    if validates and n < FEWEST:
        raise LopsError(
            f"found {n} texts with a label, and {row.name} uses cross-validation; wanted at least "
            f"{FEWEST}, or a ranking with a number for keep, such as method='learning-order', "
            "keep=0.5"
        )
