"""Words that are meant alike: in small letters, without accents, whatever their endings, and with a slip or two.

Pure text, for any language; knows nothing of homes. No grammar is needed to see that "kuchni" is "kuchnia": what two
words have in common is told by their pairs of letters. Scripts without spaces are read character by character, and in
pairs of characters.
"""

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Final

_WORD: Final = re.compile(r"[^\W_]+")
_UNSPACED: Final = re.compile(
    r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff]+"
)
_PLAIN: Final = str.maketrans(
    {"ł": "l", "ø": "o", "đ": "d", "ð": "d", "þ": "th", "æ": "ae", "œ": "oe", "\N{LATIN SMALL LETTER DOTLESS I}": "i"}
)
"""Letters that Unicode does not take apart."""
_LEAST: Final = 0.5
"""What two words have to have in common, as part of the pairs of letters of both, to be taken for one."""
_STEM: Final = 4
"""Letters with which two words have to begin alike, so that only their endings differ."""
_SURELY: Final = 0.9
"""How sure it is that a word is another one that differs in its ending; more than that is only the very word."""
_ENDING: Final = 3
"""Letters of the longest ending."""
_PAIR: Final = 2
_PART: Final = 4
"""Letters of the shortest word that is found within another, such as "lampe" in "stehlampe"."""
_KEPT: Final = 2_000
"""Words that were asked for lately."""


def words_in(text: str) -> list[str]:
    """Return the words of a text as they are compared, in their order."""
    return [word for written in _WORD.findall(_plain(text)) for word in _split(written)]


def _plain(text: str) -> str:
    apart = unicodedata.normalize("NFKD", text.casefold().translate(_PLAIN))
    return unicodedata.normalize("NFC", "".join(one for one in apart if not _is_accent(one)))


def _is_accent(character: str) -> bool:
    return "\u0300" <= character <= "\u036f"


def _split(word: str) -> Iterator[str]:
    end = 0
    for run in _UNSPACED.finditer(word):
        if run.start() > end:
            yield word[end : run.start()]
        characters, end = run.group(), run.end()
        yield from characters
        yield from (characters[place : place + _PAIR] for place in range(len(characters) - 1))
    if end < len(word):
        yield word[end:]


class Vocabulary:
    """All words that there are, to be found by what somebody says."""

    def __init__(self, words: Iterable[str]) -> None:
        """Take in words, as `words_in` returns them."""
        self._words = sorted(set(words))
        self._sizes = [len(_pairs(word)) for word in self._words]
        self._having: dict[str, list[int]] = defaultdict(list)
        for index, word in enumerate(self._words):
            for pair in _pairs(word):
                self._having[pair].append(index)
        self.similar = lru_cache(_KEPT)(self._similar)
        """Returns the words that may be meant by one, each with how sure that is: up to 1 for the very word."""

    def _similar(self, said: str) -> Mapping[str, float]:
        pairs = _pairs(said)
        common = Counter(index for pair in pairs for index in self._having.get(pair, ()))
        found = {
            self._words[index]: _likeness(said, self._words[index], 2 * number / (len(pairs) + self._sizes[index]))
            for index, number in common.items()
        }
        return {word: likeness for word, likeness in found.items() if likeness}


def _pairs(word: str) -> frozenset[str]:
    """Return what words are compared by: their pairs of letters, with their beginning and their end."""
    if len(word) <= _PAIR or _UNSPACED.match(word) or not word.isalpha():
        return frozenset((word,))
    marked = f"^{word}$"
    return frozenset(marked[place : place + _PAIR] for place in range(len(marked) - 1))


def _likeness(said: str, word: str, in_common: float) -> float:
    """Tell how sure it is that one word is meant by another, by what they have in common; 0 for not at all."""
    if said == word:
        return 1.0
    shorter, longer = sorted((said, word), key=len)
    if len(shorter) > _STEM and longer[: len(shorter) - 1] == shorter[:-1] and len(longer) - len(shorter) <= _ENDING:
        return _SURELY
    if len(shorter) >= _PART and (longer.startswith(shorter) or longer.endswith(shorter)):
        return 0.7
    return min(in_common, _SURELY) if in_common >= _LEAST else 0.0
