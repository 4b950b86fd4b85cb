"""The masked language model: loaded with its head, or with a head trained on the corpus."""

from __future__ import annotations

import hashlib
import json
import logging
import time
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from lops_adapters import storage
from lops_adapters.console import progress
from lops_adapters.core import LopsError
from lops_adapters.encoders import pretrained
from lops_adapters.encoders.torch_tools import (
    adamw,
    import_torch,
    prediction_batches,
    training_batches,
)
from lops_adapters.lotclass.engine import Engine, micro_batches, warm_up_then_fall

log = logging.getLogger(__name__)
# Share of tokens, as in BERT: 80 % of them become the mask, 10 % a random token, 10 % stay.
_MASKED = 0.15
# All seeds of a run share the trained model, as they would share a downloaded one.
_SEED = 0
_ABOUT, _WEIGHTS = "lops.json", "model.safetensors"  # of a trained model in the cache
_HELD_OUT = 0.05  # share of documents, to measure the accuracy


@dataclass(frozen=True)
class HeadTraining:
    """How to train a missing head, together with the encoder.

    Training lasts ``epochs``, and more on a small corpus, until it makes ``updates`` updates.
    """

    epochs: int = 3
    updates: int = 400
    batch_size: int = 32
    micro_batch: int = 16
    learning_rate: float = 5e-4


@dataclass(frozen=True)
class LanguageModel:
    """A masked language model on disk.

    Attributes:
        source: what ``from_pretrained`` takes.
        accuracy: share of held-out masked tokens it predicts; None if it came with a head.
        seconds: of training, also if it was trained in an earlier run.
    """

    source: str
    accuracy: float | None = None
    seconds: float = 0.0


def load_network(source: str, engine: Engine) -> tuple[Any, bool]:
    """Return the network, float32, and whether its head is drawn (always the same), not trained.

    LopsError if it cannot be loaded, or its decoder is not tied to its embeddings.
    """
    from transformers import AutoModelForMaskedLM

    try:
        with pretrained.hushed(), engine.drawing((_SEED, 1)):
            model, info = AutoModelForMaskedLM.from_pretrained(
                source, output_loading_info=True, trust_remote_code=False
            )
    except (OSError, ValueError, KeyError) as error:
        raise LopsError(
            f"cannot load {source!r} as a masked language model "
            f"({str(error).strip().splitlines()[0]}); wanted minilm, or a BERT- or RoBERTa-like "
            "model by its name on the Hugging Face hub or as a local folder"
        ) from None
    model = model.float()
    decoder, embeddings = model.get_output_embeddings(), model.get_input_embeddings()
    if decoder is None or decoder.weight.data_ptr() != embeddings.weight.data_ptr():
        raise LopsError(  # drawn, it would predict noise
            f"the decoder of {source!r} is not tied to its embeddings; wanted a masked language "
            "model whose decoder is"
        )
    head(model)
    state = model.state_dict()
    missing = set(info["missing_keys"])
    loaded = {tensor.data_ptr() for name, tensor in state.items() if name not in missing}
    return model, any(state[name].data_ptr() not in loaded for name in missing if name in state)


def head(model: Any) -> Any:
    """Return the module that turns hidden states into logits over the vocabulary."""
    for name in ("cls", "lm_head", "predictions"):
        if hasattr(model, name):
            return getattr(model, name)
    raise LopsError(
        f"{type(model).__name__} has no head that LOTClass knows; wanted a BERT- or RoBERTa-like "
        "masked language model"
    )


def padded(rows: Sequence[np.ndarray], pad: int, device: Any) -> tuple[Any, Any]:
    """Return ids and attention mask of a batch, both (b, longest) int64."""
    torch = import_torch()
    lengths = np.array([len(row) for row in rows])
    ids = np.full((len(rows), lengths.max()), pad, dtype=np.int64)
    mask = np.arange(ids.shape[1]) < lengths[:, None]
    ids[mask] = np.concatenate(rows)
    attention = mask.astype(np.int64)
    return torch.as_tensor(ids, device=device), torch.as_tensor(attention, device=device)


def prepare_language_model(
    encoder: str,
    documents: Sequence[np.ndarray],
    tokenizer: Any,
    engine: Engine,
    training: HeadTraining,
    *,
    cache: Path,
    quiet: bool,
) -> LanguageModel:
    """Return the encoder with its own head, or with one trained on the documents.

    Documents are their (length,) int32 token ids, special tokens included. ``cache`` is the folder
    of trained models, named by a hash of weights, documents and settings.
    """
    source = pretrained.locate(encoder)
    model, headless = load_network(source, engine)
    if not headless:
        return LanguageModel(source)
    folder = cache / _fingerprint(model, documents, training)
    stored = _kept(folder)
    if stored is None:
        log.info(
            "%s has no masked-language-model head: training one on %d documents",
            encoder,
            len(documents),
        )
        start = time.perf_counter()
        accuracy = _train(model, documents, tokenizer, engine, training, quiet=quiet)
        stored = {"accuracy": accuracy, "seconds": time.perf_counter() - start}
        storage.restore(folder)
        with storage.replacing_folder(folder) as place:
            with pretrained.hushed():
                model.save_pretrained(place)
            tokenizer.save_pretrained(place)
            storage.write_json(place / _ABOUT, {**stored, "weights": _sha256(place / _WEIGHTS)})
    log.info(
        "masked language model: %.1f %% of held-out masked tokens right (%s)",
        100 * stored["accuracy"],
        folder,
    )
    return LanguageModel(str(folder), **stored)


