"""ConWea from top to bottom, with a selector at the point where the LOPS paper puts it: before each
training of the classifier.

Source: Mekala and Shang, "Contextualized Weak Supervision for Text Classification", ACL 2020;
docs/conwea.md lists what differs.
"""

from __future__ import annotations

import json
import logging
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from lops_adapters import storage
from lops_adapters.conwea import seeds as seed_words
from lops_adapters.conwea.classifier import (
    build_han,
    build_probe,
    probe_updates,
    samples_for,
    word_vectors,
)
from lops_adapters.conwea.contextual import ContextualCorpus, contextualise
from lops_adapters.conwea.model import ConweaClassifier
from lops_adapters.conwea.senses import Senses, find_senses, tokens_to_encode
from lops_adapters.conwea.settings import ConweaSettings
from lops_adapters.conwea.tokens import TokenizedCorpus, phrases_in, tokenize
from lops_adapters.conwea.vectors import contextual_vectors
from lops_adapters.core import LopsError, LopsWarning, Selection
from lops_adapters.datasets import Corpus
from lops_adapters.probes.context_encoder import ContextEncoder
from lops_adapters.probes.han import HanProbe, WordVectors
from lops_adapters.pseudo_labels import PseudoLabels
from lops_adapters.runs.files import write_predictions, write_pseudo_labels, write_selection
from lops_adapters.runs.folder import RunFolder
from lops_adapters.selection import Lops, Selector, keep_all, trusted_positions
from lops_adapters.storage import pack_strings, unpack_strings

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Prepared:
    """What both arms share: the contextualised corpus, word vectors, the first seeds, the seconds
    each took.
    """

    corpus: Corpus
    documents: ContextualCorpus
    senses: Senses
    vectors: WordVectors
    seeds: seed_words.Seeds
    seconds: dict[str, float]


@dataclass(frozen=True)
class Iteration:
    """One round of one arm, all by position in the corpus: pseudo-labels, selection among them, (n,
    k) probabilities, seconds.
    """

    number: int
    pseudo_labels: PseudoLabels
    selection: Selection
    probabilities: np.ndarray
    seeds: seed_words.Seeds
    seconds: dict[str, float]


def prepare(
    corpus: Corpus, settings: ConweaSettings, run: RunFolder, *, seed: int, device: str, quiet: bool
) -> Prepared:
    """Contextualise the corpus and train word vectors on it; what cannot work is refused before the
    long work.
    """
    seeds = {label: corpus.seeds.get(label, ()) for label in corpus.classes}
    encoder = None if (run.work / "senses.npz").exists() else _encoder(settings, device)
    tokens = tokenize(corpus.texts, phrases_in(seeds), quiet=quiet)
    _check(tokens, seeds, settings)
    senses, sense_seconds = _senses(tokens, seeds, settings, run, encoder, seed=seed, quiet=quiet)
    documents = contextualise(tokens, senses)
    first = seed_words.initial_seeds(documents, seeds)
    arrays, vector_seconds = run.stage(
        "word_vectors", lambda: _vector_arrays(word_vectors(documents, settings, seed))
    )
    vectors = WordVectors(tuple(unpack_strings(arrays["words"])), arrays["vectors"])
    return Prepared(
        corpus,
        documents,
        senses,
        vectors,
        first,
        {"contextualise": sense_seconds, "word_vectors": vector_seconds},
    )


def _check(
    tokens: TokenizedCorpus, seeds: Mapping[str, Sequence[str]], settings: ConweaSettings
) -> None:
    if not tokens.words:
        raise LopsError(
            f"found no word in {tokens.n_documents} documents (only stop words, punctuation or nothing); wanted text"
        )
    plain = contextualise(tokens, Senses(0.0, {}, np.full(len(tokens.word_id), -1, dtype=np.int32)))
    n_labelled = len(seed_words.check_seeds(plain, seeds))
    settings.check_checkpoints(
        probe_updates(settings, n_labelled), f"{n_labelled} pseudo-labelled documents"
    )


