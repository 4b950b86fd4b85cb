# SPDX-License-Identifier: Apache-2.0
"""LOPS in LOTClass, at one of two places (LOPS_AT).

``rows`` (default): the rows for masked category prediction, each a document and one of its classes.
``refresh``: the documents and their targets, at each refresh of self-training.

The probe is a fresh network of LOTClass's own class with the loss of that place, the learning rate
of masked category prediction, and its own optimiser and schedule, for at most four epochs
(LOPS_EPOCHS). The main model and its schedule are not used. At a refresh the first process trains
the probe, and all processes use its selection. LOPS_TAU=auto cross-validates at every refresh anew.
"""

import os

from lops_shared import (
    TorchTraining,
    agreed,
    positions,
    random_states_kept,
    read_settings,
    say,
    seed_torch,
    select_with_torch,
)

SETTINGS = read_settings(epochs=4, places=("rows", "refresh"))
SEED = 0


def keep_rows(data, trainer, network):
    """Return the trusted rows.

    Args:
        data: ``input_ids``, ``attention_masks`` and ``labels``, each (m, length) int64; a label is
            -1, or the row's class at its places.
        trainer: LOTClass's trainer, for its settings.
        network: LOTClass's network class.

    """
    import torch

    if SETTINGS.at != "rows":
        return data
    device = _device(0)
    places = data["labels"] >= 0
    hidden = data["input_ids"].masked_fill(places, trainer.mask_id)

    def loss_of(probe, rows):
        logits = _logits(probe, hidden[rows], data["attention_masks"][rows], device)
        targets = data["labels"][rows][places[rows]].to(device)
        return torch.nn.functional.cross_entropy(logits[places[rows].to(device)], targets)

    def scores_of(probe, rows):
        is_masked = places[rows].to(device).float().unsqueeze(-1)
        logits = _logits(probe, hidden[rows], data["attention_masks"][rows], device)
        scores = torch.softmax(logits, dim=-1)
        return (scores * is_masked).sum(dim=1) / is_masked.sum(dim=1)

    with random_states_kept(device):
        classes = data["labels"].max(dim=1)[0]
        # Without the words that made the labels, which would confirm every label.
        words = data["input_ids"].masked_fill(places, 0) * data["attention_masks"]
        kept = _positions(classes, trainer, network, device, loss_of, scores_of, words)
        if device.type == "cuda":
            torch.cuda.empty_cache()  # the processes that train the model need the memory
    return {name: tensor[kept] for name, tensor in data.items()}


def say_if_reused(path):
    """Say if a trained model is read, so that nothing is selected among the rows; returns it."""
    if SETTINGS.at == "rows" and os.path.exists(path):
        say(
            "nothing is selected: the model is read from {}. Delete it, or give this run its own "
            "data folder".format(path)
        )
    return path


def keep_documents(data, rank, trainer, network):
    """Return the trusted documents of a refresh, with their soft targets.

    Args:
        data: ``input_ids`` and ``attention_masks`` (n, length) int64, ``labels`` (n, k) soft
            targets; the largest is the pseudo-label.
        rank: this process's number.
        trainer: LOTClass's trainer, for its settings.
        network: LOTClass's network class.

    """
    import torch

    if SETTINGS.at != "refresh":
        return data
    device = _device(rank)

    def logits_of(probe, rows):
        return _logits(probe, data["input_ids"][rows], data["attention_masks"][rows], device)[:, 0]

    def loss_of(probe, rows):
        log_probabilities = torch.log_softmax(logits_of(probe, rows), dim=-1)
        targets = data["labels"][rows].to(device)
        return torch.nn.functional.kl_div(log_probabilities, targets, reduction="batchmean")

    def scores_of(probe, rows):
        return torch.softmax(logits_of(probe, rows), dim=-1)

    def compute():
        classes, words = data["labels"].argmax(dim=1), data["input_ids"] * data["attention_masks"]
        return _positions(classes, trainer, network, device, loss_of, scores_of, words)

    with random_states_kept(device):
        kept = agreed(compute, len(data["labels"]), device)
    return {name: tensor[kept] for name, tensor in data.items()}


def _device(rank):
    import torch

    return torch.device("cuda", rank) if torch.cuda.is_available() else torch.device("cpu")


def _logits(probe, ids, mask, device):
    return probe(ids.to(device), pred_mode="classification", attention_mask=mask.to(device)).float()


def _positions(classes, trainer, network, device, loss_of, scores_of, words):
    seed_torch(SEED, device)
    probe = network.from_pretrained(trainer.pretrained_lm, num_labels=trainer.num_class).to(device)
    training = TorchTraining(
        batch_size=trainer.train_batch_size * trainer.world_size * trainer.accum_steps,
        at_once=trainer.train_batch_size,
        learning_rate=2e-5,
        warm_up=0.1,
    )
    selection = select_with_torch(
        probe,
        classes.numpy(),
        trainer.num_class,
        SETTINGS,
        training,
        loss_of=lambda rows: loss_of(probe, rows),
        scores_of=lambda rows: scores_of(probe, rows),
        documents=words.numpy(),
        seed=SEED,
    )
    return positions(selection, SETTINGS)
