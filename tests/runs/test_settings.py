"""What all settings share; tests/frameworks/test_settings.py asks those of each framework."""

import json
from collections.abc import Mapping
from dataclasses import FrozenInstanceError, dataclass
from typing import Any, ClassVar

import pytest

from lops_adapters.core import RULES, LopsError
from lops_adapters.probes.linear import LinearProbe
from lops_adapters.runs import settings as room
from lops_adapters.runs.settings import AT_LEAST_ONE, FrameworkSettings, setting


@dataclass(frozen=True, kw_only=True)
class ToySettings(FrameworkSettings):
    PROBES: ClassVar[tuple[str, ...]] = ("same", "abacus")
    PRESETS: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "small": {"rounds": 2, "keep": 0.25},
        "large": {},
    }
    WHEN_FAITHFUL: ClassVar[Mapping[str, Any]] = {"rounds": 9}

    rounds: int = setting(5, "rounds of play", within=AT_LEAST_ONE)
    limit: int | None = setting(None, "pieces at most", within=AT_LEAST_ONE)
    opening: str = setting("plain", "how to begin", choices=("plain", "wild"))


def test_defaults_of_the_selection():
    settings = FrameworkSettings()
    assert (settings.probe, settings.method, settings.keep, settings.every, settings.faithful) == (
        "same",
        "ranked",
        "auto",
        "epoch",
        False,
    )
    for rule in RULES:
        assert FrameworkSettings(method=rule).method == rule
    with pytest.raises(LopsError, match=r"probe is 'abacus'; wanted one of same$"):
        FrameworkSettings(probe="abacus")


def test_a_framework_adds_its_own():
    assert ToySettings.preset("small") == ToySettings(rounds=2, keep=0.25)
    assert ToySettings.preset("small", rounds=3, probe="abacus") == ToySettings(
        rounds=3, keep=0.25, probe="abacus"
    )
    assert type(ToySettings.preset("large")) is ToySettings
    with pytest.raises(LopsError, match="preset is 'quick'; wanted one of small, large"):
        ToySettings.preset("quick")
    with pytest.raises(LopsError, match=r"unknown settings: a, b$"):
        ToySettings.preset("small", b=1, rounds=1, a=None)


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

    assert reading("quick") == ("ranked", "auto")
    assert reading("quick", faithful=False) == ("ranked", "auto")
    assert reading("quick", faithful=True) == ("released", 0.5)
    for faithful in (None, False, True):
        assert reading("paper", faithful=faithful) == ("released", 0.5)
        assert reading("paper", faithful=faithful, method="ranked") == ("ranked", 0.5)
        assert reading("paper", faithful=faithful, keep="auto") == ("released", "auto")
        given = {"method": "algorithm1", "keep": 0.3}
        assert reading("paper", faithful=faithful, **given) == ("algorithm1", 0.3)
    assert reading("quick", faithful=True, method="ranked", keep="auto") == ("ranked", "auto")
    assert ToySettings.preset("large").keep == "auto"
    assert ToySettings.preset("small", faithful=True).keep == 0.25


def test_an_override_of_false_or_zero_is_one():
    with pytest.raises(LopsError, match="rounds is 0; wanted at least 1"):
        ToySettings.preset("small", rounds=0)
    with pytest.raises(LopsError, match="limit is 0; wanted at least 1"):
        ToySettings(limit=0)
    assert ToySettings(limit=None, rounds=1).limit is None


def test_when_the_probe_is_looked_at():
    assert FrameworkSettings().updates_between_checkpoints is None
    assert FrameworkSettings(every=7).updates_between_checkpoints == 7


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


def test_json_and_nothing_changes_them():
    settings = ToySettings(every=3, limit=7)
    assert settings.as_dict() == {
        "probe": "same", "method": "ranked", "keep": "auto", "every": 3, "faithful": False,
        "rounds": 5, "limit": 7, "opening": "plain",
    }  # fmt: skip
    assert ToySettings(**json.loads(json.dumps(settings.as_dict()))) == settings
    with pytest.raises(FrozenInstanceError):
        settings.keep = 1
    with pytest.raises(TypeError):
        ToySettings("same")


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


def test_what_help_says_of_a_default():
    @dataclass(frozen=True, kw_only=True)
    class Presets(FrameworkSettings):
        PRESETS: ClassVar[Mapping[str, Mapping[str, Any]]] = {
            "quick": {"one": 1, "two": None},
            "paper": {"one": 100, "three": None},
        }
        one: int = setting(7, "one")
        two: int | None = setting(2, "two")
        three: int | None = setting(3, "three")
        four: int | None = setting(None, "four", usual="as published")
        keep: float = setting(0.9, "keep")

        five: int | None = setting(None, "five")

    found = [Presets.usual(name) for name in ("one", "two", "three", "four", "keep", "five")]
    assert found[:3] == ["1; paper: 100", "none; paper: 2", "3; paper: none"]
    assert found[3:] == ["as published", "0.9", "none"]


def test_the_documentation_lists_the_fields():
    assert "rounds: rounds of play." in ToySettings.__doc__
    assert "limit: pieces at most." in ToySettings.__doc__
