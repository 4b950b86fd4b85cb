"""What watching costs, and the original way of selecting beside ours.

    python -m benchmarks.speed.watching --dataset agnews --probe minilm --max-docs 1000 \\
        --data-dir DIR

An epoch of training is timed, and a prediction of all samples. The original way is re-enacted for
transformers: texts padded to 512 tokens, float32, all samples predicted after each epoch.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from statistics import median
from typing import Any
from unittest.mock import patch

import numpy as np

from benchmarks.record import command_line, write_result
from benchmarks.speed.probes import probe_called
from lops_adapters.datasets import Dataset, load_dataset
from lops_adapters.probes import Probe
from lops_adapters.pseudo_labels import string_match

ORIGINAL_TOKENS = 512


def rounds(
    probe: Probe, texts: Sequence[str], codes: np.ndarray, k: int, repeats: int
) -> dict[str, Any]:
    """Time an epoch of training and a prediction of all samples, as medians over repeats."""
    plain, predicting = [], []
    prepared = probe.prepare(texts, fit=True)
    with patch.object(probe, "prepare", return_value=prepared):
        for seed in range(repeats):
            start = time.perf_counter()
            probe.fit(texts, codes, k, seed=seed)
            trained = time.perf_counter()
            probe.predict_prepared(prepared)
            plain.append((trained - start) / probe.max_epochs)
            predicting.append(time.perf_counter() - trained)
    epoch = median(plain)
    return {
        "epoch_seconds": epoch,
        "documents_per_second": {
            "train": len(texts) / epoch,
            "predict": len(texts) / median(predicting),
        },
        "watching": median(predicting) / epoch,
        "repeats": repeats,
    }


def original_way(
    encoder: str, texts: Sequence[str], codes: np.ndarray, k: int, device: str, batch: int = 32
) -> dict[str, float]:
    """Return the seconds of training and predicting the original way, after a warm-up."""
    import torch
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    from lops_adapters.encoders.pretrained import locate

    tokenizer = AutoTokenizer.from_pretrained(locate(encoder), trust_remote_code=False)
    model = (
        AutoModelForSequenceClassification.from_pretrained(
            locate(encoder), num_labels=k, trust_remote_code=False
        )
        .float()
        .to(device)
    )
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-5)
    padded = tokenizer(
        list(texts),
        truncation=True,
        max_length=ORIGINAL_TOKENS,
        padding="max_length",
        return_tensors="pt",
    ).to(device)
    target = torch.as_tensor(codes, device=device)

    def train(parts: Sequence[slice]) -> None:
        model.train()
        for part in parts:
            torch.nn.functional.cross_entropy(
                model(**{key: value[part] for key, value in padded.items()}).logits, target[part]
            ).backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad()

    def predict(parts: Sequence[slice]) -> None:
        model.eval()
        with torch.no_grad():
            for part in parts:
                model(**{key: value[part] for key, value in padded.items()}).logits.softmax(
                    dim=-1
                ).cpu()

    parts = [slice(start, start + batch) for start in range(0, len(texts), batch)]
    seconds = {}
    for name, work in (("train", train), ("predict", predict)):
        work(parts[:1])
        start = time.perf_counter()
        work(parts)
        seconds[name] = time.perf_counter() - start
    return seconds


def _labelled(dataset: Dataset, most: int | None) -> tuple[list[str], np.ndarray]:
    """Return pseudo-labelled texts, shuffled, with their (n,) codes."""
    labels = string_match(dataset.corpus.texts, dataset.corpus.seeds)
    where = np.random.default_rng(0).permutation(len(labels))[:most]
    return [dataset.corpus.texts[i] for i in labels.positions[where]], labels.codes[where]


def main() -> None:
    """Measure one probe on one data set and write the result."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--dataset", default="agnews", help="with seed words (default: agnews)")
    parser.add_argument("--data-dir")
    parser.add_argument(
        "--probe", default="linear", help="linear, minilm, a hub name or a folder (default: linear)"
    )
    parser.add_argument(
        "--max-docs", type=int, help="use a sample of the pseudo-labelled documents (default: all)"
    )
    parser.add_argument(
        "--repeats", type=int, default=3, help="repeats of each timing (default: 3)"
    )
    parser.add_argument(
        "--original-docs",
        type=int,
        default=64,
        help="documents for the original way, transformers only (default: 64)",
    )
    parser.add_argument("--device", default="auto")
    options = parser.parse_args()
    dataset = load_dataset(options.dataset, data_dir=options.data_dir, quiet=True)
    texts, codes = _labelled(dataset, options.max_docs)
    probe, device = probe_called(options.probe, options.device)
    k = len(dataset.corpus.classes)
    ours = rounds(probe, texts, codes, k, options.repeats)
    result = {"classifier": options.probe, "documents": len(texts), **ours}
    if probe.kind == "transformer":
        some = slice(0, options.original_docs)
        seconds = original_way(options.probe, texts[some], codes[some], k, device)
        result["original_way"] = {name: len(texts[some]) / took for name, took in seconds.items()}
        theirs = sum(1 / speed for speed in result["original_way"].values())
        result["times_faster"] = theirs / sum(
            1 / speed for speed in ours["documents_per_second"].values()
        )
    name = f"speed/speed-watching-{options.dataset}-{options.probe.replace('/', '-')}"
    print(
        write_result(
            name, result, dataset.corpus, device=device, command=command_line("speed.watching")
        )
    )


if __name__ == "__main__":
    main()
