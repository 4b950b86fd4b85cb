"""Speed and disk use of ConWea's contextualisation, beside the original way on the same weights.

The original way is re-enacted from its description (docs/differences.md): one
sentence at a time in float32, the last four layers concatenated, one pickle file per occurrence,
all files read back word by word, then every sentence encoded a second time to choose senses.
Clustering is timed separately: k-means with 10 restarts and a second fit for every word that occurs
twice; here a frequency floor, 3 restarts and no second fit.

    python -m benchmarks.contextualisation --data-dir DIR [--documents 100] [--encoder minilm]
"""

from __future__ import annotations

import argparse
import itertools
import pickle
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.record import write_result
from lops_adapters.conwea.contextual import contextual_vectors
from lops_adapters.conwea.senses import cluster, find_senses, similarity_threshold, tokens_to_encode
from lops_adapters.conwea.settings import ConweaSettings
from lops_adapters.conwea.tokens import TokenizedCorpus, seed_word, tokenize
from lops_adapters.datasets import load_dataset
from lops_adapters.encoders.context_encoder import ContextEncoder


def original_way(
    corpus: TokenizedCorpus, seeds: Any, encoder: ContextEncoder, folder: Path
) -> tuple[float, float, int]:
    """Return seconds for vectors and for clustering, and bytes on disk per occurrence."""
    occurrences = np.flatnonzero(corpus.word_id >= 0)  # the original has no frequency floor
    pieces = encoder.pieces(corpus.surface)
    start = time.perf_counter()
    counters: dict[int, int] = {}
    for sentence in _sentences(corpus, occurrences):
        for token, vector in zip(
            sentence, _encode_alone(corpus, sentence, pieces, encoder), strict=True
        ):
            word = int(corpus.word_id[token])
            place = folder / str(word)
            place.mkdir(exist_ok=True)
            counters[word] = counters.get(word, 0) + 1
            with (place / f"{counters[word]}.pkl").open("wb") as handle:
                pickle.dump(vector, handle)
    rows = {
        word: np.stack([_unpickled(path) for path in sorted((folder / str(word)).iterdir())])
        for word in counters
    }
    pause = time.perf_counter()
    centres = _cluster_all(corpus, seeds, rows)
    clustering = time.perf_counter() - pause
    for sentence in _sentences(corpus, occurrences):
        for token, vector in zip(
            sentence, _encode_alone(corpus, sentence, pieces, encoder), strict=True
        ):
            for centre in centres[int(corpus.word_id[token])]:
                _ = (centre @ vector) / (np.linalg.norm(centre) * np.linalg.norm(vector))
    seconds = time.perf_counter() - start - clustering
    disk = sum(path.stat().st_blocks * 512 for path in folder.rglob("*.pkl"))
    return seconds, clustering, disk // max(1, len(occurrences))


def _unpickled(path: Path) -> Any:
    with path.open("rb") as handle:
        return pickle.load(handle)


def _cluster_all(
    corpus: TokenizedCorpus, seeds: Any, rows: dict[int, np.ndarray]
) -> dict[int, np.ndarray]:
    from sklearn.cluster import KMeans

    place = {word: number for number, word in enumerate(corpus.words)}
    named = [
        place[seed_word(seed)]
        for words in seeds.values()
        for seed in words
        if seed_word(seed) in place
    ]
    threshold = similarity_threshold([rows[number] for number in named])
    centres = {}
    for word, found in rows.items():
        centres[word] = cluster(found, threshold, 0, 10)
        if 1 < len(centres[word]) < len(found):
            again = KMeans(n_clusters=len(centres[word]), n_init=10, random_state=1)
            centres[word] = again.fit(found).cluster_centers_
    return centres


def _sentences(corpus: TokenizedCorpus, occurrences: np.ndarray) -> list[np.ndarray]:
    bounds = np.searchsorted(occurrences, corpus.sentence_start)
    return [occurrences[a:b] for a, b in itertools.pairwise(bounds) if b > a]


def _encode_alone(
    corpus: TokenizedCorpus, sentence: np.ndarray, pieces: list[list[int]], encoder: ContextEncoder
) -> np.ndarray:
    number = int(np.searchsorted(corpus.sentence_start, sentence[0], side="right")) - 1
    begin, end = int(corpus.sentence_start[number]), int(corpus.sentence_start[number + 1])
    ids: list[int] = []
    places, wanted = [], set(sentence.tolist())
    for token in range(begin, end):
        if token in wanted:
            places.append(min(len(ids), encoder.max_pieces - 3))
        ids += pieces[corpus.surface_id[token]]
    return encoder.encode(
        [ids[: encoder.max_pieces - 2]], [[(place, place + 1) for place in places]]
    )[0]


def our_way(
    corpus: TokenizedCorpus, seeds: Any, encoder: ContextEncoder, folder: Path
) -> tuple[float, float, int]:
    """Return the same for this package's defaults; clustering includes the choice of senses."""
    settings = ConweaSettings()
    start = time.perf_counter()
    per_sense = settings.min_per_sense or 0
    wanted = tokens_to_encode(corpus, seeds, settings.min_occurrences, per_sense)
    vectors = contextual_vectors(corpus, wanted, encoder, folder)
    pause = time.perf_counter()
    find_senses(
        corpus,
        wanted,
        vectors,
        seeds,
        min_occurrences=settings.min_occurrences,
        min_per_sense=per_sense,
        max_occurrences=settings.max_occurrences,
        restarts=settings.restarts,
        seed=0,
    )
    end = time.perf_counter()
    n_bytes = (folder / "vectors.npy").stat().st_size
    return pause - start, end - pause, n_bytes // max(1, len(wanted))


def main() -> None:
    """Measure both ways and write the result."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--dataset", default="20news-coarse")
    parser.add_argument("--data-dir")
    parser.add_argument("--documents", type=int, default=100)
    parser.add_argument("--encoder", default="minilm")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    dataset = load_dataset(options.dataset, data_dir=options.data_dir, quiet=True)
    corpus = dataset.sample(options.documents, options.seed).corpus
    tokens = tokenize(corpus.texts)
    result: dict[str, Any] = {
        "documents": len(corpus),
        "sentences": len(tokens.sentence_document),
        "encoder": options.encoder,
    }
    ours = ContextEncoder(options.encoder)
    theirs = ContextEncoder(options.encoder, combine="concat", precision="float32")
    with tempfile.TemporaryDirectory() as folder:
        our_way(tokens, corpus.seeds, ours, Path(folder))  # warm-up
    for name, measure, encoder in (("ours", our_way, ours), ("original_way", original_way, theirs)):
        with tempfile.TemporaryDirectory() as folder:
            vectors, clustering, disk = measure(tokens, corpus.seeds, encoder, Path(folder))
        result[name] = {
            "vector_seconds": vectors,
            "cluster_seconds": clustering,
            "documents_per_second_vectors": len(corpus) / vectors,
            "documents_per_second": len(corpus) / (vectors + clustering),
            "bytes_an_occurrence": disk,
        }
    name = f"speed/contextualisation-{options.encoder.replace('/', '-')}"
    print(write_result(name, result, corpus))


if __name__ == "__main__":
    main()
