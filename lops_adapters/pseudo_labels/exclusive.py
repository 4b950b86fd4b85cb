"""Exclusive String-Match: only documents that contain the seed words of a single class."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence

from lops_adapters.console import progress
from lops_adapters.core import LopsError
from lops_adapters.pseudo_labels._inputs import checked_seeds, checked_texts
from lops_adapters.pseudo_labels.result import Occurrences, PseudoLabels, label_documents


def exclusive_string_match(
    texts: Sequence[str] | Iterable[str],
    seeds: Mapping[str, Sequence[str]],
    *,
    regex: bool = False,
    quiet: bool = True,
) -> PseudoLabels:
    r"""Pseudo-label the documents that contain seed words of exactly one class.

    The search in the raw text is case-sensitive and includes parts of words: "car" occurs in
    "scarce", not in "Car". A seed word of two classes therefore labels nothing. The score counts
    the occurrences of the class's seed words; occurrences of one seed word do not overlap.

    Args:
        texts: the raw documents, read one by one and not kept in memory.
        seeds: class name to its seed words, [] for a class without any.
        regex: read each seed word as a regular expression. The authors' released code does so
            without escaping, so that a full stop matches any character. Default: literal words.
        quiet: show no progress bar.

    Returns:
        Labelled rows, their labels and scores, and the seed words without a match.

    Raises:
        LopsError: no document, a document that is not a string, seeds that cannot work, or with
            `regex` a seed word that is no regular expression or matches the empty string (and so
            every document).

    Source: the Exclusive String-Match heuristic of the LOPS paper (noise of heuristics on NYT-Fine)
    and the authors' released code.

    >>> seeds = {"energy": ["oil"], "sports": ["golf", "U.S. Open"]}
    >>> texts = ["a spoilt day", "golf and oil", "the U.S. Open", "Golf"]
    >>> found = exclusive_string_match(texts, seeds)
    >>> found.positions.tolist(), found.labels.tolist()
    ([0, 2], ['energy', 'sports'])
    """
    checked = checked_seeds(seeds)
    occurrences = Occurrences([(name, word) for name, words in checked.items() for word in words])
    owners: dict[str, list[int]] = {}
    for pair_id, (_, word) in enumerate(occurrences.pairs):
        owners.setdefault(word, []).append(pair_id)
    counters = {word: _counter(word, regex) for word in owners}
    n_documents = 0
    for document, text in enumerate(
        progress(checked_texts(texts), quiet=quiet, unit="documents", desc="Exclusive")
    ):
        n_documents = document + 1
        for word, count in counters.items():
            times = count(text)
            if times:
                for pair_id in owners[word]:
                    occurrences.add(document, pair_id, times)
    return label_documents(occurrences, checked, n_documents, dropped=set(), exclusive=True)


def _counter(word: str, regex: bool) -> Callable[[str], int]:
    if not regex:
        return lambda text: text.count(word)
    try:
        expression = re.compile(word)
    except re.error as error:
        raise LopsError(
            f"seed word {word!r} is no regular expression ({error}); correct it or pass regex=False"
        ) from error
    if expression.search("") is not None:
        raise LopsError(
            f"seed word {word!r} matches the empty string, and so every document; correct it"
        )
    return lambda text: sum(1 for _ in expression.finditer(text))
