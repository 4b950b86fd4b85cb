"""The tables of docs/results, rebuilt from a folder of small result files."""

import json

import pytest

from benchmarks import figures, tables
from benchmarks.pages import common, frameworks, heuristics, self_training

from .stored import about, write_result


def arm(*macro):
    rows = [
        {
            "macro_f1": value,
            "selected": 5 + number,
            "pseudo_labels": 10,
            "selected_noise": 0.1 * (1 + number),
        }
        for number, value in enumerate(macro)
    ]
    return {"micro_f1": macro[-1] + 0.1, "macro_f1": macro[-1], "iterations": rows}


def difference(value, p_value):
    return {"macro": {"difference": value, "p_value": p_value}}


def curve(coverage, noise, aunc, start=0.001):
    numbers = {
        "coverage": coverage,
        "noise": noise,
        "aunc": aunc,
        "ideal": aunc / 2,
        "from_coverage": start,
    }
    return {**numbers, "seconds": 2.0, "training": "one"}


EXAMPLES = [
    {"id": name, "pseudo_label": "a", "gold": "b", "probability": probability, "learnt_at": epoch}
    for name, probability, epoch in (("x", 0.7, 2), ("y", 0.9, None), ("z", 0.96, 2))
]
SELECTION = ("method", "rule", "tau", "every", "kept", "noise")
SOURCE = (
    "12 documents of 20news-fine, classifier linear, device cpu (P, 2 cores), seeds 0, 1, "
    "commit abcdef0123: `python -m m`"
)


@pytest.fixture
def folder(results):
    """Two seeds of one cell of each kind, under the cpu protocol."""

    def write(name, result, of):
        write_result(results / "cpu" / f"{name}.json", result, of)

    for seed in (0, 1):
        arms = {
            "standard": arm(0.3, 0.4),
            "lops": arm(0.4, 0.5 + seed / 10),
            "optimal": arm(0.7, 0.8),
        }
        result = {
            "arms": arms,
            "significance": {"lops": {"standard": difference(0.1 + seed / 10, [0.2, 0.01][seed])}},
        }
        of = about("20news-fine", seed)
        write(f"self-training-linear-20news-fine-seed{seed}", result, of)
        of_tau = about("20news-fine", seed, tau=0.5, rule="ranked")
        one = {"arms": {"lops": arm(0.6)}}
        write(f"tau-ranked-linear-20news-fine-tau0.5-seed{seed}", one, of_tau)
        shares = {"correct": [0.75, 0.25, 0.0], "wrong": [0.0, 0.5, 0.5]}
        result = {
            "pseudo_labels": {"noise": 0.3},
            "epochs": 2,
            "confidences": {
                "probability": curve([0.1, 0.5, 1.0], [0.0, 0.1, 0.3], 0.02),
                "stability": curve([0.8, 1.0], [0.2, 0.3], 0.01, 0.8),
            },
            "selections": [
                dict(zip(SELECTION, row, strict=True))
                for row in (
                    ("lops", "ranked", 0.5, "epoch", 0.5, 0.1),
                    ("automatic", None, None, f"look {seed}", 0.7, 0.15),
                )
            ],
            "distributions": {
                "learnt_at": shares,
                "probability": {"correct": [0.1] * 10, "wrong": None},
            },
            "wrong": {
                "counts": [*[[0, 0, 0]] * 2, [5, 0, 2], *[[0, 0, 0]] * 6, [0, seed, 0]],
                "examples": EXAMPLES,
            },
            "f1": [{"by": "probability", "at": 0.5, "kept": 0.5, "macro_f1": 0.6}],
        }
        write(f"curves-linear-20news-fine-seed{seed}", result, of)
    found = {"count": 1200, "coverage": 0.6, "noise": 0.25, "seconds": 1.0}
    result = {"n_documents": 2000, "classes": ["a", "b"], "heuristics": {"string-match": found}}
    source = about("nyt-fine", 0)
    del source["settings"]["classifier"]
    write("heuristics-nyt-fine", result, source)


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("name", "rows"),
    [
        (
            "cpu-f1-linear",
            [
                "| standard | - | 77.3 ± 0.27 / 76.4 ± 0.76 | 50.0 ± 0.0 / 40.0 ± 0.0 "
                "| 70.0 ± 0.30 / 69.6 ± 0.25 | - | 75.4 ± 0.64 / 75.4 ± 0.47 |",
                "| lops | - | 81.7 ± 1.00 / 80.7 ± 0.43 | 65.0 ± 5.0 / 55.0 ± 5.0 "
                "| 73.8 ± 0.61 / 72.7 ± 1.00 | - | 79.5 ± 0.86 / 79.5 ± 0.58 |",
            ],
        ),
        ("cpu-gap-linear", ["| lops | - | 37.5 ± 12.5 | - |"]),
        (
            "cpu-significance-linear",
            ["| lops - standard | - | +15.0 (1 of 2) | - |", "| optimal - standard | - | - | - |"],
        ),
        (
            "cpu-iterations-linear",
            [
                "| 20news-fine | lops | 40.0 ± 0.0 | 55.0 ± 5.0 "
                "| 50.0 ± 0.0 | 60.0 ± 0.0 | 10.0 ± 0.0 | 20.0 ± 0.0 |"
            ],
        ),
        (
            "cpu-tau",
            ["| linear | 20news-fine | ranked | 0.5 | 70.0 ± 0.0 | 60.0 ± 0.0 | 40.0 ± 0.0 |"],
        ),
        (
            "cpu-areas",
            [
                "| probability | 0.0200 ± 0.0000 |",
                "| stability | 0.0100 ± 0.0000 (from coverage 0.80; best possible 0.0050) |",
                "| best possible | 0.0100 ± 0.0000 |",
            ],
        ),
        ("cpu-seconds", ["| probability | one | 2.0 ± 0.0 |"]),
        (
            "cpu-noise",
            [
                "| linear | 20news-fine | stability | - | - | - | - | - | - | - "
                "| 20.0 ± 0.0 | 25.0 ± 0.0 | 30.0 ± 0.0 |"
            ],
        ),
        (
            "cpu-ratios",
            [
                "| linear | 20news-fine | stability | - | - | - | - | - | - | - "
                "| 0.250 ± 0.000 | 0.278 ± 0.000 | 0.300 ± 0.000 |"
            ],
        ),
        (
            "cpu-rules",
            [
                "| ranked | 0.5 | every epoch | 50.0 ± 0.0 / 10.0 ± 0.0 |",
                "| automatic | - | - | 70.0 ± 0.0 / 15.0 ± 0.0 |",
                "| everything | - | - | 100.0 / 30.0 ± 0.0 |",
            ],
        ),
        (
            "cpu-wrong",
            [
                "| linear | 20news-fine | 0.2 to 0.3 | 5.0 ± 0.0 | 0.0 ± 0.0 | 2.0 ± 0.0 |",
                "| linear | 20news-fine | 0.9 to 1.0 | 0.0 ± 0.0 | 0.5 ± 0.5 | 0.0 ± 0.0 |",
            ],
        ),
        ("cpu-epochs", ["| linear | 20news-fine | wrong | 0.0 ± 0.0 | 50.0 ± 0.0 | 50.0 ± 0.0 |"]),
        ("cpu-f1-of-best", ["| probability | 0.5 | 50.0 ± 0.0 / 60.0 ± 0.0 |"]),
    ],
)
def test_a_table_says_what_the_files_say_and_where_it_is_from(name, rows):
    block = tables.TABLES[name]()
    for row in rows:
        assert row in block.text.splitlines()
    assert common.sources(block.groups) == [SOURCE]


