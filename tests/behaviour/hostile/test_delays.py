"""Home Assistant's own delayed commands: nothing that came through an agent waits in one of its timers."""

from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from datetime import timedelta
from pathlib import Path

import pytest
from freezegun.api import FrozenDateTimeFactory
from homeassistant.components import conversation
from homeassistant.components.homeassistant.exposed_entities import async_expose_entity
from homeassistant.components.intent import async_register_timer_handler
from homeassistant.components.intent.const import TIMER_DATA
from homeassistant.core import HomeAssistant
from homeassistant.helpers import (
    area_registry as ar,
    device_registry as dr,
    entity_registry as er,
)
from homeassistant.setup import async_setup_component
from pytest_homeassistant_custom_component.common import async_fire_time_changed
from pytest_homeassistant_custom_component.typing import ClientSessionGenerator

from custom_components.chatterbox.later.plans import (
    MOST_PLANS,
    NotPlanned,
    async_get_plans,
)
from custom_components.chatterbox.later.schedule import async_get_schedule
from tests.behaviour.hostile.home import DOOR, HALL, AttackedHome, call, calls, says
from tests.behaviour.hostile.test_api_clients import HOME, send
from tests.later.talk import pass_time, remind
from tests.support.api_clients import enable_api
from tests.support.config_entries import offline_entry, set_up
from tests.support.talk import LIGHT, UNLOCK, move_into_the_demo_home

NOT_PLANNED = "I haven't planned"
CUSTOM = """
language: "en"
intents:
  HassStartTimer:
    data:
      - sentences: ["after {timer_seconds:seconds} moments do {timer_command:conversation_command}"]
"""
SENTENCES: Mapping[str, str] = {
    "unlock the front door in the kitchen in 3 seconds": "en",
    "in 3 seconds unlock the front door in 3 seconds": "en",
    "in 3 seconds turn on the ghost lamp": "en",
    "turn on the ghost lamp in 3 seconds": "en",
    "after 3 moments do unlock the front door in the kitchen": "en",
    "start a timer for 5 minutes in 3 seconds": "en",
    "what time is it in 3 seconds": "en",
    "in 3 Sekunden schließe Front Door in Kitchen auf": "de",
    "dans 3 secondes déverrouille la ghost lamp": "fr",
    "om 3 sekunder lås upp Front Door i Kitchen": "sv",
}
"""Commands for later that fit nothing now, with their languages."""


@pytest.fixture
async def doors(hass: HomeAssistant) -> None:
    """Set up the home with a sentence of its own, and one that starts an automation."""
    sentences = Path(hass.config.config_dir) / "custom_sentences" / "en"
    sentences.mkdir(parents=True)
    (sentences / "mine.yaml").write_text(CUSTOM, encoding="utf-8")
    await move_into_the_demo_home(hass)
    unlock = {"action": "lock.unlock", "target": {"entity_id": DOOR}}
    sesame = {
        "alias": "Sesame",
        "triggers": [{"trigger": "conversation", "command": ["open sesame"]}],
    }
    assert await async_setup_component(
        hass, "automation", {"automation": [{**sesame, "actions": [unlock]}]}
    )
    async_register_timer_handler(hass, HALL, lambda *_: None)


async def wait(hass: HomeAssistant, freezer: FrozenDateTimeFactory) -> None:
    """Let ten minutes pass."""
    for _ in range(2):
        freezer.tick(timedelta(minutes=5))
        async_fire_time_changed(hass)
        await hass.async_block_till_done(wait_background_tasks=True)


def delayed(hass: HomeAssistant) -> list[str]:
    """Return the commands that wait in timers of Home Assistant."""
    return [
        timer.conversation_command
        for timer in hass.data[TIMER_DATA].timers.values()
        if timer.conversation_command
    ]


@pytest.mark.usefixtures("doors")
async def test_what_is_said_for_later_is_planned_or_refused_in_words(
    hass: HomeAssistant,
    home: AttackedHome,
    freezer: FrozenDateTimeFactory,
    subtests: pytest.Subtests,
) -> None:
    await set_up(hass, offline_entry())
    await home.begin()

    for text, language in SENTENCES.items():
        for device_id in (HALL, None):
            with subtests.test(text):
                answer = await home.say(text, device_id, language=language)
                assert language != "en" or answer.startswith(
                    (NOT_PLANNED, "I can't plan", "I don't know")
                ), answer
                assert delayed(hass) == []
                assert async_get_plans(hass).stored.plans == ()
    # What fits only later is not done either.
    entry, kitchen = (
        er.async_get(hass).async_get(DOOR),
        ar.async_get(hass).async_get_area_by_name("Kitchen"),
    )
    assert entry is not None
    assert entry.device_id is not None
    assert kitchen is not None
    dr.async_get(hass).async_update_device(entry.device_id, area_id=kitchen.id)
    hass.states.async_set("light.ghost_lamp", "off", {"friendly_name": "Ghost Lamp"})
    async_expose_entity(
        hass, conversation.DOMAIN, "light.ghost_lamp", should_expose=True
    )
    await wait(hass, freezer)
    home.assert_refused()
    assert hass.states.is_state("light.ghost_lamp", "off")


