"""What encoders are worth: the committee without one, with ``static``, MiniLM, and a base one.

    python -m benchmarks.static_encoder --data-dir DIR
    python -m benchmarks.static_encoder --data-dir DIR --tables crowd-news,yoruba-news
    python -m benchmarks.static_encoder --data-dir DIR --rows 1500
    python -m benchmarks.static_encoder --data-dir DIR --costs 20news-coarse-seeds

Per table of ``GIVEN`` in :mod:`benchmarks.real_tables`, and of generated ones without spaces, seed
0: how ``lops select`` ranks and finds wrong labels with ``--encoder none``, ``static`` and
``minilm``, and the processor time of encoding. A table with a result file is skipped.

``--rows N``: the same of at most N rows of each table with real noise, and with the encoder in
``DIR/all-mpnet-base-v2``. What other tables teach comes from all other families.

``--costs``: processor time and peak memory of a process that selects, from its start, per encoder,
and of cleanlab on TF-IDF. One thread if ``OMP_NUM_THREADS`` is 1.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

from benchmarks.calibration_tables import Item, prepared
from benchmarks.real_noise import coefficients, measured
from benchmarks.real_tables import GIVEN, TASKS, Table, load_table
from benchmarks.record import WRITTEN, command_line, write_result
from lops_adapters import select
from lops_adapters.datasets import Corpus
from lops_adapters.encoders.pretrained import MINILM
from lops_adapters.encoders.static import STATIC, static_vectors
from lops_adapters.encoders.word_counts import count_words
from lops_adapters.probes.embedding import EmbeddingProbe
from lops_adapters.runs.folder import slug
from lops_adapters.selection.committee import calibration

BASE = "all-mpnet-base-v2"
_MOST = 128  # texts that MiniLM encodes to take its time
_SELECT = "from lops_adapters import select; select(texts, labels, encoder={})"
_WAYS = {
    "none": _SELECT.format(None),
    "static": _SELECT.format("'static'"),
    "minilm": "from lops_adapters.probes.embedding import EmbeddingProbe; "
    + _SELECT.format("EmbeddingProbe('minilm', cache=None)"),
    "cleanlab": (
        "import numpy as np; from sklearn.feature_extraction.text import TfidfVectorizer; "
        "from benchmarks.real_noise_cleanlab import Table, cleanlab_corrected; "
        "labels = np.array(labels); "
        "table = Table(texts, labels, labels, [], labels); "
        "cleanlab_corrected(TfidfVectorizer().fit_transform(texts), table, 0)"
    ),
}
_PROGRAM = (
    "import json, resource, sys, time; texts, labels = json.load(open(sys.argv[1])); {}; "
    "peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss; "
    "print(json.dumps([time.process_time(), peak * (1 if sys.platform == 'darwin' else 1024)]))"
)


def generated(first: str, last: str) -> Table:
    """Return 1,000 texts of four classes, made of one range of letters, without spaces.

    Of 15 words of a text, 3 are of its class and 2 of any; 20 % of the labels are wrong.
    """
    rng, classes = np.random.default_rng(0), np.array(["a", "b", "c", "d"], dtype=object)

    def words(count: int) -> list[str]:
        letters = rng.integers(ord(first), ord(last) + 1, (count, 3))
        return ["".join(map(chr, word)) for word in letters.tolist()]

    common, of_classes = words(300), [words(60) for _ in classes]
    gold = rng.integers(0, 4, 1000)
    texts = []
    for code in gold:
        drawn = [*rng.choice(common, 10), *rng.choice(of_classes[code], 3)]
        drawn += rng.choice(of_classes[rng.integers(4)], 2).tolist()
        texts.append("".join(rng.permutation(drawn)))
    moved = (gold + rng.integers(1, 4, 1000)) % 4
    labels = np.where(rng.random(1000) < 0.2, moved, gold)
    return Table(texts, classes[labels], classes[gold], [], classes[:0])


GENERATED = {
    "khmer letters": partial(generated, "\u1780", "\u17a2"),
    "chinese characters": partial(generated, "\u4e00", "\u9fff"),
}


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
        **{str(way).lower(): _selected(table, way) for way in (None, "static", "minilm")},
        "texts_with_pieces": float(known.mean()),
        "seconds_per_10000_texts": seconds,
    }


def compared(table: Table, encoders: Mapping[str, EmbeddingProbe | None]) -> dict[str, Any]:
    """Return the measures of one table by encoder, with what tables of other families teach."""
    learnt, known = coefficients(table.name), table.gold != ""
    with patch.object(calibration, "coefficients", lambda: learnt):
        ways = {way: _selected(table, encoder) for way, encoder in encoders.items()}
    wrong = (table.labels != table.gold)[known]
    return {"n": len(known), "gold": len(wrong), "noise": float(wrong.mean()), **ways}


def costs(table: Table) -> dict[str, Any]:
    """Return processor seconds and peak bytes of a process per way to select."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.json"
        path.write_text(json.dumps([table.texts, table.labels.tolist()]), encoding="utf-8")
        found = {}
        for way, program in _WAYS.items():
            command = [sys.executable, "-c", _PROGRAM.format(program), str(path)]
            done = subprocess.run(command, check=True, stdout=subprocess.PIPE, encoding="utf-8")
            seconds, peak = json.loads(done.stdout.splitlines()[-1])
            found[way] = {"processor_seconds": seconds, "peak_bytes": peak}
            print(way, found[way], flush=True)
    return {"n": len(table.texts), "characters": sum(map(len, table.texts)), **found}


def _selected(table: Table, encoder: str | EmbeddingProbe | None) -> dict[str, float | None]:
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


def _names(options: argparse.Namespace) -> list[str]:
    """Return the tables that are asked for."""
    if options.costs:
        return [options.costs]
    if options.tables:
        return list(options.tables.split(","))
    return list(chain(*TASKS.values())) if options.rows else [*GIVEN, *GENERATED]


def main() -> None:
    """Measure the tables that have no result yet."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data-dir", type=Path, required=True)
    parser.add_argument("--tables", help="default: all")
    parser.add_argument("--rows", type=int, metavar="N", help="at most, with the base encoder too")
    parser.add_argument("--costs", metavar="TABLE", help="time and memory on this table instead")
    options = parser.parse_args()
    folder, measure = ("static-costs", costs) if options.costs else ("static", run)
    if options.rows:
        names = {"static": STATIC, "minilm": MINILM, "base": str(options.data_dir / BASE)}
        encoders = {way: EmbeddingProbe(name) for way, name in names.items()}
        folder, measure = "encoders", partial(compared, encoders={"none": None, **encoders})
    for name in _names(options):
        if (WRITTEN / folder / f"{slug(name)}.json").exists():
            continue
        table = _table(name, options)
        result = measure(table)
        print(name, result, flush=True)
        ids = tuple(map(str, range(result["n"])))
        classes, command = sorted(set(map(str, table.labels))), command_line("static_encoder")
        corpus = Corpus(name, ids, tuple(table.texts), tuple(classes))
        write_result(f"{folder}/{slug(name)}", result, corpus, command=command)


def _table(name: str, options: argparse.Namespace) -> Table:
    if name in GENERATED:
        return GENERATED[name]()
    if not options.rows:
        return load_table(name, options.data_dir)
    sample = prepared(Item(name, size=options.rows, encoder="base"), options.data_dir)
    assert sample is not None  # only with the static encoder
    return sample


if __name__ == "__main__":
    main()
