"""The command in its own process, killed in the middle of its work, and resumed."""

import json

import pytest

from lops_adapters import console
from lops_adapters.probes.han import HanProbe
from lops_adapters.runs.folder import RunFolder
from lops_adapters.westclass.__main__ import main

from ..framework_checks import assert_same_run
from .toys import small_presets


def options(data, output, *more):
    return [
        "--dataset",
        str(data),
        "--preset",
        "quick",
        "--device",
        "cpu",
        "--output",
        str(output),
        "--quiet",
        *more,
    ]


def command(*args):
    return console.guarded(main)(list(args))


@pytest.fixture(autouse=True)
def small():
    with small_presets():
        yield


SHARED = {"word_vectors", "pseudo_documents"}
KILLS = {
    "lops-selection": SHARED,
    "lops-pretraining": SHARED | {"lops-selection"},
    "lops-self-training": SHARED | {"lops-selection", "lops-pretraining"},
}


class StoppedError(Exception):
    """Stands for the end of the process."""


@pytest.mark.parametrize(
    "place", ["in the first update", "behind the model", "behind the last stage"]
)
def test_stopped_in_self_training_and_resumed(place, dataset, go, tmp_path):
    """The hierarchical network, with labelled documents; and the moments around the model's
    writing.
    """
    labelled = tuple((f"d{number}", dataset.gold.labels[number]) for number in (3, 4, 5))
    more = {
        "network": "han",
        "supervision": "documents",
        "labelled": labelled,
        "max_iterations": 6,
        "pretrain_epochs": 3,
    }
    whole = go(dataset, tmp_path / "whole", ["standard"], **more)

    def stop(*_, **__):
        raise StoppedError

    with pytest.MonkeyPatch.context() as patch:
        if place == "in the first update":
            patch.setattr(HanProbe, "tuner", lambda *_, **__: stop)
        elif place == "behind the model":
            save = RunFolder.save_model
            patch.setattr(RunFolder, "save_model", lambda *args: (save(*args), stop()))
        else:
            patch.setattr("lops_adapters.westclass.framework.write_predictions", stop)
        with pytest.raises(StoppedError):
            go(dataset, tmp_path / "run", ["standard"], **more)
    again = go(dataset, tmp_path / "run", ["standard"], resume=True, **more)
    assert_same_run(again.path, whole.path, ["standard"])


def test_labelled_documents_drawn_again_are_the_same(data, tmp_path):
    """A resumed run draws what it drew before: 2 documents a class, by the seed."""
    more = [
        "--labelled-per-class",
        "2",
        "--arms",
        "standard",
        "--pretrain-epochs",
        "1",
        "--max-iterations",
        "1",
    ]
    assert command(*options(data, tmp_path / "run", *more)) == 0
    assert (
        len(json.loads((tmp_path / "run" / "config.json").read_text())["settings"]["labelled"]) == 6
    )
    assert command(*options(data, tmp_path / "run", "--resume", *more)) == 0