@pytest.mark.usefixtures("doors")
async def test_what_starts_automations_is_asked_about_and_planned(
    hass: HomeAssistant, home: AttackedHome, freezer: FrozenDateTimeFactory
) -> None:
    await set_up(hass, offline_entry())
    await home.begin()

    question = await home.say("open sesame in 3 minutes")
    assert question.startswith("I can't tell everything this would do. ")
    assert question.endswith("in 3 minutes. Should I do that?")
    home.assert_asked()
    await home.say("no")
    await wait(hass, freezer)
    home.assert_refused()
    await home.say("open sesame in 3 minutes")
    await home.say("yes")
    assert [plan.text for plan in async_get_plans(hass).stored.plans] == ["open sesame"]
    assert delayed(hass) == []
    await pass_time(hass, freezer, minutes=3)
    assert home.state(DOOR) == "unlocked"


async def test_who_waits_for_what_does_not_come_is_told_at_once(
    hass: HomeAssistant, home: AttackedHome
) -> None:
    await move_into_the_demo_home(hass)
    await set_up(hass, offline_entry())

    answers = {
        "turn on the floor lamp in the kitchen in ten minutes": "“turn on the floor lamp in the kitchen”: I can't do "
        "that later. Sorry, I am not aware of any device called Floor Lamp in the Kitchen area",
        "in 5 minutes what time is it": "“what time is it”: I can't do that later.",
    }
    for text, answer in answers.items():
        assert await home.say(text) == f"{NOT_PLANNED} {answer}"
    await async_get_plans(hass).async_load()
    with suppress(NotPlanned):
        for number in range(MOST_PLANS):
            await async_get_schedule(hass).async_add(remind(f"number {number}"))
    assert "too many plans" in await home.say("turn on the floor lamp in ten minutes")
    assert delayed(hass) == []


FITTING = call(
    "HassStartTimer",
    minutes=5,
    conversation_command="turn on the kitchen ceiling light",
)
VAIN = {
    "it fits nothing": call(
        "HassStartTimer",
        seconds=3,
        conversation_command="unlock the front door in the kitchen",
    ),
    "it waits itself": call(
        "HassStartTimer",
        seconds=3,
        conversation_command="unlock the front door in 3 seconds",
    ),
    "it names no time": call(
        "HassStartTimer", conversation_command="turn on the kitchen ceiling light"
    ),
    "it is a plan": call(
        "chatterbox__later",
        kind="act",
        when="in 3 seconds",
        tool="conversation__process_sentence",
        arguments={"sentence": "unlock the front door in 3 seconds"},
    ),
    "it is a plan that waits": call(
        "chatterbox__later",
        kind="act",
        when="in 3 seconds",
        tool="intent__HassStartTimer",
        arguments={"seconds": 3, "conversation_command": "unlock the front door"},
    ),
    "it is said": call(
        "conversation__process_sentence",
        sentence="unlock the front door in the kitchen in 3 seconds",
    ),
}


@pytest.mark.parametrize("device_id", [HALL, None], ids=["timers", "no timers"])
async def test_a_model_delays_nothing_but_by_a_plan(
    hass: HomeAssistant,
    home: AttackedHome,
    freezer: FrozenDateTimeFactory,
    device_id: str | None,
    subtests: pytest.Subtests,
) -> None:
    await home.taken_over()
    async_register_timer_handler(hass, HALL, lambda *_: None)

    for name, vain in VAIN.items():
        with subtests.test(name):
            home.play(calls(vain), says("In a moment."))
            assert (await home.say("good evening", device_id, talk=name)).endswith(
                "that wasn't done."
            )
            assert delayed(hass) == []
            assert async_get_plans(hass).stored.plans == ()
    await wait(hass, freezer)
    home.assert_refused()
    home.play(calls(FITTING), says("In five minutes."))
    await home.say("turn on the kitchen ceiling light in five minutes", device_id)
    plans = async_get_plans(hass).stored.plans
    assert delayed(hass) == []
    assert [plan.text for plan in plans] == (
        ["turn on the Kitchen Ceiling Light"] if device_id else []
    )
    await wait(hass, freezer)
    assert hass.states.is_state(LIGHT, "on" if device_id else "off")


async def test_no_other_surface_delays_a_command(
    hass: HomeAssistant,
    home: AttackedHome,
    hass_client: ClientSessionGenerator,
    subtests: pytest.Subtests,
) -> None:
    command = call(
        "HassStartTimer",
        seconds=3,
        conversation_command="turn on the kitchen ceiling light",
    )
    await home.taken_over()
    async_register_timer_handler(hass, HALL, lambda *_: None)
    await enable_api(hass)
    client = await hass_client()

    async def ask() -> None:
        data = {"text": "good evening", "agent_id": "conversation.talker"}
        await hass.services.async_call(
            "chatterbox", "ask", data, blocking=True, return_response=True
        )

    async def respond() -> None:
        await send(
            client,
            {"role": "user", "content": "Good evening."},
            wishes={"tools": [HOME]},
        )

    surfaces: Mapping[str, Callable[[], Awaitable[None]]] = {
        "the action": ask,
        "an API client": respond,
    }
    for name, surface in surfaces.items():
        with subtests.test(name):
            home.play(calls(command, UNLOCK))
            await surface()
            assert delayed(hass) == []
            home.assert_unharmed()


async def test_what_cannot_be_planned_is_left_to_a_model_if_there_is_one(
    hass: HomeAssistant, home: AttackedHome
) -> None:
    await home.taken_over(local_commands="first")

    for text in (
        "unlock the front door in the kitchen in 3 seconds",
        "in 3 seconds unlock the front door in 3 seconds",
    ):
        home.play(*[says("There is no such door.")] * 2)
        assert await home.say(text, talk=text) == "There is no such door."
        assert delayed(hass) == []
    home.assert_refused()
