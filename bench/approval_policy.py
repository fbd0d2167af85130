"""How long it takes to find out what a call would do, and what the rules say of it, in a home of 2,000 entities.

Run it with `python -m bench.approval_policy`: for calls by name, by area and for the
whole home, and for sentences of the offline agent, it prints the milliseconds of
processor time to resolve the call, to judge it, and what the call waits for in all:
`CallGuard.pre_tool_use`, which also asks for the permissions of who speaks, here a user
who may control each domain for itself. Figures are of the quickest round, which is what
it costs when nothing else goes on; the last column is the median of the whole. The last
line is for the one call after a registry has changed, for which names and areas are
looked up anew. Then comes the longest time for which the event loop is held while all
entities are judged, as for the dialog that tells what the rules mean for the home. Ends
with status 1 when the quickest round of any other call takes longer than is allowed, or
if that time does.
"""

import tests.support.early_plugin  # noqa: F401  # isort: skip  # before what it is for

import argparse
import asyncio
import gc
import logging
import sys
import time
from collections.abc import Awaitable
from dataclasses import dataclass
from typing import Final

from homeassistant.components import conversation
from homeassistant.components.homeassistant.exposed_entities import async_expose_entity
from homeassistant.core import Context, HomeAssistant
from homeassistant.helpers import (
    area_registry as ar,
    device_registry as dr,
    entity_registry as er,
    llm,
)
from homeassistant.setup import async_setup_component
from homeassistant.util import dt as dt_util
from pytest_homeassistant_custom_component.common import MockConfigEntry, MockUser

from custom_components.chatterbox.agent.messages import JsonObject
from custom_components.chatterbox.approvals.examples import async_judge_entities
from custom_components.chatterbox.approvals.guard import CallGuard
from custom_components.chatterbox.approvals.policy import judge
from custom_components.chatterbox.effects.effect import CallEffects
from custom_components.chatterbox.offline.provider import PROCESS_SENTENCE, SENTENCE
from custom_components.chatterbox.people.speakers import Asking, Speaker
from custom_components.chatterbox.settings.agent import AgentSettings
from custom_components.chatterbox.settings.rules import HomeRules, Policy, Rule, Verdict
from custom_components.chatterbox.tools.turn_tools import TurnTools, async_gather_tools
from tests.support.own_home import own_home

ALLOWED: Final = 0.005
"""Seconds that resolving and judging one call may take."""

ALLOWED_HOLD: Final = 0.05
"""Seconds for which the event loop may be held while the home is judged."""

ENTITIES: Final = 2000
_DOMAINS: Final = ("light", "switch", "sensor", "lock", "cover")
_AREAS: Final = 40


def _sentence(text: str) -> tuple[str, JsonObject]:
    return PROCESS_SENTENCE.name, {SENTENCE: text}


CALLS: Final[dict[str, tuple[str, JsonObject]]] = {
    "by name": ("intent__HassTurnOff", {"name": "Device 3 Thing 10"}),
    "by a name that nothing has": ("intent__HassTurnOff", {"name": "Drawbridge"}),
    "by area": ("intent__HassTurnOff", {"area": "Room 3"}),
    "by area and domain": (
        "intent__HassTurnOff",
        {"area": "Room 3", "domain": ["light"]},
    ),
    "all locks": ("intent__HassTurnOff", {"name": "all", "domain": ["lock"]}),
    "the whole home": ("intent__HassTurnOff", {"name": "all", "domain": [*_DOMAINS]}),
    "a sentence": _sentence("turn off Device 3 Thing 10"),
    "two sentences in one": _sentence(
        "turn off the lights in Room 3 and unlock Device 1 Thing 3"
    ),
    "two that nobody understands": _sentence(
        "turn on the drawbridge and tell me a joke"
    ),
}

POLICY: Final = Policy(
    (
        Rule(
            verdict=Verdict.PIN,
            domains=frozenset({"lock"}),
            labels=frozenset({"risky"}),
        ),
        Rule(verdict=Verdict.ASK, areas=frozenset({"room_1"})),
        Rule(verdict=Verdict.DENY, device_classes=frozenset({"garage"})),
        Rule(verdict=Verdict.ALLOW, entities=frozenset({"lock.thing_7"})),
    )
)
"""Rules of a household that have everything looked up, of every entity."""


