"""Large bodies are read in a thread, one at a time; what has more values than any request needs is read no further."""

import asyncio
import json
import threading
from collections.abc import Callable

import pytest

from custom_components.chatterbox.agent.messages import JsonObject, JsonValue
from custom_components.chatterbox.responses.protocol.body import BodyReader, parse_text
from custom_components.chatterbox.responses.protocol.errors import ApiError, invalid
from custom_components.chatterbox.responses.protocol.service import ResponsesService
from tests.responses.protocol.backend_double import ANNA, BackendDouble
from tests.responses.protocol.service_talk import function, request

LARGE = 50_000


class Readings:
    """Readings that last until they are let go."""

    def __init__(self) -> None:
        self.at_once = self.most_at_once = 0
        self.threads = set[int]()
        self.begun = asyncio.Event()
        self.let_go = threading.Event()
        self._loop = asyncio.get_running_loop()

    def read(self) -> str:
        """Read, which takes its time."""
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        self.threads.add(threading.get_ident())
        self._loop.call_soon_threadsafe(self.begun.set)
        self.let_go.wait(300)
        self.at_once -= 1
        return "read"


async def test_a_large_body_is_read_beside_the_event_loop_and_alone() -> None:
    bodies, readings = BodyReader(), Readings()

    reading = asyncio.gather(*(bodies.read(LARGE, readings.read) for _ in range(5)))
    await readings.begun.wait()
    assert await bodies.read(10, lambda: "small") == "small", (
        "a small one does not wait"
    )
    readings.let_go.set()

    assert await reading == ["read"] * 5
    assert readings.most_at_once == 1
    assert threading.get_ident() not in readings.threads


async def test_a_body_whose_client_has_left_is_waited_for_by_the_next_one() -> None:
    bodies, readings = BodyReader(), Readings()
    left = asyncio.create_task(bodies.read(LARGE, readings.read))
    await readings.begun.wait()

    left.cancel()
    following = asyncio.create_task(bodies.read(LARGE, readings.read))
    readings.let_go.set()

    assert await following == "read"
    assert left.cancelled()
    assert readings.most_at_once == 1


async def test_what_is_wrong_with_a_large_body_is_told() -> None:
    def wrong() -> str:
        raise invalid("No.")

    with pytest.raises(ApiError, match="No"):
        await BodyReader().read(LARGE, wrong)


MANY: dict[str, tuple[Callable[[], JsonObject], str | None]] = {
    "values": (
        lambda: request([[[]] * 200 for _ in range(300)]),
        "more than 100000 values; send fewer",
    ),
    "unknown fields": (
        lambda: request(**{f"f{number}": 1 for number in range(5_000)}),
        "more than 4096 entries",
    ),
    "unknown fields of a part": (
        lambda: _with_text({f"f{number}": 1 for number in range(5_000)}),
        "4096 entries",
    ),
    "names of tools": (lambda: request(include=[1] * 5_000), "4096 entries"),
    "a schema": (
        lambda: _with_text({"format": _format(_any_of(60, 100))}),
        "'text.format.schema' is too large",
    ),
    "a schema in one place": (
        lambda: _with_text({"format": _format(_any_of(1, 60_000))}),
        "more than",
    ),
    "functions": (
        lambda: request(
            tools=[
                {**function(f"f{number}"), "parameters": _any_of(1, 100)}
                for number in range(60)
            ]
        ),
        "'tools' is too large",
    ),
    "nothing": (lambda: _with_text({"format": _format(_any_of(20, 100))}), None),
}


@pytest.mark.parametrize("name", MANY)
async def test_what_there_is_too_much_of_is_refused_by_name(name: str) -> None:
    """A request with too much is refused before any of it is validated, and the error says what to do."""
    make, problem = MANY[name]
    service, body = (
        ResponsesService(BackendDouble()),
        json.dumps({**make(), "model": "conversation.attic"}),
    )

    with pytest.raises(ApiError) as refused:
        await service.create(body, ANNA)

    if problem is None:
        assert refused.value.code == "model_not_found", "all else is fine"
    else:
        assert problem in refused.value.message
        assert "send fewer" in refused.value.message


async def test_the_first_unknown_field_is_named_whatever_else_is_wrong() -> None:
    with pytest.raises(ApiError, match="Unknown parameter: 'colour'"):
        await ResponsesService(BackendDouble()).create(
            json.dumps({"model": 1, "colour": 2, "taste": 3}), ANNA
        )


def test_json_of_many_values_is_not_even_parsed() -> None:
    """It is no JSON at its end, which nobody notices."""
    with pytest.raises(ApiError, match="more than 100000 values"):
        parse_text("[" + "[]," * 100_001)


@pytest.mark.parametrize(
    "value", [r'"half \ud83d"', "NaN", "Infinity", "[" * 60 + "]" * 60]
)
def test_what_could_not_be_written_down_is_refused(value: str) -> None:
    with pytest.raises(ApiError, match="This is no JSON that can be used") as refused:
        parse_text(f'{{"input": {value}}}')
    assert refused.value.code == "invalid_json"


def _with_text(text: JsonObject) -> JsonObject:
    return {**request(), "text": text}


def _any_of(properties: int, schemas: int) -> JsonObject:
    wide: JsonValue = [{"type": "string"}] * schemas
    return {
        "type": "object",
        "properties": {f"p{number}": {"anyOf": wide} for number in range(properties)},
    }


def _format(schema: JsonObject) -> JsonObject:
    return {"type": "json_schema", "name": "n", "schema": schema}
