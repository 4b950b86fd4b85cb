import json

import numpy as np
import pytest

from lops_adapters.conwea.contextual import (
    ContextualCorpus,
    contextual_vectors,
    contextualise,
    windows,
)
from lops_adapters.conwea.senses import Senses
from lops_adapters.conwea.tokens import tokenize
from lops_adapters.core import LopsError
from lops_adapters.encoders import context_encoder as module
from lops_adapters.encoders.context_encoder import ContextEncoder

from .toys import COMMON, documents

CENTRES = np.eye(2, dtype=np.float32)


def with_senses(texts, senses, phrases=()):
    """Contextualised texts; ``senses``: word -> the sense of each of its occurrences, in reading
    order.
    """
    tokens = tokenize(texts, phrases)
    sense_id = np.full(len(tokens.word_id), -1, dtype=np.int32)
    for word, ids in senses.items():
        sense_id[tokens.word_id == tokens.words.index(word)] = ids
    return contextualise(tokens, Senses(0.5, dict.fromkeys(senses, CENTRES), sense_id))


def test_words_with_senses_carry_their_number():
    corpus = with_senses(["The court met. A court rose", "", "the", "Court!"], {"court": [0, 1, 1]})
    assert corpus.documents == [[["court$0", "met"], ["court$1", "rose"]], [], [], [["court$1"]]]
    assert corpus.senses == {"court": 2}
    assert len(corpus) == 4
    assert corpus.vocabulary == ["court$0", "court$1", "met", "rose"]


def test_dollars_of_the_text_are_no_senses():
    corpus = with_senses(["US$5 and $100 and us$1 and the us"], {"us": [1, 0, 0]})
    assert corpus.documents == [[["us$1", "5", "100", "us$0", "1", "us$0"]]]
    assert corpus.vocabulary == ["1", "100", "5", "us$0", "us$1"]
    assert corpus.expand("US$5") == []  # cleaned to us5, which no document holds


def test_counts_are_words_in_documents():
    corpus = with_senses(["goal goal cup", "", "cup court court"], {"court": [0, 1]})
    assert corpus.vocabulary == ["court$0", "court$1", "cup", "goal"]
    assert corpus.counts.toarray().tolist() == [[0, 0, 1, 2], [0, 0, 0, 0], [1, 1, 1, 0]]
    assert corpus.places == {"court$0": 0, "court$1": 1, "cup": 2, "goal": 3}


def test_seeds_become_all_their_senses():
    corpus = with_senses(["court court goal picture book"], {"court": [0, 1]}, ["picture book"])
    assert corpus.expand("Court") == ["court$0", "court$1"]
    assert corpus.expand("goal") == ["goal"]
    assert corpus.expand("picture  book") == ["picture_book"]
    assert corpus.expand("tennis") == []


def test_a_sense_that_no_occurrence_has_is_no_seed():
    assert with_senses(["court goal"], {"court": [1]}).expand("court") == ["court$1"]


def test_a_corpus_without_words():
    corpus = ContextualCorpus([[], []], {})
    assert corpus.counts.shape == (2, 0)


TEXTS = documents(24)[0]


@pytest.fixture(scope="module")
def encoder(bert):
    return ContextEncoder(bert, layers=2, max_pieces=64, precision="float32")


@pytest.fixture(scope="module")
def tokens():
    return tokenize(TEXTS, ["oil painting"])


def everything(corpus):
    return np.flatnonzero(corpus.word_id >= 0)


def test_the_encoder_itself(encoder, tokens, bert, tmp_path):
    """Each vector is the mean of the last layers at the first word piece, as the model gives them
    for the sentence alone.
    """
    import torch
    from transformers import AutoModel, AutoTokenizer

    wanted = everything(tokens)
    found = contextual_vectors(tokens, wanted, encoder, tmp_path)
    assert (found.dtype, found.shape) == (np.float16, (len(wanted), encoder.width))
    model, tokenizer = AutoModel.from_pretrained(bert).eval(), AutoTokenizer.from_pretrained(bert)
    for number in (0, 5, len(tokens.sentence_document) - 1):
        begin, end = tokens.sentence_start[number : number + 2]
        ids, first = [tokenizer.cls_token_id], []
        for token in tokens.surface_id[begin:end]:
            first.append(len(ids))
            ids += tokenizer(tokens.surface[token], add_special_tokens=False)["input_ids"]
        with torch.inference_mode():
            hidden = model(
                torch.tensor([[*ids, tokenizer.sep_token_id]]), output_hidden_states=True
            ).hidden_states
        expected = torch.stack(hidden[-2:]).mean(dim=0)[0].numpy()
        for row in np.flatnonzero((wanted >= begin) & (wanted < end)):
            np.testing.assert_allclose(found[row], expected[first[wanted[row] - begin]], atol=2e-3)


