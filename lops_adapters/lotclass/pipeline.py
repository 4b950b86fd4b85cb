"""LOTClass from top to bottom; :func:`run_arm` selects rows, or documents.

The LOPS paper selects among the pseudo-labelled rows, its released code among the documents of each
refresh. The final classifier is ours, and so is the selection among all documents before it.

Source: Meng et al., "Text Classification Using Label Names Only: A Language Model Self-Training
Approach", EMNLP 2020; docs/differences.md lists what differs.
"""

import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from lops_adapters.console import typed
from lops_adapters.core import LopsError, Selection
from lops_adapters.datasets import Corpus
from lops_adapters.encoders import pretrained
from lops_adapters.lotclass.engine import Engine
from lops_adapters.lotclass.masked_lm import HeadTraining, LanguageModel, prepare_language_model
from lops_adapters.lotclass.model import LotclassClassifier, whole
from lops_adapters.lotclass.probe import LotclassProbe, TokenRow
from lops_adapters.lotclass.rows import RowMaker
from lops_adapters.lotclass.self_training import self_train, self_trained, stage_of, stored
from lops_adapters.lotclass.settings import REFRESH, LotclassSettings
from lops_adapters.lotclass.vocabulary import Indicative, words_of
from lops_adapters.runs import stages
from lops_adapters.runs.arms import STANDARD
from lops_adapters.runs.job import Job
from lops_adapters.runs.rounds import is_at_documents
from lops_adapters.runs.stages import Samples, Stage
from lops_adapters.selection import Selector, trusted_positions
from lops_adapters.storage import user_cache

log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class Prepared(stages.Prepared):
    """What all arms share; the samples are rows, a document and one class that it indicates.

    Attributes:
        engine: of the run.
        rows: token ids of the documents.
        language_model: its weights on disk, and its accuracy.
        indicative: rows and their category-indicative positions.
        masked: one per row, with its indicative positions masked.
    """

    engine: Engine
    rows: list[np.ndarray]
    language_model: LanguageModel
    indicative: Indicative
    masked: list[TokenRow]


def prepare(corpus: Corpus, job: Job[LotclassSettings]) -> Prepared:
    """Make the pseudo-labelled rows; LopsError: names, encoder or settings cannot work."""
    settings, engine = job.settings, Engine(job.device)
    tokenizer = pretrained.load_tokenizer(settings.encoder, "right")
    check_encoder(settings, tokenizer)
    maker = RowMaker(corpus, tokenizer, engine, job)
    rows = maker.tokens.rows
    model = _language_model(rows, tokenizer, engine, job)
    arrays, seconds = job.folder.stage("rows", partial(maker.make, model))
    sources, supervision, thresholds = maker.made_from(arrays)
    vocabularies = np.split(arrays["vocabulary"], np.cumsum(arrays["vocabulary_sizes"])[:-1])
    words = {
        label: words_of(tokens, tokenizer)
        for label, tokens in zip(corpus.classes, vocabularies, strict=True)
    }
    indicative = Indicative(*(arrays[key] for key in ("documents", "codes", "starts", "places")))
    masked_rows = [
        masked(rows[indicative.documents[i]], indicative.of(i), tokenizer.mask_token_id)
        for i in range(len(indicative))
    ]
    holding = len(np.unique(indicative.documents))
    log.info("%d rows from %d documents indicate a class", len(indicative), holding)
    return Prepared(
        corpus=corpus,
        samples=Samples(
            [corpus.ids[i] for i in indicative.documents],
            indicative.codes,
            corpus.classes,
            np.diff(indicative.starts),
            indicative.documents,
            "rows (a document and one class that it indicates)",
        ),
        seconds={"language_model": model.seconds, "rows": seconds},
        about={
            "masked_accuracy": model.accuracy,
            "name_sources": sources,
            "words_per_class": {name: len(found) for name, found in words.items()},
            "supervision": supervision,
            "match_thresholds": thresholds,
        },
        tables={"category_vocabulary.json": words},
        words=_with_seeds(job, corpus, supervision),
        engine=engine,
        rows=rows,
        language_model=model,
        indicative=indicative,
        masked=masked_rows,
    )


def _with_seeds(
    job: Job[LotclassSettings], corpus: Corpus, supervision: str
) -> dict[str, list[str]] | None:
    """Return the run's words of each class with seed words, where auto fell back on them."""
    if job.words is None or job.settings.supervision != "auto" or supervision == "names":
        return None
    words = {label: [*job.words[label], *corpus.seeds[label]] for label in corpus.classes}
    return {label: list(dict.fromkeys(both)) for label, both in words.items()}


def run_arm(arm: str, prepared: Prepared, job: Job[LotclassSettings]) -> Iterator[Stage]:
    """Yield masked category prediction and self-training of one arm.

    ``standard`` selects nothing, ``lops`` among the rows, ``lops-refresh`` at each refresh of
    self-training, ``lops-documents`` among the documents in the last stage.
    """
    labels, folder = prepared.samples.labels, job.folder
    at_rows, at_refresh = _selectors(arm, prepared, job)
    # The paper's insertion point (appendix, compared methods): the rows are made, not trained yet.
    selection, select_seconds = folder.select(
        f"{arm}-selection", partial(at_rows, prepared.masked, labels)
    )
    trusted = trusted_positions(selection, labels)
    # Arms that select later share the Standard arm's network up to there.
    is_at_refresh = job.settings.split(arm)[1] == REFRESH
    owner = STANDARD if is_at_refresh or is_at_documents(arm) else arm
    train = partial(_train, prepared, trusted, job)
    category, category_seconds = folder.stage(f"{owner}-category", train)
    yield Stage(
        samples=prepared.samples,
        selection=selection,
        probabilities=category["probabilities"],
        seconds={"selection": select_seconds, "training": category_seconds},
        name="masked category prediction",
    )
    # The released code's insertion point: at each refresh of the targets.
    improve = partial(_self_train, prepared, category, at_refresh, arm, job)
    owner = STANDARD if is_at_documents(arm) else arm
    arrays, self_seconds = folder.stage(f"{owner}-self-training", improve)
    yield stage_of(self_trained(arrays), self_seconds, prepared.corpus, is_at_refresh)


