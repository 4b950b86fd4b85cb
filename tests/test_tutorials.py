"""The tutorials run from top to bottom, and print and say what they show."""

import json
import re
import subprocess
import sys

import pytest

from .pages import DOCS, Page, differences


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Run a tutorial in an empty folder."""
    monkeypatch.chdir(tmp_path)

    def page(name):
        done = Page(name).run()
        assert done.outputs
        for shown, printed in done.outputs:
            assert not differences(shown, printed)
        (said,) = [value for code, value in done.values.items() if "keeper saved" in code]
        assert list(said) == ["sports"]
        return done

    return page


@pytest.mark.slow
def test_clean_a_table(run):
    page = run("clean-table")
    assert len(page.names["asked"]) == 10
    assert len(page.names["rows"]) == 800
    assert len(page.values["selection.to_check(10)"]) == 10


@pytest.mark.slow
def test_from_rules_to_labels(run):
    page = run("sources")
    names, values = page.names, page.values
    assert values["selection.labels[1]"] == "sports"
    assert values["selection.sources[4].error[:2]"] == ("politics", "sports")
    assert names["good"] == [rule for name, rule in names["rules"].items() if name != "quoted"]
    assert None not in list(names["selection"].suggested)
    gold, labels, kept = names["gold"], names["selection"].labels, names["kept"].tolist()
    assert None in labels
    assert sum(gold[i] == labels[i] for i in kept) / len(kept) > 0.8  # the votes: 0.70
    # The first command prints the same of the bad rule, the second one leaves it out.
    (shown,) = re.findall(r"^quoted +174 votes, (\d+)%", page.text, re.MULTILINE)
    (printed,) = re.findall(r"^quoted +174 +[\d.]+ % +([\d.]+) %", page.printed, re.MULTILINE)
    assert float(printed) == pytest.approx(int(shown), abs=2)


@pytest.mark.slow
def test_labels_of_a_language_model(run, full_training):
    page = run("llm-labels")
    assert {*page.names["frame"].label.dropna()} == {*page.names["CLASSES"]}
    word, sentence = page.names["selection"].sources
    assert word.accuracy > sentence.accuracy
    gold, given = list(page.names["gold"]), page.names["frame"].label
    assert (page.names["labels"] == gold).mean() > sum(given == gold) / given.notna().sum()


@pytest.mark.slow
def test_agreement_of_a_model_and_annotators(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    page = Page("agreement").run()
    assert len(page.outputs) == 4
    for shown, printed in page.outputs:
        assert not differences(shown, printed)
    before, after = page.names["first"].comparisons, page.names["page"].comparisons
    assert [one.found.verdict for one in before] == ["worse", "undecided"]
    assert [one.found.verdict for one in after] == ["worse", "as good"]
    assert "Krippendorff's alpha" in page.printed


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:no text holds the class name")  # as the page says
def test_texts_without_labels(run):
    page = run("own-texts")
    assert page.values["len(predictions)"] == 300
    assert page.values["list(predictions[0])"] == ["id", "predicted", "probability"]
    pairs = zip(page.names["predictions"], page.names["gold"], strict=True)
    assert sum(row["predicted"] == true for row, true in pairs) / 300 > 0.7


@pytest.mark.slow
def test_notebooks_hold_the_blocks_of_the_tutorials(tmp_path):
    subprocess.run([sys.executable, DOCS / "notebooks.py", tmp_path / "notebooks"], check=True)
    for path in tmp_path.glob("notebooks/*.ipynb"):
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        code = "\n".join(cell["source"] for cell in cells if cell["cell_type"] == "code")
        page = Page(path.stem).text
        blocks = re.findall(r"^```(?:python|sh)\n(.*?)^```", page, re.DOTALL | re.MULTILINE)
        assert re.sub("^!", "", code, flags=re.MULTILINE).split() == "".join(blocks).split()
        assert not [cell for cell in cells if ".md" in cell["source"]]
    assert len(list(tmp_path.glob("notebooks/*.ipynb"))) == 4


GENERATED = re.compile(r"<!-- (?:table|figure): .*?<!-- end -->", re.DOTALL)
BLOCKS = re.compile(r"^```(\w*)\n(.*?)^```", re.DOTALL | re.MULTILINE)
ALL = [*DOCS.glob("*.md"), *DOCS.glob("results/*.md")]
PAGES = [path for path in ALL if path.stem != "measurements"]  # a generated list


def test_pages_are_short():
    """At most 2,500 words, and a page of the guide 150 lines; generated parts and code aside."""
    for path in PAGES:
        text = GENERATED.sub("", path.read_text(encoding="utf-8"))
        assert len(text.split()) <= 2500, path
        if path.parent == DOCS:
            assert len(BLOCKS.sub("", text).splitlines()) <= 150, path


def test_the_guide_has_few_pages():
    assert len(list(DOCS.glob("*.md"))) <= 38


def test_code_fits_the_column_of_the_site():
    """85 characters; what a command prints wraps there."""
    wide = [
        (path.name, line)
        for path in [DOCS.parent / "README.md", *PAGES]
        for kind, block in BLOCKS.findall(path.read_text(encoding="utf-8"))
        for line in block.splitlines()
        if kind != "text" and len(line) > 85
    ]
    assert not wide
