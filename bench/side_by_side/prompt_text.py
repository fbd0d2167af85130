"""The prompt of a request as a model reads it, in the order in which it does: tools, instructions, messages.

Knows the four formats; must not know who asks, or what a token is.
"""

import json
from collections.abc import Iterator, Mapping, Sequence

from pydantic import JsonValue


def prompt_of(body: Mapping[str, JsonValue]) -> str:
    """Return what a model reads of a request, one line for each tool, then the rest."""
    return "\n".join(_lines(body))


def _lines(body: Mapping[str, JsonValue]) -> Iterator[str]:
    yield from (_written(tool) for tool in _list(body.get("tools")))
    for key in ("instructions", "system"):
        if body.get(key):
            yield _content(body[key])
    for message in _list(body.get("input", body.get("messages"))):
        if isinstance(message, dict) and "content" in message:
            rest = {
                key: value
                for key, value in message.items()
                if key not in ("content", "role", "type")
            }
            yield f"{message['role']}: {_content(message['content'])}{_written(rest) if rest else ''}"
        else:
            yield _written(message)


def _content(content: JsonValue) -> str:
    """Return what was said, without the marks of a format around it."""
    if isinstance(content, str):
        return content
    return "".join(
        str(part["text"])
        if isinstance(part, dict) and "text" in part
        else _written(part)
        for part in _list(content)
    )


def _written(value: JsonValue) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _list(value: JsonValue) -> Sequence[JsonValue]:
    return value if isinstance(value, list) else []


def same_share(prompts: Sequence[bytes]) -> tuple[float, float]:
    """Return which share of all bytes is that of the prompt before, from its beginning on, and that of any before.

    The first prompt has none before, and does not count.
    """
    before = at_best = 0
    for number, prompt in enumerate(prompts[1:], start=1):
        common = [_common(prompt, earlier) for earlier in prompts[:number]]
        before += common[-1]
        at_best += max(common)
    whole = sum(map(len, prompts[1:]))
    return before / whole, at_best / whole


def _common(one: bytes, other: bytes) -> int:
    """Return how many bytes two texts begin with alike."""
    shorter = min(len(one), len(other))
    return next(
        (place for place in range(shorter) if one[place] != other[place]), shorter
    )
