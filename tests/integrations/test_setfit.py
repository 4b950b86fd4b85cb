"""A SetFit trainer that keeps the rows whose labels to trust."""

import numpy as np
import pytest

from lops_adapters import LopsError, select
from lops_adapters.integrations.setfit import select_trainer

from ..noisy import noisy_texts
from ..probes.toys import save_tiny_encoder

TEXTS, LABELS, _ = noisy_texts(60)


@pytest.fixture(scope="module")
def new_trainer(tmp_path_factory):
    """Make a trainer of a tiny random encoder."""
    setfit = pytest.importorskip("setfit", reason="SetFit is not installed: make test-integrations")
    datasets = pytest.importorskip("datasets")
    folder = tmp_path_factory.mktemp("setfit")
    encoder = save_tiny_encoder("bert", folder / "encoder")

    def make(columns=("text", "label"), mapping=None, rows=True):
        table = datasets.Dataset.from_dict(dict(zip(columns, (TEXTS, LABELS), strict=True)))
        arguments = setfit.TrainingArguments(
            str(folder / "out"), batch_size=8, max_steps=2, report_to="none", save_strategy="no"
        )
        return setfit.Trainer(
            model=setfit.SetFitModel.from_pretrained(str(encoder), device="cpu"),
            args=arguments,
            train_dataset=table if rows else None,
            column_mapping=mapping,
        )

    return make


@pytest.mark.parametrize("renamed", [False, True])
def test_the_trainer_keeps_the_trusted_rows_and_trains(new_trainer, renamed):
    mapping = {"body": "text", "made": "label"}
    trainer = new_trainer(tuple(mapping), mapping) if renamed else new_trainer()
    selection = select_trainer(trainer, encoder=None)
    np.testing.assert_array_equal(selection.kept, select(TEXTS, LABELS, encoder=None).kept)
    assert trainer.train_dataset["text"][:] == [TEXTS[i] for i in selection.kept]
    assert 30 < len(trainer.train_dataset) < 60
    if renamed:
        trainer.train()
        assert set(trainer.model.predict(TEXTS)) <= set(LABELS)


def test_the_models_own_vectors(new_trainer):
    trainer = new_trainer()
    selection = select_trainer(trainer, embeddings=trainer.model.encode(TEXTS))
    assert selection.settings["samples"] == "vectors"
    assert len(trainer.train_dataset) == len(selection.kept)


def test_what_is_refused(new_trainer):
    with pytest.raises(LopsError, match="trainer is a object; wanted a setfit"):
        select_trainer(object())
    with pytest.raises(LopsError, match="the trainer has no train_dataset"):
        select_trainer(new_trainer(rows=False))
