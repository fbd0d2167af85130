"""The memory that a turn allocates, and that conversations keep when nobody speaks.

Allocations are traced, so nothing of speed is measured here. Must not know how an agent
keeps a conversation.
"""

import asyncio
import gc
import sys
import tracemalloc
from typing import Final

from homeassistant.helpers.chat_session import CONVERSATION_TIMEOUT, DATA_CHAT_SESSION

from bench.side_by_side.agents import Agent
from bench.side_by_side.cost import Samples
from bench.side_by_side.model_server import Plan
from bench.side_by_side.results import Figure
from bench.side_by_side.setting import Setting, flush, resident_bytes
from bench.side_by_side.turns import TimedTurn, converse

_KIB: Final = 1024
_AT_ONCE: Final = 50
_PACE: Final = 100
"""Fragments a second, while many speak at once."""
_LATER: Final = 60.0
"""Seconds that may be taken to do what was put off while many spoke."""
_LEFT_ALONE: Final = 5.0
"""Seconds between two looks at whether conversations have ended, and after that for what follows."""


async def measure_allocations(setting: Setting) -> list[Figure]:
    """Trace what is allocated: at most in a turn, when it has ended, and in each of fifty turns that go on at once."""
    alone, crowded = Samples("plain"), Samples("50 at once, traced")
    for agent in setting.speakers:
        await _say(setting, agent, _AT_ONCE, Plan())  # what grows once, grows here
    tracemalloc.start()
    for _ in range(setting.extent.rounds):
        for agent in setting.speakers:
            before = await _traced(setting)
            tracemalloc.reset_peak()
            await _say(setting, agent, 1, Plan())
            _, peak = tracemalloc.get_traced_memory()
            alone.add(agent.name, "peak_kib", (peak - before) / _KIB)
            alone.add(agent.name, "kept_kib", (await _traced(setting) - before) / _KIB)
    for agent in setting.speakers:
        before = await _traced(setting)
        tracemalloc.reset_peak()
        await _say(setting, agent, _AT_ONCE, Plan(per_second=_PACE))
        _, peak = tracemalloc.get_traced_memory()
        crowded.add(agent.name, "peak_kib", (peak - before) / _KIB / _AT_ONCE)
        crowded.add(
            agent.name, "kept_kib", (await _traced(setting) - before) / _KIB / _AT_ONCE
        )
    tracemalloc.stop()
    return [*alone.figures(setting.entities), *crowded.figures(setting.entities)]


async def _traced(setting: Setting) -> int:
    """Return the bytes that are traced when nothing is done and no garbage is left."""
    await flush(setting.hass)
    gc.collect()
    return tracemalloc.get_traced_memory()[0]


async def measure_idle(setting: Setting) -> list[Figure]:
    """Hold many conversations of one turn, fifty at a time; measure what they keep, and what is left when they ended.

    They end when Home Assistant forgets them, for which it is waited when the extent
    has minutes.
    """
    samples = Samples("idle conversations")
    agent = setting.speakers[0]
    await _hold(setting, agent, _AT_ONCE * 2)  # what grows once, grows here
    memory, blocks = resident_bytes(), sys.getallocatedblocks()
    await _hold(setting, agent, setting.extent.conversations)
    held = sys.getallocatedblocks() - blocks
    remaining = (resident_bytes() - memory) / _KIB / setting.extent.conversations
    samples.add(agent.name, "kept_kib", remaining)
    if setting.extent.minutes:
        setting.rest()
        await _forgotten(setting)
        blocks -= (
            held * _AT_ONCE * 2 // setting.extent.conversations
        )  # the first have ended as well
        samples.add(
            agent.name, "blocks_left", (sys.getallocatedblocks() - blocks) / held
        )
    return list(samples.figures(setting.entities))


async def _hold(setting: Setting, agent: Agent, conversations: int) -> None:
    for _ in range(conversations // _AT_ONCE):
        await _say(setting, agent, _AT_ONCE, Plan(fragments=3))
    await flush(setting.hass, _LATER)
    gc.collect()


async def _say(setting: Setting, agent: Agent, times: int, plan: Plan) -> None:
    await setting.server.plan(plan)  # it forgets what it was asked
    await asyncio.gather(
        *(converse(setting.hass, agent, TimedTurn()) for _ in range(times))
    )


async def _forgotten(setting: Setting) -> None:
    """Wait until Home Assistant has forgotten all conversations: it looks once per time that they may be idle."""
    for _ in range(int(CONVERSATION_TIMEOUT.total_seconds() * 3 / _LEFT_ALONE)):
        if not setting.hass.data[DATA_CHAT_SESSION]:
            break
        await asyncio.sleep(_LEFT_ALONE)
    await asyncio.sleep(_LEFT_ALONE)
    await flush(setting.hass)
    gc.collect()
