"""Consequences of the speaker in the turns of an agent: real permissions, real automations, a scripted model."""

import pytest
from homeassistant.auth.const import GROUP_ID_ADMIN, GROUP_ID_READ_ONLY, GROUP_ID_USER
from homeassistant.components import conversation
from homeassistant.components.homeassistant.exposed_entities import async_expose_entity
from homeassistant.core import Context, HomeAssistant
from pytest_homeassistant_custom_component.common import async_capture_events

from custom_components.chatterbox.const import (
    CONF_PEOPLE_AT_SATELLITES,
    CONF_RULES,
    CONF_TRUSTED_CALLERS,
    EVENT_TOOL_FINISHED,
    EVENT_TURN_FINISHED,
)
from tests.support.listening_agent import (
    add_automations,
    add_person,
    add_scripts,
    place_satellite,
    start,
)
from tests.support.servers.script import Script, ScriptedAnswer, ScriptedCall
from tests.support.talk import AGENT, LIGHT, LIGHT_ON, SATELLITE, Serve, messages_of

ACTS = Script(
    answers=(
        ScriptedAnswer(tool_calls=(LIGHT_ON,)),
        ScriptedAnswer(content="So be it."),
    )
)
UNLOCK = ScriptedCall(
    name="intent__HassTurnOff", arguments={"name": "Front Door", "domain": ["lock"]}
)
UNLOCKS = Script(
    answers=(ScriptedAnswer(tool_calls=(UNLOCK,)), ScriptedAnswer(content="So be it."))
)
SPEAK = {
    "action": "conversation.process",
    "data": {"text": "unlock the front door", "agent_id": AGENT},
}


async def listen_at_satellite(hass: HomeAssistant) -> None:
    await conversation.async_converse(
        hass, "light!", "a-talk", Context(), "en", AGENT, satellite_id=SATELLITE
    )


@pytest.mark.parametrize(
    ("group", "state"), [(GROUP_ID_READ_ONLY, "off"), (GROUP_ID_USER, "on")]
)
async def test_permissions_of_the_person_of_a_satellite_hold(
    hass: HomeAssistant, serve: Serve, group: str, state: str
) -> None:
    await hass.auth.async_create_user("Owner", group_ids=[GROUP_ID_ADMIN])
    mia = await hass.auth.async_create_user("Mia", group_ids=[group])
    people = [{"device": place_satellite(hass), "person": "person.mia"}]
    server = await serve(ACTS, **{CONF_PEOPLE_AT_SATELLITES: people})
    await add_person(hass, "Mia", mia.id)
    turns = async_capture_events(hass, EVENT_TURN_FINISHED)

    await listen_at_satellite(hass)

    assert hass.states.is_state(LIGHT, state)
    turn_data = turns[0].data
    assert (turn_data["user_id"], turn_data["person"], turn_data["caller"]) == (
        mia.id,
        "Mia",
        None,
    )
    assert turns[0].context.user_id == mia.id
    assert "Name of the person: Mia." in str(
        messages_of(server.requests[0])[-1]["content"]
    )


async def test_a_user_who_was_deactivated_changes_nothing(
    hass: HomeAssistant, serve: Serve
) -> None:
    await hass.auth.async_create_user("Owner", group_ids=[GROUP_ID_ADMIN])
    guest = await hass.auth.async_create_user("Guest", group_ids=[GROUP_ID_USER])
    await hass.auth.async_deactivate_user(guest)
    await serve(ACTS)
    finished = async_capture_events(hass, EVENT_TOOL_FINISHED)

    await conversation.async_converse(
        hass, "light!", "a-talk", Context(user_id=guest.id), "en", AGENT
    )

    assert hass.states.is_state(LIGHT, "off")
    assert [event.data["has_run"] for event in finished] == [False]


@pytest.mark.parametrize(
    ("automation", "state"), [("trusted", "unlocked"), ("other", "locked")]
)
async def test_only_what_is_trusted_does_what_would_be_asked(
    hass: HomeAssistant, serve: Serve, automation: str, state: str
) -> None:
    await serve(UNLOCKS, **{CONF_TRUSTED_CALLERS: ["automation.trusted"]})
    await add_automations(hass, **{automation: [SPEAK]})
    turns = async_capture_events(hass, EVENT_TURN_FINISHED)

    await start(hass, automation)

    assert hass.states.is_state("lock.front_door", state)
    assert turns[0].data["caller"] == f"automation.{automation}"


async def test_a_model_gets_nothing_more_by_a_trusted_script(
    hass: HomeAssistant, serve: Serve
) -> None:
    run_script = ScriptedCall(name="script__trusted", arguments={})
    answers = (
        ScriptedAnswer(tool_calls=(run_script,)),
        ScriptedAnswer(tool_calls=(UNLOCK,)),
        ScriptedAnswer(content="So be it."),
        ScriptedAnswer(content="So be it."),
    )
    await add_scripts(hass, trusted=[SPEAK])
    rules = [{"verdict": "allow", "tools": ["script__trusted"]}]
    await serve(
        Script(answers=answers),
        **{CONF_TRUSTED_CALLERS: ["script.trusted"], CONF_RULES: rules},
    )
    async_expose_entity(hass, conversation.DOMAIN, "script.trusted", should_expose=True)
    anna = await hass.auth.async_create_user("Anna", group_ids=[GROUP_ID_ADMIN])
    turns = async_capture_events(hass, EVENT_TURN_FINISHED)

    await conversation.async_converse(
        hass, "hello", "a-talk", Context(user_id=anna.id), "en", AGENT
    )
    await hass.async_block_till_done()

    assert [turn.data["caller"] for turn in turns] == ["script.trusted", None]
    assert hass.states.is_state("lock.front_door", "locked")
