"""The weather tool for every agent of the home, through Home Assistant's LLM tools platform.

Called by Home Assistant (`homeassistant.components.llm`).
"""

from homeassistant.components.llm import LLMTools
from homeassistant.components.weather import DOMAIN as WEATHER_DOMAIN
from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers.llm import LLM_API_ASSIST, LLMContext

from .home.entity_matches import exposed_states
from .tools.weather import GetForecastTool


@callback
def async_get_tools(hass: HomeAssistant, llm_context: LLMContext, api_id: str) -> LLMTools | None:
    """Offer the weather to every agent with the Assist API, where a weather entity is exposed."""
    if api_id != LLM_API_ASSIST or not exposed_states(hass, llm_context.assistant, {WEATHER_DOMAIN}):
        return None
    return LLMTools(tools=[GetForecastTool()])
