"""The cost of gathering the tools and writing the prompt in each turn, before a model is asked.

Run it with `python -m bench.prompt_cost`: in the demo home it prints the milliseconds
for a turn from a chat and from a satellite, right after a room got another name and
once more, and beside them what it takes to ask Assist alone. Ends with status 1 when a
turn takes longer than is allowed.
"""

import tests.support.early_plugin  # noqa: F401  # isort: skip  # before what it is for

import argparse
import asyncio
import logging
import statistics
import sys
import time
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Final

from homeassistant.components.intent import async_register_timer_handler
from homeassistant.core import HomeAssistant
from homeassistant.helpers import area_registry as ar, llm

from custom_components.chatterbox.tools.llm_apis import context_without_speaker
from custom_components.chatterbox.tools.turn_tools import async_offer_tools
from custom_components.chatterbox.turns.prepare import PromptSources, async_write_prompt
from tests.support.llm_apis import satellite
from tests.support.own_home import own_home
from tests.support.talk import move_into_the_demo_home

ALLOWED_AFTER_A_CHANGE: Final = 0.025
ALLOWED: Final = 0.005
"""Seconds that gathering and writing may take, in the first turn after a change and in any other."""


async def gather(hass: HomeAssistant, llm_context: llm.LLMContext) -> None:
    """Do what a turn does before a model is asked."""
    offer = await async_offer_tools(hass, [llm.LLM_API_ASSIST], llm_context)
    async_write_prompt(
        hass, llm_context, PromptSources(home=offer.prompt, moment=offer.context)
    )


async def ask_assist(hass: HomeAssistant, llm_context: llm.LLMContext) -> None:
    """Ask Assist for its tools and its prompt, as any agent has to, once."""
    await llm.async_get_api(hass, llm.LLM_API_ASSIST, llm_context)


type Work = Callable[[HomeAssistant, llm.LLMContext], Awaitable[None]]


async def seconds(
    work: Work, hass: HomeAssistant, who: llm.LLMContext, rounds: int
) -> tuple[float, float]:
    """Return the median of the processor time that work takes after a room got another name, and of the next time."""
    areas = ar.async_get(hass)
    area = next(iter(areas.async_list_areas()))
    after_a_change: list[float] = []
    later: list[float] = []
    for number in range(rounds):
        areas.async_update(area.id, name=f"Room {number}")
        await hass.async_block_till_done()
        for taken in (after_a_change, later):
            began = time.process_time()
            await work(hass, who)
            taken.append(time.process_time() - began)
    return statistics.median(after_a_change), statistics.median(later)


async def main(rounds: int) -> bool:
    """Print a line for each kind of turn; tell whether all were quick enough."""
    async with own_home() as hass:
        await move_into_the_demo_home(hass)
        area = next(iter(ar.async_get(hass).async_list_areas()))
        device_id = satellite(hass, area.id)
        async_register_timer_handler(hass, device_id, lambda *_: None)
        chat = context_without_speaker(hass)
        voice = replace(chat, device_id=device_id)
        offer = await async_offer_tools(hass, [llm.LLM_API_ASSIST], chat)
        sys.stdout.write(
            f"{len(hass.states.async_all())} entities, {len(offer.definitions)} tools, "
        )
        sys.stdout.write(f"{len(offer.prompt)} characters of prompt, {rounds} rounds\n")
        sys.stdout.write(f"{'':24}{'after a change':>16}{'later':>12}\n")
        is_quick = True
        for name, work, who in (
            ("a turn from a chat", gather, chat),
            ("a turn from a satellite", gather, voice),
            ("Assist alone", ask_assist, voice),
        ):
            changed, later = await seconds(work, hass, who, rounds)
            is_quick &= work is ask_assist or (
                changed < ALLOWED_AFTER_A_CHANGE and later < ALLOWED
            )
            sys.stdout.write(
                f"{name:24}{changed * 1000:13.2f} ms{later * 1000:9.2f} ms\n"
            )
    return is_quick


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description="Measures what a turn costs before a model is asked."
    )
    parser.add_argument("--rounds", type=int, default=50)
    arguments = parser.parse_args()
    logging.disable()
    sys.exit(0 if asyncio.run(main(arguments.rounds)) else 1)
