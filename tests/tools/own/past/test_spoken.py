"""Without a model, questions about what was are answered in the speaker's language."""

import json
from dataclasses import replace

import pytest
from homeassistant.components.conversation.agent_manager import get_agent_manager
from homeassistant.core import Context
from homeassistant.helpers import llm
from homeassistant.setup import async_setup_component
from homeassistant.util import dt as dt_util
from pytest_homeassistant_custom_component.components.recorder.common import (
    async_wait_recording_done,
)

from custom_components.chatterbox.agent.messages import ToolCall
from custom_components.chatterbox.approvals.policy import judge
from custom_components.chatterbox.const import DOMAIN
from custom_components.chatterbox.effects.effect import CallEffects
from custom_components.chatterbox.offline.dispatcher import OfflineDispatcher
from custom_components.chatterbox.offline.provider import PROCESS_SENTENCE, SENTENCE
from custom_components.chatterbox.people.speakers import NOBODY
from custom_components.chatterbox.settings.rules import Policy, Rule, Verdict
from custom_components.chatterbox.tools.own.past import TOOL_NAME, SpokenPast
from tests.support.one_home import in_one_home
from tests.support.recorded_home import DOOR, NAMES, WINDOW, Past

LAST = {
    "en": "When was the front door last open?",
    "de": "Wann war Front Door zuletzt offen?",
    "es": "¿Cuándo se abrió Front Door por última vez?",
    "fr": "Quand Front Door a été ouvert pour la dernière fois ?",
    "it": "Quando è stata aperta Front Door l'ultima volta?",
    "nl": "Wanneer was Front Door voor het laatst open?",
    "pl": "Kiedy ostatnio otwarto Front Door?",
    "pt": "Quando foi aberta Front Door pela última vez?",
    "pt-BR": "Quando Front Door foi aberta pela última vez?",
    "sv": "När öppnades Front Door senast?",
    "zh-Hans": "Front Door上次是什么时候打开的",
}
ANSWERS = {
    "en": "Front Door was last open yesterday at 09:15, for 5 min.",
    "de": "Front Door war zuletzt gestern um 09:15 geöffnet, 5 min lang.",
    "es": "Front Door: abierto por última vez ayer a las 09:15, durante 5 min.",
    "fr": "Front Door\N{NO-BREAK SPACE}: ouvert pour la dernière fois hier à 09:15, pendant 5 min.",
    "it": "Front Door: aperto l'ultima volta ieri alle 09:15, per 5 min.",
    "nl": "Front Door was gisteren om 09:15 voor het laatst open, 5 min lang.",
    "pl": "Front Door: ostatnio otwarto wczoraj o 09:15, przez 5 min.",
    "pt": "Front Door: aberto pela última vez ontem às 09:15, durante 5 min.",
    "pt-BR": "Front Door: aberto pela última vez ontem às 09:15, por 5 min.",
    "sv": "Front Door var senast öppen i går klockan 09:15, i 5 min.",
    "zh-Hans": "Front Door上次状态为“已打开”是在昨天09:15\N{FULLWIDTH COMMA}持续了5 min\N{IDEOGRAPHIC FULL STOP}",
}


@pytest.fixture
def recorder_db_url() -> str:
    """Return a new database: what is told here is read as by the tool, which is tested on each kind of database."""
    return "sqlite://"


def dispatcher(
    past: Past, language: str = "en", context: Context | None = None
) -> OfflineDispatcher:
    llm_context = llm.LLMContext(
        DOMAIN, context or Context(), language, "conversation", None
    )
    return OfflineDispatcher(
        past.hass,
        "a-talk",
        context or Context(),
        language,
        past=SpokenPast(past.hass, llm_context),
    )


async def answer(
    past: Past, text: str, language: str = "en", context: Context | None = None
) -> str:
    """Return what is spoken."""
    await async_wait_recording_done(past.hass)
    call = ToolCall("1", PROCESS_SENTENCE.name, json.dumps({SENTENCE: text}))
    outcome = await dispatcher(past, language, context).dispatch(call, {SENTENCE: text})
    return str(json.loads(outcome.content)["speech"]["plain"]["speech"])


@pytest.fixture
async def door(past: Past) -> Past:
    """Open a door yesterday, for five minutes."""
    for when, state in (("22 08:00", "off"), ("23 09:15", "on"), ("23 09:20", "off")):
        past.set(when, DOOR, state)
    past.at("24 10:15")
    return past


@in_one_home("language", LAST)
async def test_the_last_time_is_told_in_each_language(
    door: Past, language: str
) -> None:
    assert await answer(door, LAST[language], language) == ANSWERS[language]


async def test_answers_tell_no_more_than_is_known(door: Past) -> None:
    for when, state in (
        ("22 08:00", "off"),
        ("23 23:00", "on"),
        ("24 01:30", "off"),
        ("24 09:00", "on"),
    ):
        door.set(when, WINDOW, state)
    anna = await door.hass.auth.async_create_user("Anna")
    door.set("24 10:00", DOOR, "on", Context(user_id=anna.id))
    door.at("24 10:15")

    for text, spoken in {
        "when was the front door last opened": "Front Door is open, since today at 10:00. It was Anna.",
        "when was a window last opened": "Kitchen Window is open, since today at 09:00.",
        "when was the front door last locked": "I have no record of that.",
        "was a window open last night": "Yes: Kitchen Window 2 h 30 min (22:00-06:00).",
        "was the front door open last night": "No, not once: Front Door (22:00-06:00).",
        "how long was the kitchen window open today": "Kitchen Window 2 h 45 min.",
        "how long was the front door closed yesterday": "Front Door 23 h 55 min.",
        "was the front door open last week": (
            "No, not once: Front Door. I only have records since: 2 days ago at 08:00."
        ),
        "was the front door open this month": (
            "Yes: Front Door 20 min. I only have records since: 2 days ago at 08:00."
        ),
        "was a door open in the night": "No, not once: Front Door (22:00-06:00).",
    }.items():
        assert await answer(door, text) == spoken, text


