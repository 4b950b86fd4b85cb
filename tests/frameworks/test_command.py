"""The command of each framework: what it refuses, before any long work and in one line, and what
``--help`` says.
"""

import re
import shlex
from dataclasses import fields
from pathlib import Path

import pytest

from lops_adapters import extras
from lops_adapters.runs.framework import FRAMEWORKS, named
from lops_adapters.runs.options import parser_for

from ..framework_checks import BAD_OPTIONS, assert_refused
from ..light import LIGHT, start
from ..pages import command_lines

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture(autouse=True)
def wide(monkeypatch):
    """Help does not break words at hyphens."""
    monkeypatch.setenv("COLUMNS", "1000")


def said(text):
    """The words, wherever lines are broken."""
    return " ".join(text.split())


@pytest.mark.usefixtures("no_work")
def test_options_that_cannot_work(stand, few, tmp_path, monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    for more, words in BAD_OPTIONS:
        assert_refused(stand.command(tmp_path / "run", *more, data=few), *words)
        assert not (tmp_path / "run").exists()  # the corrected command can have it


@pytest.mark.usefixtures("no_work")
def test_an_encoder_that_is_not_there(stand, few, tmp_path, monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    for more in stand.case.unknown_encoders:
        outcome = stand.command(tmp_path / "run", *more.split(), data=few)
        assert_refused(outcome, "cannot load the encoder 'no/such/model'", "wanted 'minilm'")
        assert not (tmp_path / "run").exists()


@pytest.mark.usefixtures("no_work")
@pytest.mark.parametrize("texts", [["", "   ", ""], ["...", "?!", "-"]], ids=["empty", "marks"])
def test_data_that_cannot_work(stand, tmp_path, texts):
    data = stand.write(tmp_path / "data", texts, None)
    assert_refused(stand.command(tmp_path / "run", data=data), may_warn=True)
    assert not (tmp_path / "run").exists()


def test_options_argparse_refuses(stand, few, tmp_path):
    for option in ("--method best", "--probe svm", "--preset huge", "--nonsense"):
        status, out, err = stand.command(tmp_path / "run", *option.split(), data=few)
        assert (status, out) == (2, "")
        assert err.startswith(f"usage: {stand.framework.program} ")
    assert not (tmp_path / "run").exists()


@pytest.mark.usefixtures("no_work")
def test_taken_output_is_refused_and_left_as_it_is(stand, few, tmp_path):
    output = tmp_path / "run"
    output.mkdir()
    (output / "thesis.tex").write_text("years of work")
    for more in ([], ["--resume"]):
        outcome = stand.command(output, *more, data=few)
        assert_refused(outcome, "holds no run; give another --output")
    below = output / "thesis.tex"
    assert_refused(
        stand.command(below, data=few), "thesis.tex ", " holds no run; give another --output"
    )
    assert_refused(stand.command(below / "run", data=few), "cannot be written")
    assert [path.name for path in output.iterdir()] == ["thesis.tex"]
    assert (output / "thesis.tex").read_text() == "years of work"


@pytest.mark.usefixtures("no_work")
def test_a_missing_library_is_named_with_the_extra(stand, few, tmp_path, monkeypatch):
    for gone in stand.framework.modules:
        monkeypatch.setattr(
            extras, "find_spec", lambda name, gone=gone: None if name == gone else object()
        )
        words = (
            f"{stand.framework.title} needs {extras.LIBRARIES[gone][0]}, which is not installed; "
            f"run: pip install {extras.with_extras(stand.case.name)}"
        )
        assert_refused(stand.command(tmp_path / "run", data=few), words)
        assert not (tmp_path / "run").exists()


def test_help_is_quick_and_light():
    """No heavy library, and no Keras backend chosen; one program after the other."""
    started = start(
        "import runpy\n"
        f"for program in {['', *(f'.{name}' for name in FRAMEWORKS)]}:\n"
        "    sys.argv = ['lops', *([] if program else ['xclass']), '--help']\n"
        "    try:\n"
        "        runpy.run_module(f'lops_adapters{program}', run_name='__main__')\n"
        "    except SystemExit as stopped:\n"
        "        assert not stopped.code\n"
    )
    assert started.packages <= LIGHT
    assert started.modules < 600
    assert started.backend is None
    for name in FRAMEWORKS:
        assert f"usage: python -m lops_adapters.{name} " in said(started.out)


def test_help_names_every_setting(stand):
    """Its default per preset: tests/runs/test_options.py."""
    parser = parser_for(stand.framework)
    text, known = said(parser.format_help()), {action.dest for action in parser._actions}
    for item in fields(stand.framework.settings):
        has_option = item.metadata["option"] is not None
        assert (item.name in known) == has_option, item.name
        if has_option:
            assert f"--{item.name.replace('_', '-')}" in text, item.name
            assert item.metadata["help"] in text, item.name


def test_help_says_what_the_framework_is(stand):
    framework, text = stand.framework, said(parser_for(stand.framework).format_help())
    known = dict.fromkeys(
        [*framework.settings.ARMS, "lops-adaptive", *framework.settings.MORE_ARMS]
    )
    assert framework.summary in text
    assert f"comma-separated, of {', '.join(known)}" in text
    assert f"(default: {framework.settings.shown_arms()})" in text
    for arguments, explanation in framework.examples:
        command = f"{framework.program} {arguments}".strip()
        assert f"{command} {explanation}" in text
        parser_for(framework).parse_args(arguments.split())


def test_commands_of_the_docs():
    """Each is understood: the framework, its options and their values."""
    pages = [DOCS.parent / "README.md", *sorted(DOCS.glob("**/*.md"))]
    text = "\n".join(page.read_text(encoding="utf-8") for page in pages)
    commands = "\n".join(command_lines(text))
    found = re.findall(r"^python -m lops_adapters\.(\w+)(.*)", commands, re.MULTILINE)
    assert {name for name, _ in found} == {*FRAMEWORKS}
    for name, arguments in found:
        parser_for(named(name)).parse_args(shlex.split(arguments, comments=True))
