"""Words that were spoken are cleaned of what nobody meant; those that were typed are read as they are."""

import pytest
from homeassistant.components import conversation
from homeassistant.core import Context, HomeAssistant
from pytest_homeassistant_custom_component.typing import WebSocketGenerator

from tests.support.ears import say_aloud
from tests.support.listening_room import WholeVoice, furnish
from tests.support.servers.script import Script, ScriptedAnswer
from tests.support.talk import (
    AGENT,
    UNLOCK,
    Serve,
    messages_of,
    say,
    speech,
    type_in_dialog,
)

TALK = "a-talk"
NOISY = "Um, add [phone] to the list. Thank you."
ANSWERS = Script(answers=(ScriptedAnswer(content="Fine."),) * 2)


async def write(hass: HomeAssistant, text: str) -> str:
    """Write something on a phone, and return the answer."""
    return speech(
        await conversation.async_converse(
            hass, text, TALK, Context(), "en", AGENT, device_id="a-phone"
        )
    )


async def test_what_an_app_recognizes_is_cleaned_and_what_is_typed_there_is_not(
    hass: HomeAssistant, serve: Serve, hass_ws_client: WebSocketGenerator
) -> None:
    server = await serve(ANSWERS)
    room = await furnish(hass, WholeVoice())

    await say_aloud(hass, NOISY, TALK, room.pipeline)
    assert str(messages_of(server.requests[-1])[-1]["content"]).endswith(
        "add to the list."
    )

    await type_in_dialog(await hass_ws_client(), NOISY)
    assert str(messages_of(server.requests[-1])[-1]["content"]).endswith(NOISY)


async def test_what_an_action_sends_is_not_cleaned(
    hass: HomeAssistant, serve: Serve
) -> None:
    server = await serve(ANSWERS)

    await say(hass, NOISY)

    assert str(messages_of(server.requests[-1])[-1]["content"]).endswith(NOISY)


@pytest.mark.parametrize(
    ("typed", "is_locked"),
    [("Yes. Thanks for watching!", True), ("Yes. Thank you.", False)],
)
async def test_a_typed_answer_is_read_as_it_is(
    hass: HomeAssistant, serve: Serve, typed: str, *, is_locked: bool
) -> None:
    await serve(
        Script(
            answers=(
                ScriptedAnswer(tool_calls=(UNLOCK,)),
                ScriptedAnswer(content="Come in."),
            )
        )
    )
    await write(hass, "unlock the front door")

    answer = await write(hass, typed)

    assert hass.states.is_state("lock.front_door", "locked") == is_locked
    assert answer == (
        "I need a yes or a no. Unlock the Front Door in the Hallway?"
        if is_locked
        else "Come in."
    )
