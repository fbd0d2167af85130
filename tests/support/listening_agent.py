"""An agent that finds out who speaks, and homes with automations and scripts that talk to it.

Knows Home Assistant's conversation agents; must not know what is expected of whom.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal, override

from homeassistant.auth.const import GROUP_ID_ADMIN, GROUP_ID_USER
from homeassistant.components import conversation
from homeassistant.components.conversation import (
    AbstractConversationAgent,
    ConversationInput,
    ConversationResult,
    async_set_agent,
)
from homeassistant.core import Context, HomeAssistant
from homeassistant.helpers import entity_registry as er, intent
from homeassistant.setup import async_setup_component
from pytest_homeassistant_custom_component.common import MockConfigEntry

from custom_components.chatterbox.const import DOMAIN
from custom_components.chatterbox.people.speakers import (
    Asking,
    Speaker,
    async_get_context_watch,
    async_get_speaker,
    in_turn,
    speaker_context,
)
from custom_components.chatterbox.settings.rules import HomeRules, async_get_home_rules
from tests.support.llm_apis import satellite

LISTENER: Final = "listener"
"""Id of the agent."""

type Step = Mapping[str, object]
type TurnAction = Callable[[Context], Awaitable[object]]

TRUSTING = HomeRules(
    trusted_callers=frozenset({"automation.trusted", "script.trusted"})
)


@dataclass
class ListeningAgent(AbstractConversationAgent):
    """Asks who speaks, as ours do at the beginning of a turn, and does something in the turn."""

    hass: HomeAssistant
    actions: list[TurnAction] = field(default_factory=list)
    """One for each turn, as long as there are any: what its tools do."""
    speakers: list[Speaker] = field(default_factory=list)
    _spoken_to: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    @override
    def supported_languages(self) -> list[str] | Literal["*"]:
        return "*"

    @override
    async def async_process(self, user_input: ConversationInput) -> ConversationResult:
        speaker = await async_get_speaker(self.hass, user_input)
        self.speakers.append(speaker)
        self._spoken_to.set()
        context = speaker_context(user_input.context, speaker)
        async_get_context_watch(self.hass).take_for_turn(context)
        with in_turn():
            if self.actions:
                await self.actions.pop(0)(context)
        return ConversationResult(intent.IntentResponse(language=user_input.language))

    async def has_taken_turns(self, count: int) -> None:
        """Wait for the beginning of a turn, and the end of what led to it."""
        while len(self.speakers) < count:
            self._spoken_to.clear()
            await self._spoken_to.wait()
        await self.hass.async_block_till_done()

    @property
    def askings(self) -> list[Asking]:
        """Return of whom could be asked what, turn by turn."""
        return [speaker.asking for speaker in self.speakers]


async def add_listening_agent(hass: HomeAssistant) -> ListeningAgent:
    """Set up the agent, our integration, and the owner of the home, who trusts some automations and scripts."""
    assert await async_setup_component(hass, "homeassistant", {})
    assert await async_setup_component(hass, DOMAIN, {})
    await async_get_home_rules(hass).async_enter(TRUSTING)
    await hass.auth.async_create_user("Owner", group_ids=[GROUP_ID_ADMIN])
    entry = MockConfigEntry(domain="listening", entry_id=LISTENER)
    entry.add_to_hass(hass)
    agent = ListeningAgent(hass)
    async_set_agent(hass, entry, agent)
    return agent


def speak() -> Step:
    """Return a step of an automation or a script that talks to the agent."""
    return {
        "action": "conversation.process",
        "data": {"text": "unlock the door", "agent_id": LISTENER},
    }


async def add_automations(hass: HomeAssistant, **automations: Sequence[Step]) -> None:
    """Set up automations, each of which runs when an event of its name is fired."""
    config = [
        {
            "alias": name,
            "trigger": {"trigger": "event", "event_type": f"start_{name}"},
            "actions": list(steps),
        }
        for name, steps in automations.items()
    ]
    assert await async_setup_component(hass, "automation", {"automation": config})


async def add_scripts(hass: HomeAssistant, **scripts: Sequence[Step]) -> None:
    config = {
        name: {"mode": "parallel", "sequence": list(steps)}
        for name, steps in scripts.items()
    }
    assert await async_setup_component(hass, "script", {"script": config})


async def start(
    hass: HomeAssistant, automation: str, context: Context | None = None
) -> None:
    hass.bus.async_fire(f"start_{automation}", context=context)
    await hass.async_block_till_done()


async def say(
    hass: HomeAssistant,
    context: Context,
    device_id: str | None = None,
    **options: str | None,
) -> None:
    """Say something as Assist, or a satellite, does."""
    options = {"conversation_id": "a-talk", "satellite_id": None} | options
    await conversation.async_converse(
        hass,
        "hello",
        options["conversation_id"],
        context,
        "en",
        LISTENER,
        device_id=device_id,
        satellite_id=options["satellite_id"],
    )


async def call_the_action(hass: HomeAssistant, context: Context, **more: str) -> None:
    data = {"text": "hello", "agent_id": LISTENER, **more}
    await hass.services.async_call(
        "conversation", "process", data, context=context, blocking=True
    )


async def a_user(hass: HomeAssistant, name: str = "Anna") -> str:
    return (await hass.auth.async_create_user(name, group_ids=[GROUP_ID_USER])).id


async def add_person(
    hass: HomeAssistant, name: str, user_id: str | None = None
) -> None:
    person = {"id": name.lower(), "name": name} | (
        {"user_id": user_id} if user_id else {}
    )
    assert await async_setup_component(hass, "person", {"person": [person]})


def place_satellite(hass: HomeAssistant) -> str:
    """Return the device of the satellite `assist_satellite.kitchen`."""
    device_id = satellite(hass, "kitchen")
    er.async_get(hass).async_get_or_create(
        "assist_satellite",
        "satellite",
        "kitchen",
        suggested_object_id="kitchen",
        device_id=device_id,
    )
    return device_id
