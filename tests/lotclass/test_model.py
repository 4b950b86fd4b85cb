"""A trained classifier for new texts: what a run predicted, it predicts again."""

import numpy as np
import pytest

from lops_adapters.lotclass.documents import token_rows
from lops_adapters.lotclass.model import whole
from lops_adapters.runs.models import load


@pytest.fixture(scope="module")
def model(finished):
    return load(finished.path, device="cpu")


def test_special_tokens_are_text(model):
    """The same alone and among others."""
    text, others = "[MASK] [SEP]", "The judge said the verdict."
    alone = model.predict_proba([text])
    assert np.isfinite(alone).all()
    np.testing.assert_allclose(model.predict_proba([others, text])[1:], alone, atol=1e-5)


def test_a_document_is_read_at_its_tokens(model):
    """The mean of the probabilities there; a document without any is read at the first."""
    rows = token_rows(["The judge met the jury.", ""], model.network.tokenizer, model.max_tokens)
    full, empty = (whole(row, "tokens") for row in rows)
    assert full.places.tolist() == list(range(1, len(rows[0]) - 1))
    assert empty.places.tolist() == whole(rows[0], "first").places.tolist() == [0]
    places = [full._replace(places=np.array([place])) for place in full.places]
    np.testing.assert_allclose(
        model.network.predict_prepared(places).mean(axis=0),
        model.predict_proba(["The judge met the jury."])[0],
        atol=1e-5,
    )


def test_trained_afresh_it_starts_where_the_run_started(model, finished):
    """Not where training ended: its encoder is the language model's."""
    network = model.network
    assert network.encoder != str(finished.path / "lops" / "model" / "network")
    assert (network.epochs, network.batch_size) == (
        finished.settings.epochs,
        finished.settings.batch_size,
    )
