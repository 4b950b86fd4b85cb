"""The command line of a framework: shared options, and one option per setting."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import pytest

from lops_adapters.core import LopsError
from lops_adapters.runs import options
from lops_adapters.runs.framework import Framework
from lops_adapters.runs.settings import AT_LEAST_ONE, FrameworkSettings, setting


@dataclass(frozen=True, kw_only=True)
class ToySettings(FrameworkSettings):
    PROBES: ClassVar[tuple[str, ...]] = ("same", "linear")
    MORE_ARMS: ClassVar[tuple[str, ...]] = ("lops-twice",)
    PRESETS: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "quick": {"rounds": 3, "limit": 9},
        "paper": {},
    }

    rounds: int = setting(7, "rounds of play")
    limit: int | None = setting(None, "pieces on 50 % of the board", within=AT_LEAST_ONE)
    pace: float = setting(0.5, "moves per second", metavar="P")
    opening: str = setting("plain", "how to begin", choices=("plain", "wild"))
    board: str | None = setting(None, "where to play", usual="the nearest")
    boxed: bool = setting(False, "stay inside")
    mirrored: bool = setting(False, "turn the board", option="selection")
    pieces: tuple[str, ...] = setting((), "given by the data", option=None)


class Toy(Framework[ToySettings]):
    """Only what a parser asks for."""

    name = "toy"
    title = "Toy"
    summary = "What a toy does."
    examples = (("", "as it is"), ("--rounds 2", "short"))
    settings = ToySettings

    def add_options(self, group):
        """Add one that is no setting."""
        group.add_argument("--dice", help="a file of dice")


TOY = Toy()


@pytest.fixture
def parser():
    return options.parser_for(TOY)


@pytest.fixture
def text(parser):
    """The help, wherever lines are broken."""
    return " ".join(parser.format_help().split())


def unbroken(text):
    """Text without the breaks that a narrow terminal puts behind hyphens."""
    return text.replace("- ", "-")


def test_what_stands_behind_no_option_decides_nothing(parser):
    found = vars(parser.parse_args([]))
    usual = {"dataset": "demo", "seed": 0, "seeds": 1, "device": "auto"}
    assert {name: found[name] for name in usual} == usual
    assert {found[name] for name in ("offline", "resume", "quiet")} == {False}
    settings = {
        "method", "keep", "every", "probe", "faithful", "rounds", "limit", "pace", "opening",
    }  # fmt: skip
    settings |= {"board", "boxed", "mirrored"}
    others = {"preset", "output", "max_docs", "data_dir", "text_column", "label_column", "dice"}
    others |= {"names_from", "arms"}
    assert {name: found[name] for name in settings | others} == dict.fromkeys(settings | others)
    assert "pieces" not in found


def test_values_are_read_by_the_type_of_the_field(parser):
    given = ["--rounds", "2", "--limit", "4", "--pace", "2", "--opening", "wild", "--boxed"]
    found = parser.parse_args([*given, "--board", "mine", "--every", "12", "--dice", "six"])
    assert (found.rounds, found.limit, found.pace) == (2, 4, 2.0)
    assert isinstance(found.pace, float)
    assert (found.opening, found.board, found.boxed, found.dice) == ("wild", "mine", True, "six")
    assert found.every == 12
    assert parser.parse_args(["--every", "epoch"]).every == "epoch"


@pytest.mark.parametrize(
    "wrong", ["--rounds two", "--limit none", "--opening odd", "--probe svm", "--pieces x"]
)
def test_values_of_another_type_are_refused(parser, capsys, wrong):
    with pytest.raises(SystemExit) as stopped:
        parser.parse_args(wrong.split())
    assert stopped.value.code == 2
    assert "usage: lops toy" in capsys.readouterr().err


def test_help_names_every_option_once(parser, text, capsys):
    with pytest.raises(SystemExit) as stopped:
        parser.parse_args(["--help"])
    assert stopped.value.code == 0
    assert " ".join(capsys.readouterr().out.split()) == text
    flags = [flag for action in parser._actions for flag in action.option_strings]
    assert len(flags) == len(set(flags))
    assert set(flags) >= {"--dataset", "--method", "--keep", "--preset", "--resume", "--output"}
    for said in (
        "usage: lops toy",
        "What a toy does.",
        "20news-coarse",
        "of standard, lops, lops-adaptive, lops-twice, learning-order, released, ",
        "(default: standard,lops)",
        "--probe {same,linear}",
        "examples: lops toy as it is",
        "lops toy --rounds 2 short",
    ):
        assert unbroken(said) in unbroken(text), said


@pytest.mark.parametrize(
    "said",
    [
        "--rounds N rounds of play (default: 3; paper: 7)",
        "--limit N pieces on 50 % of the board (default: 9; paper: none)",
        "--pace P moves per second (default: 0.5)",
        "--opening {plain,wild} how to begin (default: plain)",
        "--board NAME where to play (default: the nearest)",
        "--boxed stay inside --dice",
        "--every B|epoch look at the probe",
        "the lops arms: the paper's algorithm1, or released, as the authors' code selects "
        "(default: algorithm1; paper and --faithful: released)",
        "--keep F|auto fraction to keep per class; auto, always of lops-adaptive: the share that a "
        "held-out linear probe agrees with (default: 0.5)",
    ],
)
def test_help_tells_the_default_of_each_preset(text, said):
    assert unbroken(said) in unbroken(text)


def test_options_stand_in_the_group_of_their_field(parser):
    groups = {
        group.title: [action.dest for action in group._group_actions]
        for group in parser._action_groups
    }
    assert groups["selection"] == ["arms", "probe", "method", "keep", "every", "mirrored"]
    assert groups["Toy"] == ["rounds", "limit", "pace", "opening", "board", "boxed", "dice"]
    assert groups["run"][-1] == "faithful"
    assert "output" in groups["run"]
    assert "max_docs" in groups["data"]


def test_data_sets(parser):
    def read(*given, seed=0):
        return options.read_dataset(parser.parse_args(["--quiet", *given]), seed, "auto")

    demo = read()
    assert demo.corpus.name == "demo"
    first, same, other = (read("--max-docs", "20", seed=seed).corpus.ids for seed in (0, 0, 1))
    assert len(first) == 20
    assert first == same != other
    assert len(read("--max-docs", "1000000")) == len(demo)


def test_names_and_headers_are_of_the_data_set(parser, tmp_path):
    path = tmp_path / "mine.json"
    path.write_text('{"sports": "games"}', encoding="utf-8")
    given = parser.parse_args(["--quiet", "--names", str(path), "--max-docs", "20"])
    assert options.read_dataset(given, 0, "keep").corpus.names["sports"] == ("games",)
    with pytest.raises(LopsError, match="demo has no message headers"):
        options.read_dataset(given, 0, "strip")
    with pytest.raises(SystemExit):
        parser.parse_args(["--headers", "half"])


@pytest.mark.parametrize(("device", "preset"), [("cpu", "quick"), ("cuda", "paper")])
def test_the_preset_follows_the_machine(monkeypatch, device, preset):
    from lops_adapters.encoders import torch_tools

    monkeypatch.setattr(torch_tools, "resolve_device", lambda _: device)
    assert options.default_preset() == preset