@pytest.mark.usefixtures("folder")
def test_heuristics_and_statistics_stand_beside_the_paper():
    block = heuristics.noise_of_heuristics()
    assert "| nyt-fine | string-match | 1,200 | 60.0 | 25.0 | 31.80 | 1.0 |" in block.text
    assert "| nyt-fine | exclusive-string-match | - | - | - | 52.13 | - |" in block.text
    (source,) = common.sources(block.groups)
    assert source.startswith("12 documents of nyt-fine, no model, device cpu")
    text = heuristics.statistics().text
    assert "| nyt-fine | 2,000 | 2 | 25.0 | 13,081 | 26 | 31.80 |" in text
    assert "| books | - | - | - | 33,594 | 8 | 37.32 |" in text


@pytest.mark.usefixtures("folder")
def test_what_the_paper_protocol_lacks_is_not_measured_and_has_no_section():
    for name, make in tables.TABLES.items():
        if name.startswith("grid-"):
            assert make() == ("", [])
        elif name.startswith("paper-") and name not in figures.FIGURES:
            assert make() == common.HOLE


@pytest.mark.usefixtures("folder")
def test_a_measured_section_of_the_papers_grid_has_its_tables_only(tmp_path):
    (tmp_path / "paper").mkdir()
    for seed in (0, 1):
        item = (tmp_path / "cpu" / f"self-training-linear-20news-fine-seed{seed}.json").read_text(
            encoding="utf-8"
        )
        path = tmp_path / "paper" / f"self-training-gpt2-20news-fine-seed{seed}.json"
        path.write_text(item, encoding="utf-8")
    block = tables.TABLES["grid-self-training"]()
    titles = [line for line in block.text.splitlines() if line.startswith("#")]
    assert titles == ["## The paper's own grid", "### gpt2", "### Tau and iterations"]
    assert "| optimal | - |" in block.text
    assert "Figure 6: macro-F1 against the iteration" in block.text
    assert "not measured yet." not in block.text.lower().replace("not measured yet: ", "")
    assert len(common.sources(block.groups)) == 1


