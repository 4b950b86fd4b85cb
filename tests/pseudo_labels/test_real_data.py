"""String-Match on the real corpora, to the document."""

import os
import time
from pathlib import Path

import pytest

from lops_adapters.pseudo_labels import string_match

DATA = os.environ.get("LOPS_DATA")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not DATA, reason="LOPS_DATA does not name the folder of the real data"),
]


@pytest.mark.parametrize(
    ("name", "n_documents", "n_labelled", "n_wrong"),
    [
        ("20news-coarse", 17_871, 7_600, 988),
        ("20news-fine", 16_468, 10_343, 2_637),
        ("agnews", 7_600, 1_992, 350),
    ],
)
def test_the_counts_are_reproduced(name, n_documents, n_labelled, n_wrong):
    from lops_adapters.datasets import load_dataset as load

    dataset = load(name, data_dir=Path(DATA))
    corpus = dataset.corpus
    started = time.process_time()
    result = string_match(corpus.texts, corpus.seeds)
    seconds = time.process_time() - started
    gold = [dataset.gold.labels[position] for position in result.positions]
    wrong = sum(label != truth for label, truth in zip(result.labels, gold, strict=True))
    assert (result.n_documents, len(result), wrong) == (n_documents, n_labelled, n_wrong)
    assert result.empty_classes == ()
    assert seconds < 15
