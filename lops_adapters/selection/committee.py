"""A committee: several views that have not seen a label judge it together."""

from __future__ import annotations

import logging
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from numbers import Real
from typing import Any, NamedTuple

import numpy as np

from lops_adapters.console import percent
from lops_adapters.core import LopsError, Selection
from lops_adapters.probes import probe_class
from lops_adapters.probes.embedding import AUTO, EmbeddingProbe, given_vectors
from lops_adapters.probes.encoders import MINILM, has_minilm
from lops_adapters.probes.linear import LinearProbe
from lops_adapters.probes.word_counts import KnownWords, count_words
from lops_adapters.selection.automatic import scaled, self_confidence, strength
from lops_adapters.selection.confidences.margin import margins
from lops_adapters.selection.fitted import FittedView
from lops_adapters.selection.judge import Fitted, Judge
from lops_adapters.selection.posterior import average, posterior
from lops_adapters.selection.ranked import Scored, best, read_labels, selection_of, shares
from lops_adapters.selection.request import Request
from lops_adapters.selection.selectors import Labels, Selector
from lops_adapters.selection.suggestions import Seen
from lops_adapters.selection.topics import Topics
from lops_adapters.selection.views import ClassWords, Given, Learnt, Neighbours, Task, View

log = logging.getLogger(__name__)
_TIE = 1e-6  # margins nearer to 0 are rounding


class _Opinion(NamedTuple):
    """What one view says of n labels: see :class:`Committee`.

    Attributes:
        name: of the view.
        fitted: the view after its training, if it was asked for.
        judged: (n, k) relative probabilities.
        scores: (n,) margins.
        agreed: the share of labels that it prefers.
        own: (k,) mean self-confidences.
        strengths: (k,), with which classes compete for samples with other labels.

    """

    name: str
    fitted: FittedView | None
    judged: np.ndarray
    scores: np.ndarray
    agreed: float
    own: np.ndarray
    strengths: np.ndarray


