"""Who speaks to an agent: real users, persons, satellites, automations and scripts of Home Assistant."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, override

import pytest
import voluptuous as vol
from homeassistant.auth.const import GROUP_ID_ADMIN, GROUP_ID_USER
from homeassistant.components import conversation
from homeassistant.components.conversation import (
    AbstractConversationAgent,
    ConversationInput,
    ConversationResult,
    async_set_agent,
)
from homeassistant.core import Context, Event, EventOrigin, HomeAssistant, ServiceCall
from homeassistant.helpers import entity_registry as er, intent
from homeassistant.setup import async_setup_component
from pytest_homeassistant_custom_component.common import MockConfigEntry, MockUser, async_capture_events

from custom_components.chatterbox.agent_settings import AgentSettings
from custom_components.chatterbox.const import DOMAIN, EVENT_TURN_STARTED
from custom_components.chatterbox.speakers import Asking, Speaker, async_get_speaker, in_turn, speaker_context
from tests.llm_apis import satellite

type Step = Mapping[str, object]
type Deed = Callable[[Context], Awaitable[object]]

TRUSTING = AgentSettings(trusted_callers=frozenset({"automation.trusted", "script.trusted"}))


@dataclass
class ListeningAgent(AbstractConversationAgent):
    """Asks who speaks, as ours do at the beginning of a turn, and does something in the turn."""

    hass: HomeAssistant
    settings: AgentSettings = TRUSTING
    deeds: list[Deed] = field(default_factory=list)
    """One for each turn, as long as there are any: what its tools do."""
    speakers: list[Speaker] = field(default_factory=list)
    _spoken_to: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    @override
    def supported_languages(self) -> list[str] | Literal["*"]:
        return "*"

    @override
    async def async_process(self, user_input: ConversationInput) -> ConversationResult:
        speaker = await async_get_speaker(self.hass, user_input, self.settings)
        self.speakers.append(speaker)
        self._spoken_to.set()
        context = speaker_context(user_input.context, speaker)
        self.hass.bus.async_fire(EVENT_TURN_STARTED, {}, context=context)
        with in_turn():
            if self.deeds:
                await self.deeds.pop(0)(context)
        return ConversationResult(intent.IntentResponse(language=user_input.language))

    async def has_taken_turns(self, count: int) -> None:
        """Wait for the beginning of a turn, and the end of what led to it."""
        async with asyncio.timeout(30):
            while len(self.speakers) < count:
                self._spoken_to.clear()
                await self._spoken_to.wait()
        await self.hass.async_block_till_done()

    @property
    def askings(self) -> list[Asking]:
        """Return of whom could be asked what, turn by turn."""
        return [speaker.asking for speaker in self.speakers]


@pytest.fixture
async def agent(hass: HomeAssistant) -> ListeningAgent:
    assert await async_setup_component(hass, "homeassistant", {})
    assert await async_setup_component(hass, DOMAIN, {})
    await hass.auth.async_create_user("Owner", group_ids=[GROUP_ID_ADMIN])
    entry = MockConfigEntry(domain="listening", entry_id="listener")
    entry.add_to_hass(hass)
    listener = ListeningAgent(hass)
    async_set_agent(hass, entry, listener)
    return listener


def speak(agent_id: str = "listener") -> Step:
    """Return a step of an automation or a script that talks to the agent."""
    return {"action": "conversation.process", "data": {"text": "unlock the door", "agent_id": agent_id}}


async def add_automations(hass: HomeAssistant, **automations: Sequence[Step]) -> None:
    """Set up automations, each of which runs when an event of its name is fired."""
    config = [
        {"alias": name, "trigger": {"trigger": "event", "event_type": f"start_{name}"}, "actions": list(steps)}
        for name, steps in automations.items()
    ]
    assert await async_setup_component(hass, "automation", {"automation": config})


async def add_scripts(hass: HomeAssistant, **scripts: Sequence[Step]) -> None:
    config = {name: {"mode": "parallel", "sequence": list(steps)} for name, steps in scripts.items()}
    assert await async_setup_component(hass, "script", {"script": config})


async def start(hass: HomeAssistant, automation: str, context: Context | None = None) -> None:
    hass.bus.async_fire(f"start_{automation}", context=context)
    await hass.async_block_till_done()


async def say(hass: HomeAssistant, context: Context, device_id: str | None = None, **options: str | None) -> None:
    """Say something as Assist, or a satellite, does."""
    options = {"conversation_id": "a-talk", "satellite_id": None} | options
    await conversation.async_converse(
        hass,
        "hello",
        options["conversation_id"],
        context,
        "en",
        "listener",
        device_id=device_id,
        satellite_id=options["satellite_id"],
    )


async def call_the_action(hass: HomeAssistant, context: Context, **more: str) -> None:
    data = {"text": "hello", "agent_id": "listener", **more}
    await hass.services.async_call("conversation", "process", data, context=context, blocking=True)


async def a_user(hass: HomeAssistant, name: str = "Anna") -> str:
    return (await hass.auth.async_create_user(name, group_ids=[GROUP_ID_USER])).id


async def add_person(hass: HomeAssistant, name: str, user_id: str | None = None) -> None:
    person = {"id": name.lower(), "name": name} | ({"user_id": user_id} if user_id else {})
    assert await async_setup_component(hass, "person", {"person": [person]})


def place_satellite(hass: HomeAssistant) -> str:
    """Return the device of the satellite `assist_satellite.kitchen`."""
    device_id = satellite(hass, "kitchen")
    er.async_get(hass).async_get_or_create(
        "assist_satellite", "satellite", "kitchen", suggested_object_id="kitchen", device_id=device_id
    )
    return device_id


# People


async def test_a_user_who_writes_in_assist_is_there(hass: HomeAssistant, agent: ListeningAgent) -> None:
    anna = await a_user(hass)

    await say(hass, Context(user_id=anna))

    assert agent.speakers == [Speaker(anna, None, "Anna", Asking.PERSON)]


async def test_nobody_is_known_who_says_nothing_of_themselves(hass: HomeAssistant, agent: ListeningAgent) -> None:
    await say(hass, Context())

    assert agent.speakers == [Speaker(None, None, None, Asking.NOBODY)]


async def test_somebody_is_at_a_satellite(hass: HomeAssistant, agent: ListeningAgent) -> None:
    device_id = place_satellite(hass)

    await say(hass, Context(), satellite_id="assist_satellite.kitchen")
    await say(hass, Context(), device_id)

    assert agent.speakers == [Speaker(None, device_id, None, Asking.PERSON)] * 2


async def test_the_person_of_a_satellite_speaks_there(hass: HomeAssistant, agent: ListeningAgent) -> None:
    anna, device_id = await a_user(hass), place_satellite(hass)
    await add_person(hass, "Anna Bell", anna)
    agent.settings = AgentSettings(people_at_satellites={device_id: "person.anna_bell"})

    await say(hass, Context(), satellite_id="assist_satellite.kitchen")
    await say(hass, Context(), device_id)
    await say(hass, Context(), "another-device")

    at_satellite = Speaker(anna, device_id, "Anna Bell", Asking.PERSON)
    assert agent.speakers == [at_satellite, at_satellite, Speaker(None, "another-device", None, Asking.PERSON)]


async def test_a_person_without_a_user_has_a_name(hass: HomeAssistant, agent: ListeningAgent) -> None:
    device_id = place_satellite(hass)
    await add_person(hass, "Mia")
    agent.settings = AgentSettings(people_at_satellites={device_id: "person.mia"})

    await say(hass, Context(), device_id)

    assert agent.speakers == [Speaker(None, device_id, "Mia", Asking.PERSON)]


async def test_a_person_who_was_removed_speaks_nowhere(hass: HomeAssistant, agent: ListeningAgent) -> None:
    device_id = place_satellite(hass)
    agent.settings = AgentSettings(people_at_satellites={device_id: "person.gone"})

    await say(hass, Context(), device_id)

    assert agent.speakers == [Speaker(None, device_id, None, Asking.PERSON)]


async def test_a_user_who_is_there_is_nobody_else(hass: HomeAssistant, agent: ListeningAgent) -> None:
    anna, ben, device_id = await a_user(hass), await a_user(hass, "Ben"), place_satellite(hass)
    await add_person(hass, "Anna", anna)
    agent.settings = AgentSettings(people_at_satellites={device_id: "person.anna"})

    await say(hass, Context(user_id=ben), device_id)

    assert agent.speakers == [Speaker(ben, device_id, "Ben", Asking.PERSON)]


async def test_the_user_of_an_integration_is_no_person(hass: HomeAssistant, agent: ListeningAgent) -> None:
    phone_line = await hass.auth.async_create_system_user("Voice over IP", group_ids=[GROUP_ID_USER])
    anna, device_id = await a_user(hass), place_satellite(hass)
    await add_person(hass, "Anna", anna)
    agent.settings = AgentSettings(people_at_satellites={device_id: "person.anna"})
    context = Context(user_id=phone_line.id)

    await say(hass, context, device_id)
    await say(hass, context, "another-device")
    await say(hass, context)

    assert agent.speakers == [
        Speaker(anna, device_id, "Anna", Asking.PERSON),
        Speaker(None, "another-device", None, Asking.PERSON),
        Speaker(None, None, None, Asking.NOBODY),
    ]


@pytest.mark.parametrize("is_removed", [True, False])
async def test_a_user_who_may_not_come_in_any_more_is_nobody(
    hass: HomeAssistant, agent: ListeningAgent, *, is_removed: bool
) -> None:
    user = await hass.auth.async_create_user("Guest", group_ids=[GROUP_ID_USER])
    device_id = place_satellite(hass)
    await add_person(hass, "Anna", await a_user(hass))
    agent.settings = AgentSettings(people_at_satellites={device_id: "person.anna"})
    await (hass.auth.async_remove_user if is_removed else hass.auth.async_deactivate_user)(user)

    await say(hass, Context(user_id=user.id))
    await say(hass, Context(user_id=user.id), device_id)

    assert agent.speakers[0] == Speaker(user.id, None, None, Asking.NOBODY)
    assert (agent.speakers[1].user_id, agent.speakers[1].name) == (user.id, None)


async def test_nobody_listens_to_the_command_of_a_timer(hass: HomeAssistant, agent: ListeningAgent) -> None:
    device_id = place_satellite(hass)
    await add_person(hass, "Mia")
    agent.settings = AgentSettings(people_at_satellites={device_id: "person.mia"})

    await say(hass, Context(), device_id, conversation_id=None)

    assert agent.speakers == [Speaker(None, device_id, "Mia", Asking.NOBODY)]


# Automations and scripts


async def test_an_automation_is_nobody(hass: HomeAssistant, agent: ListeningAgent) -> None:
    await add_automations(hass, other=[speak()])

    await start(hass, "other", Context(user_id=await a_user(hass)))

    assert agent.speakers == [Speaker(None, None, None, Asking.NOBODY, "automation.other")]


async def test_an_automation_that_the_owner_trusts_is_trusted(hass: HomeAssistant, agent: ListeningAgent) -> None:
    await add_automations(hass, trusted=[speak(), speak()])

    await start(hass, "trusted")

    assert agent.speakers == [Speaker(None, None, None, Asking.TRUSTED, "automation.trusted")] * 2


async def test_an_automation_that_is_trusted_by_another_agent_is_nobody(
    hass: HomeAssistant, agent: ListeningAgent
) -> None:
    agent.settings = AgentSettings()
    await add_automations(hass, trusted=[speak()])

    await start(hass, "trusted")

    assert agent.askings == [Asking.NOBODY]


async def test_a_script_speaks_in_the_name_of_its_user_who_does_not_hear(
    hass: HomeAssistant, agent: ListeningAgent
) -> None:
    anna = await a_user(hass)
    await add_scripts(hass, trusted=[speak()], other=[speak()])

    for script in ("other", "trusted"):
        await hass.services.async_call("script", script, blocking=True, context=Context(user_id=anna))

    assert agent.speakers == [
        Speaker(anna, None, "Anna", Asking.NOBODY, "script.other"),
        Speaker(anna, None, "Anna", Asking.TRUSTED, "script.trusted"),
    ]


async def test_a_script_that_runs_alone_in_the_name_of_a_user_is_nobody(
    hass: HomeAssistant, agent: ListeningAgent
) -> None:
    anna = await a_user(hass)
    await add_scripts(hass, other=[speak()])

    await hass.services.async_call(
        "script", "turn_on", {"entity_id": "script.other"}, context=Context(user_id=anna), blocking=True
    )
    await hass.async_block_till_done()

    assert agent.askings == [Asking.NOBODY]


async def test_a_user_who_calls_the_action_does_not_hear_either(hass: HomeAssistant, agent: ListeningAgent) -> None:
    anna = await a_user(hass)

    await call_the_action(hass, Context(user_id=anna))

    assert agent.speakers == [Speaker(anna, None, "Anna", Asking.NOBODY)]


async def test_the_action_takes_no_device(hass: HomeAssistant, agent: ListeningAgent) -> None:
    for pretended in ("device_id", "satellite_id"):
        with pytest.raises(vol.Invalid):
            await call_the_action(hass, Context(), **{pretended: place_satellite(hass)})
    assert agent.speakers == []


async def test_an_automation_that_pretends_to_be_a_satellite_is_nobody(
    hass: HomeAssistant, agent: ListeningAgent
) -> None:
    device_id = place_satellite(hass)
    await add_automations(hass, other=[{"action": "test.pretend"}])

    async def pretend(call: ServiceCall) -> None:
        await say(hass, call.context, device_id, satellite_id="assist_satellite.kitchen")

    hass.services.async_register("test", "pretend", pretend)
    await start(hass, "other")

    assert agent.speakers == [Speaker(None, device_id, None, Asking.NOBODY, "automation.other")]


@pytest.mark.parametrize(
    ("steps", "expected"), [(["trusted"], Asking.TRUSTED), (["other"], Asking.NOBODY), (["via_other"], Asking.NOBODY)]
)
async def test_all_who_have_a_part_in_the_words_have_to_be_trusted(
    hass: HomeAssistant, agent: ListeningAgent, steps: Sequence[str], expected: Asking
) -> None:
    await add_scripts(hass, trusted=[speak()], other=[speak()], via_other=[{"action": "script.trusted"}])
    await add_automations(hass, trusted=[{"action": f"script.{script}"} for script in steps])

    await start(hass, "trusted")

    assert agent.askings == [expected]


@pytest.mark.parametrize("event_type", ["automation_triggered", "script_started"])
async def test_a_script_does_not_become_trusted_by_saying_so(
    hass: HomeAssistant, agent: ListeningAgent, event_type: str
) -> None:
    claim = {"event": event_type, "event_data": {"entity_id": "automation.trusted", "name": "trusted"}}
    await add_scripts(hass, other=[claim, speak()])
    await add_automations(hass, other=[claim, speak()])

    await hass.services.async_call("script", "other", blocking=True)
    await start(hass, "other")

    assert agent.askings == [Asking.NOBODY] * 2


async def test_what_comes_from_outside_makes_nobody_trusted(hass: HomeAssistant, agent: ListeningAgent) -> None:
    context = Context(user_id=await a_user(hass))
    claim = {"entity_id": "automation.trusted", "name": "trusted"}
    hass.bus.async_fire("automation_triggered", claim, EventOrigin.remote, context)
    hass.bus.async_fire("automation_triggered", {"entity_id": ["automation.trusted"]}, context=context)

    await call_the_action(hass, context)

    assert agent.askings == [Asking.NOBODY]


async def test_a_context_is_trusted_only_where_the_action_is_called_in_it(
    hass: HomeAssistant, agent: ListeningAgent
) -> None:
    await add_automations(hass, trusted=[{"event": "here"}])
    fired = async_capture_events(hass, "here")
    await start(hass, "trusted")
    context = fired[0].context

    await say(hass, context)
    await say(hass, Context(parent_id=context.id))

    assert agent.askings == [Asking.NOBODY] * 2


async def test_callers_of_long_ago_are_forgotten(hass: HomeAssistant, agent: ListeningAgent) -> None:
    await add_automations(hass, trusted=[{"event": "here"}])
    fired = async_capture_events(hass, "here")
    await start(hass, "trusted")
    context = fired[0].context

    for others, expected in ((999, Asking.TRUSTED), (999, Asking.TRUSTED), (1000, Asking.NOBODY)):
        for _ in range(others):
            hass.bus.async_fire("automation_triggered", {"entity_id": "automation.busy", "name": "busy"})
        await call_the_action(hass, context)
        assert agent.askings[-1] is expected


async def test_callers_are_known_while_another_event_is_told_of(hass: HomeAssistant, agent: ListeningAgent) -> None:
    context = Context(user_id=await a_user(hass))
    await add_scripts(hass, trusted=[speak()], other=[speak()])

    async def run_scripts(_: Event) -> None:
        await hass.services.async_call("script", "trusted", blocking=True, context=Context())
        await hass.services.async_call("script", "other", blocking=True, context=context)

    hass.bus.async_listen("start", run_scripts)
    hass.bus.async_fire("start")
    await agent.has_taken_turns(2)

    assert [speaker.caller for speaker in agent.speakers] == ["script.trusted", "script.other"]
    assert agent.askings == [Asking.TRUSTED, Asking.NOBODY]


# What an agent has started


async def test_a_script_that_a_model_has_started_is_not_trusted(hass: HomeAssistant, agent: ListeningAgent) -> None:
    anna = await a_user(hass)
    await add_scripts(hass, trusted=[speak()])

    async def run_script(context: Context) -> None:
        await hass.services.async_call("script", "trusted", blocking=True, context=context)

    agent.deeds.append(run_script)
    await say(hass, Context(user_id=anna))

    assert agent.speakers == [
        Speaker(anna, None, "Anna", Asking.PERSON),
        Speaker(anna, None, "Anna", Asking.NOBODY, "script.trusted"),
    ]


async def test_a_script_that_a_model_of_a_trusted_automation_has_started_is_not_trusted(
    hass: HomeAssistant, agent: ListeningAgent
) -> None:
    await add_scripts(hass, trusted=[speak()])
    await add_automations(hass, trusted=[speak(), speak()])

    async def run_script(context: Context) -> None:
        await hass.services.async_call("script", "trusted", blocking=True, context=context)

    agent.deeds.append(run_script)
    await start(hass, "trusted")

    assert agent.askings == [Asking.TRUSTED, Asking.NOBODY, Asking.TRUSTED]


async def test_an_automation_that_a_model_has_triggered_is_not_trusted(
    hass: HomeAssistant, agent: ListeningAgent
) -> None:
    anna = await a_user(hass)
    await add_automations(hass, trusted=[speak()])

    async def fire(context: Context) -> None:
        await start(hass, "trusted", context)

    agent.deeds.append(fire)
    await say(hass, Context(user_id=anna))

    assert agent.askings == [Asking.PERSON, Asking.NOBODY]


async def test_an_automation_that_comes_later_of_what_a_model_did_is_not_trusted(
    hass: HomeAssistant, agent: ListeningAgent
) -> None:
    anna = Context(user_id=await a_user(hass))
    await add_automations(hass, first=[{"event": "start_trusted"}], trusted=[speak()])
    await say(hass, anna)

    await start(hass, "first", anna)
    await agent.has_taken_turns(2)
    await start(hass, "first")
    await agent.has_taken_turns(3)

    assert agent.askings == [Asking.PERSON, Asking.NOBODY, Asking.TRUSTED]


async def test_a_script_that_runs_on_after_the_turn_of_a_model_is_not_trusted(
    hass: HomeAssistant, agent: ListeningAgent
) -> None:
    context = Context(user_id=await a_user(hass))
    await add_scripts(hass, trusted=[speak()])
    await say(hass, context)

    await hass.services.async_call("script", "trusted", blocking=True, context=context)

    assert agent.askings == [Asking.PERSON, Asking.NOBODY]


async def test_an_automation_of_the_assigned_person_s_turn_is_not_trusted(
    hass: HomeAssistant, agent: ListeningAgent
) -> None:
    device_id, contexts = place_satellite(hass), list[Context]()
    await add_person(hass, "Anna", await a_user(hass))
    await add_automations(hass, trusted=[speak()])
    agent.settings = replace(TRUSTING, people_at_satellites={device_id: "person.anna"})

    async def remember(context: Context) -> None:
        contexts.append(context)

    agent.deeds.append(remember)
    await say(hass, Context(), device_id)
    await start(hass, "trusted", contexts[0])

    assert agent.askings == [Asking.PERSON, Asking.NOBODY]


async def test_an_agent_that_a_model_talks_to_has_nobody_to_ask(hass: HomeAssistant, agent: ListeningAgent) -> None:
    anna, device_id = await a_user(hass), place_satellite(hass)

    async def ask_colleague(context: Context) -> None:
        await say(hass, context, device_id)

    async def ask_on_satellite(_: Context) -> None:
        await say(hass, Context(), satellite_id="assist_satellite.kitchen")

    agent.deeds += [ask_colleague, ask_on_satellite]
    await say(hass, Context(user_id=anna))

    assert agent.askings == [Asking.PERSON, Asking.NOBODY, Asking.PERSON]


async def test_a_person_is_asked_again_after_a_turn(hass: HomeAssistant, agent: ListeningAgent) -> None:
    anna = await a_user(hass)

    await say(hass, Context(user_id=anna))
    await say(hass, Context(user_id=anna))

    assert agent.askings == [Asking.PERSON] * 2


# The context of a turn


async def test_a_turn_runs_in_the_name_of_the_person_of_the_satellite(hass_admin_user: MockUser) -> None:
    heard = Context()

    context = speaker_context(heard, Speaker(hass_admin_user.id, "a-device", "Anna", Asking.PERSON))

    assert (context.user_id, context.parent_id) == (hass_admin_user.id, heard.id)
    assert context.id != heard.id


@pytest.mark.parametrize("user_id", [None, "anna"])
def test_a_turn_runs_in_the_context_of_the_words(user_id: str | None) -> None:
    heard = Context(user_id="anna")

    assert speaker_context(heard, Speaker(user_id)) is heard
