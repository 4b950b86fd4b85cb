"""Speed and disk of contextualisation: this package's way beside a re-enactment of the original ConWea's way, on the same weights.

The re-enactment follows the description of the original in the literature and its defects as documented in docs/conwea.md: one sentence
at a time in float32, the last four layers concatenated, one pickle file an occurrence, all files read back word by word, then every
sentence encoded a second time to choose senses. Clustering is the same work on both sides and is left out of both.

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
from lops_adapters.conwea.senses import nearest, tokens_to_encode
from lops_adapters.conwea.tokens import TokenizedCorpus, tokenize
from lops_adapters.conwea.vectors import ContextEncoder, contextual_vectors
from lops_adapters.datasets import load


def original_way(corpus: TokenizedCorpus, encoder: ContextEncoder, folder: Path) -> tuple[float, int]:
    """Seconds and bytes on disk of the original's way: two passes, a sentence at a time, one pickle an occurrence."""
    occurrences = np.flatnonzero(corpus.word_id >= 0)  # the original has no frequency floor
    pieces = encoder.pieces(corpus.surface)
    start = time.perf_counter()
    counters: dict[int, int] = {}
    for sentence in _sentences(corpus, occurrences):
        for token, vector in zip(sentence, _encode_alone(corpus, sentence, pieces, encoder), strict=True):
            word = int(corpus.word_id[token])
            place = folder / str(word)
            place.mkdir(exist_ok=True)
            counters[word] = counters.get(word, 0) + 1
            with (place / f"{counters[word]}.pkl").open("wb") as handle:
                pickle.dump(vector, handle)
    centres = {}
    for word in counters:
        rows = []
        for path in (folder / str(word)).iterdir():
            with path.open("rb") as handle:
                rows.append(pickle.load(handle))
        centres[word] = np.mean(rows, axis=0, keepdims=True)
    for sentence in _sentences(corpus, occurrences):
        for token, vector in zip(sentence, _encode_alone(corpus, sentence, pieces, encoder), strict=True):
            centre = centres[int(corpus.word_id[token])]
            _ = (centre @ vector) / (np.linalg.norm(centre) * np.linalg.norm(vector))
    seconds = time.perf_counter() - start
    disk = sum(path.stat().st_blocks * 512 for path in folder.rglob("*.pkl"))
    return seconds, disk // max(1, len(occurrences))


def _sentences(corpus: TokenizedCorpus, occurrences: np.ndarray) -> list[np.ndarray]:
    bounds = np.searchsorted(occurrences, corpus.sentence_start)
    return [occurrences[a:b] for a, b in itertools.pairwise(bounds) if b > a]


def _encode_alone(corpus: TokenizedCorpus, sentence: np.ndarray, pieces: list[list[int]], encoder: ContextEncoder) -> np.ndarray:
    number = int(np.searchsorted(corpus.sentence_start, sentence[0], side="right")) - 1
    begin, end = int(corpus.sentence_start[number]), int(corpus.sentence_start[number + 1])
    ids: list[int] = []
    places, wanted = [], set(sentence.tolist())
    for token in range(begin, end):
        if token in wanted:
            places.append(min(len(ids), encoder.max_pieces - 3))
        ids += pieces[corpus.surface_id[token]]
    return encoder.encode([ids[: encoder.max_pieces - 2]], [places])[0]


def our_way(corpus: TokenizedCorpus, seeds: Any, encoder: ContextEncoder, folder: Path, floor: int) -> tuple[float, int]:
    """Seconds and bytes on disk an occurrence of this package's way, including the choice of senses."""
    start = time.perf_counter()
    wanted = tokens_to_encode(corpus, seeds, floor)
    vectors = contextual_vectors(corpus, wanted, encoder, folder)
    words = corpus.word_id[wanted]
    order = np.argsort(words, kind="stable")
    for rows in np.split(order, np.flatnonzero(np.diff(words[order])) + 1):
        found = np.asarray(vectors[rows], dtype=np.float32)
        nearest(found, found.mean(axis=0, keepdims=True))
    seconds = time.perf_counter() - start
    return seconds, (folder / "vectors.npy").stat().st_size // max(1, len(wanted))


def main() -> None:
    """Measure both ways and write the result."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dataset", default="20news-coarse")
    parser.add_argument("--data-dir")
    parser.add_argument("--documents", type=int, default=100)
    parser.add_argument("--encoder", default="minilm")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    corpus = load(options.dataset, data_dir=options.data_dir, quiet=True).sample(options.documents, options.seed).corpus
    tokens = tokenize(corpus.texts)
    ours = ContextEncoder(options.encoder)
    theirs = ContextEncoder(options.encoder, combine="concat", precision="float32")
    result: dict[str, Any] = {"documents": len(corpus), "sentences": len(tokens.sentence_document), "encoder": options.encoder}
    with tempfile.TemporaryDirectory() as folder:
        our_way(tokens, corpus.seeds, ours, Path(folder), 1)  # warm-up
    for name, floor in (("ours_all_words", 1), ("ours_default_floor", 10)):
        with tempfile.TemporaryDirectory() as folder:
            seconds, disk = our_way(tokens, corpus.seeds, ours, Path(folder), floor)
        result[name] = {"seconds": seconds, "documents_per_second": len(corpus) / seconds, "bytes_an_occurrence": disk}
    with tempfile.TemporaryDirectory() as folder:
        seconds, disk = original_way(tokens, theirs, Path(folder))
    result["original_way"] = {"seconds": seconds, "documents_per_second": len(corpus) / seconds, "bytes_an_occurrence": disk}
    for name in ("ours_all_words", "ours_default_floor"):
        result[name]["times_faster"] = result["original_way"]["seconds"] / result[name]["seconds"]
        result[name]["share_of_disk"] = result[name]["bytes_an_occurrence"] / result["original_way"]["bytes_an_occurrence"]
    print(write_result(f"contextualisation-{options.encoder.replace('/', '-')}", result, corpus))


if __name__ == "__main__":
    main()
