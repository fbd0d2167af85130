"""A missed action is asked about: at the satellite, on the phone of the person, or when they speak next."""

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import replace

import pytest
from freezegun.api import FrozenDateTimeFactory
from homeassistant.auth.const import GROUP_ID_ADMIN, GROUP_ID_USER
from homeassistant.components.conversation import AssistantContent
from homeassistant.core import Context, HomeAssistant, ServiceCall
from homeassistant.exceptions import Unauthorized
from homeassistant.setup import async_setup_component
from pytest_homeassistant_custom_component.typing import ClientSessionGenerator

from custom_components.chatterbox.approvals.questions import async_get_approvals
from custom_components.chatterbox.approvals.review import ApprovalWay, GivenAnswer
from custom_components.chatterbox.const import DOMAIN
from custom_components.chatterbox.later.plans import (
    Asker,
    FuturePlan,
    News,
    PlannedCall,
    Plans,
    Stored,
    async_get_plans,
)
from custom_components.chatterbox.later.schedule import async_get_schedule
from tests.later.talk import act, pass_time, state
from tests.support.config_entries import offline_entry, set_up
from tests.support.home_rules import set_home_rules
from tests.support.open_addresses import open_addresses
from tests.support.phones import PhoneShop, push_service
from tests.support.satellites import Satellite, announcing_satellite
from tests.support.servers.script import Script, ScriptedAnswer
from tests.support.talk import AGENT, SATELLITE, Serve, locks_need, say, speech, talking

LIGHT, DOOR = "light.kitchen_ceiling", "lock.front_door"
HALL, OFFLINE = "assist_satellite.hall", "conversation.talker_2"
QUESTION = "This was planned for 22:10, but I wasn't ready then. Turn off the Kitchen Ceiling Light?"
OFF = PlannedCall(
    "conversation__process_sentence",
    '{"sentence":"turn off the kitchen ceiling light"}',
)
UNLOCK = PlannedCall(
    "conversation__process_sentence", '{"sentence":"unlock the front door"}'
)


def overdue(
    hass: HomeAssistant,
    asker: Asker,
    call: PlannedCall = OFF,
    text: str = "turn off the light",
) -> FuturePlan:
    """Return a plan of the agent that was due ten minutes ago."""
    (entry, *_) = hass.config_entries.async_entries(DOMAIN)
    (agent, *_) = entry.subentries
    return replace(act(text, -10, asker), agent=agent, call=call)


async def miss(
    hass: HomeAssistant,
    asker: Asker,
    call: PlannedCall = OFF,
    text: str = "turn off the light",
) -> None:
    """Let a plan of the agent be due while Home Assistant is down, and start it."""
    await hass.services.async_call(
        "light", "turn_on", {"entity_id": LIGHT}, blocking=True
    )
    plan = overdue(hass, asker, call, text)
    await async_get_schedule(hass).async_add(plan)
    await hass.async_block_till_done(wait_background_tasks=True)


async def at_satellite(hass: HomeAssistant, text: str) -> str:
    return speech(await say(hass, text, satellite_id=SATELLITE))


def words(*texts: str) -> Script:
    return Script(answers=tuple(ScriptedAnswer(content=text) for text in texts))


@pytest.fixture(autouse=True)
def ten_past(freezer: FrozenDateTimeFactory) -> None:
    freezer.move_to("2026-11-27 06:20:00+00:00")


