"""What the static encoder is worth: the committee without an encoder, with ``static``, with MiniLM.

    python -m benchmarks.static_encoder --data-dir DIR
    python -m benchmarks.static_encoder --data-dir DIR --tables crowd-news,yoruba-news

Per table of :mod:`benchmarks.real_tables`, seed 0: how ``lops select`` ranks and finds wrong labels
with ``--encoder static`` and ``none``, and the processor time of encoding. The page compares this
with MiniLM in ``results/real-noise``, seed 0. A table with a result file is skipped.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

from benchmarks.real_noise import measured
from benchmarks.real_tables import TABLES, Table, load_table
from benchmarks.record import RESULTS, command_line, write_result
from lops_adapters import select
from lops_adapters.datasets import Corpus
from lops_adapters.encoders.static import static_vectors
from lops_adapters.encoders.word_counts import count_words
from lops_adapters.probes.embedding import EmbeddingProbe

_MOST = 128  # texts that MiniLM encodes to take its time


def run(table: Table) -> dict[str, Any]:
    """Return the measures of one table, and processor seconds per 10,000 texts."""
    seconds = {
        "static": _seconds(table.texts, static_vectors),
        "counting words": _seconds(table.texts, count_words),
        "minilm": _seconds(table.texts[:_MOST], EmbeddingProbe("minilm", cache=None).vectors),
    }
    known = static_vectors(table.texts).any(axis=1)
    return {
        "n": len(table.texts),
        "static": _selected(table, "static"),
        "none": _selected(table, None),
        "texts_with_pieces": float(known.mean()),
        "seconds_per_10000_texts": seconds,
    }


def _selected(table: Table, encoder: str | None) -> dict[str, float | None]:
    start = time.process_time()
    selection = select(table.texts, table.labels.tolist(), encoder=encoder, seed=0)
    spent = time.process_time() - start
    found = measured(selection.confidence, selection.mask, table)
    return {**found, "processor_seconds": spent}


def _seconds(texts: list[str], encode: Any) -> float:
    encode(texts[:2])  # loads tables and weights
    start = time.process_time()
    encode(texts)
    return (time.process_time() - start) * 10_000 / len(texts)


def main() -> None:
    """Measure the tables that have no result yet."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data-dir", type=Path, required=True)
    parser.add_argument("--tables", help="default: all of results/real-noise")
    options = parser.parse_args()
    names = [name for name in TABLES if (RESULTS / "real-noise" / f"{name}.json").exists()]
    for name in options.tables.split(",") if options.tables else names:
        if (RESULTS / "static" / f"{name}.json").exists():
            continue
        table = load_table(name, options.data_dir)
        result = run(table)
        print(name, result["n"], result["static"]["auroc"], result["none"]["auroc"], flush=True)
        ids = tuple(map(str, range(result["n"])))
        corpus = Corpus(name, ids, tuple(table.texts), tuple(sorted(set(map(str, table.labels)))))
        write_result(f"static/{name}", result, corpus, command=command_line("static_encoder"))


if __name__ == "__main__":
    main()
