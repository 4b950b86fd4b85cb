"""``select(analyzer=...)``: words or n-grams of characters, in scripts with and without spaces."""

import json

import pytest
from sklearn.metrics import roc_auc_score

from lops_adapters import LopsError, LopsWarning, select
from lops_adapters.cli.main import main
from lops_adapters.integrations.frames import select_frame
from lops_adapters.probes.linear import LinearProbe

from ..noisy import noisy_texts

TEXTS, LABELS, GOLD = noisy_texts(200)
WRONG = [label != gold for label, gold in zip(LABELS, GOLD, strict=True)]
LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789"
TO_CHINESE = {ord(letter): chr(0x4E00 + ord(letter)) for letter in LETTERS}
UNSPACED = [text.lower().replace(" ", "").translate(TO_CHINESE) for text in TEXTS]


def found(texts, **choice):
    """Return the area under the ROC for wrong labels, and the selection."""
    selection = select(texts, LABELS, encoder=None, **choice)
    return roc_auc_score(WRONG, -selection.confidence), selection


def test_words_of_a_script_without_spaces():
    """A text is one word there, which no other text holds; n-grams tell the classes apart."""
    area, selection = found(UNSPACED)
    said = [sentence for sentence in selection.why if sentence.startswith("Scripts without")]
    assert said == [
        "Scripts without spaces in 200 of 200 texts: TF-IDF reads them as n-grams of 1 to 3 "
        "characters (`analyzer='word'` to read words only)."
    ]
    assert selection.settings["analyzer"] == "auto"
    with pytest.warns(LopsWarning, match="agree with the 200 labels hardly more than by guessing"):
        _, words = found(UNSPACED, analyzer="word")
    assert words.mask.all()
    by_characters, characters = found(UNSPACED, analyzer="char")
    assert area == by_characters > 0.8
    assert "TF-IDF of words" in words.why[0]
    assert "TF-IDF of n-grams of 1 to 3 characters" in characters.why[0]
    assert not any("Scripts" in sentence for sentence in [*words.why, *characters.why])


def test_characters_of_a_script_with_spaces():
    by_words, words = found(TEXTS, analyzer="word")
    area, selection = found(TEXTS)
    assert by_words == area
    assert words.kept.tolist() == selection.kept.tolist()
    by_characters, characters = found(TEXTS, analyzer="char")
    assert by_characters > 0.8
    assert characters.confidence.tolist() != selection.confidence.tolist()
    assert characters.settings["analyzer"] == "char"


def test_stray_characters_are_not_worth_a_sentence():
    texts = ["\u6771\u4eac", *TEXTS[1:]]
    _, selection = found(texts)
    assert not any("Scripts" in sentence for sentence in selection.why)


def test_ways_to_ask():
    """All come to the same selection: a method of one probe, a probe, a table."""
    _, expected = found(TEXTS, analyzer="char")
    _, by_probe = found(TEXTS, probe=LinearProbe(analyzer="char"))
    assert by_probe.kept.tolist() == expected.kept.tolist()
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"text": TEXTS, "label": LABELS})
    marked = select_frame(frame, encoder=None, analyzer="char")
    assert marked.lops_selected.tolist() == expected.mask.tolist()
    ranked = select(TEXTS, LABELS, method="learning-order", keep=0.5, analyzer="char")
    assert ranked.why[0] == "Probe: TF-IDF of n-grams of 1 to 3 characters + logistic regression."
    assert (
        ranked.confidence.tolist()
        != select(
            TEXTS, LABELS, probe="linear", method="learning-order", keep=0.5
        ).confidence.tolist()
    )


@pytest.mark.parametrize(
    ("choice", "message"),
    [
        ({"analyzer": "chars"}, "analyzer is 'chars'; wanted one of auto, word, char"),
        ({"analyzer": "char", "probe": "minilm"}, "for the linear probe, and probe is 'minilm'"),
        ({"analyzer": "char", "probe": LinearProbe()}, r"use LinearProbe\(analyzer=...\)"),
        ({"analyzer": "char", "embeddings": [[0.0, 1.0]] * 200}, "analyzer is for texts"),
    ],
)
def test_what_is_refused(choice, message):
    with pytest.raises(LopsError, match=message):
        select(TEXTS, LABELS, **choice)


def test_the_command(tmp_path, monkeypatch):
    """Of a sample, and block by block: the choice is used, said and recorded."""
    monkeypatch.chdir(tmp_path)
    rows = [{"t": text, "l": label} for text, label in zip(TEXTS, LABELS, strict=True)]
    (tmp_path / "t.jsonl").write_text("\n".join(map(json.dumps, rows)))
    arguments = ["t.jsonl", "--text", "t", "--label", "l", "--quiet", "--encoder", "none"]
    arguments += ["--probe-rows", "100"]
    assert main(["select", *arguments, "--analyzer", "char"]) == 0
    report = (tmp_path / "t-lops" / "report.html").read_text(encoding="utf-8")
    assert "Members: TF-IDF of n-grams of 1 to 3 characters" in report
    config = json.loads((tmp_path / "t-lops" / "config.json").read_text())
    assert config["settings"]["analyzer"] == "char"
    kept = (tmp_path / "t-lops" / "kept.jsonl").read_text()
    assert main(["select", *arguments, "--force"]) == 0
    assert (tmp_path / "t-lops" / "kept.jsonl").read_text() != kept
