"""A package of somebody else brings a method, a member and a framework; commands take them."""

import configparser
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import lops_adapters
from lops_adapters.__main__ import main
from lops_adapters.core import LopsError
from lops_adapters.runs.framework import FRAMEWORKS
from lops_adapters.selection.committee.member_table import MEMBERS
from lops_adapters.selection.method_table import METHODS
from lops_adapters.testing import check_member, check_method, noisy_texts

from ..noisy import read_table, write_table

PACKAGE = Path(__file__).parent / "lops_toy"
TEXTS, LABELS, _ = noisy_texts(60)


@pytest.fixture
def installed(tmp_path):
    """Put the package where pip would, with other entry points where asked."""

    def install(name="lops-toy", points=None, code=None):
        site = tmp_path / "site"
        settings = configparser.ConfigParser()
        settings.read(PACKAGE / "setup.cfg")
        groups = points or dict(settings["options.entry_points"])
        about = site / f"{name.replace('-', '_')}-1.0.dist-info"
        about.mkdir(parents=True)
        (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        lines = [f"[{group}]\n{text.strip()}\n" for group, text in groups.items()]
        (about / "entry_points.txt").write_text("\n".join(lines))
        (site / "lops_toy.py").write_text(code or (PACKAGE / "lops_toy.py").read_text())
        return site

    return install


def run(site, folder, *words):
    """Run Python with the package; returns status, output and errors."""
    path = os.pathsep.join([str(site), *filter(None, [os.environ.get("PYTHONPATH")])])
    done = subprocess.run(
        [sys.executable, *map(str, words)],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
        timeout=200,
    )
    return done.returncode, done.stdout, done.stderr


@pytest.fixture
def here(tmp_path, monkeypatch):
    """Put a package among those of this process, and stand in the test's folder."""

    def enter(site):
        monkeypatch.chdir(tmp_path)
        monkeypatch.syspath_prepend(site)
        for table in (METHODS, MEMBERS, FRAMEWORKS):
            monkeypatch.setattr(table, "_rows", dict(table._rows))
            monkeypatch.setattr(table, "_loaded", False)

    yield enter
    for name in ("lops_toy", "other"):
        sys.modules.pop(name, None)


LOPS = ("-m", "lops_adapters.cli.main")


@pytest.fixture
def table(tmp_path):
    write_table(tmp_path / "a.csv", zip(LABELS, TEXTS, strict=True), ["label", "text"])
    return ["a.csv", "--text", "text", "--label", "label", "--quiet"]


def test_a_method_in_the_command(installed, tmp_path, table):
    more = ["--method", "shortest", "--keep", "0.25"]
    status, out, err = run(installed(), tmp_path, *LOPS, "select", *table, *more)
    assert status == 0, err
    assert "\nMethod: shortest. Kept: the fraction 0.25 with the fewest characters.\n" in out
    kept = [len(row["text"]) for row in read_table(tmp_path / "a-lops" / "kept.csv")]
    assert len(kept) == 15
    assert max(kept) == sorted(map(len, TEXTS))[14]
    config = json.loads((tmp_path / "a-lops" / "config.json").read_text())
    assert config["settings"]["method"] == "shortest"


def test_a_member_in_the_command(installed, here, tmp_path, table):
    here(installed())
    assert main(["select", *table, "--encoder", "none", "--probe-rows", "30"]) == 0
    out = (tmp_path / "a-lops" / "report.html").read_text(encoding="utf-8")
    first = "Members: TF-IDF + logistic regression, neighbours by LSA, the first word."
    assert first in out
    assert "neighbours (LSA)" in out
    assert "first word" in out.partition("labels preferred by")[2][:400]


def test_an_arm_of_a_framework(installed, here, tmp_path):
    here(installed())
    options = ["--dataset", "demo", "--max-docs", "120", "--classifier", "linear"]
    more = ["--arms", "standard,lops,shortest", "--iterations", "1", "--quiet", "--output", "run"]
    assert main(["self_training", *options, *more]) == 0
    metrics = json.loads((tmp_path / "run" / "metrics.json").read_text())
    first = metrics["arms"]["shortest"]["iterations"][0]
    assert first["rule"] == "shortest"
    assert 0 < first["selected"] < first["pseudo_labels"]


def test_its_own_tests(installed, here):
    """The checks of this package, from outside."""
    here(installed())
    import lops_toy

    check_method("shortest")
    check_member(lops_toy.FIRST_WORD)


DOCS = Path(__file__).parents[2] / "docs"
FRAMEWORK, TOML, CHECK = re.findall(
    r"```(?:python|toml)\n(.*?)```", (DOCS / "framework.md").read_text(encoding="utf-8"), re.DOTALL
)


@pytest.fixture
def framework(installed):
    """The package of docs/framework.md, from its blocks."""
    group, point = re.search(r'^\[project.entry-points."(.*?)"\]\n(.*?)\n', TOML, re.M).groups()
    return installed("lops-toy", {group: point.replace('"', "")}, FRAMEWORK)


def test_a_framework_in_the_command(framework, here, capsys):
    here(framework)
    options = ["--max-docs", "100", "--keep", "0.5", "--arms", "standard,lops", "--quiet"]
    assert main(["toy", *options]) == 0
    assert "Labels: runs/toy-demo-quick-seed0/predictions.csv" in capsys.readouterr().out
    assert lops_adapters.load("runs/toy-demo-quick-seed0").predict(["a goal"]) == ["sports"]


def test_the_check_of_a_framework(framework, here, tmp_path):
    here(framework)
    names = {}
    exec(CHECK, names)
    names["test_the_toy"](tmp_path / "new")


def test_the_toy_of_the_suite_is_the_one_of_the_page():
    toy = (DOCS.parent / "tests" / "frameworks" / "toy.py").read_text(encoding="utf-8")
    assert toy.partition('"""\n\n')[2] == FRAMEWORK


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("lops_toy:ToySettings", "wanted an instance of Framework with the name 'toy'"),
        ("lops_toy:NONE", "cannot be loaded (AttributeError: module 'lops_toy' has no attribute"),
    ],
)
def test_a_broken_framework_is_refused(installed, tmp_path, value, words):
    site = installed("lops-toy", {"lops_adapters.frameworks": f"toy = {value}"}, FRAMEWORK)
    status, out, err = run(site, tmp_path, *LOPS, "toy", "--help")
    assert (status, out) == (2, ""), err
    assert words in err


