"""Count the files that one turn passes through.

Run it with `python -m bench.spine "turn on the kitchen light"`: a real Home Assistant
with the demo home and a scripted model takes the turn as a satellite starts it, and the
files and functions of `custom_components/chatterbox` that are entered are counted, in
every thread, until nothing is left to do. `--approval` takes two turns instead, one
that asks before it unlocks a door, and the "yes". `--api` posts the sentence to the
Responses API. `--list` prints the names.

A file is entered when one of its functions is executed; importing it does not count. A
switch is a call from one file into another one, directly or through code that is not
part of the integration.
"""

import tests.support.early_plugin  # noqa: F401  # isort: skip  # before what it is for

import argparse
import asyncio
import logging
import sys
from collections import Counter
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from inspect import CO_OPTIMIZED
from pathlib import Path
from types import CodeType, FrameType
from typing import Final

from aiohttp.test_utils import TestClient, TestServer
from homeassistant.auth.const import GROUP_ID_ADMIN
from homeassistant.components import conversation
from homeassistant.components.conversation import ConversationResult
from homeassistant.const import CONF_LLM_HASS_API, CONF_MODEL
from homeassistant.core import Context, HomeAssistant
from homeassistant.setup import async_setup_component

from custom_components.chatterbox.const import (
    CONF_BASE_URL,
    CONF_KIND,
    CONF_RESPONSES_API,
    DOMAIN,
    ServiceKind,
)
from tests.support.own_home import own_home
from tests.support.servers.in_process import serving_script
from tests.support.servers.script import Script, ScriptedAnswer, ScriptedCall
from tests.support.talk import (
    AGENT,
    LIGHT_ON,
    add_agent,
    move_into_the_demo_home,
    speech,
)

_ROOT: Final = Path(__file__).parents[1] / "custom_components" / "chatterbox"
_PREFIX: Final = f"{_ROOT}/"
_SATELLITE: Final = "assist_satellite.kitchen"
_SENTENCES: Final = {
    "light": "turn on the kitchen light",
    "approval": "unlock the front door",
}
_LIGHT: Final = Script(
    answers=(
        ScriptedAnswer(tool_calls=(LIGHT_ON,)),
        ScriptedAnswer(content="The light is on."),
    )
)
_UNLOCK: Final = Script(
    answers=(
        ScriptedAnswer(
            tool_calls=(
                ScriptedCall(
                    name="HassTurnOff",
                    arguments={"name": "Front Door", "domain": "lock"},
                ),
            )
        ),
        ScriptedAnswer(content="The door is unlocked."),
    )
)


@dataclass(slots=True)
class Entered:
    """The files and functions that were entered, and the calls between files."""

    functions: Counter[tuple[str, str]] = field(default_factory=Counter)
    """Calls by file and qualified name."""
    switches: Counter[tuple[str, str]] = field(default_factory=Counter)
    """Calls by the file that calls and the file that is called."""

    @property
    def files(self) -> list[str]:
        """Return the paths of the files, below the integration's folder."""
        return sorted({file for file, _ in self.functions})

    def add(self, code: CodeType, frame: FrameType | None) -> None:
        """Count a call, with what has led to it."""
        if not code.co_flags & CO_OPTIMIZED:  # the body of a module or a class
            return
        file = code.co_filename.removeprefix(_PREFIX)
        self.functions[file, code.co_qualname] += 1
        while frame is not None and not frame.f_code.co_filename.startswith(_PREFIX):
            frame = frame.f_back
        if frame is not None and frame.f_code is not code:
            caller = frame.f_code.co_filename.removeprefix(_PREFIX)
            if caller != file:
                self.switches[caller, file] += 1


@contextmanager
def recording() -> Generator[Entered]:
    """Record every function of the integration that is entered meanwhile, in all threads."""
    entered = Entered()
    monitoring = sys.monitoring

    def on_start(code: CodeType, _offset: int) -> object:
        if not code.co_filename.startswith(_PREFIX):
            return monitoring.DISABLE
        entered.add(code, sys._getframe(1).f_back)  # noqa: SLF001  # the way to the calling code
        return None

    monitoring.use_tool_id(monitoring.PROFILER_ID, "spine")
    try:
        monitoring.register_callback(
            monitoring.PROFILER_ID, monitoring.events.PY_START, on_start
        )
        monitoring.set_events(monitoring.PROFILER_ID, monitoring.events.PY_START)
        monitoring.restart_events()  # what an earlier recording has left out
        yield entered
    finally:
        monitoring.set_events(monitoring.PROFILER_ID, monitoring.events.NO_EVENTS)
        monitoring.register_callback(
            monitoring.PROFILER_ID, monitoring.events.PY_START, None
        )
        monitoring.free_tool_id(monitoring.PROFILER_ID)


