"""The Responses API, from the service's side.

Source: OpenAI API reference, "Create a model response" and "Streaming events", and its
guide on encrypted reasoning; the OpenResponses specification.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import ClassVar

from custom_components.chatterbox.agent.messages import (
    FinishReason,
    JsonObject,
    JsonValue,
    ProviderItem,
    ToolCall,
    Transcript,
    Usage,
)
from custom_components.chatterbox.agent.protocols import (
    CompletionRequest,
    ReasoningEffort,
)
from custom_components.chatterbox.agent.providers.http_provider import HTTPProvider
from custom_components.chatterbox.agent.providers.openai_responses import (
    OpenAIResponsesProvider,
)
from custom_components.chatterbox.agent.providers.profiles import ModelOptions
from custom_components.chatterbox.agent.wire.openai_responses import (
    ResponsesReplyReader,
    request_to_payload,
)

from .conversation import FREE, STRICT_LAMPS
from .dialect import KEY, MODEL, Answer, Refusal

_INCOMPLETE = {
    FinishReason.LENGTH: "max_output_tokens",
    FinishReason.CONTENT_FILTER: "content_filter",
    FinishReason.UNKNOWN: "steered",
}
_REASONING: JsonObject = {
    "id": "rs_1",
    "type": "reasoning",
    "summary": [{"type": "summary_text", "text": "Two things are wanted."}],
    "encrypted_content": "gAAA",
}


class OpenAIResponsesDialect:
    """OpenAI, and servers that follow it."""

    name: ClassVar[str] = "openai_responses"
    content_type: ClassVar[str] = "text/event-stream; charset=utf-8"
    completion_target: ClassVar[str] = "/v1/responses"
    models_target: ClassVar[str] = "/v1/models"
    carries_call_ids: ClassVar[bool] = True
    has_json_arguments: ClassVar[bool] = False
    can_forbid_calls: ClassVar[bool] = True
    finish_reasons: ClassVar[frozenset[FinishReason]] = frozenset(FinishReason) - {
        FinishReason.REPETITION
    }
    refusal: ClassVar[Refusal] = Refusal(
        ModelOptions(temperature=0.5, reasoning_effort=ReasoningEffort.MINIMAL),
        ("reasoning", "effort"),
        b'{"error":{"message":"Unsupported value: \'reasoning.effort\' does not support \'minimal\' with this model.",'
        b'"type":"invalid_request_error","param":"reasoning.effort","code":"unsupported_value"}}',
    )

    length: ClassVar[tuple[str, ...]] = ("max_output_tokens",)
    medium_effort: ClassVar[JsonObject] = {"reasoning": {"effort": "medium"}}
    low_verbosity: ClassVar[JsonObject] = {"text": {"verbosity": "low"}}
    single_calls: ClassVar[JsonObject] = {"parallel_tool_calls": False}
    output_beside_tools: ClassVar[bool] = True
    output_refusal: ClassVar[str] = (
        "Invalid parameter: 'text.format' of type 'json_schema' is not supported with this model."
    )

    provider_class: ClassVar[type[HTTPProvider]] = OpenAIResponsesProvider

    def reader(self, transcript: Transcript) -> ResponsesReplyReader:
        return ResponsesReplyReader(transcript, MODEL)

    def payload(self, request: CompletionRequest) -> JsonObject:
        return request_to_payload(request, MODEL)

    def render(self, answer: Answer) -> bytes:
        events = [*_opening(), *_output(answer), _ending(answer)]
        return (
            b"".join(_event(event, number) for number, event in enumerate(events))
            + b"data: [DONE]\n\n"
        )

    def finished_after(self, stream: bytes) -> int:
        return len(stream) - len(b"data: [DONE]\n\n")

    def render_failure(self, message: str) -> bytes:
        error: JsonObject = {
            "type": "error",
            "code": "server_error",
            "message": message,
            "param": None,
        }
        failed: JsonObject = {"code": "server_error", "message": message}
        response: JsonObject = {
            "status": "failed",
            "error": failed,
            "output": [],
            "usage": None,
        }
        return _event(error, 7) + _event(
            {"type": "response.failed", "response": response}, 8
        )

    def render_error(self, status: int, message: str) -> bytes:
        return json.dumps(
            {
                "error": {
                    "message": message,
                    "type": "error",
                    "param": None,
                    "code": status,
                }
            }
        ).encode()

    def model_list(self, names: Sequence[str]) -> bytes:
        models = [
            {"id": name, "object": "model", "created": 1, "owned_by": "me"}
            for name in names
        ]
        return json.dumps({"object": "list", "data": models}).encode()

    def reported(self, usage: Usage) -> Usage:
        return usage

    def key_header(self) -> tuple[str, str]:
        return "authorization", f"Bearer {KEY}"

    def instructions(self, payload: JsonObject) -> str:
        return str(payload.get("instructions", ""))

    def history(self, payload: JsonObject) -> list[JsonValue]:
        items = payload["input"]
        assert isinstance(items, list)
        return items

    def items(self) -> tuple[ProviderItem, ...]:
        block: JsonObject = {"model": MODEL, "item": _REASONING}
        return (
            ProviderItem(
                "openai_responses", {"block": block, "text": 0, "calls": 0, "skip": 0}
            ),
        )

    def strict_output(self) -> JsonObject:
        return {
            "text": {
                "format": {
                    "type": "json_schema",
                    "name": "lamps",
                    "schema": STRICT_LAMPS,
                    "strict": True,
                }
            }
        }

    def free_output(self) -> JsonObject:
        return {
            "text": {
                "format": {
                    "type": "json_schema",
                    "name": "lamps",
                    "schema": FREE,
                    "strict": False,
                }
            }
        }

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
            "store": False,
            "include": ["reasoning.encrypted_content"],
            "instructions": "Be brief.",
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
            "parallel_tool_calls": True,
            "input": [
                _user("Turn on the light, and what's the weather?"),
                _REASONING,
                _assistant("One moment."),
                _call("call00001", "turn_on", '{"name":"Früh 💡"}'),
                _call("call00002", "weather", "{}"),
                _result("call00001", '{"done":true}'),
                _result("call00002", "the weather is not known"),
                _call("call00003", "weather", "{}"),
                _result("call00003", "sunny"),
                _assistant("It is on."),
                _user("Thanks"),
                _user("Answer now."),
            ],
        }

    def expected_round_trip(self) -> list[JsonValue]:
        return [
            _user("Hi"),
            _REASONING,
            _assistant("One moment."),
            _call("call00001", "turn_on", '{"name":"hall"}'),
            _call("call00002", "weather", "{}"),
            _result("call00001", '{"done":true}'),
            _result("call00002", "sunny"),
        ]

    def expected_attachments(self) -> JsonValue:
        return {
            "type": "message",
            "role": "user",
            "content": [
                {"type": "input_text", "text": "What is this?"},
                {
                    "type": "input_image",
                    "image_url": "data:image/png;base64,iVBORw==",
                    "detail": "auto",
                },
                {
                    "type": "input_file",
                    "filename": "bill.pdf",
                    "file_data": "data:application/pdf;base64,JVBERi0xLjc=",
                },
                {
                    "type": "input_text",
                    "text": "[A file of type audio/wav named noise.wav was attached here."
                    " You cannot see it: say so if it matters.]",
                },
            ],
        }

    def expected_options(self) -> JsonObject:
        return {
            "temperature": 0.5,
            "top_p": 0.9,
            "max_output_tokens": 300,
            "reasoning": {"effort": "low"},
            "custom": {"a": [1]},
        }


def _function(function: JsonObject) -> JsonObject:
    return {"type": "function", **function, "strict": False}


def _user(text: str) -> JsonObject:
    return {
        "type": "message",
        "role": "user",
        "content": [{"type": "input_text", "text": text}],
    }


def _assistant(text: str) -> JsonObject:
    return {
        "type": "message",
        "role": "assistant",
        "content": [{"type": "output_text", "text": text}],
    }


def _call(call_id: str, name: str, arguments: str) -> JsonObject:
    return {
        "type": "function_call",
        "call_id": call_id,
        "name": name,
        "arguments": arguments,
    }


def _result(call_id: str, output: str) -> JsonObject:
    return {"type": "function_call_output", "call_id": call_id, "output": output}


def _event(event: JsonObject, number: int) -> bytes:
    data = json.dumps({**event, "sequence_number": number}, ensure_ascii=False)
    return f"event: {event['type']}\ndata: {data}\n\n".encode()


def _opening() -> Iterator[JsonObject]:
    for status in ("created", "in_progress"):
        response: JsonObject = {
            "id": "resp_1",
            "object": "response",
            "status": "in_progress",
            "output": [],
        }
        yield {"type": f"response.{status}", "response": response}


def _output(answer: Answer) -> Iterator[JsonObject]:
    index = 0
    if answer.reasoning:
        yield from _reasoning(answer.reasoning, index)
        index += 1
    for number, (query, pages) in enumerate(answer.searches.items()):
        yield from _search(number, query, pages, index)
        index += 1
    if answer.text:
        yield from _message(answer.text, index)
        index += 1
    for place, call in enumerate(answer.calls, start=index):
        yield from _function_call(call, place)


def _reasoning(pieces: Sequence[str], index: int) -> Iterator[JsonObject]:
    place: JsonObject = {"item_id": "rs_1", "output_index": index, "summary_index": 0}
    part: JsonObject = {"type": "summary_text", "text": "".join(pieces)}
    item: JsonObject = {
        "id": "rs_1",
        "type": "reasoning",
        "summary": [],
        "encrypted_content": "gA",
    }
    whole: JsonObject = {**item, "summary": [part], "encrypted_content": "gAAA"}
    yield {"type": "response.output_item.added", "output_index": index, "item": item}
    yield {
        "type": "response.reasoning_summary_part.added",
        **place,
        "part": {"type": "summary_text", "text": ""},
    }
    for piece in pieces:
        yield {"type": "response.reasoning_summary_text.delta", **place, "delta": piece}
    yield {
        "type": "response.reasoning_summary_text.done",
        **place,
        "text": part["text"],
    }
    yield {"type": "response.reasoning_summary_part.done", **place, "part": part}
    yield {"type": "response.output_item.done", "output_index": index, "item": whole}


def _search(
    number: int, query: str, pages: Mapping[str, str], index: int
) -> Iterator[JsonObject]:
    place: JsonObject = {"item_id": f"ws_{number}", "output_index": index}
    item: JsonObject = {"id": f"ws_{number}", "type": "web_search_call"}
    sources: JsonValue = [{"type": "url", "url": url} for url in pages]
    action: JsonObject = {"type": "search", "query": query, "sources": sources}
    begun: JsonObject = {**item, "status": "in_progress"}
    whole: JsonObject = {**item, "status": "completed", "action": action}
    yield {"type": "response.output_item.added", "output_index": index, "item": begun}
    for state in ("in_progress", "searching", "completed"):
        yield {"type": f"response.web_search_call.{state}", **place}
    yield {"type": "response.output_item.done", "output_index": index, "item": whole}


def _message(pieces: Sequence[str], index: int) -> Iterator[JsonObject]:
    place: JsonObject = {"item_id": "msg_1", "output_index": index, "content_index": 0}
    part: JsonObject = {
        "type": "output_text",
        "text": "".join(pieces),
        "annotations": [],
        "logprobs": [],
    }
    item: JsonObject = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "status": "in_progress",
        "content": [],
    }
    yield {"type": "response.output_item.added", "output_index": index, "item": item}
    yield {"type": "response.content_part.added", **place, "part": {**part, "text": ""}}
    for piece in pieces:
        yield {
            "type": "response.output_text.delta",
            **place,
            "delta": piece,
            "logprobs": [],
            "obfuscation": "x7",
        }
    yield {
        "type": "response.output_text.done",
        **place,
        "text": part["text"],
        "logprobs": [],
    }
    yield {"type": "response.content_part.done", **place, "part": part}
    whole: JsonObject = {**item, "status": "completed", "content": [part]}
    yield {"type": "response.output_item.done", "output_index": index, "item": whole}


def _function_call(call: ToolCall, index: int) -> Iterator[JsonObject]:
    place: JsonObject = {"item_id": f"fc_{index}", "output_index": index}
    item: JsonObject = {
        "id": f"fc_{index}",
        "status": "in_progress",
        **_call(call.id, call.name, ""),
    }
    yield {"type": "response.output_item.added", "output_index": index, "item": item}
    for start in range(0, len(call.arguments), 7):
        piece = call.arguments[start : start + 7]
        yield {
            "type": "response.function_call_arguments.delta",
            **place,
            "delta": piece,
            "obfuscation": "q",
        }
    yield {
        "type": "response.function_call_arguments.done",
        **place,
        "arguments": call.arguments,
    }
    whole: JsonObject = {**item, "status": "completed", "arguments": call.arguments}
    yield {"type": "response.output_item.done", "output_index": index, "item": whole}


def _ending(answer: Answer) -> JsonObject:
    status = "incomplete" if answer.finish in _INCOMPLETE else "completed"
    usage: JsonObject = {
        "input_tokens": answer.usage.input_tokens,
        "input_tokens_details": {"cached_tokens": answer.usage.cached_tokens},
        "output_tokens": answer.usage.output_tokens,
        "output_tokens_details": {"reasoning_tokens": answer.usage.reasoning_tokens},
        "total_tokens": answer.usage.input_tokens + answer.usage.output_tokens,
    }
    response: JsonObject = {
        "id": "resp_1",
        "object": "response",
        "status": status,
        "error": None,
        "incomplete_details": {"reason": _INCOMPLETE[answer.finish]}
        if status == "incomplete"
        else None,
        "output": [
            event["item"]
            for event in _output(answer)
            if event["type"] == "response.output_item.done"
        ],
        "usage": usage,
    }
    return {"type": f"response.{status}", "response": response}
