"""The registry, and the settings of every framework."""

import json
from dataclasses import fields
from types import NoneType
from typing import get_args, get_type_hints

import pytest

from lops_adapters.core import LopsError
from lops_adapters.runs.framework import FRAMEWORKS, named
from lops_adapters.runs.settings import FrameworkSettings

from ..test_extras import distributions
from .cases import CASES, TOY

# Values of which a setting with a range refuses at least one.
ODD = (0, -1, -0.1, 1.5, 256, float("nan"), float("inf"), "nonsense", None)


def test_every_framework_has_a_row():
    assert set(CASES) == {*FRAMEWORKS, *TOY}


@pytest.mark.parametrize("name", FRAMEWORKS)
def test_a_committee_is_usual_where_it_costs_seconds(name):
    settings = named(name).settings
    last = "committee-documents" if name in ("westclass", "lotclass") else "committee"
    assert settings.preset("quick").usual_arms[-1] == last
    assert settings.preset("quick", faithful=True).usual_arms == ("standard", "lops")
    assert settings.preset("paper").usual_arms == ("standard", "lops")
    assert settings.shown_arms().startswith(f"standard,lops,{last}")


@pytest.mark.parametrize("name", ["lotclass", "westclass"])
def test_without_a_final_classifier_there_is_nothing_to_select_for(name):
    framework = named(name)
    for none in ({"classifier": "network"}, {"rounds": 0}):
        settings = framework.settings(**none)
        assert settings.final_rounds == 0
        with pytest.raises(LopsError) as caught:
            framework.check(["standard", "lops-documents"], settings, None)
        assert str(caught.value) == (
            "lops-documents selects for the final classifier, and the run ends with the network; "
            "wanted --classifier hybrid, linear or embedding, and --rounds of at least 1"
        )


def test_the_extra_brings_the_modules(stand):
    framework, installs = stand.framework, distributions()
    modules = {*framework.modules, *framework.needs(framework.settings())}
    if modules:
        assert modules <= installs[framework.name]
        assert modules <= installs["all"]


@pytest.mark.parametrize("preset", ["quick", "paper"])
@pytest.mark.parametrize("faithful", [None, True])
def test_settings_survive_json(stand, preset, faithful):
    cls = stand.framework.settings
    settings = cls.preset(preset, keep=0.7, every=3, faithful=faithful)
    again = cls(**json.loads(json.dumps(settings.as_dict())))
    assert again == settings
    assert hash(again) == hash(settings)
    assert (again.keep, again.every, again.faithful) == (0.7, 3, bool(faithful))
    usual = cls.preset(preset)
    for name, value in cls.WHEN_FAITHFUL.items():
        assert getattr(again, name) == (value if faithful else getattr(usual, name))


def test_presets_name_settings_and_none_leaves_them(stand):
    cls = stand.framework.settings
    names = {item.name for item in fields(cls)}
    for preset, values in cls.PRESETS.items():
        assert set(values) <= names
        settings = cls.preset(preset)
        assert cls.preset(preset, **dict.fromkeys(names)) == settings
        for name, value in values.items():
            assert getattr(settings, name) == value
    with pytest.raises(LopsError, match="preset is 'huge'; wanted one of quick, paper"):
        cls.preset("huge")
    with pytest.raises(LopsError, match="unknown settings: temperature"):
        cls.preset("quick", temperature=1)


def test_every_setting_is_described_in_one_line(stand):
    for item in fields(stand.framework.settings):
        text = item.metadata["help"]
        assert text == " ".join(text.split())
        assert text[-1] not in ".;,", item.name
        assert item.name in (stand.framework.settings.__doc__ or "") or hasattr(
            FrameworkSettings, item.name
        )


def test_every_number_has_a_range_and_what_is_outside_is_refused(stand):
    cls = stand.framework.settings
    hints = get_type_hints(cls)
    for item in fields(cls):
        within, kinds = item.metadata["within"], get_args(hints[item.name]) or (hints[item.name],)
        if within is None:
            assert not {int, float} & set(kinds), item.name
            continue
        refused = 0
        for value in ODD:
            if value is None and NoneType in kinds:
                assert getattr(cls(**{item.name: None}), item.name) is None
                continue
            try:
                cls(**{item.name: value})
            except LopsError as error:
                refused += str(error) == f"{item.name} is {value!r}; wanted {within.wanted}"
        assert refused, item.name
        may_be_none = item.name in ("rounds", "match_threshold")
        if int in kinds and float not in kinds and not may_be_none:
            assert not within.holds(0), item.name
        assert not within.holds(float("nan")), item.name


def test_choices(stand):
    cls = stand.framework.settings
    for item in fields(cls):
        choices = cls.PROBES if item.name == "probe" else item.metadata["choices"]
        for choice in choices or ():
            assert getattr(cls(**{item.name: choice}), item.name) == choice
        if choices:
            words = f"{item.name} is 'svm'; wanted one of {', '.join(choices)}"
            with pytest.raises(LopsError, match=words):
                cls(**{item.name: "svm"})
