"""What takes how much room in what a model has to read before anybody says a word: instructions, home, each tool.

Knows what a turn begins with, as `turns/warm_up.py` does. Must not show any of it: only names of tools, and numbers.
"""

from homeassistant.core import HomeAssistant

from ..agent.conversation.prompt_size import PromptSize
from ..agent.conversation.windowed_provider import WindowedProvider
from ..agent.messages import JsonObject, ToolDefinition, canonical_json
from ..settings.agent import AgentSettings
from ..tools.llm_apis import context_without_speaker
from ..tools.turn_tools import async_offer_common_tools
from .prompt import PromptSources, async_write_prompt


async def async_weigh_prompt(hass: HomeAssistant, settings: AgentSettings, model: WindowedProvider) -> JsonObject:
    """Return the parts of the prompt of an agent in tokens, which are estimated, and the tools, the largest first.

    `instructions` are the agent's own, `home` what the sources of its tools tell of the house, `tools` all of them
    together, `total` everything, `window` what the model can read, and `last_request` what the last one took. Takes as
    long as those sources do, but no longer than they may in a turn.
    """
    nobody = context_without_speaker(hass)
    offer = await async_offer_common_tools(hass, settings)
    prompt = async_write_prompt(hass, nobody, PromptSources(settings.prompt, offer.prompt, offer.context))
    estimate = model.estimate
    home = estimate.of_text(offer.prompt)
    instructions = max(estimate.of_text(prompt.instructions) - home, 0)
    each = sorted(((estimate.of_text(_as_sent(tool)), tool) for tool in offer.definitions), key=_largest_first)
    tools = sum(tokens for tokens, _ in each)
    return {
        "instructions": instructions,
        "home": home,
        "tools": tools,
        "total": instructions + home + tools,
        "window": model.context_window,
        "last_request": _request(model.last_size),
        "each_tool": [
            {"name": tool.name, "tokens": tokens, "characters": len(_as_sent(tool))} for tokens, tool in each
        ],
    }


def _request(size: PromptSize | None) -> JsonObject | None:
    if size is None:
        return None
    return {
        "tools": size.tools,
        "instructions": size.instructions,
        "conversation": size.history,
        "percent_of_window": round(100 * size.share),
        "messages_left_out": size.dropped,
        "counted_by_server": size.is_reported,
    }


def _as_sent(tool: ToolDefinition) -> str:
    described: JsonObject = {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
    return canonical_json(described)


def _largest_first(weighed: tuple[int, ToolDefinition]) -> tuple[int, str]:
    tokens, tool = weighed
    return -tokens, tool.name
