"""The stored part of turns that Home Assistant cuts off when it stops."""

import pytest
from homeassistant.core import HomeAssistant

from custom_components.chatterbox.history.store.history_store import HistoryStore
from custom_components.chatterbox.history.stores import async_get_histories
from tests.history.stores.test_history import the_entry
from tests.support.servers.script import Script, ScriptedAnswer
from tests.support.talk import LIGHT_ON, Serve, say


@pytest.mark.parametrize(
    "expected_lingering_timers", [True]
)  # of Home Assistant's own conversations, as it stops here
@pytest.mark.parametrize(
    "is_background", [True, False], ids=["of a satellite", "of an automation"]
)
async def test_a_turn_is_stored_when_home_assistant_stops(
    hass: HomeAssistant, serve: Serve, *, is_background: bool
) -> None:
    server = await serve(
        Script(
            answers=(
                ScriptedAnswer(tool_calls=(LIGHT_ON,)),
                ScriptedAnswer(delay_seconds=3600),
            )
        )
    )
    address = async_get_histories(hass).address(the_entry(hass))
    begin = (
        hass.async_create_background_task if is_background else hass.async_create_task
    )
    _ = begin(say(hass, "Light!"), "a turn")
    while len(server.requests) < 2:
        server.request_arrived.clear()
        await server.request_arrived.wait()

    await hass.async_stop(force=True)

    store = HistoryStore(address, lambda _state: None)
    store.start()
    [turn] = await store.turns("kitchen-talk")
    assert [type(message).__name__ for message in turn.messages] == [
        "UserMessage",
        "AssistantMessage",
        "ToolResult",
    ]
    await store.close()
