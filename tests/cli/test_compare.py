"""``lops compare`` and ``lops report``: measured after the selections, rewritten alike."""

import json

import numpy as np
import pytest

from lops_adapters.cli import compare, report
from lops_adapters.cli import select as select_command
from lops_adapters.cli.compare import USUAL, known, read_methods
from lops_adapters.core import LopsError
from lops_adapters.evaluation import (
    area_under_noise_coverage,
    detection,
    noise,
    noise_coverage_curve,
    noise_of_best,
)
from lops_adapters.selection import METHODS, build

from ..noisy import noisy_rows, write_table

ROWS = noisy_rows()
OPTIONS = ["--text", "text", "--label", "weak", "--gold", "true", "--probe", "linear", "--quiet"]


@pytest.fixture
def table(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return write_table(tmp_path / "news.csv", ROWS)


def run(*arguments):
    return compare.main([*map(str, arguments), *OPTIONS])


def test_methods_are_measured_as_by_hand(table, capsys):
    names = ["automatic", "probability", "standard", "stability"]
    assert run(table, "--methods", ",".join(names), "--keep", 0.6, "--seeds", 2) == 0
    texts, weak, gold = ([row[i] for row in ROWS] for i in (1, 2, 3))
    stored = json.loads((table.parent / "news-comparison" / "comparison.json").read_text())
    assert stored["n_rows"] == len(ROWS)
    assert stored["noise"] == pytest.approx(noise(weak, gold))
    found = {method["name"]: method for method in stored["methods"]}
    assert list(found) == names
    for name in ("automatic", "probability"):
        kept, after, area = [], [], []
        for seed in (0, 1):
            keep = 0.6 if METHODS[name].takes_keep else None
            selection = build(name, "linear", keep=keep, seed=seed)(texts, weak)
            kept.append(len(selection.kept))
            after.append(
                noise([weak[i] for i in selection.kept], [gold[i] for i in selection.kept])
            )
            area.append(
                area_under_noise_coverage(noise_coverage_curve(selection.confidence, weak, gold))
            )
        assert found[name]["n_kept"] == round(np.mean(kept))
        assert found[name]["noise_after"] == pytest.approx(np.mean(after))
        assert found[name]["area"] == pytest.approx(np.mean(area))
        assert found[name]["seconds"] > 0
    assert found["standard"]["area"] is None
    assert found["standard"]["noise_after"] == pytest.approx(stored["noise"])
    assert [curve["name"] for curve in stored["curves"]] == [
        "best possible",
        "automatic",
        "probability",
        "stability",
    ]
    said = capsys.readouterr().out
    lines = {line.split()[0]: line.split() for line in said.splitlines() if line}
    assert lines["standard"][1] == "120"
    assert lines["probability"][-2] == f"{found['probability']['area']:.4f}"
    assert lines["stability"][-2] == f"{found['stability']['area']:.4f}*"
    assert (
        "\narea: under the noise-coverage curve; lower is better\n"
        "* many ties: the curve begins at a larger coverage, so the area is not comparable\n"
    ) in said
    assert "many ties" in found["stability"]["note"]
    assert "many ties" not in found["probability"]["note"]
    config = json.loads((table.parent / "news-comparison" / "config.json").read_text())
    assert config["framework"] == "compare"
    assert config["settings"]["seeds"] == [0, 1]


def test_wrong_labels_found(table, capsys):
    run(table, "--methods", "probability,margin,standard,committee", "--encoder", "none")
    stored = json.loads((table.parent / "news-comparison" / "comparison.json").read_text())
    texts, weak, gold = ([row[i] for row in ROWS] for i in (1, 2, 3))
    wrong = np.array([a != b for a, b in zip(weak, gold, strict=True)])
    found = {method["name"]: method for method in stored["methods"]}
    assert stored["n_equal"] == min(method["n_kept"] for method in stored["methods"])
    for name, more in (("probability", {}), ("margin", {}), ("committee", {"encoder": None})):
        selection = build(name, "linear", **more)(texts, weak)
        expected = detection(selection.confidence, selection.mask, wrong)
        for key in ("precision", "recall", "auroc", "average_precision"):
            assert found[name][key] == pytest.approx(getattr(expected, key))
        best = noise_of_best(selection.confidence, wrong, stored["n_equal"])
        assert found[name]["noise_equal"] == pytest.approx(best)
        assert found[name]["auroc"] > 0.8
    assert (found["standard"]["precision"], found["standard"]["recall"]) == (None, 0)
    assert found["standard"]["auroc"] is None
    assert found["standard"]["noise_equal"] == pytest.approx(wrong.mean())
    said = capsys.readouterr().out
    line = next(line for line in said.splitlines() if line.startswith("margin "))
    assert f"{found['margin']['auroc']:.3f}" in line.split()
    assert f"noise at {stored['n_equal']}" in said
    assert "Members: TF-IDF + logistic regression, neighbours by LSA.\n" in said
    page = (table.parent / "news-comparison" / "report.html").read_text()
    assert "Wrong labels found" in page
    assert f"{found['committee']['average_precision']:.3f}" in page


def test_some_gold_labels_are_enough(table):
    write_table(table, [row if i % 2 else [*row[:3], ""] for i, row in enumerate(ROWS)])
    run(table, "--methods", "probability")
    stored = json.loads((table.parent / "news-comparison" / "comparison.json").read_text())
    texts, weak, gold = ([row[i] for row in ROWS] for i in (1, 2, 3))
    selection = build("probability", "linear", keep=0.5)(texts, weak)
    kept = [i for i in selection.kept if i % 2]
    assert stored["noise"] == pytest.approx(noise(weak[1::2], gold[1::2]))
    assert stored["methods"][0]["noise_after"] == pytest.approx(
        noise([weak[i] for i in kept], [gold[i] for i in kept])
    )
    area = area_under_noise_coverage(
        noise_coverage_curve(selection.confidence[1::2], weak[1::2], gold[1::2])
    )
    assert stored["methods"][0]["area"] == pytest.approx(area)


def test_gold_labels_are_looked_at_last(table, monkeypatch):
    """No selector is given any, and the number kept is the same whatever they are."""
    run(table, "--methods", "automatic,margin")
    rows = [
        [*row[:3], gold] for row, gold in zip(ROWS, reversed([row[3] for row in ROWS]), strict=True)
    ]
    run(write_table(table.parent / "turned.csv", rows), "--methods", "automatic,margin")
    first, second = (
        json.loads((table.parent / f"{name}-comparison" / "comparison.json").read_text())["methods"]
        for name in ("news", "turned")
    )
    assert [method["n_kept"] for method in first] == [method["n_kept"] for method in second]
    assert [method["noise_after"] for method in first] != [
        method["noise_after"] for method in second
    ]


def test_no_area_is_explained_where_there_is_none(table, capsys):
    run(table, "--methods", "standard")
    assert "area:" not in capsys.readouterr().out


def test_names_of_methods():
    assert set(USUAL) <= set(known()) == set(METHODS) - {"optimal"}
    for text, message in (
        ("margin,best", "'best' is unknown; wanted a comma-separated list of"),
        (" , ", "it names no method"),
        ("optimal", "'optimal'"),
    ):
        with pytest.raises(LopsError, match=message):
            read_methods(text)


def test_what_is_refused(table):
    for arguments, message in (
        (["--seeds", 0], "--seeds is 0; wanted 1 to 1,000"),
        (["--seeds", 2**32], "--seeds is 4294967296; wanted 1 to 1,000"),
        (["--seed", -1], "seed is -1; wanted a whole number, at least 0"),
        (["--keep", 2], "keep is 2.0; wanted"),
        (["--methods", "entropy,released"], "entropy needs a probe with dropout"),
    ):
        with pytest.raises(LopsError, match=message):
            run(table, *arguments)
    assert [path.name for path in table.parent.iterdir()] == ["news.csv"]
    select_command.main(
        [str(table), "--text", "text", "--label", "weak", "--encoder", "none", "--quiet"]
    )
    with pytest.raises(
        LopsError, match="news-lops was not written by lops compare, so --force does not replace it"
    ):
        run(table, "--output", "news-lops", "--force")
    run(table, "--methods", "probability")
    (table.parent / "news-comparison" / "notes.txt").write_text("by hand")
    with pytest.raises(
        LopsError,
        match=r"holds files that lops compare did not write .'notes.txt'., so --force does not",
    ):
        run(table, "--methods", "probability", "--force")


@pytest.mark.slow
def test_pages_are_written_again(table, capsys):
    select_command.main([str(table), *OPTIONS])
    run(table, "--methods", "automatic,probability")
    for name in ("news-lops", "news-comparison"):
        page = table.parent / name / "report.html"
        before = page.read_bytes()
        page.unlink()
        assert report.main([name]) == 0
        assert page.read_bytes() == before
        assert f"Report: {name}" in capsys.readouterr().out


def test_the_page_of_a_frameworks_run(tmp_path, monkeypatch, capsys):
    (tmp_path / "metrics.json").write_text("{}")
    monkeypatch.setattr(
        "lops_adapters.report.framework_page.write_report", lambda folder: folder / "page"
    )
    assert report.main([str(tmp_path)]) == 0
    assert capsys.readouterr().out == f"Report: {tmp_path / 'page'}\n"


def test_folders_that_are_no_runs(tmp_path):
    with pytest.raises(
        LopsError,
        match="is not a folder; wanted one written by lops select, lops compare or a framework",
    ):
        report.main([str(tmp_path / "nothing")])
    with pytest.raises(LopsError, match=r"holds no summary.json, comparison.json or metrics.json"):
        report.main([str(tmp_path)])
    (tmp_path / "summary.json").write_text("{")
    with pytest.raises(LopsError, match=r"summary.json is damaged .*; run the command"):
        report.main([str(tmp_path)])
    (tmp_path / "summary.json").write_text("{}")
    with pytest.raises(LopsError, match="SelectionPage"):
        report.main([str(tmp_path)])
    assert not (tmp_path / "report.html").exists()
