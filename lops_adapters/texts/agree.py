"""How far label sources agree with each other and with checked rows: :func:`agree`."""

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np

from lops_adapters.core import LopsError
from lops_adapters.evaluation.agreement import alpha, confusion, difference, kappa, of_classes
from lops_adapters.labels.votes import Votes
from lops_adapters.report.agreement import AgreementPage, Comparison, Confusion, Disagreement, Pair
from lops_adapters.selection.canonical import content_keys, content_order
from lops_adapters.selection.votes.sources import by_votes
from lops_adapters.texts.compared import alternatives, check_alternative, read_votes, with_checked
from lops_adapters.texts.labelled import check_votes
from lops_adapters.texts.select import read_texts

MARGIN = 0.05  # a source that is right in at most this share of rows less often is as good
CHECKED = "checked rows"
JOINT = "joint labels"
_SHOWN = 30  # sources with most votes, of which pairs are compared
_CONFUSED = 200  # classes of which confusions are told: with 2,000, they take gigabytes
_TELLING = 5
_OFTEN = 3  # times as often as others, rows on which sources differ are checked
_SENT_BACK, _UNLIKELY = 20, 0.2  # rows per source, and probability of its vote there, at most


def agree(
    texts: Sequence[str],
    labels: Any,
    *,
    checked: Mapping[int, Hashable | None] | None = None,
    people: Sequence[str] = (),
    margin: float = MARGIN,
    classes: Sequence[Hashable] | None = None,
    abstain: Any = None,
    ordered: bool = False,
    alternative: float | None = None,
    seed: int = 0,
) -> AgreementPage:
    """Compare label sources, such as annotators and language models.

    Args:
        texts: n strings.
        labels: the votes of m sources, as for :func:`lops_adapters.select`.
        checked: position -> the right label, as a person says, which may be one that no source
            gives, or None for none of the classes: of rows from the top of ``to_check``, or of a
            random sample.
        people: names of sources that the others are compared with; default: all.
        margin: share of rows, of :func:`~lops_adapters.evaluation.agreement.difference`.
        classes: in the order in which to show them; labels that nearly name one are read as it.
        abstain: labels that are no class.
        ordered: labels are ratings, in the order of numbers or of ``classes``: kappa is quadratic
            and alpha ordinal.
        alternative: whether each other source may take the place of one of the people, of whom
            there are three or more: how much more a person costs, as a share of rows in [0, 1); see
            :mod:`lops_adapters.evaluation.alternative`.
        seed: of the rows to check, and of the interval of alpha.

    Returns:
        What the page shows; its method ``to_json`` gives plain values.

    Raises:
        LopsError: unequal numbers of texts and labels, labels of one source only, a checked
            position that is not there or label of another type, people that are no source, and
            ordered labels without an order, fewer than three people to take the place of.

    >>> votes = {"model": ["a", "a", "b", "b"], "person": ["a", "a", "b", "a"]}
    >>> page = agree(["one", "two", "three", "four"], votes)
    >>> page.pairs[0].kappa.value
    0.5
    """
    texts = read_texts(texts)
    votes, problems, notes = read_votes(len(texts), labels, classes, abstain, ordered)
    check_votes(votes)
    unknown = [name for name in people if name not in votes.sources]
    if unknown:
        raise LopsError(
            f"people names {unknown[0]!r:.80}; the sources are {', '.join(votes.sources)}"
        )
    check_alternative(alternative, people, votes)
    certain, votes = with_checked({} if checked is None else checked, votes)
    if len(votes.classes) > _CONFUSED:
        notes = [*notes, f"No confusions are shown: there are more than {_CONFUSED} classes."]
    seen = np.isin(np.arange(len(texts)), list(checked or ()))
    # Sums of floats depend on the order of rows, so all is computed in the order of their content.
    order = np.lexsort((*votes.codes.T, certain, seen, content_keys(texts, 0)))
    texts, votes = [texts[row] for row in order.tolist()], votes.at(order)
    certain, joint = certain[order], _joint(votes)
    voted = (votes.codes >= 0).any(axis=1)
    best = np.where(voted, joint.argmax(axis=1), -1)
    some = bool((certain >= 0).any())
    # The joint label of one vote is that vote: it says nothing of agreement.
    shared = np.where((votes.codes >= 0).sum(axis=1) > 1, best, -1)
    true, weights = (certain, _weights(votes.codes, certain)) if some else (shared, None)
    return AgreementPage(
        rows=len(texts),
        checked=int((certain >= 0).sum()),
        classes=tuple(map(str, votes.classes)),
        sources=tuple(votes.sources),
        votes=tuple((votes.codes >= 0).sum(axis=0).tolist()),
        ordered=ordered,
        alpha=alpha(votes.codes, len(votes.classes), seed, ordered),
        pairs=_pairs(votes, ordered),
        truth=CHECKED if some else JOINT,
        with_truth=_with_truth(votes, true, CHECKED if some else JOINT, weights, ordered),
        confusions=_confusions(votes, true, weights),
        comparisons=_comparisons(votes, certain, joint, people, margin) if some else (),
        margin=margin,
        disagreements=_telling(texts, votes, joint),
        sent_back=_sent_back(texts, votes, joint, certain),
        to_check=_to_check(texts, votes.codes, best, seen[order], seed),
        problems=problems,
        notes=notes,
        alternatives=()
        if alternative is None
        else alternatives(votes, people, alternative, ordered),
    ).numbered(order.tolist())


