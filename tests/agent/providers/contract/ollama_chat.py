"""Ollama's own chat format, from the service's side.

Source: Ollama's API documentation, "Chat request (Streaming)", "Chat request (With
history, with tools)", "List local models", "Errors".
"""

import json
from collections.abc import Iterator, Sequence
from typing import ClassVar

from custom_components.chatterbox.agent.messages import (
    FinishReason,
    JsonObject,
    JsonValue,
    ProviderItem,
    Transcript,
    Usage,
)
from custom_components.chatterbox.agent.protocols import (
    CompletionRequest,
    ReasoningEffort,
)
from custom_components.chatterbox.agent.providers.http_provider import HTTPProvider
from custom_components.chatterbox.agent.providers.ollama_chat import OllamaChatProvider
from custom_components.chatterbox.agent.providers.profiles import ModelOptions
from custom_components.chatterbox.agent.wire.ollama_chat import (
    OllamaReplyReader,
    request_to_payload,
)

from .conversation import FREE, LAMPS
from .dialect import KEY, MODEL, Answer, Refusal, SystemMessageFirst

_DONE_REASONS = {
    FinishReason.STOP: "stop",
    FinishReason.TOOL_CALLS: "stop",
    FinishReason.LENGTH: "length",
    FinishReason.UNKNOWN: "unload",
}


class OllamaChatDialect(SystemMessageFirst):
    """A server of Ollama's, or one that imitates it."""

    name: ClassVar[str] = "ollama_chat"
    content_type: ClassVar[str] = "application/x-ndjson"
    completion_target: ClassVar[str] = "/api/chat"
    models_target: ClassVar[str] = "/api/tags"
    carries_call_ids: ClassVar[bool] = True
    has_json_arguments: ClassVar[bool] = True
    can_forbid_calls: ClassVar[bool] = False
    finish_reasons: ClassVar[frozenset[FinishReason]] = frozenset(_DONE_REASONS)
    refusal: ClassVar[Refusal] = Refusal(
        ModelOptions(reasoning_effort=ReasoningEffort.HIGH),
        ("think",),
        b'{"error":"\\"small-1\\" does not support thinking"}',
    )

    length: ClassVar[tuple[str, ...]] = ("options", "num_predict")
    medium_effort: ClassVar[JsonObject] = {"think": "medium"}
    low_verbosity: ClassVar[JsonObject] = {}
    single_calls: ClassVar[JsonObject] = {}
    output_beside_tools: ClassVar[bool] = False
    output_refusal: ClassVar[str] = "format is not supported by this model"

    provider_class: ClassVar[type[HTTPProvider]] = OllamaChatProvider

    def reader(self, transcript: Transcript) -> OllamaReplyReader:
        return OllamaReplyReader(transcript)

    def payload(self, request: CompletionRequest) -> JsonObject:
        return request_to_payload(request, MODEL)

    def render(self, answer: Answer) -> bytes:
        return b"".join(_line(chunk) for chunk in _chunks(answer))

    def finished_after(self, stream: bytes) -> int:
        return len(stream) - 1  # all but the end of the last line

    def render_failure(self, message: str) -> bytes:
        return _line({"error": message})

    def render_error(self, status: int, message: str) -> bytes:  # noqa: ARG002  # Ollama does not repeat it
        return json.dumps({"error": message}).encode()

    def model_list(self, names: Sequence[str]) -> bytes:
        models = [
            {"name": name, "model": name, "size": 1, "details": {"family": "llama"}}
            for name in names
        ]
        return json.dumps({"models": models}).encode()

    def reported(self, usage: Usage) -> Usage:
        return Usage(usage.input_tokens, usage.output_tokens)

    def key_header(self) -> tuple[str, str]:
        return "authorization", f"Bearer {KEY}"

    def items(self) -> tuple[ProviderItem, ...]:
        return ()

    def strict_output(self) -> JsonObject:
        return {"format": LAMPS}

    def free_output(self) -> JsonObject:
        return {"format": FREE}

    def expected_conversation(self) -> JsonObject:
        light: JsonObject = {
            "type": "object",
            "properties": {"name": {"type": "string"}},
            "required": ["name"],
        }
        nothing: JsonObject = {"type": "object", "properties": {}}
        return {
            "model": MODEL,
            "stream": True,
            "truncate": False,
            "tools": [
                _function(
                    {
                        "name": "turn_on",
                        "description": "Turns things on.",
                        "parameters": light,
                    }
                ),
                _function(
                    {
                        "name": "weather",
                        "description": "Tells the weather.",
                        "parameters": nothing,
                    }
                ),
            ],
            "messages": [
                {"role": "system", "content": "Be brief."},
                {
                    "role": "user",
                    "content": "Turn on the light, and what's the weather?",
                },
                {
                    "role": "assistant",
                    "content": "One moment.",
                    "thinking": "Two things are wanted.",
                    "tool_calls": [
                        {
                            "id": "call00001",
                            "function": {
                                "name": "turn_on",
                                "arguments": {"name": "Früh 💡"},
                            },
                        },
                        {
                            "id": "call00002",
                            "function": {"name": "weather", "arguments": {}},
                        },
                    ],
                },
                {
                    "role": "tool",
                    "tool_name": "turn_on",
                    "tool_call_id": "call00001",
                    "content": '{"done":true}',
                },
                {
                    "role": "tool",
                    "tool_name": "weather",
                    "tool_call_id": "call00002",
                    "content": "the weather is not known",
                },
                {
                    "role": "assistant",
                    "content": "",
                    "tool_calls": [
                        {
                            "id": "call00003",
                            "function": {"name": "weather", "arguments": {}},
                        }
                    ],
                },
                {
                    "role": "tool",
                    "tool_name": "weather",
                    "tool_call_id": "call00003",
                    "content": "sunny",
                },
                {"role": "assistant", "content": "It is on."},
                {"role": "user", "content": "Thanks"},
                {"role": "user", "content": "Answer now."},
            ],
        }

    def expected_round_trip(self) -> list[JsonValue]:
        return [
            {"role": "user", "content": "Hi"},
            {
                "role": "assistant",
                "content": "One moment.",
                "thinking": "Two things are wanted.",
                "tool_calls": [
                    {
                        "id": "call00001",
                        "function": {"name": "turn_on", "arguments": {"name": "hall"}},
                    },
                    {
                        "id": "call00002",
                        "function": {"name": "weather", "arguments": {}},
                    },
                ],
            },
            {
                "role": "tool",
                "tool_name": "turn_on",
                "tool_call_id": "call00001",
                "content": '{"done":true}',
            },
            {
                "role": "tool",
                "tool_name": "weather",
                "tool_call_id": "call00002",
                "content": "sunny",
            },
        ]

    def expected_attachments(self) -> JsonValue:
        return {
            "role": "user",
            "content": "What is this?\n"
            "[A file of type application/pdf named bill.pdf was attached here."
            " You cannot see it: say so if it matters.]\n"
            "[A file of type audio/wav named noise.wav was attached here. You cannot see it: say so if it matters.]",
            "images": ["iVBORw=="],
        }

    def expected_options(self) -> JsonObject:
        return {
            "options": {"temperature": 0.5, "top_p": 0.9, "num_predict": 300},
            "think": "low",
            "custom": {"a": [1]},
        }


