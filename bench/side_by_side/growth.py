"""The cost of a long conversation, and of five tools at once.

Must not know how an agent keeps a conversation.
"""

import statistics
import time
from collections import defaultdict
from typing import Final

from bench.side_by_side.cost import Samples
from bench.side_by_side.home import SLOW_SCRIPT
from bench.side_by_side.model_server import Plan, PlannedCall
from bench.side_by_side.results import Figure
from bench.side_by_side.setting import Setting, clear_away, flush
from bench.side_by_side.turns import TimedTurn, converse

WINDOWS: Final = {1: range(3), 10: range(5, 15), 50: range(45, 55), 100: range(90, 100)}
"""Of which turns, counted from 0, a sample is the median."""
_FIVE: Final = 5


async def measure_growth(setting: Setting) -> list[Figure]:
    """Hold conversations of a hundred turns, everybody one turn at a time."""
    samples = {length: Samples(f"turn {length}") for length in WINDOWS}
    measured = {turn for window in WINDOWS.values() for turn in window}
    for conversation in range(setting.extent.rounds):
        taken: dict[str, dict[int, tuple[float, int]]] = defaultdict(dict)
        for turn in range(max(WINDOWS)):
            for agent in setting.agents:
                words = TimedTurn(
                    f"And what about {turn}?",
                    f"conversation {conversation} of {agent.entity_id}",
                )
                if turn not in measured:
                    await converse(setting.hass, agent, words)
                    continue
                if turn - 1 not in measured:
                    await flush(setting.hass)
                await setting.server.plan(Plan())
                clear_away()
                used = time.process_time()
                await converse(setting.hass, agent, words)
                await flush(setting.hass)
                cpu = time.process_time() - used
                taken[agent.name][turn] = (
                    cpu * 1000,
                    (await setting.server.log())[0].size,
                )
        for name, turns in taken.items():
            for length, window in WINDOWS.items():
                samples[length].add(
                    name, "cpu_ms", statistics.median(turns[turn][0] for turn in window)
                )
                samples[length].add(
                    name,
                    "request_bytes",
                    statistics.median(turns[turn][1] for turn in window),
                )
    return [
        figure for one in samples.values() for figure in one.figures(setting.entities)
    ]


async def measure_five_tools(setting: Setting) -> list[Figure]:
    """Have a model call five tools of 300 ms in one message: the time from there to the next request."""
    samples = Samples("five tools of 300 ms")
    plan = Plan(calls=(PlannedCall(tool=SLOW_SCRIPT),) * _FIVE)
    for _ in range(setting.extent.rounds):
        for agent in setting.agents:
            await setting.server.plan(plan)
            await converse(setting.hass, agent, TimedTurn())
            first, second = await setting.server.log()
            samples.add(
                agent.name,
                "between_requests_ms",
                (second.received - first.ended) * 1000,
            )
    return list(samples.figures(setting.entities))
