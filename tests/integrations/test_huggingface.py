"""The callback inside a real Trainer, with a tiny random BERT."""

import gc
import os
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from lops_adapters.core import LearningOrder, LopsError
from lops_adapters.integrations.recorder import Record

from ..probes.toys import save_tiny_encoder, topic_texts

torch = pytest.importorskip("torch", reason="the callback needs torch")
transformers = pytest.importorskip("transformers", reason="the callback needs transformers")
datasets = pytest.importorskip("datasets", reason="the training sets here are of datasets")
pytest.importorskip("accelerate", reason="the Trainer needs accelerate")

from lops_adapters.integrations.huggingface import LopsCallback, select_with_trainer  # noqa: E402

N = 45
pytestmark = pytest.mark.usefixtures("one_thread", "little_garbage")


@pytest.fixture(scope="module")
def little_garbage():
    """The Trainer collects garbage in every training: not among what is imported."""
    gc.freeze()
    yield
    gc.unfreeze()


@pytest.fixture(scope="session")
def encoder(tmp_path_factory):
    return save_tiny_encoder("bert", tmp_path_factory.mktemp("encoder"))


def corpus(tokenizer, label="label"):
    texts, codes = topic_texts(N, seed=0)
    noisy = codes.copy()
    noisy[::9] = (codes[::9] + 1) % 3
    return datasets.Dataset.from_dict(
        {"text": texts, label: noisy, "note": list(range(N)), **tokenizer(texts)}
    )


class Tuple(torch.nn.Module):
    """A model of the user's own that has no config and returns (loss, scores, something else)."""

    def __init__(self):
        super().__init__()
        self.words, self.scores = torch.nn.Embedding(100, 8), torch.nn.Linear(8, 3)

    def forward(self, input_ids, attention_mask=None, labels=None):
        scores = self.say(input_ids)
        loss = torch.nn.functional.cross_entropy(scores, labels)
        return self.out(loss, scores)

    def say(self, input_ids):
        return self.scores(self.words(input_ids).mean(dim=1))

    def out(self, loss, scores):
        return loss, scores, torch.zeros(len(scores), 2, 5)


class Dict(Tuple):
    def out(self, loss, scores):
        return {"loss": loss, "logits": scores}


def pseudo_label(i):
    return (i + (i % 9 == 0)) % 3


class Items(torch.utils.data.Dataset):
    """A plain PyTorch data set."""

    def __len__(self):
        return N

    def __getitem__(self, i):
        return {
            "input_ids": [10 + i % 3, i % 7, i % 50],
            "labels": pseudo_label(i),
            "unused": "text",
        }


def make_trainer(encoder, folder, dataset=None, model=None, trainer_class=None, **settings):
    tokenizer = transformers.AutoTokenizer.from_pretrained(encoder)
    torch.manual_seed(5)
    made = (
        model()
        if model
        else transformers.AutoModelForSequenceClassification.from_pretrained(encoder, num_labels=3)
    )
    usual = {
        "num_train_epochs": 2,
        "per_device_train_batch_size": 8,
        "per_device_eval_batch_size": 7,
        "learning_rate": 3e-3,
        "report_to": [],
        "save_strategy": "no",
        "disable_tqdm": True,
        "use_cpu": True,
        "seed": 3,
        "logging_strategy": "no",
        "dataloader_pin_memory": False,
    }
    args = transformers.TrainingArguments(str(folder), **{**usual, **settings})
    return (trainer_class or transformers.Trainer)(
        model=made,
        args=args,
        train_dataset=corpus(tokenizer) if dataset is None else dataset,
        eval_dataset=corpus(tokenizer).select(range(10)) if "eval_strategy" in settings else None,
        data_collator=transformers.DataCollatorWithPadding(tokenizer),
        processing_class=tokenizer,
    )


def watched(trainer, resume=None, **settings):
    callback = LopsCallback(trainer, **settings)
    trainer.add_callback(callback)
    trainer.train(resume_from_checkpoint=resume)
    return callback.record


def weights(trainer):
    return {name: value.clone() for name, value in trainer.model.state_dict().items()}


def assert_same_weights(one, other):
    assert all(torch.equal(one[name], other[name]) for name in one)


def assert_same_record(one, other):
    assert one.times == other.times
    np.testing.assert_array_equal(one.predictions(), other.predictions())
    np.testing.assert_allclose(one.probabilities(), other.probabilities(), atol=1e-6)


