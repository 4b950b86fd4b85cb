"""Pseudo-labelled rows: from class names, otherwise seed words, otherwise a lower threshold."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np

from lops_adapters.core import LopsWarning
from lops_adapters.datasets import Corpus
from lops_adapters.lotclass.documents import Documents, TooFewError, read_documents
from lops_adapters.lotclass.engine import Engine
from lops_adapters.lotclass.masked_lm import LanguageModel, load_language_model
from lops_adapters.lotclass.settings import SUPERVISION, LotclassSettings
from lops_adapters.lotclass.vocabulary import (
    Indicative,
    Predictor,
    category_vocabulary,
    check_named,
    check_rows,
    indicative_positions,
    threshold_for,
    words_of,
)
from lops_adapters.runs.framework import Job

log = logging.getLogger(__name__)


class RowMaker:
    """Reads the documents with words that identify the classes, and makes their rows.

    Attributes:
        documents: with the first kind of words that enough documents hold.

    """

    def __init__(
        self, corpus: Corpus, tokenizer: Any, engine: Engine, job: Job[LotclassSettings]
    ) -> None:
        """Read the documents.

        Raises:
            LopsError: names or seed words cannot work, or too few documents hold them.

        """
        self.corpus, self.tokenizer, self.engine, self.job = corpus, tokenizer, engine, job
        self.kinds = job.settings.supervisions(corpus.classes, corpus.seeds)
        for number, kind in enumerate(self.kinds, start=1):
            try:
                self.documents = self._read(kind)
            except TooFewError as error:
                if number == len(self.kinds):
                    raise
                log.info("supervision %s: %s", kind, _short(error))
            else:
                self.supervision = kind
                break

    def make(self, model: LanguageModel) -> dict[str, np.ndarray]:
        """Return the rows as arrays; :meth:`made_from` reads how they came about.

        Raises:
            TooFewError: too few documents speak of a class.
            LopsError: the probe has too few updates for a checkpoint.

        """
        job, settings = self.job, self.job.settings
        network = load_language_model(model.source, self.engine)
        predictor = Predictor(
            network, self.tokenizer, self.engine, top=settings.top, tokens=4096, quiet=job.quiet
        )
        supervision, vocabularies, rows = self._rows(predictor)
        threshold = settings.match_threshold
        try:
            self._check(rows, vocabularies, supervision)
        except TooFewError:
            lower = threshold_for(rows.most, settings.min_rows)
            if settings.supervision != "auto" or lower is None:
                raise
            threshold, rows = lower, self._indicative(predictor, vocabularies, lower)
        updates = settings.probe_epochs * -(-len(rows) // settings.batch_size)
        settings.check_checkpoints(updates, f"{len(rows)} rows")
        return {
            "supervision": np.array(SUPERVISION.index(supervision)),
            "match_threshold": np.array(threshold),
            "vocabulary": np.concatenate(vocabularies),
            "vocabulary_sizes": np.array([len(tokens) for tokens in vocabularies]),
            "documents": rows.documents,
            "codes": rows.codes,
            "starts": rows.starts,
            "places": rows.places,
        }

    def made_from(self, arrays: Mapping[str, np.ndarray]) -> tuple[Documents, str, int]:
        """Return documents, supervision and threshold of rows; warn unless they were asked for."""
        supervision = SUPERVISION[int(arrays["supervision"])]
        threshold = int(arrays["match_threshold"])
        if supervision != self.supervision:
            self.supervision, self.documents = supervision, self._read(supervision)
        changes = []
        if supervision != self.kinds[0]:
            changes.append("seed words instead of class names (--supervision keywords)")
        usual = self.job.settings.match_threshold
        if threshold != usual:
            changes.append(f"--match-threshold {threshold} instead of {usual}")
        if changes:
            message = f"too few documents indicate some classes; using {' and '.join(changes)}"
            warnings.warn(message, LopsWarning, stacklevel=3)
        return self.documents, supervision, threshold

    def _words(self, supervision: str) -> dict[str, tuple[str, ...]]:
        corpus = self.corpus
        return self.job.settings.names_of(supervision, corpus.classes, corpus.seeds, corpus.names)

    def _read(self, supervision: str) -> Documents:
        settings, words = self.job.settings, self._words(supervision)
        documents = read_documents(
            self.corpus.texts, words, self.tokenizer, settings.max_tokens, quiet=self.job.quiet
        )
        check_named(documents.occurrences, words, settings.min_named, supervision)
        return documents

    def _rows(self, predictor: Predictor) -> tuple[str, list[np.ndarray], Indicative]:
        """Return the first kind of words that gives every class enough rows, otherwise the last."""
        supervision, documents = self.supervision, self.documents
        later = self.kinds[self.kinds.index(supervision) + 1 :]
        while True:
            vocabularies = category_vocabulary(
                documents,
                self._words(supervision),
                predictor,
                size=self.job.settings.vocabulary_size,
            )
            threshold = self.job.settings.match_threshold
            rows = self._indicative(predictor, vocabularies, threshold)
            if not later:
                return supervision, vocabularies, rows
            try:
                self._check(rows, vocabularies, supervision)
                return supervision, vocabularies, rows
            except TooFewError as error:
                log.info("supervision %s: %s", supervision, _short(error))
            try:
                documents = self._read(later[0])
            except TooFewError as error:
                log.info("supervision %s: %s", later[0], _short(error))
                return supervision, vocabularies, rows
            supervision, later = later[0], later[1:]

    def _indicative(
        self, predictor: Predictor, vocabularies: list[np.ndarray], threshold: int
    ) -> Indicative:
        special = self.job.settings.faithful
        return indicative_positions(
            self.documents.rows, vocabularies, predictor, threshold=threshold, special=special
        )

    def _check(self, rows: Indicative, vocabularies: list[np.ndarray], supervision: str) -> None:
        shown = [words_of(tokens, self.tokenizer) for tokens in vocabularies]
        at_least = self.job.settings.min_rows
        check_rows(rows, self.corpus.classes, shown, at_least, supervision)


def _short(error: TooFewError) -> str:
    """Return what was found; the ways out are tried next."""
    return str(error).partition(";")[0]
