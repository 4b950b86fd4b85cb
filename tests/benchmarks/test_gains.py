"""Selection gains on real data, by margins that a broken ranking misses: a sample of AG News where
the real data sets are, otherwise the demo corpus.
"""

import json
import os
from importlib import import_module

import numpy as np
import pytest

import lops_adapters
from lops_adapters.datasets import load_dataset
from lops_adapters.pseudo_labels import string_match

DATA = os.environ.get("LOPS_DATA")
CORPUS = "agnews" if DATA else "demo"
# Documents, what macro-F1 gains at least, and options that leave minutes out.
CASES = {"conwea": (400, 0.0, "--iterations 1"), "xclass": (400, 0.03, "")}


@pytest.mark.slow
@pytest.mark.usefixtures("full_training")
@pytest.mark.parametrize("name", CASES)
def test_a_framework_gains_by_the_committee(name, tmp_path):
    """Of what it keeps, less than half as much is wrong as of a random choice as large, and the
    classifier trained on it is better.
    """
    documents, gain, sizes = CASES[name]
    run = tmp_path / "run"
    command = f"--dataset {CORPUS} --max-docs {documents} --arms committee,random {sizes}"
    import_module(f"lops_adapters.{name}.__main__").main(
        [*command.split(), "--preset", "quick", "--device", "cpu", "--quiet", "--output", str(run)]
    )
    arms = json.loads((run / "metrics.json").read_text(encoding="utf-8"))["arms"]
    noise = {arm: row["iterations"][-1]["selected_noise"] for arm, row in arms.items()}
    assert noise["committee"] < 0.5 * noise["random"]
    assert arms["committee"]["macro_f1"] - arms["random"]["macro_f1"] > gain


@pytest.mark.usefixtures("full_training")
def test_lops_select_gains():
    """Of the half that it trusts more, less than half as much is wrong as of the table."""
    dataset = load_dataset(CORPUS, quiet=True)
    found = string_match(dataset.corpus.texts, dataset.corpus.seeds)
    rows = np.random.default_rng(0).permutation(len(found))[:600]
    documents, labels = found.positions[rows], [found.labels[row] for row in rows]
    wrong = np.array([dataset.gold.labels[i] for i in documents]) != np.array(labels)
    result = lops_adapters.select([dataset.corpus.texts[i] for i in documents], labels)
    order = np.argsort(-np.asarray(result.confidence), kind="stable")
    assert wrong[order[: len(rows) // 2]].mean() < 0.5 * wrong.mean()
    assert wrong[result.rejected].mean() > 3 * wrong.mean()
