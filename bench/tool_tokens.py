"""The tokens that each tool takes in a prompt, as they are estimated without the tokenizer of a model.

Run it with `python -m bench.tool_tokens`: it prints the table in docs/past.md, for the
demo home with a recorder.
"""

import tests.support.early_plugin  # noqa: F401  # isort: skip  # before what it is for

import asyncio
import logging
import sys

from homeassistant.components.recorder.const import DOMAIN as RECORDER
from homeassistant.core import HomeAssistant
from homeassistant.helpers import llm
from homeassistant.setup import async_setup_component

from custom_components.chatterbox.agent.conversation.token_estimate import TokenEstimate
from custom_components.chatterbox.const import DOMAIN
from custom_components.chatterbox.tools.llm_apis import context_without_speaker
from custom_components.chatterbox.tools.own.registry import own_tools, with_own_tools
from custom_components.chatterbox.tools.turn_tools import async_offer_tools
from tests.support.own_home import own_home
from tests.support.talk import move_into_the_demo_home


async def tokens(hass: HomeAssistant) -> dict[str, int]:
    """Return the tokens of each tool of Assist in a home, and of each of ours that an agent may have."""
    offer = await async_offer_tools(
        hass, [llm.LLM_API_ASSIST], context_without_speaker(hass)
    )
    definitions = with_own_tools(
        offer.definitions, [tool for tool in own_tools(hass) if tool.shared is None]
    )
    return {one.name: TokenEstimate().of_tools([one]) for one in definitions}


def table(counted: dict[str, int]) -> str:
    """Return a table in Markdown, the largest tool first."""
    rows = sorted(counted.items(), key=lambda one: (-one[1], one[0]))
    return "\n".join(
        (
            "| tool | tokens |",
            "| --- | --- |",
            *(f"| `{name}` | {count} |" for name, count in rows),
        )
    )


async def main() -> None:
    """Print the table."""
    async with own_home() as hass:
        await move_into_the_demo_home(hass)
        await async_setup_component(hass, DOMAIN, {})
        hass.config.components.add(RECORDER)  # nothing is read from it
        sys.stdout.write(f"{table(await tokens(hass))}\n")


if __name__ == "__main__":
    logging.disable()
    asyncio.run(main())
