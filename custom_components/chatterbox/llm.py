"""Our tools for every agent of the home, through Home Assistant's LLM tools platform.

Called by Home Assistant (`homeassistant.components.llm`).
"""

from homeassistant.components.llm import LLMTools
from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers.llm import LLM_API_ASSIST, LLMContext, Tool

from .home.entity_matches import exposed_states
from .tools.own.registry import SharedTool, own_tools


@callback
def async_get_tools(hass: HomeAssistant, llm_context: LLMContext, api_id: str) -> LLMTools | None:
    """Offer our shared tools to every agent with the Assist API, where what they are about is exposed."""
    tools: list[Tool] = [
        SharedTool(tool, tool.shared)
        for tool in (own_tools(hass) if api_id == LLM_API_ASSIST else ())
        if tool.shared and exposed_states(hass, llm_context.assistant, tool.shared.domains)
    ]
    return LLMTools(tools=tools) if tools else None
