import hashlib

import pytest

from lops_adapters.core import LopsError
from lops_adapters.selection import METHODS
from lops_adapters.self_training.settings import SelfTrainingSettings

from ..framework_checks import assert_has


def test_presets_are_the_published_sizes_and_smaller_ones():
    paper, quick = SelfTrainingSettings.preset("paper"), SelfTrainingSettings.preset("quick")
    assert (paper.classifier, paper.max_tokens) == ("bert-base-uncased", 512)
    assert (quick.classifier, quick.max_tokens) == ("hybrid", 128)
    for settings in (paper, quick):
        assert_has(
            settings, epochs=None, batch_size=None, learning_rate=None
        )  # the encoder's recipe
        assert_has(settings, iterations=5, share=0.5, pseudo_labels="string-match")
        assert (settings.every, settings.probe, settings.faithful) == ("epoch", "same", False)
    assert (paper.method, paper.keep, paper.delta) == ("released", 0.5, 0.6)
    assert (quick.method, quick.keep, quick.delta) == ("algorithm1", 0.5, None)
    assert SelfTrainingSettings.preset("quick", faithful=True).delta == 0.6
    assert SelfTrainingSettings.preset("quick", faithful=True, delta=0.7).delta == 0.7


def test_every_method_is_an_arm():
    assert SelfTrainingSettings.ARMS == ("standard", "lops")
    assert {*SelfTrainingSettings.ARMS, *SelfTrainingSettings.MORE_ARMS} == {"lops", *METHODS}


@pytest.mark.parametrize(
    ("methods", "n_from"),
    [
        (["standard", "lops"], "lops"),
        (["standard"], "lops"),
        (["optimal"], "lops"),
        (["random", "lops"], "lops"),
        (["random"], "keep"),
        (["standard", "random"], "keep"),
    ],
)
def test_where_n_is_from(methods, n_from):
    assert SelfTrainingSettings().settled(methods).n_from == n_from


def test_a_file_is_known_by_what_it_holds(tmp_path):
    path = tmp_path / "mine.csv"
    path.write_text("id,label\n", encoding="utf-8")
    settings = SelfTrainingSettings(pseudo_labels=str(path)).settled(["lops"])
    assert settings.pseudo_labels_sha256 == hashlib.sha256(b"id,label\n").hexdigest()
    assert SelfTrainingSettings().settled(["lops"]).pseudo_labels_sha256 is None
    with pytest.raises(
        LopsError,
        match=(
            r"pseudo_labels is 'stringmatch', which cannot be read .*; wanted string-match, "
            "exclusive-string"
        ),
    ):
        SelfTrainingSettings(pseudo_labels="stringmatch").settled(["lops"])
