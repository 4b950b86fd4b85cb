"""Generated tables: rebuilt from result files alone, and up to date on every page."""

import json
from functools import cache, partial

import pytest

from benchmarks import collect, figures, record, tables
from benchmarks.pages import common, frameworks, real_noise, select, speed
from lops_adapters.core import LopsError

from .stored import about, write_result


def iteration(micro, seconds):
    row = {"iteration": 0, "pseudo_labels": 10, "noise": 0.2, "selected": 5, "selected_noise": 0.1}
    return {**row, "micro_f1": micro, "macro_f1": micro, "seconds": seconds}


def arms(micro):
    return {"arms": {"lops": {"iterations": [iteration(micro, 3.0)]}}}


@pytest.mark.usefixtures("results")
def test_a_hole_stays_a_hole():
    assert frameworks.westclass() == speed.westclass_granularity() == common.HOLE
    assert frameworks.iterations("nothing-*.json") == common.HOLE
    assert (
        frameworks.lotclass() == frameworks.xclass() == frameworks.all_frameworks() == common.HOLE
    )
    assert real_noise.ranking() == common.HOLE
    for make in (speed.scale, speed.watching, speed.xclass_encoding):
        assert make() == common.HOLE
    assert speed.frameworks() == select.printed("no-such-*.json") == common.HOLE
    assert real_noise.decisions() == real_noise.classifiers("plain") == common.HOLE
    assert common.HOLE.text == "Not measured yet."
    assert common.spread([0.1, None]) == "-"


