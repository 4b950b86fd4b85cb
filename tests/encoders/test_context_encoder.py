"""The encoder: words of several pieces, and windows with context."""

import numpy as np
import pytest

from lops_adapters.encoders.context_encoder import ContextEncoder, Window, encode_windows

from ..framework_tools import save_bert

LETTERS = "abcdefgh"
WORDS = ["a", "bcd", "ef", "g", "hah"]


@pytest.fixture(scope="module")
def bert(tmp_path_factory):
    """Path of a tiny random BERT that reads single letters."""
    pieces = [*LETTERS, *(f"##{letter}" for letter in LETTERS)]
    shape = {"hidden_size": 8, "intermediate_size": 16, "max_position_embeddings": 32}
    return save_bert(tmp_path_factory.mktemp("bert"), pieces, **shape)


@pytest.fixture(scope="module")
def encoder(bert):
    return ContextEncoder(bert, layers=1, max_pieces=16, precision="float32", device="cpu")


@pytest.fixture(scope="module")
def hidden(bert):
    """Function: the last layer's vectors of a list of word pieces, special tokens left out."""
    import torch
    from transformers import AutoModel

    model = AutoModel.from_pretrained(bert).eval()

    def vectors(ids):
        with torch.inference_mode():
            return model(torch.tensor([[2, *ids, 3]])).last_hidden_state[0, 1:-1].numpy()

    return vectors


def test_spans_are_averaged(encoder, hidden):
    sequences = [[5, 6, 7, 8, 9], [10, 11], [12, 5, 6]]
    spans = [[(0, 1), (1, 4), (3, 5)], [], [(0, 3)]]
    found = encoder.encode(sequences, spans)
    assert [rows.shape for rows in found] == [(3, 8), (0, 8), (1, 8)]
    for ids, wanted, rows in zip(sequences, spans, found, strict=True):
        for (begin, end), row in zip(wanted, rows, strict=True):
            np.testing.assert_allclose(row, hidden(ids)[begin:end].mean(axis=0), atol=1e-5)


def test_no_spans_at_all(encoder):
    assert [rows.shape for rows in encoder.encode([[5], [6, 7]], [[], []])] == [(0, 8), (0, 8)]


@pytest.mark.parametrize("first_piece_only", [False, True])
@pytest.mark.parametrize("batch_pieces", [1, 4096])
def test_windows_with_context(bert, hidden, tmp_path, monkeypatch, first_piece_only, batch_pieces):
    """The encoder sees the words of the context; their vectors come from the window before."""
    monkeypatch.setattr(ContextEncoder, "budget", batch_pieces)
    encoder = ContextEncoder(bert, layers=1, max_pieces=16, precision="float32", device="cpu")
    surface_id = np.array([0, 1, 2, 3, 4, 1, 0, 4])
    cut = [Window(0, 0, 3), Window(1, 3, 5), Window(5, 5, 6), Window(5, 6, 8)]
    pieces = encoder.pieces(tuple(WORDS))
    wanted = np.array([0, 1, 3, 4, 7])  # nothing of the third window
    found = encode_windows(
        cut, surface_id, pieces, wanted, encoder, tmp_path, first_piece_only=first_piece_only
    )
    assert (found.dtype, found.shape) == (np.float16, (5, 8))
    for row, token in zip(found, wanted, strict=True):
        window = next(window for window in cut if window.begin <= token < window.end)
        rows = hidden(
            [piece for word in surface_id[window.context : window.end] for piece in pieces[word]]
        )
        begin = sum(len(pieces[word]) for word in surface_id[window.context : token])
        end = begin + (1 if first_piece_only else len(pieces[surface_id[token]]))
        np.testing.assert_allclose(row, rows[begin:end].mean(axis=0), atol=2e-3)


def test_pieces(encoder):
    found = encoder.pieces(("a", "abc", "a" * 40, "\u2603"))
    # A long word is cut to what fits with the two special tokens.
    assert [len(ids) for ids in found] == [1, 3, 14, 1]
    assert found[3] == [1]
    assert encoder.pieces(()) == []
