import json
import re

from lops_adapters.report.framework_page import arm_table, caution, write_report

from .examples import Reader

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


def test_the_table_of_a_run():
    unknown = row(1, noise=None, selected_noise=None, micro_f1=None, macro_f1=None)
    arms = {"standard": {"iterations": [row(0)]}, "lops": {"iterations": [row(0), unknown]}}
    lines = arm_table({"arms": arms}).split("\n")
    assert [line.split()[:2] for line in lines[1:]] == [
        *(["standard", "0"], ["lops", "0"], ["lops", "1"])
    ]
    assert " ".join(lines[1].split()) == "standard 0 40 20.0 % 21 5.0 % 90.0 % 85.0 % 3"
    assert " ".join(lines[3].split()) == "lops 1 40 - 21 - - - 3"
    assert len({len(line) for line in lines}) == 1
    assert lines == [line.rstrip() for line in lines]


def test_which_differences_mean_nothing():
    arms = {"lops": {"iterations": [row(0)]}}
    said = "One seed of 400 documents: differences below 5.0 points mean nothing."
    assert caution({"arms": arms, "n_documents": 400}) == [said]
    arms = {"lops": {"iterations": [row(0, macro_f1=None)]}}
    assert caution({"arms": arms, "n_documents": 400}) == []


def test_numbers_stand_in_the_page(tmp_path):
    text = page(tmp_path, *contents())
    assert text.startswith("<!doctype html>")
    assert '<meta charset="utf-8">' in text
    assert not re.search(r"https?:|src=|href=|@import|url\(", text)  # self-contained
    reader = Reader(text)
    assert not {"script", "link", "img", "iframe"} & reader.names
    assert reader.open == []
    assert "conwea on toy" in reader.text
    assert (
        "72 documents in 2 classes; 40 documents got an initial pseudo-label, "
        "20.0 % of them wrong. Seed 7, device cpu." in reader.text
    )
    iterations = [cells for cells in reader.rows if cells[0] in ("standard", "lops")]
    assert [cells[:2] for cells in iterations] == [["standard", "0"], ["lops", "0"], ["lops", "1"]]
    assert iterations[2] == ["lops", "1", "40", "20.0 %", "21", "5.0 %", "95.0 %", "85.0 %", "3"]
    assert ["arts", "20", "10", "12", "11", "1.5", "threshold reached"] in reader.rows
    assert ["law", "20", "10", "12", "11", "-", "threshold not reached, kept whole"] in reader.rows
    assert reader.text.count("What the lops arm kept") == 1
    assert "Iteration 1: max_checkpoints reached" in reader.text
    assert "What the standard arm kept" not in reader.text
    assert ["settings.tau", "0.5"] in reader.rows
    assert len({len(cells) for cells in iterations}) == 1


def test_the_labels_of_a_run(tmp_path):
    page(tmp_path, *contents())
    (tmp_path / "predictions.csv").write_text(
        "id,predicted,probability\n1,law,0.9\n2,arts,0.8\n3,law,0.7\n4,law,0.6\n"
    )
    reader = Reader(write_report(tmp_path).read_text(encoding="utf-8"))
    assert ["arts", "1"] in reader.rows  # no words and no texts are there: no empty columns
    assert "Check ten documents" not in reader.text
    (tmp_path / "class_words.json").write_text('{"law": ["court", "judge"], "arts": []}')
    (tmp_path / "to_check.csv").write_text(
        f"id,label,checked,text\n3,arts,,{HOSTILE}\n4,law,,A judge.\n", encoding="utf-8-sig"
    )
    reader = Reader(write_report(tmp_path).read_text(encoding="utf-8"))
    assert ["law", "3", "court, judge", "A judge."] in reader.rows
    assert "--checked to_check.csv" in reader.text
    assert ["law", "A judge."] in reader.rows
    assert ["arts", "1", "", ""] in reader.rows
    assert "script" not in reader.names
    lines = "id;label;checked;text\r\n4;law;arts;Ein Mädchen.\r\n"  # as a spreadsheet saved it
    (tmp_path / "to_check.csv").write_text(lines, encoding="utf-16")
    assert ["law", "Ein Mädchen."] in Reader(write_report(tmp_path).read_text("utf-8")).rows
    for broken in ("id,checked\n4,arts\n", "\0", ""):
        (tmp_path / "to_check.csv").write_text(broken)
        assert "Check ten documents" not in write_report(tmp_path).read_text(encoding="utf-8")