@pytest.mark.usefixtures("folder")
def test_a_seed_without_an_arm_is_a_hole(tmp_path):
    path = tmp_path / "cpu" / "self-training-linear-20news-fine-seed1.json"
    item = json.loads(path.read_text(encoding="utf-8"))
    del item["result"]["arms"]["lops"]
    path.write_text(json.dumps(item), encoding="utf-8")
    assert (
        "| lops | - | 81.7 ± 1.00 / 80.7 ± 0.43 | - / - |" in self_training.f1("cpu", "linear").text
    )


@pytest.mark.usefixtures("folder")
def test_the_wrong_that_look_right_are_of_one_seed_and_files_that_lack_them_are_a_hole(tmp_path):
    lines = tables.TABLES["cpu-wrong-examples"]().text.splitlines()
    assert lines[2:] == [
        "| linear | 20news-fine | z | a | b | 0.96 | 2 | 0 |",
        "| linear | 20news-fine | x | a | b | 0.70 | 2 | 0 |",
    ]
    path = tmp_path / "cpu" / "curves-linear-20news-fine-seed1.json"
    item = json.loads(path.read_text(encoding="utf-8"))
    del item["result"]["wrong"]
    path.write_text(json.dumps(item), encoding="utf-8")
    assert tables.TABLES["cpu-wrong"]() == tables.TABLES["cpu-wrong-examples"]() == common.HOLE


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("started", "cell"),
    [("t", "+15.0 (1 of 2) [+3.0 to +27.0, p 0.004]"), ("before", "+15.0 (1 of 2)")],
)
def test_significance_over_seeds_stands_beside_those_of_each_seed_while_it_is_of_these_runs(
    tmp_path, started, cell
):
    found = {
        "lops": {
            "standard": {"macro": {"difference": 0.15, "low": 0.03, "high": 0.27, "p_value": 0.004}}
        }
    }
    result = {"of": {"0": "t", "1": started}, "significance": found}
    path = tmp_path / "cpu" / "over-seeds-self-training-linear-20news-fine.json"
    write_result(path, result, about("20news-fine"))
    assert (
        f"| lops - standard | - | {cell} | - |"
        in tables.TABLES["cpu-significance-linear"]().text.splitlines()
    )


def test_frameworks_do_not_average_samples_of_different_sizes(results):
    for documents, macro in ((12, 0.5), (40, 0.7)):
        source = about("agnews")
        source["dataset"]["documents"] = documents
        path = results / "frameworks" / f"xclass-agnews-{documents}-seed0.json"
        write_result(path, {"arms": {"lops": arm(macro)}}, source)
    block = frameworks.all_frameworks()
    lines = block.text.splitlines()
    assert lines[0] == "| framework | arm | agnews, micro / macro-F1 % | the paper |"
    assert "| xclass | lops | 80.0 / 70.0 | 83.6 / 82.7 |" in lines
    assert "| conwea | - | - | - |" in lines
    (source,) = common.sources(block.groups)
    assert source.startswith("40 documents of agnews")


def test_check_tells_a_stale_page_and_writing_mends_it(folder, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(tables, "ROOT", tmp_path)
    monkeypatch.setattr(tables, "PAGES", ("page.md",))
    monkeypatch.setattr(figures, "FIGURES", {})
    page = tmp_path / "page.md"
    page.write_text(
        "Before.\n<!-- table: cpu-gap-linear -->\nold\n<!-- end -->\nAfter.\n", encoding="utf-8"
    )
    assert tables.main(check=True) == 1
    assert "out of date: page.md" in capsys.readouterr().out
    assert "old" in page.read_text(encoding="utf-8")
    assert tables.main() == 0
    assert "| lops | - | 37.5 ± 12.5 | - |" in page.read_text(encoding="utf-8")
    assert tables.main(check=True) == 0


def test_the_pages_of_results_have_every_table_once():
    shown = []
    for path in sorted((tables.ROOT / "docs" / "results").glob("*.md")):
        assert f"docs/results/{path.name}" in tables.PAGES or path.stem == "index"
        text = path.read_text(encoding="utf-8")
        named = [match[2] for match in tables._PART.finditer(text)]
        assert len(named) == text.count("<!-- table:") + text.count("<!-- figure:")
        assert "Not measured yet.\n" not in text
        shown += named
    assert set(shown) - {"sources"} <= set(tables.TABLES)
    assert len(shown) == len(set(shown))
    measured = {name for name, make in tables.TABLES.items() if make().groups}
    elsewhere = {name for name in measured if name.startswith("defaults-")} - set(shown)
    elsewhere |= {"select-printed", "select-examples", "static-costs"}
    assert measured - set(shown) == elsewhere