def _selectors(arm: str, prepared: Prepared, job: Job[LotclassSettings]) -> list[Selector]:
    """Return the network's selectors, of rows and at each refresh; one or both keep everything."""
    methods = {"rows": STANDARD, REFRESH: STANDARD}
    method, place = job.settings.split(arm)
    if not is_at_documents(arm):
        methods[place or "rows"] = method
    return [
        job.selector(
            method,
            partial(build_network, prepared, job, job.settings.probe_epochs),
            positions=prepared.indicative.documents if place == "rows" else None,
            control_of="{}-selection" if place == "rows" else None,
            texts=partial(_texts, job.settings.encoder),
        )
        for place, method in methods.items()
    ]


def _texts(encoder: str, samples: Sequence[TokenRow]) -> list[str]:
    tokenizer = pretrained.load_tokenizer(encoder, "right")
    return [tokenizer.decode(sample.ids.tolist(), skip_special_tokens=True) for sample in samples]


def build_network(prepared: Prepared, job: Job[LotclassSettings], epochs: int) -> LotclassProbe:
    """Return the untrained network, for the classifier or the probe."""
    settings = job.settings
    return LotclassProbe(
        encoder=prepared.language_model.source,
        epochs=epochs,
        batch_size=settings.batch_size,
        learning_rate=settings.learning_rate,
        micro_batch=settings.micro_batch,
        by_token=settings.faithful,
        engine=prepared.engine,
        quiet=job.quiet,
    )


def masked(row: np.ndarray, places: np.ndarray, mask: int) -> TokenRow:
    """Return a row with its indicative positions masked, to be read there."""
    ids = row.copy()
    ids[places] = mask
    return TokenRow(ids, places)


def whole_documents(prepared: Prepared, settings: LotclassSettings) -> list[TokenRow]:
    """Return one sample per document, nothing masked."""
    return [whole(row, settings.read_at) for row in prepared.rows]


def check_encoder(settings: LotclassSettings, tokenizer: Any) -> None:
    """Refuse an encoder without a mask token, or with fewer positions than ``max_tokens``."""
    if tokenizer.mask_token_id is None:
        raise LopsError(
            f"the tokenizer of {settings.encoder!r} has no mask token; wanted a masked language "
            "model such as bert-base-uncased"
        )
    limit = pretrained.longest_input(pretrained.load_config(settings.encoder))
    if limit and settings.max_tokens > limit:
        raise LopsError(
            f"{typed('max_tokens')} is {settings.max_tokens}; {settings.encoder} takes 8 to {limit}"
        )


def _language_model(
    rows: list[np.ndarray], tokenizer: Any, engine: Engine, job: Job[LotclassSettings]
) -> LanguageModel:
    settings = job.settings
    head = HeadTraining(
        settings.head_epochs,
        settings.head_updates,
        settings.batch_size,
        settings.micro_batch,
        settings.head_learning_rate,
    )
    cache = user_cache() / "masked_lm"
    return prepare_language_model(
        settings.encoder, rows, tokenizer, engine, head, cache=cache, quiet=job.quiet
    )


def _train(
    prepared: Prepared, trusted: np.ndarray, job: Job[LotclassSettings]
) -> dict[str, np.ndarray]:
    """Train on the trusted rows by masked category prediction.

    All arms make the same number of updates, except under ``faithful``: the same number of epochs.
    """
    settings = job.settings
    network = build_network(prepared, job, settings.epochs)
    codes, samples = prepared.indicative.codes[trusted], [prepared.masked[i] for i in trusted]
    n = len(samples) if settings.faithful else len(prepared.masked)
    updates = settings.epochs * -(-n // settings.batch_size)
    network.fit(samples, codes, len(prepared.corpus.classes), seed=job.seed, updates=updates)
    weights = {f"weight:{name}": array for name, array in network.weights().items()}
    return {"probabilities": network.predict_proba(whole_documents(prepared, settings)), **weights}


def _self_train(
    prepared: Prepared,
    category: Mapping[str, np.ndarray],
    selector: Selector,
    arm: str,
    job: Job[LotclassSettings],
) -> dict[str, np.ndarray]:
    classes, settings = prepared.corpus.classes, job.settings
    network = build_network(prepared, job, settings.epochs)
    weights = {
        name.removeprefix("weight:"): array
        for name, array in category.items()
        if name.startswith("weight:")
    }
    network.restore(weights, len(classes))
    names = np.array(classes, dtype=object)

    def select(samples: Sequence[TokenRow], codes: np.ndarray, number: int) -> Selection:
        log.info("%s: refresh %d", arm, number + 1)
        return selector(samples, names[codes])

    documents = whole_documents(prepared, settings)
    done = self_train(network, documents, settings, select, seed=job.seed, quiet=job.quiet)
    if settings.ends_with_network:
        model = LotclassClassifier(classes, network, settings.max_tokens, settings.read_at)
        job.save_model(arm, model)
    return stored(done)
