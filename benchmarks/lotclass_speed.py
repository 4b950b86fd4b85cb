"""Speed of LOTClass's phases, beside the original way on the same weights and tokens.

The original way is re-enacted from docs/differences.md: all padded to 200 tokens (its setting
for AG News) in float32, the language model's head at every position, padding included, and a loop
over the words of each vocabulary.

    python -m benchmarks.lotclass_speed --dataset agnews --data-dir DIR [--documents 192] \\
        [--encoder minilm]
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from benchmarks.record import write_result
from lops_adapters.datasets import load_dataset
from lops_adapters.encoders import pretrained
from lops_adapters.encoders.torch_tools import import_torch
from lops_adapters.lotclass.documents import token_rows
from lops_adapters.lotclass.engine import Engine
from lops_adapters.lotclass.masked_lm import load_network
from lops_adapters.lotclass.model import FIRST
from lops_adapters.lotclass.probe import LotclassProbe, TokenRow
from lops_adapters.lotclass.settings import LotclassSettings
from lops_adapters.lotclass.vocabulary import Predictor, indicative_positions

LONGEST = 200


def original_positions(
    model: Any,
    rows: Sequence[np.ndarray],
    vocabularies: Sequence[np.ndarray],
    pad: int,
    batch: int = 32,
) -> None:
    """Find indicative positions the original way."""
    torch = import_torch()
    with torch.inference_mode():
        for start in range(0, len(rows), batch):
            ids, mask = full_length(rows[start : start + batch], pad)
            best = model(input_ids=ids, attention_mask=mask).logits.topk(50, dim=-1).indices
            for tokens in vocabularies:
                matches = torch.zeros_like(best, dtype=torch.bool)
                for token in tokens.tolist():
                    matches |= best == token
                ((matches.sum(dim=-1) > 20) & (mask > 0)).any()


def full_length(rows: Sequence[np.ndarray], pad: int) -> tuple[Any, Any]:
    """Return ids and attention mask, padded to the maximum length."""
    torch = import_torch()
    ids = torch.full((len(rows), LONGEST), pad, dtype=torch.int64)
    mask = torch.zeros((len(rows), LONGEST), dtype=torch.int64)
    for number, row in enumerate(rows):
        ids[number, : len(row)], mask[number, : len(row)] = torch.as_tensor(row.astype(np.int64)), 1
    return ids, mask


def original_training(
    model: Any, head: Any, rows: Sequence[np.ndarray], codes: np.ndarray, pad: int, batch: int = 32
) -> None:
    """Train one epoch the original way: class logits at every position of full-length batches."""
    torch = import_torch()
    parameters = [*model.parameters(), *head.parameters()]
    optimizer = torch.optim.AdamW(parameters, lr=2e-5, weight_decay=0.0)
    model.train()
    for start in range(0, len(rows), batch):
        ids, mask = full_length(rows[start : start + batch], pad)
        logits = head(model(input_ids=ids, attention_mask=mask).last_hidden_state)
        torch.nn.functional.cross_entropy(
            logits[:, 0], torch.as_tensor(codes[start : start + batch])
        ).backward()
        torch.nn.utils.clip_grad_norm_(parameters, 1.0)
        optimizer.step()
        optimizer.zero_grad()


def original_prediction(
    model: Any, head: Any, rows: Sequence[np.ndarray], pad: int, batch: int = 128
) -> None:
    """Predict documents the original way."""
    torch = import_torch()
    model.eval()
    with torch.inference_mode():
        for start in range(0, len(rows), batch):
            ids, mask = full_length(rows[start : start + batch], pad)
            head(model(input_ids=ids, attention_mask=mask).last_hidden_state)[:, 0].softmax(dim=-1)


def timed(work: Callable[[], object]) -> float:
    """Return the seconds that a piece of work takes, after one run to warm up."""
    work()
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def main() -> None:
    """Measure both ways and write the result."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--dataset", default="agnews")
    parser.add_argument("--data-dir")
    parser.add_argument("--documents", type=int, default=192)
    parser.add_argument("--encoder", default="minilm")
    options = parser.parse_args()
    dataset = load_dataset(options.dataset, data_dir=options.data_dir, quiet=True)
    corpus = dataset.sample(options.documents, 0).corpus
    settings, engine, k = LotclassSettings(), Engine("cpu"), len(corpus.classes)
    tokenizer = pretrained.load_tokenizer(options.encoder, "right")
    source = pretrained.locate(options.encoder)
    model, _ = load_network(source, engine)  # the head's quality does not matter here
    rows = token_rows(corpus.texts, tokenizer, LONGEST)
    rng = np.random.default_rng(0)
    vocabularies = np.split(rng.permutation(len(tokenizer))[: 80 * k], k)
    codes = rng.integers(0, k, len(rows))
    samples = [TokenRow(row, FIRST) for row in rows]
    probe = LotclassProbe(
        encoder=source,
        epochs=1,
        batch_size=32,
        learning_rate=2e-5,
        micro_batch=settings.micro_batch,
        engine=engine,
        quiet=True,
    )
    predictor = Predictor(model, tokenizer, engine, top=50, tokens=4096, quiet=True)
    ours = {
        "indicative positions": timed(
            lambda: indicative_positions(rows, vocabularies, predictor, thresholds=np.full(k, 20))
        ),
        "training": timed(lambda: probe.fit(samples, codes, k)),
        "prediction": timed(lambda: probe.predict_proba(samples)),
    }
    torch, pad = import_torch(), int(tokenizer.pad_token_id)
    width = model.config.hidden_size
    head = torch.nn.Sequential(
        torch.nn.Linear(width, width),
        torch.nn.Tanh(),
        torch.nn.Dropout(0.1),
        torch.nn.Linear(width, k),
    )
    theirs = {
        "indicative positions": timed(lambda: original_positions(model, rows, vocabularies, pad)),
        "training": timed(lambda: original_training(model.base_model, head, rows, codes, pad)),
        "prediction": timed(lambda: original_prediction(model.base_model, head, rows, pad)),
    }
    result = {
        "encoder": options.encoder,
        "ours": {phase: len(rows) / seconds for phase, seconds in ours.items()},
        "original_way": {phase: len(rows) / seconds for phase, seconds in theirs.items()},
    }
    name = f"speed/lotclass-speed-{options.dataset}-{options.encoder.replace('/', '-')}"
    print(write_result(name, result, corpus))


if __name__ == "__main__":
    main()
