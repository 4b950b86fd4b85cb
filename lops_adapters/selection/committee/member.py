"""What a member of a committee is."""

from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np

from lops_adapters.core import LopsError
from lops_adapters.selection.committee.folds import Folded

Reader = Callable[[Sequence[Any]], Any]  # samples to what a member takes


class Member(Protocol):
    """A classifier of a committee; a subclass needs a name and the two scores.

    It scores the samples of a table held out, and, after :meth:`fit`, unseen samples, outside the
    table; their probabilities do not depend on the other samples of their block.

    Attributes:
        name: in words.
        weight: above 0, of its likelihoods in the committee's mean.
        reader: turns unseen samples into what the member takes; members may share it. None: it
            takes the samples.
        read: the committee's samples, read so, if another member shares them; None: the samples.
    """

    name: str
    weight: float = 1.0
    reader: Reader | None = None
    read: Any = None

    @abstractmethod
    def score(self, labelled: Folded) -> np.ndarray:
        """Return class probabilities, (n, k); no row may depend on the row's own label."""

    def fit(self, labelled: Folded) -> None:
        """Be ready for :meth:`score_unseen` and for pickle, after :meth:`score` of these samples.

        A member lets go of the samples here, and trains what it has not kept.
        """
        return None

    @abstractmethod
    def score_unseen(self, samples: Any, groups: np.ndarray | None = None) -> np.ndarray:
        """Return class probabilities, (m, k), of samples as ``reader`` returns them.

        ``groups``: (m,) int codes as of ``Folded.groups``, -1: none that was there. A sample is
        scored without the labels of its group.
        """

    def vectors(self, samples: Any) -> np.ndarray | None:
        """Return (m, width) vectors by which checked rows are compared; None: it has none.

        Samples are as ``reader`` returns them.
        """
        return None


def without_nan(member: Member, probabilities: np.ndarray) -> np.ndarray:
    """Return the probabilities of a member; LopsError if one is NaN."""
    bad = int(np.isnan(probabilities).any(axis=1).sum())
    if bad:
        raise LopsError(
            f"the member {member.name!r} gives NaN for {bad} of {len(probabilities)} samples; its "
            "training has diverged: lower its learning rate"
        )
    return probabilities


def vectors_of(members: Sequence[Member], n: int, read: Callable[[Member], Any]) -> np.ndarray:
    """Return the vectors of n samples, (n, width), of the last member that has some; else width 0.

    ``read`` gives what a member takes. The last member reads an encoder, if there is one.
    """
    every = (member.vectors(read(member)) for member in reversed(members))
    first = next((vectors for vectors in every if vectors is not None), None)
    return np.zeros((n, 0)) if first is None else np.asarray(first)
