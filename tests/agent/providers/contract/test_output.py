"""How a service is told what shape an answer has to have, and what becomes of one that cannot keep a model to it."""

import json
from dataclasses import replace

import aiohttp
import pytest

from custom_components.chatterbox.agent.messages import JsonObject, JsonValue, ToolChoiceMode, UserMessage
from custom_components.chatterbox.agent.protocols import CompletionRequest, OutputFormat, ReasoningEffort
from custom_components.chatterbox.agent.providers.profiles import DEFAULT_OPTIONS, ModelOptions
from tests.support.doubles import tool
from tests.support.servers.raw_http import raw_http_server

from .dialect import Answer, Dialect
from .service import answered, collect, provider_of, refused, text_of

SCHEMA: JsonObject = {
    "type": "object",
    "properties": {"lamps": {"type": "integer", "minimum": 0}, "note": {"type": "string"}},
    "required": ["lamps"],
    "additionalProperties": False,
}
FREE: JsonObject = {"type": "object", "properties": {"any": {}}}
LAMPS = OutputFormat("lamps", SCHEMA)
ASKED = CompletionRequest("Be exact.", (UserMessage("How many?"),), output=LAMPS)
DATA = Answer(text=('{"lamps":', "3}"))

OPENAI_SAYS: JsonObject = {
    "type": "object",
    "properties": {
        "lamps": {"type": "integer", "minimum": 0},
        "note": {"anyOf": [{"type": "string"}, {"type": "null"}]},
    },
    "required": ["lamps", "note"],
    "additionalProperties": False,
}
ANTHROPIC_SAYS: JsonObject = {
    "type": "object",
    "properties": {"lamps": {"type": "integer"}, "note": {"type": "string"}},
    "required": ["lamps"],
    "additionalProperties": False,
}
STRICTLY: dict[str, JsonObject] = {
    "openai_chat": {
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "lamps", "schema": OPENAI_SAYS, "strict": True},
        }
    },
    "openai_responses": {
        "text": {"format": {"type": "json_schema", "name": "lamps", "schema": OPENAI_SAYS, "strict": True}}
    },
    "anthropic_messages": {"output_config": {"format": {"type": "json_schema", "schema": ANTHROPIC_SAYS}}},
    "ollama_chat": {"format": SCHEMA},
}
FREELY: dict[str, JsonObject] = {
    "openai_chat": {
        "response_format": {"type": "json_schema", "json_schema": {"name": "lamps", "schema": FREE, "strict": False}}
    },
    "openai_responses": {"text": {"format": {"type": "json_schema", "name": "lamps", "schema": FREE, "strict": False}}},
    "anthropic_messages": {},
    "ollama_chat": {"format": FREE},
}
REFUSALS = {
    "openai_chat": "Invalid parameter: 'response_format' of type 'json_schema' is not supported with this model.",
    "openai_responses": "Invalid parameter: 'text.format' of type 'json_schema' is not supported with this model.",
    "anthropic_messages": "output_config.format: structured outputs are not supported by this model",
    "ollama_chat": "format is not supported by this model",
}
FIELDS = frozenset({"response_format", "text", "output_config", "format"})


def said(body: bytes) -> JsonObject:
    """Return what of a request is about the shape of its answer."""
    payload: dict[str, JsonValue] = json.loads(body)
    return {name: value for name, value in payload.items() if name in FIELDS}


async def asked(
    dialect: Dialect,
    session: aiohttp.ClientSession,
    request: CompletionRequest,
    options: ModelOptions = DEFAULT_OPTIONS,
) -> JsonObject:
    """Return what a request says about the shape of its answer."""
    async with raw_http_server(answered(dialect, DATA)) as server:
        assert text_of(await collect(provider_of(dialect, server, session, options=options), request)) == '{"lamps":3}'
        return said(server.requests[-1].body)


async def test_a_shape_is_enforced(dialect: Dialect, session: aiohttp.ClientSession) -> None:
    assert await asked(dialect, session, ASKED) == STRICTLY[dialect.name]
    assert await asked(dialect, session, replace(ASKED, output=None)) == {}


async def test_a_shape_that_cannot_be_guaranteed_is_said_as_far_as_it_goes(
    dialect: Dialect, session: aiohttp.ClientSession
) -> None:
    request = replace(ASKED, output=OutputFormat("lamps", FREE))

    assert await asked(dialect, session, request) == FREELY[dialect.name]


async def test_tools_can_be_called_before_the_answer(dialect: Dialect, session: aiohttp.ClientSession) -> None:
    free = replace(ASKED, tools=(tool("look"),))
    last = replace(free, tool_choice=ToolChoiceMode.NONE)
    can_do_both = dialect.name in {"openai_responses", "anthropic_messages"}

    assert await asked(dialect, session, free) == (STRICTLY[dialect.name] if can_do_both else {})
    assert await asked(dialect, session, last) == STRICTLY[dialect.name]


async def test_other_wishes_stay(dialect: Dialect, session: aiohttp.ClientSession) -> None:
    wishes = await asked(dialect, session, ASKED, ModelOptions(reasoning_effort=ReasoningEffort.LOW))

    match dialect.name:
        case "anthropic_messages":
            assert wishes == {"output_config": {**_object(STRICTLY[dialect.name]["output_config"]), "effort": "low"}}
        case _:
            assert wishes == STRICTLY[dialect.name]


def _object(value: JsonValue) -> JsonObject:
    assert isinstance(value, dict)
    return value


@pytest.mark.parametrize("words", ["its own", "This model does not support structured outputs."])
async def test_a_service_that_refuses_a_shape_is_asked_without(
    dialect: Dialect, session: aiohttp.ClientSession, words: str
) -> None:
    refusal = refused(dialect, 400, REFUSALS[dialect.name] if words == "its own" else words)
    async with raw_http_server(refusal, answered(dialect, DATA), answered(dialect, DATA)) as server:
        provider = provider_of(dialect, server, session)
        assert text_of(await collect(provider, ASKED)) == '{"lamps":3}'
        await collect(provider, ASKED)

    assert [said(request.body) for request in server.requests] == [STRICTLY[dialect.name], {}, {}]