def by_hand(trainer):
    """Probabilities of the training set, one sample at a time, without any of the trainer's
    machinery.
    """
    trainer.model.eval()
    rows = []
    for i in range(N):
        ids = torch.tensor([trainer.train_dataset[i]["input_ids"]])
        with torch.no_grad():
            rows.append(trainer.model(input_ids=ids).logits.softmax(dim=1)[0].numpy())
    return np.array(rows)


SAVED = {"save_strategy": "steps", "save_steps": 6}  # after each epoch


@pytest.fixture(scope="module")
def usual(encoder, tmp_path_factory):
    """A usual training that was watched: its trainer and the record; checkpoints in its folder."""
    folder = tmp_path_factory.mktemp("usual")
    trainer = make_trainer(encoder, folder, **SAVED)
    return trainer, watched(trainer)


def test_records_by_position_what_the_model_says_after_every_epoch(usual):
    trainer, record = usual
    assert record.times == [1.0, 2.0]
    assert record.codes.tolist() == trainer.train_dataset["label"]
    said = by_hand(trainer)
    np.testing.assert_array_equal(record.predictions()[-1], said.argmax(axis=1))
    np.testing.assert_allclose(
        record.probabilities()[-1], said[np.arange(N), record.codes], atol=1e-5
    )


def test_the_training_goes_on_as_if_nobody_looked(encoder, tmp_path, usual):
    """With dropout and shuffled batches: any number drawn in between would change the weights."""
    alone = make_trainer(encoder, tmp_path)
    assert alone.model.config.hidden_dropout_prob > 0
    alone.train()
    often = make_trainer(encoder, tmp_path)
    watched(often, every=2)
    for looked_at in (usual[0], often):
        assert_same_weights(weights(alone), weights(looked_at))


class Listener(transformers.TrainerCallback):
    def __init__(self):
        self.heard = []

    def on_prediction_step(self, args, state, control, **others):
        self.heard.append("prediction")

    def on_evaluate(self, args, state, control, metrics, **others):
        self.heard.append(sorted(metrics))

    def on_log(self, args, state, control, logs, **others):
        self.heard.append(sorted(logs))


def test_metrics_logs_and_other_callbacks_hear_nothing_of_it(encoder, tmp_path):
    asked = []

    def metrics(prediction):
        asked.append(prediction.predictions.shape)
        return {"share": 0.5}

    heard = []
    for look in (False, True):
        trainer = make_trainer(
            encoder, tmp_path, eval_strategy="epoch", logging_strategy="epoch", num_train_epochs=2
        )
        trainer.compute_metrics = metrics
        trainer.preprocess_logits_for_metrics = lambda logits, labels: logits.argmax(dim=1)
        listener = Listener()
        trainer.add_callback(listener)
        if look:
            trainer.add_callback(LopsCallback(trainer))
        trainer.train()
        heard.append((listener.heard, trainer.state.log_history[0]["loss"]))
    assert heard[0] == heard[1]
    assert asked == [(10,)] * 4


@pytest.mark.parametrize(
    "settings",
    [
        {
            "gradient_accumulation_steps": 2,
            "train_sampling_strategy": "group_by_length",
            "label_smoothing_factor": 0.1,
        },
        {
            "gradient_accumulation_steps": 4,
            "dataloader_drop_last": True,
            "eval_do_concat_batches": False,
            "batch_eval_metrics": True,
            "prediction_loss_only": True,
        },
        {"max_steps": 12, "num_train_epochs": 9},
    ],
    ids=["grouped", "dropped", "max_steps"],
)
def test_arguments_of_the_trainer_do_not_move_the_samples(encoder, tmp_path, settings):
    trainer = make_trainer(encoder, tmp_path, **settings)
    record = watched(trainer)
    assert record.times == [1.0, 2.0]
    np.testing.assert_allclose(
        record.probabilities()[-1], by_hand(trainer)[np.arange(N), record.codes], atol=1e-5
    )


def test_looks_after_every_so_many_updates(encoder, tmp_path):
    record = watched(make_trainer(encoder, tmp_path), every=4)
    assert record.times == pytest.approx([4 / 6, 8 / 6, 12 / 6])
    assert record.horizon == 2.0


def quick_learner(encoder, folder):
    """A model that learns some samples in each of 3 epochs."""
    settings = {"num_train_epochs": 3, "learning_rate": 0.03}
    return make_trainer(encoder, folder, dataset=Items(), model=Dict, **settings)


@pytest.fixture(scope="module")
def learnt(encoder, tmp_path_factory):
    """The whole record of the quick learner."""
    return watched(quick_learner(encoder, tmp_path_factory.mktemp("learnt")))


