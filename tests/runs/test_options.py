import logging
import warnings

import pytest

from lops_adapters import console
from lops_adapters.core import LopsError, LopsWarning
from lops_adapters.runs import options as arguments
from lops_adapters.runs.settings import FrameworkSettings


class ToySettings(FrameworkSettings):
    PROBES = ("same", "linear")
    MORE_ARMS = ("lops-twice",)


@pytest.fixture
def parser():
    return arguments.common_parser("toy", "Text.", ToySettings, "examples")


def test_what_stands_behind_no_option_decides_nothing(parser):
    options = parser.parse_args([])
    assert (options.dataset, options.arms, options.seed, options.seeds, options.device) == (
        "demo",
        "standard,lops",
        0,
        1,
        "auto",
    )
    for name in (
        "rule",
        "tau",
        "every",
        "probe",
        "preset",
        "encoder",
        "faithful",
        "output",
        "max_docs",
        "text_column",
        "label_column",
    ):
        assert getattr(options, name) is None, name  # the preset decides


def test_help_names_every_option_once(parser, capsys):
    with pytest.raises(SystemExit) as stopped:
        parser.parse_args(["--help"])
    assert stopped.value.code == 0
    text = capsys.readouterr().out
    for name in (
        "--dataset",
        "--rule",
        "--tau",
        "--preset",
        "--resume",
        "--output",
        "examples",
        "20news-coarse",
        "released",
    ):
        assert name in text
    words = " ".join(text.split())
    for said in (
        "usage: python -m lops_adapters.toy",
        "of standard, lops, lops-twice;",
        "(default: standard,lops)",
        "{same,linear}",
    ):
        assert said in words


KNOWN = ("standard", "lops", "lops-twice")


@pytest.mark.parametrize(
    ("text", "arms"),
    [
        ("standard,lops", ["standard", "lops"]),
        ("lops,standard", ["standard", "lops"]),
        (" lops , ", ["lops"]),
        ("lops,lops", ["lops"]),
        ("lops-twice", ["lops-twice"]),
        ("lops-twice,lops,standard", list(KNOWN)),
    ],
)
def test_arms(text, arms):
    assert arguments.read_arms(text, KNOWN) == arms


@pytest.mark.parametrize("text", ["", ",", "LOPS", "lops,nolops", "standard lops", "twice"])
def test_no_arms(text):
    with pytest.raises(
        LopsError, match="wanted some of standard, lops, lops-twice, separated by commas"
    ) as error:
        arguments.read_arms(text, KNOWN)
    assert repr(text) in str(error.value)


def test_an_arm_that_a_framework_lacks():
    with pytest.raises(LopsError, match="wanted some of standard, lops, separated"):
        arguments.read_arms("standard,lops-twice", ("standard", "lops"))


def test_seeds(parser):
    assert list(arguments.read_seeds(parser.parse_args(["--seed", "4", "--seeds", "3"]))) == [
        4,
        5,
        6,
    ]
    for wrong in (["--seeds", "0"], ["--seed", "-1"], ["--seed", str(2**31)]):
        with pytest.raises(LopsError, match=f"{wrong[0]} is {wrong[1]}; wanted"):
            arguments.read_seeds(parser.parse_args(wrong))


def test_data_sets(parser):
    demo = arguments.read_dataset(parser.parse_args(["--quiet"]), 0)
    assert demo.corpus.name == "demo"
    ids = [
        arguments.read_dataset(parser.parse_args(["--quiet", "--max-docs", "20"]), seed).corpus.ids
        for seed in (0, 0, 1)
    ]
    assert len(ids[0]) == 20
    assert ids[0] == ids[1] != ids[2]
    assert len(
        arguments.read_dataset(parser.parse_args(["--quiet", "--max-docs", "1000000"]), 0)
    ) == len(demo)
    with pytest.raises(LopsError, match="--max-docs is 1; wanted at least 2"):
        arguments.read_dataset(parser.parse_args(["--max-docs", "1"]), 0)


def test_tables_are_aligned():
    lines = console.aligned(
        [["arm", "n", "F1"], ["standard", "7", "8.1 %"], ["lops", "1234", "-"]]
    ).split("\n")
    assert lines == ["arm          n     F1", "standard     7  8.1 %", "lops      1234      -"]


ROW = {
    "iteration": 0,
    "pseudo_labels": 10,
    "noise": 0.25,
    "selected": 5,
    "selected_noise": 0.0,
    "micro_f1": 0.987,
    "macro_f1": 1.0,
    "seconds": 1.6,
}
UNKNOWN = {
    **ROW,
    "iteration": 1,
    "noise": None,
    "selected_noise": None,
    "micro_f1": None,
    "macro_f1": None,
}


def test_the_table_of_a_run():
    text = arguments.table(
        {"arms": {"standard": {"iterations": [ROW]}, "lops": {"iterations": [ROW, UNKNOWN]}}}
    )
    lines = text.split("\n")
    assert lines[0].split("  ")[0] == "arm"
    assert [line.split()[:2] for line in lines[1:]] == [
        ["standard", "0"],
        ["lops", "0"],
        ["lops", "1"],
    ]
    assert lines[1].split() == [
        "standard",
        "0",
        "10",
        "25.0",
        "%",
        "5",
        "0.0",
        "%",
        "98.7",
        "%",
        "100.0",
        "%",
        "2",
    ]
    assert lines[3].split() == ["lops", "1", "10", "-", "5", "-", "-", "-", "2"]
    assert len({len(line) for line in lines}) == 1
    assert text == "\n".join(line.rstrip() for line in lines)


@pytest.mark.parametrize(
    ("fraction", "text"),
    [(0.5, "50.0 %"), (0.0, "0.0 %"), (1.0, "100.0 %"), (0.12345, "12.3 %"), (None, "-")],
)
def test_percent(fraction, text):
    assert console.percent(fraction) == text


def test_errors_are_one_line(capsys):
    def bad(argv):
        raise LopsError(f"found {argv}; wanted better")

    assert console.guarded(bad)(["x"]) == 2
    captured = capsys.readouterr()
    assert captured.err == "error: found ['x']; wanted better\n"
    assert captured.out == ""


def test_other_exceptions_are_not_hidden():
    with pytest.raises(ZeroDivisionError):
        console.guarded(lambda argv: 1 // 0)(None)


def test_interrupted(capsys):
    def interrupted(argv):
        raise KeyboardInterrupt

    assert console.guarded(interrupted)(None) == 130
    assert "the same command with --resume goes on from here" in capsys.readouterr().err


def test_warnings_are_one_line_and_only_inside(capsys):
    def warns(argv):
        warnings.warn("seeds are few", LopsWarning, stacklevel=1)
        return 0

    before = warnings.showwarning
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        assert console.guarded(warns)(None) == 0
    assert capsys.readouterr().err == "warning: seeds are few\n"
    assert warnings.showwarning is before


@pytest.mark.parametrize("quiet", [True, False])
def test_the_log(capsys, quiet):
    logger = logging.getLogger("lops_adapters.some.room")
    for _ in range(2):
        console.set_up_logging(quiet)
    logger.info("working")
    logger.warning("odd")
    assert capsys.readouterr().err == ("odd\n" if quiet else "working\nodd\n")
