"""The speaker at a real satellite, also when an automation has begun the conversation."""

import asyncio
from collections.abc import AsyncIterable
from typing import Any, override

import pytest
from homeassistant.components import assist_pipeline
from homeassistant.components.assist_pipeline import PipelineEvent, PipelineStage
from homeassistant.components.assist_satellite import (
    AssistSatelliteAnnouncement,
    AssistSatelliteConfiguration,
    AssistSatelliteEntity,
    AssistSatelliteEntityFeature,
)
from homeassistant.config_entries import ConfigEntry, ConfigFlow
from homeassistant.core import Context, HomeAssistant
from homeassistant.helpers.device_registry import DeviceInfo
from homeassistant.helpers.entity_platform import AddEntitiesCallback
from homeassistant.setup import async_setup_component
from pytest_homeassistant_custom_component.common import (
    MockConfigEntry,
    MockModule,
    MockPlatform,
    mock_config_flow,
    mock_integration,
    mock_platform,
)

from custom_components.chatterbox.people.speakers import Asking, Speaker
from tests.support.ears import add_ear
from tests.support.listening_agent import (
    LISTENER,
    ListeningAgent,
    a_user,
    add_automations,
    add_listening_agent,
    say,
    start,
)
from tests.support.talk import SATELLITE
from tests.support.versions import IS_LATEST

OPENING = {
    "entity_id": SATELLITE,
    "start_media_id": "http://house.local/question.mp3",
    "preannounce": False,
}


class Satellite(AssistSatelliteEntity):
    """Listens once when it is told to start a conversation, as real ones do."""

    listening: asyncio.Task[None] | None = None
    _attr_name = None
    _attr_has_entity_name = True
    _attr_unique_id = "kitchen"
    _attr_device_info = DeviceInfo(
        identifiers={("satellite", "kitchen")}, name="Kitchen"
    )
    _attr_supported_features = (
        AssistSatelliteEntityFeature.ANNOUNCE
        | AssistSatelliteEntityFeature.START_CONVERSATION
    )

    @override
    def async_get_configuration(self) -> AssistSatelliteConfiguration:
        return AssistSatelliteConfiguration([], [], 0)

    @override
    async def async_set_configuration(
        self, config: AssistSatelliteConfiguration
    ) -> None:
        raise NotImplementedError

    @override
    def on_pipeline_event(self, event: PipelineEvent) -> None:
        pass

    @override
    async def async_start_conversation(
        self, start_announcement: AssistSatelliteAnnouncement
    ) -> None:
        self.listening = self.hass.async_create_task(self.listen())

    @property
    def device_id(self) -> str | None:
        """Return the device that it is."""
        return self.registry_entry.device_id if self.registry_entry else None

    async def listen(self) -> None:
        """Send what somebody says to the pipeline."""

        async def audio() -> AsyncIterable[bytes]:
            yield bytes(640)

        await self.async_accept_pipeline_from_satellite(
            audio(), end_stage=PipelineStage.INTENT
        )


@pytest.fixture
async def agent(hass: HomeAssistant) -> ListeningAgent:
    return await add_listening_agent(hass)


@pytest.fixture
async def kitchen(hass: HomeAssistant, agent: ListeningAgent) -> Satellite:  # noqa: ARG001  # the agent comes first
    """Set up a satellite whose pipeline leads to the agent."""
    ear = await add_ear(hass, "unlock the door")
    assert await async_setup_component(hass, "assist_pipeline", {})
    (pipeline,) = assist_pipeline.async_get_pipelines(hass)
    await assist_pipeline.async_update_pipeline(
        hass, pipeline, conversation_engine=LISTENER, stt_engine=ear, stt_language="en"
    )
    satellite = Satellite()

    async def set_up(
        hass: HomeAssistant, entry: ConfigEntry
    ) -> Any:  # in 2026.11 nothing, and before a boolean
        await hass.config_entries.async_forward_entry_setups(
            entry, ["assist_satellite"]
        )
        return None if IS_LATEST else True

    async def add(
        _: HomeAssistant, __: ConfigEntry, add_entities: AddEntitiesCallback
    ) -> None:
        add_entities([satellite])

    mock_integration(hass, MockModule("satellite", async_setup_entry=set_up))
    mock_platform(
        hass, "satellite.assist_satellite", MockPlatform(async_setup_entry=add)
    )
    mock_platform(hass, "satellite.config_flow")
    entry = MockConfigEntry(domain="satellite")
    entry.add_to_hass(hass)
    with mock_config_flow("satellite", ConfigFlow):
        assert await hass.config_entries.async_setup(entry.entry_id)
    return satellite


async def test_a_person_answers_an_automation_that_has_begun_to_talk(
    hass: HomeAssistant, agent: ListeningAgent, kitchen: Satellite
) -> None:
    await add_automations(
        hass,
        trusted=[{"action": "assist_satellite.start_conversation", "data": OPENING}],
    )

    await start(hass, "trusted")
    await agent.has_taken_turns(1)

    assert agent.speakers == [Speaker(None, kitchen.device_id, None, Asking.PERSON)]


async def test_a_person_answers_a_model_that_has_begun_to_talk(
    hass: HomeAssistant, agent: ListeningAgent, kitchen: Satellite
) -> None:
    async def start_conversation(context: Context) -> None:
        await hass.services.async_call(
            "assist_satellite",
            "start_conversation",
            OPENING,
            blocking=True,
            context=context,
        )

    agent.actions.append(start_conversation)
    await say(hass, Context(user_id=await a_user(hass)))
    await agent.has_taken_turns(2)

    assert agent.speakers[1] == Speaker(None, kitchen.device_id, None, Asking.PERSON)
