# SPDX-License-Identifier: Apache-2.0
"""LOPS in WeSTClass: select the generated pseudo documents for pre-training.

The probe is a network of WeSTClass's own class that starts from the classifier's weights, with the
loss, learning rate and number of epochs of pre-training (LOPS_EPOCHS changes the last) and its own
optimiser. It predicts after every update (LOPS_EVERY), since after one epoch it has often learnt
everything. The user's labelled documents are added later and all kept.
"""

from lops_shared import positions, random_states_kept, read_settings, select_with_keras

SETTINGS = read_settings(every=1)


def keep(documents, targets, classifier, shape, kind, vectors, epochs, batch_size, optimizer):
    """Return the trusted pseudo documents and their soft labels, in the same order.

    Args:
        documents: (n, words) or (n, sentences, words) token ids.
        targets: (n, k) soft labels; the largest is the pseudo-label.
        classifier: WeSTClass's classifier object; it is not changed.
        shape: of the real documents' array.
        kind: WeSTClass's name of the network.
        vectors: (V, d) word vectors, only for their shape; the probe uses the classifier's.
        epochs: of pre-training.
        batch_size: documents per update.
        optimizer: the class of stochastic gradient descent.

    """
    settings = SETTINGS._replace(epochs=SETTINGS.epochs or epochs)
    with random_states_kept():
        probe = type(classifier)(
            shape,
            n_classes=targets.shape[1],
            model=kind,
            vocab_sz=vectors.shape[0],
            word_embedding_dim=vectors.shape[1],
            embedding_matrix=vectors,
        ).classifier
        probe.set_weights(classifier.classifier.get_weights())
        probe.compile(optimizer=_descent(optimizer), loss="kld")
        selection = select_with_keras(probe, documents, targets, settings, batch_size)
    kept = positions(selection, settings)
    return documents[kept], targets[kept]


def _descent(optimizer):
    try:
        return optimizer(learning_rate=0.1, momentum=0.9)
    except TypeError:  # Keras before 2.3 calls it lr
        return optimizer(lr=0.1, momentum=0.9)
