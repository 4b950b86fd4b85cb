"""A committee: several members score every label held-out, and their mean decides."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from lops_adapters.console import percent
from lops_adapters.core import LopsError, Selection
from lops_adapters.encoders.pretrained import MINILM, has_minilm
from lops_adapters.encoders.static import STATIC
from lops_adapters.encoders.topics import Topics
from lops_adapters.encoders.word_counts import CHAR, KnownWords, count_words
from lops_adapters.probes import probe_class
from lops_adapters.probes.base import Probe
from lops_adapters.probes.embedding import AUTO, EmbeddingProbe, given_vectors
from lops_adapters.probes.linear import LinearProbe
from lops_adapters.selection.fitted import FittedMember
from lops_adapters.selection.judge import Fitted, Judge
from lops_adapters.selection.likelihoods import (
    LEAST_SKILL,
    class_shares,
    likelihoods,
    preferred,
    skill,
)
from lops_adapters.selection.members import (
    ClassWords,
    Given,
    Learnt,
    Member,
    Neighbours,
    Task,
    check_words,
)
from lops_adapters.selection.posterior import least_kept, true_classes
from lops_adapters.selection.ranked import Scored, best, read_labels, selection_of, shares
from lops_adapters.selection.request import Request, is_fraction
from lops_adapters.selection.selectors import Labels, Selector
from lops_adapters.selection.suggestions import Seen

# Of frameworks, whose labels say nothing that members do not say, and which label rejected texts
# again. Chosen on AG News and 20news-coarse among 0.5, 0.7, 0.9 and 0.95.
SURE_IN_FRAMEWORKS = 0.95
FOLDS = 3  # of cross-validation
CANNOT_TELL = "the members cannot tell, kept whole"


class _Scores(NamedTuple):
    """What the members say together: see :class:`Committee`.

    Attributes:
        likely: (n, k) mean likelihoods.
        fitted: the members after their training, if they were asked for.
        agreed: name of each member and the share of labels that it prefers.

    """

    likely: np.ndarray
    fitted: list[FittedMember]
    agreed: list[tuple[str, float]]


@dataclass
class Committee:
    """Keeps the pseudo-labels that are most probably right, given several held-out members.

    Every member gives class probabilities for every sample without its label. Divided by the
    classes' shares of the pseudo-labels, they are likelihoods
    (:func:`~lops_adapters.selection.likelihoods.likelihoods`). Their mean and the label give the
    probability that the label is right, by
    :func:`~lops_adapters.selection.posterior.true_classes`: the score. A label is kept if its score
    is at least ``sure``. By default as many are rejected as are estimated to be wrong, see
    :func:`~lops_adapters.selection.posterior.least_kept`.

    If the mean hardly agrees with the labels
    (:func:`~lops_adapters.selection.likelihoods.skill` below ``LEAST_SKILL``), the members cannot
    tell right labels from wrong ones: all are kept, with a score of 1. So are classes with fewer
    samples than folds, which do not compete with others.

    Args:
        members: at least one.
        seed: of folds and trainings.
        quiet: no progress bar.
        folds: of cross-validation.
        per_class: keep the same share of every class, the same total.
        sure: keep labels that are right with at least this probability; None: see above.
        count_label: whether the label itself is evidence for the class. Not so if a classifier of
            the same texts gave it, as in self-training.
        seen: receives the mean likelihoods.
        fitted: receives the judge of other samples; every member needs a ``fit``.
        name: becomes the rule of the selection.

    """

    members: Sequence[Member]
    seed: int = 0
    quiet: bool = True
    folds: int = FOLDS
    per_class: bool = False
    sure: float | None = None
    count_label: bool = True
    seen: Seen | None = None
    fitted: Fitted | None = None
    name: str = "committee"

    def __post_init__(self) -> None:
        if not self.members:
            raise LopsError("found no members; a committee needs at least one")

    def __call__(self, samples: Sequence[Any], pseudo_labels: Labels) -> Selection:
        """Score and select.

        Raises:
            LopsError: fewer samples than folds, a member that gives NaN, and what the members
                raise.

        """
        classes, codes = read_labels(samples, pseudo_labels)
        k, counts = len(classes), np.bincount(codes)
        found = self._scores(Task(samples, codes, classes, self.folds, self.seed, self.quiet))
        true, given = true_classes(found.likely, codes, self.folds, count_label=self.count_label)
        right = true[np.arange(len(codes)), codes]
        tells = skill(found.likely, codes) >= LEAST_SKILL
        threshold = least_kept(right) if self.sure is None else self.sure
        small = counts < self.folds
        mask = (right >= threshold) | small[codes]
        why = f"right with a probability of at least {threshold:.3g}" if tells else CANNOT_TELL
        least = np.where(small, -np.inf, threshold)
        if self.per_class and tells:
            wanted = np.where(small, counts, shares(codes, k, int(mask.sum()), 1.0))
            mask = best(right, codes, wanted, self.seed)
            why = "highest scores of the class, total set by the members"
            least = np.full(k, np.inf)
            np.minimum.at(least, codes[mask], right[mask])
        if self.fitted is not None:
            of_labels = class_shares(codes, k, self.folds)
            self.fitted(Judge(classes, found.fitted, of_labels, given, least))
        if self.seen is not None:
            self.seen(found.likely, None)
        reasons = ["too few samples, kept whole" if few else why for few in small]
        said = ", ".join(f"{name} {percent(agreed)}" for name, agreed in found.agreed)
        stopped = f"{self.folds}-fold cross-validation; labels preferred by {said}"
        scored = Scored(right, None, stopped)
        return selection_of(mask, scored, classes, codes, self.name, reasons)

    def _scores(self, task: Task) -> _Scores:
        of_labels = class_shares(task.codes, len(task.classes), self.folds)
        total, fitted, agreed = np.zeros(()), list[FittedMember](), list[tuple[str, float]]()
        for member in self.members:
            if self.fitted is None:
                probabilities = member.score(task)
            elif hasattr(member, "fit"):
                probabilities, after = member.fit(task)
                fitted.append(after)
            else:
                raise LopsError(
                    f"the member {member.name!r} scores only the samples that it is given; leave "
                    "out fitted"
                )
            likely = likelihoods(_checked(member.name, probabilities), of_labels)
            agreed.append((member.name, float(preferred(likely, task.codes).mean())))
            total = total + likely
        return _Scores(total / len(self.members), fitted, agreed)


def _checked(name: str, probabilities: np.ndarray) -> np.ndarray:
    """Return the probabilities of a member; LopsError if one is NaN."""
    bad = np.flatnonzero(np.isnan(probabilities).any(axis=1))
    if len(bad):
        raise LopsError(
            f"the member {name!r} gives NaN for {len(bad)} of {len(probabilities)} samples; its "
            "training has diverged: lower its learning rate"
        )
    return probabilities


def check(
    *,
    encoder: Any = AUTO,
    words: Mapping[Hashable, Sequence[str]] | None = None,
    sure: Any = None,
    **others: Any,
) -> None:
    """Raise a LopsError about options of :func:`make` that cannot work."""
    if not (encoder is None or isinstance(encoder, str) or hasattr(encoder, "vectors")):
        raise LopsError(
            f"encoder is {encoder!r:.80}; wanted 'minilm', the folder or hub name of an encoder, "
            "an EmbeddingProbe, or None"
        )
    if sure is not None and not is_fraction(sure):
        raise LopsError(f"sure is {sure!r:.80}; wanted a probability above 0, such as 0.9, or None")
    if words is None:
        return
    if encoder is None:
        raise LopsError(
            "words need an encoder, which compares texts with them, and the encoder is none; leave "
            "one of them out"
        )
    check_words(words)


def make(
    request: Request,
    *,
    encoder: str | EmbeddingProbe | None = AUTO,
    words: Mapping[Hashable, Sequence[str]] | None = None,
    sure: float | None = None,
    count_label: bool = True,
    folds: int = FOLDS,
    device: str = "auto",
    probabilities: bool = False,
    fitted: Fitted | None = None,
) -> Selector:
    """Return the selector of ``committee``.

    Args:
        request: its probe is the first member; default: the linear probe.
        encoder: of two more members, a name or an
            :class:`~lops_adapters.probes.embedding.EmbeddingProbe`; None: no encoder, no torch;
            ``auto``: MiniLM if it is installed, else None.
        words: of every class, such as its name and its seed words; a further member, if there is
            an encoder.
        sure, count_label, folds: see :class:`Committee`.
        device: of an encoder given by name.
        probabilities: the samples are the (n, k) held-out probabilities of a classifier of your
            own, a column per class in the order of the sorted labels; it is the only member.
        fitted: receives the judge of other samples, see
            :class:`~lops_adapters.selection.judge.Judge`.

    """

    def selector(samples: Sequence[Any], pseudo_labels: Labels) -> Selection:
        if probabilities:
            members: Sequence[Member] = [Given("your classifier")]
        elif given_vectors(samples) is not None:
            members = _of_vectors(request)
        else:
            chosen = _encoder(encoder, device, request.quiet)
            members = _of_texts(request, samples, chosen, words)
        return Committee(
            members,
            request.seed,
            request.quiet,
            folds,
            request.per_class,
            None if sure is None else float(sure),
            count_label,
            request.seen,
            fitted,
        )(samples, pseudo_labels)

    return selector


def make_automatic(request: Request, folds: int = FOLDS, **options: Any) -> Selector:
    """Return the selector of ``automatic``: a committee of one, the probe."""
    return Committee(
        [Learnt("the probe", request.probe)],
        request.seed,
        request.quiet,
        folds,
        request.per_class,
        seen=request.seen,
        name="automatic",
        **options,
    )


def _encoder(
    encoder: str | EmbeddingProbe | None, device: str, quiet: bool
) -> EmbeddingProbe | None:
    if encoder == AUTO:
        encoder = MINILM if has_minilm() else None
    if isinstance(encoder, str):
        encoder = EmbeddingProbe(encoder, device=device, quiet=quiet)
    if encoder is not None:
        encoder.vectors([])  # refuses a bad encoder before the trainings
    return encoder


def _of_texts(
    request: Request,
    samples: Sequence[Any],
    encoder: EmbeddingProbe | None,
    words: Mapping[Hashable, Sequence[str]] | None,
) -> list[Member]:
    """Return the members for samples that are texts, whose words are counted once for all."""
    probe = request.given or probe_class("linear")(quiet=request.quiet)
    learnt = Learnt("TF-IDF" if probe.kind == "linear" else probe.name, probe)
    linear = isinstance(probe, LinearProbe)
    counts = count_words(samples, (), probe.analyzer if isinstance(probe, LinearProbe) else AUTO)
    space, reader = Topics(counts, request.seed), KnownWords(counts)
    if linear and not getattr(probe, "mask_words", ()):
        learnt.read, learnt.reader = counts, reader
    members: list[Member] = [
        learnt,
        Neighbours("neighbours (LSA)", space, read=counts, reader=reader),
    ]
    if encoder is None:
        return members
    counted = encoder.encoder == STATIC and counts.analyzer != CHAR
    shared: dict[str, Any] = {"read": counts, "reader": reader} if counted else {}
    members += [
        Neighbours("neighbours", encoder.vectors, **shared),
        Learnt("regression", _regression(), vectors=encoder.vectors, **shared),
    ]
    if words is not None:
        members.append(ClassWords("class words", encoder.vectors, words))
    return members


def _of_vectors(request: Request) -> list[Member]:
    """Return the members for samples that are vectors."""
    probe = request.given or EmbeddingProbe(quiet=request.quiet)
    return [
        Learnt("the probe", probe),
        Neighbours("neighbours", _unit),
        Learnt("regression", _regression(), vectors=_unit),
    ]


def _regression() -> Probe:
    """Return the logistic regression on vectors of unit length.

    Its strong regularisation keeps it from fitting wrong labels; 1 and 10 rank worse.
    """
    from sklearn.linear_model import LogisticRegression

    from lops_adapters.probes.estimator import EstimatorProbe

    return EstimatorProbe(LogisticRegression(C=0.3, max_iter=500))


def _unit(samples: Sequence[Any]) -> np.ndarray:
    """Return given vectors scaled to unit length."""
    vectors = given_vectors(samples)
    assert vectors is not None
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.maximum(lengths, 1e-9))
