"""LOTClass's network as a probe: an encoder with a class head, read at chosen positions."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np

from lops_adapters.encoders import pretrained
from lops_adapters.encoders.torch_tools import (
    adamw,
    import_torch,
    prediction_batches,
    training_batches,
)
from lops_adapters.lotclass.engine import Engine, micro_batches, warm_up_then_fall
from lops_adapters.lotclass.masked_lm import padded
from lops_adapters.probes.base import Probe, Stage, Update, steady

_STORED = ("encoder", "epochs", "batch_size", "learning_rate", "micro_batch", "by_token")


class TokenRow(NamedTuple):
    """A tokenised document and the positions where its class is read.

    Attributes:
        ids: (length,) int32 token ids, with mask tokens where the text is hidden.
        places: (m,) int64 positions, at least one.
    """

    ids: np.ndarray
    places: np.ndarray


@dataclass
class LotclassProbe(Probe):
    """Encoder, dense layer, tanh, dropout and linear layer on every token (LOTClass, section 3.2).

    The loss of a sample is the mean cross-entropy over its places, the loss of an update the mean
    over its samples. The probabilities of a sample are the mean over its places. Training uses
    AdamW without weight decay, a linear warm-up over the first tenth of the updates, a linear fall
    to zero, and gradients clipped at norm 1.

    Args:
        encoder: name or folder of the tokenizer and the encoder's weights.
        epochs, batch_size, learning_rate: of training on class codes.
        micro_batch: samples per pass through the network.
        by_token: the loss of an update is the mean over the places of all its samples, as in the
            original.
        engine: where to train and predict.
        predict_tokens: padded tokens per prediction batch.
    """

    kind: ClassVar[str] = "lotclass"
    encoder: str
    epochs: int
    batch_size: int
    learning_rate: float
    micro_batch: int
    engine: Engine = field(repr=False, compare=False)
    by_token: bool = False
    predict_tokens: int = 8192
    _network: Any = field(default=None, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        self.tokenizer = pretrained.load_tokenizer(self.encoder, "right")

    def prepare(self, samples: Sequence[Any], *, fit: bool = False) -> list[TokenRow]:
        return list(samples)

    def updates(
        self,
        prepared: list[TokenRow],
        codes: np.ndarray,
        n_classes: int,
        seed: int,
        total: int | None = None,
    ) -> Iterator[Update]:
        """Train a new network; the seed decides its head, the batches and dropout.

        The learning rate follows the number of updates.
        """
        self.start(n_classes, seed)
        rng = np.random.default_rng(seed)
        lengths = np.array([len(sample.ids) for sample in prepared])
        targets = np.eye(n_classes, dtype=np.float32)[codes]
        total = total or self.epochs * -(-len(prepared) // self.batch_size)
        learn = self.tuner(prepared, self.learning_rate, total, seed)
        passes = Stage(total, steady)  # an epoch has at least one update
        cut = partial(training_batches, lengths, rng=rng)
        for batch, _, update in islice(passes.batches(len(prepared), self.batch_size, cut), total):
            learn(batch, targets[batch])
            yield update

    def start(self, n_classes: int, seed: int) -> None:
        """Build a new network: the pretrained encoder, and a head drawn from the seed."""
        torch = import_torch()
        with self.engine.drawing((seed, 5)):
            encoder = pretrained.load_encoder(self.encoder)
            if getattr(encoder, "pooler", None) is not None:
                encoder.pooler = None  # unused
            width = encoder.config.hidden_size
            layers = [
                torch.nn.Linear(width, width),
                torch.nn.Tanh(),
                torch.nn.Dropout(0.1),
                torch.nn.Linear(width, n_classes),
            ]
            for layer in (layers[0], layers[3]):
                torch.nn.init.normal_(layer.weight, std=0.02)
                torch.nn.init.zeros_(layer.bias)
        head = torch.nn.Sequential(*layers)
        network = torch.nn.ModuleDict({"encoder": encoder, "head": head})
        self._network = network.to(self.engine.device)

    def tuner(
        self, prepared: Sequence[TokenRow], learning_rate: float, total: int, seed: int
    ) -> Callable[[np.ndarray, np.ndarray], None]:
        """Return ``update(positions, targets)``, which continues training on (b, k) soft labels.

        The tuner has its own optimiser and schedule, over ``total`` updates.
        """
        torch = import_torch()
        network = self._trained()
        optimizer = adamw(network.parameters(), learning_rate)
        schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, warm_up_then_fall(total))
        lengths = np.array([len(sample.ids) for sample in prepared])
        done = 0

        def update(positions: np.ndarray, targets: np.ndarray) -> None:
            nonlocal done
            target = dict(zip(positions.tolist(), targets, strict=True))
            count = len(positions)
            if self.by_token:
                count = sum(len(prepared[i].places) for i in positions)

            def loss(part: np.ndarray) -> Any:
                own = np.stack([target[i] for i in part.tolist()])
                wanted = torch.as_tensor(own, device=self.engine.device)
                scores, of = self._scores([prepared[i] for i in part])
                each = -(wanted[of] * torch.log_softmax(scores.float(), dim=-1)).sum(dim=-1)
                if not self.by_token:
                    each = each / torch.bincount(of, minlength=len(part))[of]
                return each.sum() / count

            parts = micro_batches(positions, lengths, self.micro_batch)
            self.engine.step(network, optimizer, parts, loss, (seed, 4, done))
            schedule.step()
            done += 1

        return update

    def _scores(self, samples: Sequence[TokenRow]) -> tuple[Any, Any]:
        """Return (places, k) logits at the samples' places, and the (places,) sample of each."""
        torch = import_torch()
        device = self.engine.device
        ids, mask = padded([sample.ids for sample in samples], self.tokenizer.pad_token_id, device)
        hidden = self._network["encoder"](input_ids=ids, attention_mask=mask).last_hidden_state
        owners = np.repeat(np.arange(len(samples)), [len(sample.places) for sample in samples])
        of = torch.as_tensor(owners, device=device)
        places = np.concatenate([sample.places for sample in samples])
        return self._network["head"](hidden[of, torch.as_tensor(places, device=device)]), of

    def predict_prepared(
        self, prepared: Sequence[TokenRow], positions: np.ndarray | None = None
    ) -> np.ndarray:
        """Return class probabilities, (m, k) float32, without dropout."""
        torch = import_torch()
        network = self._trained().eval()
        where = np.arange(len(prepared)) if positions is None else np.asarray(positions)
        lengths = np.array([len(sample.ids) for sample in prepared], dtype=np.int64)

        def compute(batch: np.ndarray) -> np.ndarray:
            scores, of = self._scores([prepared[i] for i in batch])
            probabilities = torch.softmax(scores.float(), dim=-1)
            shape = len(batch), probabilities.shape[1]
            sums = torch.zeros(shape, device=probabilities.device).index_add_(0, of, probabilities)
            means = sums / torch.bincount(of, minlength=len(batch))[:, None]
            return np.asarray(means.cpu().numpy())

        fill = np.zeros((len(prepared), network["head"][3].out_features), dtype=np.float32)
        batches = prediction_batches(lengths, where, self.predict_tokens)
        return self.engine.predict(batches, compute, fill)[where]

    def _trained(self) -> Any:
        if self._network is None:
            raise self._untrained()
        return self._network

    def weights(self) -> dict[str, np.ndarray]:
        """Return float32 copies of the network's weights, by name."""
        return {
            name: tensor.detach().cpu().numpy().copy()
            for name, tensor in self._trained().state_dict().items()
        }

    def restore(self, weights: dict[str, np.ndarray], n_classes: int) -> None:
        """Build a network with the weights of :meth:`weights`."""
        torch = import_torch()
        self.start(n_classes, 0)
        tensors = {name: torch.as_tensor(array) for name, array in weights.items()}
        self._network.load_state_dict(tensors)

    def save(self, folder: Path) -> None:
        """Write encoder and tokenizer in Hugging Face format, the head, and ``probe.json``."""
        from safetensors.numpy import save_file

        network = self._trained()
        with pretrained.hushed():
            network["encoder"].save_pretrained(folder)
        self.tokenizer.save_pretrained(folder)
        head = {
            name.removeprefix("head."): array
            for name, array in self.weights().items()
            if name.startswith("head.")
        }
        save_file(head, folder / "head.safetensors")
        settings = {name: getattr(self, name) for name in _STORED}
        (folder / "probe.json").write_text(json.dumps(settings), encoding="utf-8")

    @classmethod
    def load(cls, folder: Path, *, device: str = "auto") -> LotclassProbe:
        from safetensors.numpy import load_file

        torch = import_torch()
        settings = json.loads((folder / "probe.json").read_text(encoding="utf-8"))
        probe = cls(**{**settings, "encoder": str(folder)}, engine=Engine(device))
        head = load_file(folder / "head.safetensors")
        probe.start(len(head["3.bias"]), 0)
        tensors = {name: torch.as_tensor(array) for name, array in head.items()}
        probe._network["head"].load_state_dict(tensors)
        probe.encoder = settings["encoder"]
        return probe
