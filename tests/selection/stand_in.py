"""A stand-in probe that predicts for each sample what a table says, whatever it is trained on."""

import zlib

import numpy as np

from lops_adapters.probes import Probe
from lops_adapters.probes.base import Stage, Update, steady
from lops_adapters.probes.han import HanProbe
from lops_adapters.probes.linear import LinearProbe
from lops_adapters.selection.committee.likelihoods import class_shares, likelihoods

from ..framework_tools import ARTS, COMMON, LAW, save_bert


def likely(probabilities, codes):
    """Likelihoods, with the classes' shares among the codes."""
    return likelihoods(probabilities, class_shares(codes, probabilities.shape[1]))


class Told(Probe):
    """Probabilities by sample: ``table[sample]`` has shape (epochs, k). One update an epoch, on all
    samples.
    """

    kind = "told"
    has_dropout = True

    def __init__(self, table):
        super().__init__()
        self.table = table
        self.trained_on, self.stages, self.done = [], None, 0

    @property
    def max_epochs(self):
        return len(next(iter(self.table.values())))

    def prepare(self, samples, *, fit=False):
        if fit:
            self.trained_on.append(list(samples))
        return list(samples)

    @property
    def schedule(self):
        return Stage(self.max_epochs, steady)

    def updates(self, prepared, codes, n_classes, seed, total=None):
        for done in range(1, self.max_epochs + 1):
            self.done = done
            yield Update(done, 1, len(prepared))

    def staged_updates(self, prepared, codes, n_classes, seed, stages):
        self.stages, total = stages, 0
        for stage in stages:
            for done in range(stage.epochs):
                total += 1
                self.done = min(total, self.max_epochs)
                if stage.heard is not None:
                    probabilities = self.predict_prepared(prepared)
                    for part in np.array_split(np.arange(len(prepared))[::-1], 2):
                        stage.heard(part, probabilities[part])
                yield Update(done + 1, 1, len(prepared))

    def predict_prepared(self, prepared, positions=None):
        where = range(len(prepared)) if positions is None else positions
        return np.array([self.table[prepared[i]][self.done - 1] for i in where], dtype=np.float32)

    def predict_with_dropout(self, samples, passes, *, seed=0):
        """Each sample's last probabilities, some passes nearer to even than others, by an amount of
        the sample's own.
        """
        rows = np.array([self.table[sample][-1] for sample in samples])
        amounts = np.array([zlib.crc32(str(sample).encode()) % 1000 / 2000 for sample in samples])[
            :, None
        ]
        even = np.full_like(rows, 1 / rows.shape[1])
        return np.stack(
            [rows + amounts * i / passes * (even - rows) for i in range(passes)]
        ).astype(np.float32)

    def save(self, folder):
        raise NotImplementedError

    @classmethod
    def load(cls, folder, *, device="auto"):
        raise NotImplementedError


def world(n=90, k=3, epochs=4, seed=0, noise=0.3):
    """Samples, pseudo-labels, gold labels and a table in which most wrong labels are found later
    and with less confidence.
    """
    rng = np.random.default_rng(seed)
    gold = rng.integers(0, k, n)
    gold[:k] = np.arange(k)
    wrong = rng.uniform(size=n) < noise
    codes = np.where(wrong, (gold + 1) % k, gold)
    codes[:k] = np.arange(k)
    table = {}
    for i in range(n):
        rows = rng.uniform(0.05, 1.0, (epochs, k))
        rows[:, gold[i]] += np.linspace(0.4, 1.5, epochs)
        rows[:, codes[i]] += np.linspace(0.0, 0.4, epochs)
        table[f"text {i}"] = rows / rows.sum(axis=1, keepdims=True)
    return list(table), [f"class {c}" for c in codes], [f"class {c}" for c in gold], table


def staged_probe(kind, folder, **settings):
    """A real probe without dropout that can be trained in stages; batches of six unless told
    otherwise.
    """
    settings = {"epochs": 2, "batch_size": 6, **settings}
    if kind == "linear":
        return LinearProbe(**settings)
    if kind == "han":
        return HanProbe(**{"learning_rate": 1e-2, "units": 8, "device": "cpu", **settings})
    from lops_adapters.probes.transformer import TransformerProbe

    if not (folder / "config.json").exists():
        learns = {"initializer_range": 0.2, "hidden_size": 32, "intermediate_size": 64}
        save_bert(
            folder,
            [*COMMON, *ARTS, *LAW],
            hidden_dropout_prob=0.0,
            attention_probs_dropout_prob=0.0,
            **learns,
        )
    return TransformerProbe(
        str(folder), **{"learning_rate": 3e-3, "precision": "float32", "device": "cpu", **settings}
    )


def topics(n, rng=0):
    """Texts of two topics, n of each in turn."""
    draw = np.random.default_rng(rng)
    return [
        " ".join([*draw.choice(topic, 3), *draw.choice(COMMON, 3)]) for topic in (ARTS, LAW) * n
    ]
