"""A committee: several members score every label held-out, and their mean decides."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from lops_adapters.console import percent, typed
from lops_adapters.core import LopsError, Selection
from lops_adapters.encoders.static import STATIC
from lops_adapters.labels.labelled import Labelled
from lops_adapters.probes.embedding import EmbeddingProbe
from lops_adapters.selection.assessment import Fitted, FittedCommittee
from lops_adapters.selection.calibration import calibration_of, diagnose
from lops_adapters.selection.folds import FOLDS, Folded
from lops_adapters.selection.likelihoods import (
    LEAST_SKILL,
    class_shares,
    likelihoods,
    preferred,
    skill,
    strengths,
    weakened,
)
from lops_adapters.selection.member import Member, vectors_of, without_nan
from lops_adapters.selection.member_table import TEXTS, VECTORS, Inputs, members_of
from lops_adapters.selection.members import Learnt, OwnProbabilities, check_words
from lops_adapters.selection.posterior import SHARPNESS, label_distribution, least_kept
from lops_adapters.selection.ranked import Scored, best, selection_of, shares
from lops_adapters.selection.request import Request, is_fraction
from lops_adapters.selection.selectors import Corrected, Select, objects
from lops_adapters.selection.source_table import Source, assess
from lops_adapters.selection.sources import fit as fit_sources
from lops_adapters.selection.suggestions import Estimates, Listener
from lops_adapters.surroundings import one_blas_thread

# Of frameworks, whose labels say nothing that members do not say. Chosen on AG News and
# 20news-coarse among 0.5, 0.7, 0.9 and 0.95, when labels were rejected only.
SURE_IN_FRAMEWORKS = 0.95
TOO_FEW = "too few samples, kept whole"
LEAST_OF_BEST = 0.2  # of the best member's skill; on real tables in English all have more
CANNOT_TELL = "the members cannot tell, kept whole"


class Scores(NamedTuple):
    """What the members of a committee say of n samples.

    Attributes:
        likely: (n, k) mean likelihoods, in which rare classes are limited.
        of_members: every member's, (n, k); empty unless they are asked for.
        choices: the (n,) codes of the classes that each member with a weight prefers.
        said: the share of labels that each member prefers, in words.
        fitted: the committee so far.
    """

    likely: np.ndarray
    of_members: list[np.ndarray]
    choices: list[np.ndarray]
    said: str
    fitted: FittedCommittee


@dataclass
class Committee:
    """Keeps the pseudo-labels that are most probably right, given several held-out members.

    Every member gives class probabilities for every sample without its label. Divided by the
    classes' shares of the pseudo-labels, they are likelihoods
    (:func:`~lops_adapters.selection.likelihoods.likelihoods`). Their weighted mean, in which rare
    classes are limited (:func:`~lops_adapters.selection.likelihoods.strengths`), and the label give
    the probability that the label is right, by
    :func:`~lops_adapters.selection.posterior.posterior`: the score. Of two members or more it is
    calibrated by what the members say of the whole table, see :mod:`.calibration`. A label is kept
    if its score is at least ``sure``, by default 0.5: unless it is more probably wrong than right.
    Where members cannot tell, nearly all labels are. Classes with fewer samples than folds are also
    kept; they do not compete with others.

    The score of one member, of votes, and of labels that do not count is not calibrated. Then as
    many are rejected as are estimated to be wrong, see
    :func:`~lops_adapters.selection.posterior.least_kept`; and all are kept, with a score of 1, if
    the mean hardly agrees with the labels
    (:func:`~lops_adapters.selection.likelihoods.skill` below ``LEAST_SKILL``).

    Where several sources vote, pseudo-labels are what members are trained on. The labels that are
    scored are the most probable classes by members and votes
    (:mod:`~lops_adapters.selection.sources`).

    Where a person has checked rows, an arbiter learns from them how far to believe members and
    labels (:mod:`~lops_adapters.selection.arbiter`), and gives the probabilities. A checked row is
    always kept, with a score of 1; a row of no class is always rejected, with a score of 0. If
    labels do not count, a framework trains on them: then a row with another checked label is
    also rejected, and of each class as many are kept as without checked rows, which keeps balance.

    Args:
        members: at least one.
        request: seed, bars and ``per_class``, see :func:`lops_adapters.selection.build`; its method
            becomes the rule of the selection.
        folds: of cross-validation.
        sure: keep labels that are right with at least this probability; None: see above.
        count_label: whether the label itself is evidence for the class. Not so if a classifier of
            the same texts gave it, as in self-training.
        vectors: whether the samples are vectors, which have a calibration of their own.
        correct: give every sample its most probable class, and keep the same share of each of these
            classes, as many in all as reach ``sure``. The selection is a
            :class:`~lops_adapters.selection.selectors.Corrected`.
        fitted: receives the committee, fitted to assess further samples.
        assessed: receives what is estimated of every source.
    """

    members: Sequence[Member]
    request: Request = field(default_factory=Request)
    folds: int = FOLDS
    sure: float | None = None
    count_label: bool = True
    vectors: bool = False
    correct: bool = False
    fitted: Fitted | None = None
    assessed: Callable[[list[Source]], None] | None = None

    def __call__(self, labelled: Labelled, seen: Listener | None = None) -> Selection:
        """Score and select.

        ``seen`` receives the mean likelihoods; its method ``settle``, if it has one, receives the
        probabilities of the true classes, before and after the checked rows count, the codes of
        the labels, and the estimate of the noise or None. Of votes, the probabilities before are
        the pseudo-label's.

        Raises a LopsError of fewer samples than folds, and of NaN; and what the members raise.
        """
        asked, samples = self.request, labelled.samples
        classes, codes = labelled.classes, labelled.codes
        folded = Folded.of(labelled, self.folds, asked.seed, asked.quiet)
        folded.check()
        rows = np.array(list(labelled.checked), dtype=np.int64)
        checks = np.array([*labelled.checked.values()], dtype=np.int64)
        comparing = self.members if len(rows) else ()
        vectors = vectors_of(
            comparing, len(codes), lambda one: samples if one.read is None else one.read
        )
        heard = self.scores(folded, apart=len(rows) > 0)
        likely, tells = heard.likely, skill(heard.likely, codes) >= LEAST_SKILL
        voted = labelled.votes is not None
        votes = codes if labelled.votes is None else labelled.votes.among(classes)
        fitted = self._estimated(heard, codes, votes if voted else None, tells, (rows, checks))
        tells = tells if fitted.sources is None else fitted.sources.tells
        small = np.isinf(fitted.shares)
        scored, before = fitted.unchecked(likely, codes, votes)
        noise = fitted.noise(likely, scored, before, tells)
        labels, true, certain = scored, before, np.eye(len(classes))
        if len(rows):
            opinions = fitted.opinions(heard.of_members, codes, before)
            fitted = fitted.taught(opinions, labels, vectors, rows, checks)
            true = fitted.arbitrated(opinions, labels, vectors, before)
            true[rows[checks >= 0]] = certain[checks[checks >= 0]]
        if self.correct:
            labels = true.argmax(axis=1)
        each = np.arange(len(codes))
        right = true[each, labels]
        right[rows] = checks != -1 if self.count_label else checks == labels[rows]
        decides = right if self.count_label else before[each, labels]
        least_right = 0.5 if fitted.calibration is not None else least_kept(decides)
        if voted and not tells and not len(rows):
            least_right = 0.0
        sure = least_right if self.sure is None else float(self.sure)
        mask, least, why = self._kept(decides, labels, small, sure, tells or len(rows) > 0)
        if len(rows) and not self.count_label:
            wanted = np.bincount(labels[mask], minlength=len(small))
            mask = best(right, labels, wanted, asked.seed)
        mask[rows] = right[rows] == 1
        if self.fitted is not None:
            self.fitted(replace(fitted, least=least))
        if seen is not None:
            seen(likely, None)
            given = certain[codes] if voted else before
            seen.settle(Estimates(given, true, scored, noise))
        stopped = f"{self.folds}-fold cross-validation; labels preferred by {heard.said}"
        reasons = np.where(small, TOO_FEW, why).tolist()
        selection = selection_of(
            mask, Scored(right, None, stopped), classes, labels, asked.method, reasons
        )
        return Corrected(selection, objects(classes)[labels]) if self.correct else selection

    @one_blas_thread
    def _estimated(
        self,
        heard: Scores,
        codes: np.ndarray,
        votes: np.ndarray | None,
        tells: bool,
        checked: tuple[np.ndarray, np.ndarray],
    ) -> FittedCommittee:
        """Estimate how far to believe labels or votes; checked rows count for votes only."""
        fitted, likely = heard.fitted, heard.likely
        if votes is None:
            calibration = None
            if self.count_label and len(heard.choices) > 1:
                kind = VECTORS if self.vectors else TEXTS
                of_class = np.bincount(codes, minlength=likely.shape[1])
                found = diagnose(heard.choices, likely, codes)
                calibration = calibration_of(found, of_class, kind)
                tells = True  # as far as they can
            count = self.count_label
            truth = label_distribution(likely, codes, self.folds, count_label=count, tells=tells)
            return replace(fitted, true_given_label=truth, calibration=calibration)
        (rows, checks), k = checked, likely.shape[1]
        named = checks >= 0
        usual = SHARPNESS if tells else 0.0
        sources = fit_sources(votes, likely, rows[named], checks[named], usual)
        if self.assessed is not None:
            self.assessed(assess(sources, votes, likely))
        return replace(fitted, true_given_label=np.full((k, k), 1 / k), sources=sources)

    def _kept(
        self,
        right: np.ndarray,
        labels: np.ndarray,
        small: np.ndarray,
        threshold: float,
        tells: bool,
    ) -> tuple[np.ndarray, np.ndarray, str]:
        """Return which labels are kept, the least probability per class, (k,), and why."""
        mask = (right >= threshold) | small[labels]
        why = f"right with a probability of at least {threshold:.3g}"
        why = CANNOT_TELL if mask.all() and not tells else why
        least = np.where(small, -np.inf, threshold)
        if (self.request.per_class or self.correct) and tells:
            k, counts = len(small), np.bincount(labels, minlength=len(small))
            wanted = np.where(small, counts, shares(labels, k, int(mask.sum()), 1.0))
            mask = best(right, labels, wanted, self.request.seed)
            why = "highest scores of the class, total set by the members"
            why = f"{why}; labels corrected" if self.correct else why
            least = np.full(k, np.inf)
            np.minimum.at(least, labels[mask], right[mask])
        return mask, least, why

    def scores(self, labelled: Folded, apart: bool = False) -> Scores:
        """Score the samples by every member, and keep every member's likelihoods if ``apart``.

        A member with hardly any skill next to the best one before it has no weight: an encoder may
        not know the language.
        """
        codes, classes = labelled.codes, labelled.classes
        of_labels = class_shares(codes, len(classes), self.folds)
        total, best_skill, weights = np.zeros(()), 0.0, [member.weight for member in self.members]
        said: list[str] = []
        every: list[np.ndarray] = []
        choices: list[np.ndarray] = []
        for place, member in enumerate(self.members):
            probabilities = member.score(labelled, further=self.fitted is not None)
            likely = likelihoods(without_nan(member, probabilities), of_labels)
            own_skill = skill(likely, codes)
            if best_skill >= LEAST_SKILL and own_skill < LEAST_OF_BEST * best_skill:
                weights[place] = 0.0
            else:
                choices.append(likely.argmax(axis=1))
            name = member.name if weights[place] else f"{member.name} (left out)"
            said.append(f"{name} {percent(float(preferred(likely, codes).mean()))}")
            best_skill = max(best_skill, own_skill)
            total = total + weights[place] * likely
            if apart:
                every.append(likely)
        mean = total / sum(weights)
        factors = strengths(mean, codes)
        fitted = FittedCommittee(classes, self.members, weights, of_labels, factors)
        return Scores(weakened(mean, codes, factors), every, choices, ", ".join(said), fitted)


def check(
    *,
    encoder: Any = STATIC,
    words: Mapping[Hashable, Sequence[str]] | None = None,
    sure: Any = None,
    **others: Any,
) -> None:
    """Raise a LopsError about options of :func:`make` that cannot work."""
    if not (encoder is None or isinstance(encoder, str) or hasattr(encoder, "vectors")):
        raise LopsError(
            f"encoder is {encoder!r:.80}; wanted 'static', 'minilm', the folder or hub name of an "
            "encoder, an EmbeddingProbe, or None"
        )
    if sure is not None and not is_fraction(sure):
        raise LopsError(
            f"{typed('sure')} is {sure!r:.80}; wanted a probability above 0, such as 0.9"
        )
    if words is None:
        return
    if encoder is None:
        raise LopsError(
            f"{typed('words')} need an encoder, which compares texts with them, and "
            f"{typed('encoder')} is none; leave one of them out"
        )
    check_words(words)


def make(
    request: Request,
    *,
    encoder: str | EmbeddingProbe | None = STATIC,
    words: Mapping[Hashable, Sequence[str]] | None = None,
    device: str = "auto",
    probabilities: bool = False,
    **options: Any,
) -> Select:
    """Return the method ``committee``.

    Args:
        request: its probe is the first member; default: the linear probe.
        encoder: of two more members, a name or a probe; None: no encoder.
        words: of every class; a further member, if there is an encoder.
        device: of an encoder given by name.
        probabilities: the samples are the (n, k) held-out probabilities of a classifier, a column
            per class in the order of the sorted labels; it is the only member.
        options: of :class:`Committee`.
    """

    def select(labelled: Labelled, seen: Listener | None = None) -> Selection:
        quiet, chosen, samples, vectors = request.quiet, encoder, labelled.samples, False
        if probabilities:
            members: list[Member] = [OwnProbabilities("your classifier")]
        else:
            if isinstance(chosen, str):
                chosen = EmbeddingProbe(chosen, device=device, quiet=quiet)
            inputs = Inputs(samples, request.given, chosen, words, request.seed, quiet)
            if chosen is not None and TEXTS in inputs.kinds:
                chosen.vectors([])  # refuses a bad encoder before the trainings
            members, vectors = members_of(inputs), TEXTS not in inputs.kinds
        return Committee(members, request, vectors=vectors, **options)(labelled, seen)

    return select


def make_automatic(request: Request, **options: Any) -> Select:
    """Return the method ``automatic``: a committee of one, the probe."""
    return Committee([Learnt("the probe", request.probe)], request, **options)
