"""A corpus small enough to run WeSTClass on in a second, and a tiny random BERT that reads it."""

import json

import numpy as np

from lops_adapters.westclass.settings import WestclassSettings

COMMON = ["people", "said", "week", "then", "town", "looked", "went", "again", "long", "small", "later", "asked"]
TOPICS = {
    "fine_arts": ["gallery", "paint", "canvas", "museum", "sculptor", "portrait", "colour", "studio", "curator", "brush"],
    "law": ["judge", "lawyer", "appeal", "sentence", "witness", "trial", "jury", "verdict", "prison", "clerk"],
    "sport": ["match", "racket", "serve", "umpire", "player", "score", "stadium", "league", "referee", "coach"],
}
CLASSES = tuple(TOPICS)
SEEDS = {"fine_arts": ["gallery", "Fine-Arts"], "law": ["judge", "verdict", "trial"], "sport": ["match"]}
SMALL = {
    "rule": "ranked",  # keeps half, however abruptly so small a network learns
    "vector_size": 12,
    "vector_words": 40_000,
    "per_class": 12,
    "top": 8,
    "batch_size": 6,
    "pretrain_epochs": 14,
    "update_interval": 4,
    "max_iterations": 10,
    "learning_rate": 0.01,
    "stop_below": 0.0,
    "max_words": 20,
    "max_sentences": 4,
}


def settings(**overrides):
    """Settings under which a run on the toy corpus takes about a second."""
    return WestclassSettings(**{**SMALL, **overrides})


def shrink_presets(patch=None):
    """Make the preset of the command small, for as long as the pytest ``monkeypatch`` lasts, or for good."""
    presets = WestclassSettings.PRESETS
    presets.update(quick=SMALL) if patch is None else patch.setitem(presets, "quick", SMALL)


def plain_arithmetic(patch=None):
    """Compute on one thread and in float32, whatever the hardware has; returns what gives PyTorch its threads back."""
    import torch

    from lops_adapters.probes import keras_probe, torch_tools

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    for module in (keras_probe, torch_tools):
        (setattr if patch is None else patch.setattr)(module, "has_bfloat16", lambda device: False)
    return lambda: torch.set_num_threads(threads)


def _sentence(rng, label):
    size = int(rng.integers(4, 9))
    sentence = [str(word) for word in rng.choice(COMMON, size)]
    for place in rng.choice(size, 3, replace=False):
        sentence[place] = str(rng.choice(TOPICS[label]))
    if rng.random() < 0.3:
        sentence[int(rng.integers(size))] = label.replace("_", " ")
    return f"The {' '.join(sentence)}."


def documents(n=72, seed=0):
    """n short documents and their gold labels; one in eight is mostly about another class, which makes wrong predictions."""
    rng = np.random.default_rng(seed)
    texts, labels = [], []
    for number in range(n):
        label = CLASSES[number % 3]
        sentences = [_sentence(rng, label) for _ in range(int(rng.integers(1, 4)))]
        if number % 8 == 0:
            sentences += [_sentence(rng, CLASSES[(number + 1) % 3]) for _ in range(len(sentences) + 1)]
        texts.append(" ".join(sentences))
        labels.append(label)
    return texts, labels


def write_folder(folder, texts, labels=None, seeds=None):
    """Write a JSONL data set with its seed words into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    rows = [{"id": f"d{number}", "text": text} for number, text in enumerate(texts)]
    for row, label in zip(rows, labels or [], strict=False):
        row["label"] = label
    (folder / "documents.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    if seeds is not None:
        (folder / "seeds.json").write_text(json.dumps(seeds), encoding="utf-8")
    return folder


def save_tiny_bert(folder):
    """Write a random BERT of two narrow layers whose vocabulary is the toy words, made the same way every time."""
    import torch
    from transformers import AutoModel, BertConfig, BertTokenizerFast

    from lops_adapters.probes.encoders import hushed

    words = [*COMMON, *(word for topic in TOPICS.values() for word in topic), "the", "fine", "arts", "."]
    (folder / "vocab.txt").write_text("\n".join(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *words]) + "\n", encoding="utf-8")
    tokenizer = BertTokenizerFast(vocab=str(folder / "vocab.txt"))
    shape = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 32}
    config = BertConfig(vocab_size=len(tokenizer), max_position_embeddings=128, initializer_range=0.5, **shape)
    with torch.random.fork_rng(), hushed():
        torch.manual_seed(7)
        AutoModel.from_config(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return str(folder)
