"""What every measurement needs at hand: the home, the server, who takes part, and how much of everything is done.

Must not know what is measured.
"""

import asyncio
import os
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from homeassistant.core import HomeAssistant

from bench.side_by_side.agents import Agent, lead_to, participants, set_up
from bench.side_by_side.house import started_home
from bench.side_by_side.model_server import PlannedCall
from bench.side_by_side.server_client import Server, model_server

TURN_ON: Final = PlannedCall(tool="HassTurnOn", arguments='{"name": "Kitchen Ceiling Light", "domain": ["light"]}')
"""The call of the turns with one call: a light of every home."""
BARE: Final = "bare client"


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

    def agent(self, name: str) -> Agent:
        """Return the agent of a name."""
        return next(agent for agent in self.agents if agent.name == name)


@asynccontextmanager
async def furnished(folder: Path, entities: int, extent: Extent, only: Sequence[str] = ()) -> AsyncIterator[Setting]:
    """Start server and home, set everybody up, or only some; stop all in the end."""
    async with model_server() as server, started_home(folder, entities) as hass:
        lead_to(hass, server)
        chosen = [one for one in participants(server) if not only or one.name in only]
        agents = [await set_up(hass, participant) for participant in chosen]
        await hass.async_block_till_done()
        yield Setting(hass, server, agents, entities, extent)


def resident_bytes() -> int:
    """Return how much memory this process has."""
    return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE")


async def idle_share(seconds: float) -> float:
    """Return which share of a processor Home Assistant takes when nobody says anything."""
    began, used = time.monotonic(), time.process_time()
    await asyncio.sleep(seconds)
    return (time.process_time() - used) / (time.monotonic() - began)
