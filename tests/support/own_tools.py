"""Calls of our own tools, as a person's agent makes them."""

from homeassistant.core import Context, HomeAssistant
from homeassistant.helpers import llm

from custom_components.chatterbox.agent.messages import JsonObject
from custom_components.chatterbox.const import DOMAIN
from custom_components.chatterbox.people.speakers import NOBODY, Asking, Speaker
from custom_components.chatterbox.settings.agent import AgentSettings
from custom_components.chatterbox.tools.own.own_tool import OwnCall

ANNA = Speaker("user-1", name="Anna", asking=Asking.PERSON, person_id="anna")
BEN = Speaker("user-2", name="Ben", asking=Asking.PERSON, person_id="ben")


def own_call(
    hass: HomeAssistant,
    arguments: JsonObject,
    speaker: Speaker = NOBODY,
    agent: str = "agent-1",
    settings: AgentSettings | None = None,
) -> OwnCall:
    """Return a call in English, from no device."""
    llm_context = llm.LLMContext(DOMAIN, Context(), "en", "conversation", None)
    return OwnCall(
        hass, llm_context, arguments, settings or AgentSettings(), agent, speaker
    )
