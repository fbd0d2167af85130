"""Whatever comes in, the service answers it or refuses it in words: nothing of a request breaks it."""

import json
from collections.abc import AsyncGenerator

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from custom_components.chatterbox.agent.messages import JsonObject, JsonValue
from custom_components.chatterbox.responses.protocol.errors import ApiError
from custom_components.chatterbox.responses.protocol.service import ResponsesService
from tests.agent.json_values import json_values
from tests.responses.protocol.backend_double import ANNA, KITCHEN, BackendDouble
from tests.responses.protocol.schema_values import bodies, changed, values_of
from tests.responses.protocol.valid_stream import check_resource, check_stream
from tests.support.doubles import ScriptedProvider, say
from tests.support.thorough import some_examples

_SLOW_TO_MAKE = settings(
    max_examples=some_examples(100),
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)


async def answer(body: JsonValue) -> None:
    """Ask, and hold what comes to the specification."""
    backend = BackendDouble(ScriptedProvider(*(say("Hello.") for _ in range(12))))
    refusal: ApiError | None = None
    try:
        await _check(await ResponsesService(backend).create(json.dumps(body), ANNA))
    except ApiError as error:
        refusal = error
    await backend.shut_down()
    assert refusal is None or refusal.status in {400, 404}
    assert refusal is None or json.dumps(refusal.payload)
    assert backend.taking == 0


async def _check(made: JsonObject | AsyncGenerator[JsonObject]) -> None:
    if isinstance(made, AsyncGenerator):
        check_stream([event async for event in made])
    else:
        check_resource(made)


@given(bodies())
@_SLOW_TO_MAKE
async def test_bodies_of_the_specification_are_answered_or_refused(
    body: dict[str, JsonValue],
) -> None:
    """Invariants 14, 43, 67."""
    await answer({**body, "model": KITCHEN})


@pytest.mark.parametrize(
    "bodies_of_a_kind",
    [
        pytest.param(
            st.builds(
                lambda model, body: {**body, "model": model}, st.just(KITCHEN), bodies()
            ).flatmap(changed)
            | st.lists(values_of("ItemParam"), max_size=5).map(
                lambda items: {"model": KITCHEN, "input": [*items]}
            ),
            id="bodies made worse",
        ),
        pytest.param(
            json_values()
            | st.dictionaries(
                st.sampled_from(["model", "input", "tools", "text"]), json_values()
            ),
            id="any JSON",
        ),
    ],
)
@given(st.data())
@_SLOW_TO_MAKE
async def test_other_bodies_are_answered_or_refused(
    bodies_of_a_kind: st.SearchStrategy[JsonValue], data: st.DataObject
) -> None:
    """Invariants 57, 67."""
    await answer(data.draw(bodies_of_a_kind))


@given(values_of("CompactResponseMethodPublicBody").flatmap(changed))
@_SLOW_TO_MAKE
async def test_compactions_made_worse_are_answered_or_refused(body: JsonValue) -> None:
    """Invariant 67."""
    refusal: ApiError | None = None
    try:
        await ResponsesService(BackendDouble()).compact(json.dumps(body), ANNA)
    except ApiError as error:
        refusal = error
    assert refusal is None or refusal.status in {400, 404}
