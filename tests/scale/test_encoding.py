"""``--engine ray`` with an encoder: every text is encoded once, by actors."""

import json
import os
import signal
import sys
from collections import Counter
from functools import partial

import numpy as np
import pytest

import lops_adapters
from lops_adapters.cli import select as command
from lops_adapters.core import LopsError
from lops_adapters.probes.embedding import EmbeddingProbe
from lops_adapters.scale import command as spread
from lops_adapters.scale import encoding, engine, select_dataset
from lops_adapters.scale.vectors import Stored

from ..noisy import HEADER, noisy_rows, read_table, write_table

ROWS = [  # words that the tiny encoder knows
    [row[0], " ".join(f"topic{row[3][-1]}word{(i * i + j * j) % 8}" for j in range(6)), *row[2:]]
    for i, row in enumerate(noisy_rows(n=240, k=3))
]
ROWS = [[row[0], f"{row[1]} common{i % 12} nr{i}", *row[2:]] for i, row in enumerate(ROWS)]
WORDS = {f"class {k}": [f"topic{k}word{i}" for i in range(8)] for k in range(3)}
OPTIONS = ["--text", "text", "--label", "weak", "--quiet"]
WIDTH = 16


def vectors_of(texts):
    """Vectors of unit length from the letters of the texts, in place of a model's."""
    found = np.zeros((len(texts), WIDTH))
    for row, text in enumerate(texts):
        for word in text.replace(",", "").split():
            found[row] += np.random.default_rng(list(word.encode())).normal(size=WIDTH)
    found /= np.linalg.norm(found, axis=1, keepdims=True)
    return found.astype(np.float16).astype(np.float32)


class Counting(encoding.Encoder):
    """An actor without a model, which writes down every text that it encodes."""

    def texts(self, texts):
        with (self._encoding.folder.parent / "encoded.txt").open("a") as file:
            file.writelines(f"{text}\n" for text in texts)
        return vectors_of(texts)


class DiesOnce(Counting):
    """The first actor at the second part is killed when it has encoded its texts."""

    def texts(self, texts):
        found, sign = super().texts(texts), self._encoding.folder.parent / "died"
        if texts[0] == ROWS[80][1] and not sign.exists():
            sign.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return found


