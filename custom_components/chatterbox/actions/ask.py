"""The action `chatterbox.ask`: sends a text to an agent, and returns everything that its turn did.

Home Assistant returns the `ConversationResult` of an agent as it is, so that a result
with a record reaches the caller.
"""

from typing import Final

import homeassistant.helpers.config_validation as cv
import voluptuous as vol
from homeassistant.components import conversation
from homeassistant.components.conversation.const import (
    ATTR_AGENT_ID,
    ATTR_CONVERSATION_ID,
    ATTR_LANGUAGE,
    ATTR_TEXT,
)
from homeassistant.core import (
    HomeAssistant,
    ServiceCall,
    ServiceResponse,
    SupportsResponse,
)
from homeassistant.exceptions import HomeAssistantError, ServiceValidationError

from ..const import DOMAIN, SERVICE_ASK
from ..runtime.agents import async_agent_entries
from ..speech.sentences import translated
from ..turns.record import ReportedResult

_SCHEMA: Final = vol.Schema(
    {
        vol.Required(ATTR_TEXT): cv.string,
        vol.Optional(ATTR_AGENT_ID): cv.entity_id,
        vol.Optional(ATTR_CONVERSATION_ID): cv.string,
        vol.Optional(ATTR_LANGUAGE): cv.string,
    }
)


def async_register_ask(hass: HomeAssistant) -> None:
    """Register the action."""
    hass.services.async_register(
        DOMAIN, SERVICE_ASK, _async_ask, _SCHEMA, SupportsResponse.OPTIONAL
    )


async def _async_ask(call: ServiceCall) -> ServiceResponse:
    """Take a turn, and return its record with the `agent_id`."""
    agent_id = _agent(
        call.hass,
        call.data.get(ATTR_AGENT_ID),
    )
    text = call.data[ATTR_TEXT]
    thread = call.data.get(ATTR_CONVERSATION_ID)
    language = call.data.get(ATTR_LANGUAGE)
    result = await conversation.async_converse(
        call.hass, text, thread, call.context, language, agent_id
    )
    if not isinstance(result, ReportedResult):
        raise translated(
            HomeAssistantError,
            "ask_failed",
            agent=agent_id,
        )
    if call.return_response:
        return {
            ATTR_AGENT_ID: agent_id,
            **result.as_response(),
        }
    return None


def _agent(
    hass: HomeAssistant,
    agent_id: str | None,
) -> str:
    """Return the agent of a call; without an entity id, the only agent."""
    agents = [entity.entity_id for entity in async_agent_entries(hass)]
    if agent_id is None:
        if len(agents) != 1:
            raise translated(
                ServiceValidationError,
                "ask_several_agents" if agents else "ask_no_agent",
            )
        agent_id = agents[0]
    elif agent_id not in agents:
        raise translated(
            ServiceValidationError,
            "agent_unknown",
            agent=agent_id,
        )
    if conversation.async_get_agent(hass, agent_id) is None:
        raise translated(
            ServiceValidationError,
            "ask_not_loaded",
            agent=agent_id,
        )
    return agent_id
