"""The tokens that each tool takes in a prompt, as they are estimated without the tokenizer of a model.

Run it with `python -m bench.tool_tokens`: it writes the table in bench/pages/tool-tokens.md, for the
demo home with a recorder. Tools that a model sees as one are counted as that one.
"""

import tests.support.early_plugin  # noqa: F401  # isort: skip  # before what it is for

import asyncio
import logging
import re
import sys
from typing import Final

from homeassistant.components.recorder.const import DOMAIN as RECORDER
from homeassistant.core import HomeAssistant
from homeassistant.helpers import llm
from homeassistant.setup import async_setup_component

from custom_components.chatterbox.agent.conversation.token_estimate import TokenEstimate
from custom_components.chatterbox.const import DOMAIN
from custom_components.chatterbox.tools.llm_apis import context_without_speaker
from custom_components.chatterbox.tools.own.registry import own_tools, with_own_tools
from custom_components.chatterbox.tools.turn_tools import async_offer_tools, for_models
from demo.configuration import REPOSITORY
from tests.support.own_home import own_home
from tests.support.talk import move_into_the_demo_home

PAGE: Final = REPOSITORY / "bench/pages/tool-tokens.md"
_TABLE: Final = re.compile(r"\| tool \| tokens \|\n(?:\|.*\n)+")


async def tokens(hass: HomeAssistant) -> dict[str, int]:
    """Return the tokens of each tool of Assist in a home that a model sees, and of all that agents may have of ours."""
    offer = await async_offer_tools(
        hass, [llm.LLM_API_ASSIST], context_without_speaker(hass)
    )
    definitions = with_own_tools(
        offer.definitions, [tool for tool in own_tools(hass) if tool.shared is None]
    )
    return {
        one.name: TokenEstimate().of_tools([one]) for one in for_models(definitions)
    }


def table(counted: dict[str, int]) -> str:
    """Return a table in Markdown, the largest tool first."""
    rows = sorted(counted.items(), key=lambda one: (-one[1], one[0]))
    lines = [f"| `{name}` | {count} |" for name, count in rows]
    lines.append(f"| all {len(rows)} | {sum(counted.values())} |")
    return "\n".join(("| tool | tokens |", "| --- | --- |", *lines, ""))


async def main() -> None:
    """Write the table."""
    async with own_home() as hass:
        await move_into_the_demo_home(hass)
        await async_setup_component(hass, DOMAIN, {})
        hass.config.components.add(RECORDER)  # nothing is read from it
        written = table(await tokens(hass))
        page = PAGE.read_text("utf-8")
        PAGE.write_text(_TABLE.sub(lambda _: written, page), encoding="utf-8")
        sys.stdout.write(written)


if __name__ == "__main__":
    logging.disable()
    asyncio.run(main())
