"""What watching costs, what listening loses, and the original way of selecting beside ours.

    python -m benchmarks.speed.watching --dataset agnews --probe minilm --max-docs 1000 \\
        --data-dir DIR

Trainings are timed in turns: plain, watched (every sample predicted after each epoch) and online
(the outputs of the training pass are reused). Both ways of watching are compared by the area under
the noise-coverage curve. The original way is re-enacted for transformers: texts padded to 512
tokens, float32, all samples predicted after each epoch.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from statistics import median
from typing import Any
from unittest.mock import patch

import numpy as np

from benchmarks.nc_curves import curve_numbers
from benchmarks.record import command_line, write_result
from benchmarks.speed.probes import probe_called
from lops_adapters.core import LopsError
from lops_adapters.datasets import Dataset, load_dataset
from lops_adapters.probes import Probe
from lops_adapters.pseudo_labels import string_match
from lops_adapters.selection import score

ORIGINAL_TOKENS = 512
# Scores with hardly any ties, so that their curves cover the same range.
RANKING = ("learning-order", "probability", "margin")


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


def listening(
    probe: Probe, texts: Sequence[str], codes: np.ndarray, k: int, turns: int, *, on_processor: bool
) -> dict[str, Any]:
    """Return what listening adds to a training, as a share of it: median and quartiles over turns.

    A turn is a plain and a listened training, in alternating order. On a CPU processor time is
    measured: other processes make wall time scatter by more than listening costs. The samples are
    prepared once.
    """
    clock = time.process_time if on_processor else time.perf_counter
    ways: list[Callable[[int], Any]] = [
        lambda seed: probe.fit(texts, codes, k, seed=seed),
        lambda seed: list(probe.watch(texts, codes, k, seed=seed, online=True)),
    ]
    shares = []
    with patch.object(probe, "prepare", return_value=probe.prepare(texts, fit=True)):
        for seed in range(turns):
            seconds = {}
            for way in (0, 1) if seed % 2 else (1, 0):
                start = clock()
                ways[way](seed)
                seconds[way] = clock() - start
            shares.append(seconds[1] / seconds[0] - 1)
    quartiles = np.quantile(shares, [0.25, 0.75]).tolist()
    return {
        "online": median(shares),
        "online_quartiles": quartiles,
        "online_turns": turns,
        "online_clock": clock.__name__,
    }


def areas(
    probe: Probe, texts: Sequence[str], codes: np.ndarray, gold: np.ndarray, k: int, seeds: int
) -> dict[str, Any]:
    """Return the area under the noise-coverage curve by confidence and way, one per seed."""
    found: dict[str, dict[str, list[float]]] = {
        name: {"watched": [], "online": []} for name in RANKING
    }
    for seed in range(seeds):
        for way in ("watched", "online"):
            for name, scores in score(
                probe, texts, codes, k, RANKING, seed=seed, online=way == "online"
            ).items():
                found[name][way].append(curve_numbers(scores, codes, gold)["aunc"])
    return {"areas": found, "best_possible": curve_numbers(scores, codes, gold)["ideal"]}


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


def _labelled(dataset: Dataset, most: int | None) -> tuple[list[str], np.ndarray, np.ndarray]:
    """Return pseudo-labelled texts, shuffled, with (n,) codes of pseudo-labels and gold labels."""
    if dataset.gold is None:
        raise LopsError(
            f"{dataset.corpus.name} has no gold labels; ranking is measured with them. "
            "Pass a data set that has them."
        )
    labels = string_match(dataset.corpus.texts, dataset.corpus.seeds)
    place = {name: code for code, name in enumerate(dataset.corpus.classes)}
    where = np.random.default_rng(0).permutation(len(labels))[:most]
    texts = [dataset.corpus.texts[labels.positions[i]] for i in where]
    codes = np.array([place[labels.labels[i]] for i in where])
    gold = np.array([place[dataset.gold.labels[labels.positions[i]]] for i in where])
    return texts, codes, gold


def main() -> None:
    """Measure one probe on one data set and write the result."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--dataset", default="agnews", help="with gold labels and seed words (default: agnews)"
    )
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
        "--turns", type=int, default=9, help="pairs of a plain and a listened training (default: 9)"
    )
    parser.add_argument("--seeds", type=int, default=3, help="seeds of the areas (default: 3)")
    parser.add_argument(
        "--original-docs",
        type=int,
        default=64,
        help="documents for the original way, transformers only (default: 64)",
    )
    parser.add_argument("--device", default="auto")
    options = parser.parse_args()
    dataset = load_dataset(options.dataset, data_dir=options.data_dir, quiet=True)
    texts, codes, gold = _labelled(dataset, options.max_docs)
    probe, device = probe_called(options.probe, options.device)
    k = len(dataset.corpus.classes)
    ours = rounds(probe, texts, codes, k, options.repeats)
    result = {"classifier": options.probe, "documents": len(texts), "seeds": options.seeds, **ours}
    result |= listening(probe, texts, codes, k, options.turns, on_processor=device == "cpu")
    result |= areas(probe, texts, codes, gold, k, options.seeds)
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
