"""What a response shows again of its request: every field, with its default where the client said nothing.

Knows how the specification wants each of them. Whatever here is never null may not be null. No secret is among them.
Source: OpenResponses specification, `ResponseResource` of 2026-04-24.
"""

from ..messages import JsonObject, JsonValue
from .request import Truncation
from .request_body import CreateBody
from .tools import RequestedTools


def echo_of(body: CreateBody, tools: RequestedTools, tool_choice: JsonValue, conversation_id: str | None) -> JsonObject:
    """Return what a response shows of its request, defaults in place of what was not said."""
    conversation: JsonObject = {} if conversation_id is None else {"conversation": {"id": conversation_id}}
    return {
        "model": body.model,
        "instructions": body.instructions,
        "previous_response_id": body.previous_response_id,
        "tools": [*tools.echo],
        "tool_choice": tool_choice,
        "parallel_tool_calls": body.parallel_tool_calls is not False,
        "max_tool_calls": body.max_tool_calls,
        "max_output_tokens": body.max_output_tokens,
        "text": _text_echo(body),
        "reasoning": {"effort": body.reasoning.effort if body.reasoning else None, "summary": body.reasoning_summary},
        "temperature": 1.0 if body.temperature is None else body.temperature,
        "top_p": 1.0 if body.top_p is None else body.top_p,
        "presence_penalty": 0.0,
        "frequency_penalty": 0.0,
        "top_logprobs": 0,
        "truncation": body.truncation or Truncation.DISABLED.value,
        "store": body.store is not False,
        "background": body.background is True,
        "service_tier": "default",
        "metadata": {**(body.metadata or {})},
        "safety_identifier": body.safety_identifier,
        "prompt_cache_key": body.prompt_cache_key,
        **conversation,
    }


def _text_echo(body: CreateBody) -> JsonObject:
    """Return `text`. A schema is not shown again: the specification wants null there."""
    wanted = body.text.format if body.text else None
    shape: JsonObject = {"type": wanted.type if wanted else "text"}
    if wanted is not None and wanted.type == "json_schema":
        about: JsonObject = {"name": wanted.name, "description": wanted.description}
        shape |= {**about, "schema": None, "strict": wanted.strict is True}
    verbosity: JsonObject = {"verbosity": body.text.verbosity} if body.text and body.text.verbosity else {}
    return {"format": shape, **verbosity}
