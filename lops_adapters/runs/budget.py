"""How long a run takes on this machine, told before it begins.

Processor times of whole runs, in units of a fixed piece of work, are in
``benchmarks/results/speed/budget-*.json``; ``python -m benchmarks.budget`` measures them.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import fields
from typing import Any, NamedTuple

from lops_adapters.console import about
from lops_adapters.datasets import Corpus
from lops_adapters.runs.job import Job

log = logging.getLogger(__name__)
_FREE = ("supervision", "labelled")  # settings that cost nothing
_LEAST_PASSES = 3


class Cost(NamedTuple):
    """What a run with the preset ``quick`` and its usual arms costs, in :func:`unit_seconds`.

    Attributes:
        run: whatever the data.
        per_class: for each class.
        per_kilocharacter: for each 1,000 characters.
        longest: characters of a document that are read; None: all.
    """

    run: float
    per_class: float
    per_kilocharacter: float
    longest: int | None = None

    def units(self, corpus: Corpus) -> float:
        """Return the units that a corpus costs, caches empty."""
        read = sum(len(text[: self.longest]) for text in corpus.texts)
        return (
            self.run + self.per_class * len(corpus.classes) + self.per_kilocharacter * read / 1000
        )


def unit_seconds(clock: Callable[[], float] = time.perf_counter, least: float = 0.5) -> float:
    """Return the mean seconds of one layer of MiniLM on 16 windows of 128 pieces, on one thread.

    Args:
        clock: ``time.process_time`` leaves out what other processes take.
        least: seconds to measure for.
    """
    import torch

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with torch.random.fork_rng(devices=()), torch.inference_mode():
            layer = torch.nn.TransformerEncoderLayer(384, 12, 1536, batch_first=True).eval()
            windows = torch.zeros(16, 128, 384)
            layer(windows)  # the first pass takes longer
            passes, start = 0, clock()
            while passes < _LEAST_PASSES or clock() - start < least:
                layer(windows)
                passes += 1
            return (clock() - start) / passes
    finally:
        torch.set_num_threads(threads)


def announce(cost: Cost | None, corpus: Corpus, job: Job[Any], arms: Sequence[str]) -> None:
    """Log how long a run takes on this machine, as busy as it is now.

    Only where that is known: the preset ``quick`` with its usual arms, on a processor, from the
    beginning.
    """
    if cost is None or job.quiet or job.device != "cpu" or any(job.folder.work.iterdir()):
        return
    quick = job.settings.preset("quick")
    changed = {
        item.name
        for item in fields(quick)
        if getattr(quick, item.name) != getattr(job.settings, item.name)
    }
    if changed <= {*_FREE} and {*arms} == {*quick.usual_arms}:
        seconds = cost.units(corpus) * unit_seconds()
        log.info(
            "expected: %s if this machine stays as busy, less with several cores or cached vectors",
            about(seconds),
        )
