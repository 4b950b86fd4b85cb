"""docs/integrations.md and docs/training.md: the examples of every section run, one after the
other, with what the page takes as given.
"""

import os
import re
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from ..probes.toys import save_tiny_encoder, topic_texts

DOCS = Path(__file__).parents[2] / "docs"
PAGES = {
    name: (DOCS / f"{name}.md").read_text(encoding="utf-8") for name in ("integrations", "training")
}
SECTIONS = {
    title: text
    for page in PAGES.values()
    for title, text in re.findall(r"^## (.*?)\n(.*?)(?=^## |\Z)", page, re.DOTALL | re.MULTILINE)
}
TEXTS, CODES = topic_texts(90, seed=0)
LABELS = CODES.copy()
LABELS[::7] = (CODES[::7] + 1) % 3


def run(section, **given):
    blocks = re.findall(r"```python\n(.*?)```", SECTIONS[section], re.DOTALL)
    assert blocks
    for block in blocks:
        exec(compile(block, section, "exec"), given)
    return given


@pytest.mark.filterwarnings("ignore::lops_adapters.core.LopsWarning")  # a tiny model learns little
def test_hugging_face(tmp_path):
    pytest.importorskip("accelerate", reason="the Trainer needs accelerate")
    pytest.importorskip("datasets", reason="the training set is of datasets")
    from .test_huggingface import Dict, Items, make_trainer

    encoder = save_tiny_encoder("bert", tmp_path / "encoder")

    class Selectable(Items):
        def __init__(self, positions=range(45)):
            self.positions = positions

        def __len__(self):
            return len(self.positions)

        def __getitem__(self, i):
            return super().__getitem__(int(self.positions[i]))

        def select(self, positions):
            return Selectable(positions)

    def new_trainer(data):
        return make_trainer(encoder, tmp_path, dataset=data, model=Dict, learning_rate=0.03)

    given = run("Hugging Face Trainer", new_trainer=new_trainer, train_dataset=Selectable())
    assert len(given["final"].train_dataset) < 45
    assert given["confidence"].shape == (45,)


def test_keras():
    from .test_keras import X, Y, build

    given = run("Keras", new_model=build, x=X, pseudo_labels=Y)
    assert 0 < len(given["selection"].kept) < len(X)


def test_the_record(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    scores = np.random.default_rng(0).dirichlet([1, 1, 1], size=(3, 90))
    given = run("The record", pseudo_labels=LABELS, checkpoints=scores)
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
    assert eval(first, given).tolist() == [17]  # as the comment says


def test_scikit_learn(given):
    pytest.importorskip("imblearn", reason="imbalanced-learn is not installed")
    given = run("scikit-learn and imbalanced-learn", **given)
    assert given["clean_vectors"].shape[0] == len(given["clean_labels"]) < 18


def test_tables(given):
    pytest.importorskip("pandas", reason="the table is pandas'")
    pytest.importorskip("datasets", reason="the other table is of datasets")
    given = run("Tables", **given)
    assert given["suspicious"].index.tolist() == [17]
    assert given["clean"]["text"][:] == given["texts"][:17]


def test_cleanlab(given):
    pytest.importorskip("cleanlab", reason="cleanlab is not installed")
    pytest.importorskip("datasets", reason="Datalab needs datasets")
    given = run("cleanlab", **given)
    (row,) = given["issues"].query("is_label_issue").itertuples()
    assert (row.Index, row.given_label, row.predicted_label) == (17, "sports", "money")
    assert given["both"].lops_is_label_issue.tolist() == [False] * 17 + [True]


def test_the_table_names_modules_that_exist_and_pinned_versions():
    rows = re.findall(
        r"^\| [^|]+ \| [^|]+ \| .+ \| `([\w.]+)` \| ([\w-]+) ([\d.]+) \|$",
        PAGES["integrations"],
        re.M,
    )
    pinned = (DOCS.parent / "constraints.txt").read_text(encoding="utf-8").splitlines()
    assert len(rows) == 9
    for module, library, version in rows:
        assert f"{library}=={version}" in pinned
        assert find_spec(f"lops_adapters.{module}"), module
