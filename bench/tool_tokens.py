"""The tokens that each tool takes in a prompt, as they are estimated without the tokenizer of a model.

Run it with `python -m bench.tool_tokens`: it writes the tables in bench/pages/tool-tokens.md, for the
demo home with a recorder and a satellite. Tools that a model sees as one are counted as that one.
"""

import tests.support.early_plugin  # noqa: F401  # isort: skip  # before what it is for

import asyncio
import logging
import re
import sys
from collections.abc import Iterable, Mapping
from typing import Final

from homeassistant.components.recorder.const import DOMAIN as RECORDER
from homeassistant.core import HomeAssistant
from homeassistant.helpers import llm
from homeassistant.setup import async_setup_component

from custom_components.chatterbox.agent.conversation.token_estimate import TokenEstimate
from custom_components.chatterbox.agent.messages import ToolDefinition
from custom_components.chatterbox.const import DOMAIN
from custom_components.chatterbox.settings.agent import AgentSettings
from custom_components.chatterbox.tools.llm_apis import context_without_speaker
from custom_components.chatterbox.tools.own.own_tool import OwnTool, own_name
from custom_components.chatterbox.tools.own.registry import (
    offered_to,
    own_tools,
    with_own_tools,
)
from custom_components.chatterbox.tools.turn_tools import async_offer_tools, for_models
from demo.configuration import REPOSITORY
from tests.support.own_home import own_home
from tests.support.talk import move_into_the_demo_home

PAGE: Final = REPOSITORY / "bench/pages/tool-tokens.md"
_TABLES: Final = re.compile(r"(?s)\| tools? \| tokens \|\n.*\n(?=\n`\.venv)")
_APIS: Final = (llm.LLM_API_ASSIST,)
_AGENTS: Final = {
    "ours, of an agent as it is set up": AgentSettings(model="any", llm_apis=_APIS),
    "ours, with facts and earlier conversations": AgentSettings(
        model="any", llm_apis=_APIS, remember_facts=True, search_history=True
    ),
}


def equip(hass: HomeAssistant) -> None:
    """Add a recorder, from which nothing is read, and a satellite."""
    hass.config.components.add(RECORDER)
    hass.states.async_set("assist_satellite.kitchen", "idle")


async def tokens(hass: HomeAssistant) -> dict[str, int]:
    """Return the tokens of each tool of Assist in a home that a model sees, and of all that agents may have of ours."""
    own = [tool for tool in own_tools(hass) if tool.shared is None]
    return _tokens(await _async_visible(hass, own))


async def own_tokens(hass: HomeAssistant) -> dict[str, int]:
    """Return the tokens of our own tools that agents with some settings are offered in a home."""
    names = {tool.definition.name for tool in own_tools(hass)} | {own_name("climate")}
    counted = {}
    for title, settings in _AGENTS.items():
        visible = await _async_visible(hass, offered_to(hass, settings))
        ours = [one for one in visible if not names.isdisjoint(_real_names(one))]
        counted[title] = sum(_tokens(ours).values())
    return counted


async def _async_visible(
    hass: HomeAssistant, own: Iterable[OwnTool]
) -> tuple[ToolDefinition, ...]:
    offer = await async_offer_tools(hass, _APIS, context_without_speaker(hass))
    return for_models(with_own_tools(hass, offer.definitions, [*own]))


def _real_names(tool: ToolDefinition) -> set[str]:
    return {tool.name, *(one.name for one in tool.parts.values())}


def _tokens(tools: Iterable[ToolDefinition]) -> dict[str, int]:
    return {one.name: TokenEstimate().of_tools([one]) for one in tools}


def tables(counted: Mapping[str, int], own: Mapping[str, int]) -> str:
    """Return tables in Markdown, the largest tool first."""
    rows = sorted(counted.items(), key=lambda one: (-one[1], one[0]))
    lines = [f"| `{name}` | {count} |" for name, count in rows]
    lines.append(f"| all {len(rows)} | {sum(counted.values())} |")
    sums = [f"| {title} | {count} |" for title, count in own.items()]
    each = ("| tool | tokens |", "| --- | --- |", *lines)
    return "\n".join((*each, "", "| tools | tokens |", "| --- | --- |", *sums, ""))


async def main() -> None:
    """Write the tables."""
    async with own_home() as hass:
        await move_into_the_demo_home(hass)
        await async_setup_component(hass, DOMAIN, {})
        equip(hass)
        written = tables(await tokens(hass), await own_tokens(hass))
        page = PAGE.read_text("utf-8")
        PAGE.write_text(_TABLES.sub(lambda _: written, page), encoding="utf-8")
        sys.stdout.write(written)


if __name__ == "__main__":
    logging.disable()
    asyncio.run(main())