def _joint(votes: Votes) -> np.ndarray:
    used, codes = votes.used
    joint = np.zeros((len(codes), len(votes.classes)))
    joint[:, used] = by_votes(codes, len(used)).posterior(codes, np.ones((len(codes), len(used))))
    return joint


def _differ(codes: np.ndarray) -> np.ndarray:
    """Return the rows of (n, m) votes on which sources give different labels, (n,) bool."""
    lowest = np.where(codes < 0, codes.max(initial=0) + 1, codes).min(axis=1)
    return np.asarray(codes.max(axis=1) > lowest)


def _weights(codes: np.ndarray, certain: np.ndarray) -> np.ndarray:
    """Return for how many rows each checked row counts, (n,) float64; 0: it is not checked.

    Rows on which sources differ are checked more often, see :func:`_to_check`. If none is checked
    of either kind, all count for as many.
    """
    weights, known, voted = np.zeros(len(codes)), certain >= 0, (codes >= 0).any(axis=1)
    kinds = [voted & _differ(codes), voted & ~_differ(codes)]
    if any(kind.any() and not known[kind].any() for kind in kinds):
        kinds = [voted]
    for kind in kinds:
        weights[kind & known] = kind.sum() / max(1, (kind & known).sum())
    return weights


def _compared(votes: Votes) -> list[int]:
    """Return the sources with most votes, in their order: their pairs are compared."""
    counts = (votes.codes >= 0).sum(axis=0)
    return sorted(np.argsort(-counts, kind="stable")[:_SHOWN].tolist())


def _pair(
    first: str, second: str, counts: np.ndarray, rows: int | None = None, ordered: bool = False
) -> Pair:
    agreement = kappa(counts, rows, ordered)
    equal = float(np.trace(counts) / max(1e-12, counts.sum()))
    return Pair(first, second, equal, agreement, of_classes(counts, rows))


def _pairs(votes: Votes, ordered: bool) -> tuple[Pair, ...]:
    k, shown = len(votes.classes), _compared(votes)
    return tuple(
        _pair(
            votes.sources[one],
            votes.sources[two],
            confusion(votes.codes[:, one], votes.codes[:, two], k),
            ordered=ordered,
        )
        for index, one in enumerate(shown)
        for two in shown[index + 1 :]
    )


def _with_truth(
    votes: Votes, true: np.ndarray, name: str, weights: np.ndarray | None, ordered: bool
) -> tuple[Pair, ...]:
    """Return every source next to the true classes, (n,); rows weigh as much as given."""
    k, pairs = len(votes.classes), []
    for column, source in enumerate(votes.sources):
        codes = votes.codes[:, column]
        both = (codes >= 0) & (true >= 0)
        weighed = None
        if weights is not None and both.any():
            # Unequal weights say as much as fewer rows (Kish, 1965).
            weighed = weights * weights[both].sum() / (weights[both] ** 2).sum()
        counts = confusion(codes, true, k, weighed)
        pairs.append(_pair(source, name, counts, int(both.sum()), ordered))
    return tuple(pairs)


