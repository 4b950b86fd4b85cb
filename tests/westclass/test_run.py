"""What the run folder of WeSTClass holds, and its numbers about both arms."""

import numpy as np
import pytest

from lops_adapters.datasets import Corpus, Dataset

from .toys import CLASSES


def test_noise_is_what_pretraining_gets_wrong(finished, dataset):
    for arm, result in finished.metrics["arms"].items():
        first, second = result["iterations"]
        with np.load(finished.path / "work" / f"{arm}-pretraining.npz") as stored:
            before = [CLASSES[code] for code in stored["probabilities"].argmax(axis=1)]
        wrong = (
            sum(guess != label for guess, label in zip(before, dataset.gold.labels, strict=True))
            / 72
        )
        assert 0 < wrong < 0.5
        assert second["noise"] == second["selected_noise"] == pytest.approx(wrong)
        assert first["micro_f1"] == pytest.approx(1 - wrong)
        assert first["noise"] is first["selected_noise"] is result["selected_noise"] is None


def test_length_chooses_the_published_settings(dataset, ready, tmp_path):
    corpus = dataset.corpus
    texts = [" ".join([text] * 9) for text in corpus.texts]
    long = Corpus("long", corpus.ids, texts, corpus.classes, corpus.seeds)
    free = dict.fromkeys(("max_words", "learning_rate", "update_interval"))
    sizes = {"max_iterations": 1, "pretrain_epochs": 1}
    for data, row in ((dataset, ("short", 100, 1e-3)), (Dataset(long), ("long", 500, 1e-4))):
        found = ready(data, tmp_path / data.corpus.name, **free, **sizes).about["in_force"]
        assert tuple(found[name] for name in ("length", "max_words", "learning_rate")) == row
        assert (found["pretrain_epochs"], found["decay"], found["update_interval"]) == (1, 1e-6, 50)


def test_metrics_of_its_own(finished):
    stored = finished.metrics
    assert stored["pseudo_labels"] == {"count": 36, "noise": None, "of": "pseudo documents"}
    assert stored["labelled_documents"] == 0
    assert set(stored["seconds"]) == {"word_vectors", "pseudo_documents"}
    for arm, selected in (("standard", 36), ("lops", 18)):
        result = stored["arms"][arm]
        assert 0.5 < result["macro_f1"] <= 1
        assert result["selected"] == selected
        first, second = result["iterations"]
        assert [first["stage"], second["stage"]] == ["pre-training", "self-training"]
        assert (first["pseudo_labels"], first["selected"]) == (36, selected)
        assert set(first["per_class"]) == set(CLASSES)
        assert (second["pseudo_labels"], second["selected"]) == (72, 72)
        assert (second["updates"], len(second["changed"])) == (10, 2)
        assert second["stopped"] == "the limit of 10 updates"


def test_stopping_before_the_limit_is_said(dataset, go, tmp_path):
    done = go(dataset, tmp_path / "run", ["standard"], stop_below=1.0, pretrain_epochs=1)
    second = done.metrics["arms"]["standard"]["iterations"][1]
    assert (second["updates"], second["stopped"]) == (4, "few documents change their class")
