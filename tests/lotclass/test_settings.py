import pytest

from lops_adapters.core import LopsError
from lops_adapters.lotclass.settings import LotclassSettings

from ..framework_checks import assert_has


def test_presets_are_the_published_sizes_and_smaller_ones():
    paper, quick = LotclassSettings.preset("paper"), LotclassSettings.preset("quick")
    assert_has(paper, encoder="bert-base-uncased", max_tokens=200, batch_size=128, epochs=3)
    assert_has(paper, top=50, vocabulary_size=100, match_threshold=20, min_rows=11)
    assert_has(
        paper,
        learning_rate=2e-5,
        self_learning_rate=1e-6,
        self_train_epochs=1.0,
        update_interval=50,
    )
    assert_has(paper, method="released", keep=0.5, every="epoch", faithful=False, probe_epochs=4)
    assert_has(quick, encoder="minilm", max_tokens=64, batch_size=32, supervision="auto")
    assert paper.supervision == "names"
    assert (quick.method, quick.keep) == ("algorithm1", 0.5)


def test_where_a_document_is_read():
    given = {"quick": {}, "paper": {}, "faithful": {"faithful": True}}
    found = {
        name: LotclassSettings.preset("paper" if name == "paper" else "quick", **more).read_at
        for name, more in given.items()
    }
    assert found == {"quick": "tokens", "paper": "first", "faithful": "first"}


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"match_threshold": 50}, "match_threshold is 50; wanted 0 to 49"),
        ({"match_threshold": -1}, "match_threshold is -1"),
    ],
)
def test_more_matches_than_predictions(wrong, words):
    with pytest.raises(LopsError, match=words):
        LotclassSettings.preset("quick", **wrong)
