from dataclasses import fields

import pytest

from lops_adapters.core import LopsError
from lops_adapters.westclass.settings import LONG_FROM, PUBLISHED, WestclassSettings, filled

from ..framework_checks import assert_has

ROWS = {
    ("cnn", "short"): (100, None, 20, 50, 1e-3, 1e-6),
    ("cnn", "long"): (500, None, 30, 50, 1e-4, 1e-6),
    ("han", "short"): (45, 10, 100, 50, 1e-3, 1e-5),
    ("han", "long"): (30, 40, 200, 100, 1e-4, 1e-5),
}


def row(settings):
    return (
        settings.max_words, settings.max_sentences, settings.pretrain_epochs,
        settings.update_interval, settings.learning_rate, settings.decay,
    )  # fmt: skip


@pytest.mark.parametrize(("network", "length"), ROWS)
def test_published_values(network, length):
    settings = WestclassSettings(network=network)
    assert row(settings) == (None,) * 6
    assert row(settings.for_length(1e6 if length == "long" else 0)) == ROWS[network, length]
    assert (
        row(
            WestclassSettings(network=network, length=length).for_length(
                0 if length == "long" else 1e6
            )
        )
        == ROWS[network, length]
    )
    assert set(PUBLISHED) == set(ROWS)


def test_published_sizes_of_all_lengths():
    paper = WestclassSettings.preset("paper")
    assert paper == WestclassSettings(method="released", keep=0.5, classifier="network")
    assert_has(paper, per_class=500, top=50, alpha=0.2, batch_size=256, vector_size=100)
    assert_has(paper, min_count=5, max_iterations=5000, stop_below=0.001)
    assert_has(paper, supervision="keywords", network="cnn", length="auto", probe="same", every=1)
    assert_has(WestclassSettings.preset("quick"), method="algorithm1", keep=0.5, every=1)
    assert paper.vector_words == 2_000_000
    assert WestclassSettings.preset("paper", faithful=True).vector_words == 1


@pytest.mark.parametrize(
    ("mean", "length"),
    [(0, "short"), (LONG_FROM, "short"), (LONG_FROM + 0.01, "long"), (1e6, "long")],
)
def test_a_corpus_is_long_where_the_short_settings_would_cut_the_average_document(mean, length):
    assert PUBLISHED["cnn", "short"]["max_words"] == LONG_FROM
    settings = WestclassSettings().for_length(mean)
    assert settings.length == length
    assert settings == WestclassSettings(length=length).for_length(mean)
    assert settings.for_length(1e6 - mean) == settings  # once filled in they stay


def test_what_is_given_stays():
    given = {
        "max_words": 7,
        "max_sentences": 3,
        "pretrain_epochs": 2,
        "update_interval": 9,
        "learning_rate": 0.5,
        "decay": 0.0,
    }
    assert row(WestclassSettings(network="han", **given).for_length(300)) == tuple(given.values())
    assert row(WestclassSettings(network="han", decay=0.0).for_length(300)) == (
        *ROWS["han", "long"][:-1],
        0.0,
    )


def test_what_is_not_filled_in_is_found_out():
    assert filled(WestclassSettings().for_length(300).max_words) == 500
    assert filled(WestclassSettings(decay=0.0).decay) == 0
    with pytest.raises(LopsError, match=r"open sizes; call for_length\(\) with the mean"):
        filled(WestclassSettings().max_words)


def test_quick_cuts_published_lengths_and_passes_and_nothing_else():
    quick, paper = (WestclassSettings.preset(name).for_length(300) for name in ("quick", "paper"))
    assert (quick.max_words, paper.max_words) == (100, 500)
    assert row(quick)[1:] == row(paper)[1:]
    assert WestclassSettings.preset("quick").for_length(50).max_words == 100
    assert WestclassSettings.preset("quick", most_words=20).for_length(50).max_words == 20
    assert WestclassSettings.preset("quick", network="han").for_length(300).max_words == 30
    assert WestclassSettings.preset("quick", max_words=300).for_length(300).max_words == 300
    assert {
        field.name
        for field in fields(quick)
        if getattr(quick, field.name) != getattr(paper, field.name)
    } == {"most_words", "max_words", "max_passes", "method", "classifier"}


def test_passes_are_limited_in_quick_only():
    assert WestclassSettings.preset("quick").most_updates(1000) == 800
    assert WestclassSettings.preset("quick").most_updates(1025) == 1000
    for given in ({"name": "paper"}, {"name": "quick", "faithful": True}):
        assert WestclassSettings.preset(**given).most_updates(1) == 5000
