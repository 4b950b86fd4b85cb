"""Makes the table of word pieces that ships with the package, from MiniLM's weights.

    python -m benchmarks.static_table                  # writes lops_adapters/encoders/word_pieces
    python -m benchmarks.static_table --output FOLDER

Every piece goes through the model alone ([CLS] piece [SEP], mean of the three), then principal
components, times the logarithm of the piece's rank, since the vocabulary lists frequent pieces
first (the recipe of model2vec), rounded to 8 bits. The same machine gives the same bytes.

128 numbers and these weights were chosen on seven tables, see docs/encoders.md.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from lops_adapters import shipped
from lops_adapters.encoders import pretrained, static
from lops_adapters.encoders.torch_tools import import_torch
from lops_adapters.storage import replacing, write_text

FIRST = "!"  # the pieces before it are special or unused
_BATCH = 1024


def piece_states(pieces: list[int], cls: int, sep: int) -> np.ndarray:
    """Return the mean of MiniLM's last states for each piece alone, (n, 384) float64."""
    torch = import_torch()
    torch.set_num_threads(1)
    model = pretrained.load_encoder(pretrained.MINILM).eval()
    rows = torch.tensor([[cls, piece, sep] for piece in pieces])
    with torch.inference_mode():
        states = [
            model(input_ids=batch, attention_mask=torch.ones_like(batch)).last_hidden_state.mean(1)
            for batch in rows.split(_BATCH)
        ]
    return np.asarray(torch.cat(states).double().numpy())


def reduced(states: np.ndarray, width: int) -> np.ndarray:
    """Return weighted principal components of pieces, most frequent first, (n, width) int8."""
    centred = states - states.mean(axis=0)
    _, axes = np.linalg.eigh(centred.T @ centred)
    axes = axes[:, ::-1][:, :width]
    axes = axes * np.sign(axes[np.abs(axes).argmax(axis=0), np.arange(width)])
    weighted = (centred @ axes) * np.log(2 + np.arange(len(states)))[:, None]
    return np.round(weighted * (127 / np.abs(weighted).max())).astype(np.int8)


def main() -> None:
    """Write ``pieces.txt`` and ``vectors.npy``."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--output", type=Path, default=shipped.HERE / static.FOLDER)
    folder = parser.parse_args().output
    tokenizer = pretrained.load_tokenizer(pretrained.MINILM)
    vocabulary = sorted(tokenizer.get_vocab().items(), key=lambda item: item[1])
    kept = vocabulary[tokenizer.get_vocab()[FIRST] :]
    states = piece_states([row for _, row in kept], tokenizer.cls_token_id, tokenizer.sep_token_id)
    lines = "".join(f"{piece}\n" for piece, _ in kept)
    folder.mkdir(parents=True, exist_ok=True)
    write_text(folder / "pieces.txt", lines)
    with replacing(folder / "vectors.npy") as place, place.open("wb") as file:
        np.save(file, reduced(states, static.WIDTH))
    print(f"{len(kept):,} pieces of {static.WIDTH} numbers in {folder}")


if __name__ == "__main__":
    main()
