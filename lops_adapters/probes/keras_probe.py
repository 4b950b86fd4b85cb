"""The Keras probe: a text CNN over words, or any compiled Keras model."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from lops_adapters.core import LopsError
from lops_adapters.encoders.torch_tools import has_bfloat16, prediction_batches, training_batches
from lops_adapters.encoders.words import WordVectors, sentences_of, word_ids, word_table
from lops_adapters.probes import keras_models as models
from lops_adapters.probes import keras_tools as tools
from lops_adapters.probes.base import Update
from lops_adapters.probes.keras_tuning import TunableKeras

WIDEST = 5  # words in the widest filter of the text CNN


@dataclass
class KerasProbe(TunableKeras):
    """A text CNN over words, or any Keras 3 model, on any backend.

    Args:
        model: a compiled Keras model, or a function that takes the number of classes and returns a
            new compiled model. A model is never changed: each training starts from a copy with its
            current weights and a fresh optimizer. A function is called for each training. Default:
            the text CNN of WeSTClass.
        encode: turns samples into the inputs of ``model``: an array, or a tuple or dict of arrays,
            with one row per sample. Default: ``numpy.asarray``. Only for a given ``model``.
        vectors: frozen word vectors for the text CNN; words without one are left out. Default:
            random vectors of width 100 for the words of the training samples, trained with it.
        epochs: passes over the training samples.
        batch_size: samples per update.
        learning_rate: of the optimizer. Default: 0.1 for the text CNN; as compiled for a given
            model.
        momentum: of the text CNN's SGD.
        smoothing: label smoothing over all k classes, 0 <= smoothing < 1; 0 for losses that take
            class codes.
        max_words: longer documents are cut at the end (text CNN).
        pool: batches of similar length are cut from so many random batches at a time; 1: batches
            are random (text CNN).
        precision: ``auto`` (bfloat16 where the hardware has it and the backend is PyTorch),
            ``bfloat16`` or ``float32`` (text CNN).
        device: ``auto``, ``cpu``, ``cuda``, ``cuda:N`` or ``mps`` if the backend is PyTorch; other
            backends choose themselves.

    The text CNN reads strings, tokens, or sentences of tokens; its loss is KL divergence. Source:
    Meng, Shen, Zhang and Han, CIKM 2018 (WeSTClass); sizes, batch, rate and momentum from its
    released code. A given model reads what ``encode`` accepts.
    """

    kind: ClassVar[str] = "keras"
    model: Any = field(default=None, compare=False, repr=False)
    encode: Callable[[Sequence[Any]], Any] | None = field(default=None, compare=False, repr=False)
    vectors: WordVectors | None = None
    epochs: int = 20
    batch_size: int = 256
    learning_rate: float | None = None
    momentum: float = 0.9
    smoothing: float = 0.0
    max_words: int = 100
    pool: int = 4
    precision: str = "auto"
    device: str = "auto"
    _words: dict[str, int] = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self) -> None:
        self._check_settings()
        self._device = tools.torch_device(self.device)
        self._trained: Any = None
        self._head: Any = None
        if self.vectors is not None:
            self._words = word_ids(self.vectors.words)
        if self._is_model() or not (self.model is None or callable(self.model)):
            models.read_loss(self.model, self.smoothing)

    def _check_settings(self) -> None:
        if min(self.epochs, self.batch_size, self.pool, self.max_words) < 1:
            raise LopsError(
                f"{self!r}: wanted epochs, batch_size, pool and max_words of at least 1"
            )
        rate_is_good = self.learning_rate is None or self.learning_rate > 0
        if not rate_is_good or not 0 <= self.momentum < 1 or not 0 <= self.smoothing < 1:
            raise LopsError(
                f"{self!r}: "
                "wanted a positive learning_rate, 0 <= momentum < 1 and 0 <= smoothing < 1"
            )
        if self.precision not in ("auto", "bfloat16", "float32"):
            raise LopsError(f"precision is {self.precision!r}; wanted auto, bfloat16 or float32")
        if self.model is None and self.encode is not None:
            raise LopsError(
                "found `encode` without `model`; the text CNN reads texts or tokens itself: "
                "leave `encode` out"
            )
        if self.model is not None and self.vectors is not None:
            raise LopsError(
                "found `vectors` with a given `model`; they are only for the text CNN: "
                "leave one of the two out"
            )

    def _is_model(self) -> bool:
        # callable() does not tell: a model can be called, too.
        return isinstance(self.model, tools.import_keras().Model)

    @property
    def max_epochs(self) -> int:
        """The number of epochs that training runs for."""
        return self.epochs

    def prepare(self, samples: Sequence[Any], *, fit: bool = False) -> Any:
        """Encode samples.

        Returns:
            For the text CNN, n int32 arrays of word ids, at most ``max_words`` each, empty if no
            word is known; for a given model, the output of ``encode`` as arrays.

        Raises:
            LopsError: a sample is not a text, or the encoded samples lack one row per sample.

        """
        if self.model is not None:
            return tools.encoded((self.encode or np.asarray)(samples), len(samples))
        documents = [
            [word for sentence in sentences_of(sample) for word in sentence] for sample in samples
        ]
        if fit and self.vectors is None:
            self._words = word_ids(sorted({word for document in documents for word in document}))
        lookup = self._words
        ids = [[lookup[word] for word in words if word in lookup] for words in documents]
        return [np.array(found[: self.max_words], dtype=np.int32) for found in ids]

    def _inputs(self, prepared: Any, positions: np.ndarray) -> Any:
        if self.model is not None:
            return tools.rows_of(prepared, positions)
        return tools.padded([prepared[i] for i in positions], WIDEST)

    @contextmanager
    def _inside(self, randomness: tools.KerasRandomness) -> Iterator[None]:
        with tools.device_scope(self._device), randomness.inside():
            yield

    def _fresh(self, n_classes: int, seed: int) -> Any:
        if self.model is None:
            return self._text_cnn(n_classes, seed)
        if self._is_model():
            model = models.copy_of(self.model)
        else:
            model = self.model(n_classes)
            models.read_loss(model, self.smoothing)
            if model is self._trained:
                raise LopsError(
                    "the function `model` returned the model it returned before; "
                    "wanted a new one at each call"
                )
        if self.learning_rate is not None:
            models.set_learning_rate(model, self.learning_rate)
        return model

    def _text_cnn(self, n_classes: int, seed: int) -> Any:
        from lops_adapters.probes.keras_networks import text_cnn

        hardware = self._device is not None and has_bfloat16(self._device)
        return text_cnn(
            word_table(self.vectors, len(self._words), seed),
            n_classes,
            frozen=self.vectors is not None,
            learning_rate=0.1 if self.learning_rate is None else self.learning_rate,
            momentum=self.momentum,
            bfloat16=self.precision == "bfloat16" or (self.precision == "auto" and hardware),
        )

    def updates(
        self, prepared: Any, codes: np.ndarray, n_classes: int, seed: int
    ) -> Iterator[Update]:
        """Train a fresh text CNN or a copy of the given model.

        The seed decides initial weights, batches and dropout.
        """
        return self._updates(prepared, codes, n_classes, seed)

    def counted_updates(
        self, prepared: Any, codes: np.ndarray, n_classes: int, seed: int, total: int
    ) -> Iterator[Update]:
        """Train as :meth:`updates` does, but ``total`` updates."""
        return self._updates(prepared, codes, n_classes, seed, total)

    def _updates(
        self, prepared: Any, codes: np.ndarray, n_classes: int, seed: int, total: int | None = None
    ) -> Iterator[Update]:
        randomness = tools.KerasRandomness(seed, self._device)
        rng = np.random.default_rng(seed)
        per_epoch, done = -(-len(codes) // self.batch_size), 0
        total = self.epochs * per_epoch if total is None else total
        with self._inside(randomness):
            model = self._fresh(n_classes, seed)
            head = models.Head(n_classes, single=False, sparse=False, logits=False)
            if self.model is not None:
                row = self._inputs(prepared, np.array([0]))
                head = models.read_head(model, row, n_classes, self.smoothing)
        self._trained, self._head = model, head
        while done < total:
            for batch in self._training_batches(prepared, len(codes), rng)[: total - done]:
                targets = head.targets(codes[batch], self.smoothing)
                with self._inside(randomness):
                    model.train_on_batch(self._inputs(prepared, batch), targets)
                done += 1
                yield Update(done, per_epoch, len(batch))

    def _training_batches(
        self, prepared: Any, n: int, rng: np.random.Generator
    ) -> list[np.ndarray]:
        if self.model is None:
            lengths = np.array([len(document) for document in prepared])
            return training_batches(lengths, self.batch_size, rng, pool=self.pool)
        return self._slices(rng.permutation(n))

    def _prediction_batches(self, prepared: Any, where: np.ndarray) -> list[np.ndarray]:
        if self.model is None:
            lengths = [max(WIDEST, len(document)) for document in prepared]
            return prediction_batches(np.array(lengths, dtype=np.int64), where, budget=16384)
        return self._slices(where)

    def _slices(self, positions: np.ndarray) -> list[np.ndarray]:
        starts = range(0, len(positions), self.batch_size)
        return [positions[start : start + self.batch_size] for start in starts]

    def predict_prepared(self, prepared: Any, positions: np.ndarray | None = None) -> np.ndarray:
        """Return class probabilities, (m, k) float32."""
        if self._trained is None:
            raise self._untrained()
        n = len(prepared if self.model is None else tools.parts_of(prepared)[0])
        where = np.arange(n) if positions is None else np.asarray(positions)
        probabilities = np.zeros((n, self._head.n_classes), dtype=np.float32)
        with self._inside(tools.KerasRandomness(0, self._device)):
            for batch in self._prediction_batches(prepared, where):
                outputs = self._trained.predict_on_batch(self._inputs(prepared, batch))
                probabilities[batch] = self._head.probabilities(outputs)
        return probabilities[where]

    def save(self, folder: Path) -> None:
        """Write ``model.keras`` (Keras's own format) and ``keras.json``.

        The second holds settings, words and number of classes. ``encode`` is not saved.
        """
        if self._trained is None:
            raise self._untrained()
        left_out = {"speed", "model", "encode", "vectors", "_words"}
        names = {item.name for item in fields(self)} - left_out
        stored = {
            "settings": {name: getattr(self, name) for name in sorted(names)},
            "words": list(self._words),
            "pretrained": self.vectors is not None,
            "given": self.model is not None,
            "head": asdict(self._head),
        }
        (folder / "keras.json").write_text(json.dumps(stored), encoding="utf-8")
        models.save_model(self._trained, folder / "model.keras")

    @classmethod
    def load(
        cls,
        folder: Path,
        *,
        device: str = "auto",
        encode: Callable[[Sequence[Any]], Any] | None = None,
    ) -> KerasProbe:
        """Read what :meth:`save` wrote.

        A given model comes back as ``model`` in its saved state: training starts from there.
        Register custom layers and losses with ``keras.saving.register_keras_serializable`` first.
        ``device`` and ``encode`` are as for the probe.
        """
        stored = json.loads((folder / "keras.json").read_text(encoding="utf-8"))
        place = tools.torch_device(device)
        with tools.device_scope(place), tools.KerasRandomness(0, place).inside():
            model = models.load_model(folder / "model.keras")
            given = models.copy_of(model) if stored["given"] else None
        vectors = None
        if stored["pretrained"]:
            table = model.get_layer("words").embeddings
            table = np.array(tools.import_keras().ops.convert_to_numpy(table))
            vectors = WordVectors(tuple(stored["words"]), table[1:])
        settings = {**stored["settings"], "device": device}
        probe = cls(model=given, encode=encode, vectors=vectors, **settings)
        probe._words = word_ids(stored["words"])
        probe._trained, probe._head = model, models.Head(**stored["head"])
        return probe
