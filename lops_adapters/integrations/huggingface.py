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
    callback.record.select(keep=0.5), callback.record.probabilities()
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from tqdm import tqdm

from lops_adapters import extras
from lops_adapters.core import LopsError, Selection
from lops_adapters.encoders.torch_tools import LocalRandomness
from lops_adapters.integrations.watcher import Watcher, read_codes

for _library in ("torch", "transformers", "accelerate"):
    extras.load(_library, "The Trainer callback", "huggingface")

import torch  # noqa: E402 (says what to install, above)
from torch.utils.data import DataLoader, IterableDataset, Subset  # noqa: E402
from transformers import TrainerCallback  # noqa: E402

__all__ = ["LopsCallback", "select_with_trainer"]
FILE = "lops_record.npz"  # in every checkpoint folder


class LopsCallback(Watcher, TrainerCallback):
    """Records the order in which a training learns its samples: predicts them after every epoch.

    Predictions go by position in ``train_dataset``, in its order, with the trainer's collator and
    ``prediction_step``; in distributed runs every process predicts a part and all hold the whole
    record. The training is not affected: same weights, and no metric, log, evaluation or other
    callback notices. A checkpoint costs a forward pass over the training set.

    Every checkpoint folder the trainer writes holds the record, as ``lops_record.npz``, and a
    resumed training continues it.

    Args:
        trainer: the ``transformers.Trainer`` the callback is added to.
        labels: (N,) int pseudo-labels 0..k-1, by position in ``train_dataset``. Default: the
            dataset's own label column, under a name in ``trainer.label_names``, or ``label``,
            ``labels`` or ``label_ids``.
        every: updates between checkpoints. Default: one checkpoint per epoch.
        method, keep: used by ``skip_decided`` and ``stop_when_done``: one of
            :data:`lops_adapters.core.RULES`, and the fraction of each class.
        skip_decided: predict only samples that can still change the selection by this method.
        stop_when_done: stop the training when further predictions cannot change the selection for
            this method.
        resume_from: the checkpoint folder that the training resumes from, if it is not in the
            trainer's ``output_dir``.

    Raises:
        LopsError: another kind of trainer, numbers out of range, a dataset without a length, labels
            that are missing, masked (-100), not integers or not of the model; at the start of
            training, another dataset or an unsuitable resumed checkpoint; at the first checkpoint,
            outputs that are not class scores.
    """

    def __init__(
        self,
        trainer: Any,
        labels: Any = None,
        *,
        every: int | None = None,
        method: str = "released",
        keep: float = 0.5,
        skip_decided: bool = False,
        stop_when_done: bool = False,
        resume_from: str | Path | None = None,
    ) -> None:
        if not (hasattr(trainer, "prediction_step") and hasattr(trainer, "add_callback")):
            kind = type(trainer)
            whose = "" if kind.__module__ == "builtins" else f"{kind.__module__.split('.')[0]}."
            raise LopsError(
                f"trainer is a {whose}{kind.__name__}; wanted a transformers.Trainer. For other "
                "trainers, select first (docs/recipes.md)"
            )
        self.trainer = trainer
        self.resume_from = resume_from
        super().__init__(
            _labels_of(trainer, labels),
            every=every,
            method=method,
            keep=keep,
            skip_decided=skip_decided,
            stop_when_done=stop_when_done,
        )

    def on_train_begin(self, args: Any, state: Any, control: Any, **others: Any) -> None:
        """Begin a record, or continue the one of a resumed training."""
        n_samples, now = len(self.codes), len(self.trainer.train_dataset)
        if now != n_samples:
            raise LopsError(
                f"train_dataset has {now} samples, and had {n_samples} when the callback was made; "
                "make a new callback for the new data"
            )
        self.found = None
        if not state.global_step:
            return
        usual = Path(args.output_dir) / f"checkpoint-{state.global_step}"
        path = Path(self.resume_from or args.resume_from_checkpoint or usual) / FILE
        if not path.is_file():
            raise LopsError(
                f"the training resumes at update {state.global_step}, and what was learnt before "
                f"is not known: there is no {path}; resume from a checkpoint that was written "
                "with this callback (resume_from: its folder), or start a new training"
            )
        self.resume(path, float(state.num_train_epochs))

    def on_step_end(self, args: Any, state: Any, control: Any, **others: Any) -> None:
        """Record a checkpoint when it is due, before the trainer saves its own."""
        every, horizon = self.every, float(state.num_train_epochs)
        due = state.global_step % every == 0 if every else float(state.epoch).is_integer()
        if due and self.look(self._predict, time=state.epoch, horizon=horizon):
            control.should_training_stop = True

    def on_save(self, args: Any, state: Any, control: Any, **others: Any) -> None:
        """Put the record into the checkpoint folder."""
        folder = Path(args.output_dir) / f"checkpoint-{state.global_step}"
        if state.is_world_process_zero and folder.is_dir():
            self.save(folder / FILE, float(state.num_train_epochs))

    def _predict(self, positions: np.ndarray | None) -> np.ndarray:
        """Return (m, k) float32 probabilities at ``positions``, the same on every process."""
        trainer, model = self.trainer, self.trainer.model
        training = model.training
        with _randomness_kept(trainer.args.device):
            loader = self._loader(positions)
            quiet = trainer.args.disable_tqdm or not trainer.is_world_process_zero()
            bar = tqdm(loader, "learning order", leave=False, disable=quiet)
            _switch(model, trainer.optimizer, training=False)
            try:
                scores = torch.cat([self._scores(model, inputs) for inputs in bar])
            finally:
                _switch(model, trainer.optimizer, training=training)
        n = len(self.codes) if positions is None else len(positions)
        if len(scores) != n:
            raise LopsError(
                f"the trainer's collator and model gave {len(scores)} rows of scores for {n} "
                "samples; wanted one per sample"
            )
        return scores.softmax(dim=1).numpy()

    def _loader(self, positions: np.ndarray | None) -> Any:
        # The trainer's loader knows its columns, collator and workers, but may sort by length or
        # drop the last batch.
        base, args = self.trainer.get_test_dataloader(self.trainer.train_dataset), self.trainer.args
        dataset = base.dataset if positions is None else Subset(base.dataset, positions.tolist())
        loader = DataLoader(
            dataset,
            batch_size=args.eval_batch_size,
            collate_fn=base.collate_fn,
            num_workers=args.dataloader_num_workers,
            pin_memory=args.dataloader_pin_memory,
        )
        return self.trainer.accelerator.prepare_data_loader(loader)

    def _scores(self, model: Any, inputs: Any) -> torch.Tensor:
        ignored = getattr(getattr(model, "config", None), "keys_to_ignore_at_inference", None)
        skipped = [*(ignored or []), "hidden_states", "attentions"]
        _, scores, _ = self.trainer.prediction_step(
            model, inputs, prediction_loss_only=False, ignore_keys=skipped
        )
        while isinstance(scores, tuple | list) and scores:
            scores = scores[0]
        shape, largest = tuple(getattr(scores, "shape", ())), int(self.codes.max())
        if len(shape) != 2 or shape[1] < 2 or shape[1] <= largest:
            raise LopsError(
                f"the model's first output has shape {shape}; wanted (samples, classes) scores of "
                f"at least {max(2, largest + 1)} classes, as from a sequence classification model"
            )
        gathered: torch.Tensor = self.trainer.accelerator.gather_for_metrics(scores)
        return gathered.float().cpu()


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
    lops_adapters.core.LopsError: trainer is a str; wanted a transformers.Trainer. For other
    trainers, select first (docs/recipes.md)
    """
    callback = LopsCallback(
        trainer,
        labels,
        every=every,
        method=method,
        keep=keep,
        skip_decided=skip_decided,
        stop_when_done=True,
        resume_from=None if isinstance(resume_from_checkpoint, bool) else resume_from_checkpoint,
    )
    trainer.add_callback(callback)
    try:
        trainer.train(resume_from_checkpoint=resume_from_checkpoint)
    finally:
        trainer.remove_callback(callback)
    return callback.record.select(method, keep, seed=seed, strict=strict)


def _labels_of(trainer: Any, labels: Any) -> np.ndarray:
    dataset = trainer.train_dataset
    if dataset is None or isinstance(dataset, IterableDataset) or not hasattr(dataset, "__len__"):
        raise LopsError(
            f"train_dataset is a {type(dataset).__name__}; wanted one with a length, since "
            "predictions go by position"
        )
    pseudo_labels = _label_column(dataset, trainer.label_names) if labels is None else labels
    codes = read_codes(pseudo_labels, len(dataset))
    known = getattr(getattr(trainer.model, "config", None), "num_labels", None)
    if known is not None and codes.max() >= known:
        raise LopsError(
            f"pseudo-labels run to {codes.max()} and the model knows {known} classes; wanted 0 to "
            f"{known - 1}"
        )
    return codes


def _label_column(dataset: Any, names: Any) -> Any:
    candidates = [*(names or []), "label", "labels", "label_ids"]
    columns = getattr(dataset, "column_names", None)
    of_columns = columns is not None
    if columns is None:
        first = dataset[0] if len(dataset) else {}
        columns = list(first) if hasattr(first, "keys") else []
    for name in candidates:
        if name in columns:
            rows = range(len(dataset))
            return dataset[name] if of_columns else [dataset[i][name] for i in rows]
    shown = ", ".join(map(str, columns)) or "none"
    raise LopsError(
        f"train_dataset has the columns {shown}; wanted {' or '.join(candidates[-3:])}, or labels="
    )


def _switch(model: Any, optimizer: Any, *, training: bool) -> None:
    model.train(training)
    switch = getattr(optimizer, "train" if training else "eval", None)
    if callable(switch):
        switch()


@contextmanager
def _randomness_kept(device: Any) -> Iterator[None]:
    """Restore all global generators at the end; loaders, collators and models may use them."""
    state, numpy_state = random.getstate(), np.random.get_state()
    with LocalRandomness(0, device).outside():
        try:
            yield
        finally:
            random.setstate(state)
            np.random.set_state(numpy_state)
