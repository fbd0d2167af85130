"""The sensor of an agent shows its waiting questions."""

import pytest
from homeassistant.const import STATE_UNAVAILABLE
from homeassistant.core import HomeAssistant, State
from homeassistant.helpers import entity_registry as er
from pytest_homeassistant_custom_component.common import MockConfigEntry

from custom_components.chatterbox.approvals.questions import async_get_approvals
from custom_components.chatterbox.approvals.review import ApprovalWay, GivenAnswer
from custom_components.chatterbox.sensor import WaitingQuestionsSensor
from tests.support.config_entries import offline_entry, only_agent, server_entry, set_up
from tests.support.servers.in_process import address_without_server
from tests.support.waiting_questions import TEXT, ask, asked_call, question

SENSOR = "sensor.talker_waiting_questions"


@pytest.fixture
async def entry(hass: HomeAssistant) -> MockConfigEntry:
    return await set_up(hass, offline_entry())


def state_of(hass: HomeAssistant, entity_id: str = SENSOR) -> State:
    """Return what a sensor shows now."""
    state = hass.states.get(entity_id)
    assert state is not None
    return state


@pytest.mark.usefixtures("socket_enabled")
async def test_seven_entities_of_an_agent_are_enabled_at_first(
    hass: HomeAssistant,
) -> None:
    entry = await set_up(hass, server_entry(address_without_server()))

    agent = only_agent(entry).subentry_id
    known = er.async_entries_for_config_entry(er.async_get(hass), entry.entry_id)
    entities = [entity for entity in known if entity.config_subentry_id == agent]
    enabled = {
        entity.unique_id.removeprefix(f"{agent}_")
        for entity in entities
        if entity.disabled_by is None
    }
    figures = {
        "spent_this_month",
        "turns",
        "failures",
        "time_to_first_token",
        "turn_time",
    }
    assert enabled == {agent, "waiting_questions", *figures}
    assert len(entities) > len(enabled)


async def test_an_agent_without_questions_shows_none(
    hass: HomeAssistant, entry: MockConfigEntry
) -> None:
    state = state_of(hass)

    assert (state.state, state.attributes["waiting"]) == ("0", [])
    assert state.name == "Talker Waiting questions"
    assert state.attributes["unit_of_measurement"] == "questions"
    entity = er.async_get(hass).async_get(SENSOR)
    agent = er.async_get(hass).async_get("conversation.talker")
    assert entity is not None
    assert agent is not None
    assert entity.device_id == agent.device_id
    assert entity.config_subentry_id == only_agent(entry).subentry_id


@pytest.mark.usefixtures("entry")
async def test_a_question_is_shown_while_it_waits(hass: HomeAssistant) -> None:
    pending = question(
        asked_call(needs_pin=True),
        device_id="a-device",
        satellite_id="assist_satellite.hall",
        text="x" * 30_000,
    )
    ask(hass, pending)

    state = state_of(hass)
    (waiting,) = state.attributes["waiting"]
    assert state.state == "1"
    assert waiting.pop("expires_at").endswith("+00:00")
    assert len(waiting.pop("question")) <= 2_001
    assert waiting == {
        "approval_id": pending.id,
        "needs_pin": True,
        "device_id": "a-device",
        "satellite_id": "assist_satellite.hall",
    }

    ask(hass, question(conversation_id="another"))
    assert [one["question"] for one in state_of(hass).attributes["waiting"]][1:] == [
        TEXT
    ]

    async_get_approvals(hass).take(
        pending.id, GivenAnswer(approved=True, way=ApprovalWay.PIN)
    )
    assert state_of(hass).state == "1"


@pytest.mark.usefixtures("socket_enabled")
async def test_each_agent_shows_its_own_questions(
    hass: HomeAssistant, entry: MockConfigEntry
) -> None:
    agents = dict[str, str]()
    for one in (entry, await set_up(hass, server_entry(address_without_server()))):
        entities = er.async_entries_for_config_entry(er.async_get(hass), one.entry_id)
        (agent_id,) = [
            entity.entity_id for entity in entities if entity.domain == "conversation"
        ]
        (agents[agent_id],) = [
            entity.entity_id
            for entity in entities
            if "waiting_questions" in entity.unique_id
        ]
    for agent_id in ("conversation.of_somebody_else", *agents):
        ask(
            hass,
            question(
                agent_id=agent_id, conversation_id=agent_id, text=f"Asked by {agent_id}"
            ),
        )

    for agent_id, sensor in agents.items():
        state = state_of(hass, sensor)
        assert state.state == "1"
        assert [one["question"] for one in state.attributes["waiting"]] == [
            f"Asked by {agent_id}"
        ]


@pytest.mark.usefixtures("entry")
async def test_waiting_questions_are_not_recorded() -> None:
    # The recorder reads what the entity says of itself, at the time when it is added.
    assert "waiting" in WaitingQuestionsSensor._unrecorded_attributes  # noqa: SLF001  # Home Assistant's name


async def test_the_sensor_follows_the_entry(
    hass: HomeAssistant, entry: MockConfigEntry
) -> None:
    ask(hass, question())

    await hass.config_entries.async_unload(entry.entry_id)
    assert state_of(hass).state == STATE_UNAVAILABLE

    await hass.config_entries.async_setup(entry.entry_id)
    await hass.async_block_till_done()
    assert state_of(hass).state == "0"
