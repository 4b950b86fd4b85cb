"""A corpus small enough to run ConWea on in a second, with an ambiguous seed word, and a tiny random BERT that reads it."""

import json

import numpy as np

from lops_adapters.conwea.settings import ConweaSettings

COMMON = ["people", "said", "week", "then", "town", "looked", "went", "again", "long", "small", "later", "asked"]
TOPICS = {
    "arts": ["gallery", "paint", "canvas", "museum", "sculptor", "portrait", "colour", "studio", "curator", "brush"],
    "law": ["judge", "lawyer", "appeal", "sentence", "witness", "trial", "jury", "verdict", "prison", "clerk"],
    "sport": ["match", "racket", "serve", "umpire", "player", "score", "stadium", "league", "referee", "coach"],
}
SEEDS = {"arts": ["gallery", "oil painting", "curator"], "law": ["judge", "court", "verdict"], "sport": ["match", "court", "coach"]}
CLASSES = tuple(SEEDS)
SMALL = {
    "layers": 2,
    "max_pieces": 64,
    "min_occurrences": 8,
    "max_occurrences": 200,
    "restarts": 2,
    "vector_size": 16,
    "vector_words": 200_000,
    "epochs": 8,
    "batch_size": 12,
    "max_sentences": 6,
    "max_words": 20,
    "probe_epochs": 8,
}


def settings(**overrides):
    """Settings under which a run on the toy corpus takes about a second."""
    return ConweaSettings(**{**SMALL, "iterations": 2, **overrides})


def shrink_presets(patch=None):
    """Make the preset of the command small, for as long as the pytest ``monkeypatch`` lasts, or for good."""
    presets = ConweaSettings.PRESETS
    presets.update(quick=SMALL) if patch is None else patch.setitem(presets, "quick", SMALL)


def plain_arithmetic(patch=None):
    """Compute on one thread and in float32, whatever the hardware has; returns what gives PyTorch its threads back."""
    import torch

    from lops_adapters.probes import torch_tools

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    (setattr if patch is None else patch.setattr)(torch_tools, "has_bfloat16", lambda device: False)
    return lambda: torch.set_num_threads(threads)


def _sentence(rng, label, words):
    size = int(rng.integers(5, 9))
    sentence = [str(word) for word in rng.choice(COMMON, size)]
    for place in rng.choice(size, 3, replace=False):
        sentence[place] = str(rng.choice(TOPICS[label]))
    for word in words:
        sentence.insert(int(rng.integers(1, size)), word)
    return f"The {' '.join(sentence)}."


def documents(n=72, seed=0):
    """n short documents and their gold labels; one in eight speaks of another class once, which makes wrong pseudo-labels."""
    rng = np.random.default_rng(seed)
    texts, labels = [], []
    for number in range(n):
        label = CLASSES[number % 3]
        special = ["oil painting"] if label == "arts" else ["court"]
        sentences = [_sentence(rng, label, special if rng.random() < 0.5 else []) for _ in range(int(rng.integers(2, 5)))]
        if number % 8 == 0:
            other = CLASSES[(number + 1) % 3]
            sentences.append(f"Later the {SEEDS[other][0]} and the {SEEDS[other][0]} went.")
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


def save_word_piece_bert(folder):
    """Write a random BERT of four narrow layers with a WordPiece vocabulary of the toy words, made the same way every time."""
    import torch
    from transformers import AutoModel, BertConfig, BertTokenizerFast

    from lops_adapters.probes.encoders import hushed

    letters = [chr(code) for code in range(ord("a"), ord("z") + 1)]
    words = [*COMMON, *(word for topic in TOPICS.values() for word in topic), "court", "oil", "the", ".", "$", "'"]
    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *letters, *(f"##{letter}" for letter in letters), "##ing", *words]
    (folder / "vocab.txt").write_text("\n".join(vocabulary) + "\n", encoding="utf-8")
    tokenizer = BertTokenizerFast(vocab=str(folder / "vocab.txt"))
    shape = {"hidden_size": 16, "num_hidden_layers": 4, "num_attention_heads": 2, "intermediate_size": 32}
    config = BertConfig(vocab_size=len(tokenizer), max_position_embeddings=128, initializer_range=0.5, **shape)
    with torch.random.fork_rng(), hushed():
        torch.manual_seed(7)
        AutoModel.from_config(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return str(folder)