@dataclass
class Committee:
    """Keeps a pseudo-label if the views prefer it together.

    Every view gives class probabilities for every sample without having seen its label. They become
    margins as in :class:`~lops_adapters.selection.automatic.Automatic`: a class's probability is
    divided by its mean self-confidence, rare classes are limited, and the margin is that of the
    pseudo-label over the best other class. The score is the weighted mean of the margins, in
    [-1, 1]: 0 and above is kept.

    A view's skill is ``(a - 1/k) / (1 - 1/k)``, where k is the number of classes that compete and a
    the share of all labels that it prefers; a tie of all classes counts 1/k. Views with at least
    three quarters of the best view's skill have equal weights; below that, the weight falls
    linearly to 0 at one quarter. So a view that knows nothing of the classes, such as an encoder
    for another language, does not take part. If a view with little weight has another ``instead``,
    the one that prefers more labels judges.

    With ``sure``, the score is the probability that the label is right, of
    :func:`~lops_adapters.selection.posterior.posterior`, and a label is kept if it is at least
    ``sure``; ``auto`` is the mean probability of all labels, see
    :func:`~lops_adapters.selection.posterior.average`. That loses fewer right labels.

    Classes with fewer samples than folds are kept whole and do not compete with others.

    Args:
        views: at least one.
        seed: of folds and trainings.
        quiet: no progress bar.
        folds: of cross-validation.
        stratified: keep the same share of every class, the same total.
        sure: keep labels that are right with at least this probability, or ``auto``; None: keep
            preferred ones.
        seen: receives the weighted mean of the relative probabilities.
        fitted: receives the judge of other samples; every view needs a ``fit``.

    """

    views: Sequence[View]
    seed: int = 0
    quiet: bool = True
    folds: int = 3
    stratified: bool = False
    sure: float | str | None = None
    seen: Seen | None = None
    fitted: Fitted | None = None

    def __post_init__(self) -> None:
        if not self.views:
            raise LopsError("found no views; a committee needs at least one")

    def __call__(self, samples: Sequence[Any], pseudo_labels: Labels) -> Selection:
        """Judge and select.

        Raises:
            LopsError: fewer samples than folds, a view that gives NaN, and what the views raise.

        """
        classes, codes = read_labels(samples, pseudo_labels)
        k, counts = len(classes), np.bincount(codes)
        small = counts < self.folds
        task = Task(samples, codes, classes, small, self.folds, self.seed, self.quiet)
        opinions = self._opinions(task)
        weights = weigh([opinion.agreed for opinion in opinions], k - int(small.sum()))
        mean = np.tensordot(weights, np.stack([opinion.judged for opinion in opinions]), axes=1)
        score = weights @ np.stack([opinion.scores for opinion in opinions])
        threshold, why = 0.0, "the views prefer the label"
        given = np.eye(k)
        if self.sure is not None or self.fitted is not None:
            right, given = posterior(mean, codes)
        if self.sure is not None:
            score = right[np.arange(len(codes)), codes]
            threshold = average(score) if isinstance(self.sure, str) else self.sure
            why = f"right with a probability of at least {threshold:.3g}"
        mask = (score >= threshold) | small[codes]
        least = np.where(small, -np.inf, threshold)
        if self.stratified:
            wanted = np.where(small, counts, shares(codes, k, int(mask.sum()), 1.0))
            mask = best(score, codes, wanted, self.seed)
            why = "highest scores of the class, total set by the views"
            least = np.full(k, np.inf)
            np.minimum.at(least, codes[mask], score[mask])
        if self.fitted is not None:
            views = [opinion.fitted for opinion in opinions if opinion.fitted is not None]
            own = np.stack([opinion.own for opinion in opinions])
            strengths = np.stack([opinion.strengths for opinion in opinions])
            sure = self.sure is not None
            self.fitted(Judge(classes, views, own, strengths, weights, given, least, sure))
        if self.seen is not None:
            self.seen(mean, None)
        reasons = ["too few samples, kept whole" if few else why for few in small]
        said = ", ".join(
            f"{opinion.name} {percent(opinion.agreed)} (weight {weight:.2f})"
            for opinion, weight in zip(opinions, weights, strict=True)
        )
        stopped = f"{self.folds}-fold cross-validation; labels preferred by {said}"
        return selection_of(
            mask, Scored(score, None, stopped), classes, codes, "committee", reasons
        )

    def _opinions(self, task: Task) -> list[_Opinion]:
        """Ask every view, and those that may take the place of a view with little weight."""
        opinions = [self._opinion(view, task) for view in self.views]
        competing = len(task.classes) - int(task.small.sum())
        weights = weigh([opinion.agreed for opinion in opinions], competing)
        for place, (view, weight) in enumerate(zip(self.views, weights, strict=True)):
            instead = getattr(view, "instead", None)
            if instead is None or weight == weights.max():
                continue
            other = self._opinion(instead(), task)
            if other.agreed > opinions[place].agreed:
                log.info("%s know little of the classes; %s judge instead", view.name, other.name)
                opinions[place] = other
        return opinions

    def _opinion(self, view: View, task: Task) -> _Opinion:
        fitted = None
        if self.fitted is None:
            probabilities = _checked(view.name, view.judge(task))
        elif hasattr(view, "fit"):
            probabilities, fitted = view.fit(task)
            _checked(view.name, probabilities)
        else:
            raise LopsError(
                f"the view {view.name!r} judges only the samples that it is given; leave out fitted"
            )
        own = self_confidence(probabilities, task.codes)
        strengths = strength(probabilities, task.codes, task.small, own)
        judged = scaled(probabilities, task.codes, own, strengths)
        scores = margins(judged, task.codes)
        agreed = preferred(scores, len(task.classes) - int(task.small.sum()))
        return _Opinion(view.name, fitted, judged, scores, agreed, own, strengths)


def _checked(name: str, probabilities: np.ndarray) -> np.ndarray:
    """Return the probabilities of a view; LopsError if one is NaN."""
    bad = np.flatnonzero(np.isnan(probabilities).any(axis=1))
    if len(bad):
        raise LopsError(
            f"the view {name!r} gives NaN for {len(bad)} of {len(probabilities)} samples; its "
            "training has diverged: lower its learning rate"
        )
    return probabilities


def preferred(scores: np.ndarray, n_classes: int) -> float:
    """Return the share of labels with a margin above 0; a tie counts as much as chance.

    Without this, a view that says the same of every sample would agree with all labels.

    >>> preferred(np.array([0.3, -0.2, 0.0, 0.0]), 2)
    0.5
    """
    ties = np.abs(scores) < _TIE
    chance = 1 / max(1, n_classes)
    return float(((scores > 0) & ~ties).mean() + chance * ties.mean())


def weigh(agreed: Sequence[float], n_classes: int) -> np.ndarray:
    """Return the weights of views, summing to 1, by the shares of labels that they prefer.

    If no view agrees with more labels than by chance, or fewer than two classes compete, the
    weights are equal.

    >>> weigh([0.9, 0.85, 0.6], 2).round(2).tolist()
    [0.5, 0.5, 0.0]
    """
    if n_classes < 2:
        return np.full(len(agreed), 1 / len(agreed))
    chance = 1 / n_classes
    skill = (np.asarray(agreed) - chance) / (1 - chance)
    if skill.max() <= 0:
        return np.full(len(agreed), 1 / len(agreed))
    weights = np.clip(2 * skill / skill.max() - 0.5, 0, 1)
    return np.asarray(weights / weights.sum())


