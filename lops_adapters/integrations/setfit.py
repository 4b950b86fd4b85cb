"""Selection for SetFit: the trainer keeps the rows whose labels to trust::

    from lops_adapters.integrations.setfit import select_trainer

    selection = select_trainer(trainer)
    trainer.train()

Tested with SetFit 1.2.
"""

from __future__ import annotations

from typing import Any

from lops_adapters.core import LopsError
from lops_adapters.texts.result import TextSelection
from lops_adapters.texts.select import select


def select_trainer(trainer: Any, **choice: Any) -> TextSelection:
    """Select among a trainer's training rows and leave it the kept ones.

    Args:
        trainer: a ``setfit.Trainer`` with a ``datasets.Dataset`` to train on, not yet trained.
        choice: as for :func:`lops_adapters.select`. ``embeddings=trainer.model.encode(texts)``
            judges the trainer's own vectors.

    Returns:
        The selection, with positions in the data set from before.

    Raises:
        LopsError: no such trainer, no training set, rows without a label, and what the selection
            raises.

    """
    rows = getattr(trainer, "train_dataset", None)
    if not hasattr(trainer, "column_mapping"):
        raise LopsError(f"trainer is a {type(trainer).__name__}; wanted a setfit.Trainer")
    if rows is None:
        raise LopsError("the trainer has no train_dataset; wanted a datasets.Dataset")
    # The trainer has renamed its columns to these.
    plain = rows.with_format(None)
    selection = select(list(plain["text"]), list(plain["label"]), **choice)
    trainer.train_dataset = rows.select(selection.kept)
    return selection
