"""The framework table on equal terms: its cells, its verdicts, what is missing."""

import pytest

from benchmarks.pages import equal

from .stored import about, write_result

COMMAND = "python -m lops_adapters.conwea --dataset agnews --max-docs 2000"


@pytest.fixture
def measured(results):
    """Write the result of a cell, given the macro-F1 of its arms in percent."""

    def write(name, data, seed, **arms):
        of = about(data, seed)
        of["dataset"]["documents"] = 2000
        stages = {
            arm: [{"macro_f1": 0.5}, {"macro_f1": score / 100}] for arm, score in arms.items()
        }
        runs = {arm.replace("_", "-"): {"iterations": each} for arm, each in stages.items()}
        path = results / "equal" / f"{name}-seed{seed}.json"
        write_result(path, {"arms": runs}, of)

    return write


def only():
    *_, cell = equal.cells()
    return cell


def test_a_difference_counts_beyond_the_spread_over_seeds_and_documents(measured):
    measured("conwea-agnews-2000", "agnews", 0, standard=80.0, lops=83.0, committee=80.5)
    assert only().verdict("lops", "standard") == ("better", pytest.approx(0.03))
    assert only().verdict("committee", "standard") == ("level", pytest.approx(0.005))
    assert only().verdict("committee", "lops") == ("worse", pytest.approx(-0.025))
    assert only().verdict("lops", "random-of-lops") is None
    first, _ = equal.cells()  # after one training, all arms are at 50
    assert first.verdict("lops", "standard") == ("level", 0)
    measured("conwea-agnews-2000", "agnews", 1, standard=84.0, lops=79.0)
    assert only().verdict("lops", "standard") == ("level", pytest.approx(-0.01))  # by its spread
    assert only().verdict("committee", "standard") == ("level", pytest.approx(0.005))  # one seed


def test_the_places_of_a_framework_share_its_standard(measured):
    measured("westclass-debian-2000", "debian", 0, standard=50.0, lops=51.0, lops_documents=52.0,
             committee_documents=60.0)  # fmt: skip
    first, second = equal.cells()
    assert (first.place, second.place) == ("pseudo", "predictions")
    assert first.scores("lops") == {0: 0.51}
    assert first.scores("committee") == {}
    assert second.scores("lops") == {0: 0.52}
    assert first.scores("standard") == second.scores("standard")
    assert equal.scores().text == "Not measured yet."
    assert "| WeSTClass | predictions | Debian | 1 x 2,000 | 50.0 | 52.0 |" in (
        equal.scores(unseen=True).text
    )


def test_all_documents_of_xclass_share_the_committee_of_its_confident_half(measured):
    measured("xclass-agnews-2000", "agnews", 0, standard=80.0, committee=85.0, random=81.0)
    measured("xclass-all-agnews-2000", "agnews", 0, standard=78.0, lops=79.0)
    half, whole = equal.cells()
    assert [half.scores("standard"), whole.scores("standard")] == [{0: 0.8}, {0: 0.78}]
    assert half.scores("committee") == whole.scores("committee") == {0: 0.85}
    assert half.verdict("committee", "random") == ("better", pytest.approx(0.04))
    assert whole.verdict("committee", "random") is None  # counted once
    lines = equal.counts().text.splitlines()
    assert lines[2] == (
        "| `lops` | standard | 0 better, 1 level, 0 worse (mean +1.0) "
        "| 0 better, 0 level, 0 worse |"
    )


@pytest.mark.usefixtures("results")
def test_what_is_not_measured_is_named():
    text = equal.missing().text
    assert text.startswith("Missing: seeds 0, 1, 2 of `xclass-agnews-2000`, ")
    assert "`lotclass-20news-fine-1000`" in text