def _function(function: JsonObject) -> JsonObject:
    return {"type": "function", "function": function}


def _chunks(answer: Answer) -> Iterator[JsonObject]:
    for piece in answer.reasoning:
        yield _chunk({"role": "assistant", "content": "", "thinking": piece})
    for piece in answer.text:
        yield _chunk({"role": "assistant", "content": piece})
    for index, call in enumerate(answer.calls):
        function: JsonObject = {
            "index": index,
            "name": call.name,
            "arguments": json.loads(call.arguments),
        }
        yield _chunk(
            {
                "role": "assistant",
                "content": "",
                "tool_calls": [{"id": call.id, "function": function}],
            }
        )
    yield {
        **_chunk({"role": "assistant", "content": ""}),
        "done": True,
        "done_reason": _DONE_REASONS[answer.finish],
        "total_duration": 4883583458,
        "load_duration": 1334875,
        "prompt_eval_count": answer.usage.input_tokens,
        "prompt_eval_duration": 342546000,
        "eval_count": answer.usage.output_tokens,
        "eval_duration": 4535599000,
    }


def _chunk(message: JsonObject) -> JsonObject:
    return {
        "model": MODEL,
        "created_at": "2026-08-04T08:52:19.385406455Z",
        "message": message,
        "done": False,
    }


def _line(chunk: JsonObject) -> bytes:
    return json.dumps(chunk, ensure_ascii=False).encode() + b"\n"
