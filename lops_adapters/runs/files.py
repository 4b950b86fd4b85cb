"""The tables of a run: pseudo-labels, selections, predictions, documents to check next."""

import csv
import logging
from collections.abc import Sequence
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np

from lops_adapters import storage
from lops_adapters.core import LopsError, Selection
from lops_adapters.datasets import Corpus
from lops_adapters.datasets.checked import read_checked
from lops_adapters.encoders.word_counts import WORD, count_words
from lops_adapters.labels.labelled import codes_among
from lops_adapters.runs.job import Job
from lops_adapters.runs.stages import Prepared, Samples, Stage, Tables
from lops_adapters.selection import Corrected
from lops_adapters.selection.committee.checking import check_order, next_rows

log = logging.getLogger(__name__)
TO_CHECK = "to_check.csv"
_COUNT = 50  # documents to check
CLASS_WORDS = "class_words.json"
_SHOWN = 10  # words of a class


def write_prepared(prepared: Prepared, job: Job[Any]) -> None:
    """Write what all arms share: pseudo-labels, documents to check, a framework's own tables."""
    folder, samples = job.folder.path, prepared.samples
    write_tables(folder, {"pseudo_labels.csv": label_table(samples), **prepared.tables})
    if samples.of is None:
        path = folder / TO_CHECK
        write_to_check(path, prepared.corpus, samples, list(job.checked), job.seed)


def write_stage(stage: Stage, number: int, folder: Path) -> None:
    """Write the selection and a framework's own tables into the folder of an arm."""
    if stage.table is not None:
        table = selection_table(stage.samples, stage.kept)
        write_tables(folder, {stage.table.format(number): table})
    write_tables(folder, stage.tables)


def write_labels(arm: Path, prepared: Prepared, job: Job[Any]) -> None:
    """Write the labels of the run, an arm's, and what shows a person whether they are good.

    These are documents to check and words of each class, unless the framework has its own.
    """
    folder, corpus = job.folder.path, prepared.corpus
    labels = (arm / "predictions.csv").read_text(encoding="utf-8")
    storage.write_text(folder / "predictions.csv", labels)
    rows = list(csv.DictReader(StringIO(labels, newline="")))
    codes = codes_among([row["predicted"] for row in rows], corpus.classes)
    if prepared.samples.of is not None:
        others = prepared.given.others(len(corpus))
        ids = [corpus.ids[i] for i in others.tolist()]
        samples = Samples(ids, codes[others], corpus.classes, positions=others)
        write_to_check(folder / TO_CHECK, corpus, samples, list(job.checked), job.seed)
    if CLASS_WORDS not in prepared.tables:
        words = telling_words(corpus.texts, codes, len(corpus.classes))
        storage.write_json(folder / CLASS_WORDS, dict(zip(corpus.classes, words, strict=True)))


def telling_words(texts: Sequence[str], codes: np.ndarray, n_classes: int) -> list[list[str]]:
    """Return the words that the texts of each class hold more often than others, at most ten.

    ``codes`` are the (n,) int64 classes of n texts; a class without a text has no words. The rarer
    a word is in all texts, the more it counts, so that "his" and "were" name no class.
    """
    counted = count_words(texts, WORD)
    mine = np.eye(n_classes, dtype=np.float32)[codes].T  # (k, n)
    sizes = mine.sum(axis=1, keepdims=True)
    held = np.asarray(mine @ (counted.counts > 0))
    share = (held + 0.5) / (sizes + 1)
    rest = (held.sum(axis=0) - held + 0.5) / (len(codes) - sizes + 1)
    rarity = -np.log(np.maximum(held.sum(axis=0), 1) / len(codes))
    gain = np.where(sizes > 0, share * np.log(share / rest) * rarity, 0)
    best = np.argsort(-gain, axis=1, kind="stable")[:, :_SHOWN]
    return [[counted.words[i] for i in best[c] if gain[c, i] > 0] for c in range(n_classes)]


def write_tables(folder: Path, tables: Tables) -> None:
    """Write each table into its file: JSON, or CSV from a header and rows."""
    for name, content in tables.items():
        if name.endswith(".json"):
            storage.write_json(folder / name, content)
        else:
            storage.write_csv(folder / name, *content)


def label_table(samples: Samples) -> tuple[list[str], Any]:
    """Return header and rows: sample id, pseudo-label, score."""
    assert samples.scores is not None
    scores = (f"{score:g}" for score in samples.scores)
    return ["id", "pseudo_label", "score"], zip(samples.ids, samples.labels, scores, strict=True)


def selection_table(samples: Samples, selection: Selection) -> tuple[list[str], Any]:
    """Return header and rows: sample id, pseudo-label, epoch learnt at, confidence, selected.

    ``learnt_at`` is empty for a sample that was never learnt; ``selected`` is 1 or 0. A selection
    that corrects labels has a further column with all labels after it, ``corrected``.
    """
    learnt = [f"{time:g}" if np.isfinite(time) else "" for time in selection.learnt_at]
    confidence = [f"{value:.6g}" for value in selection.confidence]
    header = ["id", "pseudo_label", "learnt_at", "confidence", "selected"]
    columns = [samples.ids, samples.labels, learnt, confidence, selection.mask.astype(int)]
    if isinstance(selection, Corrected):
        header, columns = [*header, "corrected"], [*columns, selection.labels]
    return header, zip(*columns, strict=True)


def write_predictions(
    path: Path, ids: Sequence[str], classes: Sequence[str], probabilities: np.ndarray
) -> None:
    """Write one CSV file: n document ids, their classes by (n, k) probabilities, and these."""
    best = zip(ids, probabilities.argmax(axis=1), probabilities.max(axis=1), strict=True)
    rows = ((name, classes[label], f"{probability:.6f}") for name, label, probability in best)
    storage.write_csv(path, ["id", "predicted", "probability"], rows)


def write_to_check(
    path: Path, corpus: Corpus, samples: Samples, checked: Sequence[int], seed: int
) -> None:
    """Write documents for a person to check: drawn at random, spread over the pseudo-labels.

    Those at the positions ``checked`` are checked already. A file with an answer is kept.
    """
    if path.is_file() and path.stat().st_size and _is_answered(path, corpus):
        log.warning("%s has answers and is kept; give it to a new run with --checked", path)
        return
    positions, labels = samples.positions, samples.labels
    assert positions is not None
    order = check_order(samples.codes, seed)
    done = np.flatnonzero(np.isin(positions, list(checked))).tolist()
    chosen = next_rows(order, _COUNT, done)
    rows = ((samples.ids[i], labels[i], "", corpus.texts[positions[i]]) for i in chosen.tolist())
    storage.write_csv(path, ["id", "label", "checked", "text"], rows, encoding="utf-8-sig")


def _is_answered(path: Path, corpus: Corpus) -> bool:
    """Return whether a person filled in a row; also true if the file is not as it was written."""
    try:
        return bool(read_checked(path, corpus))
    except LopsError:
        return True
