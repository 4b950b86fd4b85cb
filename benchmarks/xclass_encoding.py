"""Speed of X-Class's word vectors, beside the original way on the same weights.

The original way is re-enacted from docs/differences.md: windows of 512 word pieces, one at a time,
float32; the corpus is encoded once for the static vectors, with float32 sums per word, and a second
time for the document vectors.

    python -m benchmarks.xclass_encoding --dataset agnews --data-dir DIR [--documents 300] \\
        [--encoder minilm]
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

import numpy as np

from benchmarks.record import write_result
from lops_adapters.datasets import load_dataset
from lops_adapters.encoders.context_encoder import ContextEncoder
from lops_adapters.xclass.settings import XclassSettings
from lops_adapters.xclass.vectors import contextual_vectors, static_vectors, windows
from lops_adapters.xclass.words import WordCorpus, read_words


def original_way(words: WordCorpus, encoder: ContextEncoder) -> float:
    """Return the seconds of two passes over the corpus, one window at a time."""
    start = time.perf_counter()
    pieces = encoder.pieces(words.vocabulary)
    lengths = np.array([len(ids) for ids in pieces], dtype=np.int64)[words.word_id]
    sums: dict[int, np.ndarray] = {}
    for first_pass in (True, False):
        for context, begin, end in windows(words.document_start, lengths, encoder.max_pieces - 2):
            ends = np.cumsum(lengths[context:end])
            spans = [
                (int(ends[i] - lengths[context + i]), int(ends[i]))
                for i in range(begin - context, end - context)
            ]
            sequence = [piece for word in words.word_id[context:end] for piece in pieces[word]]
            vectors = encoder.encode([sequence], [spans])[0]
            if first_pass:
                for word, vector in zip(words.word_id[begin:end].tolist(), vectors, strict=True):
                    sums[word] = sums[word] + vector if word in sums else vector
    return time.perf_counter() - start


def our_way(words: WordCorpus, encoder: ContextEncoder, folder: Path) -> float:
    """Return the seconds of one pass and the static vectors, with the default settings."""
    start = time.perf_counter()
    vectors = contextual_vectors(words, encoder, folder)
    static_vectors(words.word_id[words.positions], vectors, len(words.vocabulary))
    return time.perf_counter() - start


def main() -> None:
    """Measure both ways and write the result."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--dataset", default="agnews")
    parser.add_argument("--data-dir")
    parser.add_argument("--documents", type=int, default=300)
    parser.add_argument("--encoder", default="minilm")
    options = parser.parse_args()
    dataset = load_dataset(options.dataset, data_dir=options.data_dir, quiet=True)
    corpus = dataset.sample(options.documents, 0).corpus
    words = read_words(corpus.texts)
    ours = ContextEncoder(options.encoder, layers=1, max_pieces=XclassSettings().max_pieces)
    theirs = ContextEncoder(options.encoder, layers=1, max_pieces=512, precision="float32")
    with tempfile.TemporaryDirectory() as folder:
        our_way(words, ours, Path(folder))  # warm-up
    with tempfile.TemporaryDirectory() as folder:
        our_seconds = our_way(words, ours, Path(folder))
    their_seconds = original_way(words, theirs)
    result = {
        "encoder": options.encoder,
        "words": len(words.word_id),
        "ours": {"seconds": our_seconds, "documents_per_second": len(corpus) / our_seconds},
        "original_way": {
            "seconds": their_seconds,
            "documents_per_second": len(corpus) / their_seconds,
        },
    }
    name = f"speed/xclass-encoding-{options.dataset}-{options.encoder.replace('/', '-')}"
    print(write_result(name, result, corpus))


if __name__ == "__main__":
    main()
