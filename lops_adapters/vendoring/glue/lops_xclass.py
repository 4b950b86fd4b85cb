# SPDX-License-Identifier: Apache-2.0
"""LOPS in X-Class: select the documents for the final classifier.

The selection is among the documents that X-Class's own rule took.

The probe is a copy of the untrained classifier with the classifier's settings and its own optimiser
and schedule, for at most four epochs (LOPS_EPOCHS). In a distributed run the first process trains
it.
"""

import copy

from lops_shared import (
    TorchTraining,
    agreed,
    positions,
    random_states_kept,
    read_settings,
    seed_torch,
    select_with_torch,
)

SETTINGS = read_settings(epochs=4)


def keep(dataset, args, model, n_classes):
    """Return the trusted rows of the training data, in the same order.

    Args:
        dataset: TensorDataset of ids, mask and token types (n, length), and labels (n,), all int64.
        args: X-Class's options.
        model: the untrained classifier; it is not changed.
        n_classes: number of classes.

    """
    from torch.utils.data import TensorDataset

    def compute():
        return _positions(dataset, args, model, n_classes)

    with random_states_kept(args.device):
        kept = agreed(compute, len(dataset), args.device)
    return TensorDataset(*[tensor[kept] for tensor in dataset.tensors])


def _positions(dataset, args, model, n_classes):
    import torch

    seed_torch(args.seed, args.device)
    probe = copy.deepcopy(model)
    labels = dataset.tensors[3]

    def outputs(rows):
        ids, mask, types, targets = (tensor[rows].to(args.device) for tensor in dataset.tensors)
        options = {"token_type_ids": types} if args.model_type == "bert" else {}
        return probe(input_ids=ids, attention_mask=mask, labels=targets, **options)

    gpus = max(1, args.n_gpu)
    training = TorchTraining(
        batch_size=args.per_gpu_train_batch_size * gpus * args.gradient_accumulation_steps,
        at_once=args.per_gpu_train_batch_size,
        learning_rate=args.learning_rate,
        weight_decay=args.weight_decay,
        epsilon=args.adam_epsilon,
        clip=args.max_grad_norm,
    )
    selection = select_with_torch(
        probe,
        labels.numpy(),
        n_classes,
        SETTINGS,
        training,
        loss_of=lambda rows: outputs(rows)[0],
        scores_of=lambda rows: torch.softmax(outputs(rows)[1].float(), dim=-1),
        documents=(dataset.tensors[0] * dataset.tensors[1]).numpy(),
        seed=args.seed,
    )
    return positions(selection, SETTINGS)
