"""Gold labels reach the evaluation, an arm that is defined by them, and nothing else."""

import ast
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

from lops_adapters.report.framework_page import arm_table
from lops_adapters.runs.framework import FRAMEWORKS

from ..framework_checks import assert_same_but_measurements, measured, metrics_of, stripped, uses


@pytest.fixture(scope="module")
def gold_runs(stand, whole, tmp_path_factory):
    """The metrics of all blind arms: with gold labels, with permuted ones and without any."""
    folder = tmp_path_factory.mktemp("gold")
    permuted = np.random.default_rng(1).permutation(np.array(stand.labels, dtype=object)).tolist()
    paths, arms = {"true": whole.path}, ",".join(stand.case.blind)
    for name, labels in (("permuted", permuted), ("without", None)):
        data = stand.write(folder / name / "toy", stand.texts, labels)
        with stand.case.small():
            status, _, err = stand.command(folder / name / "run", "--arms", arms, data=data)
        assert status == 0, err
        paths[name] = folder / name / "run"
    return paths


def metrics(path, case):
    """The metrics without the arms that are defined by gold labels."""
    stored = metrics_of(path)
    return {**stored, "arms": {arm: stored["arms"][arm] for arm in case.blind}}


@pytest.mark.slow
@pytest.mark.parametrize("other", ["permuted", "without"])
def test_other_gold_labels_change_nothing_but_the_measurements(gold_runs, case, other):
    assert_same_but_measurements(gold_runs[other], gold_runs["true"], case.blind)
    one, wanted = (metrics(gold_runs[name], case) for name in (other, "true"))
    assert stripped(one) == stripped(wanted)


@pytest.mark.slow
def test_without_gold_labels_the_measurements_are_null(gold_runs, case):
    without, true = (measured(metrics(gold_runs[name], case)) for name in ("without", "true"))
    assert without == [None] * len(true)
    assert any(value is not None for value in true)
    lines = arm_table(metrics(gold_runs["without"], case)).splitlines()
    assert not [line for line in lines if "%" in line]


@pytest.mark.slow
def test_permuted_gold_labels_change_the_measurements(gold_runs, case):
    permuted, true = (metrics(gold_runs[name], case) for name in ("permuted", "true"))
    assert measured(permuted) != measured(true)
    for arm in case.blind:
        assert permuted["arms"][arm]["micro_f1"] < true["arms"][arm]["micro_f1"]


def sources(case):
    """The syntax trees of a framework, by file."""
    module = Path(import_module(FRAMEWORKS[case.name].module).__file__)
    files = [module.parent / name for name in case.files] or sorted(module.parent.glob("*.py"))
    return {path.name: ast.parse(path.read_text(encoding="utf-8")) for path in files}


def test_one_insertion_point(case):
    """The selector is made in one place, ``run_arm``, and called in one (or those of the row)."""
    trees = sources(case)
    made = {
        file: [node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)]
        for file, tree in trees.items()
    }
    place = case.files[0] if case.files else "pipeline.py"
    assert [file for file, attributes in made.items() if "selector" in attributes] == [place]
    assert made[place].count("selector") == 1
    found = {}
    for name in ("selector", "at_rows", "at_refresh"):
        for tree in trees.values():
            for function in uses(tree, name):
                found[function] = found.get(function, 0) + 1
    assert found == dict(case.selects)


def test_nothing_else_chooses_pseudo_labels(case):
    trees = sources(case).values()
    for name in ("build", "score", "Lops", "LearningOrder"):
        imported = [
            alias.name
            for tree in trees
            for node in ast.walk(tree)
            if isinstance(node, ast.ImportFrom)
            and (node.module or "").startswith(("lops_adapters.selection", "lops_adapters.core"))
            for alias in node.names
        ]
        assert name not in imported
    keeping = [function for tree in trees for function in uses(tree, "keep_all")]
    assert {function: keeping.count(function) for function in keeping} == dict(case.keep_all)
