"""``lops completion``: the scripts run, and complete commands, options, choices and files."""

import shutil
import subprocess
from importlib import import_module

import pytest

from lops_adapters.cli import completion
from lops_adapters.cli.main import COMMANDS

BASH = shutil.which("bash")
needs_bash = pytest.mark.skipif(BASH is None, reason="there is no bash")
FISH = shutil.which("fish")


def printed(shell, capsys):
    assert completion.main([shell]) == 0
    return capsys.readouterr().out


def completed(script, *words, cwd=None):
    line = " ".join(f"'{word}'" for word in words)
    code = f"{script}\nCOMP_WORDS=({line}); COMP_CWORD={len(words) - 1}; _lops; "
    code += 'printf "%s\\n" "${COMPREPLY[@]}"'
    done = subprocess.run(
        [BASH, "--norc", "-c", code], capture_output=True, text=True, check=True, cwd=cwd
    )
    return [line for line in done.stdout.splitlines() if line]


@needs_bash
def test_bash(capsys, tmp_path):
    script = printed("bash", capsys)
    checked = subprocess.run(
        [BASH, "-n"], input=script, capture_output=True, text=True, check=False
    )
    assert (checked.returncode, checked.stderr) == (0, "")
    assert completed(script, "lops", "co") == ["compare", "completion"]
    assert completed(script, "lops", "") == [*COMMANDS, "--help", "--version"]
    assert completed(script, "lops", "select", "--ke") == ["--keep-out"]
    assert completed(script, "lops", "select", "a.csv", "--rule", "r") == ["released", "ranked"]
    for command in ("select", "compare"):
        assert completed(script, "lops", command, "--probe", "", cwd=tmp_path) == [
            "auto",
            "linear",
            "minilm",
        ]
    assert completed(script, "lops", "compare", "--methods", "lops-") == ["lops-batch"]
    assert completed(script, "lops", "compare", "--methods", "lops,ma") == ["lops,margin"]
    assert completed(script, "lops", "select", "--confidence", "m") == ["mc-dropout", "margin"]
    assert completed(script, "lops", "select", "--format", "") == ["csv", "tsv", "jsonl", "parquet"]
    assert completed(script, "lops", "patch", "west") == ["westclass"]
    assert completed(script, "lops", "completion", "") == ["bash", "zsh", "fish"]
    (tmp_path / "news.csv").touch()
    (tmp_path / "old news.csv").touch()
    assert completed(script, "lops", "select", "ne", cwd=tmp_path) == ["news.csv"]
    assert completed(script, "lops", "select", "ol", cwd=tmp_path) == ["old news.csv"]
    for option in ("--output", "--keep-out", "--force", "--probe"):
        assert completed(script, "lops", "select", "news.csv", option, "ne", cwd=tmp_path) == [
            "news.csv"
        ]
    for option in ("--text", "--label", "--gold", "--id", "--tau", "--seed", "--rule"):
        assert completed(script, "lops", "select", "news.csv", option, "ne", cwd=tmp_path) == []
    assert completed(script, "lops", "completion", "ne", cwd=tmp_path) == []


def test_zsh_runs_bashs(capsys):
    bash, zsh = printed("bash", capsys), printed("zsh", capsys)
    assert zsh.startswith("autoload -Uz bashcompinit && bashcompinit\n")
    assert zsh.endswith(bash)


def test_fish(capsys):
    lines = printed("fish", capsys).splitlines()
    assert all(
        line.startswith("complete -c lops ") and line.count("'") % 2 == line.count("\\'") % 2
        for line in lines
    )
    for name in COMMANDS:
        assert any(f"-a {name} " in line for line in lines)
    assert any(
        "from select' -l rule -r -f -a 'released algorithm1 stop-and-take-all ranked'" in line
        for line in lines
    )
    assert any("from select' -l probe -r -a 'auto linear minilm' -d " in line for line in lines)
    assert any("from select' -l text -r -f -d " in line for line in lines)
    assert any("from select' -l keep-out -r -d " in line for line in lines)
    assert any("from compare' -l methods -r -f -a '" in line for line in lines)
    assert any("from patch' -f -a 'conwea xclass westclass lotclass'" in line for line in lines)


@pytest.mark.skipif(FISH is None, reason="there is no fish")
@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("lops co", ["compare", "completion"]),
        ("lops select --rule r", ["ranked", "released"]),
        ("lops compare --methods lops,ma", ["lops,margin"]),
        ("lops select --text ne", []),
        ("lops select --keep-out ne", ["news.csv"]),
        ("lops patch west", ["westclass"]),
    ],
)
def test_fish_takes_it(capsys, tmp_path, line, found):
    (tmp_path / "news.csv").touch()
    (tmp_path / "lops.fish").write_text(printed("fish", capsys), encoding="utf-8")
    asked = [FISH, "--no-config", "-c", f"source lops.fish; complete -C '{line}'"]
    done = subprocess.run(asked, capture_output=True, text=True, check=True, cwd=tmp_path)
    assert done.stderr == ""
    assert [answer.split("\t")[0] for answer in done.stdout.splitlines()] == found


@pytest.mark.parametrize("name", COMMANDS)
def test_every_help_ends_with_examples_that_parse(name):
    module = import_module(f"lops_adapters.cli.{name}")
    parser = module.parser()
    text = parser.format_help()
    examples = import_module(module.parser.__module__).EXAMPLES
    assert text.rstrip().endswith(examples)
    lines = [line.split(" #")[0] for line in examples.splitlines()[1:]]
    assert lines
    for line in lines:
        command, _, rest = line.partition(f"lops {name}")
        assert command.strip() in ("", "source <("), line
        words = rest.replace("'", "").split(" > ")[0].strip().rstrip(")").split()
        parser.parse_args(words)