def test_what_nobody_measured_has_no_column():
    unknown = row(0, noise=None, selected_noise=None, micro_f1=None, macro_f1=None)
    lines = arm_table({"arms": {"lops": {"iterations": [unknown]}}}).split("\n")
    assert [line.split() for line in lines] == [
        ["arm", "iteration", "pseudo-labels", "kept", "seconds"],
        ["lops", "0", "40", "21", "3"],
    ]


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
    assert "script" not in reader.names
    assert any(cells[0] == HOSTILE and cells[-1] == HOSTILE for cells in reader.rows)
    assert f"conwea on {HOSTILE}" in reader.text
    assert f"What the lops{HOSTILE} arm kept" in reader.text


def test_without_gold_labels(tmp_path):
    config, metrics = contents(pseudo_labels={"count": 40, "noise": None})
    for arm in metrics["arms"].values():
        for item in arm["iterations"]:
            item.update(noise=None, selected_noise=None, micro_f1=None, macro_f1=None)
    reader = Reader(page(tmp_path, config, metrics))
    assert (
        "40 documents got an initial pseudo-label, no gold labels to compare with." in reader.text
    )
    assert ["lops", "0", "40", "21", "3"] in reader.rows
    assert not re.search(
        r"\b(None|nan|null)\b", reader.text.split("Settings and versions of this run")[0]
    )
    assert "lops: kept21" in reader.text


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
        "72 documents in 2 classes; 40 pseudo documents were made, each with a pseudo-label. "
        "Seed 7, device cpu." in reader.text
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


def test_the_page_opens_with_the_last_macro_f1_of_each_arm(tmp_path):
    config, metrics = contents()
    metrics["arms"]["lops"]["iterations"][1].update(macro_f1=0.5, noise=0.3, selected_noise=0.1)
    reader = Reader(page(tmp_path, config, metrics))
    assert "lops: macro-F150.0 %" in reader.text
    assert "standard: macro-F185.0 %" in reader.text
    assert reader.text.index("lops: macro-F1") < reader.text.index("All numbers")


def test_seed_words_with_their_documents(tmp_path):
    config, metrics = contents()
    assert "Seed words" not in Reader(page(tmp_path, config, metrics)).text
    first = {"arts": [["paint", 12]], "law": [[HOSTILE, 3], ["court", 1200]]}
    second = {"arts": [["paint", 12], ["dance", 7]], "law": [["court", 1200]]}
    for item, words in zip(metrics["arms"]["lops"]["iterations"], (first, second), strict=True):
        item["seed_words"] = words
    (tmp_path / "report.html").unlink()
    text = page(tmp_path, config, metrics)
    reader = Reader(text)
    assert ["law", f"{HOSTILE} 3court 1,200"] in reader.rows
    assert ["arts", "paint 12dance 7"] in reader.rows
    assert "script" not in reader.names
    assert text.count('class="new"') == 1
    assert '<span class="new"><bdi dir="auto">dance</bdi></span>' in text
    assert "lops, iteration 0: 3 words" in reader.text
    assert "lops, iteration 1: 3 words" in reader.text


def test_what_is_folded(tmp_path):
    config, metrics = contents()
    for item in metrics["arms"]["lops"]["iterations"]:
        item["seed_words"] = {"arts": [["paint", 12]]}
    text = page(tmp_path, config, metrics)
    folds = re.findall(r"<details( open)?><summary>([^<]*)<", text)
    assert folds == [
        ("", "lops, iteration 0: 1 word"),
        (" open", "lops, iteration 1: 1 word"),
        ("", "What the lops arm kept, by class"),
        ("", "Settings and versions of this run"),
    ]