def run_arm(
    arm: str,
    prepared: Prepared,
    settings: ConweaSettings,
    run: RunFolder,
    *,
    seed: int,
    device: str,
    quiet: bool,
) -> list[Iteration]:
    """Run all iterations of one arm; the arms differ in the selector and in nothing else."""
    documents, classes = prepared.documents, list(prepared.corpus.classes)
    samples = samples_for(
        settings.probe if arm == "lops" else "same", prepared.corpus.texts, documents.documents
    )
    seeds, done = prepared.seeds, []
    for number in range(settings.iterations):
        log.info("%s, iteration %d: %d seed words", arm, number, sum(map(len, seeds.values())))
        pseudo_labels = seed_words.pseudo_label(documents, seeds)
        selector = _selector(
            arm, prepared, settings, seed=seed + number, device=device, quiet=quiet
        )
        labelled = [samples[i] for i in pseudo_labels.positions]
        # The insertion point of the LOPS paper (appendix, compared methods): pseudo-labels are
        # made, the classifier is not trained yet.
        choose = partial(selector, labelled, pseudo_labels.labels)
        selection, select_seconds = run.select(f"{arm}-{number}-selection", choose)
        trusted = trusted_positions(selection, pseudo_labels.labels)
        last = number == settings.iterations - 1

        def train(
            trusted: np.ndarray = trusted,
            labels: PseudoLabels = pseudo_labels,
            number: int = number,
            last: bool = last,
        ) -> Any:
            classifier = build_han(
                prepared.vectors, settings, device, n_samples=len(trusted), quiet=quiet
            )
            codes = np.array([classes.index(name) for name in labels.labels[trusted]])
            train_on = [documents.documents[i] for i in labels.positions[trusted]]
            classifier.fit(train_on, codes, len(classes), seed=seed + number)
            probabilities = classifier.predict_proba(documents.documents)
            if last:
                _save(classifier, prepared, settings, run, run.arm(arm) / "model")
            return {"probabilities": probabilities}

        arrays, train_seconds = run.stage(f"{arm}-{number}-classifier", train)
        seconds = {"selection": select_seconds, "classifier": train_seconds}
        done.append(
            Iteration(number, pseudo_labels, selection, arrays["probabilities"], seeds, seconds)
        )
        if not last:
            seeds = _next_seeds(
                documents, seeds, arrays["probabilities"], number, faithful=settings.faithful
            )
    return done


def _selector(
    arm: str, prepared: Prepared, settings: ConweaSettings, *, seed: int, device: str, quiet: bool
) -> Selector:
    if arm == "standard":
        return keep_all
    probe = build_probe(prepared.vectors, settings, device, quiet=quiet)
    return Lops(
        probe,
        tau=settings.tau,
        rule=settings.rule,
        every=settings.updates_between_checkpoints,
        seed=seed,
    )


def _next_seeds(
    documents: ContextualCorpus,
    seeds: seed_words.Seeds,
    probabilities: np.ndarray,
    number: int,
    *,
    faithful: bool,
) -> seed_words.Seeds:
    predicted = probabilities.argmax(axis=1)
    indicative = seed_words.scores(documents, predicted, probabilities.shape[1])
    if number == 0:
        updated = seed_words.disambiguate(documents, seeds, indicative, faithful=faithful)
    else:
        updated = seed_words.expand(
            documents, seeds, indicative, predicted, number, faithful=faithful
        )
    try:
        seed_words.pseudo_label(documents, updated)
    except LopsError as error:
        warnings.warn(
            f"the seed words stay as they were, because with new ones {error}",
            LopsWarning,
            stacklevel=2,
        )
        return seeds
    return updated


