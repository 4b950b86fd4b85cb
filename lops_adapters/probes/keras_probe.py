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
from lops_adapters.probes import keras_models as models
from lops_adapters.probes import keras_tools as tools
from lops_adapters.probes.base import Probe, Update
from lops_adapters.probes.torch_tools import has_bfloat16, prediction_batches, training_batches
from lops_adapters.probes.tuning import check_targets, check_tuning, check_weights
from lops_adapters.probes.words import WordVectors, sentences_of, word_ids, word_table

WIDEST = 5  # words in the widest filter of the text CNN


@dataclass
class KerasProbe(Probe):
    """A text CNN over words, or any Keras 3 model, on any backend.

    Args:
        model: a compiled Keras model, which is never changed: each training starts with a copy of
            it, from the weights it has, with a fresh optimizer. Or a function that takes the number
            of classes and returns a new compiled model, called for each training. Default: the text
            CNN of WeSTClass.
        encode: turns samples into the inputs of ``model``: an array, or a tuple or dict of arrays,
            with one row a sample. Default: ``numpy.asarray``. Only for a given ``model``.
        vectors: frozen word vectors for the text CNN; words without one are left out. Default:
            random vectors of width 100 for the words of the training samples, trained along.
        epochs: passes over the training samples.
        batch_size: samples an update.
        learning_rate: of the optimizer. Default: 0.1 for the text CNN; as compiled for a given
            model.
        momentum: of the text CNN's SGD.
        smoothing: trains towards (1 - smoothing) times the pseudo-label plus smoothing spread
            evenly over all k classes; 0 to below 1. Not for losses that take class codes.
        max_words: longer documents are cut at the end (text CNN).
        precision: ``auto`` (bfloat16 where the hardware has it and the backend is PyTorch),
            ``bfloat16`` or ``float32`` (text CNN).
        device: ``auto``, ``cpu``, ``cuda``, ``cuda:N``, ``mps`` with PyTorch as the backend; others
            choose for themselves.

    The text CNN reads strings, tokens, or sentences of tokens; its loss is KL divergence. Source:
    Meng, Shen, Zhang and Han, CIKM 2018 (WeSTClass); sizes, batch, rate and momentum from its
    released code. A given model reads whatever ``encode`` does.
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
        if min(self.epochs, self.batch_size, self.max_words) < 1:
            raise LopsError(f"{self!r}: wanted epochs, batch_size and max_words of at least 1")
        if (
            (self.learning_rate is not None and not self.learning_rate > 0)
            or not 0 <= self.momentum < 1
            or not 0 <= self.smoothing < 1
        ):
            raise LopsError(
                f"{self!r}: wanted a positive learning_rate, 0 <= momentum < 1 and 0 <= smoothing < 1"
            )
        if self.precision not in ("auto", "bfloat16", "float32"):
            raise LopsError(f"precision is {self.precision!r}; wanted auto, bfloat16 or float32")
        if self.model is None and self.encode is not None:
            raise LopsError(
                "found `encode` without `model`; the text CNN reads texts or tokens by itself, so leave `encode` out"
            )
        if self.model is not None and self.vectors is not None:
            raise LopsError(
                "found `vectors` with a given `model`; they are for the text CNN, so leave one of the two out"
            )

    def _is_model(self) -> bool:
        return isinstance(
            self.model, tools.import_keras().Model
        )  # a model can be called like a function, too

    @property
    def max_epochs(self) -> int:
        """The number of epochs that training runs for."""
        return self.epochs

    def prepare(self, samples: Sequence[Any], *, fit: bool = False) -> Any:
        """Encode samples.

        Returns:
            For the text CNN n int32 arrays of word ids, at most ``max_words`` each, empty where no
            word is known; for a given model what ``encode`` returns, as arrays.

        Raises:
            LopsError: a sample is no text, or the encoded samples do not have one row a sample.

        """
        if self.model is not None:
            return tools.encoded((self.encode or np.asarray)(samples), len(samples))
        documents = [
            [word for sentence in sentences_of(sample) for word in sentence] for sample in samples
        ]
        if fit and self.vectors is None:
            self._words = word_ids(sorted({word for document in documents for word in document}))
        lookup = self._words
        return [
            np.array(
                [lookup[word] for word in words if word in lookup][: self.max_words], dtype=np.int32
            )
            for words in documents
        ]

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
                    "the function `model` returned the model it returned before; wanted a new one at each call"
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
        randomness = tools.KerasRandomness(seed, self._device)
        rng = np.random.default_rng(seed)
        with self._inside(randomness):
            model = self._fresh(n_classes, seed)
            head = models.Head(n_classes, single=False, sparse=False, logits=False)
            if self.model is not None:
                head = models.read_head(
                    model, self._inputs(prepared, np.array([0])), n_classes, self.smoothing
                )
        self._trained, self._head = model, head
        per_epoch, done = -(-len(codes) // self.batch_size), 0
        for _ in range(self.epochs):
            for batch in self._training_batches(prepared, len(codes), rng):
                with self._inside(randomness):
                    model.train_on_batch(
                        self._inputs(prepared, batch), head.targets(codes[batch], self.smoothing)
                    )
                done += 1
                yield Update(done, per_epoch, len(batch))

    def _training_batches(
        self, prepared: Any, n: int, rng: np.random.Generator
    ) -> list[np.ndarray]:
        if self.model is None:
            return training_batches(
                np.array([len(document) for document in prepared]), self.batch_size, rng, pool=4
            )
        order = rng.permutation(n)
        return [order[start : start + self.batch_size] for start in range(0, n, self.batch_size)]

    def _prediction_batches(self, prepared: Any, where: np.ndarray) -> list[np.ndarray]:
        if self.model is None:
            lengths = np.array(
                [max(WIDEST, len(document)) for document in prepared], dtype=np.int64
            )
            return prediction_batches(lengths, where, budget=16384)
        return [
            where[start : start + self.batch_size]
            for start in range(0, len(where), self.batch_size)
        ]

    def predict_prepared(self, prepared: Any, positions: np.ndarray | None = None) -> np.ndarray:
        """Return class probabilities, (m, k) float32."""
        if self._trained is None:
            raise self._untrained()
        n = len(prepared if self.model is None else tools.parts_of(prepared)[0])
        where = np.arange(n) if positions is None else np.asarray(positions)
        probabilities = np.zeros((n, self._head.n_classes), dtype=np.float32)
        with self._inside(tools.KerasRandomness(0, self._device)):
            for batch in self._prediction_batches(prepared, where):
                probabilities[batch] = self._head.probabilities(
                    self._trained.predict_on_batch(self._inputs(prepared, batch))
                )
        return probabilities[where]

    def tuner(
        self, *, learning_rate: float, momentum: float, decay: float
    ) -> Callable[[Any, np.ndarray, np.ndarray], None]:
        """Return a function that makes one update of the trained model towards soft labels.

        Self-training uses it.

        Args:
            learning_rate: of a fresh SGD, which takes the place of the model's optimizer; the step
                size is learning_rate / (1 + decay * updates done).
            momentum: of that SGD, at least 0 and below 1.
            decay: see learning_rate; at least 0.

        Returns:
            ``update(prepared, positions, targets)``: on the samples at ``positions``, (b,) int,
            towards ``targets``, (b, k) float, by KL divergence.

        Raises:
            LopsError: untrained, a setting out of range, or (when updating) targets of another
                shape.

        """
        if self._trained is None:
            raise self._untrained()
        check_tuning(learning_rate, momentum, decay)
        keras = tools.import_keras()
        model, head = self._trained, self._head
        randomness = tools.KerasRandomness(0, self._device)
        with self._inside(randomness):
            rate = keras.optimizers.schedules.InverseTimeDecay(
                learning_rate, decay_steps=1, decay_rate=decay, name="rate"
            )
            sgd = keras.optimizers.SGD(rate, momentum=momentum, name="sgd")
            model.compile(
                optimizer=sgd, loss=head.soft_loss(), metrics=[]
            )  # None would keep metrics that may want class codes

        def update(prepared: Any, positions: np.ndarray, targets: np.ndarray) -> None:
            soft = check_targets(positions, targets, head.n_classes)
            with self._inside(randomness):
                model.train_on_batch(self._inputs(prepared, positions), head.soft_targets(soft))

        return update

    def trainable_weights(self) -> list[np.ndarray]:
        """Return copies of the text CNN's trainable weights in a fixed order.

        Frozen word vectors are left out.

        Raises:
            LopsError: untrained, or the model was given.

        """
        self._only_text_cnn()
        if self._trained is None:
            raise self._untrained()
        return [
            np.array(tools.import_keras().ops.convert_to_numpy(variable))
            for variable in self._trained.trainable_variables
        ]

    def restore(self, weights: Sequence[np.ndarray], n_classes: int, seed: int = 0) -> KerasProbe:
        """Build the text CNN with weights of :meth:`trainable_weights`; return the probe itself.

        Without ``vectors``, :meth:`prepare` has to learn the words first (``fit=True``).

        Raises:
            LopsError: weights of other shapes than this network's, or the model was given.

        """
        self._only_text_cnn()
        with self._inside(tools.KerasRandomness(seed, self._device)):
            model = self._fresh(n_classes, seed)
            check_weights(
                weights, [tuple(variable.shape) for variable in model.trainable_variables]
            )
            for variable, weight in zip(model.trainable_variables, weights, strict=True):
                variable.assign(weight)
        self._trained, self._head = (
            model,
            models.Head(n_classes, single=False, sparse=False, logits=False),
        )
        return self

    def _only_text_cnn(self) -> None:
        if self.model is not None:
            raise LopsError(
                "trainable_weights() and restore() are for the text CNN; save() and load() keep a given model"
            )

    def save(self, folder: Path) -> None:
        """Write ``model.keras`` (Keras's own format) and ``keras.json``.

        The second holds settings, words and number of classes. ``encode`` is not saved.
        """
        if self._trained is None:
            raise self._untrained()
        names = {item.name for item in fields(self)} - {
            "speed",
            "model",
            "encode",
            "vectors",
            "_words",
        }
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

        A given model comes back as ``model``, as it was when saved: training goes on from there.
        Layers and losses of one's own have to be registered with
        ``keras.saving.register_keras_serializable`` before. ``device`` and ``encode`` are as for
        the probe.
        """
        stored = json.loads((folder / "keras.json").read_text(encoding="utf-8"))
        place = tools.torch_device(device)
        with tools.device_scope(place), tools.KerasRandomness(0, place).inside():
            model = models.load_model(folder / "model.keras")
            given = models.copy_of(model) if stored["given"] else None
        vectors = None
        if stored["pretrained"]:
            table = np.array(
                tools.import_keras().ops.convert_to_numpy(model.get_layer("words").embeddings)
            )
            vectors = WordVectors(tuple(stored["words"]), table[1:])
        probe = cls(
            model=given, encode=encode, vectors=vectors, **{**stored["settings"], "device": device}
        )
        probe._words = word_ids(stored["words"])
        probe._trained, probe._head = model, models.Head(**stored["head"])
        return probe
