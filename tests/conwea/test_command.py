"""Bad input through the command: one clear line on standard error, exit status 2, before any long
work.
"""

import json

import pytest

from ..framework_checks import metrics_of
from ..framework_tools import write_folder
from .toys import SEEDS, documents

TEXTS, LABELS = documents(30)


def test_options_that_cannot_work(refuse, good):
    words = "every is 21, and the probe makes 4 updates on 30 pseudo-labelled documents;"
    refuse(good, "--every 21 --probe linear", words)


DATA = {
    "no seed words": (
        TEXTS[:2],
        ["arts", "law"],
        None,
        [
            "no seed words, which ConWea needs; write seeds.json, a few words per class, next to "
            'the data: {"arts": ["arts"], "law": ["law"]}'
        ],
    ),
    "one class labelled": (
        TEXTS,
        None,
        {"arts": ["gallery"], "sport": ["rugby"]},
        [
            "all for ['arts']; wanted at least two classes",
            "seed words that occur for sport",
            "warning: seed words that the corpus lacks",
        ],
    ),
    "only stop words": (["the and", "of!"], None, SEEDS, ["found no word in 2 documents"]),
}


@pytest.mark.parametrize("what", DATA)
def test_data_that_cannot_work(refuse, tmp_path, what):
    texts, labels, seeds, words = DATA[what]
    refuse(write_folder(tmp_path / "data", texts, labels, seeds), "", words, may_warn=True)


def test_odd_data_that_work(run, tmp_path):
    """An empty document, a document of stop words, a seed of two words, a class whose seeds nobody
    uses, names that need quotes.
    """
    seeds = {
        'arts, "fine"': ["gallery", "oil painting"],
        "<law>": ["judge", "court"],
        "sport": ["match"],
        "ödland": ["heath"],
    }
    names = dict(zip(SEEDS, seeds, strict=False))
    texts, labels = [*TEXTS, "", "the of"], [*(names[label] for label in LABELS), "ödland", "sport"]
    status, out, err = run(write_folder(tmp_path / "data", texts, labels, seeds), "--arms lops")
    assert status == 0, err
    lines = err.splitlines()
    assert lines[0] == (
        "warning: seed words that the corpus lacks: ödland: heath; no pseudo-label can be "
        "made for ödland"
    )
    few = ("nothing was learnt", "lops, iteration", "the selection keeps 13")
    begun = tuple(f"warning: {said}" for said in few)
    assert [line for line in lines[1:] if not line.startswith(begun)] == []
    metrics = metrics_of(tmp_path / "run")
    assert metrics["classes"] == sorted(seeds)
    assert metrics["arms"]["lops"]["iterations"][0]["classes_without_pseudo_labels"] == ["ödland"]
    assert f"{'lops':8s}" in out
    lines = (tmp_path / "run" / "lops" / "predictions.csv").read_text(encoding="utf-8").splitlines()
    assert len(lines) == 33
    initial = json.loads((tmp_path / "run" / "lops" / "seeds.json").read_text(encoding="utf-8"))[0]
    assert any(word.startswith("oil_painting") for word in initial['arts, "fine"'])
