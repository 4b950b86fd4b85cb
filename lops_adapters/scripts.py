"""Scripts without spaces between words: Thai, Lao, Burmese, Khmer, Chinese, Japanese."""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from functools import cache

_CLASS = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
    "\U00020000-\U0003ffff"
)
UNSPACED = re.compile(f"[{_CLASS}]+")
_MARKS = str.maketrans({"。": " . ", "！": " ! ", "？": " ? ", "，": " , ", "、": " , "})
_WITH_MARKS = (0x0E00, 0x0F00), (0x1000, 0x10A0), (0x1780, 0x1800), (0x3099, 0x309B)


def is_unspaced(text: str) -> bool:
    """Return whether a text holds a script without spaces between words."""
    return not text.isascii() and UNSPACED.search(text) is not None


class Cutter:
    """Puts spaces around words of these scripts, and around each other character of them.

    Texts without such a script stay as they are. Of overlapping words, the first counts, of words
    that begin there, the longest.

    >>> Cutter(["银行", "利率"])("银行下调了利率 by 2%").split()
    ['银行', '下', '调', '了', '利率', 'by', '2%']
    """

    def __init__(self, words: Iterable[str]) -> None:
        given = {_composed(word): word for word in words if is_unspaced(word)}
        self._given = given
        names = "|".join(map(re.escape, sorted(given, key=len, reverse=True)))
        self._pattern = re.compile(f"{names or '(?!)'}|[{_CLASS}][{_combining()}]*", re.IGNORECASE)

    @property
    def words(self) -> list[str]:
        """The words of these scripts, as they were given."""
        return list(self._given.values())

    def __call__(self, text: str) -> str:
        """Return a text with spaces, and with full stops, commas and such in ASCII."""
        return self._cut(text)[0] if self._given and is_unspaced(text) else text

    def _cut(self, text: str) -> tuple[str, int]:
        """Return the text with spaces, and how many words it holds."""
        count = 0

        def spaced(found: re.Match[str]) -> str:
            nonlocal count
            word = self._given.get(found[0].lower())
            count += word is not None
            return f" {word or found[0]} "

        text = unicodedata.normalize("NFC", text).translate(_MARKS)
        return self._pattern.sub(spaced, text), count

    def is_needed(self, texts: Iterable[str]) -> bool:
        """Return whether texts hold the words mostly within runs, not between spaces."""
        within = alone = 0
        for text in filter(is_unspaced, texts) if self._given else ():
            within += self._cut(text)[1]
            alone += sum(_composed(word) in self._given for word in text.split())
        return 2 * alone < within


def words_to_cut(texts: Sequence[str], words: Iterable[str]) -> list[str]:
    """Return the words of these scripts at which texts have to be cut: all or none.

    >>> words_to_cut(["股市上涨", "goals"], ["股市", "goal"]), words_to_cut(["股市 上涨"], ["股市"])
    (['股市'], [])
    """
    cutter = Cutter(words)
    return cutter.words if cutter.is_needed(texts) else []


def _composed(word: str) -> str:
    return unicodedata.normalize("NFC", word).lower()


@cache
def _combining() -> str:
    """Return the marks of these scripts that belong to the character before them."""
    return "".join(
        character
        for first, last in _WITH_MARKS
        for character in map(chr, range(first, last))
        if unicodedata.category(character)[0] == "M"
    )
