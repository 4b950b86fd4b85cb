"""Vectors of texts and of class names, both from an encoder that reads whole sentences."""

from collections.abc import Callable, Sequence

import numpy as np

from lops_adapters.xclass.classes import unit

TEMPLATES = ("{}", "This text is about {}.", "A document about {}.", "The topic is {}.")


def class_vectors(
    names: Sequence[str],
    read: Callable[[Sequence[str]], np.ndarray],
    templates: Sequence[str] = TEMPLATES,
) -> np.ndarray:
    """Return the mean vector of the sentences that name each class, (k, width), of length 1.

    Args:
        read: returns the vectors of m sentences, (m, width).
        templates: of sentences; ``{}`` is the name.
    """
    spoken = [name.replace("_", " ") for name in names]
    vectors = read([template.format(name) for name in spoken for template in templates])
    return unit(vectors.reshape(len(names), len(templates), -1).mean(axis=1))
