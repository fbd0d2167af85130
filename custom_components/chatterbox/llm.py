"""Our tools for every agent of the home, through Home Assistant's LLM tools platform.

Called by Home Assistant (`homeassistant.components.llm`).
"""

from homeassistant.components.llm import LLMTools
from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers.llm import LLM_API_ASSIST, LLMContext, Tool
from homeassistant.loader import async_get_loaded_integration

from .home.entity_matches import exposed_states
from .tools.device_tools import device_tools
from .tools.own.registry import own_tools, shared_tool


@callback
def async_get_tools(
    hass: HomeAssistant, llm_context: LLMContext, api_id: str
) -> LLMTools | None:
    """Offer our shared tools to every agent with the Assist API, where what they are about is exposed."""
    tools: list[Tool] = [
        shared_tool(tool, tool.shared)
        for tool in (own_tools(hass) if api_id == LLM_API_ASSIST else ())
        if tool.shared
        and (
            not tool.shared.component or tool.shared.component in hass.config.components
        )
        and exposed_states(hass, llm_context.assistant, tool.shared.domains)
        and not any(
            _has_tools(hass, component, llm_context)
            for component in tool.shared.instead_of
        )
    ]
    if api_id == LLM_API_ASSIST:
        tools += device_tools(hass, llm_context.assistant)
    if tools:
        return LLMTools(tools=tools)
    return None


def _has_tools(
    hass: HomeAssistant,
    component: str,
    llm_context: LLMContext,
) -> bool:
    """Return whether a component offers tools of its own with Assist."""
    if component not in hass.config.components:
        return False
    platform = async_get_loaded_integration(hass, component).get_platform_cached("llm")
    if platform:
        offer = platform.async_get_tools(
            hass,
            llm_context,
            LLM_API_ASSIST,
        )
    else:
        offer = None
    return bool(offer and offer.tools)
