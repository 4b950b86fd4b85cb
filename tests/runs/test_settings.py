"""What the settings of all frameworks share, where tests/conwea/test_settings.py does not show it."""

import json
from collections.abc import Mapping
from dataclasses import FrozenInstanceError, dataclass
from typing import Any, ClassVar

import pytest

from lops_adapters.core import RULES, LopsError
from lops_adapters.runs.settings import FrameworkSettings


@dataclass(frozen=True, kw_only=True)
class ToySettings(FrameworkSettings):
    PROBES: ClassVar[tuple[str, ...]] = ("same", "abacus")
    PRESETS: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "small": {"rounds": 2, "tau": 0.25},
        "large": {},
    }
    WHEN_FAITHFUL: ClassVar[Mapping[str, Any]] = {"rounds": 9}
    AT_LEAST_ONE: ClassVar[tuple[str, ...]] = ("rounds", "limit")

    rounds: int = 5
    limit: int | None = None


def test_defaults_of_the_selection():
    settings = FrameworkSettings()
    assert (settings.probe, settings.rule, settings.tau, settings.every, settings.faithful) == (
        "same",
        "released",
        0.5,
        "epoch",
        False,
    )
    for rule in RULES:
        assert FrameworkSettings(rule=rule).rule == rule
    with pytest.raises(LopsError, match=r"probe is 'abacus'; wanted one of same$"):
        FrameworkSettings(probe="abacus")


def test_a_framework_adds_its_own():
    assert ToySettings.preset("small") == ToySettings(rounds=2, tau=0.25)
    assert ToySettings.preset("small", rounds=3, probe="abacus") == ToySettings(
        rounds=3, tau=0.25, probe="abacus"
    )
    assert type(ToySettings.preset("large")) is ToySettings
    with pytest.raises(LopsError, match="preset is 'quick'; wanted one of small, large"):
        ToySettings.preset("quick")
    with pytest.raises(LopsError, match=r"unknown settings: a, b$"):
        ToySettings.preset("small", b=1, rounds=1, a=None)


def test_faithful_comes_last_and_only_when_asked_for():
    assert ToySettings.preset("small", faithful=True) == ToySettings(
        rounds=9, tau=0.25, faithful=True
    )
    assert ToySettings.preset("small", faithful=True, rounds=3).rounds == 9
    assert ToySettings.preset("small", faithful=False).rounds == 2
    assert ToySettings(faithful=True).rounds == 5  # settings read back from JSON are what they were


def test_an_override_of_false_or_zero_is_one():
    with pytest.raises(LopsError, match="rounds is 0; wanted at least 1"):
        ToySettings.preset("small", rounds=0)
    with pytest.raises(LopsError, match="limit is 0; wanted at least 1"):
        ToySettings(limit=0)
    assert ToySettings(limit=None, rounds=1).limit is None


@pytest.mark.parametrize(
    ("tau", "fine"), [(1, True), (1e-9, True), (0, False), (-0.5, False), (1.5, False)]
)
def test_tau(tau, fine):
    if fine:
        assert ToySettings(tau=tau).tau == tau
    else:
        with pytest.raises(
            LopsError, match=f"tau is {tau}; wanted a fraction above 0 and at most 1"
        ):
            ToySettings(tau=tau)


def test_when_the_probe_is_looked_at():
    assert FrameworkSettings().updates_between_checkpoints is None
    assert FrameworkSettings(every=7).updates_between_checkpoints == 7
    for wrong in (None, 0, -1, "batch", ""):
        with pytest.raises(
            LopsError, match=f"every is {wrong}; wanted a number of updates, at least 1, or epoch"
        ):
            FrameworkSettings(every=wrong)


def test_a_probe_that_ends_before_it_is_looked_at():
    FrameworkSettings().check_checkpoints(0, "nothing")
    FrameworkSettings(every=7).check_checkpoints(7, "samples")
    with pytest.raises(
        LopsError,
        match="every is 7, and the probe makes 6 updates on 90 documents; wanted a smaller number, or epoch",
    ):
        FrameworkSettings(every=7).check_checkpoints(6, "90 documents")


def test_json_and_nothing_changes_them():
    settings = ToySettings(every=3, limit=7)
    assert settings.as_dict() == {
        "probe": "same", "rule": "released", "tau": 0.5, "every": 3, "faithful": False, "rounds": 5, "limit": 7,
    }  # fmt: skip
    assert ToySettings(**json.loads(json.dumps(settings.as_dict()))) == settings
    with pytest.raises(FrozenInstanceError):
        settings.tau = 1
    with pytest.raises(TypeError):
        ToySettings("same")
