"""Records the requests of agents in eight turns, in a real Home Assistant. Must not know what is measured."""

import asyncio
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from homeassistant.components import conversation
from homeassistant.core import HomeAssistant
from homeassistant.helpers import area_registry as ar, entity_registry as er

from bench.side_by_side.agents import Agent, participants, set_up
from bench.side_by_side.answers import Format
from bench.side_by_side.home import Home, place_satellite, started_home
from bench.side_by_side.model_server import Plan, PlannedCall
from bench.side_by_side.server_client import Server, model_server
from bench.side_by_side.setting import TURN_ON, flush
from bench.side_by_side.targets import OURS, REFERENCE
from bench.side_by_side.turns import TimedTurn, converse

_STATES: Final = PlannedCall(tool="GetLiveContext", arguments='{"domain": "light"}')
_MINUTE: Final = 60.0
_LONGEST_WAIT: Final = 60.0
_LOOKS_EVERY: Final = 0.5


@dataclass(frozen=True, slots=True)
class Step:
    """One turn of the recording."""

    name: str
    text: str
    room: int = 0
    conversation: str = ""
    """Empty for the conversation of the room."""
    calls: tuple[PlannedCall, ...] = ()
    renames: bool = False
    """Whether a light is renamed before."""
    in_next_minute: bool = False


STEPS: Final = (
    Step("first turn after a start", "turn off the light please"),
    Step("second turn, same room", "is it going to rain later", in_next_minute=True),
    Step(
        "other room, a question about states",
        "which lights are on",
        1,
        calls=(_STATES,),
    ),
    Step("back in the first room", "thank you"),
    Step("a device was renamed", "what can you do", renames=True),
    Step("other room, a command", "turn on the kitchen light", 1, calls=(TURN_ON,)),
    Step("first room again", "good night"),
    Step("a new conversation", "good morning", conversation="new"),
)


@dataclass(frozen=True, slots=True)
class RecordedTurn:
    """The requests of one turn, in their order."""

    step: Step
    warm_up: tuple[bytes, ...]
    """Requests that are sent before the turn if the server has time."""
    requests: tuple[bytes, ...]


async def record(
    folder: Path,
    home: Home,
    steps: Sequence[Step] = STEPS,
    domains: Sequence[str] = (OURS, REFERENCE),
) -> dict[str, list[RecordedTurn]]:
    """Return the turns of our agent and of core's, by name, in a home."""
    async with _agents(folder, home, domains) as (hass, server, agents):
        rooms = [area.id for area in ar.async_get(hass).async_list_areas()][:2]
        satellites = [place_satellite(hass, area) for area in rooms]
        recorded: dict[str, list[RecordedTurn]] = {agent.name: [] for agent in agents}
        read_ahead = {OURS: await _read_ahead(server)} if OURS in domains else {}
        for step in steps:
            if step.renames:
                entity_id = (
                    "light.r1_floor_lamp"
                    if isinstance(home, int)
                    else "light.floor_lamp"
                )
                er.async_get(hass).async_update_entity(
                    entity_id, name="Living Room Dinosaur"
                )
                await hass.async_block_till_done()
            if step.in_next_minute:
                await asyncio.sleep(_MINUTE - time.time() % _MINUTE)
            for agent in agents:
                await server.plan(Plan(keeps_bodies=True))
                await conversation.async_prepare_agent(hass, agent.entity_id, "en")
                await flush(hass)
                warm_up = (*read_ahead.pop(agent.name, ()), *await _bodies(server))
                await server.plan(
                    Plan(fragments=1, calls=step.calls, keeps_bodies=True)
                )
                talk = f"{agent.entity_id} {step.conversation or step.room}"
                await converse(
                    hass, agent, TimedTurn(step.text, talk, satellites[step.room])
                )
                await flush(hass)
                recorded[agent.name].append(
                    RecordedTurn(step, warm_up, await _bodies(server))
                )
        return recorded


async def _read_ahead(server: Server) -> tuple[bytes, ...]:
    """Return what is sent before anyone speaks."""
    async with asyncio.timeout(_LONGEST_WAIT):
        while not (bodies := await _bodies(server)):  # noqa: ASYNC110  # it is another process
            await asyncio.sleep(_LOOKS_EVERY)
    return bodies


async def _bodies(server: Server) -> tuple[bytes, ...]:
    return tuple(one.body.encode() for one in await server.log())


@asynccontextmanager
async def _agents(
    folder: Path, home: Home, domains: Sequence[str]
) -> AsyncIterator[tuple[HomeAssistant, Server, Sequence[Agent]]]:
    async with model_server() as server, started_home(folder, home) as hass:
        chosen = [
            one
            for one in participants(server)
            if one.spoken is Format.CHAT and one.domain in domains
        ]
        await server.plan(Plan(keeps_bodies=True))
        agents = [await set_up(hass, participant) for participant in chosen]
        await hass.async_block_till_done()
        yield hass, server, agents
