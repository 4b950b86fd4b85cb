import numpy as np
import pytest

from lops_adapters.encoders.context_encoder import ContextEncoder
from lops_adapters.xclass import vectors as module
from lops_adapters.xclass.vectors import contextual_vectors, static_vectors, windows
from lops_adapters.xclass.words import read_words


@pytest.mark.parametrize("room", [1, 2, 5, 6, 30])
def test_windows(room):
    """They cover every word once, in order, and fit; context is from the same document and never
    more than half the room.
    """
    for seed in range(20):
        rng = np.random.default_rng(seed)
        lengths = rng.choice([1, 1, 1, 2, room], 200).clip(max=room)
        start = np.concatenate([[0, 0], np.sort(rng.integers(0, 201, 6)), [200, 200]])
        document = np.repeat(np.arange(len(start) - 1), np.diff(start))
        found = list(windows(start, lengths, room))
        assert [word for _, begin, end in found for word in range(begin, end)] == list(range(200))
        seen = set()
        for context, begin, end in found:
            assert context <= begin < end
            assert len(set(document[context:end])) == 1
            assert lengths[context:end].sum() <= room
            assert lengths[context:begin].sum() <= room // 2
            assert context == begin or document[begin] in seen
            seen.add(document[begin])


def test_windows_overlap_by_half_and_take_all_that_fits():
    assert list(windows(np.array([0, 10]), np.ones(10, dtype=np.int64), 4)) == [
        (0, 0, 4),
        (2, 4, 6),
        (4, 6, 8),
        (6, 8, 10),
    ]
    assert list(windows(np.array([0, 3, 3, 5]), np.ones(5, dtype=np.int64), 4)) == [
        (0, 0, 3),
        (3, 3, 5),
    ]
    assert list(windows(np.array([0, 4]), np.array([3, 1, 1, 4]), 4)) == [
        (0, 0, 2),
        (1, 2, 3),
        (3, 3, 4),
    ]  # a long word has no context
    assert list(windows(np.array([0, 0]), np.zeros(0, dtype=np.int64), 4)) == []


def naive_static(word_id, vectors, size):
    rows = [vectors[word_id == word].astype(np.float64) for word in range(size)]
    return np.stack(
        [row.mean(axis=0) if len(row) else np.zeros(vectors.shape[1]) for row in rows]
    ).astype(np.float32)


def test_static_vectors_are_means_over_occurrences(monkeypatch):
    rng = np.random.default_rng(0)
    word_id, vectors = rng.integers(0, 9, 500), rng.normal(size=(500, 4)).astype(np.float16)
    word_id[word_id == 6] = 5
    found = static_vectors(word_id, vectors, 11)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, naive_static(word_id, vectors, 11), rtol=1e-6)
    assert not found[[6, 9, 10]].any()
    for block in (1, 7, 499):
        monkeypatch.setattr(module, "_BLOCK", block)
        assert (static_vectors(word_id, vectors, 11) == found).all()
    order = rng.permutation(500)
    assert (static_vectors(word_id[order], vectors[order], 11) == found).all()
    assert (
        static_vectors(np.zeros(0, dtype=np.int32), np.zeros((0, 4), dtype=np.float16), 2).tolist()
        == [[0.0] * 4] * 2
    )


def test_static_vectors_lose_nothing_in_long_sums(monkeypatch):
    """In float32 the small ones are lost beside the large ones, which cancel out."""
    large, small = np.float16(2.0**15), np.float16(2.0**-12)
    vectors = np.array([[large], [small], [-large], [small]] * 100, dtype=np.float16)
    monkeypatch.setattr(module, "_BLOCK", 3)
    assert static_vectors(np.zeros(400, dtype=np.int32), vectors, 1).item() == 2.0**-13


def test_vectors_of_words_in_a_long_document(bert, tmp_path):
    """Each word is encoded in the window it was first put into, behind its context; marks that are
    not wanted still are context.
    """
    import torch
    from transformers import AutoModel, AutoTokenizer

    texts = ["Judge, appeal verdict paint. " * 5, "", "zebra"]
    words = read_words(texts)
    encoder = ContextEncoder(bert, layers=1, max_pieces=12, precision="float32")
    wanted = words.positions
    found = contextual_vectors(words, encoder, tmp_path)
    assert (found.dtype, found.shape) == (np.float16, (len(wanted), encoder.width))
    model, tokenizer = AutoModel.from_pretrained(bert).eval(), AutoTokenizer.from_pretrained(bert)
    pieces = [
        tokenizer(words.vocabulary[word], add_special_tokens=False)["input_ids"]
        for word in words.word_id
    ]
    cut = list(windows(words.document_start, np.array([len(ids) for ids in pieces]), 10))
    assert len(cut) > 3
    for context, begin, end in cut:
        ids = [
            tokenizer.cls_token_id,
            *(piece for row in pieces[context:end] for piece in row),
            tokenizer.sep_token_id,
        ]
        with torch.inference_mode():
            hidden = model(torch.tensor([ids])).last_hidden_state[0].numpy()
        for word in range(begin, end):
            first = 1 + sum(len(row) for row in pieces[context:word])
            if word in wanted:
                expected = hidden[first : first + len(pieces[word])].mean(axis=0)
                np.testing.assert_allclose(
                    found[np.searchsorted(wanted, word)], expected, atol=5e-3
                )
