"""A package of somebody else brings a method, a member and a framework; commands take them."""

import configparser
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from lops_adapters.core import LopsError
from lops_adapters.registry import Registry
from lops_adapters.selection.committee.member_table import MEMBERS, MemberFactory
from lops_adapters.selection.method_table import METHODS, Method
from lops_adapters.testing import noisy_texts

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


def test_a_member_in_the_command(installed, tmp_path, table):
    more = ["--encoder", "none", "--probe-rows", "30"]
    status, _, err = run(installed(), tmp_path, *LOPS, "select", *table, *more)
    assert status == 0, err
    out = (tmp_path / "a-lops" / "report.html").read_text(encoding="utf-8")
    first = "Members: TF-IDF + logistic regression, neighbours by LSA, the first word."
    assert first in out
    assert "neighbours (LSA)" in out
    assert "first word" in out.partition("labels preferred by")[2][:400]


@pytest.mark.slow
def test_an_arm_of_a_framework(installed, tmp_path):
    options = ["--dataset", "demo", "--max-docs", "120", "--classifier", "linear"]
    more = ["--arms", "standard,lops,shortest", "--iterations", "1", "--quiet", "--output", "run"]
    command = ["-m", "lops_adapters.self_training", *options, *more]
    status, _, err = run(installed(), tmp_path, *command)
    assert status == 0, err
    metrics = json.loads((tmp_path / "run" / "metrics.json").read_text())
    first = metrics["arms"]["shortest"]["iterations"][0]
    assert first["rule"] == "shortest"
    assert 0 < first["selected"] < first["pseudo_labels"]


@pytest.mark.slow
def test_its_own_tests(installed, tmp_path):
    """The checks of this package, from outside."""
    code = "import lops_toy; from lops_adapters.testing import check_member, check_method; "
    code += "check_method('shortest'); check_member(lops_toy.FIRST_WORD); print('fine')"
    status, out, err = run(installed(), tmp_path, "-c", code)
    assert (status, out) == (0, "fine\n"), err


DOCS = Path(__file__).parents[2] / "docs"
FRAMEWORK, TOML, CHECK = re.findall(
    r"```(?:python|toml)\n(.*?)```", (DOCS / "framework.md").read_text(encoding="utf-8"), re.DOTALL
)


@pytest.fixture
def framework(installed):
    """The package of docs/framework.md, from its blocks."""
    group, point = re.search(r'^\[project.entry-points."(.*?)"\]\n(.*?)\n', TOML, re.M).groups()
    return installed("lops-toy", {group: point.replace('"', "")}, FRAMEWORK)


def test_a_framework_in_the_command(framework, tmp_path):
    options = ["--max-docs", "200", "--arms", "standard,lops,shares", "--quiet"]
    status, _, err = run(framework, tmp_path, *LOPS, "toy", *options)
    assert status == 2
    assert "'shares' is unknown" in err
    options[3] = "standard,lops"
    status, out, err = run(framework, tmp_path, "-m", "lops_adapters", "toy", *options)
    assert status == 0, err
    assert "Labels: runs/toy-demo-quick-seed0/predictions.csv" in out
    code = "import lops_adapters as l; "
    code += "print(l.load('runs/toy-demo-quick-seed0').predict(['a goal']))"
    status, out, err = run(framework, tmp_path, "-c", code)
    assert (status, out) == (0, "['sports']\n"), err
    status, out, err = run(framework, tmp_path, *LOPS, "toy", "--help")
    assert (status, out[:16]) == (0, "usage: lops toy "), err


def test_the_check_of_a_framework(framework, tmp_path):
    code = f"{CHECK}\nfrom pathlib import Path; test_the_toy(Path('here'))"
    status, _, err = run(framework, tmp_path, "-c", code)
    assert status == 0, err


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
def test_clashing_and_broken_packages_are_refused(installed, monkeypatch, kind, point, words):
    group = f"lops_adapters.{kind}s"
    site = installed("other", {group: point})
    (site / "other.py").write_text(OTHER)
    own, row_type = {"method": (METHODS, Method), "member": (MEMBERS, MemberFactory)}[kind]
    fresh = Registry(kind, group, row_type, list(own.values()))
    monkeypatch.syspath_prepend(site)
    try:
        for _ in range(2):
            with pytest.raises(LopsError, match=re.escape(words)):
                len(fresh)
    finally:
        for name in ("lops_toy", "other"):
            sys.modules.pop(name, None)
