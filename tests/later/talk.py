"""Talking about what is to happen later, and letting time pass."""

import asyncio
from dataclasses import replace
from datetime import timedelta
from typing import Any

from freezegun.api import FrozenDateTimeFactory
from homeassistant.core import Event, HomeAssistant, callback
from homeassistant.util import dt as dt_util
from pytest_homeassistant_custom_component.common import async_fire_time_changed

from custom_components.chatterbox.agent.messages import JsonObject
from custom_components.chatterbox.later.plans import (
    Asker,
    Condition,
    FuturePlan,
    PlanKind,
    PlannedCall,
)
from tests.support.servers.script import Script, ScriptedAnswer, ScriptedCall
from tests.support.talk import say, speech

SATELLITE = "assist_satellite.hall"
AGENT = "agent-1"
LIGHT_OFF: JsonObject = {
    "kind": "act",
    "tool": "HassTurnOff",
    "arguments": {"name": "Kitchen ceiling light"},
}
UNLOCK: JsonObject = {
    "kind": "act",
    "tool": "HassTurnOff",
    "arguments": {"name": "Front Door", "domain": "lock"},
}
REMIND: JsonObject = {"kind": "remind", "text": "call Mum"}


def later(arguments: JsonObject, when: str = "in 20 minutes") -> ScriptedAnswer:
    """Return a message that plans something."""
    given = {"when": when, **arguments} if when else arguments
    return ScriptedAnswer(
        tool_calls=(ScriptedCall(name="chatterbox__later", arguments=given),)
    )


def script(*calls: ScriptedAnswer) -> Script:
    """Return a model that makes each of these calls, and then says so."""
    return Script(
        answers=tuple(
            answer
            for call in calls
            for answer in (call, ScriptedAnswer(content="Noted."))
        )
    )


async def at_hall(hass: HomeAssistant, text: str) -> str:
    """Say something in the hall, and return what is spoken there."""
    return speech(await say(hass, text, satellite_id=SATELLITE))


async def pass_time(
    hass: HomeAssistant, freezer: FrozenDateTimeFactory, **time: float
) -> None:
    """Let time pass, and everything happen that is due by then."""
    freezer.tick(timedelta(**time))
    async_fire_time_changed(hass)
    await hass.async_block_till_done(wait_background_tasks=True)


def fired(
    hass: HomeAssistant, event_type: str, kind: str | None = None
) -> asyncio.Event:
    """Return what is set once an event of a type, and of a kind of that, is fired."""
    is_fired = asyncio.Event()

    @callback
    def note(event: Event[Any]) -> None:
        if event.data.get("type") == kind:
            is_fired.set()

    hass.bus.async_listen(event_type, note)
    return is_fired


def types(events: list[Event[Any]]) -> list[str]:
    """Return what the events of plans tell."""
    return [event.data["type"] for event in events]


def state(hass: HomeAssistant, entity_id: str) -> str:
    """Return the state of an entity."""
    found = hass.states.get(entity_id)
    assert found is not None
    return found.state


def act(
    text: str = "turn off the heater",
    minutes: float = 10,
    asker: Asker = Asker(),  # noqa: B008  # frozen
) -> FuturePlan:
    due = dt_util.utcnow() + timedelta(minutes=minutes)
    call = PlannedCall("turn_off", "{}")
    return FuturePlan(
        kind=PlanKind.ACT,
        agent=AGENT,
        asker=asker,
        language="en",
        text=text,
        due=due,
        call=call,
    )


def remind(text: str = "call Mum", condition: Condition | None = None) -> FuturePlan:
    return replace(act(text), kind=PlanKind.REMIND, call=None, condition=condition)


def wait_for(text: str, condition: Condition) -> FuturePlan:
    return replace(remind(text, condition), due=None)
