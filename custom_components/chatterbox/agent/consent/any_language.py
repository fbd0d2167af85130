"""Answers in whatever language somebody speaks: one that is not known here is read as English, in which it was asked.

Pure. Knows which languages have words; must not know what was asked to be done.
"""

from typing import Final

from ..text import base_language
from . import WORDINGS
from .answers import NOTHING_NAMED, Answer, Asked, understand_answer
from .suspected_pin import may_hold_pin

_FALLBACK: Final = "en"
"""Questions are worded in it, too, where there are no words of the language."""


def understood_language(tag: str) -> str:
    """Return the language in which answers of somebody are read who speaks `tag`, such as `pt-BR`."""
    return tag if base_language(tag) in WORDINGS else _FALLBACK


def may_be_pin(text: str, tag: str, asked: Asked = NOTHING_NAMED, *, is_asked_for: bool) -> bool:
    """Tell whether a PIN may be among words; see `may_hold_pin`.

    In a language whose numbers are not known, whatever is said to a question for the PIN may be one.
    """
    language = understood_language(tag)
    if may_hold_pin(text, language, asked, is_asked_for=is_asked_for):
        return True
    is_known = language == tag
    return is_asked_for and not is_known and understand_answer(text, language, asked) is Answer.OTHER
