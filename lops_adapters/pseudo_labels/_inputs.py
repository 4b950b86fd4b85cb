"""Checks shared by the seed matchers."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from lops_adapters.core import LopsError

Seeds = dict[str, tuple[str, ...]]


def checked_seeds(seeds: Mapping[str, Sequence[str]]) -> Seeds:
    """Return every class's seed words without repetitions, in the caller's order."""
    if not isinstance(seeds, Mapping):
        raise LopsError(
            f"seeds is a {type(seeds).__name__}; "
            "pass a mapping from class name to a list of seed words"
        )
    wrong = next((name for name in seeds if not isinstance(name, str)), None)
    if wrong is not None:
        raise LopsError(f"class name {wrong!r} is a {type(wrong).__name__}; wanted a string")
    checked = {name: _words_of(name, words) for name, words in seeds.items()}
    if not any(checked.values()):
        raise LopsError("seeds holds no seed word; give at least one class a seed word")
    return checked


def _words_of(name: str, words: Sequence[str]) -> tuple[str, ...]:
    if isinstance(words, str):
        raise LopsError(
            f"the seed words of class {name!r} are the string {words!r}; pass a list, [{words!r}]"
        )
    distinct = tuple(dict.fromkeys(words))
    for word in distinct:
        if not isinstance(word, str):
            raise LopsError(
                f"class {name!r} has the seed word {word!r}, a {type(word).__name__}; pass strings"
            )
        if not word.strip():
            raise LopsError(f"class {name!r} has the empty seed word {word!r}; remove it")
    return distinct


def checked_texts(texts: Iterable[str]) -> Iterator[str]:
    """Yield the documents one by one; raise a LopsError at the first that is not a string.

    A sequence is checked before its first document is yielded, so that the error comes before any
    work.
    """
    if isinstance(texts, str):
        raise LopsError(
            "texts is one string; pass a sequence of documents, [text] for a single one"
        )
    if isinstance(texts, Sequence):
        for position, text in enumerate(texts):
            _refuse_wrong_text(position, text)
    position = -1
    for position, text in enumerate(texts):
        _refuse_wrong_text(position, text)
        yield text
    if position < 0:
        raise LopsError(
            "texts holds no document; pass at least one (an iterator can be read only once)"
        )


def _refuse_wrong_text(position: int, text: object) -> None:
    if not isinstance(text, str):
        raise LopsError(
            f"document {position} is {text!r}, a {type(text).__name__}; every document must be a "
            "string (use '' for a missing text)"
        )
