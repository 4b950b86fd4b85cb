"""Self-training on all real documents towards a sharpened, class-balanced target.

WeSTClass, section 4.3.
"""

import logging
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import cycle
from typing import Any

import numpy as np

from lops_adapters.console import progress
from lops_adapters.probes.tuning import check_finite, target_distribution
from lops_adapters.westclass.classifier import Network
from lops_adapters.westclass.settings import WestclassSettings, filled

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class SelfTrained:
    """The result of self-training.

    Attributes:
        probabilities: (n, k) float32 predictions on all documents with the final weights.
        iterations: updates made.
        changed: fraction of documents whose class changed, per refresh of the target but the first.
        converged: whether training stopped because few documents changed, not at the limit.
    """

    probabilities: np.ndarray
    iterations: int
    changed: tuple[float, ...]
    converged: bool


def self_train(
    network: Network,
    prepared: Any,
    n: int,
    settings: WestclassSettings,
    labelled: tuple[np.ndarray, np.ndarray],
    *,
    seed: int,
    quiet: bool = True,
) -> SelfTrained:
    """Continue training the pre-trained network, in place, on n prepared documents.

    Every ``update_interval`` updates the target is recomputed from predictions on all documents.
    Training stops when fewer than ``stop_below`` of them changed their class since the last time.
    It makes at most ``max_iterations`` updates and ``max_passes`` passes.
    Each update takes one batch: the next slice of one random order of the documents. The target of
    ``labelled`` documents, (positions, codes), is their label. LopsError for a prediction that is
    not a number.
    """
    interval = filled(settings.update_interval)
    update = network.tuner(
        learning_rate=filled(settings.learning_rate), momentum=0.9, decay=filled(settings.decay)
    )
    batches = slices(n, settings.batch_size, seed)
    changed: list[float] = []
    target = previous = np.zeros(0)
    converged = False
    iteration, limit = 0, settings.most_updates(n)
    bar = progress(total=limit, quiet=quiet, unit="update", desc="self-training")
    with bar:
        for iteration in range(limit):
            if iteration % interval == 0:
                probabilities = check_finite(network.predict_prepared(prepared))
                classes = probabilities.argmax(axis=1)
                if iteration:
                    changed.append(float((classes != previous).mean()))
                    bar.set_postfix(changed=f"{changed[-1]:.2%}")
                    if changed[-1] < settings.stop_below:
                        converged = True
                        break
                target, previous = target_distribution(probabilities), classes
                target[labelled[0]] = np.eye(probabilities.shape[1])[labelled[1]]
            batch = next(batches)
            update(prepared, batch, target[batch])
            bar.update()
    done = iteration if converged else limit
    log.info(
        "self-training: %d updates, %s",
        done,
        "converged: few documents change" if converged else "the limit",
    )
    return SelfTrained(
        check_finite(network.predict_prepared(prepared)), done, tuple(changed), converged
    )


def slices(n: int, size: int, seed: int) -> Iterator[np.ndarray]:
    """Yield slices of one random order of n positions, over and over; a pass ends with a short one.

    >>> parts = slices(3, 2, seed=0)
    >>> first, second, third = (next(parts).tolist() for _ in range(3))
    >>> sorted(first + second), third == first
    ([0, 1, 2], True)
    """
    order = np.random.default_rng([seed, 1]).permutation(n)
    return cycle([order[start : start + size] for start in range(0, n, size)])