def make(
    request: Request,
    *,
    encoder: str | EmbeddingProbe | None = AUTO,
    words: Mapping[Hashable, Sequence[str]] | None = None,
    sure: float | str | None = None,
    folds: int = 3,
    device: str = "auto",
    probabilities: bool = False,
    fitted: Fitted | None = None,
) -> Selector:
    """Return the selector of ``committee``.

    Args:
        request: its probe is the first view; default: the linear probe.
        encoder: of the second view, a name or an
            :class:`~lops_adapters.probes.embedding.EmbeddingProbe`; None: latent semantic analysis,
            without torch; ``auto``: MiniLM if it is installed, else None.
        words: of every class, such as its name and its seed words; the third view, if there is an
            encoder.
        sure, folds: see :class:`Committee`.
        device: of an encoder given by name.
        probabilities: the samples are the (n, k) held-out probabilities of a classifier of your
            own, a column per class in the order of the sorted labels; it is the only view.
        fitted: receives the judge of other samples, see
            :class:`~lops_adapters.selection.judge.Judge`.

    Raises:
        LopsError: ``sure`` is neither a probability nor ``auto``, or the words of a class are one
            string.

    """
    if (isinstance(sure, str) and sure != AUTO) or (isinstance(sure, Real) and not 0 < sure <= 1):
        raise LopsError(
            f"sure is {sure!r}; wanted a probability above 0, such as 0.9, 'auto', or None"
        )
    for label, own in (words or {}).items():
        if isinstance(own, str):
            raise LopsError(
                f"the words of the class {label!r} are {own!r}; wanted a list of words, such as "
                f"[{own!r}]"
            )
    return _Assembled(request, encoder, words, sure, folds, device, probabilities, fitted)


@dataclass
class _Assembled:
    """Builds the committee when the samples are there: texts, or vectors."""

    request: Request
    encoder: str | EmbeddingProbe | None
    words: Mapping[Hashable, Sequence[str]] | None
    sure: float | str | None
    folds: int
    device: str
    probabilities: bool
    fitted: Fitted | None

    def __call__(self, samples: Sequence[Any], pseudo_labels: Labels) -> Selection:
        request = self.request
        return Committee(
            self._views(samples),
            request.seed,
            request.quiet,
            self.folds,
            request.stratified,
            self.sure,
            request.seen,
            self.fitted,
        )(samples, pseudo_labels)

    def _views(self, samples: Sequence[Any]) -> list[View]:
        request = self.request
        if self.probabilities:
            return [Given("your classifier")]
        if given_vectors(samples) is not None:
            probe = request.given or EmbeddingProbe(quiet=request.quiet)
            return [Learnt("the probe", probe), Neighbours("neighbours", _unit)]
        probe = request.given or probe_class("linear")(quiet=request.quiet)
        learnt = Learnt("TF-IDF" if probe.kind == "linear" else probe.name, probe)
        encoder = self.encoder
        if encoder == AUTO:
            encoder = MINILM if has_minilm() else None
        if encoder is None:
            near = self._by_words(samples)
            if isinstance(probe, LinearProbe) and not probe.mask_words:
                learnt.read, learnt.reader = near.read, near.reader
            return [learnt, near]
        if isinstance(encoder, str):
            encoder = EmbeddingProbe(encoder, device=self.device, quiet=request.quiet)
        encoder.vectors([])  # refuses a bad encoder before the trainings
        instead = partial(self._by_words, samples)
        near = Neighbours("neighbours", encoder.vectors, instead=instead)
        views: list[View] = [learnt, near]
        if self.words is not None:
            views.append(ClassWords("class words", encoder.vectors, self.words))
        return views

    def _by_words(self, samples: Sequence[Any]) -> Neighbours:
        """Return the view that needs no encoder."""
        probe = self.request.given
        analyzer = probe.analyzer if isinstance(probe, LinearProbe) else AUTO
        counts = count_words(samples, (), analyzer)
        space = Topics(counts, self.request.seed)
        return Neighbours("neighbours (LSA)", space, read=counts, reader=KnownWords(counts))


def _unit(samples: Sequence[Any]) -> np.ndarray:
    """Return given vectors scaled to unit length."""
    vectors = given_vectors(samples)
    assert vectors is not None
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.maximum(lengths, 1e-9))
