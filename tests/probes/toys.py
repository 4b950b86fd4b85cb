"""Toy texts whose topic a probe can learn, and tiny random encoders that read them."""

import random

import numpy as np

from lops_adapters.encoders.words import WordVectors

COMMON = [f"common{i}" for i in range(12)]
TOPICS = [[f"topic{t}word{i}" for i in range(8)] for t in range(3)]
WORDS = [*COMMON, *(word for topic in TOPICS for word in topic)]
_SPECIAL = {
    "bert": {"pad": "[PAD]", "unk": "[UNK]", "cls": "[CLS]", "sep": "[SEP]"},
    "roberta": {"cls": "<s>", "pad": "<pad>", "sep": "</s>", "unk": "<unk>"},
    "xlnet": {"unk": "<unk>", "cls": "<cls>", "sep": "<sep>", "pad": "<pad>"},
    "gpt2": {"eos": "<|endoftext|>", "unk": "<unk>"},  # as the real one: nothing to pad with
}
_TEMPLATE = {"bert": "[CLS] $A [SEP]", "roberta": "<s> $A </s>", "xlnet": "$A <sep> <cls>"}
POSITIONS = 40
# Of the toy words, drawn at random.
TABLE = np.random.default_rng(0).normal(size=(len(WORDS), 12)).astype(np.float32)
VECTORS = WordVectors(tuple(WORDS), TABLE)


def topic_texts(n, seed, n_topics=3, longest=12):
    """Return n texts of 2 to ``longest`` words and their codes 0, 1, 2, 0, ...

    A third of the words are of the topic.
    """
    rng = np.random.default_rng(seed)
    codes = np.arange(n) % n_topics
    texts = []
    for code in codes:
        size = int(rng.integers(2, longest + 1))
        words = [str(word) for word in rng.choice(COMMON, size)]
        for place in range(0, size, 3):
            words[place] = str(rng.choice(TOPICS[code]))
        texts.append(" ".join(words))
    return texts, codes


def softmax(scores):
    """Return class probabilities, (n, k)."""
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)


def adagrad_by_hand(rows, codes, seed, epochs=3, batch_size=4, rate=0.3):
    """Return weights and bias of softmax regression on dense float64 rows, trained by Adagrad."""
    rng, classes = np.random.default_rng(seed), np.eye(codes.max() + 1)
    weights, bias = np.zeros((rows.shape[1], len(classes))), np.zeros(len(classes))
    squares, bias_squares = np.full_like(weights, 1e-8), np.full_like(bias, 1e-8)
    for _ in range(epochs):
        order = rng.permutation(len(rows))
        for start in range(0, len(rows), batch_size):
            batch = order[start : start + batch_size]
            error = (softmax(rows[batch] @ weights + bias) - classes[codes[batch]]) / len(batch)
            gradient, bias_gradient = rows[batch].T @ error, error.sum(axis=0)
            squares += gradient**2
            bias_squares += bias_gradient**2
            weights -= rate * gradient / np.sqrt(squares)
            bias -= rate * bias_gradient / np.sqrt(bias_squares)
    return weights, bias


def _tokenizer(kind):
    from tokenizers import Tokenizer, models, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast

    special = _SPECIAL[kind]
    vocabulary = {word: code for code, word in enumerate([*special.values(), *WORDS])}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token=special["unk"]))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    if kind in _TEMPLATE:
        known = [(word, vocabulary[word]) for word in special.values()]
        tokenizer.post_processor = processors.TemplateProcessing(
            single=_TEMPLATE[kind], special_tokens=known
        )
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, **{f"{role}_token": word for role, word in special.items()}
    )


def _config(kind, tokenizer):
    import transformers

    size = len(tokenizer)
    # Wide: all tokens matter at once.
    common = {"vocab_size": size, "pad_token_id": tokenizer.pad_token_id, "initializer_range": 0.2}
    if kind == "xlnet":
        return transformers.XLNetConfig(d_model=32, n_layer=2, n_head=2, d_inner=64, **common)
    if kind == "gpt2":
        return transformers.GPT2Config(
            vocab_size=size,
            n_embd=32,
            n_layer=2,
            n_head=2,
            n_positions=POSITIONS,
            bos_token_id=0,
            eos_token_id=0,
            initializer_range=0.2,
        )
    made, rows = (
        (transformers.BertConfig, POSITIONS)
        if kind == "bert"
        else (transformers.RobertaConfig, POSITIONS + 2)
    )
    shape = {
        "hidden_size": 32,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
        "intermediate_size": 64,
    }
    return made(max_position_embeddings=rows, **shape, **common)


def save_tiny_encoder(kind, folder):
    """Write a random encoder of two narrow layers with a tokenizer of the toy words.

    Both are the same every time.
    """
    import torch
    from transformers import AutoModel

    from lops_adapters.encoders.pretrained import hushed

    tokenizer = _tokenizer(kind)
    with torch.random.fork_rng(), hushed():
        torch.manual_seed(7)
        AutoModel.from_config(_config(kind, tokenizer)).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def global_states():
    """Return the states of the generators that everybody shares."""
    import torch

    kind, keys, position, has_gauss, gauss = np.random.get_state()
    return (
        random.getstate(),
        (kind, keys.tobytes(), position, has_gauss, gauss),
        torch.get_rng_state().numpy().tobytes(),
    )


def saved_bytes(probe, folder):
    """Return the files that a probe writes when saved, name -> bytes: weights and words."""
    folder.mkdir()
    probe.save(folder)
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}
