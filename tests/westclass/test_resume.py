"""Runs of the hierarchical network, and with labelled documents, stopped and resumed."""

import json
from functools import partial

import pytest

from lops_adapters.probes.han import HanProbe
from lops_adapters.runs.folder import RunFolder

from ..framework_checks import assert_same_run

pytestmark = pytest.mark.slow


class StoppedError(Exception):
    """Stands for the end of the process."""


@pytest.fixture(scope="module")
def start(dataset, go):
    """start(path, resume=...): the Standard arm with few labelled documents."""
    labelled = tuple((f"d{number}", dataset.gold.labels[number]) for number in (3, 4, 5))
    sizes = {"network": "han", "max_iterations": 6, "pretrain_epochs": 3}
    own = {"supervision": "documents", "labelled": labelled, **sizes}
    return partial(go, dataset, arms=["standard"], **own)


@pytest.fixture(scope="module")
def whole(start, tmp_path_factory):
    """The run that nobody stopped."""
    return start(tmp_path_factory.mktemp("whole") / "run")


@pytest.mark.parametrize(
    "place", ["in the first update", "behind the model", "behind the last stage"]
)
def test_stopped_in_self_training_and_resumed(place, start, whole, tmp_path, monkeypatch):
    """Also at the moments around the model's writing."""

    def stop(*_, **__):
        raise StoppedError

    with monkeypatch.context() as patch:
        if place == "in the first update":
            patch.setattr(HanProbe, "tuner", lambda *_, **__: stop)
        elif place == "behind the model":
            save = RunFolder.save_model
            patch.setattr(RunFolder, "save_model", lambda *args: (save(*args), stop()))
        else:
            patch.setattr("lops_adapters.runs.framework.write_predictions", stop)
        with pytest.raises(StoppedError):
            start(tmp_path / "run")
    again = start(tmp_path / "run", resume=True)
    assert_same_run(again.path, whole.path)


def test_labelled_documents_drawn_again_are_the_same(run, data, tmp_path):
    """A resumed run draws what it drew before: 2 documents per class, by the seed."""
    few = "--labelled-per-class 2 --pretrain-epochs 1 --max-iterations 1 --arms standard"
    assert run(data, few)[0] == 0
    config = json.loads((tmp_path / "run" / "config.json").read_text(encoding="utf-8"))
    assert len(config["settings"]["labelled"]) == 6
    assert run(data, few, "--resume")[0] == 0