@pytest.fixture(scope="module")
def blocks():
    """Every table of the committed results, each of which is read once."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(common, "read_result", cache(record.read_result))
        return {name: make() for name, make in tables.TABLES.items()}


def test_every_page_is_up_to_date(blocks, monkeypatch):
    made = {name: partial(blocks.get, name) for name in blocks}
    monkeypatch.setattr(tables, "TABLES", made)
    pages = {name: (tables.ROOT / name).read_text(encoding="utf-8") for name in tables.PAGES}
    for name, text in tables.rebuilt(pages).items():
        assert text == pages[name], f"{name}: run python -m benchmarks tables"


def test_sources_are_numbered_over_all_pages_and_listed_once(results):
    for seed in (0, 1):
        of = about(seed=seed)
        other = {**of, "command": "another"}
        names = {"demo": of, "20news-coarse-4000": of, "careful-20news-coarse-4000": other}
        for name, run in names.items():
            path = results / "frameworks" / f"conwea-{name}-seed{seed}.json"
            write_result(path, arms(0.5), run)
    part = "<!-- table: {} -->\nold\n<!-- end -->\n"
    pages = tables.rebuilt(
        {
            "docs/a.md": part.format("conwea-demo") + part.format("conwea-20news-coarse"),
            "docs/results/b.md": part.format("conwea-20news-careful"),
            "docs/results/c.md": part.format("sources"),
        }
    )
    assert pages["docs/a.md"].count("\n\n[Source 1](results/measurements.md)\n\n") == 2
    assert "\n\n[Source 2](measurements.md)\n\n" in pages["docs/results/b.md"]
    lines = pages["docs/results/c.md"].splitlines()
    assert [line[:15] for line in lines if line[:1].isdigit()] == [
        "1. 12 documents",
        "2. 12 documents",
    ]
    assert not any("old" in text for text in pages.values())
    assert tables._numbered([1, 3, 4, 5], "README.md") == (
        "[Sources 1, 3-5](docs/results/measurements.md)\n\n"
    )


def test_collect_hides_folders_and_wants_a_finished_run(tmp_path):
    path = tmp_path / "x.json"
    with pytest.raises(LopsError, match=r"has no config\.json; pass the folder of a finished run"):
        collect.collect(tmp_path, path)
    (tmp_path / "config.json").write_text(
        json.dumps({"command": "python -m m --data-dir '/a b' --seed 1"}), encoding="utf-8"
    )
    (tmp_path / "metrics.json").write_text(json.dumps({"arms": {}}), encoding="utf-8")
    stored = json.loads(collect.collect(tmp_path, path).read_text(encoding="utf-8"))
    assert stored["about"]["command"] == "python -m m --data-dir DIR --seed 1"
    assert stored["result"] == {"arms": {}}
    assert record.machine()["cores"] >= 1


@pytest.mark.usefixtures("results")
def test_what_the_paper_protocol_lacks_is_not_measured_and_has_no_section():
    for name, make in tables.TABLES.items():
        if name.startswith("grid-"):
            assert make() == ("", [])
        elif name.startswith("paper-") and name not in figures.FIGURES:
            assert make() == common.HOLE


def test_frameworks_do_not_average_samples_of_different_sizes(results):
    for documents, macro in ((12, 0.5), (40, 0.7)):
        source = about("agnews")
        source["dataset"]["documents"] = documents
        path = results / "frameworks" / f"xclass-agnews-{documents}-seed0.json"
        write_result(path, {"arms": {"lops": {"micro_f1": macro + 0.1, "macro_f1": macro}}}, source)
    block = frameworks.all_frameworks()
    lines = block.text.splitlines()
    assert lines[0] == "| framework | arm | agnews, micro / macro-F1 % | the paper |"
    assert "| xclass | lops | 80.0 / 70.0 | 83.6 / 82.7 |" in lines
    assert "| conwea | - | - | - |" in lines
    (source,) = common.sources(block.groups)
    assert source.startswith("40 documents of agnews")


def test_check_tells_a_stale_page_and_writing_mends_it(tmp_path, monkeypatch, capsys):
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
    assert tables.TABLES["cpu-gap-linear"]().text in page.read_text(encoding="utf-8")
    assert tables.main(check=True) == 0


def test_the_pages_of_results_have_every_table_once(blocks):
    shown = []
    for path in sorted((tables.ROOT / "docs" / "results").glob("*.md")):
        assert f"docs/results/{path.name}" in tables.PAGES or path.stem in ("index", "benchmarks")
        text = path.read_text(encoding="utf-8")
        named = [match[2] for match in tables._PART.finditer(text)]
        assert len(named) == text.count("<!-- table:") + text.count("<!-- figure:")
        assert "Not measured yet.\n" not in text
        shown += named
    assert set(shown) - {"sources"} <= set(blocks)
    assert len(shown) == len(set(shown))
    measured = {name for name, block in blocks.items() if block.groups}
    elsewhere = {name for name in measured if name.startswith("defaults-")} - set(shown)
    elsewhere |= {"equal-counts", "headline-lops", "own-texts-costs"}
    elsewhere |= {"select-printed", "static-costs"}
    assert measured - set(shown) == elsewhere


def test_pages_say_which_code_was_edited():
    files = [{"about": {**about(), "edited": edited}} for edited in (False, True, None)]
    assert common.commits(files) == "abcdef0123, abcdef0123 edited"


def test_arms_and_commands_have_the_names_of_today(results):
    """Of files that were measured before; of a protocol's cell, the command is the protocol's."""
    run = {"arms": {"lops": 1, "lops-documents": 2}, "macro_f1": {"standard": 3, "lops": 4}}
    compared = {"lops": {"standard": 5}, "standard": {"lops": 6}}
    ranked = about(method="ranked", keep="auto")
    ranked["command"] = "python -m m --arms standard,lops"
    for name in ("toy", "grid/conwea-agnews-seed0"):
        write_result(results / f"{name}.json", {**run, "significance": compared}, ranked)
    item, cell = (
        record.read_result(results / f"{name}.json") for name in ("toy", "grid/conwea-agnews-seed0")
    )
    assert item["result"] == {
        "arms": {"lops-adaptive": 1, "lops-adaptive-documents": 2},
        "macro_f1": {"standard": 3, "lops-adaptive": 4},
        "significance": {"lops-adaptive": {"standard": 5}, "standard": {"lops-adaptive": 6}},
    }
    assert item["about"]["command"] == "python -m m --arms standard,lops-adaptive"
    assert cell["about"]["command"].startswith("python -m lops_adapters.conwea --dataset agnews ")
    for settings, arm in (
        ({"method": "algorithm1", "keep": "auto"}, "lops"),
        ({"rule": "ranked", "tau": 0.5}, "ranked"),
    ):
        write_result(results / "toy.json", {"arms": ["lops"]}, about(**settings))
        assert record.read_result(results / "toy.json")["result"]["arms"] == [arm]
    write_result(results / "toy.json", {"arms": ["lops"]}, {**about(), "settings": {}})
    assert record.read_result(results / "toy.json")["result"]["arms"] == ["lops-adaptive"]
