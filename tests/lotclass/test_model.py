"""A trained classifier for new texts: what a run predicted, it predicts again."""

import pytest

from lops_adapters.runs.models import load

from ..framework_checks import assert_predicts_odd_text


@pytest.fixture(scope="module")
def models(finished):
    return {"lops": load(finished.path, device="cpu")}


def test_special_tokens_are_text(models):
    assert_predicts_odd_text(models["lops"], "[MASK] [SEP]")


def test_trained_afresh_it_starts_where_the_run_started(models, finished):
    """Not where training ended: its encoder is the language model's."""
    network = models["lops"].network
    assert network.encoder != str(finished.path / "lops" / "model" / "network")
    assert (network.epochs, network.batch_size) == (
        finished.settings.epochs,
        finished.settings.batch_size,
    )
