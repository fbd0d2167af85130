"""The answers of the model server, in each of the four formats: the pieces of a stream, and one whole answer.

Knows the formats through the servers that the tests have; must not know HTTP, or when a
piece is sent.
"""

import json
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from typing import Final

from pydantic import JsonValue

from tests.support.servers.chat_completions import ScriptedChatCompletions
from tests.support.servers.dialects import (
    ScriptedMessages,
    ScriptedOllama,
    ScriptedResponses,
)
from tests.support.servers.model_server import ModelRequest, ScriptedModelServer
from tests.support.servers.script import (
    Script,
    ScriptedAnswer,
    ScriptedCall,
    ScriptedUsage,
)

MODEL: Final = "scripted-model"
_PROSE: Final = (
    "The kitchen is warm and quiet. A little wind comes from the west, with some cloud towards the evening, and the "
    "night stays dry. Nothing needs doing before the morning. "
)


class Format(StrEnum):
    """The formats that the server speaks."""

    CHAT = "chat"
    RESPONSES = "responses"
    MESSAGES = "messages"
    OLLAMA = "ollama"


_SERVERS: Final[Mapping[Format, type[ScriptedModelServer]]] = {
    Format.CHAT: ScriptedChatCompletions,
    Format.RESPONSES: ScriptedResponses,
    Format.MESSAGES: ScriptedMessages,
    Format.OLLAMA: ScriptedOllama,
}


@dataclass(frozen=True, slots=True)
class Call:
    """A call of a tool that a request offers under a name that ends so."""

    tool: str
    arguments: str
    """A JSON object."""


@dataclass(frozen=True, slots=True)
class Stream:
    """An answer in the pieces in which it is sent: what comes before the words, the words, what comes after them."""

    opening: bytes
    fragments: tuple[bytes, ...]
    ending: bytes


def root(spoken: Format) -> str:
    """Return what all paths of a format begin with; no part of it looks like the end of an address of such services."""
    return f"/as-{spoken}"


def paths(spoken: Format) -> tuple[str, str]:
    """Return the paths of the list of models and of answers."""
    return (
        f"{root(spoken)}{_SERVERS[spoken].models_path}",
        f"{root(spoken)}{_SERVERS[spoken].answer_path}",
    )


def base_path(spoken: Format) -> str:
    """Return what an address ends in that a person enters."""
    return f"{root(spoken)}{_SERVERS[spoken].base_path}"


def content_type(spoken: Format) -> str:
    """Return what streams are sent as."""
    return _SERVERS[spoken].content_type


def model_list(spoken: Format) -> JsonValue:
    """Return the body of the list of models."""
    return _SERVERS[spoken](Script()).list_of((MODEL,))


def words(fragments: int, characters: int) -> str:
    """Return prose that is sent in so many fragments of so many characters, and does not repeat itself."""
    length = fragments * characters
    return (_PROSE + " ".join(random.Random(0).choices(_PROSE.split(), k=length)))[  # noqa: S311 # no secret
        :length
    ]


@cache
def spoken_answer(spoken: Format, fragments: int, characters: int) -> Stream:
    """Return the stream of an answer in words."""
    answer = ScriptedAnswer(
        content=words(fragments, characters),
        piece_characters=characters,
        usage=ScriptedUsage(completion_tokens=9),
    )
    chunks = _chunks(spoken, answer)
    first = json.dumps(words(1, characters)).encode()
    begin = next(index for index, frame in enumerate(chunks) if first in frame)
    end = begin + fragments
    return Stream(
        b"".join(chunks[:begin]), tuple(chunks[begin:end]), b"".join(chunks[end:])
    )


def calling_answer(spoken: Format, calls: Sequence[Call]) -> Stream:
    """Return the stream of an answer that calls tools, whose names are whole here."""
    named = tuple(
        ScriptedCall(name=call.tool, arguments=json.loads(call.arguments))
        for call in calls
    )
    chunks = _chunks(
        spoken,
        ScriptedAnswer(tool_calls=named, usage=ScriptedUsage(completion_tokens=9)),
    )
    return Stream(b"", (), b"".join(chunks))


def whole_message(text: str, calls: Sequence[Call]) -> bytes:
    """Return a Chat Completions answer that is not streamed."""
    message: dict[str, JsonValue] = {"role": "assistant", "content": text or None}
    if calls:
        message["tool_calls"] = [
            {
                "id": f"call_{n}",
                "type": "function",
                "function": {"name": call.tool, "arguments": call.arguments},
            }
            for n, call in enumerate(calls)
        ]
    choice: JsonValue = {
        "index": 0,
        "message": message,
        "finish_reason": "tool_calls" if calls else "stop",
    }
    usage: JsonValue = {"prompt_tokens": 0, "completion_tokens": 9, "total_tokens": 9}
    body: dict[str, JsonValue] = {
        "id": "c1",
        "object": "chat.completion",
        "created": 1,
        "model": MODEL,
        "choices": [choice],
    }
    return json.dumps({**body, "usage": usage}).encode()


def _chunks(spoken: Format, answer: ScriptedAnswer) -> list[bytes]:
    parsed = ModelRequest(MODEL, is_trial=False, streams=True)
    return list(_SERVERS[spoken](Script()).stream(answer, parsed))