class TestAtASatellite:
    """At a satellite that announces."""

    @pytest.fixture(autouse=True)
    async def satellite(self, hass: HomeAssistant, serve: Serve) -> Satellite:
        await serve(words("Off it is.", "Well.", "So."))
        return await announcing_satellite(hass)

    async def test_a_yes_does_it_once(
        self, hass: HomeAssistant, satellite: Satellite
    ) -> None:
        await miss(hass, Asker(satellite_id=SATELLITE))
        assert satellite.heard == [QUESTION]
        assert async_get_plans(hass).stored == Stored()

        assert await at_satellite(hass, "yes") == "Off it is."
        assert state(hass, LIGHT) == "off"
        await hass.services.async_call(
            "light", "turn_on", {"entity_id": LIGHT}, blocking=True
        )
        await at_satellite(hass, "yes")
        assert state(hass, LIGHT) == "on"

    @pytest.mark.parametrize("is_news", [False, True])
    async def test_it_is_asked_about_after_a_start(
        self, hass: HomeAssistant, satellite: Satellite, *, is_news: bool
    ) -> None:
        """Home Assistant was killed before it was due, or before it was told."""
        plan, plans = (
            overdue(hass, Asker(satellite_id=SATELLITE)),
            async_get_plans(hass),
        )
        missed = QUESTION.partition(". ")[0] + "."
        news = News(
            text="Missed.", language="en", asker=plan.asker, plan=plan, missed=missed
        )
        await hass.services.async_call(
            "light", "turn_on", {"entity_id": LIGHT}, blocking=True
        )
        await plans.async_change(
            lambda stored: (
                stored.with_news(news) if is_news else replace(stored, plans=(plan,))
            )
        )
        plans.__init__(hass)  # type: ignore[misc]  # what is stored is left

        await async_get_schedule(hass).async_start(hass)
        await hass.async_block_till_done(wait_background_tasks=True)
        assert satellite.heard == [QUESTION]
        assert plans.stored == Stored()
        await at_satellite(hass, "yes")
        assert state(hass, LIGHT) == "off"

    @pytest.mark.parametrize("surface", ["words", "page"])
    async def test_a_kill_while_it_is_done_is_told(
        self, hass: HomeAssistant, satellite: Satellite, surface: str
    ) -> None:
        await miss(hass, Asker(satellite_id=SATELLITE))
        plans, may_end = async_get_plans(hass), asyncio.Event()

        async def turn_off(_call: ServiceCall) -> None:
            await may_end.wait()

        hass.services.async_register("light", "turn_off", turn_off)
        if surface == "words":
            await at_satellite(hass, "yes")
        else:
            (question,) = async_get_approvals(hass).waiting
            await async_get_approvals(hass).answer(
                question.id, GivenAnswer(approved=True, way=ApprovalWay.PAGE)
            )

        interrupted = Plans(hass)
        await interrupted.async_load()
        may_end.set()
        await hass.async_block_till_done(wait_background_tasks=True)
        assert plans.stored == Stored(), "it has ended"
        await plans.async_change(lambda _: interrupted.stored)
        plans.__init__(hass)  # type: ignore[misc]  # what is stored is left
        await async_get_schedule(hass).async_start(hass)
        await hass.async_block_till_done(wait_background_tasks=True)
        words = "I was interrupted while doing this at 22:20, so please check: turn off the light."
        assert (satellite.heard[0], satellite.heard[-1]) == (QUESTION, words)

    async def test_a_no_ends_it(self, hass: HomeAssistant) -> None:
        await miss(hass, Asker(satellite_id=SATELLITE))

        await at_satellite(hass, "no")
        await at_satellite(hass, "yes")
        assert state(hass, LIGHT) == "on"

    async def test_other_words_end_it(self, hass: HomeAssistant) -> None:
        await miss(hass, Asker(satellite_id=SATELLITE))

        assert (await at_satellite(hass, "what is the time in Oslo")).startswith(
            "I didn't"
        )
        await at_satellite(hass, "yes")
        assert state(hass, LIGHT) == "on"

    async def test_elsewhere_a_yes_is_none(self, hass: HomeAssistant) -> None:
        await miss(hass, Asker(satellite_id=SATELLITE))

        await say(hass, "yes", "new", "assist_satellite.hall")
        await say(hass, "yes", "other")
        assert state(hass, LIGHT) == "on"

    async def test_a_yes_to_what_was_said_since_is_none(
        self, hass: HomeAssistant, freezer: FrozenDateTimeFactory
    ) -> None:
        """An automation may ask something at the satellite."""
        await miss(hass, Asker(satellite_id=SATELLITE))

        freezer.tick(1)
        with talking(hass, "", "kitchen-talk") as chat_log:
            chat_log.async_add_assistant_content_without_tools(
                AssistantContent(AGENT, "Shall I water the flowers?")
            )
        await at_satellite(hass, "yes")
        assert state(hass, LIGHT) == "on"

    async def test_after_ten_minutes_it_is_too_late(
        self, hass: HomeAssistant, freezer: FrozenDateTimeFactory
    ) -> None:
        await miss(hass, Asker(satellite_id=SATELLITE))

        await pass_time(hass, freezer, minutes=11)
        assert "expired" in await at_satellite(hass, "yes")
        assert state(hass, LIGHT) == "on"

    async def test_rules_are_those_of_now(
        self, hass: HomeAssistant, satellite: Satellite
    ) -> None:
        """Under a yes for another time."""
        await set_home_rules(hass, **locks_need("4711"))
        await miss(
            hass,
            Asker(satellite_id=SATELLITE),
            replace(UNLOCK, terms="ask:1"),
            "unlock the door",
        )
        assert satellite.heard[0].endswith(
            "Unlock the Front Door in the Hallway? Please say the PIN."
        )

        await at_satellite(hass, "yes")
        assert state(hass, DOOR) == "locked"
        await at_satellite(hass, "4711")
        assert state(hass, DOOR) == "unlocked"

    async def test_what_is_not_allowed_is_told(
        self, hass: HomeAssistant, satellite: Satellite
    ) -> None:
        await set_home_rules(hass, rules=[{"verdict": "deny", "domains": ["light"]}])
        await miss(hass, Asker(satellite_id=SATELLITE))

        assert "I haven't done it" in satellite.heard[0]
        assert async_get_approvals(hass).is_empty

    async def test_a_second_one_is_asked_about_after_the_first(
        self, hass: HomeAssistant, satellite: Satellite
    ) -> None:
        await miss(hass, Asker(satellite_id=SATELLITE))
        await miss(hass, Asker(satellite_id=SATELLITE), UNLOCK, "unlock the door")
        assert len(satellite.heard) == 1

        answer = await at_satellite(hass, "yes")
        assert answer.startswith("Off it is. This was planned for")
        assert answer.endswith("Unlock the Front Door in the Hallway?")
        assert (state(hass, LIGHT), state(hass, DOOR)) == ("off", "locked")
        await at_satellite(hass, "yes")
        assert state(hass, DOOR) == "unlocked"
        assert async_get_plans(hass).stored.news == ()


