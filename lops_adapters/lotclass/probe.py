"""LOTClass's network as a probe: an encoder with a class head on every token, trained and read at
chosen positions.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np

from lops_adapters.lotclass.engine import Engine, micro_batches, warm_up_then_fall
from lops_adapters.lotclass.masked_lm import padded
from lops_adapters.probes import encoders
from lops_adapters.probes.base import Probe, Update
from lops_adapters.probes.torch_tools import import_torch, prediction_batches, training_batches


class Sample(NamedTuple):
    """What the network is trained on and predicts.

    Attributes:
        ids: (length,) int32 token ids, those that are hidden already replaced by the mask.
        places: (m,) int64 positions where the class is read, at least one.

    """

    ids: np.ndarray
    places: np.ndarray


@dataclass
class LotclassProbe(Probe):
    """Encoder, dense layer, tanh, dropout and a linear layer on every token (LOTClass, section
    3.2).

    A sample's loss is the mean cross-entropy over the places where it is read, an update's the mean
    over its samples; a sample's probabilities are the mean over its places. AdamW without weight
    decay, a linear warm-up over the first tenth of all updates, then a linear fall to zero,
    gradients clipped at norm 1.

    Args:
        encoder: name or folder the tokenizer and the encoder's weights are from.
        epochs, batch_size, learning_rate: of training on class codes.
        micro_batch: samples that go through the network together.
        by_token: an update's loss is the mean over places, whichever sample they are of, as in the
            original.
        engine: where to work.
        predict_tokens: padded tokens in one prediction batch.

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
        self.tokenizer = encoders.load_tokenizer(self.encoder, "right")

    @property
    def max_epochs(self) -> int:
        """Epochs that training runs for."""
        return self.epochs

    def prepare(self, samples: Sequence[Any], *, fit: bool = False) -> list[Sample]:
        """Return the samples as they are; they are token ids already."""
        return list(samples)

    def updates(
        self, prepared: list[Sample], codes: np.ndarray, n_classes: int, seed: int
    ) -> Iterator[Update]:
        """Train a fresh network; the seed decides its head, the batches and dropout."""
        self.start(n_classes, seed)
        rng = np.random.default_rng(seed)
        lengths = np.array([len(sample.ids) for sample in prepared])
        per_epoch = -(-len(prepared) // self.batch_size)
        targets = np.eye(n_classes, dtype=np.float32)[codes]
        update = self.tuner(prepared, self.learning_rate, self.max_epochs * per_epoch, seed)
        done = 0
        for _ in range(self.max_epochs):
            for batch in training_batches(lengths, self.batch_size, rng):
                update(batch, targets[batch])
                done += 1
                yield Update(done, per_epoch, len(batch))

    def start(self, n_classes: int, seed: int) -> None:
        """Build a fresh network: the encoder's pretrained weights, and a head drawn from the seed."""
        from transformers import AutoModel

        torch = import_torch()
        with self.engine.drawing((seed, 5)):
            with encoders.hushed():
                encoder = AutoModel.from_pretrained(encoders.locate(self.encoder)).float()
            if getattr(encoder, "pooler", None) is not None:
                encoder.pooler = None  # nothing reads it
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
        self._network = torch.nn.ModuleDict(
            {"encoder": encoder, "head": torch.nn.Sequential(*layers)}
        ).to(self.engine.device)

    def tuner(
        self, prepared: Sequence[Sample], learning_rate: float, total: int, seed: int
    ) -> Callable[[np.ndarray, np.ndarray], None]:
        """Return ``update(positions, targets)``, which trains the network as it stands towards (b,
        k) soft labels.

        Optimiser and schedule (over ``total`` updates) are this tuner's own.
        """
        torch = import_torch()
        network = self._trained()
        optimizer = torch.optim.AdamW(
            network.parameters(), lr=learning_rate, weight_decay=0.0, eps=1e-8
        )
        schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, warm_up_then_fall(total))
        lengths = np.array([len(sample.ids) for sample in prepared])
        done = 0

        def update(positions: np.ndarray, targets: np.ndarray) -> None:
            nonlocal done
            target = dict(zip(positions.tolist(), targets, strict=True))
            count = (
                sum(len(prepared[i].places) for i in positions) if self.by_token else len(positions)
            )

            def loss(part: np.ndarray) -> Any:
                wanted = torch.as_tensor(
                    np.stack([target[i] for i in part.tolist()]), device=self.engine.device
                )
                scores, of = self._scores([prepared[i] for i in part])
                each = -(wanted[of] * torch.log_softmax(scores.float(), dim=-1)).sum(dim=-1)
                if not self.by_token:
                    each = each / torch.bincount(of, minlength=len(part))[of]
                return each.sum() / count

            self.engine.step(
                network,
                optimizer,
                micro_batches(positions, lengths, self.micro_batch),
                loss,
                (seed, 4, done),
            )
            schedule.step()
            done += 1

        return update

    def _scores(self, samples: Sequence[Sample]) -> tuple[Any, Any]:
        """Return (places, k) logits where the samples are read, and the (places,) number of the
        sample each is of.
        """
        torch = import_torch()
        ids, mask = padded(
            [sample.ids for sample in samples], self.tokenizer.pad_token_id, self.engine.device
        )
        hidden = self._network["encoder"](input_ids=ids, attention_mask=mask).last_hidden_state
        of = torch.as_tensor(
            np.repeat(np.arange(len(samples)), [len(sample.places) for sample in samples]),
            device=self.engine.device,
        )
        places = torch.as_tensor(
            np.concatenate([sample.places for sample in samples]), device=self.engine.device
        )
        return self._network["head"](hidden[of, places]), of

    def predict_prepared(
        self, prepared: Sequence[Sample], positions: np.ndarray | None = None
    ) -> np.ndarray:
        """Class probabilities, (m, k) float32, without dropout."""
        torch = import_torch()
        network = self._trained().eval()
        where = np.arange(len(prepared)) if positions is None else np.asarray(positions)
        lengths = np.array([len(sample.ids) for sample in prepared], dtype=np.int64)

        def compute(batch: np.ndarray) -> np.ndarray:
            scores, of = self._scores([prepared[i] for i in batch])
            probabilities = torch.softmax(scores.float(), dim=-1)
            sums = torch.zeros(
                (len(batch), probabilities.shape[1]), device=probabilities.device
            ).index_add_(0, of, probabilities)
            return np.asarray(
                (sums / torch.bincount(of, minlength=len(batch))[:, None]).cpu().numpy()
            )

        fill = np.zeros((len(prepared), network["head"][3].out_features), dtype=np.float32)
        return self.engine.predict(
            prediction_batches(lengths, where, self.predict_tokens), compute, fill
        )[where]

    def _trained(self) -> Any:
        if self._network is None:
            raise self._untrained()
        return self._network

    def weights(self) -> dict[str, np.ndarray]:
        """Return the network's weights by name, float32 copies."""
        return {
            name: tensor.detach().cpu().numpy().copy()
            for name, tensor in self._trained().state_dict().items()
        }

    def restore(self, weights: dict[str, np.ndarray], n_classes: int) -> None:
        """Build a network that goes on from :meth:`weights`."""
        torch = import_torch()
        self.start(n_classes, 0)
        self._network.load_state_dict(
            {name: torch.as_tensor(array) for name, array in weights.items()}
        )

    def save(self, folder: Path) -> None:
        """Write encoder and tokenizer in Hugging Face format, the head as safetensors, and
        ``probe.json``.
        """
        from safetensors.numpy import save_file

        network = self._trained()
        with encoders.hushed():
            network["encoder"].save_pretrained(folder)
        self.tokenizer.save_pretrained(folder)
        head = {
            name.removeprefix("head."): array
            for name, array in self.weights().items()
            if name.startswith("head.")
        }
        save_file(head, folder / "head.safetensors")
        settings = {
            name: getattr(self, name)
            for name in (
                "encoder",
                "epochs",
                "batch_size",
                "learning_rate",
                "micro_batch",
                "by_token",
            )
        }
        (folder / "probe.json").write_text(json.dumps(settings), encoding="utf-8")

    @classmethod
    def load(cls, folder: Path, *, device: str = "auto") -> LotclassProbe:
        """Read what :meth:`save` wrote; only training it afresh needs the encoder it came from."""
        from safetensors.numpy import load_file

        torch = import_torch()
        settings = json.loads((folder / "probe.json").read_text(encoding="utf-8"))
        probe = cls(**{**settings, "encoder": str(folder)}, engine=Engine(device))
        head = load_file(folder / "head.safetensors")
        probe.start(len(head["3.bias"]), 0)
        probe._network["head"].load_state_dict(
            {name: torch.as_tensor(array) for name, array in head.items()}
        )
        probe.encoder = settings["encoder"]
        return probe
