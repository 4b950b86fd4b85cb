"""The Keras probe: WeSTClass's text CNN over words."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from lops_adapters.core import LopsError
from lops_adapters.encoders.torch_tools import prediction_batches, training_batches, uses_bfloat16
from lops_adapters.probes import keras_tools as tools
from lops_adapters.probes.base import Stage, Update, steady
from lops_adapters.probes.word_probe import WordProbe

WIDEST = 5  # words in the widest filter


@dataclass
class KerasProbe(WordProbe):
    """A text CNN over words, in Keras 3 on any backend.

    Args:
        vectors: as for :class:`~lops_adapters.probes.word_probe.WordProbe`.
        epochs: passes over the training samples.
        batch_size: samples per update.
        learning_rate, momentum: of SGD.
        smoothing: label smoothing over all k classes, 0 <= smoothing < 1.
        max_words: longer documents are cut at the end.
        pool: batches of similar length are cut from so many random batches at a time; 1: batches
            are random.
        precision: ``auto`` (bfloat16 where the hardware has it and the backend is PyTorch),
            ``bfloat16`` or ``float32``.
        device: ``auto``, ``cpu``, ``cuda``, ``cuda:N`` or ``mps`` if the backend is PyTorch; other
            backends choose themselves.

    The loss is KL divergence. Source: Meng, Shen, Zhang and Han, CIKM 2018 (WeSTClass); sizes,
    batch, rate and momentum from its released code.
    """

    kind: ClassVar[str] = "keras"
    epochs: int = 20
    batch_size: int = 256
    learning_rate: float = 0.1
    momentum: float = 0.9
    smoothing: float = 0.0
    max_words: int = 100
    pool: int = 4
    precision: str = "auto"
    device: str = "auto"

    def __post_init__(self) -> None:
        in_range = min(self.epochs, self.batch_size, self.pool, self.max_words) >= 1
        in_range &= 0 <= self.momentum < 1 and 0 <= self.smoothing < 1 and self.learning_rate > 0
        if not in_range:
            raise LopsError(
                f"{self!r}: wanted epochs, batch_size, pool and max_words of at least 1, "
                "0 <= momentum < 1, 0 <= smoothing < 1 and learning_rate above 0"
            )
        self._device = tools.torch_device(self.device)
        self._bfloat16 = uses_bfloat16(self._device, self.precision)
        super().__post_init__()

    def prepare(self, samples: Sequence[Any], *, fit: bool = False) -> list[np.ndarray]:
        """Return n int32 arrays of word ids, at most ``max_words`` each, empty if none is known."""
        documents = self._read_words(samples, fit)
        flat = [[word for sentence in document for word in sentence] for document in documents]
        return [np.array(words[: self.max_words], dtype=np.int32) for words in flat]

    def updates(
        self,
        prepared: list[np.ndarray],
        codes: np.ndarray,
        n_classes: int,
        seed: int,
        total: int | None = None,
    ) -> Iterator[Update]:
        """Train a fresh network; the seed decides initial weights, batches and dropout."""
        randomness = tools.KerasRandomness(seed, self._device)
        rng = np.random.default_rng(seed)
        with self._inside(randomness):
            self._network = model = self._build(n_classes, seed)
        lengths = np.array([len(document) for document in prepared])
        cut = partial(training_batches, lengths, rng=rng, pool=self.pool)
        passes = Stage(total or self.epochs, steady)  # an epoch has at least one update
        for batch, _, update in islice(passes.batches(len(codes), self.batch_size, cut), total):
            targets = np.full((len(batch), n_classes), self.smoothing / n_classes, np.float32)
            targets[np.arange(len(batch)), codes[batch]] += 1.0 - self.smoothing
            with self._inside(randomness):
                model.train_on_batch(_inputs(prepared, batch), targets)
            yield update

    def predict_prepared(
        self, prepared: list[np.ndarray], positions: np.ndarray | None = None
    ) -> np.ndarray:
        model = self._trained()
        where = np.arange(len(prepared)) if positions is None else np.asarray(positions)
        probabilities = np.zeros((len(prepared), model.output_shape[-1]), dtype=np.float32)
        widths = np.array([max(WIDEST, len(document)) for document in prepared], dtype=np.int64)
        with self._inside(tools.KerasRandomness(0, self._device)):
            for batch in prediction_batches(widths, where, budget=16384):
                outputs = model.predict_on_batch(_inputs(prepared, batch)).astype(np.float32)
                probabilities[batch] = outputs / outputs.sum(axis=1, keepdims=True)
        return probabilities[where]

    def tuner(
        self, *, learning_rate: float, momentum: float, decay: float
    ) -> Callable[[list[np.ndarray], np.ndarray, np.ndarray], None]:
        """Return ``update(prepared, positions, targets)``, which tunes the trained network.

        An update is made on the samples at (b,) int ``positions``, towards soft labels, (b, k)
        float, by KL divergence and a fresh SGD of this momentum, with the step size
        learning_rate / (1 + decay * updates done).
        """
        model = self._trained()
        keras = tools.import_keras()
        randomness = tools.KerasRandomness(0, self._device)
        with self._inside(randomness):
            rate = keras.optimizers.schedules.InverseTimeDecay(
                learning_rate, decay_steps=1, decay_rate=decay, name="rate"
            )
            sgd = keras.optimizers.SGD(rate, momentum=momentum, name="sgd")
            model.compile(optimizer=sgd, loss=keras.losses.KLDivergence())

        def update(prepared: list[np.ndarray], positions: np.ndarray, targets: np.ndarray) -> None:
            with self._inside(randomness):
                model.train_on_batch(_inputs(prepared, positions), targets.astype(np.float32))

        return update

    def trainable_weights(self) -> list[np.ndarray]:
        """Return copies of the trainable weights in a fixed order, without frozen word vectors."""
        variables = self._trained().trainable_variables
        to_numpy = tools.import_keras().ops.convert_to_numpy
        return [np.array(to_numpy(variable)) for variable in variables]

    def restore(self, weights: Sequence[np.ndarray], n_classes: int, seed: int = 0) -> KerasProbe:
        """Build the network with weights of :meth:`trainable_weights`; return the probe itself."""
        with self._inside(tools.KerasRandomness(seed, self._device)):
            model = self._build(n_classes, seed)
            for variable, weight in zip(model.trainable_variables, weights, strict=True):
                variable.assign(weight)
        self._network = model
        return self

    def save(self, folder: Path) -> None:
        """Write ``model.keras`` (Keras's own format) and ``keras.json`` (settings and words)."""
        model = self._trained()
        self._save_settings(folder / "keras.json")
        model.save(folder / "model.keras")
        _remove_date(folder / "model.keras")

    @classmethod
    def load(cls, folder: Path, *, device: str = "auto") -> KerasProbe:
        import lops_adapters.probes.keras_networks  # noqa: F401  # registers the layers

        stored = json.loads((folder / "keras.json").read_text(encoding="utf-8"))
        torch_device = tools.torch_device(device)
        with tools.device_scope(torch_device), tools.KerasRandomness(0, torch_device).inside():
            model = tools.import_keras().saving.load_model(folder / "model.keras")
        table = tools.import_keras().ops.convert_to_numpy(model.get_layer("words").embeddings)
        probe: KerasProbe = cls._untrained_from(stored, np.array(table), device)
        probe._network = model
        return probe

    @contextmanager
    def _inside(self, randomness: tools.KerasRandomness) -> Iterator[None]:
        """Enter the context in which models are made and run."""
        with tools.device_scope(self._device), randomness.inside():
            yield

    def _build(self, n_classes: int, seed: int) -> Any:
        from lops_adapters.probes.keras_networks import text_cnn

        return text_cnn(
            self._table(seed),
            n_classes,
            frozen=self.vectors is not None,
            learning_rate=self.learning_rate,
            momentum=self.momentum,
            bfloat16=self._bfloat16,
        )


def _inputs(prepared: list[np.ndarray], positions: np.ndarray) -> np.ndarray:
    """Return word ids as a (b, longest) int32 array, padded with zeros at the end."""
    longest = max(WIDEST, *(len(prepared[i]) for i in positions))
    array = np.zeros((len(positions), longest), dtype=np.int32)
    for row, position in zip(array, positions, strict=True):
        row[: len(prepared[position])] = prepared[position]
    return array


def _remove_date(path: Path) -> None:
    """Remove the date from a saved model, so that equal models make equal files."""
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    metadata = json.loads(parts["metadata.json"])
    metadata.pop("date_saved", None)
    parts["metadata.json"] = json.dumps(metadata).encode()
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in parts.items():
            archive.writestr(zipfile.ZipInfo(name), content)
