"""Learning order inside your own ``transformers.Trainer``.

Train the trainer's model on all pseudo-labels, then a new one on the kept samples::

    from lops_adapters.integrations.huggingface import select_with_trainer

    selection = select_with_trainer(trainer)
    clean = trainer.train_dataset.select(selection.kept)

Or watch a training that happens anyway::

    from lops_adapters.integrations.huggingface import LopsCallback

    callback = LopsCallback(trainer)
    trainer.add_callback(callback)
    trainer.train()
    callback.record.select(keep=0.5), callback.record.data_map()
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lops_adapters import extras
from lops_adapters.core import LopsError, Selection

if TYPE_CHECKING:
    from lops_adapters.integrations.huggingface_callback import LopsCallback

__all__ = ["LopsCallback", "select_with_trainer"]


def __getattr__(name: str) -> Any:
    if name != "LopsCallback":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return _callback_class()


def _callback_class() -> type[LopsCallback]:
    for library in ("torch", "transformers", "accelerate"):
        extras.load(library, "The Trainer callback", "huggingface")
    from lops_adapters.integrations.huggingface_callback import LopsCallback

    return LopsCallback


def select_with_trainer(
    trainer: Any,
    labels: Any = None,
    *,
    method: str = "released",
    keep: float = 0.5,
    every: int | None = None,
    seed: int = 0,
    strict: bool = False,
    skip_decided: bool = True,
    resume_from_checkpoint: str | bool | None = None,
) -> Selection:
    """Train a trainer's model on all pseudo-labels until the selection is decided, and select.

    The training uses the trainer's own arguments, callbacks and loss. Its model is the probe and is
    trained afterwards: train a new model on ``selection.kept``.

    Args:
        trainer: a ``transformers.Trainer`` of any sequence classification model, with a
            ``train_dataset`` that has a length.
        labels: (N,) int pseudo-labels 0..k-1, by position in ``train_dataset``. Default: the
            dataset's own label column.
        method, keep: one of :data:`lops_adapters.core.RULES`, and the fraction of each class.
        seed, strict: as for :class:`lops_adapters.core.LearningOrder`.
        every: updates between checkpoints. Default: one checkpoint per epoch.
        skip_decided: predict only the samples that can still change the selection; the selection
            is the same.
        resume_from_checkpoint: as for ``Trainer.train``.

    Raises:
        LopsError: what :class:`LopsCallback` raises; a training that ends before the first
            checkpoint.

    >>> select_with_trainer("roberta-base")
    Traceback (most recent call last):
    lops_adapters.core.LopsError: trainer is a str; wanted a transformers.Trainer

    """
    if not (hasattr(trainer, "prediction_step") and hasattr(trainer, "add_callback")):
        raise LopsError(f"trainer is a {type(trainer).__name__}; wanted a transformers.Trainer")
    callback = _callback_class()(
        trainer,
        labels,
        every=every,
        method=method,
        keep=keep,
        skip_decided=skip_decided,
        stop_when_done=True,
    )
    trainer.add_callback(callback)
    try:
        trainer.train(resume_from_checkpoint=resume_from_checkpoint)
    finally:
        trainer.remove_callback(callback)
    return callback.record.select(method, keep, seed=seed, strict=strict)