def test_only_undecided_samples_are_predicted(encoder, tmp_path, learnt):
    trainer = quick_learner(encoder, tmp_path)
    record = watched(trainer, keep=0.9, method="ranked", skip_decided=True)
    seen = record.seen
    assert seen[0].all()
    assert 0 < seen[1:].mean() < 1
    np.testing.assert_allclose(record.probabilities()[seen], learnt.probabilities()[seen])


@pytest.mark.parametrize("keep", [0.2, 0.9])
def test_selects_with_a_trainer(encoder, tmp_path, learnt, keep):
    order = LearningOrder(learnt.codes, tau=keep, rule="ranked", horizon=3.0, max_checkpoints=3)
    for time, predicted, own in zip(
        learnt.times, learnt.predictions(), learnt.probabilities(), strict=True
    ):
        scores = np.eye(3)[predicted] * 2
        scores[np.arange(N), learnt.codes] = own
        order.observe(scores, time=time)
        if order.done:
            break
    trainer = quick_learner(encoder, tmp_path)
    selection = select_with_trainer(trainer, keep=keep, method="ranked")
    assert selection.kept.tolist() == order.select().kept.tolist()
    np.testing.assert_array_equal(selection.confidence, order.select().confidence)
    assert trainer.state.global_step == 6 * len(order.times)  # stopped when nothing could change
    assert not any(
        isinstance(callback, LopsCallback) for callback in trainer.callback_handler.callbacks
    )


@pytest.mark.parametrize("form", ["torch", "numpy"])
def test_formatted_data_sets(encoder, tmp_path, form):
    data = make_trainer(encoder, tmp_path).train_dataset
    callback = LopsCallback(make_trainer(encoder, tmp_path, dataset=data.with_format(form)))
    callback.on_train_begin(None, transformers.TrainerState(), None)
    callback.on_step_end(
        None,
        transformers.TrainerState(epoch=1.0, num_train_epochs=1),
        transformers.TrainerControl(),
    )
    assert callback.record.codes.tolist() == data["label"]
    assert callback.record.seen.all()


def test_labels_may_be_given_apart(encoder, tmp_path):
    trainer = make_trainer(encoder, tmp_path, num_train_epochs=1)
    given = (np.array(trainer.train_dataset["label"]) + 1) % 3
    record = watched(trainer, labels=given)
    np.testing.assert_allclose(
        record.probabilities()[-1], by_hand(trainer)[np.arange(N), given], atol=1e-5
    )


@pytest.mark.parametrize("made", [Tuple, Dict])
def test_any_model_and_any_data_set_with_a_length(encoder, tmp_path, made):
    trainer = make_trainer(encoder, tmp_path, dataset=Items(), model=made, num_train_epochs=1)
    record = watched(trainer)
    ids = torch.tensor([Items()[i]["input_ids"] for i in range(N)])
    said = trainer.model.say(ids).softmax(dim=1).detach().numpy()
    np.testing.assert_allclose(
        record.probabilities()[-1],
        said[np.arange(N), [pseudo_label(i) for i in range(N)]],
        atol=1e-5,
    )


def test_a_resumed_training_ends_with_the_whole_record(encoder, usual):
    folder = Path(usual[0].args.output_dir)
    assert (folder / "checkpoint-6/lops_record.npz").is_file()
    resumed = watched(make_trainer(encoder, folder), resume=str(folder / "checkpoint-6"))
    assert_same_record(resumed, usual[1])


@pytest.mark.parametrize(("settings", "every"), [({"save_strategy": "epoch"}, None), (SAVED, 4)])
def test_a_checkpoint_holds_the_record_so_far(encoder, tmp_path, usual, settings, every):
    """A look may come before the checkpoint of the same update, or between two checkpoints."""
    whole = watched(make_trainer(encoder, tmp_path, **settings), every=every)
    assert every or whole.times == usual[1].times
    resumed = make_trainer(encoder, tmp_path)
    record = watched(resumed, resume=str(tmp_path / "checkpoint-6"), every=every)
    assert_same_record(record, whole)


@pytest.mark.filterwarnings("ignore::lops_adapters.core.LopsWarning")  # a tiny model learns little
def test_a_moved_checkpoint_is_resumed_where_its_record_is(encoder, tmp_path, usual):
    moved = shutil.copytree(Path(usual[0].args.output_dir) / "checkpoint-6", tmp_path / "kept")
    trainer = make_trainer(encoder, tmp_path / "other")
    callback = LopsCallback(trainer, resume_from=moved)
    trainer.add_callback(callback)
    trainer.train(resume_from_checkpoint=str(moved))
    assert_same_record(callback.record, usual[1])
    again = make_trainer(encoder, tmp_path / "third")
    chosen = select_with_trainer(again, method="ranked", resume_from_checkpoint=str(moved))
    assert chosen.kept.tolist() == usual[1].select("ranked").kept.tolist()


