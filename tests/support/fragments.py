"""Texts that the patterns of the language data match: pieces of sentences that our readers of words look at."""

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Final

import custom_components.chatterbox as product

LANGUAGES: Final = (
    "de",
    "en",
    "es",
    "fr",
    "it",
    "nl",
    "pl",
    "pt",
    "pt-BR",
    "sv",
    "zh-Hans",
)
_LONGEST: Final = 60
"""Characters of a fragment: it is repeated many times."""
_GROUP: Final = re.compile(
    r"\((\?(?:P<\w+>|:|[=!]|<[=!]))?((?:[^()\\]|\\.)*)\)(?:[*+?]|\{[\d,]+\})*\+?"
)
_AROUND: Final = ("?=", "?!", "?<=", "?<!")
_PLACEHOLDER: Final = re.compile(r"[<{]\w+[>}]|\[[^\]]*\]|\\[dw]|\.(?=[*+])")
_SIGNS: Final = re.compile(r"\\[a-zA-Z]|[\\^$*+?~]")


@cache
def fragments(language: str) -> Sequence[str]:
    """Return what patterns and words of a language match, once with the first and once with the last choice."""
    found: dict[str, None] = {}
    for file in sorted(Path(product.__path__[0]).rglob("*.toml")):
        for path, text in _texts(tomllib.loads(file.read_text("utf-8")), (file.stem,)):
            if not {language, language.partition("-")[0]}.isdisjoint(path):
                found |= dict.fromkeys(_matched(text, choice) for choice in (0, -1))
    return [one for one in found if one.strip()]


def _texts(
    value: object, path: tuple[str, ...]
) -> Iterator[tuple[tuple[str, ...], str]]:
    match value:
        case str():
            yield path, value
        case Mapping():
            for key, item in value.items():
                yield path, key
                yield from _texts(item, (*path, key))
        case list():
            for item in value:
                yield from _texts(item, path)
        case _:
            pass


def _matched(pattern: str, choice: int) -> str:
    """Return a text that a pattern matches, if it is a plain one."""

    def chosen(group: re.Match[str]) -> str:
        return (
            ""
            if (group[1] or "").startswith(_AROUND)
            else str(group[2]).split("|")[choice]
        )

    text = _PLACEHOLDER.sub("6", pattern)
    while (shorter := _GROUP.sub(chosen, text)) != text:
        text = shorter
    return _SIGNS.sub("", text.split("|")[choice])[:_LONGEST]
