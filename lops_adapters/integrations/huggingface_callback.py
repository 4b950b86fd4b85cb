"""The callback for ``transformers.Trainer``; imported when
:mod:`lops_adapters.integrations.huggingface` needs it.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.utils.data import DataLoader, IterableDataset, Subset
from tqdm.auto import tqdm
from transformers import TrainerCallback

from lops_adapters.core import LearningOrder, LopsError
from lops_adapters.integrations.recorder import Record
from lops_adapters.probes.torch_tools import LocalRandomness

FILE = "lops_record.npz"  # in every checkpoint folder


class LopsCallback(TrainerCallback):
    """Records in which order a training learns its samples, by predicting the training set after
    every epoch.

    Predictions go by position in ``train_dataset``, in its order, with the trainer's collator and
    ``prediction_step``; in distributed runs every process predicts a part and all hold the whole
    record. The training itself goes on as if nobody had looked: same weights, and no metric, log,
    evaluation or other callback hears of it. Looking costs a forward pass over the training set.

    The record lies in every checkpoint folder the trainer writes, as ``lops_record.npz``, and a
    resumed training goes on with it.

    Args:
        trainer: the ``transformers.Trainer`` the callback is added to.
        labels: (N,) int pseudo-labels 0..k-1, by position in ``train_dataset``. Default: the
            dataset's own label column, under a name in ``trainer.label_names``, or ``label``,
            ``labels`` or ``label_ids``.
        every: look after every so many updates instead of after every epoch.
        tau, rule: what ``skip_decided`` and ``stop_when_done`` go by, see
            :class:`lops_adapters.core.LearningOrder`.
        skip_decided: predict only the samples whose answer can still matter for this tau and rule.
        stop_when_done: stop the training when further predictions cannot change the selection for
            this tau and rule.

    Attributes:
        record: a :class:`lops_adapters.integrations.recorder.Record`; after training,
            ``record.select()``.

    Raises:
        LopsError: numbers out of range, a dataset without a length, labels that are missing, masked
            (-100), no integers or not of the model; at the start of training, another dataset or an
            unsuitable resumed checkpoint; at the first look, outputs that are no class scores.

    """

    def __init__(
        self,
        trainer: Any,
        labels: Any = None,
        *,
        every: int | None = None,
        tau: float = 0.5,
        rule: str = "released",
        skip_decided: bool = False,
        stop_when_done: bool = False,
    ) -> None:
        LearningOrder([0], tau=tau, rule=rule)  # raises where these are out of range
        if every is not None and every < 1:
            raise LopsError(
                f"every is {every}; wanted a number of updates, at least 1, or None for once an epoch"
            )
        self.trainer, self.every, self.tau, self.rule = trainer, every, tau, rule
        self.skip_decided, self.stop_when_done = skip_decided, stop_when_done
        self._codes = self._read_labels(labels)
        self._record: Record | None = None

    def _read_labels(self, labels: Any) -> np.ndarray:
        dataset = self.trainer.train_dataset
        if (
            dataset is None
            or isinstance(dataset, IterableDataset)
            or not hasattr(dataset, "__len__")
        ):
            raise LopsError(
                f"train_dataset is a {type(dataset).__name__}; wanted one with a length and positions, since predictions go by position"
            )
        codes = _checked(
            _label_column(dataset, self.trainer.label_names) if labels is None else labels,
            len(dataset),
        )
        known = getattr(getattr(self.trainer.model, "config", None), "num_labels", None)
        if known is not None and codes.max() >= known:
            raise LopsError(
                f"pseudo-labels run to {codes.max()} and the model knows {known} classes; wanted 0 to {known - 1}"
            )
        return codes

    @property
    def record(self) -> Record:
        """What was recorded so far."""
        if self._record is None:
            raise LopsError(
                "nothing was recorded: the training was not started, or ended before the first look; train for at least one whole epoch, "
                "or pass a smaller every="
            )
        return self._record

    def on_train_begin(self, args: Any, state: Any, control: Any, **others: Any) -> None:
        """Begin a record, or go on with that of a resumed training."""
        if len(self.trainer.train_dataset) != len(self._codes):
            raise LopsError(
                f"train_dataset has {len(self.trainer.train_dataset)} samples, and {len(self._codes)} when the callback was made; make a "
                "new one for the new data"
            )
        self._record = self._resumed(args, state) if state.global_step else None

    def _resumed(self, args: Any, state: Any) -> Record | None:
        path = Path(args.output_dir) / f"checkpoint-{state.global_step}" / FILE
        if not path.is_file():
            raise LopsError(
                f"the training resumes at update {state.global_step}, and what was learnt before is not known: there is no {path}; resume "
                "from a checkpoint in output_dir that was written with this callback, or start afresh"
            )
        record = Record.load(path)
        if not np.array_equal(record.codes, self._codes):
            raise LopsError(
                f"{path} was recorded for other pseudo-labels than those given now; start afresh"
            )
        record.horizon = float(
            state.num_train_epochs
        )  # a resumed training may be longer than it was meant to be
        return record if record.times else None

    def on_step_end(self, args: Any, state: Any, control: Any, **others: Any) -> None:
        """Look, where it is time to: before the trainer saves a checkpoint, so that what is saved
        is complete.
        """
        due = state.global_step % self.every == 0 if self.every else float(state.epoch).is_integer()
        if not due:
            return
        self._look(state)
        if self.stop_when_done and self.record.order(self.tau, self.rule).done:
            control.should_training_stop = True

    def on_save(self, args: Any, state: Any, control: Any, **others: Any) -> None:
        """Put the record into the checkpoint folder."""
        folder = Path(args.output_dir) / f"checkpoint-{state.global_step}"
        if state.is_world_process_zero and folder.is_dir():
            record = self._record or self._new_record(int(self._codes.max()) + 1, state)
            record.save(folder / FILE)

    def _new_record(self, n_classes: int, state: Any) -> Record:
        return Record(self._codes, range(n_classes), horizon=float(state.num_train_epochs))

    def _look(self, state: Any) -> None:
        positions = None
        if self.skip_decided and self._record is not None:
            positions = self._record.order(self.tau, self.rule).undecided
        nothing = positions is not None and not len(positions)
        probabilities = (
            np.zeros((0, len(self.record.classes)), np.float32)
            if nothing
            else self._predict(positions)
        )
        if self._record is None:
            self._record = self._new_record(probabilities.shape[1], state)
        self._record.observe(probabilities, time=state.epoch, positions=positions)

    def _predict(self, positions: np.ndarray | None) -> np.ndarray:
        """Class probabilities, (m, k) float32, of the samples at ``positions``, in this order, the
        same on every process.
        """
        trainer, model = self.trainer, self.trainer.model
        training = model.training
        with _randomness_kept(trainer.args.device):
            loader = self._loader(positions)
            quiet = trainer.args.disable_tqdm or not trainer.is_world_process_zero()
            _switch(model, trainer.optimizer, training=False)
            try:
                batches = [
                    self._scores(model, inputs)
                    for inputs in tqdm(loader, "learning order", leave=False, disable=quiet)
                ]
            finally:
                _switch(model, trainer.optimizer, training=training)
        n = len(self._codes) if positions is None else len(positions)
        scores = torch.cat(batches)
        if len(scores) != n:
            raise LopsError(
                f"the trainer's collator and model gave {len(scores)} rows of scores for {n} samples; wanted one a sample"
            )
        return scores.softmax(dim=1).numpy()

    def _loader(self, positions: np.ndarray | None) -> Any:
        # The trainer's loader knows its columns, collator and workers, but may sort by length or
        # drop the last batch.
        own, args = self.trainer.get_test_dataloader(self.trainer.train_dataset), self.trainer.args
        dataset = own.dataset if positions is None else Subset(own.dataset, positions.tolist())
        loader = DataLoader(
            dataset,
            batch_size=args.eval_batch_size,
            collate_fn=own.collate_fn,
            num_workers=args.dataloader_num_workers,
            pin_memory=args.dataloader_pin_memory,
        )
        return self.trainer.accelerator.prepare_data_loader(loader)

    def _scores(self, model: Any, inputs: Any) -> torch.Tensor:
        skipped = [
            *(getattr(getattr(model, "config", None), "keys_to_ignore_at_inference", None) or []),
            "hidden_states",
            "attentions",
        ]
        _, scores, _ = self.trainer.prediction_step(
            model, inputs, prediction_loss_only=False, ignore_keys=skipped
        )
        while isinstance(scores, tuple | list) and scores:
            scores = scores[0]
        shape = tuple(getattr(scores, "shape", ()))
        if len(shape) != 2 or shape[1] < 2 or shape[1] <= self._codes.max():
            raise LopsError(
                f"the model's first output has shape {shape}; wanted (samples, classes) scores of at least {max(2, self._codes.max() + 1)} "
                "classes, as sequence classification models give"
            )
        gathered: torch.Tensor = self.trainer.accelerator.gather_for_metrics(scores)
        return gathered.float().cpu()


def _label_column(dataset: Any, names: Any) -> Any:
    wanted = [*(names or []), "label", "labels", "label_ids"]
    columns = getattr(dataset, "column_names", None)
    if columns is None:
        first = dataset[0] if len(dataset) else {}
        columns = list(first) if hasattr(first, "keys") else []
    for name in wanted:
        if name in columns:
            return (
                dataset[name]
                if hasattr(dataset, "column_names")
                else [dataset[i][name] for i in range(len(dataset))]
            )
    found = ", ".join(map(str, columns)) or "none"
    raise LopsError(
        f"train_dataset has the columns {found}; wanted {' or '.join(wanted[-3:])}, or labels="
    )


def _checked(labels: Any, n: int) -> np.ndarray:
    """Pseudo-labels as (n,) int64."""
    codes = np.asarray(labels.tolist() if hasattr(labels, "tolist") else list(labels))
    if codes.shape == (n, 1):
        codes = codes[:, 0]
    if codes.shape != (n,) or not n:
        raise LopsError(
            f"found {n} training samples and pseudo-labels of shape {codes.shape}; wanted one a sample"
        )
    if codes.dtype.kind not in "iub":
        raise LopsError(
            f"pseudo-labels have type {codes.dtype}; wanted integers 0 to k-1: no names, no scores, one class a sample"
        )
    codes = codes.astype(np.int64)
    if codes.min() < 0:
        where = int(codes.argmin())
        raise LopsError(
            f"the pseudo-label at position {where} is {codes[where]}; wanted 0 to k-1: leave unlabelled samples out"
        )
    return codes


def _switch(model: Any, optimizer: Any, *, training: bool) -> None:
    """Put a model, and an optimizer that has two states as schedule-free ones do, into training or
    evaluation.
    """
    model.train(training)
    switch = getattr(optimizer, "train" if training else "eval", None)
    if callable(switch):
        switch()


@contextmanager
def _randomness_kept(device: Any) -> Iterator[None]:
    """Put all global generators back at the end: data loaders, collators and models may draw from
    them.
    """
    state, numpy_state = random.getstate(), np.random.get_state()
    with LocalRandomness(0, device).outside():
        try:
            yield
        finally:
            random.setstate(state)
            np.random.set_state(numpy_state)