def test_another_kind_of_trainer_is_refused():
    class Trainer:  # as SetFit's: it takes callbacks, and predicts in another way
        def add_callback(self, callback):
            raise AssertionError

    for use in (LopsCallback, select_with_trainer):
        with pytest.raises(LopsError, match=r"trainer is a tests\.Trainer; wanted a transformers"):
            use(Trainer())


def test_a_checkpoint_before_the_first_look_can_be_resumed(encoder, tmp_path, usual):
    settings = {"save_strategy": "steps", "save_steps": 2}
    watched(make_trainer(encoder, tmp_path, max_steps=3, **settings), every=3)
    assert Record.load(tmp_path / "checkpoint-2/lops_record.npz").times == []
    record = watched(make_trainer(encoder, tmp_path), resume=str(tmp_path / "checkpoint-2"))
    assert record.times == [1.0, 2.0]


def test_a_checkpoint_without_a_record_is_refused(encoder, tmp_path):
    trainer = make_trainer(encoder, tmp_path, save_strategy="epoch", num_train_epochs=1)
    trainer.train()
    with pytest.raises(
        LopsError,
        match=r"resumes at update 6, and what was learnt before is not known: "
        r"there is no .*lops_record",
    ):
        watched(make_trainer(encoder, tmp_path), resume=str(tmp_path / "checkpoint-6"))


def test_labels_that_the_model_does_not_know_are_refused_before_training(encoder, tmp_path):
    with pytest.raises(LopsError, match="run to 3 and the model knows 3 classes"):
        LopsCallback(make_trainer(encoder, tmp_path), [0, 1, 3] * 15)


def test_a_data_set_without_labels_or_length_is_refused(encoder, tmp_path):
    trainer = make_trainer(encoder, tmp_path)
    bare = trainer.train_dataset.remove_columns("label")
    with pytest.raises(
        LopsError,
        match=r"has the columns text, note, .* wanted label or labels or label_ids, or labels=",
    ):
        LopsCallback(make_trainer(encoder, tmp_path, dataset=bare))
    endless = trainer.train_dataset.to_iterable_dataset()
    with pytest.raises(
        LopsError, match="train_dataset is a IterableDataset; wanted one with a length"
    ):
        LopsCallback(make_trainer(encoder, tmp_path, dataset=endless, max_steps=3))


def test_a_model_of_another_kind_is_refused_at_the_first_look(encoder, tmp_path):
    class One(Tuple):
        def out(self, loss, scores):
            return loss, scores[:, 0]

    with pytest.raises(
        LopsError,
        match=r"first output has shape \(7,\); wanted \(samples, classes\) scores of at least 3",
    ):
        watched(make_trainer(encoder, tmp_path, dataset=Items(), model=One, num_train_epochs=1))


@pytest.mark.slow
def test_two_processes_record_what_one_does(encoder, tmp_path):
    """Each process predicts a part; 45 samples in batches of 7 leave an uneven rest, and Tuple's
    training is the same in both.
    """
    if not torch.distributed.is_available() or not torch.distributed.is_gloo_available():
        pytest.skip("this PyTorch has no gloo, by which processes on CPUs talk")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    common = {
        "WORLD_SIZE": "2",
        "LOCAL_WORLD_SIZE": "2",
        "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": str(port),
        "OMP_NUM_THREADS": "1",
    }
    script = Path(__file__).with_name("two_processes.py")
    done = subprocess.run(
        [sys.executable, str(script), str(encoder), str(tmp_path)],
        capture_output=True,
        text=True,
        env={**os.environ, **common},
        timeout=280,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    first, second = (Record.load(tmp_path / f"process{rank}.npz") for rank in range(2))
    assert_same_record(first, second)
    assert first.times == [1.0, 2.0]
    said = np.load(tmp_path / "by_hand.npy")  # by the first process's model, after the training
    np.testing.assert_allclose(
        first.probabilities()[-1], said[np.arange(N), first.codes], atol=1e-5
    )
    # Samples can be told apart, so that their order is tested.
    assert len(np.unique(first.probabilities()[-1])) > N / 2
    assert_same_record(Record.load(tmp_path / "run/checkpoint-6/lops_record.npz"), first)
