"""Vectors of whole corpora from another machine, such as one with a GPU.

    python -m benchmarks.frozen_vectors compute --encoder FOLDER --data-dir DIR --folder VECTORS
    python -m benchmarks.frozen_vectors keep --encoder FOLDER --data-dir DIR --folder VECTORS

``compute`` encodes the texts into a folder; after a kill it resumes. ``keep`` copies them into the
cache of this user, from which every run with this encoder reads them. Before that it encodes a few
of the texts here and compares. In bfloat16 the last digits depend on the machine.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from lops_adapters.console import guarded, set_up_logging
from lops_adapters.core import LopsError
from lops_adapters.datasets import load_dataset
from lops_adapters.encoders.text_vectors import TextEncoder
from lops_adapters.encoders.vector_cache import VectorCache, text_keys
from lops_adapters.storage import user_cache

_CORPORA = "agnews,20news-coarse:strip,20news-fine:strip"
_COMPARED = 32  # texts that are encoded here, too
_LEAST = 0.99  # cosine of two vectors of a text; bfloat16 leaves at least 0.999 of most

Block = tuple[np.ndarray, np.ndarray]


def blocks(folder: Path) -> Iterator[Block]:
    """Yield (m,) keys of type V16 and (m, width) float16 vectors of each file below a folder."""
    for path in sorted(folder.glob("**/*.npz")):
        with np.load(path) as arrays:
            yield arrays["keys"].view("V16").ravel(), arrays["vectors"]


def keep(encoder: TextEncoder, texts: Sequence[str], folder: Path, cache: Path) -> int:
    """Copy the vectors of a folder into a cache; return how many texts have one.

    Args:
        encoder: what they are vectors of; it keeps no vectors itself.
        texts: the corpora.
        folder: with the files that ``compute`` wrote.
        cache: folder for the vectors of all encoders.

    Raises:
        LopsError: no file, or vectors that are not this encoder's.

    """
    found = list(blocks(folder))
    if not found:
        raise LopsError(f"{folder} holds no .npz file; pass the folder that compute wrote")
    widths = sorted({vectors.shape[1] for _, vectors in found})
    if widths != [encoder.width]:
        raise LopsError(
            f"{folder} holds vectors of {widths[0]} numbers, and {encoder.encoder} has "
            f"{encoder.width}; pass the encoder that computed them"
        )
    known = {
        key: row for keys, vectors in found for key, row in zip(keys.tolist(), vectors, strict=True)
    }
    names = text_keys(texts).tolist()
    covered = [text for text, key in zip(texts, names, strict=True) if key in known]
    if not covered:
        raise LopsError(f"{folder} has none of these texts; pass the corpora that were encoded")
    sample = covered[:: max(1, len(covered) // _COMPARED)]
    theirs = np.stack([known[key] for key in text_keys(sample).tolist()]).astype(np.float32)
    cosine = (encoder.encode(sample) * theirs).sum(axis=1)
    if cosine.min() < _LEAST:
        raise LopsError(
            f"a vector of {folder} has a cosine of {cosine.min():.3f} with the one computed here, "
            f"wanted {_LEAST}; pass the encoder and --max-tokens that computed them"
        )
    kept = VectorCache(cache / encoder.fingerprint(), encoder.width)
    for keys, vectors in found:
        kept.add(keys, vectors)
    print(f"cosine with {len(sample)} vectors computed here: at least {cosine.min():.5f}")
    return len(covered)


def _texts(corpora: str, data_dir: str) -> list[str]:
    """Return the texts of corpora named ``NAME`` or ``NAME:strip``."""
    texts: list[str] = []
    for corpus in corpora.split(","):
        name, _, headers = corpus.partition(":")
        dataset = load_dataset(name, data_dir=data_dir, quiet=True, headers=headers or "keep")
        texts += dataset.corpus.texts
    return texts


def main(argv: Sequence[str] | None = None) -> int:
    """Compute or keep vectors; returns the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.frozen_vectors",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("what", choices=("compute", "keep"))
    parser.add_argument("--encoder", required=True, metavar="FOLDER|NAME")
    parser.add_argument("--data-dir", required=True, metavar="DIR")
    parser.add_argument("--folder", required=True, type=Path, metavar="VECTORS")
    parser.add_argument(
        "--corpora",
        default=_CORPORA,
        metavar="NAME,NAME",
        help="NAME:strip is without message headers (default: %(default)s)",
    )
    parser.add_argument("--max-tokens", type=int, default=128, metavar="N")
    parser.add_argument("--device", default="auto", help="auto, cpu, cuda, cuda:N or mps")
    options = parser.parse_args(argv)
    set_up_logging(quiet=False)
    texts = _texts(options.corpora, options.data_dir)
    computing = options.what == "compute"
    cache = options.folder if computing else None
    encoder = TextEncoder(options.encoder, options.max_tokens, device=options.device, cache=cache)
    if computing:
        encoder.encode(texts, quiet=False)
        print(f"{options.folder} has vectors of all {len(texts)} texts")
    else:
        covered = keep(encoder, texts, options.folder, user_cache() / "vectors")
        print(f"{covered} of {len(texts)} texts have a vector")
    return 0


if __name__ == "__main__":
    sys.exit(guarded(main)(None))
