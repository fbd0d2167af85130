"""How a service is told what shape an answer has to have, and what becomes of one that cannot keep a model to it."""

import json
from dataclasses import replace

import aiohttp
import pytest

from custom_components.chatterbox.agent.messages import (
    JsonObject,
    JsonValue,
    ToolChoiceMode,
    UserMessage,
)
from custom_components.chatterbox.agent.protocols import (
    CompletionRequest,
    OutputFormat,
    ReasoningEffort,
)
from custom_components.chatterbox.agent.providers.profiles import (
    DEFAULT_OPTIONS,
    ModelOptions,
)
from tests.support.doubles import tool
from tests.support.servers.raw_http import raw_http_server

from .conversation import FREE, LAMPS
from .dialect import Answer, Dialect
from .service import answered, collect, provider_of, refused, text_of

OUTPUT = OutputFormat("lamps", LAMPS)
ASKED = CompletionRequest("Be exact.", (UserMessage("How many?"),), output=OUTPUT)
DATA = Answer(text=('{"lamps":', "3}"))

FIELDS = frozenset({"response_format", "text", "output_config", "format"})


def shape_of(body: bytes) -> JsonObject:
    """Return what of a request is about the shape of its answer."""
    payload: dict[str, JsonValue] = json.loads(body)
    return {name: value for name, value in payload.items() if name in FIELDS}


async def sent_shape(
    dialect: Dialect,
    session: aiohttp.ClientSession,
    request: CompletionRequest,
    options: ModelOptions = DEFAULT_OPTIONS,
) -> JsonObject:
    """Return what a request says about the shape of its answer."""
    async with raw_http_server(answered(dialect, DATA)) as server:
        assert (
            text_of(
                await collect(
                    provider_of(dialect, server, session, options=options), request
                )
            )
            == '{"lamps":3}'
        )
        return shape_of(server.requests[-1].body)


async def test_a_shape_is_enforced(
    dialect: Dialect, session: aiohttp.ClientSession
) -> None:
    assert await sent_shape(dialect, session, ASKED) == dialect.strict_output()
    assert await sent_shape(dialect, session, replace(ASKED, output=None)) == {}


async def test_a_shape_that_cannot_be_guaranteed_is_said_as_far_as_it_goes(
    dialect: Dialect, session: aiohttp.ClientSession
) -> None:
    request = replace(ASKED, output=OutputFormat("lamps", FREE))

    assert await sent_shape(dialect, session, request) == dialect.free_output()


async def test_tools_can_be_called_before_the_answer(
    dialect: Dialect, session: aiohttp.ClientSession
) -> None:
    free = replace(ASKED, tools=(tool("look"),))
    last = replace(free, tool_choice=ToolChoiceMode.NONE)

    assert await sent_shape(dialect, session, free) == (
        dialect.strict_output() if dialect.output_beside_tools else {}
    )
    assert await sent_shape(dialect, session, last) == dialect.strict_output()


async def test_other_wishes_stay(
    dialect: Dialect, session: aiohttp.ClientSession
) -> None:
    wishes = await sent_shape(
        dialect, session, ASKED, ModelOptions(reasoning_effort=ReasoningEffort.LOW)
    )

    match dialect.name:
        case "anthropic_messages":
            assert wishes == {
                "output_config": {
                    **_object(dialect.strict_output()["output_config"]),
                    "effort": "low",
                }
            }
        case _:
            assert wishes == dialect.strict_output()


def _object(value: JsonValue) -> JsonObject:
    assert isinstance(value, dict)
    return value


@pytest.mark.parametrize(
    "words", ["its own", "This model does not support structured outputs."]
)
async def test_a_service_that_refuses_a_shape_is_asked_without(
    dialect: Dialect, session: aiohttp.ClientSession, words: str
) -> None:
    refusal = refused(
        dialect, 400, dialect.output_refusal if words == "its own" else words
    )
    async with raw_http_server(
        refusal, answered(dialect, DATA), answered(dialect, DATA)
    ) as server:
        provider = provider_of(dialect, server, session)
        assert text_of(await collect(provider, ASKED)) == '{"lamps":3}'
        await collect(provider, ASKED)

    assert [shape_of(request.body) for request in server.requests] == [
        dialect.strict_output(),
        {},
        {},
    ]
