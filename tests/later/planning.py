"""Plans as the tool is asked for them."""

from dataclasses import replace

from homeassistant.core import HomeAssistant

from custom_components.chatterbox.agent.messages import JsonObject, ToolDefinition
from custom_components.chatterbox.agent.protocols import Deny
from custom_components.chatterbox.effects.effect import TimedCall
from custom_components.chatterbox.later.tool import LATER
from custom_components.chatterbox.people.speakers import Speaker
from custom_components.chatterbox.tools.own.own_tool import Prepared
from tests.support.own_tools import ANNA, own_call


async def as_given(name: str, arguments: JsonObject) -> TimedCall:
    return TimedCall(ToolDefinition(name, "", {}), arguments)


NOW = "2026-11-26 17:00:00+00:00"


async def run(
    hass: HomeAssistant,
    arguments: JsonObject,
    speaker: Speaker = ANNA,
    satellite_id: str | None = None,
) -> str:
    """Prepare and run a call, and return what is answer, or why it was not run."""
    assert LATER.prepare
    called = replace(
        own_call(hass, arguments, speaker), satellite_id=satellite_id, fit=as_given
    )
    prepared = await LATER.prepare(called)
    if isinstance(prepared, Deny):
        return prepared.reason
    again = await LATER.prepare(replace(called, arguments=prepared.arguments))
    assert isinstance(again, Prepared)
    assert again.arguments == prepared.arguments, (
        "what is asked about is what is planned"
    )
    answer = await LATER.run(
        replace(own_call(hass, prepared.arguments, speaker), satellite_id=satellite_id)
    )
    return answer.speech or str(answer.data["error"])
