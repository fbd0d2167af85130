"""Whatever comes in, it is read or refused in words: bodies made from the specification, and bodies made worse."""

import json
from collections.abc import Callable
from itertools import count

from hypothesis import HealthCheck, given, settings, strategies as st

from custom_components.chatterbox.agent.messages import JsonObject, JsonValue
from custom_components.chatterbox.agent.responses.errors import ApiError
from custom_components.chatterbox.agent.responses.input import parse_input
from custom_components.chatterbox.agent.responses.items.encrypted_content import ContentCodec
from custom_components.chatterbox.agent.responses.request import (
    CompactRequest,
    CreateRequest,
    read_compact,
    read_create,
    read_socket_create,
)
from tests.agent.json_values import json_values

from .open_responses import misfits, schemas
from .schema_values import bodies, changed, values_of

_SLOW_TO_MAKE = settings(suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much], deadline=None)


def read(body: JsonValue) -> CreateRequest | None:
    """Read a body and what its input says; None where it was refused in words."""
    numbers = count()
    return _or_refused(lambda: _translated(read_create(body, lambda prefix: f"{prefix}_new{next(numbers)}")))


def _translated(request: CreateRequest) -> CreateRequest:
    parse_input(request.items, ContentCodec(b"a key"))
    return request


def _or_refused[T: (CreateRequest, CompactRequest)](reading: Callable[[], T]) -> T | None:
    try:
        return reading()
    except ApiError as err:
        refusal = err
    assert refusal.message.strip()
    assert refusal.status == 400
    assert json.dumps(refusal.body)
    return None


@given(values_of("CreateResponseBody"))
@_SLOW_TO_MAKE
def test_the_bodies_that_are_made_fit(body: JsonValue) -> None:
    """What makes the bodies of the tests below is right."""
    assert list(misfits(schemas()["CreateResponseBody"], body)) == []


@given(bodies())
@_SLOW_TO_MAKE
def test_bodies_of_the_specification(body: JsonObject) -> None:
    """Invariants 43, 67: what is read is echoed as the specification has it."""
    if (request := read(body)) is not None:
        echo = request.echo
        wrong = [
            text for name, schema in _response_fields() if name in echo for text in misfits(schema, echo[name], name)
        ]
        assert wrong == []
        assert json.loads(json.dumps(request.items)) == list(request.items)


@given(bodies().flatmap(changed))
@_SLOW_TO_MAKE
def test_bodies_made_worse(body: JsonValue) -> None:
    read(body)


@given(json_values() | st.dictionaries(st.sampled_from(["model", "input", "tools", "text"]), json_values()))
def test_any_json(body: JsonValue) -> None:
    read(body)


@given(st.lists(values_of("ItemParam"), max_size=5).flatmap(lambda items: changed([*items])))
@_SLOW_TO_MAKE
def test_items_made_worse(items: JsonValue) -> None:
    read({"model": "m", "input": items})


@given(values_of("CompactResponseMethodPublicBody").flatmap(changed))
@_SLOW_TO_MAKE
def test_compactions_made_worse(body: JsonValue) -> None:
    _or_refused(lambda: read_compact(body, lambda prefix: f"{prefix}_new"))


@given(bodies(), st.sampled_from(["response.create", "response.steer", None]))
@_SLOW_TO_MAKE
def test_messages_of_sockets(body: JsonObject, kind: str | None) -> None:
    request = _or_refused(lambda: read_socket_create({**body, "type": kind}, lambda prefix: f"{prefix}_new"))

    assert request is None or (request.stream and not request.background)


def _response_fields() -> list[tuple[str, JsonObject]]:
    properties = schemas()["ResponseResource"]["properties"]
    assert isinstance(properties, dict)
    return [(name, schema) for name, schema in properties.items() if isinstance(schema, dict)]