def test_layers_are_averaged_or_joined(bert, tokens, tmp_path):
    wanted, found = everything(tokens)[:40], {}
    for combine, layers in (("mean", 2), ("concat", 2), ("concat", 1)):
        folder = tmp_path / f"{combine}{layers}"
        folder.mkdir()
        encoder = ContextEncoder(
            bert, layers=layers, combine=combine, max_pieces=64, precision="float32"
        )
        found[combine, layers] = np.asarray(
            contextual_vectors(tokens, wanted, encoder, folder), dtype=np.float32
        )
    joined = found["concat", 2]
    assert joined.shape == (40, 32)
    np.testing.assert_allclose(found["mean", 2], (joined[:, :16] + joined[:, 16:]) / 2, atol=2e-3)
    np.testing.assert_allclose(found["concat", 1], joined[:, 16:], atol=2e-3)


def test_windows_cover_every_token_once_and_fit(bert):
    rng = np.random.default_rng(0)
    texts = [
        " ".join(rng.choice([*COMMON, "extraordinarily", "ab"], int(size))) + "."
        for size in rng.integers(1, 60, 20)
    ]
    corpus = tokenize([*texts, "x" * 300, ""])
    encoder = ContextEncoder(bert, layers=1, max_pieces=8)
    lengths = np.array([len(ids) for ids in encoder.pieces(corpus.surface)])[corpus.surface_id]
    assert lengths.max() == 6  # a longer token is cut to what fits with the two special ones
    found = [(begin, end) for _, begin, end in windows(corpus, lengths, encoder.max_pieces)]
    assert [token for begin, end in found for token in range(begin, end)] == list(
        range(len(corpus.word_id))
    )
    sentence = np.repeat(np.arange(len(corpus.sentence_document)), np.diff(corpus.sentence_start))
    for begin, end in found:
        assert 0 < lengths[begin:end].sum() <= 6
        assert len(set(sentence[begin:end])) == 1
    assert len(found) > len(corpus.sentence_document)


class StopError(Exception):
    pass


@pytest.mark.parametrize("calls", [0, 1, 3])
def test_an_interrupted_pass_goes_on(encoder, tokens, tmp_path, monkeypatch, calls):
    monkeypatch.setattr(module, "_BLOCK", 10)
    for name in ("whole", "broken"):
        (tmp_path / name).mkdir()
    wanted = everything(tokens)
    whole = np.array(contextual_vectors(tokens, wanted, encoder, tmp_path / "whole"))
    encode, done = ContextEncoder.encode, []

    def stops(self, sequences, spans):
        if len(done) == calls:
            raise StopError
        done.append(len(sequences))
        return encode(self, sequences, spans)

    monkeypatch.setattr(ContextEncoder, "encode", stops)
    with pytest.raises(StopError):
        contextual_vectors(tokens, wanted, encoder, tmp_path / "broken")
    progress = tmp_path / "broken" / "vectors.json"
    assert (
        json.loads(progress.read_text())["windows"] if calls else progress.exists()
    ) == 10 * calls
    again = []
    monkeypatch.setattr(
        ContextEncoder,
        "encode",
        lambda self, *batch: again.append(len(batch[0])) or encode(self, *batch),
    )
    resumed = contextual_vectors(tokens, wanted, encoder, tmp_path / "broken")
    assert (resumed == whole).all()
    assert sum(again) == len(tokens.sentence_document) - 10 * calls
    assert json.loads(progress.read_text())["windows"] == len(tokens.sentence_document)


def test_leftovers_of_another_shape_are_not_used(encoder, tokens, tmp_path):
    np.save(tmp_path / "vectors.npy", np.ones((3, 4), dtype=np.float16))
    (tmp_path / "vectors.json").write_text('{"windows": 2}')
    found = contextual_vectors(tokens, everything(tokens), encoder, tmp_path)
    assert found.shape == (len(everything(tokens)), 16)
    assert (np.abs(found).max(axis=1) > 0).all()


@pytest.mark.parametrize("name", ["vectors.npy", "vectors.json"])
@pytest.mark.parametrize("damage", [lambda data: b"", lambda data: data[:-9], lambda data: b"[]"])
def test_damaged_leftovers_are_not_used(encoder, tokens, tmp_path, name, damage, caplog):
    whole = np.array(contextual_vectors(tokens, everything(tokens), encoder, tmp_path))
    (tmp_path / name).write_bytes(damage((tmp_path / name).read_bytes()))
    again = contextual_vectors(tokens, everything(tokens), encoder, tmp_path)
    assert (again == whole).all()
    assert "is damaged (" in caplog.text


def test_tokens_unknown_to_the_encoder(encoder, tmp_path):
    corpus = tokenize(["日本語 goal ☃ \u200b"])
    found = contextual_vectors(corpus, everything(corpus), encoder, tmp_path)
    assert np.isfinite(found).all()
    assert all(encoder.pieces(corpus.surface))


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"layers": 5}, "layers is 5; .* has 4"),
        ({"layers": 0}, "layers is 0"),
        ({"combine": "sum"}, "combine is 'sum'; wanted mean or concat"),
        ({"max_pieces": 7}, "max_pieces is 7; .* takes 8 to 128"),
        ({"max_pieces": 129}, "max_pieces is 129"),
    ],
)
def test_settings_that_do_not_fit(bert, wrong, words):
    with pytest.raises(LopsError, match=words):
        ContextEncoder(bert, **wrong)
