"""The HAN probe: ConWea's hierarchical attention network, as a watched probe and as a classifier with early stopping."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from lops_adapters.core import LopsError
from lops_adapters.probes.base import Probe, Update
from lops_adapters.probes.torch_tools import LocalRandomness, autocast, import_torch, prediction_batches, resolve_device, training_batches

_SENTENCE_END = re.compile(r"(?<=[.!?])\s+")
Document = list[np.ndarray]  # one array of word indices a sentence


@dataclass(frozen=True)
class WordVectors:
    """Pretrained word vectors: words in a fixed order and a (len(words), width) float32 array."""

    words: tuple[str, ...]
    vectors: np.ndarray

    def __post_init__(self) -> None:
        if self.vectors.ndim != 2 or len(self.words) != len(self.vectors) or not len(self.words):
            raise LopsError(f"found {len(self.words)} words and vectors of shape {self.vectors.shape}; wanted one row a word, at least one")
        if len(set(self.words)) < len(self.words):
            raise LopsError(f"found {len(self.words)} words, {len(set(self.words))} of them distinct; wanted every word once")


@dataclass
class HanProbe(Probe):
    """A hierarchical attention network over sentences of tokens.

    Args:
        vectors: frozen word vectors; words without one are left out. Default: random vectors for the words of the training samples,
            trained along.
        epochs: at most so many passes.
        batch_size: samples an update.
        learning_rate: of Adam.
        units: of each GRU, each way, and of each attention.
        max_sentences, max_words: longer documents and sentences are cut at the end.
        validation: fraction of the samples held out for early stopping; 0 trains on all of them for all epochs.
        patience: stop after so many epochs without a lower validation loss.
        restore_best: go back to the weights of the lowest validation loss (the original keeps the last ones).
        last_words_only: the original's reading of a document, one sentence of its last ``max_words`` words.
        precision, device: as for the transformer probe; on CPUs the small matrices of a GRU are slower in bfloat16.

    Samples are sentences of tokens; or tokens, which are one sentence; or strings, which are cut into sentences at ``.``, ``!`` and ``?``
    and into tokens at white space. Source: Mekala and Shang, ACL 2020 (ConWea); batch, rate and units from its released code.

    """

    kind: ClassVar[str] = "han"
    vectors: WordVectors | None = None
    epochs: int = 100
    batch_size: int = 256
    learning_rate: float = 1e-3
    units: int = 100
    max_sentences: int = 15
    max_words: int = 100
    validation: float = 0.0
    patience: int = 3
    restore_best: bool = True
    last_words_only: bool = False
    precision: str = "float32"
    device: str = "auto"
    _words: dict[str, int] = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self) -> None:
        if min(self.epochs, self.batch_size, self.units, self.max_sentences, self.max_words, self.patience) < 1:
            raise LopsError("epochs, batch_size, units, max_sentences, max_words and patience must be at least 1")
        if not 0 <= self.validation < 1 or not self.learning_rate > 0:
            raise LopsError(
                f"validation is {self.validation}, learning_rate {self.learning_rate}; wanted 0 <= validation < 1 and a rate > 0"
            )
        self._device = resolve_device(self.device)
        autocast(self._device, self.precision)
        self._network: Any = None
        if self.vectors is not None:
            self._words = {word: index for index, word in enumerate(self.vectors.words, 1)}

    @property
    def max_epochs(self) -> int:
        """Epochs that training runs for at most."""
        return self.epochs

    def prepare(self, samples: Sequence[Any], *, fit: bool = False) -> list[Document]:
        """Word indices of every sentence; a document without a known word becomes one sentence of padding."""
        documents = [sentences_of(sample) for sample in samples]
        if fit and self.vectors is None:
            distinct = sorted({word for document in documents for sentence in document for word in sentence})
            self._words = {word: index for index, word in enumerate(distinct, 1)}
        return [self._indices(document) for document in documents]

    def _indices(self, document: Sequence[Sequence[str]]) -> Document:
        lookup = self._words
        if self.last_words_only:
            words = [lookup[word] for sentence in document for word in sentence if word in lookup]
            kept = [words[-self.max_words :]]
        else:
            kept = [[lookup[word] for word in sentence if word in lookup][: self.max_words] for sentence in document]
        kept = [sentence for sentence in kept if sentence][: self.max_sentences]
        return [np.array(sentence, dtype=np.int64) for sentence in kept or [[0]]]

    def _table(self, seed: int) -> np.ndarray:
        width = 100 if self.vectors is None else self.vectors.vectors.shape[1]
        table = np.zeros((len(self._words) + 1, width), dtype=np.float32)
        if self.vectors is None:
            table[1:] = np.random.default_rng(seed).uniform(-0.25, 0.25, (len(self._words), width))
        else:
            table[1:] = self.vectors.vectors
        return table

    def _build(self, n_classes: int, seed: int) -> Any:
        from lops_adapters.probes.han_network import HanNetwork

        torch = import_torch()
        table = torch.from_numpy(self._table(seed))
        return HanNetwork(table, n_classes, self.units, freeze=self.vectors is not None).to(self._device)

    def updates(self, prepared: list[Document], codes: np.ndarray, n_classes: int, seed: int) -> Iterator[Update]:
        """Train a fresh network; the seed decides its weights, the held-out samples and the batches."""
        torch = import_torch()
        randomness = LocalRandomness(seed, self._device)
        with randomness.inside():
            self._network = self._build(n_classes, seed)
        rng = np.random.default_rng(seed)
        held_out = np.sort(rng.permutation(len(prepared))[: int(self.validation * len(prepared))])
        train = np.setdiff1d(np.arange(len(prepared)), held_out)
        sizes = np.array([sum(map(len, prepared[i])) for i in train])
        optimizer = torch.optim.Adam([p for p in self._network.parameters() if p.requires_grad], lr=self.learning_rate)
        stopper = _EarlyStopping(self.patience)
        per_epoch, done = -(-len(train) // self.batch_size), 0
        for _ in range(self.epochs):
            for batch in training_batches(sizes, self.batch_size, rng, pool=4):
                self._learn(optimizer, prepared, train[batch], codes)
                done += 1
                yield Update(done, per_epoch, len(batch))
            if len(held_out) and stopper.should_stop(self._loss(prepared, held_out, codes), self._network):
                break
        if self.restore_best and stopper.best is not None:
            self._network.load_state_dict(stopper.best)

    def _forward(self, prepared: list[Document], positions: np.ndarray) -> Any:
        torch = import_torch()
        sentences = [torch.from_numpy(sentence) for i in positions for sentence in prepared[i]]
        words = torch.tensor([len(sentence) for sentence in sentences])
        padded = torch.nn.utils.rnn.pad_sequence(sentences, batch_first=True).to(self._device)
        with autocast(self._device, self.precision):
            return self._network(padded, words, [len(prepared[i]) for i in positions]).float()

    def _learn(self, optimizer: Any, prepared: list[Document], batch: np.ndarray, codes: np.ndarray) -> None:
        """Make one update; the batch runs in slices that fit a processor's cache, which changes the speed and not the gradient."""
        torch = import_torch()
        self._network.train()
        for start in range(0, len(batch), 64):
            part = batch[start : start + 64]
            target = torch.as_tensor(codes[part], device=self._device)
            loss = torch.nn.functional.cross_entropy(self._forward(prepared, part), target, reduction="sum") / len(batch)
            loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)

    def _loss(self, prepared: list[Document], positions: np.ndarray, codes: np.ndarray) -> float:
        probabilities = self.predict_prepared(prepared, positions)[np.arange(len(positions)), codes[positions]]
        return float(-np.log(np.maximum(probabilities, 1e-12)).mean())

    def predict_prepared(self, prepared: list[Document], positions: np.ndarray | None = None) -> np.ndarray:
        """Class probabilities, (m, k) float32."""
        torch = import_torch()
        if self._network is None:
            raise self._untrained()
        where = np.arange(len(prepared)) if positions is None else np.asarray(positions)
        sizes = np.array([sum(map(len, document)) for document in prepared], dtype=np.int64)
        probabilities = np.zeros((len(prepared), self._network.output.out_features), dtype=np.float32)
        self._network.eval()
        with torch.inference_mode():
            for batch in prediction_batches(sizes, where, budget=16384):
                probabilities[batch] = torch.softmax(self._forward(prepared, batch), dim=-1).cpu().numpy()
        return probabilities[where]

    def save(self, folder: Path) -> None:
        """Write ``model.safetensors`` (all weights with the word vectors) and ``han.json`` (settings, words, number of classes)."""
        from safetensors.torch import save_file

        if self._network is None:
            raise self._untrained()
        names = {item.name for item in fields(self)} - {"speed", "vectors", "_words"}
        stored = {
            "settings": {name: getattr(self, name) for name in sorted(names)},
            "words": list(self._words),
            "pretrained": self.vectors is not None,
            "n_classes": self._network.output.out_features,
        }
        (folder / "han.json").write_text(json.dumps(stored), encoding="utf-8")
        save_file({name: tensor.contiguous().cpu() for name, tensor in self._network.state_dict().items()}, folder / "model.safetensors")

    @classmethod
    def load(cls, folder: Path, *, device: str = "auto") -> HanProbe:
        """Read what :meth:`save` wrote."""
        from safetensors.torch import load_file

        stored = json.loads((folder / "han.json").read_text(encoding="utf-8"))
        weights = load_file(folder / "model.safetensors")
        table = weights["embedding.weight"].numpy()
        vectors = WordVectors(tuple(stored["words"]), table[1:]) if stored["pretrained"] else None
        probe = cls(vectors=vectors, **{**stored["settings"], "device": device})
        probe._words = {word: index for index, word in enumerate(stored["words"], 1)}
        with LocalRandomness(0, probe._device).inside():
            probe._network = probe._build(stored["n_classes"], seed=0)
        probe._network.load_state_dict(weights)
        return probe


class _EarlyStopping:
    def __init__(self, patience: int) -> None:
        self._patience, self._waited, self._lowest = patience, 0, float("inf")
        self.best: Any = None

    def should_stop(self, loss: float, network: Any) -> bool:
        if loss < self._lowest:
            self._lowest, self._waited = loss, 0
            self.best = copy.deepcopy(network.state_dict())
            return False
        self._waited += 1
        return self._waited >= self._patience


def sentences_of(sample: Any) -> Sequence[Sequence[str]]:
    """Return a sample as sentences of tokens; a string is cut at sentence ends and white space, tokens are one sentence.

    >>> sentences_of("The bank rose. It rained!")
    [['The', 'bank', 'rose.'], ['It', 'rained!']]
    """
    if not isinstance(sample, str | Iterable):
        raise LopsError(f"a sample is {sample!r}; wanted a string, tokens, or sentences of tokens")
    if not isinstance(sample, str):
        parts = list(sample)
        return [parts] if parts and isinstance(parts[0], str) else parts
    return [sentence.split() for sentence in _SENTENCE_END.split(sample) if sentence.strip()]
