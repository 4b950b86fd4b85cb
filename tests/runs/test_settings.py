"""What all settings share; tests/frameworks/test_settings.py asks those of each framework."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import pytest

from lops_adapters.core import LopsError
from lops_adapters.probes.linear import LinearProbe
from lops_adapters.runs import settings as room
from lops_adapters.runs.rounds import FinalSettings
from lops_adapters.runs.settings import AT_LEAST_ONE, FrameworkSettings, setting


@dataclass(frozen=True, kw_only=True)
class ToySettings(FrameworkSettings):
    PROBES: ClassVar[tuple[str, ...]] = ("same", "abacus")
    PRESETS: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "small": {"rounds": 2, "keep": 0.25},
        "large": {},
    }
    WHEN_FAITHFUL: ClassVar[Mapping[str, Any]] = {"rounds": 9}

    rounds: int = setting(5, "rounds of play")
    limit: int | None = setting(None, "pieces at most", within=AT_LEAST_ONE)
    opening: str = setting("plain", "how to begin", choices=("plain", "wild"))


def test_faithful_comes_last_and_only_when_asked_for():
    assert ToySettings.preset("small", faithful=True) == ToySettings(
        rounds=9, method="released", keep=0.25, faithful=True
    )
    assert ToySettings.preset("small", faithful=True, rounds=3).rounds == 9
    assert ToySettings.preset("small", faithful=False).rounds == 2
    assert ToySettings(faithful=True).rounds == 5  # settings read back from JSON are what they were


def test_the_published_reading_of_lops():
    """The preset ``paper`` and ``faithful`` bring it; a preset's own value or a given one wins."""

    def reading(preset, **given):
        settings = FrameworkSettings.preset(preset, **given)
        return settings.method, settings.keep

    assert reading("quick") == ("algorithm1", 0.5)
    assert reading("quick", faithful=False) == ("algorithm1", 0.5)
    assert reading("quick", faithful=True) == ("released", 0.5)
    for faithful in (None, False, True):
        assert reading("paper", faithful=faithful) == ("released", 0.5)
        given = {"method": "algorithm1"}
        assert reading("paper", faithful=faithful, **given) == ("algorithm1", 0.5)
        assert reading("paper", faithful=faithful, keep="auto") == ("released", "auto")
        given = {"method": "algorithm1", "keep": 0.3}
        assert reading("paper", faithful=faithful, **given) == ("algorithm1", 0.3)
    given = {"method": "algorithm1", "keep": "auto"}
    assert reading("quick", faithful=True, **given) == ("algorithm1", "auto")
    assert ToySettings.preset("large").keep == 0.5
    assert ToySettings.preset("small", faithful=True).keep == 0.25


def test_an_override_of_false_or_zero_is_one():
    with pytest.raises(LopsError, match="rounds is 0; wanted at least 1"):
        ToySettings.preset("small", rounds=0)
    with pytest.raises(LopsError, match="limit is 0; wanted at least 1"):
        ToySettings(limit=0)
    assert ToySettings(limit=None, rounds=1).limit is None


def test_a_probe_that_ends_before_it_is_looked_at():
    FrameworkSettings().check_checkpoints(0, "nothing")
    FrameworkSettings(every=7).check_checkpoints(7, "samples")
    with pytest.raises(
        LopsError,
        match=(
            "every is 7, and the probe makes 6 updates on 90 documents; wanted a smaller number, "
            "or epoch"
        ),
    ):
        FrameworkSettings(every=7).check_checkpoints(6, "90 documents")
    probe = LinearProbe(epochs=2, batch_size=32)  # the third batch of an epoch is smaller
    FrameworkSettings(every=6).check_probe(probe, 90, "90 documents")
    with pytest.raises(LopsError, match="the probe makes 6 updates on 90 documents"):
        FrameworkSettings(every=7).check_probe(probe, 90, "90 documents")


@pytest.mark.parametrize(
    ("name", "fine", "wrong"),
    [
        ("AT_LEAST_ONE", [1, 2**40], [0, -1]),
        ("ABOVE_ZERO", [1e-300, 5], [0, -0.1]),
        ("NOT_NEGATIVE", [0, 0.5, 1e300], [-1e-9, float("inf")]),
        ("FRACTION", [1e-9, 0.5, 1], [0, 1.01, -0.5]),
        ("KEEP", [1e-9, 1, "auto"], [0, -0.5, 1.5]),
        ("SHARE", [0, 0.5, 1], [-0.01, 1.01]),
        ("BELOW_ONE", [0, 0.999], [1, -0.01]),
        ("CHECKPOINTS", [1, 90, "epoch"], [0, -3, 1.0, "often"]),
    ],
)
def test_ranges(name, fine, wrong):
    within = getattr(room, name)
    for value in fine:
        room._check("size", value, within)
    for value in [*wrong, float("nan"), "many", None]:
        with pytest.raises(LopsError) as error:
            room._check("size", value, within)
        assert str(error.value) == f"size is {value!r}; wanted {within.wanted}"


def test_choices_and_none():
    assert ToySettings(opening="wild").opening == "wild"
    with pytest.raises(LopsError, match="opening is 'odd'; wanted one of plain, wild"):
        ToySettings(opening="odd")
    with pytest.raises(LopsError, match="rounds is None; wanted at least 1"):
        ToySettings(rounds=None)  # its type does not allow that


@pytest.mark.parametrize("faithful", [False, True])
def test_what_an_arm_selects_with(faithful):
    """``lops`` is as published; ``lops-adaptive`` is the same under all settings."""
    settings = FrameworkSettings.preset("quick", faithful=faithful, keep=0.3)
    rows = {arm: settings.row(arm).name for arm in ("lops", "lops-adaptive", "random", "ranked")}
    assert rows["lops"] == ("released" if faithful else "algorithm1")
    assert (rows["lops-adaptive"], rows["random"], rows["ranked"]) == ("ranked", "random", "ranked")
    keeps = [settings.arm(arm).keep for arm in ("lops", "lops-adaptive", "ranked")]
    assert keeps == [0.3, "auto", 0.3]
    with pytest.raises(LopsError, match="method is 'ranked'; wanted one of algorithm1, released"):
        FrameworkSettings(method="ranked")


@pytest.mark.parametrize(
    ("arm", "method", "place"),
    [
        ("lops", "lops", ""),
        ("lops-documents", "lops", "documents"),
        ("lops-adaptive-documents", "lops-adaptive", "documents"),
        ("lops-adaptive", "lops-adaptive", ""),
        ("confident-learning-documents", "confident-learning", "documents"),
        ("lops-refresh", "lops-refresh", ""),
    ],
)
def test_the_place_of_an_arm(arm, method, place):
    assert FinalSettings.split(arm) == (method, place)