async def build(hass: HomeAssistant) -> None:
    """Fill a home with entities that belong to devices in areas; all are exposed."""
    for component in ("homeassistant", conversation.DOMAIN, *_DOMAINS):
        await async_setup_component(hass, component, {})
    entry = MockConfigEntry(domain="home")
    entry.add_to_hass(hass)
    areas = [
        ar.async_get(hass).async_create(f"Room {number}") for number in range(_AREAS)
    ]
    devices, entities = dr.async_get(hass), er.async_get(hass)
    for number in range(ENTITIES):
        device = devices.async_get_or_create(
            config_entry_id=entry.entry_id,
            identifiers={("home", str(number // 3))},
            name=f"Device {number // 3}",
        )
        devices.async_update_device(device.id, area_id=areas[number // 3 % _AREAS].id)
        entity = entities.async_get_or_create(
            _DOMAINS[number % len(_DOMAINS)],
            "home",
            str(number),
            config_entry=entry,
            device_id=device.id,
            has_entity_name=True,
            original_name=f"Thing {number}",
            suggested_object_id=f"thing_{number}",
        )
        hass.states.async_set(
            entity.entity_id,
            "on",
            {"friendly_name": f"Device {number // 3} Thing {number}"},
        )
        async_expose_entity(
            hass, conversation.DOMAIN, entity.entity_id, should_expose=True
        )


@dataclass(frozen=True, slots=True)
class Round:
    """Seconds that one call took."""

    resolve: float
    judge: float
    whole: float
    """Through the guard, which does both itself."""
    acted_on: int
    """Entities."""


@dataclass(frozen=True, slots=True)
class Home:
    """A home, what an agent may use in it, and who speaks."""

    hass: HomeAssistant
    tools: TurnTools
    rules: HomeRules
    speaker: Speaker

    @classmethod
    async def of(cls, hass: HomeAssistant) -> Home:
        """Gather the tools of Assist and of the offline agent, for a user with permissions of their own."""
        user = MockUser().add_to_hass(hass)
        user.mock_policy({"entities": {"domains": dict.fromkeys(_DOMAINS, True)}})
        settings = AgentSettings(llm_apis=(llm.LLM_API_ASSIST,))
        words = conversation.ConversationInput(
            "", Context(user_id=user.id), None, None, None, "en", "conversation.us"
        )
        tools = await async_gather_tools(
            hass, words, "a-talk", settings, understands_sentences=True
        )
        return cls(
            hass,
            tools,
            HomeRules(policy=POLICY),
            Speaker(user_id=user.id, asking=Asking.PERSON),
        )

    async def round(self, name: str, arguments: JsonObject) -> Round:
        """Resolve and judge a call, and have it guarded."""
        tool = next(tool for tool in self.tools.definitions if tool.name == name)
        effects_of = self.tools.dispatcher.async_effects
        guard = CallGuard(
            self.hass, self.rules, self.speaker, effects_of, has_outside_content=True
        )
        began = time.process_time()
        await guard.pre_tool_use(tool, arguments)
        guarded = time.process_time()
        effects = await effects_of(name, arguments)
        resolved = time.process_time()
        judge(
            self.hass, POLICY, CallEffects(name, effects), self.speaker, dt_util.now()
        )
        judged = time.process_time()
        return Round(
            resolved - guarded,
            judged - resolved,
            guarded - began,
            len(effects.actions),
        )

    async def measure(
        self, name: str, arguments: JsonObject, rounds: int, *, change: bool
    ) -> list[Round]:
        """Return several rounds, the quickest first; each comes after a `change` of a registry."""
        measured: list[Round] = []
        for number in range(rounds):
            if change:
                er.async_get(self.hass).async_update_entity(
                    "light.thing_0", name=f"Lamp {number}"
                )
            measured.append(await self.round(name, arguments))
        return sorted(measured, key=lambda taken: taken.whole)


def write(kind: str, measured: list[Round]) -> float:
    """Print a line for one kind of call; return the seconds of its quickest round."""
    quickest, median = measured[0], measured[len(measured) // 2]
    figures = (quickest.resolve, quickest.judge, quickest.whole, median.whole)
    written = "".join(f"{figure * 1000:>10.2f}" for figure in figures)
    sys.stdout.write(f"{kind:<30}{quickest.acted_on:>10}{written}\n")
    return quickest.whole


async def longest_hold(doing: Awaitable[object]) -> float:
    """Return the seconds of processor time for which something keeps everything else from the event loop at most.

    The time of other threads does not count: they let the event loop run meanwhile.
    """
    longest, last, loop = 0.0, time.thread_time(), asyncio.get_running_loop()
    task = asyncio.ensure_future(doing)

    def beat() -> None:
        nonlocal longest, last
        now = time.thread_time()
        longest, last = max(longest, now - last), now
        if not task.done():
            loop.call_soon(beat)

    beat()
    await task
    beat()
    return longest


async def main(rounds: int) -> bool:
    """Print a line for each kind of call; tell whether all were quick enough."""
    async with own_home() as hass:
        await build(hass)
        home = await Home.of(hass)
        gc.collect()
        gc.freeze()  # no call pays for going through the whole home
        titles = "".join(
            f"{title:>10}"
            for title in ("entities", "resolve", "judge", "whole", "median")
        )
        sys.stdout.write(f"{'milliseconds':<30}{titles}\n")
        quick = True
        for kind, (name, arguments) in CALLS.items():
            quick &= (
                write(kind, await home.measure(name, arguments, rounds, change=False))
                <= ALLOWED
            )
        name, arguments = CALLS["by name"]
        write(
            "by name, after a change",
            await home.measure(name, arguments, rounds, change=True),
        )
        entity_ids = hass.states.async_entity_ids()
        hold = min(
            [
                await longest_hold(async_judge_entities(hass, POLICY, entity_ids))
                for _ in range(rounds)
            ]
        )
        sys.stdout.write(
            f"the event loop is held for {hold * 1000:.1f} ms while the home is judged\n"
        )
        quick &= hold <= ALLOWED_HOLD
    sys.stdout.write(f"allowed: {ALLOWED * 1000:.0f} ms a call\n")
    return quick


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description="Measures what it costs to judge a call before it runs."
    )
    parser.add_argument(
        "--rounds",
        type=int,
        default=25,
        help="calls of each kind (default: %(default)s)",
    )
    logging.disable()
    sys.exit(0 if asyncio.run(main(parser.parse_args().rounds)) else 1)
