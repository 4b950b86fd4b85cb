"""What a run writes, prints and measures."""

import json
from dataclasses import fields
from fnmatch import fnmatch

import numpy as np
import pytest

from lops_adapters.datasets import load_dataset as load
from lops_adapters.testing import check_run

from ..framework_checks import metrics_of
from ..framework_tools import read_rows


def wrong(rows, column, gold):
    """The share of rows whose class is not the document's."""
    return np.mean([row[column] != gold[row["id"]] for row in rows])


@pytest.fixture
def gold(stand):
    """Ids are d0, d1, ... or the lines' numbers; the reader knows."""
    return dict(zip(load(stand.data, quiet=True).corpus.ids, stand.labels, strict=True))


def test_files(case, whole):
    common = {"config.json", "metrics.json", "report.html", "pseudo_labels.csv", "work"}
    common |= {"predictions.csv", "to_check.csv", "class_words.json"}
    assert {path.name for path in whole.path.iterdir()} == {*common, *case.arms, *case.tables}
    patterns = ("selection-*.csv", *case.arm_tables)
    tables = {name.replace("*", str(i)) for name in patterns for i in range(case.iterations)}
    for arm in case.arms:
        found = {path.name for path in (whole.path / arm).iterdir()}
        wanted = {"model", "predictions.csv", *tables}
        assert wanted <= found
        # LOTClass selects more often where it refreshes.
        assert all(fnmatch(name, "selection-*.csv") for name in found - wanted)
        stored = json.loads((whole.path / arm / "model" / "lops.json").read_text(encoding="utf-8"))
        assert stored["kind"] == case.name
    assert {path.suffix for path in (whole.path / "work").iterdir()} == {".npz"}


def test_config_says_what_the_run_was(stand, whole):
    case = stand.case
    config = json.loads((whole.path / "config.json").read_text(encoding="utf-8"))
    assert (config["framework"], config["seed"], config["device"]) == (case.name, 0, "cpu")
    assert config["command"].startswith(f"python -m lops_adapters.{case.name}")
    assert (config["dataset"]["name"], config["dataset"]["documents"]) == ("toy", len(stand.texts))
    known = {item.name for item in fields(stand.framework.settings)}
    assert set(config["settings"]) == {"preset", "max_docs", "headers", "checked", *known}
    assert config["dataset"]["names"] == {name: [name] for name in stand.case.toys.CLASSES}
    assert config["settings"]["preset"] == "quick"
    assert config["settings"]["headers"] == "keep"  # auto, for texts without headers
    for name, value in stand.framework.settings.PRESETS["quick"].items():
        if f"--{name.replace('_', '-')}" not in case.options:
            assert config["settings"][name] == value, name


def test_what_every_run_folder_holds(stand, whole, gold):
    check_run(whole.path, stand.case.name)
    stored = metrics_of(whole.path)
    assert (stored["dataset"], stored["n_documents"]) == ("toy", len(stand.texts))
    assert stored["classes"] == list(stand.case.toys.CLASSES)
    assert set(stored["arms"]) == set(stand.case.arms)
    for arm, result in stored["arms"].items():
        rows = read_rows(whole.path / arm / "predictions.csv")
        assert [row["id"] for row in rows] == list(gold)
        for row in result["iterations"]:
            assert 0 < row["micro_f1"] <= 1
            assert 0 < row["macro_f1"] <= 1
            assert row["selected"] <= row["pseudo_labels"]


def test_standard_keeps_everything_and_lops_less(stand, whole):
    for arm in stand.case.arms:
        rows = read_rows(whole.path / arm / "selection-0.csv")
        selected = [row for row in rows if row["selected"] == "1"]
        if arm == "standard":
            assert len(selected) == len(rows)
        own = whole.path / arm / "pseudo_labels-0.csv"
        if arm in ("standard", "lops") and own.exists():
            assert own.read_bytes() == (whole.path / "pseudo_labels.csv").read_bytes()
        if arm == "lops":
            assert 0 < len(selected) < len(rows)


def test_measurements_are_right(whole, gold):
    stored = metrics_of(whole.path)
    noise = stored["pseudo_labels"]["noise"]
    if noise is not None:
        rows = read_rows(whole.path / "pseudo_labels.csv")
        assert noise == pytest.approx(wrong(rows, "pseudo_label", gold))
    for arm, result in stored["arms"].items():
        rows = read_rows(whole.path / arm / "predictions.csv")
        assert result["micro_f1"] == pytest.approx(1 - wrong(rows, "predicted", gold))
        first = result["iterations"][0]
        if first["noise"] is not None:
            rows = read_rows(whole.path / arm / "selection-0.csv")
            assert first["noise"] == pytest.approx(wrong(rows, "pseudo_label", gold))
            kept = [row for row in rows if row["selected"] == "1"]
            assert first["selected_noise"] == pytest.approx(wrong(kept, "pseudo_label", gold))


def test_what_the_command_prints(stand, whole):
    title, count = stand.framework.title, len(stand.texts)
    assert f"{title} on toy: {count} documents, preset quick, seed 0" in whole.out
    rows = [line.split()[0] for line in whole.out.splitlines() if " %" in line]
    stored = metrics_of(whole.path)["arms"]
    assert rows == [arm for arm, result in stored.items() for _ in result["iterations"]]
    assert whole.out.splitlines()[-2:] == [
        f"Report: {whole.path / 'report.html'}",
        f"Run folder: {whole.path}",
    ]
    assert all(line.startswith("warning: ") for line in whole.err.splitlines())  # --quiet
    page = (whole.path / "report.html").read_text(encoding="utf-8")
    assert all(arm in page for arm in stand.case.arms)


@pytest.mark.parametrize("case", ["toy"], indirect=True)
def test_several_seeds_and_the_log(stand, few, tmp_path):
    options = stand.options(tmp_path / "run", "--arms", "standard", data=few)
    options.remove("--quiet")
    size = stand.case.documents[1] - 1
    more = ["--seed", "5", "--seeds", "2", "--max-docs", str(size)]
    status, out, err = stand.main(*options, *more)
    assert status == 0, err
    heads = [f"{size} documents, preset quick, seed {seed}" for seed in (4, 5, 6, 7)]
    assert [head in out for head in heads] == [False, True, True, False]
    assert sorted(path.name for path in (tmp_path / "run").iterdir()) == ["seed5", "seed6"]
    assert [line for line in err.splitlines() if not line.startswith("warning: ")]  # the log
    stored = [
        json.loads((tmp_path / "run" / name / "config.json").read_text(encoding="utf-8"))
        for name in ("seed5", "seed6")
    ]
    assert [config["seed"] for config in stored] == [5, 6]
    sums = [config["dataset"]["sha256"] for config in stored]
    assert sums[0] != sums[1]  # each seed draws its own sample


def test_a_run_on_local_data_opens_no_connection(whole):
    assert whole.connections == []
