# SPDX-License-Identifier: Apache-2.0
"""What the adapter files of all repositories share: settings, monitored training, random states.

This file is copied next to the scripts of a repository, with ``lops_core.py``, ``lops_held_out.py``
and the repository's adapter file. It needs Python >= 3.6, numpy and the repository's own libraries.

Environment:
    LOPS: 1 switches the selection on; 0, empty or unset leaves the program unchanged.
    LOPS_RULE: one of ``lops_core.RULES``, default ranked, which keeps exactly LOPS_TAU of every
        class. ``released`` produced the published numbers.
    LOPS_TAU: fraction of each class, or ``auto``: the share of pseudo-labels that held-out linear
        probes prefer. With ranked, it is a share per class, and predictions are also divided by
        the classes' shares, which the paper does not do. Default: auto; for other rules than
        ranked 0.5, as published.
    LOPS_EPOCHS: largest number of epochs of the probe; the default is in the adapter file.
    LOPS_EVERY: ``epoch``, or the number of updates between two checkpoints of the probe.
    LOPS_AT: where to select, in repositories with several places.
    LOPS_OUT: a file for every selection: a line per pseudo-label with position, label, learnt time
        and whether it is kept. Further selections of a run go to FILE.2, FILE.3, ...
"""

import contextlib
import os
import random
import sys
from typing import Any, NamedTuple

import numpy as np
from lops_core import RULES, LearningOrder, LopsError
from lops_held_out import FOLDS, agreed_shares, likelihoods

AUTO = "auto"
_WRITTEN = []  # type: list


class Settings(NamedTuple):
    """The settings from the environment.

    ``tau``: a number, or ``auto``. ``epochs`` None: the repository's own number. ``every`` None:
    once per epoch. ``out`` empty: no file.
    """

    tau: Any
    rule: str
    epochs: int
    every: int
    at: str
    out: str


def read_settings(epochs=None, every="epoch", places=("",)):
    """Return the settings; raise a LopsError if one is wrong.

    Adapter files call this at import, before any long work.
    """
    switch = os.environ.get("LOPS")
    if switch != "1":
        raise LopsError("LOPS is {!r}; wanted 1 to select pseudo-labels, or 0".format(switch))
    rule = _one_of("LOPS_RULE", RULES, "ranked")
    tau = os.environ.get("LOPS_TAU") or (AUTO if rule == "ranked" else 0.5)
    if tau != AUTO:
        expected = "auto, or a fraction above 0 and at most 1"
        tau = _number("LOPS_TAU", float, tau, expected)
        if not 0 < tau <= 1:
            raise LopsError("LOPS_TAU is {}; wanted {}".format(tau, expected))
    epochs = _number("LOPS_EPOCHS", int, epochs, "a whole number, at least 1")
    every = os.environ.get("LOPS_EVERY") or every
    if every == "epoch":
        every = None
    else:
        every = _number("LOPS_EVERY", int, every, "epoch, or a whole number, at least 1")
    for name, value in (("LOPS_EPOCHS", epochs), ("LOPS_EVERY", every)):
        if value is not None and value < 1:
            raise LopsError("{} is {}; wanted at least 1".format(name, value))
    out = os.environ.get("LOPS_OUT") or ""
    if out and not os.path.isdir(os.path.dirname(os.path.abspath(out))):
        raise LopsError("LOPS_OUT is {!r}; wanted a file in a folder that exists".format(out))
    return Settings(tau, rule, epochs, every, _one_of("LOPS_AT", places), out)


def _number(name, kind, default, expected):
    text = os.environ.get(name)
    try:
        return kind(text) if text else default
    except ValueError:
        raise LopsError("{} is {!r}; wanted {}".format(name, text, expected)) from None


def _one_of(name, known, default=None):
    value = os.environ.get(name) or default or known[0]
    if value not in known:
        expected = ", ".join(filter(None, known))
        expected = "one of " + expected if expected else "it unset: there is only one place here"
        raise LopsError("{} is {!r}; wanted {}".format(name, value, expected))
    return value