def _senses(
    tokens: TokenizedCorpus,
    seeds: Mapping[str, Sequence[str]],
    settings: ConweaSettings,
    run: RunFolder,
    encoder: ContextEncoder | None,
    *,
    seed: int,
    quiet: bool,
) -> tuple[Senses, float]:
    wanted = tokens_to_encode(tokens, seeds, settings.min_occurrences)

    def cluster() -> dict[str, np.ndarray]:
        vectors = np.load(run.work / "vectors.npy", mmap_mode="r")
        found = find_senses(
            tokens,
            wanted,
            vectors,
            seeds,
            min_occurrences=settings.min_occurrences,
            max_occurrences=settings.max_occurrences,
            restarts=settings.restarts,
            seed=seed,
            quiet=quiet,
        )
        centres = list(found.centres.values())
        return {
            "threshold": np.array(found.threshold),
            "words": pack_strings(list(found.centres)),
            "counts": np.array([len(rows) for rows in centres], dtype=np.int64),
            "centres": np.concatenate(centres)
            if centres
            else np.zeros((0, vectors.shape[1]), dtype=np.float32),
            "sense_id": found.sense_id,
        }

    seconds = 0.0
    if encoder is not None:
        _, seconds = run.stage(
            "vectors", partial(_encode, tokens, wanted, encoder, run.work, quiet=quiet)
        )
    arrays, cluster_seconds = run.stage("senses", cluster)
    if (run.work / "vectors.npz").exists():
        with np.load(run.work / "vectors.npz") as stored:
            seconds = float(stored["seconds"])
    for leftover in ("vectors.npy", "vectors.json"):
        (run.work / leftover).unlink(
            missing_ok=True
        )  # by far the largest file of a run, and no longer needed
    words = unpack_strings(arrays["words"])
    centres = (
        dict(zip(words, np.split(arrays["centres"], np.cumsum(arrays["counts"])[:-1]), strict=True))
        if words
        else {}
    )
    return Senses(
        float(arrays["threshold"]), centres, arrays["sense_id"]
    ), seconds + cluster_seconds


def _encode(
    tokens: TokenizedCorpus,
    wanted: np.ndarray,
    encoder: ContextEncoder,
    folder: Path,
    *,
    quiet: bool,
) -> dict[str, np.ndarray]:
    contextual_vectors(tokens, wanted, encoder, folder, quiet=quiet)
    return {"tokens": np.array(len(wanted))}


def _encoder(settings: ConweaSettings, device: str) -> ContextEncoder:
    return ContextEncoder(
        settings.encoder,
        layers=settings.layers,
        combine=settings.combine,
        max_pieces=settings.max_pieces,
        device=device,
    )


def _vector_arrays(vectors: WordVectors) -> dict[str, np.ndarray]:
    return {"words": pack_strings(vectors.words), "vectors": vectors.vectors}


def _save(
    classifier: HanProbe, prepared: Prepared, settings: ConweaSettings, run: RunFolder, folder: Path
) -> None:
    model = ConweaClassifier(
        classes=prepared.corpus.classes,
        phrases=tuple(phrases_in(prepared.corpus.seeds)),
        centres=prepared.senses.centres,
        classifier=classifier,
        settings=settings,
    )
    run.save_model(folder, model.save)


def write_tables(arm: str, iterations: Sequence[Iteration], corpus: Corpus, run: RunFolder) -> None:
    """Write the CSV files of one arm: pseudo-labels and selection of each iteration, predictions
    and seed words of the last.
    """
    folder = run.arm(arm)
    for item in iterations:
        labels = item.pseudo_labels
        ids = [corpus.ids[i] for i in labels.positions]
        write_pseudo_labels(
            folder / f"pseudo_labels-{item.number}.csv", ids, labels.labels, labels.scores
        )
        write_selection(folder / f"selection-{item.number}.csv", ids, labels.labels, item.selection)
    write_predictions(
        folder / "predictions.csv", corpus.ids, corpus.classes, iterations[-1].probabilities
    )
    storage.write_text(
        folder / "seeds.json",
        json.dumps([item.seeds for item in iterations], indent=1, ensure_ascii=False) + "\n",
    )
    first = folder / "pseudo_labels-0.csv"
    storage.write_text(
        run.path / "pseudo_labels.csv", first.read_text(encoding="utf-8")
    )  # the same in both arms