@asynccontextmanager
async def _home(script: Script) -> AsyncGenerator[HomeAssistant]:
    """Start a Home Assistant with the demo home and an agent, and a server that plays `script`."""
    async with serving_script(script) as base_url, own_home() as hass:
        service: dict[str, object] = {
            CONF_KIND: ServiceKind.OPENAI_CHAT,
            CONF_BASE_URL: base_url,
        }
        await async_setup_component(hass, "http", {})
        await move_into_the_demo_home(hass)
        await add_agent(
            hass, service, {CONF_MODEL: "scripted-model", CONF_LLM_HASS_API: ["assist"]}
        )
        yield hass


async def _say(hass: HomeAssistant, text: str) -> ConversationResult:
    result = await conversation.async_converse(
        hass,
        text,
        "spine",
        Context(),
        "en",
        AGENT,
        device_id="kitchen",
        satellite_id=_SATELLITE,
    )
    await hass.async_block_till_done(wait_background_tasks=True)
    return result


async def light(sentence: str) -> Entered:
    """Turn on a light by voice."""
    async with _home(_LIGHT) as hass:
        with recording() as entered:
            await _say(hass, sentence)
        if not hass.states.is_state("light.kitchen_ceiling", "on"):
            raise RuntimeError("The light is off.")
    return entered


async def approval(sentence: str) -> Entered:
    """Unlock a door by voice: the agent asks, and the answer is "yes"."""
    async with _home(_UNLOCK) as hass:
        with recording() as entered:
            requested = await _say(hass, sentence)
            answered = await _say(hass, "yes")
        if not requested.continue_conversation or not hass.states.is_state(
            "lock.front_door", "unlocked"
        ):
            raise RuntimeError(
                f"The door is locked: {speech(requested)} {speech(answered)}"
            )
    return entered


async def api(sentence: str) -> Entered:
    """Turn on a light with a request to the Responses API."""
    async with _home(_LIGHT) as hass:
        for entry in hass.config_entries.async_entries(DOMAIN):
            hass.config_entries.async_update_entry(
                entry, options={**entry.options, CONF_RESPONSES_API: True}
            )
        await hass.async_block_till_done(wait_background_tasks=True)
        user = await hass.auth.async_create_user(
            "An API client", group_ids=[GROUP_ID_ADMIN]
        )
        token = await hass.auth.async_create_refresh_token(user, "https://example.com")
        headers = {
            "Authorization": f"Bearer {hass.auth.async_create_access_token(token)}"
        }
        tools = [{"type": "mcp", "server_label": "assist", "require_approval": "never"}]
        body = {"model": AGENT, "input": sentence, "tools": tools}
        async with TestClient(TestServer(hass.http.app), headers=headers) as client:
            with recording() as entered:
                response = await client.post("/api/chatterbox/v1/responses", json=body)
                text = await response.text()
                await hass.async_block_till_done(wait_background_tasks=True)
        if not hass.states.is_state("light.kitchen_ceiling", "on"):
            raise RuntimeError(f"The light is off: {text}")
    return entered


SCENARIOS: Final[Mapping[str, Callable[[str], Awaitable[Entered]]]] = {
    "light": light,
    "approval": approval,
    "api": api,
}


def report(entered: Entered, *, lists: bool) -> str:
    """Return the counts, and the names if asked for."""
    lines = [
        f"{len(entered.files)} files entered",
        f"{len(entered.functions)} functions entered",
        f"{entered.switches.total()} switches between files",
    ]
    if lists:
        lines += ["", "Files:", *entered.files]
        lines += [
            "",
            "Functions:",
            *(
                f"{n:6} {file}: {name}"
                for (file, name), n in sorted(entered.functions.items())
            ),
        ]
        lines += [
            "",
            "Switches:",
            *(
                f"{n:6} {one} -> {two}"
                for (one, two), n in entered.switches.most_common()
            ),
        ]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Read the command line, take the turn and print the counts."""
    parser = argparse.ArgumentParser(prog="python -m bench.spine", description=__doc__)
    parser.add_argument(
        "sentence", nargs="?", help="(default: one that fits the scenario)"
    )
    which = parser.add_mutually_exclusive_group()
    for name in ("approval", "api"):
        which.add_argument(
            f"--{name}",
            dest="scenario",
            action="store_const",
            const=name,
            default="light",
        )
    parser.add_argument(
        "--list",
        action="store_true",
        help="print the names of files, functions and switches",
    )
    arguments = parser.parse_args()
    logging.disable()
    sentence = arguments.sentence or _SENTENCES.get(
        arguments.scenario, _SENTENCES["light"]
    )
    sys.stdout.write(
        report(
            asyncio.run(SCENARIOS[arguments.scenario](sentence)), lists=arguments.list
        )
    )


if __name__ == "__main__":
    main()
