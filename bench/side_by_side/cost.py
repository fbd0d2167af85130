"""The cost of a turn: processor time, time to the first words, time to the end; and that of each fragment.

Everybody takes turns, A B C, then C B A, so that what changes in the machine changes
for all. Processor time is that of the whole process until everything is done and
written that came of the turn, also what was put off, without what it takes when nobody
says anything; the model server is another process. The first words are counted from
when they were said to the agent, without what the server took from a request to its
first word.
"""

import asyncio
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial

from bench.side_by_side.agents import Agent
from bench.side_by_side.model_server import Plan, ServedRequest
from bench.side_by_side.results import Figure, Measure, figure
from bench.side_by_side.setting import TURN_ON, Setting, clear_away, flush, idle_share
from bench.side_by_side.targets import BARE, REFERENCE
from bench.side_by_side.turns import Heard, TimedTurn, Way, converse, through_pipeline

type Turn = Callable[[], Awaitable[Heard]]

_LONG = 400
"""Fragments of a long answer, ten times those of others."""
_CROWDS = (1, 10, 50)
_FIRST = 3
"""Turns of everybody that are not measured: what is done once is start.py's, and the first turns make what is kept."""
_IDLE = 1.0
"""Seconds for which it is watched what Home Assistant does by itself."""


@dataclass(slots=True)
class Samples:
    """Samples of everybody in one scenario."""

    scenario: str
    taken: dict[tuple[str, Measure], list[float]] = field(
        default_factory=lambda: defaultdict(list)
    )

    def add(self, agent: str, measure: Measure, value: float) -> None:
        """Take one."""
        self.taken[agent, measure].append(value)

    def figures(self, entities: int) -> Iterator[Figure]:
        """Sum all up."""
        for (agent, measure), samples in self.taken.items():
            yield figure(self.scenario, entities, agent, measure, samples)


async def measure_turns(setting: Setting) -> list[Figure]:
    """Measure plain turns and turns with one call, from an API client."""
    return await _both_kinds(setting, "converse", converse)


async def measure_pipeline(setting: Setting) -> list[Figure]:
    """Measure the same through the Assist pipeline, text to text."""
    return await _both_kinds(setting, "pipeline", through_pipeline)


async def measure_fragments(setting: Setting) -> list[Figure]:
    """Measure short and long answers at one pace: what they differ in is the cost of their fragments."""
    short = Plan(per_second=setting.extent.per_second * 4)
    shorts = await _interleaved(setting, "short", short, converse)
    longs = await _interleaved(
        setting, "long", short.model_copy(update={"fragments": _LONG}), converse
    )
    samples = Samples("fragments")
    for (agent, measure), taken in longs.taken.items():
        if measure == "cpu_ms":
            for more, less in zip(taken, shorts.taken[agent, measure], strict=True):
                samples.add(
                    agent,
                    "cpu_us_per_token",
                    (more - less) * 1000 / (_LONG - short.fragments),
                )
    return list(samples.figures(setting.entities))


async def _both_kinds(setting: Setting, name: str, way: Way) -> list[Figure]:
    plain = Plan(per_second=setting.extent.per_second)
    figures: list[Figure] = []
    for kind, plan in (
        ("plain", plain),
        ("tool", plain.model_copy(update={"calls": (TURN_ON,)})),
    ):
        figures += (await _interleaved(setting, f"{kind}, {name}", plan, way)).figures(
            setting.entities
        )
    return figures


