"""Understands a request to remember or forget a fact, or to tell those that are remembered.

The words around a fact are in `languages/<language>/facts.toml`; the fact is passed on as it was said.
"""

from functools import cache
from typing import Final, NamedTuple, NotRequired, TypedDict

from ..agent.text import (
    base_language,
    contains_phrase,
    heard_words,
    read_language_files,
)
from ..speech.text.phrases import divided
from .lexicon import COMMA, Lexicon, tokens_of_phrase
from .messages import after_phrase

_SHORTEST_FACT: Final = 2
"""Words."""
_PIN_DIGITS: Final = 4
_END: Final = " .!?。！？,，:："  # noqa: RUF001 also Chinese marks


class _FactWords(TypedDict):
    remember: str
    """Phrases before a fact that is to be remembered."""
    forget: str
    """Phrases before one that is to be forgotten."""
    list: str
    """Whole sentences that ask for all."""
    own: str
    """Words by which a fact is one of the person who speaks: "I", "my"."""
    ours: NotRequired[str]
    """Longer words with one of these, by which it is not: "我们"."""
    until: str
    """Words before the time at which a fact ends."""
    pin: str
    """Phrases for a PIN: what has one and its digits is not remembered."""
    conjunction: NotRequired[str]
    """The last word of a phrase that belongs to the fact, too, as in "dass wir Gäste haben"."""


class FactRequest(NamedTuple):
    """A request about facts."""

    action: str
    """The name of a field of the words: `remember`, `forget` or `list`."""
    fact: str = ""
    is_own: bool = False
    """Whether the fact is one of the person who speaks, and not of all at home."""


_LANGUAGES: Final = read_language_files("facts", _FactWords)
_FALLBACK: Final = "en"


type _Phrases = tuple[tuple[str, ...], ...]


@cache
def _phrases(text: str) -> _Phrases:
    """Return the phrases of a field, the longest first."""
    found = (tuple(tokens_of_phrase(one)) for one in divided(text))
    return tuple(sorted(found, key=len, reverse=True))


def fact_request(
    sentence: str,
    words: Lexicon,
) -> FactRequest | None:
    """Return what a sentence wants to be done with facts; None for any other sentence."""
    known = _LANGUAGES.get(words.language)
    if known is None:
        return None
    found = [one for one in words.tokens(sentence) if one.word != COMMA]
    heard = [one.word for one in found]
    if any(
        after_phrase(heard, phrase, words) == len(heard)
        for phrase in _phrases(known["list"])
    ):
        return FactRequest("list")
    conjunction = known.get("conjunction", "")
    for action, text in (("forget", known["forget"]), ("remember", known["remember"])):
        for phrase in _phrases(text):
            start = after_phrase(
                heard,
                phrase,
                words,
            )
            if start is None or len(heard) - start < _SHORTEST_FACT:
                continue
            keeps = action == "remember" and phrase[-1] == conjunction
            fact = sentence[found[start - keeps].start :].strip(_END)
            return FactRequest(
                action,
                fact,
                _is_own(fact, known),
            )
    return None


def _is_own(fact: str, known: _FactWords) -> bool:
    for ours in divided(known.get("ours", "")):
        fact = fact.replace(ours, "")
    heard = tuple(tokens_of_phrase(fact))
    return any(contains_phrase(heard, own) for own in _phrases(known["own"]))


def without_until(words: str, language: str) -> str:
    """Return words for the end of something without "until"."""
    text = words.strip()
    codes = (base_language(language), _FALLBACK)
    known = [_LANGUAGES[code] for code in codes if code in _LANGUAGES]
    phrases = (phrase for one in known for phrase in divided(one["until"]))
    for phrase in sorted(phrases, key=len, reverse=True):
        rest = text[len(phrase) :]
        is_whole = not phrase[-1].isascii() or not rest[:1].isalpha()
        if text.lower().startswith(phrase) and is_whole:
            return rest.strip()
    return text


def names_pin(text: str) -> bool:
    """Return whether a text has a PIN with its digits, in the words of any language."""
    heard = heard_words(text)
    digits = sum(char.isdigit() for char in text)
    return digits >= _PIN_DIGITS and any(
        contains_phrase(heard, heard_words(phrase))
        for words in _LANGUAGES.values()
        for phrase in divided(words["pin"])
    )
