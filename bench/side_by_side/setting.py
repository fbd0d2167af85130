"""The setting of every measurement: the home, the server, who takes part, and how much of everything is done.

Must not know what is measured.
"""

import asyncio
import gc
import os
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from homeassistant.const import EVENT_HOMEASSISTANT_FINAL_WRITE
from homeassistant.core import HomeAssistant
from homeassistant.helpers.aiohttp_client import async_get_clientsession

from bench.side_by_side.agents import Agent, lead_to, participants, set_up
from bench.side_by_side.home import started_home
from bench.side_by_side.home_assistant_alone import HandingOn, set_up_alone
from bench.side_by_side.model_server import PlannedCall
from bench.side_by_side.server_client import Server, model_server
from bench.side_by_side.targets import ALONE

TURN_ON: Final = PlannedCall(
    tool="HassTurnOn",
    arguments='{"name": "Kitchen Ceiling Light", "domain": ["light"]}',
)
"""The call of the turns with one call: a light of every home."""
_PAUSE: Final = 0.025
"""Seconds between two looks at whether anything is still done after a turn."""
_NOTHING: Final = 0.0004
"""Seconds of a processor between two looks that mean that nothing is done any more."""


@dataclass(frozen=True, slots=True)
class Extent:
    """How much is done."""

    rounds: int
    """Of which each sample is taken once for everybody."""
    turns: int
    """In each sample."""
    per_second: float = 400
    """Fragments of the words, where it is not about speed alone."""
    minutes: float = 0
    """That the turns of the look at the prefix take together."""
    conversations: int = 10_000
    """That are held at once."""


@dataclass(frozen=True, slots=True)
class Setting:
    """A home with everybody in it."""

    hass: HomeAssistant
    server: Server
    agents: Sequence[Agent]
    entities: int
    extent: Extent
    alone: tuple[Agent, HandingOn] | None = None
    """Home Assistant alone, where it takes part."""
    rest: Callable[[], None] = lambda: None
    """Told when from now on it is only waited, so that other things can be measured meanwhile."""

    def agent(self, name: str) -> Agent:
        """Return the agent of a name."""
        return next(agent for agent in self.agents if agent.name == name)

    @property
    def speakers(self) -> Sequence[Agent]:
        """All who can be spoken to: the agents, and Home Assistant alone."""
        return (*self.agents, self.alone[0]) if self.alone else self.agents


@asynccontextmanager
async def furnished(
    folder: Path,
    entities: int,
    extent: Extent,
    only: Sequence[str] = (),
    rest: Callable[[], None] = lambda: None,
) -> AsyncIterator[Setting]:
    """Start server and home, set everybody up, or only some; stop all in the end."""
    async with model_server() as server, started_home(folder, entities) as hass:
        lead_to(hass, server)
        chosen = [one for one in participants(server) if not only or one.name in only]
        agents = [await set_up(hass, participant) for participant in chosen]
        session = async_get_clientsession(hass)
        alone = (
            await set_up_alone(hass, server, session)
            if not only or ALONE in only
            else None
        )
        await hass.async_block_till_done()
        await flush(hass)
        yield Setting(hass, server, agents, entities, extent, alone, rest)


async def flush(hass: HomeAssistant, at_most: float = 1.0) -> None:
    """Have everything written that was put off, and wait until nothing is done any more; seconds at most.

    Home Assistant writes before it stops what its stores have put off; told so, they
    write now. What one agent leaves for later is so never done while another one is
    measured.
    """
    hass.bus.async_fire_internal(EVENT_HOMEASSISTANT_FINAL_WRITE)
    quiet = 0
    for _ in range(round(at_most / _PAUSE)):
        used = time.process_time()
        await asyncio.sleep(_PAUSE)
        quiet = quiet + 1 if time.process_time() - used < _NOTHING else 0
        if quiet > 1:
            return


def clear_away() -> None:
    """Collect all garbage, and set aside what is left, so that nobody's turn is the one in which all is gone through.

    What a turn leaves is still collected while it is measured, at the cost of who
    leaves it.
    """
    gc.collect()
    gc.freeze()


def resident_bytes() -> int:
    """Return how much memory this process has."""
    return int(
        Path("/proc/self/statm").read_text(encoding="ascii").split()[1]
    ) * os.sysconf("SC_PAGE_SIZE")


async def idle_share(seconds: float) -> float:
    """Return which share of a processor Home Assistant takes when nobody says anything."""
    began, used = time.monotonic(), time.process_time()
    await asyncio.sleep(seconds)
    return (time.process_time() - used) / (time.monotonic() - began)