async def measure_crowds(setting: Setting) -> list[Figure]:
    """Measure turns of many conversations at once; each speaks at the pace of a quick service."""
    plan = Plan(per_second=100)
    await _show_bodies(setting, plan, converse)
    figures: list[Figure] = []
    for crowd in _CROWDS:
        samples = Samples(f"{crowd} at once")
        for agent in setting.speakers:
            await _crowd(setting, agent, crowd)
        idle = await idle_share(_IDLE)
        for number in range(setting.extent.rounds):
            for agent in setting.speakers if number % 2 else reversed(setting.speakers):
                await setting.server.plan(plan)
                clear_away()
                used, began = time.process_time(), time.monotonic()
                heard = await _crowd(setting, agent, crowd)
                cpu = time.process_time() - used - idle * (time.monotonic() - began)
                samples.add(agent.name, "cpu_ms", cpu * 1000 / crowd)
                for one in heard:
                    samples.add(agent.name, "turn_ms", (one.ended - one.began) * 1000)
        figures += samples.figures(setting.entities)
    return figures


async def _crowd(setting: Setting, agent: Agent, crowd: int) -> list[Heard]:
    heard = await asyncio.gather(
        *(converse(setting.hass, agent, TimedTurn()) for _ in range(crowd))
    )
    await flush(setting.hass)
    return heard


async def _interleaved(
    setting: Setting, scenario: str, plan: Plan, way: Way
) -> Samples:
    """Let everybody take turns; the bare client asks what core's agent of the same format asks."""
    bodies = await _show_bodies(setting, plan, way)
    samples = Samples(scenario)

    async def bare() -> Heard:
        began = time.monotonic()
        firsts = [await setting.server.ask_bare(body) for body in bodies]
        return Heard(began, firsts[-1], time.monotonic())

    async def speak(agent: Agent) -> Heard:
        return await way(setting.hass, agent, TimedTurn())

    turns: list[tuple[str, Turn]] = [(BARE, bare)] if bodies else []
    turns += [(agent.name, partial(speak, agent)) for agent in setting.speakers]
    for _ in range(_FIRST):
        for _, turn in turns:
            await turn()
    await flush(setting.hass)
    sampling = _Sampling(setting, samples, plan, await idle_share(_IDLE))
    for number in range(setting.extent.rounds):
        for name, turn in turns if number % 2 else reversed(turns):
            await sampling.take(name, turn)
    return samples


@dataclass(frozen=True, slots=True)
class _Sampling:
    """A scenario while it is measured."""

    setting: Setting
    samples: Samples
    plan: Plan
    idle: float
    """Share of a processor."""

    async def take(self, name: str, turn: Turn) -> None:
        """Take a sample of somebody's turns, each as if nobody spoke for a while afterwards."""
        await self.setting.server.plan(self.plan)
        clear_away()
        began, used = time.monotonic(), time.process_time()
        heard = []
        for _ in range(self.setting.extent.turns):
            heard.append(await turn())
            await flush(self.setting.hass)
        cpu = time.process_time() - used - self.idle * (time.monotonic() - began)
        requested = await self.setting.server.log()
        self.samples.add(name, "cpu_ms", cpu * 1000 / len(heard))
        for one in heard:
            self.samples.add(name, "turn_ms", (one.ended - one.began) * 1000)
            if not self.plan.calls:
                self.samples.add(
                    name,
                    "first_ms",
                    (one.first - one.began - _server_took(one, requested)) * 1000,
                )


def _server_took(heard: Heard, parsed: Sequence[ServedRequest]) -> float:
    """Return the seconds from a turn's request to the server's first word."""
    request = next(one for one in parsed if heard.began <= one.received <= heard.ended)
    return request.first_word - request.received


async def _show_bodies(setting: Setting, plan: Plan, way: Way) -> list[bytes]:
    """Return what core's agent sends in a turn, and have Home Assistant alone send the same."""
    if not any(agent.name == REFERENCE for agent in setting.agents):
        return []
    await setting.server.plan(plan.model_copy(update={"keeps_bodies": True}))
    await way(setting.hass, setting.agent(REFERENCE), TimedTurn())
    bodies = [requested.body.encode() for requested in await setting.server.log()]
    await setting.server.plan(plan)
    if setting.alone:
        setting.alone[1].bodies = bodies
    return bodies
