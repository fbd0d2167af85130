"""A home with a real recorder, whose clock is moved from one state to the next."""

from dataclasses import replace

from freezegun.api import FrozenDateTimeFactory
from homeassistant.components.homeassistant.exposed_entities import async_expose_entity
from homeassistant.core import Context, HomeAssistant
from homeassistant.util import dt as dt_util
from pytest_homeassistant_custom_component.components.recorder.common import (
    async_wait_recording_done,
)

from custom_components.chatterbox.agent.messages import JsonObject, JsonValue
from custom_components.chatterbox.tools.own.past import GET_PAST
from tests.support.own_tools import own_call

DOOR = "binary_sensor.front_door"
WINDOW = "binary_sensor.kitchen_window"
NAMES = {DOOR: "Front Door", WINDOW: "Kitchen Window"}
CLASSES = {DOOR: "door", WINDOW: "window"}


class Past:
    """A home whose clock is moved from one state to the next."""

    def __init__(self, hass: HomeAssistant, freezer: FrozenDateTimeFactory) -> None:
        self.hass, self._freezer = hass, freezer

    def at(self, when: str) -> None:
        """Move the clock to a local time."""
        moment = dt_util.parse_datetime(f"2026-11-{when}:00", raise_on_error=True)
        self._freezer.move_to(moment.replace(tzinfo=dt_util.get_default_time_zone()))

    def set(
        self,
        when: str,
        entity_id: str,
        state: str,
        context: Context | None = None,
        **attributes: str | float,
    ) -> None:
        self.at(when)
        known: dict[str, str | float] = {
            "friendly_name": NAMES.get(entity_id, entity_id)
        }
        if entity_id in CLASSES:
            known["device_class"] = CLASSES[entity_id]
        self.hass.states.async_set(
            entity_id, state, known | attributes, context=context
        )
        async_expose_entity(self.hass, "conversation", entity_id, should_expose=True)

    async def ask(
        self, context: Context | None = None, /, **arguments: JsonValue
    ) -> JsonObject:
        """Ask about the past."""
        await async_wait_recording_done(self.hass)
        call = own_call(self.hass, dict(arguments))
        if context:
            call = replace(call, llm_context=replace(call.llm_context, context=context))
        return (await GET_PAST.async_answer(call)).data

    async def answers(self, **arguments: JsonValue) -> list[JsonObject]:
        """Return what is told of each thing."""
        answer = await self.ask(**arguments)
        found = answer.get("found")
        assert isinstance(found, list), answer
        return [one for one in found if isinstance(one, dict)]
