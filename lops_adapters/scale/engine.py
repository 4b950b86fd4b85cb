"""The stages of a selection on Ray: count, draw, encode, fit, judge.

No process holds all rows: counting and judging see one part, the fit sees the sample.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from lops_adapters.core import LopsWarning
from lops_adapters.probes.embedding import EmbeddingProbe
from lops_adapters.scale.cluster import actors, got, processors, say, spread, spread_over
from lops_adapters.scale.encoding import Encoded, Encoder, Encoding, described
from lops_adapters.scale.parts import Counted, Placed, Ready, count, draw, joined, part_of
from lops_adapters.scale.vectors import Held, tidy
from lops_adapters.selection.draw import Limits, expected
from lops_adapters.selection.members import as_text
from lops_adapters.tables.classes import Classes
from lops_adapters.tables.fit import Fit, Given, fit, numbered
from lops_adapters.tables.survey import Sample, Survey
from lops_adapters.texts.choices import check_members


@dataclass
class Engine:
    """Runs stages on a cluster.

    Args:
        ray: connected.
        given: what is asked for.
        quiet: no line per stage.

    """

    ray: Any
    given: Given
    quiet: bool

    def count(
        self, parts: Sequence[Any], work: Callable[..., Counted] = count
    ) -> tuple[Classes, list[int]]:
        """Return the classes of the table, and the row that each part begins at.

        Raises:
            LopsError: a text or label that cannot be judged, with its file and row.

        """
        found: dict[int, Counted] = {}
        with self._stage("count", len(parts)) as said:
            spread(self.ray, work, parts, self.given.wanted, done=found.__setitem__)
            labels, starts = joined([found[i] for i in range(len(parts))])
            classes = numbered(labels, self.given)
            said(f"{classes.counts.sum():,} rows of {len(classes.names)} classes")
        return classes, starts

    def draw(
        self, parts: Sequence[Placed], classes: Classes, work: Callable[..., Survey] = draw
    ) -> Sample:
        """Return the sample: every part sends the rows that may be in it."""
        given, slack = self.given, 1.0
        counts = dict(zip(classes.keys().tolist(), classes.counts.tolist(), strict=True))
        with self._stage("draw", len(parts)) as said:
            while True:
                limits = expected(counts, given.probe_rows, slack)
                found = self._drawn(parts, classes, limits, work)
                if found.is_enough(classes):
                    break
                slack *= 16  # many copies of few texts
            sample = found.sample(classes)
            said(f"a sample of {len(sample.texts):,} rows")
        return sample

    def _drawn(
        self, parts: Sequence[Placed], classes: Classes, limits: Limits, work: Callable[..., Survey]
    ) -> Survey:
        given = self.given
        found = Survey(given.probe_rows, given.seed, limits)

        def add(_: int, part: Survey) -> None:
            found.join(part)

        shared = (classes.settled(given.wanted), given.probe_rows, given.seed, limits)
        spread(self.ray, work, parts, *shared, done=add)
        return found

    def encoding(self, probe: EmbeddingProbe, folder: Path) -> Encoding:
        """Return how texts are encoded; a worker looks at the encoder.

        Args:
            probe: names the encoder; a folder may be relative to this program's.
            folder: of the vectors of all encoders.

        Raises:
            LopsError: the encoder cannot be loaded.

        """
        if Path(probe.encoder).is_dir():  # workers have other folders
            probe = replace(probe, encoder=str(Path(probe.encoder).absolute()))
        _, own = processors(self.ray)
        reference = self.ray.remote(**own)(described).remote(probe)
        fingerprint, width = got(self.ray, reference)
        return Encoding(probe, folder.absolute() / fingerprint, fingerprint, width)

    def encode(
        self,
        parts: Sequence[Placed],
        classes: Classes,
        sample: Sample,
        encoding: Encoding,
        opened: Callable[[Placed], Any] = part_of,
    ) -> tuple[list[Placed], Held]:
        """Encode all parts whose vectors are not in the folder.

        Args:
            parts: of the table.
            classes: of the table.
            sample: its rows.
            encoding: how.
            opened: from a part to its rows, on a worker.

        Returns:
            The parts with the files of their vectors, and the vectors of the sample.

        Raises:
            LopsError: a class without words, and what encoding raises.

        """
        words = self.given.chosen["words"]
        check_members("committee", encoding.probe, words, classes.names)
        positions = sample.drawn.positions
        sampled = np.split(positions, np.searchsorted(positions, [p.start for p in parts[1:]]))
        said_words = [as_text(own) for own in (words or {}).values()]
        found: dict[int, Encoded] = {}
        arguments = (encoding, self.given.wanted, classes, opened)
        with (
            self._stage("encode", len(parts)) as said,
            actors(self.ray, Encoder, len(parts), *arguments) as started,
        ):
            items = list(zip(parts, sampled, strict=True))
            for one in spread_over(self.ray, started, "part", items):
                found[one.number] = one
            of_words = got(self.ray, started[0].few.remote(said_words)) if said_words else None
            new = sum(one.is_new for one in found.values())
            said(f"{new:,} encoded now, in {encoding.folder}")
        tidy(encoding.folder)
        parts = [one._replace(vectors=found[one.number].path) for one in parts]
        own = [found[one.number].sampled for one in parts]
        if of_words is not None:
            own.append(of_words)
        return parts, Held([*sample.texts, *said_words], np.concatenate(own))

    def fit(
        self,
        sample: Sample,
        classes: Classes,
        encoding: Encoding | None = None,
        held: Held | None = None,
    ) -> tuple[Fit, Any]:
        """Return the fit, and a reference to what judging takes.

        Args:
            sample: of the table.
            classes: of the table.
            encoding: of the texts; None: no encoder.
            held: the vectors of the sample.

        Raises:
            LopsError: what :func:`lops_adapters.select` raises.

        """
        with self._stage("fit", 1) as said:
            task = self.ray.remote(num_cpus=1, num_returns=2)(_fit)
            found, ready = task.remote(sample, classes, self.given, encoding, held)
            fitted, warned = got(self.ray, found)
            said(fitted.selection.stopped)
        for message in warned:
            warnings.warn(message, LopsWarning, stacklevel=2)
        return fitted, ready

    def judge(
        self,
        work: Callable[..., Any],
        parts: Sequence[Placed],
        ready: Any,
        *shared: Any,
        done: Callable[[int, Any], None],
        kept: bool = False,
    ) -> None:
        """Judge every part; arguments as for :func:`~lops_adapters.scale.cluster.spread`."""
        with self._stage("judge", len(parts)):
            spread(self.ray, work, parts, ready, *shared, done=done, kept=kept)

    @contextmanager
    def _stage(self, name: str, parts: int) -> Iterator[Callable[[str], None]]:
        """Say how long a stage took, and what it found."""
        start, said = time.perf_counter(), [""]
        yield said.append
        seconds = time.perf_counter() - start
        found = f": {said[-1]}" if said[-1] else ""
        many = f"{parts:,} part{'' if parts == 1 else 's'}"
        say(f"{name}, {many}, {seconds:.1f} s{found}", self.quiet)


def _fit(
    sample: Sample, classes: Classes, given: Given, encoding: Encoding | None, held: Held | None
) -> tuple[tuple[Fit, list[str]], Ready]:
    """Fit where the task runs, and return the warnings, too."""
    encoder = None if encoding is None else encoding.stored(held)
    given = replace(given, chosen={**given.chosen, "encoder": encoder})
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", LopsWarning)
        fitted, judging = fit(sample, classes, given)
    said = [str(one.message) for one in caught if issubclass(one.category, LopsWarning)]
    return (fitted, said), Ready(judging, encoder)
