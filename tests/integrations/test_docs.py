"""docs/integrations.md: the examples of every section run, one after the other, with what the page
takes as given.
"""

import os
import re
from pathlib import Path

import numpy as np
import pytest

from ..probes.toys import save_tiny_encoder, topic_texts

PAGE = Path(__file__).parents[2] / "docs" / "integrations.md"
SECTIONS = dict(
    re.findall(
        r"^## (.*?)\n(.*?)(?=^## |\Z)", PAGE.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE
    )
)
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


def test_scikit_learn():
    pytest.importorskip("imblearn", reason="imbalanced-learn is not installed")
    given = run("scikit-learn and imbalanced-learn", texts=TEXTS, pseudo_labels=LABELS.tolist())
    assert given["clean_vectors"].shape[0] == len(given["clean_labels"]) < 50


def test_tables():
    pandas = pytest.importorskip("pandas", reason="the table is pandas'")
    given = run("Tables", frame=pandas.DataFrame({"review": TEXTS, "made": LABELS}))
    assert 0 < len(given["suspicious"]) <= 45  # half of each class is kept, rounded up
    assert 45 < len(given["clean"]) < 90
