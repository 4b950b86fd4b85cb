"""What an arm makes of a selection."""

import shutil

import numpy as np

from lops_adapters.runs.job import Job

from ..framework_checks import assert_learnt_at, metrics_of
from ..framework_tools import kept_by, read_rows


def test_tables_say_when_each_was_learnt(stand, whole):
    rows = read_rows(whole.path / "lops" / "selection-0.csv")
    assert_learnt_at(rows, stand.case.probe_epochs)
    assert any(row["learnt_at"] for row in rows)


def test_where_nothing_is_kept_the_arm_is_the_standard_one(stand, whole, tmp_path, monkeypatch):
    """Training then takes all samples, as a warning says."""
    usual, output = Job.selector, tmp_path / "run"

    def selector(job, method, probe, **options):
        if method == "standard":
            return usual(job, method, probe, **options)
        return lambda samples, labels: kept_by(np.zeros(len(samples), bool), samples, labels)

    shutil.copytree(whole.path, output)
    for file in (output / "work").glob("lops-*.npz"):
        file.unlink()
    monkeypatch.setattr(Job, "selector", selector)
    status, _, err = stand.command(output, "--arms", "standard,lops", "--resume")
    assert status == 0, err
    assert "of fewer than two classes; this training takes all" in err
    standard, lops = (metrics_of(output)["arms"][arm] for arm in ("standard", "lops"))
    first = lops["iterations"][0]
    assert (first["selected"], first["selected_noise"], first["rule"]) == (0, None, "every-second")
    tables = [(output / arm / "predictions.csv").read_bytes() for arm in ("standard", "lops")]
    assert tables[0] == tables[1]
    assert lops["micro_f1"] == standard["micro_f1"]
