"""What flows where: the insertion point, what the classifier is trained on, what a run folder
holds.
"""

import json

import numpy as np
import pytest

from lops_adapters.conwea import pipeline
from lops_adapters.conwea.pipeline import prepare
from lops_adapters.core import LopsWarning
from lops_adapters.datasets import Corpus, Dataset
from lops_adapters.probes.han import HanProbe

from ..framework_tools import Recorder, pretend_settings, read_rows
from .toys import CLASSES


def test_the_classifier_is_trained_on_exactly_what_is_kept(monkeypatch, dataset, go, head_start):
    recorder = Recorder(monkeypatch, HanProbe)
    metrics = go(dataset, head_start, arms=["lops"], resume=True).metrics
    assert len(recorder.asked) == len(recorder.trained) == 2
    for (samples, labels), (trained, codes, n_classes), row in zip(
        recorder.asked, recorder.trained, metrics["arms"]["lops"]["iterations"], strict=True
    ):
        assert trained == samples[::2]
        assert [CLASSES[code] for code in codes] == labels[::2]
        assert n_classes == 3
        assert (row["pseudo_labels"], row["selected"], row["rule"]) == (
            len(samples),
            len(trained),
            "every-second",
        )


def test_rejected_documents_are_still_predicted_and_labelled_afresh(finished):
    ids = {}
    for name in ("lops/predictions", "lops/selection-0", "lops/selection-1"):
        rows = read_rows(finished.path / f"{name}.csv")
        ids[name] = {row["id"] for row in rows if row.get("selected") != "0"}
        if "selection-0" in name:
            rejected = {row["id"] for row in rows} - ids[name]
        if "selection-1" in name:
            assert rejected & {row["id"] for row in rows}
    assert rejected
    assert rejected <= ids["lops/predictions"]


def test_seeds_that_label_one_class_are_not_taken(monkeypatch, dataset, finished):
    """Where the classifier sees one class everywhere, new seeds might label nothing else: the run
    keeps those it has.
    """
    prepared = prepare(dataset.corpus, finished.job)
    monkeypatch.setattr(
        pipeline.update, "expand", lambda *_, **__: {"arts": ["people"], "law": [], "sport": []}
    )
    probabilities = np.tile(np.float32([0.8, 0.1, 0.1]), (72, 1))
    seeds = prepared.seeds
    with pytest.warns(
        LopsWarning, match="keeping the old seed words; with the new ones .* all for"
    ):
        kept = pipeline._next_seeds(
            prepared.documents, seeds, seeds, probabilities, 1, finished.settings
        )
    assert kept == prepared.seeds


@pytest.mark.slow
def test_a_class_without_seeds_shifts_no_other(dataset, go, tmp_path):
    """The first class of the layout is left out of the seed file: rows of scores and columns of
    probabilities stay in step.
    """
    corpus, lacking = dataset.corpus, "arts"
    some = Corpus(
        "some",
        corpus.ids,
        corpus.texts,
        corpus.classes,
        {name: words for name, words in corpus.seeds.items() if name != lacking},
    )
    with pytest.warns(
        LopsWarning, match=f"classes without seed words; no pseudo-label can be made for {lacking}"
    ):
        done = go(Dataset(some, dataset.gold), tmp_path / "run", arms=["standard"], iterations=3)
    rows = done.metrics["arms"]["standard"]["iterations"]
    assert all(row["classes_without_pseudo_labels"] == [lacking] for row in rows)
    assert done.metrics["classes"] == list(CLASSES)
    last = json.loads((done.path / "standard" / "seeds.json").read_text())[-1]
    assert list(last) == list(CLASSES)
    assert last[lacking] == []
    assert rows[0]["micro_f1"] > 0.5, rows[0]  # of the three thirds it can get two
    others = {
        name: {word.partition("$")[0] for word in last[name]} for name in set(last) - {lacking}
    }
    for name, words in others.items():
        counts = dict.fromkeys(others, 0)
        for text, label in zip(corpus.texts, dataset.gold.labels, strict=True):
            if label != lacking:
                counts[label] += sum(word in text for word in words)
        assert max(counts, key=counts.get) == name


def test_metrics_of_its_own(finished):
    metrics = finished.metrics
    assert metrics["pseudo_labels"]["count"] > 36
    assert 0 < metrics["pseudo_labels"]["noise"] < 0.5
    assert metrics["senses"]["ambiguous_words"] > 0
    assert not list(finished.path.rglob("vectors.npy"))


@pytest.mark.parametrize(("floor", "given"), [(7, 7), (None, 0)])
def test_the_floor_of_a_sense_is_of_the_settings(
    monkeypatch, dataset, ready, tmp_path, floor, given
):
    asked = []

    def stop(*_, min_per_sense, **__):
        asked.append(min_per_sense)
        raise KeyboardInterrupt

    monkeypatch.setattr(pipeline, "tokens_to_encode", lambda *given: asked.append(given[-1]))
    monkeypatch.setattr(pipeline, "contextual_vectors", lambda *_, **__: None)
    monkeypatch.setattr(pipeline, "find_senses", stop)
    with pytest.raises(KeyboardInterrupt):
        ready(dataset, tmp_path / "run", min_per_sense=floor)
    assert asked == [given, given]


@pytest.mark.slow
@pytest.mark.filterwarnings(
    "ignore::lops_adapters.core.LopsWarning"
)  # a random encoder learns little
@pytest.mark.parametrize("probe", ["linear", "transformer"])
def test_other_probes(dataset, go, finished, head_start, probe):
    pretend_settings(head_start, probe=probe)
    metrics = go(dataset, head_start, arms=["lops"], resume=True, probe=probe, iterations=2).metrics
    row = metrics["arms"]["lops"]["iterations"][0]
    assert (
        row["pseudo_labels"] == finished.metrics["arms"]["lops"]["iterations"][0]["pseudo_labels"]
    )
    assert 0 < row["selected"] <= row["pseudo_labels"]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::lops_adapters.core.LopsWarning")  # so small, seeds may be lost
def test_faithful_runs(dataset, go, tmp_path):
    done = go(dataset, tmp_path / "run", arms=["standard"], faithful=True, combine="concat")
    assert done.metrics["arms"]["standard"]["micro_f1"] > 1 / 3
    with (
        np.load(done.path / "work" / "senses.npz") as senses,
        np.load(done.path / "work" / "word_vectors.npz") as vectors,
    ):
        assert senses["centres"].shape[1] == 2 * 16
        documents_seen = prepare(dataset.corpus, done.job).documents
        assert len(vectors["vectors"]) == len(documents_seen.vocabulary)
