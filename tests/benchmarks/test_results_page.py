"""The tables of docs/results, rebuilt from a folder of small result files."""

import pytest

from benchmarks import figures, tables
from benchmarks.pages import common, frameworks

from .stored import about, write_result


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
