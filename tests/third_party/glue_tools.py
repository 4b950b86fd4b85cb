"""The glue as a patched program loads it, and eyes on what it does."""

import random
import sys
from contextlib import contextmanager
from importlib import import_module

import numpy as np

from lops_adapters.core import LearningOrder
from lops_adapters.selection.committee.likelihoods import class_shares, likelihoods
from lops_adapters.selection.methods.auto_keep import FOLDS
from lops_adapters.vendoring import upstreams


@contextmanager
def loaded(name, folder, monkeypatch, **environment):
    """Import a repository's glue from copies in a folder, with LOPS=1; remove it afterwards."""
    for path, (_, text) in upstreams.load(name).companions().items():
        (folder / path.rsplit("/", 1)[-1]).write_text(text, encoding="utf-8")
    for variable in ("TAU", "RULE", "EPOCHS", "EVERY", "AT", "OUT"):
        monkeypatch.delenv(f"LOPS_{variable}", raising=False)
    for variable, value in {"LOPS": "1", **environment}.items():
        monkeypatch.setenv(variable, value)
    modules = ("lops_core", "lops_held_out", "lops_shared", f"lops_{name}")
    try:
        with monkeypatch.context() as patch:
            patch.syspath_prepend(str(folder))
            yield import_module(modules[-1])
    finally:
        for module in modules:
            sys.modules.pop(module, None)


class Watch:
    """Records a probe's predictions at each checkpoint, and what lops_adapters.core selects."""

    def __init__(self, monkeypatch):
        shared = sys.modules["lops_shared"]
        select = shared.select
        self.seen, self.arguments, self.labels = [], None, None

        def recorded(labels, n_classes, settings, seed, per_epoch, updates, predict, documents):
            self.labels, self.arguments = np.asarray(labels), (n_classes, settings, seed, per_epoch)
            self.seen, self.tau = [], settings.tau
            if self.tau == "auto":
                self.tau = shared.agreed_shares(documents, labels, n_classes, seed)

            def predict_and_record():
                self.seen.append(np.asarray(predict()))
                return self.seen[-1]

            return select(
                labels, n_classes, settings, seed, per_epoch, updates, predict_and_record, documents
            )

        monkeypatch.setattr(shared, "select", recorded)

    def expected(self, wrong=None):
        """Kept positions by the package's own core, which must have stopped then, too; some are
        kept, and fewer of the wrong labels than of all.
        """
        n_classes, settings, seed, per_epoch = self.arguments
        every = settings.every or per_epoch
        of_labels = class_shares(self.labels, n_classes, FOLDS)
        corrected = (settings.tau, settings.rule) == ("auto", "ranked")
        order = LearningOrder(
            self.labels,
            self.tau,
            settings.rule,
            settings.epochs * per_epoch // every,
            range(n_classes),
            settings.epochs,
            seed,
        )
        for number, scores in enumerate(self.seen, 1):
            assert not order.done
            found = likelihoods(scores, of_labels) if corrected else scores
            order.observe(found, time=number * every / per_epoch)
        assert order.done
        kept = order.select().kept
        assert 0 < len(kept) < len(self.labels)
        if wrong is not None:
            assert np.isin(kept, wrong).mean() < len(wrong) / len(self.labels)
        return kept


@contextmanager
def random_states_unchanged():
    """Fail where a global random state is another afterwards."""
    import torch

    before = random.getstate(), np.random.get_state(), torch.get_rng_state()
    yield
    assert random.getstate() == before[0]
    assert all(
        np.array_equal(now, then)
        for now, then in zip(np.random.get_state(), before[1], strict=True)
    )
    assert torch.equal(torch.get_rng_state(), before[2])


def noisy_tokens(n=60, length=8, share=0.2, k=3, seed=0):
    """Return ids (n, length) from 5 on, labels and the positions of wrong labels.

    The ids depend on the true class.
    """
    rng = np.random.default_rng(seed)
    truth = np.arange(n) % k
    ids = 5 + 4 * truth[:, None] + rng.integers(0, 4, size=(n, length))
    wrong = rng.permutation(n)[: int(share * n)]
    labels = truth.copy()
    labels[wrong] = (labels[wrong] + 1) % k
    return ids.astype("int64"), labels, wrong
