"""Reads what was said as words, and templates as the phrases they stand for.

What nobody can say is refused, not repaired: a character of another alphabet that looks right, an
invisible one, a sign. So a text that is read sounds as it looks. Knows characters and the form of
templates; must not know what any word means.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from itertools import product
from typing import Final

type Phrase = tuple[str, ...]
"""Words, in the order in which they are said."""

HAN: Final = "\u3400-\u4dbf\u4e00-\u9fff\N{IDEOGRAPHIC NUMBER ZERO}"
"""Chinese characters, as they stand in a set of a regular expression. Each is a word of its own."""
_WORD: Final = re.compile(rf"[{HAN}]|[^\W_{HAN}]+(?:'[^\W_{HAN}]+)*")
"""A Chinese character, or letters and digits with apostrophes between them."""
_BETWEEN_WORDS: Final = re.compile(r"[\s.,!;:…\-‐-—¡。，！、；：]*")  # noqa: RUF001 - that is what Chinese looks like
_APOSTROPHE: Final = str.maketrans(dict.fromkeys("\N{RIGHT SINGLE QUOTATION MARK}\N{MODIFIER LETTER APOSTROPHE}", "'"))
_MARK: Final = re.compile(r"([()\[\]|])")


def words_of(text: str, folded: str = "") -> Phrase | None:
    """Return the words of a text in small letters; None if there is more in it than words and pauses.

    A question mark or a quotation mark is more than a pause. `folded` holds pairs of characters:
    one, and what is read in its place.
    """
    return _split(_plain(text).translate(str.maketrans(folded[::2], folded[1::2])))


def phrases_of(templates: Iterable[str], slots: Mapping[str, Iterable[str]] | None = None) -> frozenset[Phrase]:
    """Return every phrase that one of the templates stands for.

    `slots` gives the templates that may stand in place of a name in braces. A phrase with a slot for
    which there are none is left out.
    """
    filled = templates
    for name, fillings in (slots or {}).items():
        if choice := "|".join(fillings):
            filled = [template.replace(f"{{{name}}}", f"({choice})") for template in filled]
    read = (_split(sentence) for template in filled for sentence in _sentences(_plain(template)))
    return frozenset(phrase for phrase in read if phrase)


def without_accents(word: str) -> str:
    """Return a word as somebody writes it who leaves the accents out."""
    plain = "".join(char for char in unicodedata.normalize("NFKD", word) if not unicodedata.combining(char))
    return plain.replace("ł", "l")


def _plain(text: str) -> str:
    """Return a text in small letters, each character in its usual form."""
    return unicodedata.normalize("NFC", text).casefold().translate(_APOSTROPHE)


def _split(text: str) -> Phrase | None:
    """Return the words of a plain text; None if there is more in it than words and pauses."""
    if _BETWEEN_WORDS.fullmatch(_WORD.sub("", text)) is None:
        return None
    return tuple(_WORD.findall(text))


def _sentences(template: str) -> Iterator[str]:
    """Yield what a template stands for, as text."""
    marks = iter(part for part in _MARK.split(template) if part)
    yield from _choices(marks)


def _choices(parts: Iterator[str]) -> list[str]:
    """Read up to the bracket that closes, or the end."""
    choices: list[str] = []
    so_far = [""]
    for part in parts:
        match part:
            case "(" | "[":
                inner = _choices(parts)
                so_far = [before + after for before, after in product(so_far, [*inner, ""] if part == "[" else inner)]
            case "|":
                choices += so_far
                so_far = [""]
            case ")" | "]":
                break
            case _:
                so_far = [before + part for before in so_far]
    return choices + so_far
