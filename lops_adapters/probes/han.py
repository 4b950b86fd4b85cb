"""The HAN probe: ConWea's hierarchical attention network."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from lops_adapters.core import LopsError
from lops_adapters.encoders.torch_tools import (
    LocalRandomness,
    autocast,
    import_torch,
    prediction_batches,
    resolve_device,
    training_batches,
)
from lops_adapters.probes.base import Stage, Update, steady
from lops_adapters.probes.early_stopping import EarlyStopping, held_out
from lops_adapters.probes.stages import Heard
from lops_adapters.probes.word_probe import WordProbe

log = logging.getLogger(__name__)
Document = list[np.ndarray]  # one array of word indices per sentence


@dataclass
class HanProbe(WordProbe):
    """A hierarchical attention network over sentences of tokens.

    Args:
        vectors: as for :class:`~lops_adapters.probes.word_probe.WordProbe`.
        epochs: largest number of passes.
        batch_size: samples per update.
        learning_rate: of the optimizer.
        units: of each GRU, per direction, and of each attention.
        max_sentences, max_words: longer documents and sentences are cut at the end.
        validation: fraction of the samples held out for early stopping; 0 trains on all of them for
            all epochs.
        patience: stop after this many epochs without a lower validation loss.
        min_epochs: patience counts only after this many epochs; ``epochs`` is a limit all the same.
        faithful: as the original: held-out samples are not stratified, the last weights are kept
            (default: the weights of the lowest validation loss), and a document is read as one
            sentence of its last ``max_words`` words.
        optimizer: ``adam``, or ``sgd`` with momentum 0.9.
        smoothing: label smoothing over all k classes, 0 <= smoothing < 1.
        pool: batches of similar length are cut from so many random batches at a time; 1: batches
            are random.
        precision, device: as for the transformer probe; on CPUs the small matrices of a GRU are
            slower in bfloat16.

    A sample is a list of sentences of tokens; or a list of tokens, read as one sentence; or a
    string, cut into sentences at ``.``, ``!`` and ``?`` and into tokens at white space. Source:
    Mekala and Shang, ACL 2020 (ConWea); batch, rate and units from its released code.
    """

    kind: ClassVar[str] = "han"
    epochs: int = 100
    batch_size: int = 256
    learning_rate: float = 1e-3
    units: int = 100
    max_sentences: int = 15
    max_words: int = 100
    validation: float = 0.0
    patience: int = 3
    min_epochs: int = 0
    faithful: bool = False
    precision: str = "float32"
    device: str = "auto"
    optimizer: str = "adam"
    smoothing: float = 0.0
    pool: int = 4

    def __post_init__(self) -> None:
        counts = ("epochs", "batch_size", "units", "max_sentences", "max_words", "patience", "pool")
        in_range = min(getattr(self, name) for name in counts) >= 1 and self.min_epochs >= 0
        in_range &= 0 <= self.validation < 1 and 0 <= self.smoothing < 1 and self.learning_rate > 0
        if not in_range or self.optimizer not in ("adam", "sgd"):
            raise LopsError(
                f"{self!r}: wanted {', '.join(counts)} of at least 1, min_epochs of at least 0, "
                "0 <= validation < 1, 0 <= smoothing < 1, learning_rate above 0, and the optimizer "
                "adam or sgd"
            )
        self._device = resolve_device(self.device)
        autocast(self._device, self.precision)
        super().__post_init__()

    def prepare(self, samples: Sequence[Any], *, fit: bool = False) -> list[Document]:
        """Return the word indices of every sentence.

        A document without a known word becomes one sentence of padding.
        """
        return [self._cut(document) for document in self._read_words(samples, fit)]

    def _cut(self, document: list[list[int]]) -> Document:
        if self.faithful:
            document = [[word for sentence in document for word in sentence][-self.max_words :]]
        kept = [sentence[: self.max_words] for sentence in document if sentence]
        return [np.array(words, dtype=np.int64) for words in kept[: self.max_sentences] or [[0]]]

    def _build(self, n_classes: int, seed: int) -> Any:
        from lops_adapters.probes.han_network import HanNetwork

        torch = import_torch()
        table = torch.from_numpy(self._table(seed))
        network = HanNetwork(table, n_classes, self.units, freeze=self.vectors is not None)
        return network.to(self._device)

    def updates(
        self,
        prepared: list[Document],
        codes: np.ndarray,
        n_classes: int,
        seed: int,
        total: int | None = None,
    ) -> Iterator[Update]:
        """Train a fresh network; the seed decides weights, held-out samples and batches.

        With ``total``, as in stages, nothing is held out and training does not stop early.
        """
        if total is not None:
            yield from super().updates(prepared, codes, n_classes, seed, total)
            return
        self._start(n_classes, seed)
        rng = np.random.default_rng(seed)
        validate = held_out(codes, self.validation, rng, stratified=not self.faithful)
        train = np.setdiff1d(np.arange(len(prepared)), validate)
        stopper = EarlyStopping(self.patience, self.min_epochs)
        for update in self._stage(prepared, train, codes, rng, self.schedule):
            yield update
            if not len(validate) or update.done % update.per_epoch:
                continue
            if stopper.should_stop(self._loss(prepared, validate, codes), self._network):
                break
        if len(validate):
            message = "%s: %d of at most %d epochs, lowest validation loss after epoch %d"
            log.info(message, self.kind, stopper.epochs, self.epochs, stopper.best_epoch)
        if not self.faithful and stopper.best is not None:
            self._network.load_state_dict(stopper.best)

    @property
    def schedule(self) -> Stage:
        """All epochs at the same rate. Not ``Steady``: cross-validation would train it longer."""
        return Stage(self.epochs, steady)

    def staged_updates(
        self,
        prepared: list[Document],
        codes: np.ndarray,
        n_classes: int,
        seed: int,
        stages: Sequence[Stage],
    ) -> Iterator[Update]:
        """Train a fresh network in stages on all samples, each stage with a fresh optimizer."""
        self._start(n_classes, seed)
        rng = np.random.default_rng(seed)
        for stage in stages:
            yield from self._stage(prepared, np.arange(len(prepared)), codes, rng, stage)

    def _start(self, n_classes: int, seed: int) -> None:
        with LocalRandomness(seed, self._device).inside():
            self._network = self._build(n_classes, seed)

    def _stage(
        self,
        prepared: list[Document],
        train: np.ndarray,
        codes: np.ndarray,
        rng: np.random.Generator,
        stage: Stage,
    ) -> Iterator[Update]:
        sizes = np.array([sum(map(len, prepared[i])) for i in train])
        cut = partial(training_batches, sizes, rng=rng, pool=self.pool)
        optimizer = self._optimizer()
        for batch, rate, update in stage.batches(len(train), self.batch_size, cut):
            optimizer.param_groups[0]["lr"] = self.learning_rate * rate
            self._learn(optimizer, prepared, train[batch], codes, stage.heard)
            yield update

    def _optimizer(self) -> Any:
        optim = import_torch().optim
        if self.optimizer == "sgd":
            return optim.SGD(self._trainable(), lr=self.learning_rate, momentum=0.9)
        return optim.Adam(self._trainable(), lr=self.learning_rate)

    def _forward(self, prepared: list[Document], positions: np.ndarray) -> Any:
        torch = import_torch()
        sentences = [torch.from_numpy(sentence) for i in positions for sentence in prepared[i]]
        words = torch.tensor([len(sentence) for sentence in sentences])
        padded = torch.nn.utils.rnn.pad_sequence(sentences, batch_first=True).to(self._device)
        with autocast(self._device, self.precision):
            return self._network(padded, words, [len(prepared[i]) for i in positions]).float()

    def _learn(
        self,
        optimizer: Any,
        prepared: list[Document],
        batch: np.ndarray,
        codes: np.ndarray,
        heard: Heard | None = None,
    ) -> None:
        """Make one update; the batch runs in slices that fit a processor's cache.

        ``codes`` are class codes (n,) or soft labels (n, k); for the latter, cross-entropy has the
        gradient of KL divergence.
        """
        torch = import_torch()
        smoothing = self.smoothing if codes.ndim == 1 else 0.0
        self._network.train()
        for start in range(0, len(batch), 64):
            part = batch[start : start + 64]
            target = torch.as_tensor(codes[part], device=self._device)
            scores = self._forward(prepared, part)
            loss = torch.nn.functional.cross_entropy(
                scores, target, reduction="sum", label_smoothing=smoothing
            )
            if heard is not None:
                heard(part, torch.softmax(scores.detach(), dim=-1).cpu().numpy())
            (loss / len(batch)).backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)

    def _loss(self, prepared: list[Document], positions: np.ndarray, codes: np.ndarray) -> float:
        probabilities = self.predict_prepared(prepared, positions)
        of_label = probabilities[np.arange(len(positions)), codes[positions]]
        return float(-np.log(np.maximum(of_label, 1e-12)).mean())

    def predict_prepared(
        self, prepared: list[Document], positions: np.ndarray | None = None
    ) -> np.ndarray:
        torch = import_torch()
        network = self._trained().eval()
        where = np.arange(len(prepared)) if positions is None else np.asarray(positions)
        sizes = np.array([sum(map(len, document)) for document in prepared], dtype=np.int64)
        shape = len(prepared), network.output.out_features
        probabilities = np.zeros(shape, dtype=np.float32)
        with torch.inference_mode():
            for batch in prediction_batches(sizes, where, budget=16384):
                scores = torch.softmax(self._forward(prepared, batch), dim=-1)
                probabilities[batch] = scores.cpu().numpy()
        return probabilities[where]

    def tuner(
        self, *, learning_rate: float, momentum: float, decay: float
    ) -> Callable[[list[Document], np.ndarray, np.ndarray], None]:
        """Return ``update(prepared, positions, targets)``, see :meth:`KerasProbe.tuner`."""
        optimizer = import_torch().optim.SGD(self._trainable(), lr=learning_rate, momentum=momentum)
        done = 0

        def update(prepared: list[Document], positions: np.ndarray, targets: np.ndarray) -> None:
            nonlocal done
            optimizer.param_groups[0]["lr"] = learning_rate / (1 + decay * done)
            documents, soft = [prepared[i] for i in positions], targets.astype(np.float32)
            self._learn(optimizer, documents, np.arange(len(soft)), soft)
            done += 1

        return update

    def trainable_weights(self) -> list[np.ndarray]:
        """Return copies of the trainable weights in a fixed order, without frozen word vectors."""
        return [parameter.detach().cpu().numpy().copy() for parameter in self._trainable()]

    def restore(self, weights: Sequence[np.ndarray], n_classes: int, seed: int = 0) -> HanProbe:
        """Build the network with weights of :meth:`trainable_weights`; return the probe itself."""
        torch = import_torch()
        self._start(n_classes, seed)
        with torch.no_grad():
            for parameter, weight in zip(self._trainable(), weights, strict=True):
                parameter.copy_(torch.tensor(weight))
        return self

    def _trainable(self) -> list[Any]:
        return [one for one in self._network.parameters() if one.requires_grad]

    def save(self, folder: Path) -> None:
        """Write ``model.safetensors`` and ``han.json``.

        The first holds all weights with the word vectors, the second settings, words and number of
        classes.
        """
        from safetensors.torch import save_file

        weights = self._trained().state_dict()
        self._save_settings(folder / "han.json", n_classes=self._network.output.out_features)
        tensors = {name: tensor.contiguous().cpu() for name, tensor in weights.items()}
        save_file(tensors, folder / "model.safetensors")

    @classmethod
    def load(cls, folder: Path, *, device: str = "auto") -> HanProbe:
        from safetensors.torch import load_file

        stored = json.loads((folder / "han.json").read_text(encoding="utf-8"))
        weights = load_file(folder / "model.safetensors")
        probe: HanProbe = cls._untrained_from(stored, weights["embedding.weight"].numpy(), device)
        probe._start(stored["n_classes"], seed=0)
        probe._network.load_state_dict(weights)
        return probe
