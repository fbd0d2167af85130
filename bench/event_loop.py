"""For how long the event loop is held while turns run in a home of 2,000 entities.

Run it with `python -m bench.event_loop`: for turns of an agent with a model and of one
without, the first ones of a fresh start and after a room was renamed, and for eight
bodies of 0.8 MB that API clients send at once, it prints the longest time in
milliseconds of processor time for which the event loop runs nothing else. What Home
Assistant itself does there, such as switching 400 lights, is part of it. Ends with
status 1 when anything takes longer than 50 ms.
"""

import tests.support.early_plugin  # noqa: F401  # isort: skip  # before what it is for

import asyncio
import gc
import json
import logging
import sys
import tempfile
from collections.abc import Awaitable, Iterator
from pathlib import Path
from typing import Final

from homeassistant.core import HomeAssistant
from homeassistant.helpers import area_registry as ar

from bench.approval_policy import ALLOWED_HOLD, build, longest_hold
from custom_components.chatterbox.agent.messages import JsonObject
from custom_components.chatterbox.responses.backend import ResponsesBackend
from custom_components.chatterbox.responses.protocol.backend import Caller
from custom_components.chatterbox.responses.protocol.service import ResponsesService
from tests.support.api_clients import a_user, enable_api
from tests.support.config_entries import offline_entry, server_entry, set_up
from tests.support.own_home import own_home
from tests.support.servers.process import scripted_server
from tests.support.servers.script import Script, ScriptedAnswer
from tests.support.talk import AGENT, say

_OFFLINE: Final = f"{AGENT}_2"
_BODIES: Final = 8
_CALLS: Final = 1_000
"""In each body, which has 0.8 MB with them."""
_TURNS: Final = {
    "the first turn": "what can I cook today",
    "the second turn": "and tomorrow",
    "all lights": "turn off all lights",
    "all lights to a value": "set all lights to 20 percent",
    "one by its name": "turn off device three thing ten",
    "a misheard name": "turn off devise tree think ten",
    "a question": "which lights are on",
    "what was": "was device three thing ten on today",
}


def body() -> str:
    """Return the body of a request with many calls of the client's tools, and their results."""
    items: list[JsonObject] = [{"type": "message", "role": "user", "content": "Hi."}]
    for number in range(_CALLS):
        call: JsonObject = {"call_id": f"call_{number}", "type": "function_call"}
        result: JsonObject = {"call_id": f"call_{number}", "output": "On. " * 160}
        items += [
            {**call, "name": "look", "arguments": '{"name": "lamp"}'},
            {**result, "type": "function_call_output"},
        ]
    return json.dumps({"model": AGENT, "input": items, "truncation": "auto"})


def rename_a_room(hass: HomeAssistant) -> None:
    """Give a room another name: all that is known of the names of the home is read again."""
    areas = ar.async_get(hass)
    room = next(iter(areas.async_list_areas()))
    areas.async_update(room.id, name=f"{room.name} again")


def doings(hass: HomeAssistant) -> Iterator[tuple[str, Awaitable[object]]]:
    """Yield what is measured, one after the other."""
    agents = (AGENT, "with a model"), (_OFFLINE, "without one")
    for agent_id, kind in agents:
        for name, text in _TURNS.items():
            yield f"{name}, {kind}", say(hass, text, agent_id, agent_id=agent_id)
    for agent_id, kind in agents:
        rename_a_room(hass)
        name = f"after a new name, {kind}"
        yield name, say(hass, "what can I cook today", agent_id, agent_id=agent_id)
    service = ResponsesService(ResponsesBackend(hass))
    caller = Caller(a_user(hass).id)
    bodies = (service.create(body(), caller) for _ in range(_BODIES))
    yield f"{_BODIES} bodies of {_CALLS} calls", asyncio.gather(*bodies)


async def main() -> bool:
    """Print a line for each; return whether none holds the event loop for too long."""
    script = Script(
        answers=(ScriptedAnswer(content="Soup."),), after_last="start again"
    )
    longest = 0.0
    with tempfile.TemporaryDirectory() as folder:
        async with scripted_server(script, Path(folder)) as server, own_home() as hass:
            await build(hass)
            await set_up(hass, server_entry(server.base_url, local_commands="first"))
            await set_up(hass, offline_entry())
            await enable_api(hass)
            gc.disable()  # nothing pays for going through the whole home
            for name, doing in doings(hass):
                gc.collect()
                hold = await longest_hold(doing)
                longest = max(longest, hold)
                sys.stdout.write(f"{name:<34}{hold * 1000:>8.0f} ms\n")
                await hass.async_block_till_done()
    return longest <= ALLOWED_HOLD


if __name__ == "__main__":
    logging.disable()
    sys.exit(0 if asyncio.run(main()) else 1)
