# SPDX-License-Identifier: Apache-2.0
"""LOPS in ConWea: select the documents for the classifier, anew in every iteration.

The probe is a network of ConWea's own class, with the same frozen word vectors and its own Adam.
LOPS_EPOCHS (default 100, as for the classifier) is the most that it trains; all rules stop as soon
as every class is decided.
"""

import os
import pickle

import numpy as np
from lops_shared import positions, random_states_kept, read_settings, select_with_keras

SETTINGS = read_settings(epochs=100)
BATCH_SIZE = 256  # the classifier's


def keep(
    documents,
    labels,
    gold,
    label_to_index,
    tokenizer,
    dataset_path,
    max_sentences,
    max_sentence_length,
    network,
    prepare,
):
    """Return documents, labels and gold labels of the trusted documents, in the same order.

    Gold labels are only cut to the kept documents, never read.

    Args:
        documents: list of n texts.
        labels: their n pseudo-labels, class names.
        gold: their n gold labels.
        label_to_index: class name -> number.
        tokenizer: the fitted Keras tokenizer.
        dataset_path: folder of ``embedding_matrix.pkl``.
        max_sentences, max_sentence_length: of the network.
        network: ConWea's network class.
        prepare: ConWea's function from texts to token ids.

    """
    with random_states_kept():
        ids = prepare(
            texts=documents,
            max_sentences=max_sentences,
            max_sentence_length=max_sentence_length,
            tokenizer=tokenizer,
        )
        codes = [label_to_index[label] for label in labels]
        targets = np.eye(len(label_to_index), dtype="float32")[codes]
        with open(os.path.join(dataset_path, "embedding_matrix.pkl"), "rb") as handle:
            vectors = pickle.load(handle)
        probe = network(
            max_words=max_sentence_length,
            max_sentences=max_sentences,
            output_size=len(label_to_index),
            embedding_matrix=vectors,
        )
        probe.compile(optimizer="adam", loss="categorical_crossentropy")
        selection = select_with_keras(probe, ids, targets, SETTINGS, BATCH_SIZE)
    names = {index: label for label, index in label_to_index.items()}
    kept = positions(selection, SETTINGS, names, least=2)  # the classifier holds out a part of them
    return [documents[i] for i in kept], [labels[i] for i in kept], [gold[i] for i in kept]