OTHER = """
from dataclasses import replace
from lops_toy import FIRST_WORD, SHORTEST
RANDOM = replace(SHORTEST, name='random')
TOPICS = replace(FIRST_WORD, name='topics')
"""
CLASH = (
    "the method 'random' of other (random = other:RANDOM) has the name of another one; "
    "give it another name, or uninstall one of the two packages"
)


def test_a_clashing_package_in_the_command(installed, tmp_path, table):
    points = {"lops_adapters.methods": "a = lops_toy:SHORTEST\nrandom = other:RANDOM"}
    site = installed("other", points)
    (site / "other.py").write_text(OTHER)
    status, out, err = run(site, tmp_path, *LOPS, "select", *table, "--encoder", "none")
    assert (status, out) == (2, ""), err
    assert err.startswith("error: ")
    assert CLASH in err
    assert "Traceback" not in err


@pytest.mark.parametrize(
    ("kind", "point", "words"),
    [
        ("method", "random = other:RANDOM", CLASH),
        (
            "method",
            "a = lops_toy:FIRST_WORD",
            "the method of other (a = lops_toy:FIRST_WORD) is MemberFactory(name='first word', ",
        ),
        (
            "method",
            "a = lops_toy:ABSENT",
            "the method of other (a = lops_toy:ABSENT) cannot be loaded (AttributeError: module "
            "'lops_toy' has no attribute 'ABSENT'); repair or uninstall the package",
        ),
        (
            "member",
            "a = other:TOPICS",
            "the member 'topics' of other (a = other:TOPICS) has the name of another one",
        ),
    ],
)
def test_clashing_and_broken_packages_are_refused(installed, here, kind, point, words):
    site = installed("other", {f"lops_adapters.{kind}s": point})
    (site / "other.py").write_text(OTHER)
    here(site)
    for _ in range(2):
        with pytest.raises(LopsError, match=re.escape(words)):
            len({"method": METHODS, "member": MEMBERS}[kind])