def _kept(folder: Path) -> dict[str, float] | None:
    if not folder.is_dir():
        return None
    try:
        stored = json.loads((folder / _ABOUT).read_text(encoding="utf-8"))
        if stored["weights"] != _sha256(folder / _WEIGHTS):
            raise ValueError(f"{_WEIGHTS} was changed")
        return {name: float(stored[name]) for name in ("accuracy", "seconds")}
    except (OSError, ValueError, KeyError, TypeError) as error:
        log.warning("the language model in %s is damaged (%s); training it again", folder, error)
        return None


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _fingerprint(model: Any, documents: Sequence[np.ndarray], training: HeadTraining) -> str:
    digest = hashlib.sha256(repr([training, version("torch"), version("transformers")]).encode())
    for name, tensor in sorted(model.state_dict().items()):
        digest.update(name.encode() + tensor.contiguous().numpy().tobytes())
    for row in documents:
        digest.update(row.astype(np.int32).tobytes() + b"\n")
    return digest.hexdigest()[:32]


def _train(
    model: Any,
    documents: Sequence[np.ndarray],
    tokenizer: Any,
    engine: Engine,
    training: HeadTraining,
    *,
    quiet: bool,
) -> float:
    torch = import_torch()
    rng = np.random.default_rng([_SEED, 2])
    usable = np.array([i for i, row in enumerate(documents) if len(row) > 2])
    if len(usable) < 2:
        raise LopsError(
            f"found {len(usable)} documents with words; wanted at least two to train a language "
            "model on"
        )
    order = rng.permutation(usable)
    n_held = max(1, int(_HELD_OUT * len(order)))
    held, rows = order[:n_held], order[n_held:]
    lengths = np.array([len(documents[i]) for i in rows])
    model.to(engine.device)
    optimizer = adamw(model.parameters(), training.learning_rate, weight_decay=0.01)
    per_epoch = -(-len(rows) // training.batch_size)
    epochs = max(training.epochs, -(-training.updates // per_epoch))
    total = epochs * per_epoch
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, warm_up_then_fall(total))
    cross_entropy = torch.nn.functional.cross_entropy
    masker = Masker(tokenizer)
    step = 0
    with progress(total=total, quiet=quiet, unit="update", desc="language model") as bar:
        for _ in range(epochs):
            for batch in training_batches(lengths, training.batch_size, rng):
                masked = {i: masker.mask(documents[rows[i]], rng) for i in batch}
                count = max(1, sum(len(places) for _, places, _ in masked.values()))
                parts = micro_batches(batch, lengths, training.micro_batch)

                def loss(part: np.ndarray, masked: Any = masked, count: int = count) -> Any:
                    own = [masked[i] for i in part]
                    logits, wanted = _predict_masked(model, own, tokenizer, engine)
                    total_loss = cross_entropy(logits.float(), wanted, reduction="sum")
                    return total_loss / count

                engine.step(model, optimizer, parts, loss, (_SEED, 3, step))
                schedule.step()
                step += 1
                bar.update()
    return _accuracy(model, [masker.mask(documents[i], rng) for i in held], tokenizer, engine)


class Masker:
    """Masks tokens for the training of a language model."""

    def __init__(self, tokenizer: Any) -> None:
        self._special = np.array(sorted(set(tokenizer.all_special_ids)))
        self._mask = tokenizer.mask_token_id
        self._ordinary = np.setdiff1d(np.arange(len(tokenizer)), self._special)

    def mask(
        self, row: np.ndarray, rng: np.random.Generator
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return a row with masked tokens, their (m,) places, and the original tokens there.

        At least one token is masked, unless all are special.
        """
        places = np.flatnonzero(~np.isin(row, self._special))
        chosen = places
        if len(places):
            chosen = np.sort(rng.permutation(places)[: max(1, round(_MASKED * len(places)))])
        changed = row.copy()
        draw = rng.random(len(chosen))
        changed[chosen[draw < 0.8]] = self._mask
        random = chosen[(draw >= 0.8) & (draw < 0.9)]
        changed[random] = rng.choice(self._ordinary, len(random))
        return changed, chosen, row[chosen]


def _predict_masked(
    model: Any,
    masked: Sequence[tuple[np.ndarray, np.ndarray, np.ndarray]],
    tokenizer: Any,
    engine: Engine,
) -> tuple[Any, Any]:
    torch = import_torch()
    ids, attention = padded([row for row, _, _ in masked], tokenizer.pad_token_id, engine.device)
    hidden = model.base_model(input_ids=ids, attention_mask=attention).last_hidden_state
    rows = np.repeat(np.arange(len(masked)), [len(places) for _, places, _ in masked])
    columns = np.concatenate([places for _, places, _ in masked])
    wanted = np.concatenate([tokens for _, _, tokens in masked]).astype(np.int64)
    return head(model)(hidden[rows, columns]), torch.as_tensor(wanted, device=engine.device)


def _accuracy(
    model: Any,
    masked: Sequence[tuple[np.ndarray, np.ndarray, np.ndarray]],
    tokenizer: Any,
    engine: Engine,
) -> float:
    lengths = np.array([len(row) for row, _, _ in masked])
    counts = np.zeros((len(masked), 2), dtype=np.int64)
    model.eval()

    def right(batch: np.ndarray) -> np.ndarray:
        logits, wanted = _predict_masked(model, [masked[i] for i in batch], tokenizer, engine)
        correct = (logits.argmax(dim=-1) == wanted).cpu().numpy()
        hits = np.split(correct, np.cumsum([len(masked[i][1]) for i in batch])[:-1])
        return np.array([[found.sum(), len(found)] for found in hits])

    engine.predict(prediction_batches(lengths, np.arange(len(masked)), 4096), right, counts)
    return float(counts[:, 0].sum() / max(1, counts[:, 1].sum()))