async def test_this_night_is_the_one_that_goes_on(door: Past) -> None:
    for when, state in (("24 22:30", "on"), ("24 22:40", "off")):
        door.set(when, DOOR, state)
    door.at("24 23:30")

    assert (
        await answer(door, "was the front door open tonight")
        == "Yes: Front Door 10 min (22:00-23:30)."
    )
    assert (
        await answer(door, "was the front door open last night")
        == "No, not once: Front Door (22:00-06:00)."
    )
    assert (
        await answer(door, "War Front Door heute Nacht offen?", "de")
        == "Ja: Front Door 10 min (22:00-23:30)."
    )
    assert await door.ask(name="Front Door", period="this_night")

    door.at("25 07:00")
    assert (
        await answer(door, "was the front door open tonight")
        == "Yes: Front Door 10 min (22:00-06:00)."
    )


async def test_a_time_that_is_not_known_is_told(past: Past) -> None:
    for when, state in (
        ("22 08:00", "off"),
        ("23 23:00", "unavailable"),
        ("24 05:00", "off"),
    ):
        past.set(when, DOOR, state)
    past.set("22 08:00", WINDOW, "unavailable")
    past.at("24 10:15")

    assert await answer(past, "was the front door open last night") == (
        "No, not once: Front Door (22:00-06:00). I have no record of part of that time: Front Door 6 h."
    )
    assert (
        await answer(past, "was the kitchen window open last night")
        == "I have no record of that."
    )
    (found,) = await past.answers(
        name="Front Door", state="closed", period="last_night"
    )
    assert (found["closed"], found["not known for"]) == ("2 hours", "6 hours")


async def test_a_light_is_opened_and_closed_in_chinese(past: Past) -> None:
    for when, state in (("23 08:00", "off"), ("24 08:00", "on"), ("24 08:30", "off")):
        past.set(when, "light.lamp", state)
    past.at("24 10:15")

    assert "08:00" in await answer(past, "light.lamp上次是什么时候打开的", "zh-Hans")
    assert "08:30" in await answer(past, "谁关了light.lamp", "zh-Hans")


async def test_what_did_not_happen_in_the_time_that_is_kept_is_told_so(
    past: Past,
) -> None:
    past.set("22 08:00", DOOR, "on")
    past.at("24 10:15")

    assert await answer(past, "when was the front door last closed") == (
        "Front Door was not closed since 2 days ago at 08:00. I don't know about before."
    )
    assert await answer(past, "how long has the front door been open") == (
        "Front Door has been open since 2 days ago at 08:00, or longer."
    )


async def test_sentences_of_the_home_come_first(door: Past) -> None:
    async def cat(*_: object) -> str:
        return "Ask the cat."

    get_agent_manager(door.hass).register_trigger(
        ["when was the front door last open"], cat
    )

    assert await answer(door, LAST["en"]) == "Ask the cat."


async def test_rules_hold_for_where_people_were_and_for_the_tool(past: Past) -> None:
    NAMES["person.anna"], NAMES["switch.anna"] = "Anna", "Anna's Socket"
    past.set("22 08:00", "person.anna", "home")
    past.set("22 08:00", "switch.anna", "on")
    past.at("24 10:15")
    names = {"Anna": Verdict.DENY, "Anna's Socket": Verdict.ALLOW}
    never = Rule(verdict=Verdict.DENY, tools=frozenset({TOOL_NAME}))

    for name, verdict in names.items():
        text = f"how long was {name} on yesterday"
        effects = await dispatcher(past).async_effects(
            PROCESS_SENTENCE.name, {SENTENCE: text}
        )
        call = CallEffects(PROCESS_SENTENCE.name, effects)
        verdicts = [
            judge(past.hass, Policy(rules), call, NOBODY, dt_util.now()).verdict
            for rules in ((), (never,))
        ]
        assert verdicts == [verdict, Verdict.DENY], name


async def test_people_who_may_not_read_an_entity_hear_nothing_of_it(door: Past) -> None:
    await door.hass.auth.async_create_user("Owner")
    guest = await door.hass.auth.async_create_user("Guest", group_ids=[])

    assert (
        await answer(door, LAST["en"], context=Context(user_id=guest.id))
        == "I have no record of that."
    )


async def test_nobody_is_said_to_be_at_what_is_no_zone(door: Past) -> None:
    assert await async_setup_component(door.hass, "zone", {})

    assert "Not any" not in await answer(door, "who is at the front door?")
    nobody = await answer(door, "who is at home?")
    assert nobody == "I know nobody here: no person is exposed to Assist."


async def test_a_sentence_about_the_past_needs_what_reads_it(door: Past) -> None:
    call = ToolCall("1", PROCESS_SENTENCE.name, json.dumps({SENTENCE: LAST["en"]}))
    outcome = await replace(dispatcher(door), past=None).dispatch(
        call, {SENTENCE: LAST["en"]}
    )

    assert outcome.is_error
