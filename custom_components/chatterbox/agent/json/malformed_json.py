"""Parses malformed JSON of models where it is unambiguous.

Accepts other quotation marks, keys without quotes, trailing commas, comments, Python's
constants, and closing brackets that are superfluous at the very end; where a schema
tells what is a text, also a word without quotes.
"""

import re
from typing import Final

from ..messages import JsonValue, canonical_json
from .text import MAX_DEPTH, parse_json

_STRINGS: Final = "|".join(
    rf"{opening}(?:[^\\{closing}]++|\\.)*+[{closing}]"
    for opening, closing in (
        '""',
        "''",
        "\u201c\u201d",
        "\u201d\u201d",
        "\u2018\u2019",
        "\u2019\u2019",
    )
)
_BLANK: Final = re.compile(r"(?:\s|//[^\n]*|#[^\n]*|/\*.*?\*/)*+", re.DOTALL)
_TOKEN: Final = re.compile(
    rf"(?P<string>{_STRINGS}|\u201e(?:[^\\\u201c\u201d]++|\\.)*+[\u201c\u201d])"
    r"|(?P<mark>[{}\[\]:,])"
    r"|(?P<number>-?(?:0|[1-9]\d*+)(?:\.\d++)?+(?:[eE][+-]?\d++)?+(?![\w.]))"
    r"|(?P<key>[a-z_$][\w$-]*+(?=\s*+:))"
    r"|(?P<constant>(?:true|false|null|none)(?![\w$-]))"
    r"|(?P<word>(?!(?:undefined|nan|infinity|nil)\b)[^\W\d][\w.-]*+(?=\s*+[,\]}]))",
    re.DOTALL | re.IGNORECASE,
)
"""A `word` is a text without quotes: a comma or a closing bracket follows."""
_TO_ESCAPE: Final = re.compile(r'\\.|["\x00-\x1f]', re.DOTALL)
_FENCE: Final = "```"
_LEFT_OVER: Final = re.compile(r"[\s\]};]*")


def repair_json(
    text: str,
    *,
    bare_words: bool = False,
) -> JsonValue:
    """Parse malformed JSON to a value that `parse_json` accepts too; with `bare_words`, texts may have no quotes.

    Nothing that is missing at the end is supplied: `{"area": "Kitchen"` could have
    continued. Raises ValueError if the text is unreadable or ambiguous.
    """
    text = _without_fence(text)
    value, end = read_value(text, bare_words=bare_words)
    if not _LEFT_OVER.fullmatch(text, skip_blank(text, end)):
        raise ValueError(f"there is more after the value, at character {end}")
    return value


def fenced_blocks(text: str) -> list[str]:
    """Return the contents of the complete Markdown fences of a text that are marked as JSON, or as nothing."""
    blocks: list[str] = []
    block: list[str] | None = None
    for line in text.split("\n"):
        if block is not None and line.lstrip().startswith(_FENCE):
            blocks.append("\n".join(block))
            block = None
        elif block is not None:
            block.append(line)
        elif (opening := line.rpartition(_FENCE))[1] and opening[
            2
        ].strip().casefold() in {"", "json"}:
            block = []
    return blocks


def _without_fence(text: str) -> str:
    """Return the content of the fence that surrounds a text, or else the text."""
    stripped = text.strip()
    opening, newline, content = stripped.removeprefix(_FENCE).partition("\n")
    is_fenced = newline and stripped.startswith(_FENCE) and content.endswith(_FENCE)
    label = opening.strip()
    if is_fenced and (not label or label.isidentifier()):
        return content.removesuffix(_FENCE)
    return text


def read_value(
    text: str, start: int = 0, *, bare_words: bool = False
) -> tuple[JsonValue, int]:
    """Parse the value at `start` like `repair_json`, and return it with its end."""
    written: list[str] = []
    depth = 0
    position = start
    while not written or depth:
        position = skip_blank(text, position)
        token = _TOKEN.match(text, position)
        if token is None or (token.lastgroup == "word" and not bare_words):
            raise ValueError(f"expected a value at character {position}")
        position = token.end()
        depth += (token[0] in "{[") - (token[0] in "}]")
        if depth > MAX_DEPTH:
            raise ValueError("it is nested too deeply")
        if token[0] in "}]" and written[-1:] == [","] and written[-2] not in "{[:,":
            written.pop()
        written.append(_strict(token))
    return parse_json(" ".join(written), unique_names=True), position


def skip(
    what: re.Pattern[str],
    text: str,
    position: int,
) -> int:
    """Return the end of what a pattern matches at a position, which is that position if it does not match."""
    found = what.match(text, position)
    return found.end() if found else position


def skip_blank(text: str, position: int) -> int:
    """Return the end of whitespace and comments."""
    return skip(_BLANK, text, position)


def _strict(token: re.Match[str]) -> str:
    """Return a token as strict JSON has it."""
    match token.lastgroup:
        case "string":
            return f'"{_TO_ESCAPE.sub(_escaped, token[0][1:-1])}"'
        case "key" | "word":
            return canonical_json(token[0])
        case "constant":
            return (
                token[0]
                .casefold()
                .replace(
                    "none",
                    "null",
                )
            )
        case _:
            return token[0]


def _escaped(part: re.Match[str]) -> str:
    """Return a part of a string as JSON escapes it; escapes stay, but for that of an apostrophe."""
    if part[0] == "\\'":
        return "'"
    if part[0].startswith("\\"):
        return part[0]
    return canonical_json(part[0])[1:-1]
