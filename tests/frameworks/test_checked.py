"""``--checked`` in every framework: the committee learns from it, and the noise is measured."""

import csv
import json

import pytest

from lops_adapters.datasets import load_dataset as load
from lops_adapters.selection.committee import committee

from ..framework_checks import assert_not_resumed, metrics_of
from ..framework_tools import read_rows

pytestmark = pytest.mark.slow


def write_checked(path, stand, count):
    """Check documents: their gold labels, and one of no class."""
    ids = load(stand.data, quiet=True).corpus.ids
    said = ["-", *stand.labels[1:count]]
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([("id", "label"), *zip(ids, said, strict=False)])
    return dict(zip(ids, said, strict=False))


def test_a_run_with_checked_documents(stand, case, tmp_path, monkeypatch):
    given, usual = [], committee.Committee.__call__

    def noted(self, labelled, choice):
        given.append(labelled.checked_labels)
        return usual(self, labelled, choice)

    monkeypatch.setattr(committee.Committee, "__call__", noted)
    arm = "committee-documents" if case.name in ("lotclass", "westclass") else "committee"
    file, path = tmp_path / "mine.csv", tmp_path / "run"
    checked = write_checked(file, stand, 40)
    with case.small():
        status, out, err = stand.command(path, "--arms", arm, "--checked", file)
        assert status == 0, err
        assert ", 40 documents checked by a person" in out
        assert "noise by checked rows" in out
        metrics = metrics_of(path)
        assert metrics["checked_rows"] == 40
        rates = [row.get("checked_noise") for row in metrics["arms"][arm]["iterations"]]
        assert any(rate["low"] <= rate["value"] <= rate["high"] for rate in rates if rate)
        assert given[0]
        assert set(given[0].values()) <= {*stand.labels, None}
        table = sorted((path / arm).glob("selection*.csv"))[-1]
        for row in read_rows(table):
            if case.name != "lotclass" and row["id"] in checked and given[-1]:
                label = row.get("corrected", row["pseudo_label"])
                assert (row["selected"] == "1") == (label == checked[row["id"]])
        assert "Wrong pseudo-labels per class" in (path / "report.html").read_text(encoding="utf-8")
        write_checked(file, stand, 39)
        status, _, err = stand.command(path, "--arms", arm, "--checked", file, "--resume")
        assert_not_resumed(status, err, "settings.checked = ")


@pytest.mark.parametrize("case", ["toy"], indirect=True)
def test_the_file_in_the_folder_of_the_data(stand, tmp_path):
    data = stand.write(tmp_path / "toy", stand.texts, stand.labels)
    (data / "checked.csv").write_text("id,label,checked\nd0,law,\n", encoding="utf-8")
    status, _, err = stand.command(tmp_path / "run", data=data)
    assert status == 2
    assert "checked.csv: no row is checked yet; fill in the column checked" in err
    assert json.dumps(str(data))[1:-1] in err