@pytest.fixture
def here(ray, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    ray.cloudpickle.register_pickle_by_value(sys.modules[__name__])
    (tmp_path / "words.json").write_text(json.dumps(WORDS))
    (tmp_path / "lops-vectors").mkdir()
    for number in range(3):
        write_table(tmp_path / f"{number}.csv", ROWS[80 * number : 80 * number + 80])
    return tmp_path


@pytest.fixture
def fake(monkeypatch):
    """Actors without a model."""
    monkeypatch.setattr(engine, "described", lambda probe: ("of the fake", WIDTH))
    monkeypatch.setattr(engine, "Encoder", DiesOnce)


def run(encoder, *arguments):
    return command.main([*map(str, arguments), *OPTIONS, "--encoder", encoder])


def verdicts(folder):
    """Selected, suggestion and confidence of every row, by its number."""
    found = {}
    for part in ("kept", "rejected"):
        single = folder / f"{part}.csv"
        paths = [single] if single.exists() else sorted((folder / part).glob("*.csv"))
        found |= {row["nr"]: row for path in paths for row in read_table(path)}
    return {
        nr: [row["lops_selected"], row["lops_suggested"], float(row["lops_confidence"])]
        for nr, row in found.items()
    }


def test_the_engines_agree(here, tiny, monkeypatch, capsys):
    narrow = partial(EmbeddingProbe, max_tokens=16, precision="float32")
    monkeypatch.setattr(spread, "EmbeddingProbe", narrow)
    monkeypatch.setattr("lops_adapters.selection.committee.EmbeddingProbe", narrow)
    about = encoding.described(narrow(tiny))  # here, where torch is imported already
    monkeypatch.setattr(engine, "described", lambda probe: about)
    write_table(here / "news.csv", ROWS)
    more = ["news.csv", "--probe-rows", "120", "--output"]
    run(tiny, *more, "process")
    before = capsys.readouterr().out
    run(tiny, *more, "out", "--engine", "ray")
    printed = capsys.readouterr().out
    assert "neighbours (LSA) " in before
    assert ", regression " in before
    assert printed.partition("Kept rows")[0] == before.partition("Kept rows")[0]
    assert "Vectors: lops-vectors (kept for later runs)" in printed
    one, other = verdicts(here / "process"), verdicts(here / "out")
    assert len(one) == 240
    assert {nr: row[:2] for nr, row in one.items()} == {nr: row[:2] for nr, row in other.items()}
    for nr, (*_, confidence) in one.items():
        assert other[nr][2] == pytest.approx(confidence, abs=0.01)
    config = json.loads((here / "out" / "config.json").read_text())
    assert config["settings"]["encoder"] == tiny


def judged(rows):
    """What a table of rows becomes in memory."""
    found = lops_adapters.select(
        [row[1] for row in rows],
        [row[2] for row in rows],
        encoder=Stored("fake", source=vectors_of),
        words=WORDS,
    )
    assert "neighbours (LSA) " in found.stopped
    assert "class words" in found.stopped
    return {
        row[0]: [str(int(kept)), suggested, pytest.approx(confidence, abs=1e-6)]
        for row, kept, suggested, confidence in zip(
            rows, found.mask, found.suggested, found.confidence, strict=True
        )
    }


def test_every_text_is_encoded_once(here, fake, monkeypatch):
    """An actor is killed; in a later run a file has another name, and there is a new one."""
    lines = []
    monkeypatch.setattr(engine, "say", lambda line, _: lines.append(line))
    log = here / "lops-vectors" / "encoded.txt"
    asked = ["?.csv", "--engine", "ray", "--words", "words.json", "--output"]
    run("fake", *asked, "one")
    assert (here / "lops-vectors" / "died").exists()
    expected = Counter(row[1] for row in [*ROWS, *ROWS[80:160]])
    expected.update(", ".join(own) for own in WORDS.values())
    assert Counter(log.read_text().splitlines()) == expected
    assert verdicts(here / "one") == judged(ROWS)
    log.unlink()
    os.rename("1.csv", "9.csv")
    more = [[f"4{row[0]}", *row[1:]] for row in ROWS[30:50]]
    write_table(here / "4.csv", more)
    run("fake", *asked, "two", "--vectors", "lops-vectors")
    assert log.read_text().splitlines() == [row[1] for row in more]
    assert verdicts(here / "two") == judged([*ROWS, *more])
    said = [line.split(": ")[1].split(",")[0] for line in lines if line.startswith("encode")]
    assert said == ["3 encoded now", "1 encoded now"]


def test_a_dataset(here, fake, ray):
    rows = [dict(zip(HEADER, row, strict=True)) for row in ROWS]
    rows.insert(7, {**rows[0], "weak": ""})
    data = ray.data.from_items(rows, override_num_blocks=1)
    more = {"words": WORDS, "vectors": here / "lops-vectors"}
    found = select_dataset(data, text="text", label="weak", encoder="fake", **more)
    back = found.dataset.take_all()
    assert back.pop(7)["lops_selected"] is None
    names = ("lops_selected", "lops_suggested", "lops_confidence")
    kept = {row["nr"]: [row[name] for name in names] for row in back}
    assert {nr: [str(int(row[0])), *row[1:]] for nr, row in kept.items()} == judged(ROWS)


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"encoder": "minilm"}, "encoder is 'minilm' and vectors are 'None'; wanted both"),
        ({"vectors": "folder"}, "encoder is None and vectors are 'folder'; wanted both"),
        ({"encoder": "auto", "vectors": "folder"}, "encoder is 'auto'; wanted the name of one"),
        ({"encoder": 5, "vectors": "folder"}, "encoder is 5; wanted 'minilm'"),
    ],
)
def test_what_a_dataset_needs(ray, more, message):
    data = ray.data.from_items([{"text": "a", "label": "b"}])
    with pytest.raises(LopsError, match=message):
        select_dataset(data, text="text", label="label", **more)


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["fake", "--engine", "ray", "--vectors", "out/in"], "inside the output folder"),
        (["fake", "--vectors", "in"], "--vectors is in without --engine ray; leave it out"),
        (["none", "--engine", "ray", "--vectors", "in"], "is in, and there is no encoder"),
        (["auto", "--engine", "ray", "--words", "words.json"], "unless --encoder names one, and"),
    ],
)
def test_a_folder_for_vectors(here, more, message):
    with pytest.raises(LopsError, match=message):
        run(*more, "?.csv", "--output", "out")


def test_a_class_without_words(here, fake):
    (here / "words.json").write_text(json.dumps({"class 0": ["a"], "class 1": ["b"]}))
    with pytest.raises(LopsError, match="words hold none for 'class 2'"):
        run("fake", "0.csv", "--engine", "ray", "--words", "words.json", "--output", "out")
    assert not list((here / "lops-vectors").iterdir())


def test_an_encoder_that_does_not_fit(here, tiny, ray):
    narrow = EmbeddingProbe(tiny, max_tokens=16)
    given = encoding.Encoding(narrow, here, "of the first machine", 32)
    with pytest.raises(LopsError, match="is not the one that was found first"):
        encoding.Encoder(given, None, None, None).texts(["a"])
    with pytest.raises(LopsError, match="max_tokens is 128"):
        encoding.described(EmbeddingProbe(tiny))
