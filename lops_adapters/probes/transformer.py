"""The transformer probe: any Hugging Face sequence classifier, fine-tuned in batches by length."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from lops_adapters.core import LopsError
from lops_adapters.encoders import pretrained
from lops_adapters.encoders.torch_tools import (
    LocalRandomness,
    adamw,
    autocast,
    import_torch,
    prediction_batches,
    resolve_device,
    training_batches,
)
from lops_adapters.encoders.word_counts import joined
from lops_adapters.probes.base import Probe, Stage, Update


@dataclass(frozen=True)
class Recipe:
    """How a kind of encoder is fine-tuned: the rate is its peak, and the side left or right."""

    epochs: int
    batch_size: int
    learning_rate: float
    padding_side: str


# The paper's appendix (epochs, batch) and the authors' released code (learning rate, padding);
# XLNet's batch is 32 there, 1 in the paper. MiniLM is not in the paper: BERT's recipe, with the
# larger learning rate that a model of 6 narrow layers needs to move in as few updates.
RECIPES = {
    pretrained.MINILM: Recipe(epochs=4, batch_size=32, learning_rate=1e-4, padding_side="right"),
    "bert": Recipe(epochs=4, batch_size=32, learning_rate=2e-5, padding_side="right"),
    "roberta": Recipe(epochs=3, batch_size=32, learning_rate=2e-5, padding_side="right"),
    "xlnet": Recipe(epochs=4, batch_size=32, learning_rate=2e-5, padding_side="left"),
    "gpt2": Recipe(epochs=4, batch_size=4, learning_rate=2e-5, padding_side="right"),
}


def recipe_for(name: str) -> Recipe:
    """Return the fine-tuning recipe of an encoder, by name or else by model type.

    Model types that the paper does not use get BERT's recipe.
    """
    if name in RECIPES:
        return RECIPES[name]
    return RECIPES.get(pretrained.load_config(name).model_type, RECIPES["bert"])


@dataclass
class TransformerProbe(Probe):
    """A pretrained encoder with a classification head, trained as in the paper.

    It uses AdamW without weight decay, a learning rate that falls linearly to zero over all epochs,
    and gradients clipped at norm 1 (the authors' released code). The original pads all texts to 512
    tokens in float32; this probe pads per batch and computes in bfloat16 if the hardware has it.

    Args:
        encoder: ``minilm`` (packaged, works offline), a name on the Hugging Face hub, or a local
            folder.
        epochs, batch_size, learning_rate: default: the encoder's recipe in :data:`RECIPES`.
        max_tokens: longer texts are cut.
        precision: ``auto``, ``bfloat16`` or ``float32``.
        device: ``auto``, ``cpu``, ``cuda``, ``cuda:N``, ``mps``.
        predict_tokens: padded tokens per prediction batch.

    Samples are strings, tokens, or sentences of tokens, joined by spaces.
    """

    kind: ClassVar[str] = "transformer"
    encoder: str = pretrained.MINILM
    epochs: int | None = None
    batch_size: int | None = None
    learning_rate: float | None = None
    max_tokens: int = 128
    precision: str = "auto"
    device: str = "auto"
    predict_tokens: int = 8192

    def __post_init__(self) -> None:
        import_torch()
        self._config = pretrained.load_config(self.encoder)
        recipe = recipe_for(self.encoder)
        if self.epochs is None:
            self.epochs = recipe.epochs
        if self.batch_size is None:
            self.batch_size = recipe.batch_size
        if self.learning_rate is None:
            self.learning_rate = recipe.learning_rate
        if self.epochs < 1 or self.batch_size < 1 or not self.learning_rate > 0:
            raise LopsError(
                f"{self!r}: wanted epochs and batch_size of at least 1 and a positive learning_rate"
            )
        pretrained.check_length("max_tokens", self.max_tokens, self.encoder, self._config)
        self._device = resolve_device(self.device)
        autocast(self._device, self.precision)  # raises now rather than after tokenising
        self._tokenizer = pretrained.load_tokenizer(self.encoder, recipe.padding_side)
        self._model: Any = None

    def prepare(self, samples: Sequence[Any], *, fit: bool = False) -> list[list[int]]:
        """Return token ids of every sample with special tokens, at most ``max_tokens`` each.

        Texts are tokenised once and padded per batch.
        """
        texts = [joined(sample) for sample in samples]
        return list(pretrained.token_ids(self._tokenizer, texts, self.max_tokens))

    def _batch(self, prepared: list[list[int]], positions: np.ndarray) -> dict[str, Any]:
        return pretrained.padded(self._tokenizer, [prepared[i] for i in positions], self._device)

    def _fresh_model(self, n_classes: int) -> Any:
        model = pretrained.load_classifier(self.encoder, n_classes)
        model.config.pad_token_id = self._tokenizer.pad_token_id
        return model.to(self._device)

    @property
    def schedule(self) -> Stage:
        """All epochs, with the learning rate falling linearly to zero."""
        epochs = self.max_epochs
        return Stage(epochs, lambda done, per_epoch: max(0.0, 1.0 - done / (per_epoch * epochs)))

    def staged_updates(
        self,
        prepared: list[list[int]],
        codes: np.ndarray,
        n_classes: int,
        seed: int,
        stages: Sequence[Stage],
    ) -> Iterator[Update]:
        """Fine-tune a fresh copy of the encoder in stages, each with a fresh AdamW."""
        randomness = LocalRandomness(seed, self._device)
        rng = np.random.default_rng(seed)
        with randomness.inside():
            self._model = self._fresh_model(n_classes)
        torch = import_torch()
        lengths = np.array([len(row) for row in prepared])
        cut = partial(training_batches, lengths, rng=rng)
        size, learning_rate = int(self.batch_size or 1), float(self.learning_rate or 0)
        for stage in stages:
            optimizer = adamw(self._model.parameters(), learning_rate)
            for batch, rate, update in stage.batches(len(prepared), size, cut):
                optimizer.param_groups[0]["lr"] = learning_rate * rate
                with randomness.inside():
                    self._model.train()  # each time: predictions in between switch dropout off
                    target = torch.as_tensor(codes[batch], device=self._device)
                    logits = self._learn(optimizer, self._batch(prepared, batch), target)
                if stage.heard is not None:
                    stage.heard(batch, torch.softmax(logits, dim=-1).cpu().numpy())
                yield update

    def _learn(self, optimizer: Any, batch: dict[str, Any], codes: Any) -> Any:
        torch = import_torch()
        with autocast(self._device, self.precision):
            logits = self._model(**batch).logits
        loss = torch.nn.functional.cross_entropy(logits.float(), codes)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self._model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        return logits.detach().float()

    def predict_prepared(
        self, prepared: list[list[int]], positions: np.ndarray | None = None
    ) -> np.ndarray:
        """Return class probabilities, (m, k) float32, without dropout."""
        if self._model is None:
            raise self._untrained()
        self._model.eval()
        where = np.arange(len(prepared)) if positions is None else np.asarray(positions)
        return self._predict(prepared, where)

    @property
    def has_dropout(self) -> bool:
        rates = [
            value
            for name, value in self._config.to_dict().items()
            if "drop" in name and isinstance(value, float)
        ]
        return any(rate > 0 for rate in rates)

    def predict_with_dropout(
        self, samples: Sequence[Any], passes: int, *, seed: int = 0
    ) -> np.ndarray:
        """Return class probabilities of several passes with all dropout on, (passes, m, k) float32.

        This includes the dropout of attention.
        """
        if not self.has_dropout:
            return super().predict_with_dropout(samples, passes)
        if self._model is None:
            raise self._untrained()
        prepared = self.prepare(samples)
        where = np.arange(len(prepared))
        # Attention's dropout follows the flag of the whole model, not of its module.
        self._model.train()
        with LocalRandomness(seed, self._device).inside():
            return np.stack([self._predict(prepared, where) for _ in range(passes)])

    def _predict(self, prepared: list[list[int]], where: np.ndarray) -> np.ndarray:
        torch = import_torch()
        lengths = np.array([len(row) for row in prepared], dtype=np.int64)
        probabilities = np.zeros((len(prepared), self._model.config.num_labels), dtype=np.float32)
        with torch.inference_mode(), autocast(self._device, self.precision):
            for batch in prediction_batches(lengths, where, self.predict_tokens):
                logits = self._model(**self._batch(prepared, batch)).logits
                probabilities[batch] = torch.softmax(logits.float(), dim=-1).cpu().numpy()
        return probabilities[where]

    def save(self, folder: Path) -> None:
        """Write the fine-tuned model and tokenizer in Hugging Face format, and ``probe.json``.

        The last holds the settings.
        """
        if self._model is None:
            raise self._untrained()
        with pretrained.hushed():
            self._model.save_pretrained(folder)
        self._tokenizer.save_pretrained(folder)
        (folder / "probe.json").write_text(json.dumps(self.settings()), encoding="utf-8")

    @classmethod
    def load(cls, folder: Path, *, device: str = "auto") -> TransformerProbe:
        """Read what :meth:`save` wrote; training it afresh needs the original encoder."""
        settings = json.loads((folder / "probe.json").read_text(encoding="utf-8"))
        probe = cls(**{**settings, "encoder": str(folder), "device": device})
        probe._model = pretrained.load_classifier(str(folder)).to(probe._device)
        probe.encoder = settings["encoder"]
        return probe
