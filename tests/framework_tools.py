"""What the tests of every framework run on: words for toy corpora, a tiny BERT, runs, and commands
that die where they are told.
"""

import csv
import json
import os
import shutil
import signal
import warnings
from contextlib import ExitStack, contextmanager
from types import SimpleNamespace
from unittest import mock

import numpy as np

from lops_adapters import console
from lops_adapters.core import Selection
from lops_adapters.runs import framework
from lops_adapters.runs.folder import RunFolder, describe, same_on_resume
from lops_adapters.runs.job import Job
from lops_adapters.selection import keep_all
from lops_adapters.selection.committee import folds
from lops_adapters.storage import write_arrays

FULL_TRAINING = folds.LEAST_UPDATES  # of held-out linear probes
COMMON = [
    "people", "said", "week", "then", "town", "looked", "went", "again", "long", "small", "later",
    "asked",
]  # fmt: skip
ARTS = [
    "gallery", "paint", "canvas", "museum", "sculptor", "portrait", "colour", "studio", "curator",
    "brush",
]  # fmt: skip
LAW = [
    "judge", "lawyer", "appeal", "sentence", "witness", "trial", "jury", "verdict", "prison",
    "clerk",
]  # fmt: skip
SPORT = [
    "match", "racket", "serve", "umpire", "player", "score", "stadium", "league", "referee",
    "coach",
]  # fmt: skip


def sentence(rng, own, p=None, least=5, common=None):
    """The words of a sentence: common ones, and in three places those of a class."""
    size = int(rng.integers(least, 9))
    words = [str(word) for word in rng.choice(COMMON, size, p=common)]
    for place in rng.choice(size, 3, replace=False):
        words[place] = str(rng.choice(own, p=p))
    return words


def toy_documents(n, seed, classes, write):
    """n texts, made of what ``write`` gives for a document's number, its class and the next class,
    and their gold labels.
    """
    rng, k = np.random.default_rng(seed), len(classes)
    labels = [classes[number % k] for number in range(n)]
    others = [classes[(number + 1) % k] for number in range(n)]
    both = enumerate(zip(labels, others, strict=True))
    return [" ".join(write(rng, number, *pair)) for number, pair in both], labels


@contextmanager
def plain_arithmetic():
    """Compute on one thread and in float32, so that sums come out alike on every machine and in the
    subprocesses.
    """
    import torch

    from lops_adapters.encoders import torch_tools

    threads = torch.get_num_threads()
    with ExitStack() as patches:
        patches.callback(torch.set_num_threads, threads)
        torch.set_num_threads(1)
        patches.enter_context(mock.patch.object(torch_tools, "has_bfloat16", return_value=False))
        yield


def short_training():
    """While this context lasts, held-out linear probes train for a tenth of their updates, which
    tells toys apart as well.
    """
    return mock.patch.object(folds, "LEAST_UPDATES", FULL_TRAINING // 10)


@contextmanager
def warnings_as_for_a_user():
    """Warnings are lines on standard error, where pytest would make errors of them; no
    DeprecationWarning, as Python does unasked.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        warnings.simplefilter("ignore", DeprecationWarning)
        yield


def write_folder(folder, texts, labels=None, seeds=None):
    """Write a JSONL data set with its seed words into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    rows = [{"id": f"d{number}", "text": text} for number, text in enumerate(texts)]
    for row, label in zip(rows, labels or [], strict=False):
        row["label"] = label
    (folder / "documents.jsonl").write_text(
        "".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8"
    )
    if seeds is not None:
        (folder / "seeds.json").write_text(json.dumps(seeds), encoding="utf-8")
    return folder


def read_rows(path):
    """The rows of a CSV table, each a dict by column."""
    with path.open(encoding="utf-8", newline="") as handle:
        return list(csv.DictReader(handle))


def save_bert(folder, words, change=None, **shape):
    """Write a random narrow BERT that knows these word pieces, the same every time;
    ``change(model, tokenizer)`` before it is saved.
    """
    import torch
    from transformers import AutoModel, BertConfig, BertTokenizerFast

    from lops_adapters.encoders.pretrained import hushed

    (folder / "vocab.txt").write_text(
        "\n".join(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *words]) + "\n", encoding="utf-8"
    )
    tokenizer = BertTokenizerFast(vocab=str(folder / "vocab.txt"))
    usual = {"num_hidden_layers": 2, "max_position_embeddings": 128, "initializer_range": 0.5}
    narrow = {"hidden_size": 16, "num_attention_heads": 2, "intermediate_size": 32}
    with torch.random.fork_rng(), hushed():
        torch.manual_seed(7)
        model = AutoModel.from_config(
            BertConfig(vocab_size=len(tokenizer), **{**usual, **narrow, **shape})
        )
        if change is not None:
            change(model, tokenizer)
        model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return str(folder)


