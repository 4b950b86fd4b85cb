"""Protocols: what templates expand to, and that the named modules take every option."""

import argparse
import json
import shlex
from importlib import import_module

import pytest

from benchmarks import protocol
from benchmarks.pages.equal import UNSEEN
from lops_adapters.core import LopsError
from lops_adapters.datasets import names
from lops_adapters.runs.arms import read_arms
from lops_adapters.self_training.settings import SelfTrainingSettings

OURS = sorted(protocol.PROTOCOLS.glob("*.json"))


class ParsedError(Exception):
    """Carries the options out of a module's main function before it does anything."""


@pytest.fixture
def parse(monkeypatch):
    """The options that the module of a command reads from it."""
    original = argparse.ArgumentParser.parse_args

    def stop(self, argv=None, namespace=None):
        raise ParsedError(original(self, argv, namespace))

    def parsed(command):
        words = shlex.split(command)
        assert words[:2] == ["python", "-m"]
        package, _, last = words[2].rpartition(".")
        module = import_module(
            f"{words[2]}.__main__" if package == "lops_adapters" else f"{package}.{last}"
        )
        with pytest.raises(ParsedError) as caught:
            module.main([*words[3:], "--data-dir", "D", "--output", "O", "--resume", "--quiet"])
        return caught.value.args[0]

    monkeypatch.setattr(argparse.ArgumentParser, "parse_args", stop)
    return parsed


def template(**changes):
    usual = {
        "kind": "curves",
        "name": "c-{d}-{s}",
        "command": "python -m m --d {d} --s {s}",
        "lists": {"d": ["x", "y"], "s": [0, 1]},
    }
    return {**usual, **changes}


def test_the_last_list_turns_fastest():
    assert [cell.name for cell in protocol.expand(template())] == [
        "c-x-0",
        "c-x-1",
        "c-y-0",
        "c-y-1",
    ]


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        (template(kind="other"), "kind is 'other'; pass one of self_training, curves"),
        (template(command="rm -r {d}"), "it must start with python"),
        (template(name="c-{e}"), "uses 'e'; the template's lists are d, s"),
        ({"kind": "curves"}, "a template has kind; it needs command, kind, lists, name"),
    ],
)
def test_a_wrong_template_is_refused(wrong, says):
    with pytest.raises(LopsError, match=says):
        protocol.expand(wrong)


def test_two_cells_of_one_name_are_refused(tmp_path):
    (tmp_path / "p.json").write_text(
        json.dumps({"templates": [template(name="c-{d}")]}), encoding="utf-8"
    )
    with pytest.raises(LopsError, match="two cells have the name 'c-x'"):
        protocol.read_cells(tmp_path / "p.json")
    (tmp_path / "p.json").write_text("[]", encoding="utf-8")
    with pytest.raises(LopsError, match="is not a protocol"):
        protocol.read_cells(tmp_path / "p.json")
    known = (
        "agnews-24000, base, class-names, committee, cpu, equal, faithful, fine-tuned, "
        "fine-tuned-whole, gpu, grid, paper, rounds, smoke"
    )
    with pytest.raises(LopsError, match=f"'nothing'; pass one of {known}"):
        protocol.protocol_path("nothing")


@pytest.mark.parametrize("path", OURS, ids=lambda path: path.stem)
def test_every_command_of_ours_is_understood(path, parse):
    cells = protocol.read_cells(path)
    seen = set()
    for cell in cells:
        assert cell.name.replace("-", "").replace(".", "").isalnum()
        options = parse(cell.command)
        folder, _, name = options.dataset.rpartition("/")
        assert name in (UNSEEN if folder == "unseen" else names())
        assert str(options.output) == "O"
        assert name in cell.name
        seen.add((cell.kind, options.dataset))
        if cell.kind == "self_training":
            arms = read_arms(options.arms, SelfTrainingSettings.known_arms())
            assert {"lops", "lops-adaptive", "committee", "ranked", "released"} & set(arms)
            SelfTrainingSettings.preset(
                options.preset,
                classifier=options.classifier,
                method=options.method,
                keep=options.keep,
            ).settled(arms)
            assert (options.classifier or "hybrid") in cell.name
    if path.stem in ("cpu", "paper", "smoke"):
        assert {kind for kind, _ in seen} >= {"heuristics", "curves", "self_training"}


def test_the_published_grid_is_whole(parse):
    grid = [
        parse(cell.command)
        for cell in protocol.read_cells(protocol.PROTOCOLS / "paper.json")
        if cell.name.startswith("self-training-")
    ]
    assert len(grid) == 4 * 6 * 3
    nine = {
        "standard", "lops", "mc-dropout", "entropy", "o2u-net", "random", "probability",
        "stability", "optimal",
    }  # fmt: skip
    for options in grid:
        without = {"mc-dropout", "entropy"} if options.classifier == "roberta-base" else set()
        assert set(options.arms.split(",")) == nine - without
        assert options.preset == "paper"
