"""The classifier of a run without the usual arms."""

from lops_adapters.runs.models import load

from ..framework_checks import assert_predicts


def test_of_a_run_of_another_method_it_is_that(dataset, go, tmp_path):
    done = go(dataset, tmp_path / "run", arms=["optimal"], iterations=1)
    table = done.path / "optimal" / "predictions.csv"
    assert_predicts(load(done.path), table, dataset.corpus.texts, atol=1e-5)