def save_topic_bert(folder, topics, **shape):
    """Write a random narrow BERT whose word vectors know topics: name -> words."""
    import torch

    topics = [[name, *words] for name, words in topics.items()]

    def teach(model, tokenizer):
        vectors, directions = model.get_input_embeddings().weight, torch.randn(len(topics), 16)
        with torch.no_grad():
            for words, direction in zip(topics, directions, strict=True):
                vectors[tokenizer.convert_tokens_to_ids(words)] += 0.5 * direction

    words = [*letter_pieces(), *COMMON, *(word for words in topics for word in words), "the", "."]
    usual = {"max_position_embeddings": 64, "initializer_range": 0.2}
    return save_bert(folder, words, teach, **{**usual, **shape})


def letter_pieces():
    """WordPiece pieces of which every word of small letters can be made."""
    letters = [chr(code) for code in range(ord("a"), ord("z") + 1)]
    return [*letters, *(f"##{letter}" for letter in letters)]


def job_for(name, settings, path, dataset, seed=0, resume=False):
    """A job in a run folder, new or resumed."""
    config = describe(name, settings.as_dict(), seed, dataset.corpus, "cpu")
    return Job(RunFolder.open(path, config, resume=resume), settings, seed, "cpu", quiet=True)


def run_in_process(name, dataset, path, settings, arms, seed, resume):
    """Run a framework in this process -> the run's path, metrics, settings and folder."""
    job = job_for(name, settings, path, dataset, seed, resume)
    with plain_arithmetic():
        metrics = framework.run(framework.named(name), dataset, job, list(arms))
    return SimpleNamespace(path=path, metrics=metrics, settings=settings, run=job.folder, job=job)


def kept_by(mask, samples, labels, rule="every-second"):
    """A selection of these samples, which says that it counted."""
    whole = keep_all(samples, labels)
    return Selection(mask, whole.learnt_at, whole.confidence, whole.per_class, rule, "counted")


class Recorder:
    """Selectors that keep every second sample, and notes of what they were asked, what probes of a
    kind were trained on and what they predicted.
    """

    def __init__(self, monkeypatch, kind):
        self.asked, self.trained, self.predicted = [], [], []
        fit, predict = kind.fit, kind.predict_proba

        def select(samples, labels):
            self.asked.append((list(samples), list(labels)))
            return kept_by(np.arange(len(samples)) % 2 == 0, samples, labels)

        def record(probe, samples, codes, n_classes, **more):
            self.trained.append((list(samples), list(codes), n_classes))
            return fit(probe, samples, codes, n_classes, **more)

        def predicted(probe, samples):
            self.predicted.append(list(samples))
            return predict(probe, samples)

        monkeypatch.setattr(Job, "selector", lambda *_, **__: select)
        monkeypatch.setattr(kind, "fit", record)
        monkeypatch.setattr(kind, "predict_proba", predicted)


def copy_killed(finished, path, stages):
    """Make of a finished run, at ``path``, one killed after these stages."""
    (path / "work").mkdir(parents=True)
    shutil.copy(finished.path / "config.json", path)
    for stage in stages:
        shutil.copy(finished.path / "work" / f"{stage}.npz", path / "work")
    return path


def pretend(path, config):
    """Make a run look as if it, and its stages, had been made with another configuration."""
    (path / "config.json").write_text(json.dumps(config))
    run = RunFolder(path, same_on_resume(config))
    for file in run.work.glob("*.npz"):
        with np.load(file) as stored:
            arrays = {key: stored[key] for key in stored.files if key != "digest"}
        write_arrays(file, **arrays, digest=run.digest(file.stem, arrays))


def pretend_settings(path, **changed):
    """Make a run look as if it had been started with these settings."""
    config = json.loads((path / "config.json").read_text(encoding="utf-8"))
    config["settings"].update(changed)
    pretend(path, config)


def outcome(main, capsys, *args):
    """Run a command in this process -> exit status, standard output, standard error."""
    status = console.guarded(main)([str(arg) for arg in args])
    captured = capsys.readouterr()
    return status, captured.out, captured.err


def die():
    """End this process at once, as a power cut would."""
    os.kill(os.getpid(), signal.SIGKILL)
