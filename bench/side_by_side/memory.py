"""What a turn allocates, and what conversations keep when nobody speaks.

Allocations are traced, so nothing of speed is measured here. Must not know how an agent keeps a conversation.
"""

import asyncio
import gc
import sys
import tracemalloc
from typing import Final

from homeassistant.helpers.chat_session import CONVERSATION_TIMEOUT

from bench.side_by_side.cost import Samples
from bench.side_by_side.model_server import Plan
from bench.side_by_side.results import Figure
from bench.side_by_side.setting import Setting, resident_bytes
from bench.side_by_side.turns import Said, converse

_KIB: Final = 1024
_AT_ONCE: Final = 50


async def measure_allocations(setting: Setting) -> list[Figure]:
    """Trace what is allocated in a turn: the most at a time, and what is still there when it has ended."""
    samples = Samples("plain")
    await setting.server.plan(Plan())
    for agent in setting.agents:
        for _ in range(3):
            await converse(setting.hass, agent, Said())
    tracemalloc.start()
    for _ in range(setting.extent.rounds):
        for agent in setting.agents:
            gc.collect()
            tracemalloc.reset_peak()
            before, _ = tracemalloc.get_traced_memory()
            await converse(setting.hass, agent, Said())
            _, peak = tracemalloc.get_traced_memory()
            gc.collect()
            after, _ = tracemalloc.get_traced_memory()
            samples.add(agent.name, "peak_kib", (peak - before) / _KIB)
            samples.add(agent.name, "kept_kib", (after - before) / _KIB)
    tracemalloc.stop()
    return list(samples.figures(setting.entities))


async def measure_idle(setting: Setting) -> list[Figure]:
    """Hold many conversations of one turn, fifty at a time; measure what they keep, and what is left when they ended.

    They end when Home Assistant forgets them, for which it is waited when the extent has minutes.
    """
    samples = Samples("idle conversations")
    agent = setting.agents[0]
    await setting.server.plan(Plan(fragments=3))
    await _hold(setting, _AT_ONCE * 2)  # what grows once, grows here
    memory, blocks = resident_bytes(), sys.getallocatedblocks()
    await _hold(setting, setting.extent.conversations)
    held = sys.getallocatedblocks() - blocks
    kept = (resident_bytes() - memory) / _KIB / setting.extent.conversations
    samples.add(agent.name, "kept_kib", kept)
    if setting.extent.minutes:
        await asyncio.sleep(CONVERSATION_TIMEOUT.total_seconds() * 2 + 30)
        gc.collect()
        samples.add(agent.name, "blocks_left", (sys.getallocatedblocks() - blocks) / held)
    return list(samples.figures(setting.entities))


async def _hold(setting: Setting, conversations: int) -> None:
    agent = setting.agents[0]
    for _ in range(conversations // _AT_ONCE):
        await asyncio.gather(*(converse(setting.hass, agent, Said()) for _ in range(_AT_ONCE)))
    await setting.server.plan(Plan(fragments=3))  # it forgets what it was asked
    gc.collect()
