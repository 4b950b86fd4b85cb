"""Texts with noisy labels in, a selection out: ``lops_adapters.select``."""

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

from lops_adapters.core import LopsError
from lops_adapters.formats.cells import is_missing
from lops_adapters.labels.labelled import Groups, Labelled
from lops_adapters.labels.reader import ReadLabels, flat_list, is_flat, read_labels
from lops_adapters.labels.votes import texts_of_several
from lops_adapters.probes import Probe
from lops_adapters.probes.embedding import EmbeddingProbe
from lops_adapters.probes.estimator import as_probe
from lops_adapters.selection import Choice
from lops_adapters.selection.method_table import check, offered
from lops_adapters.texts.explain import positions
from lops_adapters.texts.labelled import select_labelled
from lops_adapters.texts.result import TextSelection


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
    class_shares: Mapping[Any, float] | None = None,
    labelled_by: str | None = None,
    seed: int = 0,
    strict: bool = False,
    quiet: bool = True,
    score_unseen: bool = False,
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
        checked: position -> the right label, as a person says, which may be one that no text has,
            or None for none of the classes; of the committee only. It learns from them how far to
            believe its members and the labels, keeps these rows (None: rejects), and measures the
            noise.
            :meth:`~lops_adapters.texts.result.TextSelection.to_check` says which rows.
        source: n names, of the rule, annotator, prompt or seed word that gave each label; the
            committee then estimates how often each of them is right. If texts repeat, as with
            several annotators, :func:`~lops_adapters.labels.votes.votes_by_text` joins their rows.
        classes: the classes; labels and votes that nearly name one are read as it, such as
            "Sports." for "sport", and listed. Others are refused, unless ``abstain`` names them.
        groups: n names, such as customers, threads or documents; texts of a group do not score
            each other, since they may share what makes a label wrong. Of the committee only.
        class_shares: class to how frequent it truly is, where you know it: labels that are given
            too often are doubted. Fractions of 1, or percentages; classes that are not named share
            what is left, as their labels do. If all are named, numbers of any size. Of the
            committee only.
        labelled_by: ``rules``, ``model`` or ``people`` gave the labels, for the estimate of wrong
            labels and its range; it changes no decision. ``words`` imply rules. Of the committee
            only, with one label per text.
        seed: of trainings, folds and ties.
        strict: raise instead of warning about a class without kept or learnt texts, or about labels
            unrelated to the texts.
        quiet: no progress bars.
        score_unseen: fit the committee to score unseen texts: ``outcome.fitted`` of the selection
            is a :class:`~.assessment.FittedCommittee`. Of the committee only.

    Returns:
        The selection, with positions in the order of ``texts``.

    Raises:
        LopsError: missing texts or labels, labels of several types, fewer than two classes,
            settings that contradict each other, an unavailable encoder, and what the method raises.

    >>> texts = ["the striker scored a late goal"] * 20 + ["the bank cut its rates"] * 20
    >>> selection = select(texts, ["sports"] * 20 + ["money"] * 19 + ["sports"])
    >>> selection.rejected.tolist(), selection.suggested[39]
    ([39], 'money')
    """
    asked = method, keep, per_class, as_probe(probe, quiet), every, sure
    choice = Choice(
        *asked, encoder, words, analyzer, seed, strict, quiet, class_shares, labelled_by,
        score_unseen=score_unseen,
    )  # fmt: skip
    check(choice, among=offered())
    if texts is None and embeddings is None and pred_probs is None:
        raise LopsError("texts are None; wanted texts, or embeddings or pred_probs")
    shown = None if texts is None else read_texts(texts)
    if source is None and (labels is None) == (soft_labels is None):
        raise LopsError("wanted labels or soft_labels, one of the two")
    read = read_labels(labels, soft_labels, abstain=abstain, source=source, classes=classes)
    labelled, notes = _labelled(shown, read, groups), list(read.notes)
    if source is not None and shown is not None and labelled.votes is not None:
        several = texts_of_several(labelled.samples, labelled.votes)
        if several:
            notes.append(
                f"{several:,} texts have labels by several sources, in rows of their own; "
                "lops_adapters.labels.votes.votes_by_text joins them to votes."
            )
    return select_labelled(
        labelled,
        choice,
        read.shown,
        embeddings=embeddings,
        pred_probs=pred_probs,
        checked=checked,
        notes=notes,
        problems=read.problems,
        column=texts,
    )


def _labelled(shown: Sequence[str] | None, read: ReadLabels, groups: Any) -> Labelled:
    """Return the samples with labels and groups; a LopsError unless there is one per text."""
    n = len(read.codes)
    shown = [f"(row {row})" for row in range(n)] if shown is None else shown
    if len(shown) != n:
        raise LopsError(
            f"found {len(shown)} texts and {n} labels; wanted one label per text, in the same order"
        )
    codes = None
    if groups is not None:
        names = flat_list(groups, "groups", "names, one per text")
        if len(names) != n:
            raise LopsError(f"found {len(names)} groups and {n} texts; wanted one group per text")
        codes = Groups(names).codes
    return Labelled(shown, read.codes, read.classes, read.votes, codes)


def read_texts(texts: Sequence[str]) -> list[str]:
    """Return texts as a list; a missing one (None, NaN) is empty, as in a file.

    Raises a LopsError about no flat sequence, no text, or values that are no strings.
    """
    if hasattr(texts, "columns") or hasattr(texts, "column_names"):
        raise LopsError(
            f"texts are a {type(texts).__name__}, a whole table; give two of its columns, or use "
            "lops_adapters.integrations.frames.select_frame(table, text=..., label=...)"
        )
    if not is_flat(texts):
        raise LopsError(
            f"texts are one {type(texts).__name__}; wanted a flat sequence of strings, such as a "
            "list or one column of a table"
        )
    # pandas.NA is no float, and comparing it with itself is no answer.
    read = ["" if is_missing(one) or type(one).__name__ == "NAType" else one for one in texts]
    bad = [position for position, text in enumerate(read) if not isinstance(text, str)]
    if bad:
        raise LopsError(
            f"{len(bad)} of {len(read)} texts are not strings, at {positions(bad)} (the first is "
            f"{read[bad[0]]!r:.60}); fill them in, or leave these rows out"
        )
    if read and not any(map(str.strip, read)):
        raise LopsError(f"all {len(read)} texts are empty; is this the column of texts?")
    return read
