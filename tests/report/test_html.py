import json
import re
from html.parser import HTMLParser

import pytest

from lops_adapters.core import LopsError
from lops_adapters.report.html import write_report

HOSTILE = "<script>alert('x')</script>&\"ö"
CLASS = {
    "count": 20,
    "threshold": 10,
    "learnt": 12,
    "kept": 11,
    "closed_at": 1.5,
    "why": "threshold reached",
}


def row(number, **more):
    row = {
        "iteration": number,
        "pseudo_labels": 40,
        "noise": 0.2,
        "selected": 21,
        "selected_noise": 0.05,
        "micro_f1": 0.9,
        "macro_f1": 0.85,
    }
    classes = {
        "arts": CLASS,
        "law": {**CLASS, "closed_at": None, "why": "threshold not reached, kept whole"},
    }
    return {
        **row,
        "seconds": 3.4,
        "stopped": "max_checkpoints reached",
        "per_class": classes,
        **more,
    }


def contents(name="toy", **more):
    metrics = {
        "framework": "conwea",
        "dataset": name,
        "n_documents": 72,
        "classes": ["arts", "law"],
        "pseudo_labels": {"count": 40, "noise": 0.2},
        "arms": {
            "standard": {"iterations": [row(0)]},
            "lops": {"iterations": [row(0), row(1, micro_f1=0.95)]},
        },
    }
    return {"framework": "conwea", "seed": 7, "device": "cpu", "settings": {"tau": 0.5}}, {
        **metrics,
        **more,
    }


def page(folder, config, metrics):
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
    (folder / "metrics.json").write_text(json.dumps(metrics), encoding="utf-8")
    path = write_report(folder)
    assert path == folder / "report.html"
    assert sorted(file.name for file in folder.iterdir()) == [
        "config.json",
        "metrics.json",
        "report.html",
    ]
    return path.read_text(encoding="utf-8")


class Reader(HTMLParser):
    """Collects tags, tables and text, and complains about tags that are not closed."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.open, self.rows, self.text = [], [], [], ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")
        if tag != "meta":
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data
        if self.open and self.open[-1] in ("td", "th"):
            self.rows[-1][-1] += data


def test_numbers_stand_in_the_page(tmp_path):
    reader = Reader(page(tmp_path, *contents()))
    assert reader.open == []
    assert "conwea on toy" in reader.text
    assert (
        "72 documents in 2 classes; 40 of them got a first pseudo-label, 20.0 % of these wrong. Seed 7, device cpu."
        in reader.text
    )
    iterations = [cells for cells in reader.rows if cells[0] in ("standard", "lops")]
    assert [cells[:2] for cells in iterations] == [["standard", "0"], ["lops", "0"], ["lops", "1"]]
    assert iterations[2] == ["lops", "1", "40", "20.0 %", "21", "5.0 %", "95.0 %", "85.0 %", "3"]
    assert ["arts", "20", "10", "12", "11", "1.5", "threshold reached"] in reader.rows
    assert ["law", "20", "10", "12", "11", "-", "threshold not reached, kept whole"] in reader.rows
    assert reader.text.count("What the lops arm kept") == 1
    assert "Iteration 1: max_checkpoints reached" in reader.text
    assert "What the standard arm kept" not in reader.text
    assert '"tau": 0.5' in reader.text
    assert len({len(cells) for cells in iterations}) == 1


def test_self_contained(tmp_path):
    text = page(tmp_path, *contents())
    assert text.startswith("<!doctype html>")
    assert '<meta charset="utf-8">' in text
    for outside in ("http:", "https:", "src=", "href=", "@import", "url("):
        assert outside not in text
    assert not {"script", "link", "img", "iframe"} & set(Reader(text).tags)


def test_hostile_text_is_text(tmp_path):
    config, metrics = contents(HOSTILE)
    config["device"] = config["settings"]["encoder"] = HOSTILE
    for arm in metrics["arms"].values():
        for item in arm["iterations"]:
            item["per_class"] = {HOSTILE: {**CLASS, "why": HOSTILE}}
            item["stopped"] = HOSTILE
    metrics["arms"] = {
        "standard": metrics["arms"]["standard"],
        f"lops{HOSTILE}": metrics["arms"]["lops"],
    }
    reader = Reader(page(tmp_path, config, metrics))
    assert "script" not in reader.tags
    assert any(cells[0] == HOSTILE and cells[-1] == HOSTILE for cells in reader.rows)
    assert f"conwea on {HOSTILE}" in reader.text
    assert f"What the lops{HOSTILE} arm kept" in reader.text


def test_without_gold_labels(tmp_path):
    config, metrics = contents(pseudo_labels={"count": 40, "noise": None})
    for arm in metrics["arms"].values():
        for item in arm["iterations"]:
            item.update(noise=None, selected_noise=None, micro_f1=None, macro_f1=None)
    reader = Reader(page(tmp_path, config, metrics))
    assert "40 of them got a first pseudo-label, no gold labels to compare with." in reader.text
    assert ["lops", "0", "40", "-", "21", "-", "-", "-", "3"] in reader.rows
    assert not re.search(r"\b(None|nan|null)\b", reader.text.split("Settings and versions")[0])


def test_stages_of_which_some_have_no_selection(tmp_path):
    """Samples that are not the documents, and a stage that trains on all documents."""
    first = row(0, stage="pre-training", noise=None, selected_noise=None)
    second = {
        name: value
        for name, value in row(1, stage="self-training").items()
        if name not in ("per_class", "stopped")
    }
    config, metrics = contents(pseudo_labels={"count": 40, "noise": None, "of": "pseudo documents"})
    metrics["arms"] = {arm: {"iterations": [first, second]} for arm in ("standard", "lops")}
    reader = Reader(page(tmp_path, config, metrics))
    assert (
        "72 documents in 2 classes; 40 pseudo documents were made, each with a pseudo-label. Seed 7, device cpu."
        in reader.text
    )
    assert "no gold labels" not in reader.text
    assert ["lops", "pre-training", "40", "-", "21", "-", "90.0 %", "85.0 %", "3"] in reader.rows
    assert [
        "lops",
        "self-training",
        "40",
        "20.0 %",
        "21",
        "5.0 %",
        "90.0 %",
        "85.0 %",
        "3",
    ] in reader.rows
    assert reader.text.count("Before pre-training: max_checkpoints reached") == 1
    assert "Before self-training" not in reader.text
    assert [cells[0] for cells in reader.rows].count("arts") == 1


@pytest.mark.parametrize("missing", ["config.json", "metrics.json"])
def test_no_finished_run(tmp_path, missing):
    for name in {"config.json", "metrics.json"} - {missing}:
        (tmp_path / name).write_text("{}")
    with pytest.raises(LopsError, match=f"holds no {missing}; wanted the folder of a finished run"):
        write_report(tmp_path)
    assert not (tmp_path / "report.html").exists()
