"""Self-training on all documents towards sharpened predictions, with a selector at each refresh.

LOTClass, section 3.3.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from lops_adapters.console import progress
from lops_adapters.core import Selection
from lops_adapters.datasets import Corpus
from lops_adapters.encoders.torch_tools import training_batches
from lops_adapters.lotclass.probe import LotclassProbe, TokenRow
from lops_adapters.lotclass.settings import LotclassSettings
from lops_adapters.probes.tuning import check_finite, target_distribution
from lops_adapters.runs.files import selection_table
from lops_adapters.runs.folder import selection_arrays, selection_from
from lops_adapters.runs.metrics import selection_metrics
from lops_adapters.runs.stages import Samples, Stage

log = logging.getLogger(__name__)


@dataclass
class Refresh:
    """One refresh of the targets.

    Attributes:
        documents: (m,) int64 positions of the slice.
        codes: (m,) int64 class codes of the largest target.
        agreement: share of the slice whose predicted class is also the class of its target.
        selection: the documents to train on until the next refresh.
    """

    documents: np.ndarray
    codes: np.ndarray
    agreement: float
    selection: Selection


@dataclass
class SelfTrained:
    """The result of self-training: (n, k) float32 probabilities, updates made, and refreshes."""

    probabilities: np.ndarray
    updates: int = 0
    refreshes: list[Refresh] = field(default_factory=list)


def slices(n: int, sizes: Sequence[int], seed: int) -> Iterator[np.ndarray]:
    """Yield positions of as many documents as each size says, in a repeated random order.

    A slice has at most n documents.

    >>> parts = list(slices(5, [3, 3, 9], seed=0))
    >>> [len(part) for part in parts], sorted(set(np.concatenate(parts[:2]).tolist()))
    ([3, 3, 5], [0, 1, 2, 3, 4])
    """
    order, start = np.random.default_rng([seed, 7]).permutation(n), 0
    for size in sizes:
        end = start + min(size, n)
        yield order[np.arange(start, end) % n]
        start = end % n


def planned_updates(n: int, settings: LotclassSettings) -> tuple[int, int]:
    """Return the updates of self-training on n documents, and the updates between two refreshes.

    Under ``faithful`` only whole intervals of ``update_interval`` count, which can be none.
    """
    total = int(n * settings.self_train_epochs / settings.batch_size)
    if settings.faithful:
        return total - total % settings.update_interval, settings.update_interval
    return total, min(settings.update_interval, -(-n // settings.batch_size))


def updates_per_refresh(n: int, settings: LotclassSettings) -> list[int]:
    """Return the updates after each refresh: at most the planned interval, spread evenly."""
    total, interval = planned_updates(n, settings)
    if not total:
        return []
    return [len(part) for part in np.array_split(np.arange(total), -(-total // interval))]


def self_train(
    network: LotclassProbe,
    documents: Sequence[TokenRow],
    settings: LotclassSettings,
    selector: Callable[[Sequence[TokenRow], np.ndarray, int], Selection],
    *,
    seed: int,
    quiet: bool = True,
) -> SelfTrained:
    """Continue training the network in place, on targets made of its own predictions.

    At a refresh the next slice of documents is predicted and gets new targets; a slice has as many
    documents as the updates until the next refresh need. ``selector(samples, codes, number of the
    refresh)`` chooses those to train on. Other documents are skipped until their next slice. Fewer
    documents are passed more than once, so that all arms make the same updates; under ``faithful``
    they are passed once. A refresh that keeps nothing makes no updates. LopsError for a prediction
    that is not a number.
    """
    rounds = updates_per_refresh(len(documents), settings)
    planned = sum(rounds)
    update = network.tuner(documents, settings.self_learning_rate, planned, seed)
    rng = np.random.default_rng([seed, 8])
    lengths = np.array([len(sample.ids) for sample in documents])
    done = SelfTrained(np.zeros(0))
    parts = slices(len(documents), [size * settings.batch_size for size in rounds], seed)
    bar = progress(total=planned, quiet=quiet, unit="update", desc="self-training")
    with bar:
        for budget, part in zip(rounds, parts, strict=True):
            probabilities = check_finite(network.predict_prepared(documents, part))
            targets = target_distribution(probabilities)
            codes = targets.argmax(axis=1)
            selection = selector([documents[i] for i in part], codes, len(done.refreshes))
            agreement = float((codes == probabilities.argmax(axis=1)).mean())
            done.refreshes.append(Refresh(part, codes, agreement, selection))
            kept = selection.kept
            for batch in _batches(lengths[part[kept]], budget, settings, rng):
                chosen = kept[batch]
                update(part[chosen], targets[chosen].astype(np.float32))
                done.updates += 1
            bar.update(budget)
    done.probabilities = check_finite(
        network.predict_prepared(documents, np.arange(len(documents)))
    )
    log.info("self-training: %d updates, %d refreshes", done.updates, len(done.refreshes))
    return done


def _batches(
    lengths: np.ndarray, budget: int, settings: LotclassSettings, rng: np.random.Generator
) -> list[np.ndarray]:
    """Return ``budget`` batches of the kept documents; under ``faithful`` one pass, if shorter."""
    batches: list[np.ndarray] = []
    while len(lengths) and len(batches) < budget:
        batches += training_batches(lengths, settings.batch_size, rng)
        if settings.faithful:
            break
    return batches[:budget]


def stored(done: SelfTrained) -> dict[str, np.ndarray]:
    """Return the result as arrays that :func:`self_trained` reads back."""
    arrays = {
        "probabilities": done.probabilities,
        "updates": np.array(done.updates),
        "refreshes": np.array(len(done.refreshes)),
    }
    for number, refresh in enumerate(done.refreshes):
        own = {**vars(refresh), **selection_arrays(refresh.selection)}
        del own["selection"]
        arrays |= {f"{number}:{key}": np.asarray(value) for key, value in own.items()}
    return arrays


def self_trained(arrays: Mapping[str, np.ndarray]) -> SelfTrained:
    """Return the result stored by :func:`stored`."""
    refreshes = []
    for number in range(int(arrays["refreshes"])):
        start = f"{number}:"
        own = {
            key.removeprefix(start): array for key, array in arrays.items() if key.startswith(start)
        }
        agreement = float(own["agreement"])
        refreshes.append(Refresh(own["documents"], own["codes"], agreement, selection_from(own)))
    return SelfTrained(arrays["probabilities"], int(arrays["updates"]), refreshes)


def stage_of(done: SelfTrained, seconds: float, corpus: Corpus, selects: bool) -> Stage:
    """Return the stage of self-training: its pseudo-labels are the targets of all refreshes.

    A document counts once per refresh. An arm that selects there has a table of each.
    """
    none, refreshes = np.zeros(0, dtype=np.int64), done.refreshes
    parts = [
        Samples([corpus.ids[i] for i in one.documents], one.codes, corpus.classes)
        for one in refreshes
    ]
    tables = {
        f"selection-{number}.csv": selection_table(part, refresh.selection)
        for number, (part, refresh) in enumerate(zip(parts, refreshes, strict=True), start=1)
    }
    return Stage(
        samples=Samples(
            [name for part in parts for name in part.ids],
            np.concatenate([none, *(part.codes for part in parts)]),
            corpus.classes,
            positions=np.concatenate([none, *(one.documents for one in refreshes)]),
        ),
        selection=_joined([one.selection for one in refreshes]),
        probabilities=done.probabilities,
        seconds={"self_training": seconds},
        name="self-training",
        extra={
            "updates": done.updates,
            "refreshes": [
                {"agreement": one.agreement, **selection_metrics(one.selection)}
                for one in refreshes
            ],
        },
        tables=tables if selects else {},
        table=None,
    )


def _joined(selections: Sequence[Selection]) -> Selection:
    """Return the selections of all refreshes as one, without numbers per class."""
    mask, learnt_at, confidence = (
        np.concatenate([np.zeros(0), *(getattr(one, name) for one in selections)])
        for name in ("mask", "learnt_at", "confidence")
    )
    return Selection(mask.astype(bool), learnt_at, confidence, {}, "", "")


def check_refreshes(settings: LotclassSettings, n_documents: int) -> None:
    """Refuse fewer probe updates per refresh than one checkpoint needs."""
    rounds = updates_per_refresh(n_documents, settings)
    if rounds:
        size = min(min(rounds) * settings.batch_size, n_documents)
        settings.check_checkpoints(
            settings.probe_epochs * -(-size // settings.batch_size),
            f"the {size} documents of a refresh",
        )
