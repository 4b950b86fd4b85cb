"""A committee: several members score every label held-out, and their mean decides."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from lops_adapters.console import typed
from lops_adapters.core import LopsError
from lops_adapters.labels.labelled import Labelled, with_copies
from lops_adapters.probes import Probe
from lops_adapters.probes.embedding import EmbeddingProbe
from lops_adapters.selection.choice import LABELLED_BY, NONE, Choice, is_fraction
from lops_adapters.selection.committee.assessment import FittedCommittee
from lops_adapters.selection.committee.belief import Belief, believe, suggestions
from lops_adapters.selection.committee.class_shares import check_shares, shares_of
from lops_adapters.selection.committee.folds import FOLDS, Folded
from lops_adapters.selection.committee.member import Member
from lops_adapters.selection.committee.member_table import TEXTS, VECTORS, Inputs, members_of
from lops_adapters.selection.committee.members import Learnt, OwnProbabilities, check_words
from lops_adapters.selection.committee.noise import as_arrays
from lops_adapters.selection.committee.scores import Scores, score
from lops_adapters.selection.method import Assessor, Method, option
from lops_adapters.selection.methods.ranked import best, shares
from lops_adapters.selection.outcome import Outcome, Predicted

# Of frameworks, whose labels say nothing that members do not say. Chosen on AG News and
# 20news-coarse among 0.5, 0.7, 0.9 and 0.95, when labels were rejected only.
SURE_IN_FRAMEWORKS = 0.95
# Below the largest probability of any row.
KEEP_ALL = 1e-9
TOO_FEW = "too few samples, kept whole"
CANNOT_TELL = "the members cannot tell, kept whole"
FEW_REJECTED = "not among the few labels that are most doubted"


@dataclass(frozen=True)
class HeldOut(Method):
    """Keeps what held-out members score as right: what a committee and one probe share.

    Attributes:
        folds: of cross-validation.
        count_label: whether the label itself is evidence for the class. Not so if a classifier of
            the same texts gave it, as in self-training.
    """

    folds: int = option(FOLDS)
    count_label: bool = option(True)

    takes_n, takes_keep, validates = False, False, True

    def check(self, choice: Choice) -> None:
        sure = choice.sure
        if sure is not None and not is_fraction(sure):
            raise LopsError(
                f"{typed('sure')} is {sure!r:.80}; wanted a probability above 0, such as 0.9"
            )

    def members(self, samples: Any, choice: Choice) -> tuple[Sequence[Member], str]:
        """Return the members, untrained, and the kind of their inputs, whose calibration counts."""
        raise NotImplementedError

    def __call__(self, labelled: Labelled, choice: Choice) -> Outcome:
        """Select; a LopsError: fewer samples than folds, NaN, and what the members raise."""
        members, kind = self.members(labelled.samples, choice)
        folded = Folded.of(labelled, self.folds, choice.seed, choice.quiet)
        folded.check()
        if choice.class_shares is not None:  # refuses bad ones before the trainings
            shares_of(choice.class_shares, labelled.classes, labelled.codes)
        if choice.labelled_by is not None and labelled.votes is not None:
            raise LopsError(
                f"{typed('labelled_by')} is {choice.labelled_by}, and several sources vote; it is "
                "for tables with one label per row: leave it out"
            )
        checks = bool(labelled.checked)
        scores = score(members, folded, unseen=choice.score_unseen, vectors=checks)
        belief = believe(scores, labelled, kind, choice, count_label=self.count_label)
        return self.decided(scores, belief, with_copies(labelled), choice)

    def decided(
        self, scores: Scores, belief: Belief, labelled: Labelled, choice: Choice
    ) -> Outcome:
        """Decide which labels are kept."""
        raise NotImplementedError


class Automatic(HeldOut):
    """A committee of one, the probe; it suggests what the probe prefers, class sizes aside."""

    reads = ("sure",)

    def members(self, samples: Any, choice: Choice) -> tuple[Sequence[Member], str]:
        return [Learnt("the probe", choice.classifier)], TEXTS

    def decided(
        self, scores: Scores, belief: Belief, labelled: Labelled, choice: Choice
    ) -> Outcome:
        outcome, _ = decide(scores, belief, labelled, choice, count_label=self.count_label)
        said = Predicted.of(scores.likely)
        return replace(outcome, suggested=said.codes, probability=said.probability, noise=None)


@dataclass(frozen=True)
class Committee(HeldOut, Assessor):
    """Keeps the pseudo-labels that are most probably right, given several held-out members.

    Every member gives class probabilities for every sample without its label. Divided by the
    classes' shares of the pseudo-labels, they are likelihoods (:mod:`.likelihoods`). Their weighted
    mean, in which rare classes are limited, and the label give the probability that the label is
    right, by :func:`.posterior.posterior`: the score. Of two members or more it is calibrated by
    what the members say of the whole table, see :mod:`.calibration`. A label is kept if its score
    is at least ``sure``, by default 0.5: unless it is more probably wrong than right. Where members
    cannot tell, nearly all labels are. Classes with fewer samples than folds are also kept; they do
    not compete with others.

    The score of one member, of votes, and of labels that do not count is not calibrated. Then as
    many are rejected as are estimated to be wrong, see :func:`.posterior.least_kept`, but of votes
    those that are more probably wrong than right; and all are kept, with a score of 1, if the mean
    hardly agrees with the labels (:func:`.likelihoods.skill` below ``LEAST_SKILL``).

    Where several sources vote, pseudo-labels are what members are trained on. The labels that are
    scored are the most probable classes by members and votes (:mod:`.votes.sources`).

    Rows that a person has checked shift what other tables teach (:mod:`.shifts`): one model of any
    number of checked rows (:mod:`.belief`). A checked row is always kept, with a score of 1; a row
    of no class is always rejected, with a score of 0. If labels do not count, a framework trains on
    them: then a row with another checked label is also rejected, and of each class as many are kept
    as without checked rows, which keeps balance.

    Attributes:
        correct: give every sample its most probable class, and keep the same share of each of these
            classes, as many in all as reach ``sure``.
        device: of an encoder given by name.
        probabilities: the samples are the (n, k) held-out probabilities of a classifier, a column
            per class in the order of the sorted labels; it is the only member.
    """

    correct: bool = option(False)
    device: str = option("auto")
    probabilities: bool = option(False)

    needs_probe, texts = False, True
    reads = ("encoder", "words", "sure", "class_shares", "labelled_by", "score_unseen")

    def check(self, choice: Choice) -> None:
        super().check(choice)
        encoder, words, origin = choice.encoder, choice.words, choice.labelled_by
        if choice.class_shares is not None:
            check_shares(choice.class_shares)
        if origin is not None and origin not in LABELLED_BY:
            raise LopsError(
                f"{typed('labelled_by')} is {origin!r:.80}; wanted one of {', '.join(LABELLED_BY)}"
            )
        if not (encoder is None or isinstance(encoder, str) or hasattr(encoder, "vectors")):
            raise LopsError(
                f"encoder is {encoder!r:.80}; wanted 'static', 'minilm', the folder or hub name of "
                "an encoder, an EmbeddingProbe, or None"
            )
        if words is None:
            return
        if encoder in (None, NONE):
            raise LopsError(
                f"{typed('words')} need an encoder, which compares texts with them, and "
                f"{typed('encoder')} is none; leave one of them out"
            )
        check_words(words)

    def members(self, samples: Any, choice: Choice) -> tuple[Sequence[Member], str]:
        if self.probabilities:
            return [OwnProbabilities("your classifier")], TEXTS
        encoder = None if choice.encoder == NONE else choice.encoder
        if isinstance(encoder, str):
            encoder = EmbeddingProbe(encoder, device=self.device, quiet=choice.quiet)
        probe = choice.probe if isinstance(choice.probe, Probe) else None
        inputs = Inputs(samples, probe, encoder, choice.words, choice.seed, choice.quiet)
        if encoder is not None and TEXTS in inputs.kinds:
            encoder.vectors([])  # refuses a bad encoder before the trainings
        return members_of(inputs), TEXTS if TEXTS in inputs.kinds else VECTORS

    def decided(
        self, scores: Scores, belief: Belief, labelled: Labelled, choice: Choice
    ) -> Outcome:
        outcome, least = decide(
            scores, belief, labelled, choice, count_label=self.count_label, correct=self.correct
        )
        if not choice.score_unseen:
            return outcome
        fitted = FittedCommittee(labelled.classes, scores.members, belief.model, least)
        return replace(outcome, fitted=fitted)


def decide(
    scores: Scores,
    belief: Belief,
    labelled: Labelled,
    choice: Choice,
    *,
    count_label: bool = True,
    correct: bool = False,
) -> tuple[Outcome, np.ndarray]:
    """Decide which labels are kept; return the outcome, and the least probability per class, (k,).

    Arguments as of :class:`Committee`.
    """
    rows, checks = as_arrays(labelled.checked)
    each, true = np.arange(len(labelled)), belief.true
    labels = true.argmax(axis=1) if correct else belief.labels
    right = true[each, labels]
    right[rows] = checks != -1 if count_label else checks == labels[rows]
    decides = right if count_label else belief.before[each, labels]
    sure = belief.least_kept(decides) if choice.sure is None else float(choice.sure)
    small = scores.mean.small
    mask, least, why = _kept(decides, labels, small, sure, belief.tells, choice, correct)
    why = FEW_REJECTED if belief.doubted and choice.sure is None else why
    if len(rows) and not count_label:
        wanted = np.bincount(labels[mask], minlength=len(small))
        mask = best(right, labels, wanted, choice.seed)
    mask[rows] = right[rows] == 1
    predicted = Predicted(len(labels))
    predicted.codes, predicted.probability = suggestions(true, labels)
    apart = checks < 0  # of no class, or of one that no sample has
    predicted.codes[rows[apart]] = checks[apart]
    predicted.probability[rows[apart]] = np.where(checks[apart] < -1, 1.0, np.nan)
    outcome = Outcome.of(
        mask, right, labels, len(small), rule=choice.method, predicted=predicted,
        stopped=f"{scores.folds}-fold cross-validation; labels preferred by {scores.said}",
        why=np.where(small, TOO_FEW, why).tolist(),
    )  # fmt: skip
    joined = belief.model.posterior.joined
    outcome = replace(outcome, noise=belief.noise, sources=belief.sources, joined=joined)
    return outcome, least


def _kept(
    right: np.ndarray,
    labels: np.ndarray,
    small: np.ndarray,
    threshold: float,
    tells: bool,
    choice: Choice,
    correct: bool,
) -> tuple[np.ndarray, np.ndarray, str]:
    """Return which labels are kept, the least probability per class, (k,), and why."""
    mask = (right >= threshold) | small[labels]
    why = f"right with a probability of at least {threshold:.3g}"
    why = CANNOT_TELL if mask.all() and not tells else why
    least = np.where(small, -np.inf, threshold)
    if (choice.per_class or correct) and tells:
        k, counts = len(small), np.bincount(labels, minlength=len(small))
        wanted = np.where(small, counts, shares(labels, k, int(mask.sum()), 1.0))
        mask = best(right, labels, wanted, choice.seed)
        why = "highest scores of the class, total set by the members"
        why = f"{why}; labels corrected" if correct else why
        least = np.full(k, np.inf)
        np.minimum.at(least, labels[mask], right[mask])
    return mask, least, why
