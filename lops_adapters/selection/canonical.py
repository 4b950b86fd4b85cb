"""Selection in the order of content: the order of the rows in a table changes nothing.

Folds, batches and ties go by position. So a selector gets the rows sorted by a hash of their
content, and its answer is mapped back. Identical rows (same sample, same pseudo-label) are
interchangeable; they keep the order of their occurrence.

The content of a sample:

- a string: its words, that is, its UTF-8 bytes with single spaces for white space;
- a vector of floating-point numbers: its numbers, times a power of 2 (the largest is about 1);
- another numpy array: its type, shape and little-endian bytes in C order;
- tokens, sentences of tokens, tuples, numbers and mappings, with arrays inside: JSON in ASCII with
  sorted keys;
- anything else, such as a user's object: its position. Such rows do depend on the order.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from hashlib import blake2b
from itertools import count, islice
from typing import Any

import numpy as np

from lops_adapters.core import Selection, tie_hash
from lops_adapters.labels.labelled import Labelled
from lops_adapters.selection.committee.folds import unnamed
from lops_adapters.selection.outcome import Outcome
from lops_adapters.selection.selectors import Labels, Selector

_BLOCK = 2**14  # digests held as Python objects at once


def in_content_order(labelled: Labelled, seed: int = 0) -> tuple[Labelled, np.ndarray]:
    """Return the samples in the order of their content, and the (n,) int64 places they have there.

    The seed keys the order, so that another seed gives other folds, batches and ties. What a method
    says of these is of the samples as they came by ``outcome.at(places)``.
    """
    keys = content_keys(labelled.samples, seed)
    order = _order(keys, labelled.codes)
    ordered = replace(labelled, copies=_copies(labelled, keys)).at(order)
    return ordered, np.argsort(order)


def as_selector(
    select: Callable[[Labelled], Outcome], seed: int = 0, corrects: bool = False
) -> Selector:
    """Return a selector of samples and labels, which gets them in the order of their content."""

    def selector(samples: Sequence[Any], pseudo_labels: Labels) -> Selection:
        labelled = Labelled.of(samples, pseudo_labels)
        ordered, places = in_content_order(labelled, seed)
        outcome = select(ordered).at(places)
        return outcome.selection(labelled.classes, labelled.codes if corrects else None)

    return selector


def content_order(samples: Sequence[Any], codes: np.ndarray, seed: int) -> np.ndarray:
    """Return the (n,) int64 positions of the rows by key, then class, then occurrence.

    Classes come in an order that does not depend on their names or codes.

    >>> first = content_order(["a", "b", "b"], np.array([0, 1, 0]), seed=0).tolist()
    >>> second = content_order(["b", "b", "a"], np.array([0, 1, 0]), seed=0).tolist()
    >>> first, second
    ([0, 2, 1], [2, 0, 1])
    """
    return _order(content_keys(samples, seed), codes)


def _order(keys: np.ndarray, codes: np.ndarray) -> np.ndarray:
    return np.asarray(np.lexsort((unnamed(codes, keys), keys)), dtype=np.int64)


def _copies(labelled: Labelled, keys: np.ndarray) -> np.ndarray | None:
    """Return (n,) int64 codes of equal texts, within groups if there are any; None: no copies."""
    if isinstance(labelled.samples, np.ndarray):  # vectors that are equal may be of different texts
        return None
    if labelled.groups is not None:
        keys = tie_hash(keys ^ labelled.groups.astype(np.uint64), 3)
    distinct, codes = np.unique(keys, return_inverse=True)
    return None if len(distinct) == len(keys) else codes


def content_keys(samples: Sequence[Any], seed: int) -> np.ndarray:
    """Return one pseudo-random number per sample, (n,) uint64, by its content and the seed.

    The numbers are uniform, equal for equal samples, and the same on every machine. They suit
    folds and random subsets, too: ``content_keys(samples, seed) % 5`` is a fold.

    >>> keys = content_keys(["a", "b", "a"], seed=0)
    >>> bool(keys[0] == keys[2]), bool(keys[0] == keys[1])
    (True, False)
    """
    digests, keys = map(_digest, samples, count()), np.empty(len(samples), dtype=np.uint64)
    for start in range(0, len(keys), _BLOCK):
        block = b"".join(islice(digests, _BLOCK))
        keys[start : start + _BLOCK] = np.frombuffer(block, dtype="<u8")
    return tie_hash(keys, seed)


def _digest(sample: Any, position: int) -> bytes:
    """Return 8 bytes by content; a salt keeps the kinds of samples apart."""
    if isinstance(sample, str):  # lone surrogates, as in broken downloads, have no strict UTF-8
        words = " ".join(sample.split())
        return blake2b(words.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    try:
        if isinstance(sample, np.ndarray) and not sample.dtype.hasobject:
            return _of_array(_scaled(sample), size=8)
        text = json.dumps(sample, sort_keys=True, default=_plain)
    except (TypeError, ValueError, RuntimeError):  # also too deep, or an array that cannot be read
        return blake2b(str(position).encode(), digest_size=8, salt=b"position").digest()
    return blake2b(text.encode(), digest_size=8, salt=b"json").digest()


def _scaled(array: np.ndarray) -> np.ndarray:
    """Return a vector times a power of 2, which is exact; another array as it is."""
    if array.ndim != 1 or array.dtype.kind != "f" or not np.isfinite(array).all():
        return array
    return np.asarray(np.ldexp(array, -np.frexp(np.abs(array).max(initial=0))[1]))


def _plain(value: Any) -> Any:
    """Return what JSON holds in place of an array, a numpy number or bytes; or raise TypeError."""
    if isinstance(value, bytes):
        return ["bytes", value.hex()]
    if isinstance(value, np.generic):
        return value.item()
    if not hasattr(value, "__array__"):
        raise TypeError(f"{type(value).__name__} has no content that is known here")
    array = np.asarray(value)
    return array.tolist() if array.dtype.hasobject else ["array", _of_array(array, size=16).hex()]


def _of_array(array: np.ndarray, size: int) -> bytes:
    array = array.astype(array.dtype.newbyteorder("<"), copy=False)
    head = f"{array.dtype.str}{array.shape}".encode()
    return blake2b(head + array.tobytes(), digest_size=size, salt=b"array").digest()
