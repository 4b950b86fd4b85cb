"""A corpus small enough to run LOTClass on in seconds, and tiny masked language models whose
embeddings know the topics.
"""

import numpy as np

from lops_adapters.lotclass.settings import LotclassSettings

from ..framework_tools import ARTS, COMMON, LAW, SPORT, save_topic_bert, sentence, toy_documents

TOPICS = {"arts": ARTS, "law": LAW, "sport": SPORT}
CLASSES = tuple(TOPICS)
ARMS = ("standard", "lops", "lops-refresh")
SEEDS = {label: words[:3] for label, words in TOPICS.items()}
SMALL = {
    "classifier": "network",
    "keep": 0.8,
    "max_tokens": 40,
    "top": 6,
    "vocabulary_size": 14,
    "match_threshold": 3,
    "min_rows": 5,
    "epochs": 2,
    "batch_size": 12,
    "micro_batch": 6,
    "learning_rate": 0.003,
    "probe_epochs": 3,
    "every": 2,
    "self_learning_rate": 0.001,
    "update_interval": 3,
    "head_epochs": 25,
    "head_updates": 1,
    "head_learning_rate": 0.01,
}
NARROW = {
    "hidden_size": 16,
    "num_hidden_layers": 1,
    "num_attention_heads": 2,
    "intermediate_size": 32,
}


def settings(**overrides):
    """Settings under which a run on the toy corpus takes a few seconds."""
    return LotclassSettings(**{**SMALL, **overrides})


def _document(rng, number, label, other):
    found = []
    for _ in range(int(rng.integers(2, 5))):
        of = other if rng.random() < 0.05 or number % 10 == 0 else label
        own = np.arange(len(COMMON)) % len(CLASSES) == CLASSES.index(of)
        common = np.where(own, 0.2, 0.025)  # tells the class where all its words are masked
        words = sentence(rng, [of, *TOPICS[of]], [0.2, *[0.08] * 10], common=common)
        found.append(f"The {' '.join(words)}.")
    return found


def documents(n=90, seed=0):
    """n short documents and their gold labels; one in ten and some sentences are about another
    class, which makes wrong pseudo-labels.
    """
    return toy_documents(n, seed, CLASSES, _document)


def save_encoder(folder, **shape):
    """Write a tiny BERT without a masked-language-model head, made the same way every time."""
    return save_topic_bert(folder, TOPICS, **{"num_hidden_layers": 1, **shape})


def save_masked_bert(folder, **shape):
    """Write a tiny random BERT with a masked-language-model head, under the toy words."""
    import torch
    from transformers import AutoModelForMaskedLM, BertConfig

    from lops_adapters.encoders.pretrained import hushed, load_tokenizer

    vocabulary = len(load_tokenizer(save_encoder(folder)))
    narrow = {**NARROW, "max_position_embeddings": 64}
    with torch.random.fork_rng(), hushed():
        torch.manual_seed(8)
        config = BertConfig(vocab_size=vocabulary, initializer_range=0.2, **{**narrow, **shape})
        AutoModelForMaskedLM.from_config(config).save_pretrained(folder)
    return str(folder)


def save_masked_roberta(folder):
    """Write a tiny random RoBERTa with its head and a byte-level vocabulary learnt from the toy
    words.
    """
    import torch
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers
    from transformers import AutoModelForMaskedLM, PreTrainedTokenizerFast, RobertaConfig

    from lops_adapters.encoders.pretrained import hushed

    special = {"bos": "<s>", "pad": "<pad>", "eos": "</s>", "unk": "<unk>", "mask": "<mask>"}
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    words = [
        *COMMON,
        *(word for name, words in TOPICS.items() for word in (name, *words)),
        "the",
        "b\u00fccher",
    ]
    tokenizer.train_from_iterator(
        [f" {word} {word}" for word in words],
        trainers.BpeTrainer(
            vocab_size=900,
            special_tokens=list(special.values()),
            initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
            show_progress=False,
        ),
    )
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", special_tokens=[("<s>", 0), ("</s>", 2)]
    )
    fast = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        cls_token="<s>",
        sep_token="</s>",
        **{f"{role}_token": word for role, word in special.items()},
    )
    with torch.random.fork_rng(), hushed():
        torch.manual_seed(9)
        config = RobertaConfig(
            vocab_size=len(fast),
            max_position_embeddings=66,
            pad_token_id=1,
            initializer_range=0.2,
            **NARROW,
        )
        AutoModelForMaskedLM.from_config(config).save_pretrained(folder)
    fast.save_pretrained(folder)
    return str(folder)
