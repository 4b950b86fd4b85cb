"""Pseudo-labelled rows: from class names, otherwise seed words, otherwise lower thresholds."""

import logging
import warnings
from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Any

import numpy as np

from lops_adapters.core import LopsError, LopsWarning
from lops_adapters.datasets import Corpus
from lops_adapters.datasets.class_words import SEED_FILES, to_write
from lops_adapters.lotclass.documents import Occurrences, TooFewError, find_names, read_tokens
from lops_adapters.lotclass.engine import Engine
from lops_adapters.lotclass.masked_lm import LanguageModel, load_network
from lops_adapters.lotclass.settings import SUPERVISION, LotclassSettings
from lops_adapters.lotclass.vocabulary import (
    Indicative,
    Predictor,
    category_vocabulary,
    check_named,
    check_rows,
    indicative_positions,
    lower_thresholds,
    words_of,
)
from lops_adapters.runs.job import Job

log = logging.getLogger(__name__)


class RowMaker:
    """Finds the words that identify the classes in the documents, and makes their rows."""

    def __init__(
        self, corpus: Corpus, tokenizer: Any, engine: Engine, job: Job[LotclassSettings]
    ) -> None:
        """Read the documents, and find the first kind of words that enough documents hold."""
        self.corpus, self.tokenizer, self.engine, self.job = corpus, tokenizer, engine, job
        self.kinds = supervisions(job.settings.supervision, corpus)
        limit = job.settings.max_tokens
        self.tokens = read_tokens(corpus.texts, tokenizer, limit, quiet=job.quiet)
        self._later = self._found()
        self._first = next(self._later)

    def make(self, model: LanguageModel) -> dict[str, np.ndarray]:
        """Return the rows as arrays; :meth:`made_from` reads how they came about.

        They are of the first kind of words that gives every class enough rows, otherwise of the
        last one, with lower thresholds for classes that have too few. LopsError: too few documents
        speak of a class, or the probe has too few updates for a checkpoint.
        """
        job, settings = self.job, self.job.settings
        network, _ = load_network(model.source, self.engine)
        predictor = Predictor(
            network, self.tokenizer, self.engine, top=settings.top, tokens=4096, quiet=job.quiet
        )
        usual, size = settings.match_threshold, settings.vocabulary_size
        thresholds = np.full(len(self.corpus.classes), usual)
        too_few: TooFewError | None = None
        for kind, occurrences in chain([self._first], self._later):
            if too_few is not None:
                log.info("%s", _short(too_few))
            words = class_words(kind, self.corpus)
            vocabularies = category_vocabulary(occurrences, words, predictor, size=size)
            rows = self._indicative(predictor, vocabularies, thresholds)
            shown = [words_of(tokens, self.tokenizer) for tokens in vocabularies]
            try:
                check_rows(rows, self.corpus.classes, shown, settings.min_rows, usual, kind)
            except TooFewError as error:
                too_few = error
            else:
                too_few = None
                break
        if too_few is not None:
            lower = lower_thresholds(rows.most, usual, settings.min_rows)
            if settings.supervision != "auto" or lower is None:
                raise too_few
            thresholds, rows = lower, self._indicative(predictor, vocabularies, lower)
        updates = settings.probe_epochs * -(-len(rows) // settings.batch_size)
        settings.check_checkpoints(updates, f"{len(rows)} rows")
        return {
            "supervision": np.array(SUPERVISION.index(kind)),
            "match_thresholds": thresholds,
            "vocabulary": np.concatenate(vocabularies),
            "vocabulary_sizes": np.array([len(tokens) for tokens in vocabularies]),
            "documents": rows.documents,
            "codes": rows.codes,
            "starts": rows.starts,
            "places": rows.places,
        }

    def made_from(
        self, arrays: Mapping[str, np.ndarray]
    ) -> tuple[dict[str, str], str, dict[str, int]]:
        """Return where names were found, supervision, thresholds; warn unless asked for."""
        supervision = SUPERVISION[int(arrays["supervision"])]
        given = arrays["match_thresholds"].tolist()
        thresholds = dict(zip(self.corpus.classes, given, strict=True))
        changes = []
        if supervision != self.kinds[0]:
            changes.append("seed words instead of class names (--supervision keywords)")
        usual = self.job.settings.match_threshold
        lower = [f"{value} for {label}" for label, value in thresholds.items() if value != usual]
        if lower:
            changes.append(f"--match-threshold {', '.join(lower)} instead of {usual}")
        if changes:
            message = f"too few documents indicate some classes; using {' and '.join(changes)}"
            warnings.warn(message, LopsWarning, stacklevel=3)
        return self._find(supervision).sources, supervision, thresholds

    def _found(self) -> Iterator[tuple[str, Occurrences]]:
        """Yield the kinds of words that enough documents hold; without any, raise."""
        any_found = False
        for kind in self.kinds:
            try:
                occurrences = self._find(kind)
            except TooFewError as error:
                if kind == self.kinds[-1] and not any_found:
                    raise
                log.info("supervision %s: %s", kind, _short(error))
            else:
                any_found = True
                yield kind, occurrences

    def _find(self, kind: str) -> Occurrences:
        words = class_words(kind, self.corpus)
        occurrences = find_names(self.tokens, words, self.tokenizer.mask_token_id)
        check_named(occurrences, words, self.job.settings.min_named, kind)
        return occurrences

    def _indicative(
        self, predictor: Predictor, vocabularies: list[np.ndarray], thresholds: np.ndarray
    ) -> Indicative:
        special = self.job.settings.faithful
        return indicative_positions(
            self.tokens.rows, vocabularies, predictor, thresholds=thresholds, special=special
        )


def supervisions(supervision: str, corpus: Corpus) -> tuple[str, ...]:
    """Return the kinds of supervision to try in turn; ``auto``: names, then seed words."""
    if supervision != "auto":
        return (supervision,)
    complete = all(corpus.seeds.get(label) for label in corpus.classes)
    return ("names", "keywords") if complete else ("names",)


def class_words(kind: str, corpus: Corpus) -> Mapping[str, tuple[str, ...]]:
    """Return each class's alternative names: from the data, or its seed words (keywords)."""
    source = corpus.names if kind == "names" else corpus.seeds
    words = {label: tuple(source.get(label, ())) for label in corpus.classes}
    without = [label for label, own in words.items() if not own]
    if without:
        raise LopsError(
            f"no seed words for {', '.join(without)}; "
            f"{to_write(SEED_FILES[0], corpus.classes)}, or give --supervision names"
        )
    return words


def _short(error: TooFewError) -> str:
    """Return what was found; the ways out are tried next."""
    return str(error).partition(";")[0]