def select(labels, n_classes, settings, seed, per_epoch, updates, predict, documents):
    """Train a probe until its learning order decides, and return the selection.

    Args:
        labels: (n,) integer pseudo-labels, 0 to n_classes - 1.
        n_classes: number of classes, including classes without samples.
        settings: of :func:`read_settings`, with a number of epochs.
        seed: breaks ties of equal scores.
        per_epoch: updates per epoch.
        updates: iterator; each step makes one update of the probe.
        predict: returns the probe's current (n, n_classes) probabilities of all samples in order.
        documents: (n, ...) word ids of the samples, 0 and below is no word; for tau auto.

    """
    labels, tau, why = np.asarray(labels), settings.tau, ""
    corrected = tau == AUTO and settings.rule == "ranked"
    if tau == AUTO:
        say("tau: {}-fold cross-validation of a linear probe".format(FOLDS))
        tau = agreed_shares(documents, labels, n_classes, seed)
        counts = np.bincount(labels, minlength=n_classes)
        mean = sum(np.ceil(tau[label] * counts[label]) for label in tau) / len(labels)
        how = " on average" if corrected else ""
        why = "tau {:.3f}{} by {}-fold cross-validation; ".format(mean, how, FOLDS)
        if min(tau.values()) == 1:  # what agreed_shares returns without an answer
            why = "nothing was selected" if corrected else "tau 1.000"
            few = len(labels) < FOLDS
            reason = "too few samples" if few else "held-out probes cannot tell these labels apart"
            why = "{}: {}; ".format(why, reason)
        tau = tau if corrected else mean
    total = settings.epochs * per_epoch
    every = min(settings.every or per_epoch, total)
    order = LearningOrder(
        labels,
        tau=tau,
        rule=settings.rule,
        max_checkpoints=total // every,
        classes=list(range(n_classes)),
        horizon=settings.epochs,
        seed=seed,
    )
    for done, _ in enumerate(updates, 1):
        if done % per_epoch == 0:
            say("probe: epoch {} of at most {}".format(done // per_epoch, settings.epochs))
        if done % every == 0:
            probabilities = likelihoods(predict(), labels) if corrected else predict()
            order.observe(probabilities, time=float(done) / per_epoch)
            if order.done:
                break
    selection = order.select()
    selection.stopped = why + selection.stopped
    if settings.out:
        write(selection, labels, settings.out)
    return selection


def write(selection, labels, path):
    """Write a selection as CSV: position, label, learnt_at (empty: never) and kept (1 or 0).

    The first one of a process replaces the file.
    """
    _WRITTEN.append(path)
    number = _WRITTEN.count(path)
    kept, path = selection.mask, path if number == 1 else "{}.{}".format(path, number)
    with open(path, "w") as file:
        file.write("position,label,learnt_at,kept\n")
        for position, label in enumerate(labels.tolist()):
            time = selection.learnt_at[position]
            learnt = repr(float(time)) if np.isfinite(time) else ""
            file.write("{},{},{},{}\n".format(position, label, learnt, int(kept[position])))


def positions(selection, settings, names=None, least=1):
    """Return the positions to go on with; print rule, tau and the result for each class.

    These are all positions if fewer than ``least`` were kept.
    """
    n, kept = len(selection.mask), len(selection.kept)
    summary = "rule {}, tau {}, kept {} of {} pseudo-labelled samples; {}"
    say(summary.format(selection.rule, settings.tau, kept, n, selection.stopped))
    for label, report in selection.per_class.items():
        say("  {}: {} of {}".format(names[label] if names else label, report.kept, report.count))
    if kept < least:
        say("too few to train on; using all samples")
        return np.arange(n)
    return selection.kept


def say(text):
    """Print a line that is marked as LOPS's own."""
    sys.stdout.write("LOPS: {}\n".format(text))
    sys.stdout.flush()


@contextlib.contextmanager
def random_states_kept(device=None):
    """Restore the global random states of Python, numpy and torch (if loaded) at the end.

    ``device`` is the torch device in use.
    """
    torch: Any = sys.modules.get("torch")
    gpu = device if getattr(device, "type", "cpu") == "cuda" else None
    states = (
        random.getstate(),
        np.random.get_state(),
        torch and torch.get_rng_state(),
        gpu and torch.cuda.get_rng_state(gpu),
    )
    try:
        yield
    finally:
        random.setstate(states[0])
        np.random.set_state(states[1])
        if torch:
            torch.set_rng_state(states[2])
        if gpu:
            torch.cuda.set_rng_state(states[3], gpu)


def batches(n, size, epochs, seed):
    """Yield the rows of each batch, in a fresh seeded order every epoch."""
    rng = np.random.RandomState(seed)
    for _ in range(epochs):
        order = rng.permutation(n)
        for start in range(0, n, size):
            yield order[start : start + size]


def select_with_keras(model, x, targets, settings, batch_size, seed=0):
    """Select with a compiled Keras model as the probe.

    It is trained on the word ids ``x`` (n, ...), 0 for none, and on ``targets`` (n, k), whose
    largest column is the pseudo-label.
    """
    n = len(x)

    def updates():
        for rows in batches(n, batch_size, settings.epochs, seed):
            model.train_on_batch(x[rows], targets[rows])
            yield

    def predict():
        parts = [x[begin : begin + batch_size] for begin in range(0, n, batch_size)]
        return np.concatenate([np.asarray(model.predict_on_batch(part)) for part in parts])

    labels, per_epoch = targets.argmax(axis=1), -(-n // batch_size)
    return select(labels, targets.shape[1], settings, seed, per_epoch, updates(), predict, x)


class TorchTraining(NamedTuple):
    """How a torch probe is trained.

    Attributes:
        batch_size: rows per update.
        at_once: rows that go through the network at once.
        learning_rate, weight_decay, epsilon: of AdamW.
        clip: largest norm of the gradient.
        warm_up: share of all updates in which the learning rate rises; afterwards it falls to zero.

    """

    batch_size: int
    at_once: int
    learning_rate: float
    weight_decay: float = 0.0
    epsilon: float = 1e-8
    clip: float = 1.0
    warm_up: float = 0.0


def select_with_torch(
    model, labels, n_classes, settings, training, loss_of, scores_of, documents, seed=0
):
    """Select with a torch module as the probe; optimiser and schedule are created here.

    Args:
        model: the probe, a separate module, on its device.
        labels: (n,) integer pseudo-labels.
        n_classes: number of classes.
        settings: of :func:`read_settings`.
        training: a :class:`TorchTraining`.
        loss_of: ``loss_of(rows)`` returns the mean loss of these rows.
        scores_of: ``scores_of(rows)`` returns their (m, k) probabilities.
        documents: (n, length) word ids, 0 for none.
        seed: of the batches and of ties.

    """
    import torch

    n, per_epoch = len(labels), -(-len(labels) // training.batch_size)
    total = per_epoch * settings.epochs
    rise = training.warm_up * total

    def updates():
        parameters = [parameter for parameter in model.parameters() if parameter.requires_grad]
        optimizer = torch.optim.AdamW(
            parameters,
            lr=training.learning_rate,
            eps=training.epsilon,
            weight_decay=training.weight_decay,
        )
        for done, rows in enumerate(batches(n, training.batch_size, settings.epochs, seed)):
            model.train()
            model.zero_grad()
            for begin in range(0, len(rows), training.at_once):
                part = rows[begin : begin + training.at_once]
                (loss_of(part) * (float(len(part)) / len(rows))).backward()
            torch.nn.utils.clip_grad_norm_(parameters, training.clip)
            factor = done / rise if done < rise else (total - done) / max(1.0, total - rise)
            for group in optimizer.param_groups:
                group["lr"] = training.learning_rate * factor
            optimizer.step()
            yield

    def predict():
        model.eval()
        with torch.no_grad():
            parts = [
                scores_of(np.arange(begin, min(n, begin + training.at_once)))
                for begin in range(0, n, training.at_once)
            ]
        return torch.cat(parts).cpu().numpy()

    return select(labels, n_classes, settings, seed, per_epoch, updates(), predict, documents)


def seed_torch(seed, device):
    """Seed the generators of the CPU and of one device; other devices keep their states."""
    import torch

    torch.random.default_generator.manual_seed(seed)
    if device.type == "cuda":
        with torch.cuda.device(device):
            torch.cuda.manual_seed(seed)


def agreed(compute, n, device):
    """Return the positions of ``compute()``, below ``n``, the same in every process.

    In a distributed run the first process computes them.
    """
    import torch
    import torch.distributed as dist

    if not (dist.is_available() and dist.is_initialized() and dist.get_world_size() > 1):
        return compute()
    mask = torch.zeros(n, dtype=torch.uint8)
    if dist.get_rank() == 0:
        mask[torch.as_tensor(compute())] = 1
    mask = mask.to(device)
    dist.broadcast(mask, 0)
    return np.flatnonzero(mask.cpu().numpy())
