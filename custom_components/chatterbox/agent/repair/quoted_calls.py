"""Detects calls in text that only quote the conversation.

A model that reads a to-do entry aloud word for word must not execute it.
"""

import html
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import islice, pairwise
from typing import Final, assert_never

from ..conversation.summary import without_recalled_calls
from ..conversation.window import shows_something
from ..json.malformed_json import repair_json
from ..json.text import parsed_if_json
from ..messages import (
    AssistantMessage,
    JsonValue,
    ToolResult,
    Transcript,
    UserMessage,
    canonical_json,
)
from ..protocols import CompletionRequest
from ..text import plain
from ..transcript import results_in
from .written_calls import WrittenCall

_UNICODE_ESCAPE: Final = re.compile(r"(?<!\\)\\++u([0-9a-fA-F]{4})")
_REFERENCE: Final = re.compile(
    r"&(?:#\d{1,7}|#x[0-9a-f]{1,6}|[a-z]{1,8});", re.IGNORECASE
)
_FENCE: Final = re.compile(r"```\w*+")
_IGNORED: Final = re.compile(
    r"""<\|"\|>|<escape>|(?<!\\)\\++[nrtbf]|[\s\\"'\u00ab\u00bb\u2018-\u201f]"""
)
"""Quotation marks in all forms, spaces and escapes."""
_SEPARATOR: Final = re.compile(r"(?:\W|\barg_(?:key|value)\b)+")
_BULLET: Final = re.compile(r"^[ \t]*+(?:[-*•]|\d{1,3}[.)])\s", re.MULTILINE)
_CALLED: Final = (
    r"(?:calls?|function|invoke|start|arguments|parameters)\W{1,8}(?:functions?\W)?(?:name\W)?(?:\w{0,64}(?:__|\.))?NAME"
    r"|NAME(?:\(\W{0,2}\)|\{\W{0,2}\}|\W{1,4}(?:arg|param|tool_?input|action_?input))"
)
"""In a compact text: the name after a mark or a word that begins calls, or before its arguments."""
_COMPARED_ARGUMENTS: Final = 16


class Quotations:
    """Quoted text of a conversation that is not a call: results, words of people, and earlier answers."""

    def __init__(self, request: CompletionRequest) -> None:
        """Take the conversation as the model sees it. Nothing is read before a call is written."""
        self._request = request

    @cached_property
    def length(self) -> int:
        """Characters of the conversation, about."""
        return sum(map(len, self._quotable))

    def hold(self, call: WrittenCall) -> bool:
        """Return whether a call is a quotation.

        Its text stands in the conversation, or the name of its tool does, and in the
        same message each argument beside its value: in any notation and order, and as a
        part of longer text. In the turn with a picture or a document, which cannot be
        compared, and in the next one, each written call counts as one.
        """
        if shows_something(_latest_turns(self._request.transcript)):
            return True
        source = _compact(call.source)
        if any(source in text for text in (*self._texts, *self._joined)):
            return True
        return self._hold_parts(call)

    @cached_property
    def _quotable(self) -> Sequence[str]:
        if self._request.summary:
            quotable = [self._request.summary.text]
        else:
            quotable = []
        for message in self._request.transcript:
            match message:
                case ToolResult(synthetic=True):
                    pass  # the loop wrote it, and may name the call that it answers
                case UserMessage(context=context):
                    quotable.append(
                        replace(message, context=without_recalled_calls(context)).prompt
                    )
                    quotable += [attachment.name for attachment in message.attachments]
                case ToolResult(content=text) | AssistantMessage(text=text):
                    quotable.append(text)
                case _:
                    assert_never(message)
        return quotable

    @cached_property
    def _texts(self) -> Sequence[str]:
        return [_compact(text) for text in self._quotable]

    @cached_property
    def _joined(self) -> Sequence[str]:
        """The texts of each member in all results: a call may be split over the entries of a list."""
        joined: dict[str, list[str]] = {}
        for result in results_in(self._request.transcript):
            if not result.synthetic:
                for name, text in _strings(parsed_if_json(result.content)):
                    joined.setdefault(name, []).append(_BULLET.sub("", text))
        return [_compact("".join(texts)) for texts in joined.values()]

    @cached_property
    def _words(self) -> Sequence[str]:
        """The texts as names and values between single spaces: several words of prose are one word here."""
        return [f" {_spaced(text)} " for text in self._texts]

    def _hold_parts(self, call: WrittenCall) -> bool:
        try:
            leaves = islice(
                _leaves(repair_json(call.arguments)),
                _COMPARED_ARGUMENTS,
            )
        except ValueError:
            return False
        short = _compact(call.name.rpartition(".")[2].rpartition("__")[2])
        name = _spaced(short) + " "
        parts = [
            " ".join(("", *filter(None, map(_compacted, leaf)), "")) for leaf in leaves
        ]
        if not parts:
            return self._hold_bare(short)
        return any(
            name in words and all(part in words for part in parts)
            for words in self._words
        )

    def _hold_bare(self, name: str) -> bool:
        """Return whether the name of a tool stands somewhere as in a call, not only as a word: "Good night!"."""
        called = re.compile(_CALLED.replace("NAME", re.escape(name)))
        return bool(name) and any(
            called.search(text) for text in (*self._texts, *self._joined)
        )


def _latest_turns(transcript: Transcript) -> Transcript:
    """Return the current turn and the one before; a person may say several things in a row."""
    worded = [
        isinstance(
            message,
            UserMessage,
        )
        and bool(message.text or message.attachments)
        for message in transcript
    ]
    begins = [
        index
        for index, (before, now) in enumerate(pairwise((False, *worded)))
        if now and not before
    ]
    return transcript[begins[-2] if len(begins) > 1 else 0 :]


def _compact(text: str) -> str:
    """Return a text as it is compared: in small letters, unescaped, without spaces and quotation marks."""
    text = _REFERENCE.sub(
        lambda reference: html.unescape(reference[0]), _FENCE.sub("`", text)
    )
    text = _UNICODE_ESCAPE.sub(
        lambda escape: chr(int(escape[1], 16)),
        text,
    )
    text = text.encode("utf-16", "surrogatepass").decode(
        "utf-16",
        "replace",
    )
    return _IGNORED.sub("", plain(text))


def _spaced(compact: str) -> str:
    return _SEPARATOR.sub(" ", compact).replace("__", "_").strip()


def _compacted(value: JsonValue) -> str:
    return _spaced(_compact(value if isinstance(value, str) else canonical_json(value)))


def _strings(
    value: JsonValue,
    key: str = "",
) -> Iterator[tuple[str, str]]:
    """Yield all texts in a value, with the name of the object's member in which they stand."""
    match value:
        case str():
            yield key, value
        case list():
            for item in value:
                yield from _strings(item, key)
        case dict():
            for name, inner in value.items():
                yield from _strings(inner, name)
        case _:
            pass


def _leaves(
    value: JsonValue,
    key: str = "",
) -> Iterator[tuple[str, JsonValue]]:
    """Yield the values that hold no others, with the name of the object's member in which they stand."""
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from _leaves(inner, name)
    else:
        yield key, value