class TestInAConversation:
    """In a place where nothing can be announced."""

    async def test_it_is_asked_about_when_the_person_speaks(
        self, hass: HomeAssistant, serve: Serve
    ) -> None:
        await serve(words("Good evening.", "Off it is."))
        await miss(hass, Asker(satellite_id=HALL))
        (waiting,) = async_get_plans(hass).stored.news
        assert waiting.is_kept

        result = await say(hass, "good evening", satellite_id=HALL)
        assert speech(result) == f"Good evening. {QUESTION}"
        assert result.continue_conversation
        await say(hass, "yes", "another", satellite_id=HALL)
        assert state(hass, LIGHT) == "on"
        await say(hass, "yes", satellite_id=HALL)
        assert state(hass, LIGHT) == "off"

    async def test_it_waits_while_something_else_is_asked(
        self, hass: HomeAssistant, serve: Serve
    ) -> None:
        await serve(words("Shall I play music?", "Playing.", "Off it is."))
        await miss(hass, Asker(satellite_id=HALL))

        assert (
            speech(await say(hass, "good evening", satellite_id=HALL))
            == "Shall I play music?"
        )
        assert (
            speech(await say(hass, "yes", satellite_id=HALL)) == f"Playing. {QUESTION}"
        )
        assert state(hass, LIGHT) == "on"

    async def test_another_person_is_not_asked(
        self, hass: HomeAssistant, serve: Serve
    ) -> None:
        await serve(words("Hi."))
        await miss(hass, Asker("anna", "anna"))

        assert speech(await say(hass, "good evening")) == "Hi."

    async def test_one_agent_does_not_ask_for_another(
        self, hass: HomeAssistant, serve: Serve
    ) -> None:
        await serve(words("Hi."))
        await miss(hass, Asker(satellite_id=HALL))
        await set_up(hass, offline_entry())

        other = await say(
            hass, "turn off the garden light", satellite_id=HALL, agent_id=OFFLINE
        )
        assert "I haven't done it: turn off the light." in speech(other)
        assert async_get_plans(hass).stored.news == ()

    async def test_what_is_not_allowed_is_told_at_the_next_turn(
        self, hass: HomeAssistant, serve: Serve
    ) -> None:
        await serve(words("Good evening.", "Hi."))
        await miss(hass, Asker(satellite_id=HALL))
        await set_home_rules(hass, rules=[{"verdict": "deny", "domains": ["light"]}])

        assert (
            speech(await say(hass, "good evening", satellite_id=HALL))
            == "Good evening."
        )
        assert speech(await say(hass, "hi", satellite_id=HALL)).startswith(
            "While you were away: This was planned for"
        )


class TestOnAPhone:
    """On the phone of a person, beside that of an administrator."""

    @pytest.fixture
    async def shop(
        self,
        hass: HomeAssistant,
        serve: Serve,
        hass_client: ClientSessionGenerator,
        hass_client_no_auth: ClientSessionGenerator,
    ) -> AsyncGenerator[PhoneShop]:
        await serve(words("Hi."))
        assert await async_setup_component(hass, "mobile_app", {})
        await hass.async_block_till_done()
        open_addresses(hass)
        async with push_service() as push:
            yield PhoneShop(hass, push, hass_client, hass_client_no_auth)

    async def test_its_person_alone_can_answer(
        self, hass: HomeAssistant, shop: PhoneShop
    ) -> None:
        anna = await hass.auth.async_create_user("Anna", group_ids=[GROUP_ID_USER])
        phone = await shop.phone_of(anna, "Anna's phone")
        bens = await shop.phone_of(
            await hass.auth.async_create_user("Ben", group_ids=[GROUP_ID_ADMIN]),
            "Ben's phone",
        )
        ben = next(
            user for user in await hass.auth.async_get_users() if user.name == "Ben"
        )
        await set_home_rules(hass, notify=[bens.entity_id])
        await miss(hass, Asker(anna.id))

        asking = await phone.next()
        assert asking.message.startswith(QUESTION)
        assert list(asking.buttons) == ["Yes", "No"]
        await bens.tap(asking.buttons["Yes"])
        with pytest.raises(Unauthorized):
            await hass.services.async_call(
                DOMAIN, "approve", {}, blocking=True, context=Context(user_id=ben.id)
            )
        assert state(hass, LIGHT) == "on"

        await phone.tap(asking.buttons["Yes"])
        assert "Approved by Anna." in (await phone.next()).message
        assert state(hass, LIGHT) == "off"
        await hass.services.async_call(
            "light", "turn_on", {"entity_id": LIGHT}, blocking=True
        )
        await phone.tap(asking.buttons["Yes"])
        assert state(hass, LIGHT) == "on"
        assert bens.inbox.empty()
        assert async_get_plans(hass).stored.news == ()