def _confusions(
    votes: Votes, true: np.ndarray, weights: np.ndarray | None
) -> tuple[Confusion, ...]:
    """Return a confusion per source; checked rows count for all that it labels."""
    k = len(votes.classes)
    if k > _CONFUSED:
        return ()
    return tuple(
        Confusion(
            votes.sources[column],
            np.rint(confusion(true, votes.codes[:, column], k, weights)).astype(int).tolist(),
        )
        for column in _compared(votes)
    )


def _comparisons(
    votes: Votes, certain: np.ndarray, joint: np.ndarray, people: Sequence[str], margin: float
) -> tuple[Comparison, ...]:
    """Return every source next to every person; next to every other source without people."""
    shown, comparisons = _compared(votes), []
    persons = [votes.sources.index(name) for name in people] or shown
    for one in shown:
        for two in persons:
            if one == two or (people and votes.sources[one] in people):
                continue
            columns = votes.codes[:, one], votes.codes[:, two]
            how = difference(*columns, certain, joint, margin)
            if how is not None:
                comparisons.append(Comparison(votes.sources[one], votes.sources[two], how))
    return tuple(comparisons)


def _telling(texts: Sequence[str], votes: Votes, joint: np.ndarray) -> tuple[Disagreement, ...]:
    """Return rows on which a source contradicts a sure joint label, of different kinds.

    The surest first; of rows with the same source, vote and joint label, only the first.
    """
    best, sure = joint.argmax(axis=1), joint.max(axis=1)
    order = content_order(texts, best, seed=0)
    order = order[np.argsort(-sure[order], kind="stable")]
    disagreements: list[Disagreement] = []
    shown_kinds: set[tuple[int, int, int]] = set()
    for row in order.tolist():
        others = [(j, int(vote)) for j, vote in enumerate(votes.codes[row].tolist()) if vote >= 0]
        kinds = {(j, vote, int(best[row])) for j, vote in others if vote != best[row]}
        if not kinds - shown_kinds:
            continue
        shown_kinds |= kinds
        labels = {votes.sources[j]: str(votes.classes[vote]) for j, vote in others}
        label = str(votes.classes[best[row]])
        disagreements.append(Disagreement(row, texts[row], label, float(sure[row]), labels))
        if len(disagreements) == _TELLING:
            break
    return tuple(disagreements)


def _sent_back(
    texts: Sequence[str], votes: Votes, joint: np.ndarray, certain: np.ndarray
) -> dict[str, list[Disagreement]]:
    """Return rows for each source to look at again: its vote is most probably wrong."""
    joint = joint.copy()
    known = np.flatnonzero(certain >= 0)
    joint[known] = np.eye(joint.shape[1])[certain[known]]
    order = content_order(texts, joint.argmax(axis=1), seed=0)
    back: dict[str, list[Disagreement]] = {}
    for index, source in enumerate(votes.sources):
        column = votes.codes[order, index]
        right = np.where(column >= 0, joint[order, np.maximum(column, 0)], 1.0)
        first = np.argsort(right, kind="stable")[:_SENT_BACK]
        rows = order[first[right[first] <= _UNLIKELY]]
        back[source] = [
            Disagreement(
                int(row),
                texts[row],
                str(votes.classes[int(joint[row].argmax())]),
                float(joint[row].max()),
                {source: str(votes.classes[votes.codes[row, index]])},
            )
            for row in rows.tolist()
        ]
    return back


def _to_check(
    texts: Sequence[str], codes: np.ndarray, best: np.ndarray, checked: np.ndarray, seed: int
) -> tuple[int, ...]:
    """Return the rows that are not ``checked``, (n,) bool, yet, the same in any order of rows.

    In random order, with those on which sources differ ``_OFTEN`` times as often as others near the
    top: where sources agree, they are equally right.
    """
    order = content_order(texts, best, seed)
    order = order[best[order] >= 0]
    apart = _differ(codes)[order]
    place = np.where(apart, np.cumsum(apart), np.cumsum(~apart)).astype(np.float64) - 0.5
    place /= np.where(apart, _OFTEN * apart.sum(), (~apart).sum())
    order = order[np.argsort(place, kind="stable")]
    return tuple(order[~checked[order]].tolist())
