"""Requests about plans are recognized without a model, and no sentence of Home Assistant is taken from it."""

import json
import tomllib
from dataclasses import replace
from datetime import timedelta
from itertools import islice
from pathlib import Path
from typing import Final

import pytest
from freezegun.api import FrozenDateTimeFactory
from hassil.intents import Intents, TextSlotList
from hassil.sample import sample_expression
from home_assistant_intents import get_intents
from homeassistant.components.conversation import ConversationInput
from homeassistant.components.homeassistant.exposed_entities import async_expose_entity
from homeassistant.components.intent import async_register_timer_handler
from homeassistant.core import Context, HomeAssistant
from homeassistant.helpers.intent import (
    INTENT_CANCEL_ALL_TIMERS,
    INTENT_PAUSE_TIMER,
    INTENT_START_TIMER,
    async_handle,
)
from homeassistant.util import dt as dt_util

from custom_components.chatterbox.agent.messages import (
    ToolResult,
    Transcript,
    UserMessage,
)
from custom_components.chatterbox.effects.recognition import async_recognize
from custom_components.chatterbox.later.plans import (
    MOST_PLANS,
    Asker,
    News,
    async_get_plans,
)
from custom_components.chatterbox.later.schedule import (
    async_get_schedule,
    moment_of,
    resolved_time,
)
from custom_components.chatterbox.later.sentences import async_recognize_plan
from custom_components.chatterbox.offline.local_commands import async_talk
from custom_components.chatterbox.speech.sentences import async_get_sentences
from custom_components.chatterbox.speech.text.times import Repetition
from tests.later.talk import SATELLITE, act, at_hall, pass_time, remind, state
from tests.support.config_entries import offline_entry, set_up
from tests.support.home_rules import set_home_rules
from tests.support.one_home import in_one_home
from tests.support.servers.script import Script, ScriptedAnswer
from tests.support.talk import (
    AGENT,
    LIGHT_ON,
    PART,
    Serve,
    move_into_the_demo_home,
    say,
    speech,
)
from tests.support.thorough import some

CASES: Final[dict[str, dict[str, str]]] = tomllib.loads(
    Path(__file__).with_name("sentences.toml").read_text(encoding="utf-8")
)
KINDS: Final[dict[str, dict[str, str]]] = tomllib.loads(
    Path(__file__).with_name("kinds.toml").read_text(encoding="utf-8")
)
REMAINDERS: Final = tomllib.loads(
    (Path(__file__).parents[1] / "speech" / "text" / "remainders.toml").read_text(
        encoding="utf-8"
    )
)
DEVICE: Final = "a-device"
LAMP: Final = "light.floor_lamp"
NO_TIME: Final = (
    "I can't plan for that time. Please say another one, within a year from now."
)
WHEN_EXACTLY: Final = "I can't plan that time as you said it. When exactly?"
WHAT: Final = "What should I remind you of?"
TEN_TOMORROW: Final = "At ten tomorrow morning, in 15 hours and 18 minutes: call Mum."
NOW: Final = "2026-11-26 17:00:00+00:00"
ABOUT_PLANS: Final[Transcript] = (
    UserMessage("what is planned?"),
    ToolResult("id", "chatterbox__later", "{}"),
)

UNRESOLVED: Final = {
    "de": [
        "schalte die Floor Lamp an Ostern um 18 Uhr an",
        "weck mich an meinem Geburtstag um 7 Uhr",
    ],
    "en": [
        "turn on the floor lamp at six on my birthday",
        "turn on the floor lamp from six to seven",
        "wake me up at 7 on Thanksgiving",
        "on Thanksgiving wake me up at 7 am",
        "turn on the floor lamp every day at 6 pm until Friday",
        "turn on the floor lamp every three hours",
        "remind me at 6 to call Mum tomorrow",
        "on my birthday remind me to call Mum at 6 pm",
        "lock the front door twice a week at 10 pm",
        "remind me to call Mum and Dad next summer",
        "remind me to call Mum at 6 pm on bank holidays",
        "remind me to call Mum at 6 or 7 pm",
        "turn on the floor lamp at 6 pm on waffle day",
        "on waffle day turn on the floor lamp at 6 pm",
    ],
    "es": [
        "apaga Floor Lamp en Semana Santa a las 18",
        "despiértame en mi cumpleaños a las 7 de la mañana",
    ],
    "fr": [
        "éteins Floor Lamp à Pâques à 18h",
        "éteins Floor Lamp après 18h",
        "réveille-moi le jour de mon anniversaire à 7 heures",
    ],
    "it": [
        "spegni Floor Lamp a Pasqua alle 18",
        "svegliami per il mio compleanno alle 7 di mattina",
    ],
    "nl": [
        "zet Floor Lamp uit na 18 uur",
        "maak me op mijn verjaardag om 7 uur wakker",
    ],
    "pl": [
        "wyłącz Floor Lamp w święta o 18",
        "obudź mnie w moje urodziny o siódmej rano",
    ],
    "pt": ["desliga Floor Lamp na Páscoa às 18h", "acorda-me nas férias às 7 da manhã"],
    "pt-BR": [
        "desligue Floor Lamp no carnaval às 18h",
        "me acorda nas férias às 7 da manhã",
    ],
    "sv": [
        "släck Floor Lamp på semestern klockan 18",
        "väck mig på min födelsedag klockan 7",
    ],
    "zh-Hans": ["春节晚上六点关闭Floor Lamp", "假期早上七点叫我起床"],
}
"""Requests of which a part of the time is not understood."""
UNSURE_TIMERS: Final = [
    "set a timer for ten minutes on my birthday",
    "tomorrow at six set a timer for ten minutes",
]
NOT: Final = {
    "de": [
        "erinnere mich nicht um 18 Uhr an den Müll",
        "Erinnere mich nie um 18 Uhr an den Müll",
        "erinnere mich bitte nicht um 18 Uhr daran, Mama anzurufen",
        "erinnere mich um 18 Uhr an den Müll nicht",
        "stell keinen Wecker auf 7 Uhr",
        "weck mich nicht um 7 Uhr",
        "Stelle nie einen Timer auf 10 Minuten",
        "stelle keinen Timer auf 10 Minuten",
        "schalte die Floor Lamp um 18 Uhr nicht aus",
    ],
    "en": [
        "don't remind me at 6 pm to call Mum",
        "never remind me at 6 pm to call Mum",
        "don't wake me up at 7 am",
        "do not set an alarm for 7 am",
        "don't set a timer for ten minutes",
        "never start an egg timer for 5 minutes",
        "don't turn off the floor lamp at 6 pm",
        "please don't remind me to call Mum",
    ],
    "es": [
        "no me recuerdes a las 18 llamar a mamá",
        "nunca me recuerdes a las 18 llamar a mamá",
        "no me despiertes a las 7 de la mañana",
        "no apagues Floor Lamp a las 18",
        "no pongas una alarma a las 7",
    ],
    "fr": [
        "ne me rappelle pas d'appeler Maman à 18h",
        "rappelle-moi pas d'appeler Maman à 18h",
        "ne me réveille jamais à 7h du matin",
        "n'éteins pas Floor Lamp à 18h",
        "rappelle-moi jamais à 18h de manger",
    ],
    "it": [
        "non ricordarmi alle 18 di chiamare la mamma",
        "non svegliarmi alle 7 di mattina",
        "non spegnere Floor Lamp alle 18",
        "non mettere mai una sveglia alle 7",
    ],
    "nl": [
        "herinner me er niet aan om 18 uur mama te bellen",
        "herinner me nooit om 18 uur aan het afval",
        "herinner me om 18 uur niet aan het afval",
        "zet geen wekker op 7 uur",
        "maak me niet wakker om 7 uur",
        "zet Floor Lamp niet uit om 18 uur",
        "zet geen timer op 10 minuten",
    ],
    "pl": [
        "nie przypominaj mi o 18 o lekach",
        "nigdy nie przypominaj mi o 18 o lekach",
        "nie budź mnie o siódmej rano",
        "nie wyłączaj Floor Lamp o 18",
        "nie ustawiaj budzika na siódmą rano",
    ],
    "pt": [
        "não me lembres às 18 horas de ligar à mãe",
        "nunca me lembres às 18 horas de ligar à mãe",
        "não me acordes às 7 da manhã",
        "não desligues Floor Lamp às 18h",
    ],
    "pt-BR": [
        "não me lembre às 18h de ligar para a mãe",
        "não me acorde às 7 da manhã",
        "nunca desligue Floor Lamp às 18h",
    ],
    "sv": [
        "påminn mig inte om att ringa mamma klockan 18",
        "påminn mig aldrig klockan 18 om att ringa mamma",
        "väck mig inte klockan 7",
        "släck inte Floor Lamp klockan 18",
        "ställ ingen väckarklocka på 7",
    ],
    "zh-Hans": [
        "不要在晚上六点提醒我吃药",
        "别提醒我晚上六点吃药",
        "明天早上七点不要叫我起床",
        "晚上六点不要关闭Floor Lamp",
    ],
}
"""Requests not to do something."""
ABOUT_WHAT: Final = {
    "de": ("erinnere mich um 18 Uhr", "an den Müll", "den Müll"),
    "en": ("remind me at six pm", "to call Mum", "call Mum"),
    "es": ("recuérdame a las 18", "llamar a mamá", "llamar a mamá"),
    "fr": ("rappelle-moi à 18h", "d'appeler Maman", "appeler Maman"),
    "it": ("ricordami alle 18", "di chiamare la mamma", "chiamare la mamma"),
    "nl": ("herinner me om 18 uur", "aan het afval", "het afval"),
    "pl": ("przypomnij mi o 18", "o lekach", "lekach"),
    "pt": ("lembra-me às 18h", "ligar à mãe", "ligar à mãe"),
    "pt-BR": ("me lembre às 18h", "de ligar para a mãe", "ligar para a mãe"),
    "sv": ("påminn mig klockan 18", "om att ringa mamma", "ringa mamma"),
    "zh-Hans": ("下午六点提醒我", "吃药", "吃药"),
}
"""A request without a text, an answer, and the text."""
FINE: Final = {
    "de": [
        "erinnere mich jede Stunde an die Blumen",
        "erinnere mich um 19 und um 20 Uhr an den Müll",
    ],
    "en": [
        "remind me every hour to eat",
        "remind me every three hours to drink",
        "remind me twice a day to stretch",
    ],
    "es": ["recuérdame cada tres horas regar"],
    "fr": ["rappelle-moi toutes les deux heures d'arroser"],
    "it": ["ricordami ogni due ore di annaffiare"],
    "nl": ["herinner me om de twee uur aan het afval"],
    "pl": ["przypomnij mi co dwie godziny podlać kwiaty"],
    "pt": ["lembra-me de duas em duas horas de regar"],
    "sv": ["påminn mig varannan timme att vattna"],
    "zh": ["提醒我每两个小时喝水"],
}
"""Reminders that come again more finely than each day."""


async def described(
    hass: HomeAssistant,
    text: str,
    language: str = "en",
    history: Transcript = (),
    device_id: str | None = None,
) -> str:
    """Return the call that a sentence is; "theirs" if Home Assistant handles it, and "none" for a model's."""
    heard = ConversationInput(
        text, Context(), "a-talk", device_id, SATELLITE, language, AGENT
    )
    talk = await async_talk(hass, heard, history)
    found = await async_recognize_plan(
        hass, heard, talk, await async_recognize(hass, heard)
    )
    if found and found.answer:
        return found.answer
    if found is None or found.call is None:
        return "theirs" if found else "none"
    assert found.call.name == "chatterbox__later"
    match json.loads(found.call.arguments):
        case {
            "kind": "act",
            "when": when,
            "tool": "conversation__process_sentence",
            "arguments": {"sentence": words},
        }:
            return f"{found.first}{'; ' * bool(found.first)}act {when}: {words}"
        case {
            "kind": "act" | "act_always" as kind,
            "entity": entity,
            "state": value,
            "arguments": {"sentence": words},
        }:
            return f"{kind} {entity} {value}: {words}"
        case {"kind": "remind", "when": when, "text": words}:
            return f"remind {when}: {words}"
        case {"kind": kind, **others}:
            assert len(others) <= 1 + (kind == "move")
            return " ".join((kind, *filter(None, map(str, others.values()))))
        case arguments:
            return str(arguments)


@pytest.fixture
async def home(hass: HomeAssistant, freezer: FrozenDateTimeFactory) -> HomeAssistant:
    freezer.move_to(NOW)
    await move_into_the_demo_home(hass)
    plans = async_get_plans(hass)
    await plans.async_load()
    await plans.async_add(remind("bins"))
    return hass


@in_one_home("language", [*CASES], share=10)
async def test_sentences_about_plans(home: HomeAssistant, language: str) -> None:
    assert {
        text: await described(home, text, language) for text in CASES[language]
    } == CASES[language]


@pytest.fixture
async def home_with_alarms(
    hass: HomeAssistant, freezer: FrozenDateTimeFactory
) -> HomeAssistant:
    freezer.move_to(NOW)
    await move_into_the_demo_home(hass, PART)
    plans, tomorrow = (
        async_get_plans(hass),
        dt_util.start_of_local_day() + timedelta(days=1),
    )
    await plans.async_load()
    texts = {
        "nine": "spoken alarm",
        "seven": "spoken alarm",
        "dad": "call Dad",
        "mum": "call Mum",
    }
    for hours, (name, text) in zip((21, 7, 22, 20), texts.items(), strict=True):
        await plans.async_add(
            replace(remind(text), id=name, due=tomorrow + timedelta(hours=hours))
        )
        anna = Asker(person_id="anna")
        await plans.async_add(
            replace(remind(text), asker=anna, due=tomorrow + timedelta(hours=hours))
        )
    await plans.async_add(replace(act(), due=tomorrow + timedelta(hours=21)))
    return hass


async def test_a_count_comes_with_the_times(home_with_alarms: HomeAssistant) -> None:
    times = "There are 2: at seven tomorrow morning; at nine tomorrow evening."
    assert await described(home_with_alarms, "how many alarms do I have?") == times
    reminders = "There are 2: at eight tomorrow evening, call Mum; at ten tomorrow evening, call Dad."
    assert (
        await described(home_with_alarms, "how many reminders do I have?") == reminders
    )
    assert (
        await described(home_with_alarms, "how many alarms do I have tomorrow evening?")
        == "list nine"
    )


@in_one_home("language", [*KINDS], share=10)
async def test_alarms_and_reminders_are_told_apart(
    home_with_alarms: HomeAssistant, language: str
) -> None:
    sentences, found = (
        await async_get_sentences(home_with_alarms, language),
        dict[str, str](),
    )
    for text in KINDS[language]:
        answer = await described(home_with_alarms, text, language)
        keys = (
            key
            for key in sentences
            if key.startswith("later_") and _is_from(sentences[key], answer)
        )
        found[text] = next(keys, answer)
    assert found == KINDS[language]


def _is_from(template: str, answer: str) -> bool:
    opening = "".join(template.partition("{")[0].split())
    return (
        bool(opening)
        and "".join(answer.split()).startswith(opening)
        and (template == answer or "{" in template)
    )


@in_one_home(
    "text",
    [
        "cancel tomorrow's alarm",
        "cancel all alarms on Friday",
        "cancel my alarm tomorrow",
    ],
    puts_back=True,
)
async def test_a_day_of_a_plan_that_comes_again_cancels_it_only_after_a_question(
    home: HomeAssistant, text: str
) -> None:
    due = dt_util.start_of_local_day() + timedelta(days=1, hours=7)
    await async_get_plans(home).async_add(
        replace(remind("spoken alarm"), id="daily", due=due, every="day")
    )

    question = (
        "Which one should I cancel: spoken alarm, every day at seven in the morning?"
    )
    assert await described(home, text) == question
    assert await described(home, "cancel the alarm at seven") == "cancel daily"


@in_one_home(
    ("every", "text", "what"),
    [
        ("workday", "do I have an alarm on Monday?", "list one"),
        (
            "workday",
            "do I have an alarm on Saturday?",
            "No alarm is set for that time.",
        ),
        ("day", "do I have an alarm on Saturday?", "list one"),
        (
            "day",
            "do I have an alarm on Saturday at eight?",
            "No alarm is set for that time.",
        ),
        ("week", "do I have an alarm on Friday?", "list one"),
        ("week", "do I have an alarm on Monday?", "No alarm is set for that time."),
        ("", "do I have an alarm tomorrow?", "list one"),
        ("", "do I have an alarm on Saturday?", "No alarm is set for that time."),
        ("", "cancel the alarm every day at seven", "No alarm is set for that time."),
    ],
)
async def test_an_alarm_that_comes_again_is_due_on_its_days(
    home: HomeAssistant, every: Repetition, text: str, what: str
) -> None:
    due = dt_util.start_of_local_day() + timedelta(days=1, hours=7)
    await async_get_plans(home).async_add(
        replace(remind("spoken alarm"), id="one", due=due, every=every)
    )

    assert await described(home, text) == what
    await async_get_schedule(home).async_cancel("one")


@in_one_home(
    ("language", "text", "what"),
    [
        ("de", "Ändere den Wecker morgen auf 6 Uhr", "Meinst du morgen um 6 Uhr?"),
        (
            "en",
            "change the alarm tomorrow to 6 am",
            "Did you mean at six tomorrow morning?",
        ),
        ("en", "change tomorrow's alarm to 6", "move day0 at 6"),
        ("en", "change the alarm on Monday to 6 am", "No alarm is set for that time."),
        ("nl", "verzet de wekker morgen naar 6 uur", "Bedoel je morgen om 6 uur?"),
    ],
)
async def test_of_several_alarms_that_of_the_named_day_is_meant(
    home: HomeAssistant, language: str, text: str, what: str
) -> None:
    plans, tomorrow = (
        async_get_plans(home),
        dt_util.start_of_local_day() + timedelta(days=1, hours=7),
    )
    for days in range(2):
        await plans.async_add(
            replace(
                remind("spoken alarm"),
                id=f"day{days}",
                due=tomorrow + timedelta(days=days),
            )
        )

    assert await described(home, text, language) == what


async def test_a_device_that_is_called_alarm_clock_is_switched(
    home: HomeAssistant,
) -> None:
    home.states.async_set("light.clock", "on", {"friendly_name": "Wecker"})

    text = "schalte den Wecker in zehn Minuten aus"
    assert (
        await described(home, text, "de")
        == "act in zehn Minuten: schalte den Wecker aus"
    )


async def test_both_of_three_are_asked_about(home_with_alarms: HomeAssistant) -> None:
    alarm = replace(remind("spoken alarm"), due=dt_util.now() + timedelta(days=3))
    await async_get_plans(home_with_alarms).async_add(alarm)

    assert (await described(home_with_alarms, "cancel both alarms")).startswith(
        "Which one should I cancel"
    )


async def test_the_last_alarm_is_cancelled_if_it_was_made_last(
    home_with_alarms: HomeAssistant,
) -> None:
    alarm = remind("spoken alarm")
    latest = replace(alarm, id="latest", due=dt_util.now() + timedelta(days=3))
    await async_get_plans(home_with_alarms).async_add(latest)

    assert await described(home_with_alarms, "cancel the last alarm") == "cancel latest"
    assert (await described(home_with_alarms, "cancel the last two alarms")).startswith(
        "Which one should I cancel"
    )


async def test_a_plan_with_an_alarm_in_its_text_is_only_cancelled_after_a_question(
    home: HomeAssistant,
) -> None:
    due = dt_util.start_of_local_day() + timedelta(days=1, hours=20)
    await async_get_plans(home).async_add(replace(remind("check the alarm"), due=due))

    question = "Which one should I cancel: check the alarm, at eight tomorrow evening?"
    assert await described(home, "cancel my alarm") == question
    assert await described(home, "cancel all alarms") == "No alarm is set."
    assert (
        await described(home, "cancel the alarm at seven")
        == "No alarm is set for that time."
    )


@pytest.mark.parametrize(
    "text", ["is my alarm set?", "when is the alarm set for?", "cancel the alarm"]
)
async def test_of_an_alarm_that_watches_the_home_nothing_is_said(
    home: HomeAssistant, text: str
) -> None:
    assert await described(home, text) == "No alarm is set."

    home.states.async_set(
        "alarm_control_panel.home", "armed_away", {"friendly_name": "Alarm"}
    )
    async_expose_entity(
        home, "conversation", "alarm_control_panel.home", should_expose=True
    )
    await home.async_block_till_done()

    assert await described(home, text) in {"none", "theirs"}


async def test_all_alarms_of_a_time_are_cancelled_only_after_a_question(
    home_with_alarms: HomeAssistant,
) -> None:
    """From seven on is "ab 7 Uhr", and "voor 21 uur" may be before nine."""
    for language, text in (
        ("de", "lösche alle Wecker ab 7 Uhr"),
        ("nl", "annuleer alle wekkers voor 21 uur"),
    ):
        sentences = await async_get_sentences(home_with_alarms, language)
        question = sentences["later_which_plan"].partition("{")[0]
        assert (await described(home_with_alarms, text, language)).startswith(question)


@in_one_home(
    ("text", "is_planned"),
    [
        ("把Floor Lamp调亮一点", False),
        ("把Bedroom Curtains拉开一点", False),
        ("下午一点打开Floor Lamp", True),
        ("一点打开Floor Lamp", True),
    ],
)
async def test_a_bit_is_no_time(
    home: HomeAssistant, text: str, *, is_planned: bool
) -> None:
    answer = await described(home, text, "zh-Hans")
    assert answer.startswith("act") is is_planned


@in_one_home(
    ("language", "text"),
    [
        ("en", "cancel the reminder about the alarm clock"),
        ("en", "forget the reminder about all alarms"),
        ("de", "lösche die Erinnerung an den Wecker"),
        ("de", "erinnere mich nicht mehr an den Wecker"),
        ("fr", "annule le rappel du réveil"),
        ("es", "cancela el recordatorio de la alarma"),
    ],
)
async def test_a_reminder_about_an_alarm_is_no_alarm(
    home_with_alarms: HomeAssistant, language: str, text: str
) -> None:
    answer = await described(home_with_alarms, text, language)
    assert "seven" not in answer.split()
    assert "nine" not in answer.split()
    assert (await async_get_sentences(home_with_alarms, language))[
        "later_alarm"
    ] not in answer


@in_one_home(
    ("text", "what"),
    [
        ("turn off the floor lamp", "theirs"),
        ("set the floor lamp to 6 percent", "theirs"),
        ("is the front door locked?", "theirs"),
        ("add milk at six to the shopping list", "theirs"),
        ("never mind", "none"),
        ("turn off the lava lamp in ten minutes", "none"),
        ("dim the lava lamps to 30 percent in ten minutes", "none"),
        ("don't dim the kitchen lights to 30 percent in ten minutes", "none"),
        ("if it is dark dim the kitchen lights to 30 percent in ten minutes", "none"),
        ("how warm is the bedroom at 6 am?", "none"),
        ("is the floor lamp on in ten minutes?", "none"),
        ("remind me to feed the cat when I get home", "none"),
        ("remind me to take my pills after lunch", "none"),
        ("remind me again", "none"),
        ("wake up the TV at 7 pm", "none"),
        ("forget the heater", "none"),
        ("forget that I like tea", "none"),
        ("forget that", "none"),
        ("delete ♥", "none"),
        ("not at six, at seven", "none"),
        ("at seven", "none"),
        ("what did the radio announce at six?", "none"),
    ],
)
async def test_other_sentences_are_left_to_home_assistant_and_models(
    home: HomeAssistant, text: str, what: str
) -> None:
    assert await described(home, text) == what


@in_one_home(
    ("text", "what"),
    [
        ("forget that", "cancel"),
        ("in ten minutes again", "move in ten minutes"),
        ("make it half past six pm", "move half past six pm"),
        ("make it 8", "Did you mean at eight this evening?"),
        ("change it to 7 pm", "move 7 pm"),
        ("make it 8 degrees", "none"),
        ("don't make it 8", "none"),
        (
            "turn on the floor lamp at seven pm",
            "act at seven pm: turn on the floor lamp",
        ),
    ],
)
async def test_that_is_the_plan_that_was_talked_about(
    home: HomeAssistant, text: str, what: str
) -> None:
    assert await described(home, text, history=ABOUT_PLANS) == what


async def test_a_number_alone_moves_no_action(home: HomeAssistant) -> None:
    await async_get_plans(home).async_add(act())

    assert await described(home, "make it 8", history=ABOUT_PLANS) == "none"


async def test_the_plan_of_the_old_time_is_moved(home: HomeAssistant) -> None:
    plans = async_get_plans(home)
    tomorrow_at_six = dt_util.start_of_local_day() + timedelta(days=1, hours=18)
    for hours in (0, 3):
        await plans.async_add(
            replace(remind("call Mum"), due=tomorrow_at_six + timedelta(hours=hours))
        )

    assert (
        await described(home, "not at six, at seven", history=ABOUT_PLANS)
        == "move at six at seven"
    )
    assert (
        await described(home, "not at five to nine, at ten", history=ABOUT_PLANS)
        == "move at five to nine at ten"
    )
    assert (
        await described(home, "not at half past seven, at ten", history=ABOUT_PLANS)
        == "none"
    )


AGAIN: Final = {
    "de": (
        "in zehn Minuten noch einmal",
        "in zehn Minuten",
        "erinnere mich in zehn Minuten wieder",
    ),
    "en": ("in ten minutes again", "in ten minutes", "remind me again in ten minutes"),
    "es": (
        "en diez minutos otra vez",
        "en diez minutos",
        "recuérdamelo de nuevo en diez minutos",
    ),
    "fr": (
        "encore une fois dans dix minutes",
        "dans dix minutes",
        "rappelle-le-moi à nouveau dans dix minutes",
    ),
    "it": (
        "tra dieci minuti di nuovo",
        "tra dieci minuti",
        "ricordamelo ancora tra dieci minuti",
    ),
    "nl": (
        "over tien minuten nog een keer",
        "over tien minuten",
        "herinner me er over tien minuten nog een keer aan",
    ),
    "pl": (
        "za dziesięć minut jeszcze raz",
        "za dziesięć minut",
        "przypomnij mi ponownie za dziesięć minut",
    ),
    "pt": (
        "daqui a dez minutos outra vez",
        "daqui a dez minutos",
        "lembra-me de novo daqui a dez minutos",
    ),
    "pt-BR": (
        "de novo em dez minutos",
        "em dez minutos",
        "me lembra de novo em dez minutos",
    ),
    "sv": ("om tio minuter igen", "om tio minuter", "påminn mig igen om tio minuter"),
    "zh-Hans": ("十分钟后再说一次", "十分钟后", "十分钟后再提醒我"),
}
"""Two ways to put off a reminder, and the words for the time in them."""


@pytest.mark.parametrize("language", some(AGAIN))
async def test_a_reminder_that_was_just_heard_is_put_off(
    home: HomeAssistant, freezer: FrozenDateTimeFactory, language: str
) -> None:
    short, time, long = AGAIN[language]
    assert await described(home, short, language) == "none"
    news = News(
        text="A reminder: call Mum.",
        language="en",
        asker=Asker(satellite_id=SATELLITE),
        plan=remind(),
    )

    await async_get_schedule(home).async_heard([news], "assist_satellite.kitchen")
    assert await described(home, short, language) == "none"
    await async_get_schedule(home).async_heard([news], SATELLITE)
    assert await described(home, short, language) == f"move {time}"
    assert await described(home, long, language) == f"move {time}"
    freezer.tick(600)
    assert await described(home, short, language) == "none"


async def test_a_timer_is_a_reminder_where_the_device_has_none(
    home: HomeAssistant,
) -> None:
    assert (
        await described(home, "set a timer for ten minutes")
        == "remind in 0 hours 600 seconds: Timer"
    )
    assert (
        await described(home, "set a 5 minute timer for the pizza")
        == "remind in 0 hours 300 seconds: the pizza"
    )
    assert (
        await described(home, "set a timer for the pasta 9 minutes")
        == "remind in 0 hours 540 seconds: pasta"
    )
    assert (
        await described(home, "start a soft egg timer for 5 minutes")
        == "remind in 0 hours 300 seconds: soft egg"
    )
    assert await described(home, "don't start an egg timer for 5 minutes") == "none"
    assert (
        await described(home, "Stelle einen Nudel-Timer auf 8 Minuten", "de")
        == "remind in 0 hours 480 seconds: Nudel"
    )
    for text in (
        "schalte Floor Lamp aus und stelle einen Timer auf 8 Minuten",
        "schalte Floor Lamp aus und stelle einen Nudel-Timer auf 8 Minuten",
        "stelle einen Timer auf 8 Minuten und schalte Floor Lamp aus",
    ):
        assert await described(home, text, "de") in {"none", "theirs"}

    assert await described(home, "cancel all timers") == "theirs"
    pizza = replace(remind("pizza"), id="pizza", words="in 0 hours 600 seconds")
    for plan in (
        replace(remind("Timer"), id="five", words="in 0 hours 300 seconds"),
        pizza,
        replace(remind("order the quiche"), words="in 90 seconds"),
    ):
        await async_get_plans(home).async_add(plan)
        await async_get_plans(home).async_add(
            replace(plan, id="", asker=Asker(person_id="anna"))
        )
    assert (
        await described(home, "how much time is left on my pizza timer?")
        == "list pizza"
    )
    assert await described(home, "cancel the 5 minute timer") == "cancel five"
    assert await described(home, "cancel the pizza timer") == "cancel pizza"
    assert await described(home, "cancel my next timer") == "cancel five"
    await async_get_plans(home).async_add(
        replace(remind("Timer"), id="long", words="in 0 hours 5400 seconds")
    )
    assert await described(home, "cancel the 1 hour 30 minute timer") == "cancel long"
    assert await described(home, "cancel the 1 hour 20 minute timer") in {
        "none",
        "theirs",
    }
    await async_get_schedule(home).async_cancel("long")
    assert (await described(home, "cancel my timer")).startswith(
        "Which one should I cancel: Timer, "
    )
    due = {
        plan.id: round((plan.due - dt_util.now()).total_seconds())
        for plan in (pizza,)
        if plan.due
    }
    assert await described(home, "add five minutes to the pizza timer") == (
        f"move pizza in 0 hours {due['pizza'] + 300} seconds"
    )
    assert await described(home, "take 2 minutes off my pizza timer") == (
        f"move pizza in 0 hours {due['pizza'] - 120} seconds"
    )
    paused = await described(home, "pause the pizza timer")
    assert paused.startswith("I can't pause that, so it goes on: pizza, at "), paused
    time = paused.partition("pizza")[2].rstrip(".")
    assert await described(home, "pause the timer") == paused.replace(
        ": pizza", f": Timer{time}; pizza"
    )
    assert await described(home, "resume the timer") == "list five pizza"
    assert await described(home, "resume the pizza timer") == "list pizza"
    several = await described(home, "add five minutes to the timer")
    assert several.startswith("Nothing was changed, please try again: Timer, "), several
    assert "; pizza, " in several
    assert await described(home, "cancel all timers") == "cancel five pizza"
    for language, ended, held in (
        ("es", "para el temporizador pizza", "pausa el temporizador pizza"),
        ("pl", "zatrzymaj minutnik pizza", "wstrzymaj minutnik pizza"),
    ):
        assert await described(home, ended, language) == "cancel pizza", ended
        assert not (await described(home, held, language)).startswith("cancel"), held
    for text in (
        "cancel the 8 minute timer",
        "cancel the kitchen timer",
        "cancel the quiche timer",
    ):
        assert await described(home, text) in {"none", "theirs"}

    async_register_timer_handler(home, DEVICE, lambda *_: None)

    assert (
        await described(home, "set a timer for ten minutes", device_id=DEVICE)
        == "theirs"
    )
    assert await described(home, "cancel my timer", device_id=DEVICE) == "theirs"


@in_one_home("language", [*REMAINDERS], share=10)
async def test_no_reminder_is_planned_for_a_part_of_a_time(
    home: HomeAssistant, pytestconfig: pytest.Config, language: str
) -> None:
    times = REMAINDERS[language]["times"]
    if not pytestconfig.getoption("thorough"):
        times = dict(islice(times.items(), None, None, 3))
    sentences = await async_get_sentences(home, language)
    texts = {text: REMAINDERS[language]["sentence"].format(text) for text in times}
    found = {
        words: await described(home, text, language) for words, text in texts.items()
    }
    unresolved = {words for words, meant in times.items() if meant == "none"}
    questions = {sentences["later_exactly"], sentences["later_no_time"]}
    assert {words for words, what in found.items() if what in questions} == unresolved


@in_one_home("language", [*UNRESOLVED], share=10)
async def test_nothing_is_planned_for_a_part_of_a_time(
    home: HomeAssistant, language: str
) -> None:
    question = (await async_get_sentences(home, language))["later_exactly"]
    found = {
        text: await described(home, text, language) for text in UNRESOLVED[language]
    }
    assert found == dict.fromkeys(UNRESOLVED[language], question)


@in_one_home("text", UNSURE_TIMERS)
async def test_no_timer_starts_at_another_time(home: HomeAssistant, text: str) -> None:
    assert await described(home, text) == NO_TIME


@in_one_home("language", [*NOT], share=10)
async def test_not_means_not(home: HomeAssistant, language: str) -> None:
    declined = (await async_get_sentences(home, language))["spoken_declined"]
    found = {text: await described(home, text, language) for text in NOT[language]}
    assert {
        text: what for text, what in found.items() if what not in {"none", declined}
    } == {}


@in_one_home(
    ("language", "text", "what"),
    [
        (
            "de",
            "erinnere mich daran, um 18 Uhr nicht zu rauchen",
            "remind um 18 Uhr: nicht zu rauchen",
        ),
        (
            "en",
            "remind me at 6 pm to prepare tomorrow's lunch",
            "remind at 6 pm: prepare tomorrow's lunch",
        ),
        (
            "en",
            "remind me at 6 pm about the Monday meeting",
            "remind at 6 pm: the Monday meeting",
        ),
        (
            "es",
            "recuérdame a las 18 la reunión de mañana",
            "remind a las 18: la reunión de mañana",
        ),
        (
            "fr",
            "rappelle-moi à 18h la réunion de demain",
            "remind à 18h: la réunion de demain",
        ),
        (
            "sv",
            "påminn mig klockan 18 om att inte röka",
            "remind klockan 18: inte röka",
        ),
        ("zh-Hans", "晚上六点提醒我准备明天的会议", "remind 晚上六点: 准备明天的会议"),
        ("zh-Hans", "晚上六点提醒我给小明打电话", "remind 晚上六点: 给小明打电话"),
        ("zh-Hans", "下午六点提醒我做晚饭", "remind 下午六点: 做晚饭"),
    ],
)
async def test_words_of_time_and_a_not_may_be_the_text(
    home: HomeAssistant, language: str, text: str, what: str
) -> None:
    assert await described(home, text, language) == what


@in_one_home(
    ("text", "what"),
    [
        (
            "set an alarm for half past six",
            "remind 2026-11-27T06:30:00-08:00: spoken alarm",
        ),
        ("wake me up at 11", "remind at 11: spoken alarm"),
        ("wake me up at half past two", "remind at half past two: spoken alarm"),
        ("wake me up at five", "Did you mean at five this afternoon?"),
        ("wake me up at 6 pm", "remind at 6 pm: spoken alarm"),
        ("wake me up at six tonight", "remind at six tonight: spoken alarm"),
    ],
    puts_back=True,
)
async def test_an_alarm_is_in_the_morning_unless_its_other_time_is_soon(
    home: HomeAssistant, freezer: FrozenDateTimeFactory, text: str, what: str
) -> None:
    freezer.move_to("2026-11-26 18:00:00+00:00")  # ten in the morning
    assert await described(home, text) == what


async def test_an_alarm_on_the_weekday_that_is_today_is_asked_about(
    home: HomeAssistant, freezer: FrozenDateTimeFactory
) -> None:
    freezer.move_to("2026-11-27 12:00:00+00:00")  # four o'clock on a Friday

    assert (
        await described(home, "wake me up on Friday at 7")
        == "Did you mean at seven this morning?"
    )
    assert (
        await described(home, "wake me up on Saturday at 7")
        == "remind 2026-11-28T07:00:00-08:00: spoken alarm"
    )


async def test_a_question_about_a_light_is_not_about_the_plan_for_it(
    home: HomeAssistant,
) -> None:
    plan = act("turn off the kitchen light")
    await async_get_plans(home).async_add(replace(plan, id="light"))

    assert await described(home, "when will you turn off the kitchen light?") == (
        "list light"
    )
    for text in ("is the kitchen light on?", "are the kitchen lights on?"):
        assert await described(home, text) == "none"


TIMER_QUESTIONS: Final = {
    "de": (
        "wann endet mein Timer?",
        "wie lange läuft der Timer noch?",
        "welche Timer habe ich?",
    ),
    "en": (
        "when does my timer end?",
        "how long is left on my timer?",
        "do I have any timers?",
        "how long is left?",
        "how much time have I got?",
    ),
    "es": (
        "¿cuándo termina el temporizador?",
        "¿cuánto queda del temporizador?",
        "¿qué temporizadores tengo?",
        "¿cuánto tiempo queda?",
    ),
    "fr": (
        "quand se termine mon minuteur ?",
        "combien de temps reste-t-il sur le minuteur ?",
    ),
    "it": (
        "quando finisce il timer?",
        "quanto manca al timer?",
        "quanto tempo resta sul timer?",
        "quanto tempo manca?",
    ),
    "nl": (
        "wanneer loopt de timer af?",
        "hoe lang loopt de timer nog?",
        "welke timers heb ik?",
        "hoe lang nog?",
    ),
    "pl": (
        "kiedy skończy się minutnik?",
        "ile czasu zostało na minutniku?",
        "jakie mam minutniki?",
        "ile czasu zostało?",
    ),
    "pt": (
        "quando termina o temporizador?",
        "quanto tempo falta para o temporizador?",
        "quanto tempo falta?",
    ),
    "pt-BR": ("quando acaba o timer?", "quanto tempo falta no timer?"),
    "sv": (
        "när är timern slut?",
        "hur lång tid är det kvar på timern?",
        "vilka timrar har jag?",
        "hur lång tid är det kvar?",
    ),
    "zh-Hans": (
        "计时器什么时候结束",
        "计时器还剩多久",
        "我有哪些计时器",
        "还剩多少时间",
    ),
}


TIMER_COUNTS: Final = {
    "de": ("wie viele Timer laufen noch?", "wie viele Timer?"),
    "en": ("how many timers are running?", "how many timers?"),
    "es": ("¿cuántos temporizadores hay?", "¿cuántos temporizadores?"),
    "fr": ("combien de minuteurs y a-t-il ?", "combien de minuteurs ?"),
    "it": ("quanti timer ci sono?", "quanti timer?"),
    "nl": ("hoeveel timers lopen er?", "hoeveel timers?"),
    "pl": ("ile jest minutników?", "ile minutników?"),
    "pt": ("quantos temporizadores há?", "quantos temporizadores?"),
    "sv": ("hur många timrar är igång?", "hur många timrar?"),
    "zh-Hans": ("有几个计时器", "我设了多少个计时器"),
}


@in_one_home("language", [*TIMER_COUNTS], share=10)
async def test_timers_of_plans_and_of_devices_are_counted(
    home: HomeAssistant, language: str
) -> None:
    plans, sentences = async_get_plans(home), await async_get_sentences(home, language)
    await plans.async_add(
        replace(remind("pizza"), id="pizza", words="in 0 hours 600 seconds")
    )
    for text in TIMER_COUNTS[language]:
        assert await described(home, text, language) == "list pizza"
    stop = async_register_timer_handler(home, DEVICE, lambda *_: None)
    slots = {"minutes": {"value": 5}, "name": {"value": "pasta"}}
    await async_handle(home, "test", INTENT_START_TIMER, slots, device_id=DEVICE)
    for text in TIMER_COUNTS[language]:
        answer = await described(home, text, language)
        assert _is_from(sentences["later_count"], answer), answer
        assert 0 < answer.index("2") < answer.index("pasta") < answer.index("pizza")
    await async_handle(home, "test", INTENT_CANCEL_ALL_TIMERS, device_id=DEVICE)
    stop()
    await async_get_schedule(home).async_cancel("pizza")


@in_one_home("language", [*TIMER_QUESTIONS], share=10)
async def test_timers_of_plans_and_of_devices_are_named(
    home: HomeAssistant, language: str
) -> None:
    plans, sentences = async_get_plans(home), await async_get_sentences(home, language)
    pizza = replace(remind("pizza"), id="pizza", words="in 0 hours 600 seconds")
    known = {plan.id for plan in plans.stored.plans}
    for text in TIMER_QUESTIONS[language]:
        assert await described(home, text, language) in {
            sentences["later_none_timer"],
            "theirs",
        }
    await plans.async_add(pizza)
    for text in TIMER_QUESTIONS[language]:
        assert await described(home, text, language) == "list pizza"
    stop = async_register_timer_handler(home, DEVICE, lambda *_: None)
    slots = {"minutes": {"value": 5}, "name": {"value": "pasta"}}
    await async_handle(home, "test", INTENT_START_TIMER, slots, device_id=DEVICE)
    for text in TIMER_QUESTIONS[language]:
        for device_id in (DEVICE, None):
            answer = await described(home, text, language, device_id=device_id)
            assert 0 < answer.index("pasta") < answer.index("pizza")
    await async_handle(home, "test", INTENT_PAUSE_TIMER, device_id=DEVICE)
    assert await described(
        home, TIMER_QUESTIONS[language][0], language, device_id=DEVICE
    ) in {"none", "theirs"}
    await async_handle(home, "test", INTENT_CANCEL_ALL_TIMERS, device_id=DEVICE)
    stop()
    await async_get_schedule(home).async_cancel("pizza")
    assert {plan.id for plan in plans.stored.plans} == known


@pytest.mark.thorough
@in_one_home("language", [*CASES], share=10)
async def test_no_sentence_of_home_assistant_is_about_plans(
    home: HomeAssistant, language: str
) -> None:
    known = get_intents("zh-CN" if language == "zh-Hans" else language)
    assert known
    await async_get_plans(home).async_add(
        replace(remind("Timer"), id="timer", words="in 0 hours 600 seconds")
    )
    intents, names = Intents.from_dict(known), TextSlotList.from_strings(["Floor Lamp"])
    lists = {**intents.slot_lists, **dict.fromkeys(("name", "area", "floor"), names)}
    sentences = [
        next(
            iter(
                sample_expression(
                    block.sentences[0].expression,
                    lists,
                    intents.expansion_rules,
                    language,
                )
            )
        )
        for intent_type, data in intents.intents.items()
        if "Timer" not in intent_type
        for block in data.data[:2]
    ]
    found = {
        text: await described(home, text, language, ABOUT_PLANS) for text in sentences
    }
    assert len(found) > 30
    assert {
        text: what for text, what in found.items() if what not in {"theirs", "none"}
    } == {}


WHICH: Final = {
    "de": ("lösche den Wecker", "den um sieben"),
    "en": ("cancel my alarm", "the one at seven"),
    "es": ("cancela la alarma", "la de las siete"),
    "fr": ("annule le réveil", "celui de sept heures"),
    "it": ("annulla la sveglia", "quella delle sette"),
    "nl": ("annuleer de wekker", "die om zeven uur"),
    "pl": ("anuluj budzik", "ten o siódmej"),
    "pt": ("cancela o despertador", "o das sete"),
    "pt-BR": ("cancele o despertador", "o das sete"),
    "sv": ("ta bort väckning", "den klockan sju"),
    "zh-Hans": ("取消闹钟", "七点的那个"),
}
"""Requests to cancel one of several alarms, and the words that choose one by its time."""


MOVED: Final = {
    "de": (
        ["verschiebe den Wecker auf acht", "stell den Wecker auf 8 um"],
        "Ändere den Wecker von sieben auf 8 Uhr",
    ),
    "en": (
        ["move my alarm to eight", "push the alarm back to 8"],
        "change the alarm from 7 to 8, please",
    ),
    "es": (["cambia la alarma a las ocho"], "mueve mi alarma de las siete a las ocho"),
    "fr": (
        ["décale l'alarme à huit heures", "change le réveil pour 8 heures"],
        "déplace mon réveil de 7 h à 8 h",
    ),
    "it": (
        ["sposta la sveglia alle otto"],
        "cambia la mia sveglia dalle sette alle otto",
    ),
    "nl": (
        ["verzet de wekker naar acht uur"],
        "verplaats mijn wekker van zeven naar acht uur",
    ),
    "pl": (["przesuń budzik na ósmą"], "zmień mój budzik z siódmej na ósmą"),
    "pt": (["muda o alarme para as oito"], "altere meu alarme das sete para as oito"),
    "sv": (["flytta alarmet till klockan åtta"], "ändra mitt alarm från sju till åtta"),
    "zh": (["把闹钟改到八点"], "把我的七点的闹钟推迟到八点"),
}
"""Sentences that name the new time of an alarm at seven, and one with the old time as well."""


@in_one_home("language", [*MOVED], share=10)
async def test_an_alarm_is_moved(home: HomeAssistant, language: str) -> None:
    plans, tomorrow = (
        async_get_plans(home),
        dt_util.start_of_local_day() + timedelta(days=1),
    )
    sentences = await async_get_sentences(home, language)
    known = {plan.id for plan in plans.stored.plans}
    seven = replace(
        remind("spoken alarm"), id="seven", due=tomorrow + timedelta(hours=7)
    )
    simple, with_old_time = MOVED[language]
    for text in simple:
        assert await described(home, text, language) == sentences["later_none_alarm"]
    await plans.async_add(seven)
    for text in (*simple, with_old_time):
        call, to_move, when = (await described(home, text, language)).split(
            " ", maxsplit=2
        )
        moment = resolved_time(home, when, language, moved=moment_of(seven))
        assert (call, to_move) == ("move", "seven")
        assert moment
        assert moment.is_sure
        assert moment.due == tomorrow + timedelta(hours=8)
    await plans.async_add(replace(seven, id="nine", due=tomorrow + timedelta(hours=21)))
    for text in simple:
        assert _is_from(
            sentences["later_not_changed"], await described(home, text, language)
        )
    assert (await described(home, with_old_time, language)).startswith("move seven ")
    for plan_id in ("seven", "nine"):
        await async_get_schedule(home).async_cancel(plan_id)
    assert {plan.id for plan in plans.stored.plans} == known


@in_one_home(
    "text",
    [
        "move my alarm to the bedroom",
        "postpone my alarm by two hours",
        "move my alarm to an hour later",
        "move my alarm from six to eight",
        "change my dentist reminder to five",
        "change my timer to five minutes",
    ],
    puts_back=True,
)
async def test_other_words_move_no_alarm(home: HomeAssistant, text: str) -> None:
    due = dt_util.start_of_local_day() + timedelta(days=1, hours=7)
    await async_get_plans(home).async_add(
        replace(remind("spoken alarm"), id="seven", due=due)
    )

    assert await described(home, text) == "none"


class TestWithoutAModel:
    """Whole conversations at a satellite, with a model that is never asked."""

    pytestmark = pytest.mark.usefixtures("socket_enabled")

    async def test_a_command_is_planned_asked_about_and_taken_back(
        self, hass: HomeAssistant, serve: Serve, freezer: FrozenDateTimeFactory
    ) -> None:
        freezer.move_to(NOW)
        server = await serve(Script(), local_commands="first")
        light = "light.kitchen_ceiling"
        await hass.services.async_call(
            "light", "turn_on", {"entity_id": light}, blocking=True
        )

        planned = await at_hall(
            hass, "turn off the kitchen ceiling light in ten minutes"
        )
        assert planned.startswith("At ")
        assert "in 10 minutes" in planned
        assert await at_hall(hass, "what have I asked you to do?") == planned
        assert "ten minutes" not in await at_hall(
            hass, "not in ten minutes, in twenty minutes"
        )
        await pass_time(hass, freezer, minutes=11)
        assert state(hass, light) == "on"
        await pass_time(hass, freezer, minutes=10)
        assert state(hass, light) == "off"

        await at_hall(hass, "turn on the kitchen ceiling light in one minute")
        assert await at_hall(hass, "forget that") != await at_hall(
            hass, "what have I asked you to do?"
        )
        await pass_time(hass, freezer, minutes=2)
        assert state(hass, light) == "off"
        assert server.requests == []

    async def test_a_routine_at_sunset_is_told_by_the_sun(
        self, hass: HomeAssistant, serve: Serve, freezer: FrozenDateTimeFactory
    ) -> None:
        freezer.move_to(NOW)
        await serve(Script(), local_commands="first")

        question = await at_hall(
            hass, "every day at sunset turn on the kitchen ceiling light"
        )
        planned = await at_hall(hass, "yes")

        assert question.startswith("Every day at sunset.")
        assert planned.startswith("Every day at sunset:")
        assert await at_hall(hass, "what have I asked you to do?") == planned
        await at_hall(hass, "every day at 9 am turn on the kitchen ceiling light")
        await at_hall(hass, "yes")
        which = await at_hall(hass, "cancel the routine")
        assert "every day at sunset" in which

    async def test_a_reminder_that_is_moved_to_sunset_follows_the_sun(
        self, hass: HomeAssistant, serve: Serve, freezer: FrozenDateTimeFactory
    ) -> None:
        freezer.move_to(NOW)
        await serve(Script(), local_commands="first")
        await at_hall(hass, "remind me every day at 8 pm to water the plants")

        await at_hall(hass, "move the reminder to every day at sunset")

        [plan] = async_get_schedule(hass).plans.stored.plans
        assert plan.words == "every day at sunset"
        listed = await at_hall(hass, "what are my reminders?")
        assert "every day at sunset" in listed.lower()

    async def test_all_of_a_day_are_cancelled_and_no_others(
        self, hass: HomeAssistant, serve: Serve, freezer: FrozenDateTimeFactory
    ) -> None:
        freezer.move_to(NOW)
        await serve(Script(), local_commands="first")
        await at_hall(hass, "remind me in two hours to water the plants")
        await at_hall(hass, "remind me tomorrow at 8 pm to call Mum")
        await at_hall(hass, "remind me tomorrow at 9 pm to call Dad")

        heard = await at_hall(hass, "cancel everything tomorrow")

        assert heard == "2 reminders cancelled: call Mum, call Dad."
        [left] = async_get_schedule(hass).plans.stored.plans
        assert left.text == "water the plants"

    @pytest.mark.parametrize(
        ("language", "texts"),
        [
            (
                "en",
                (
                    "have you planned to cancel everything?",
                    "did I ask you to cancel everything",
                    "cancel everything until Sunday",
                    "cancel everything by tomorrow",
                    "cancel all my plans for tomorrow morning",
                ),
            ),
            (
                "de",
                (
                    "hast du geplant, alles zu löschen?",
                    "hast du alles gelöscht",
                    "lösche alle Pläne bis auf einen",
                ),
            ),
            ("fr", ("as-tu annulé tous les plans ?",)),
            ("zh-Hans", ("所有计划都取消了",)),
        ],
    )
    async def test_what_does_not_ask_to_cancel_all_cancels_nothing(
        self,
        hass: HomeAssistant,
        serve: Serve,
        freezer: FrozenDateTimeFactory,
        language: str,
        texts: tuple[str, ...],
    ) -> None:
        freezer.move_to(NOW)
        await serve(Script(), local_commands="first")
        await at_hall(hass, "remind me in two hours to water the plants")
        await at_hall(hass, "remind me tomorrow at 8 pm to call Mum")
        await at_hall(hass, "remind me on Sunday at 8 pm to call Dad")

        for text in texts:
            await say(hass, text, text, SATELLITE, language=language)
            assert len(async_get_schedule(hass).plans.stored.plans) == 3, text

    async def test_a_plan_is_moved_to_the_sun_in_words_of_its_language(
        self, hass: HomeAssistant, serve: Serve, freezer: FrozenDateTimeFactory
    ) -> None:
        freezer.move_to(NOW)
        await serve(Script(), local_commands="first")
        await at_hall(hass, "remind me every day at 8 pm to water the plants")

        def words() -> str:
            [plan] = async_get_schedule(hass).plans.stored.plans
            return plan.words

        await at_hall(hass, "move the reminder to half an hour before sunset")
        assert words() == "every day half an hour before sunset"
        await say(
            hass,
            "verschiebe die Erinnerung auf jeden Tag bei Sonnenuntergang",
            language="de",
            satellite_id=SATELLITE,
        )
        assert words().startswith("every day at T16:")

    async def test_a_reminder_is_put_off_where_it_was_heard(
        self, hass: HomeAssistant, serve: Serve, freezer: FrozenDateTimeFactory
    ) -> None:
        freezer.move_to(NOW)
        server = await serve(Script(), local_commands="first")

        await at_hall(hass, "remind me in one minute to call Mum")
        await pass_time(hass, freezer, minutes=1)
        assert (await at_hall(hass, "what is planned?")).startswith(
            "While you were away: A reminder: call Mum."
        )
        assert "in 10 minutes: call Mum." in await at_hall(hass, "in ten minutes again")
        assert "in 20 minutes" in await at_hall(
            hass, "not in ten minutes, in twenty minutes"
        )
        (plan,) = async_get_plans(hass).stored.plans
        assert plan.text == "call Mum"
        assert server.requests == []

    async def test_an_alarm_is_moved_and_keeps_its_day(
        self, hass: HomeAssistant, serve: Serve, freezer: FrozenDateTimeFactory
    ) -> None:
        freezer.move_to(NOW)
        await serve(Script(), local_commands="first")

        await at_hall(hass, "wake me up tomorrow at seven")
        moved = await at_hall(hass, "move my alarm to half past eight")
        await at_hall(hass, "wake me up every weekday at six am")
        repeated = await at_hall(hass, "move my alarm from six to seven")

        assert (
            moved
            == "At 8:30 tomorrow morning, in 23 hours and 30 minutes: spoken alarm."
        )
        assert (
            repeated == "From Monday to Friday at seven in the morning: spoken alarm."
        )
        assert len(async_get_plans(hass).stored.plans) == 2

    @pytest.mark.parametrize(
        ("talk", "planned"),
        [
            (
                ("remind me at six to call Mum", "yes"),
                "At six tomorrow morning, in 11 hours and 18 minutes: call Mum.",
            ),
            (
                ("remind me at six to call Mum", "no, at 7 pm"),
                "At seven this evening, in 18 minutes: call Mum.",
            ),
            (
                ("remind me tomorrow at eight to call Mum", "in the evening"),
                "At eight tomorrow evening: call Mum.",
            ),
            (
                ("remind me tomorrow at eight to call Mum", "at eight pm please"),
                "At eight tomorrow evening: call Mum.",
            ),
            (
                ("remind me every Monday at 8 to run", "yes please"),
                "Every Monday at eight in the morning: run.",
            ),
            (
                ("remind me every weekday at 8 to run", "at 9 pm"),
                "From Monday to Friday at nine in the evening: run.",
            ),
            (
                ("turn off the floor lamp tomorrow at nine", "at night"),
                "At nine tomorrow evening: turn off the Floor Lamp in the Living Room.",
            ),
            (
                ("remind me tomorrow at nine to call Mum", "not at nine, at ten"),
                TEN_TOMORROW,
            ),
            (("remind me at six to call Mum", "no"), "All right, I won't."),
        ],
    )
    async def test_an_answer_makes_the_time_clear(
        self,
        hass: HomeAssistant,
        serve: Serve,
        freezer: FrozenDateTimeFactory,
        talk: tuple[str, str],
        planned: str,
    ) -> None:
        freezer.move_to("2026-11-27 02:42:00+00:00")
        server = await serve(Script(), local_commands="first")

        request, reply = talk

        assert speech(await say(hass, request)).startswith("Did you mean")
        assert speech(await say(hass, reply)) == planned
        assert len(async_get_plans(hass).stored.plans) == (reply != "no")
        assert server.requests == []

    @pytest.mark.parametrize(
        "talk",
        [
            {
                "remind me at six to call Mum": "Did you mean at six tomorrow morning?",
                "on Sunday": "Did you mean at six on Sunday morning?",
                "yes": "At six on Sunday morning: call Mum.",
            },
            {
                "remind me to call Mum": "When should I remind you?",
                "at six": "Did you mean at six tomorrow morning?",
                "in the evening": "At six tomorrow evening, in 23 hours and 18 minutes: call Mum.",
            },
            {
                "set an alarm": "When should I remind you?",
                "in ten minutes": "At 6:52 this evening, in 10 minutes: spoken alarm.",
                "cancel my alarm": "Cancelled: spoken alarm, at 6:52 this evening.",
            },
            {
                "remind me of the bins": "When should I remind you?",
                "no": "All right, I won't.",
            },
            {
                "remind me at 7 pm on my birthday to call Mum": WHEN_EXACTLY,
                "on my birthday": WHEN_EXACTLY,
                "on Tuesday at 7 pm": "At seven on Tuesday evening: call Mum.",
            },
            {
                "remind me to call Mum at 6 pm and at 8 pm": WHEN_EXACTLY,
                "at 8 pm": "At eight this evening, in 1 hour and 18 minutes: call Mum.",
                "move it to 9 pm on my birthday": WHEN_EXACTLY,
                "tomorrow at 8 pm": "At eight tomorrow evening: call Mum.",
            },
            {
                "turn on the floor lamp at 7 pm on my birthday": WHEN_EXACTLY,
                "yes": "Sorry, I couldn't understand that",
                "turn on the floor lamp on my birthday": WHEN_EXACTLY,
                "tomorrow at 8 pm": "At eight tomorrow evening: turn on the Floor Lamp in the Living Room.",
            },
            {
                "wake me up at 7 am on my birthday": WHEN_EXACTLY,
                "tomorrow at 7": "At seven tomorrow morning, in 12 hours and 18 minutes: spoken alarm.",
            },
            {
                "set a reminder for tomorrow": WHAT,
                "call Mum": "Did you mean at eight tomorrow morning?",
                "at 9 am": "At nine tomorrow morning, in 14 hours and 18 minutes: call Mum.",
            },
            {
                "remind me": WHAT,
                "to call Mum": "When should I remind you?",
                "at 8 pm": "At eight this evening, in 1 hour and 18 minutes: call Mum.",
            },
            {
                "remind me at 8 pm": WHAT,
                "turn on the floor lamp": "Turned on the light",
            },
            {"remind me at 8 pm, please": WHAT, "no": "All right, I won't."},
            {"remind us at 8 pm": WHAT, "what?": "Sorry, I couldn't understand that"},
            {
                "please remind me at 8 pm": WHAT,
                "call Mum on Tuesday": WHEN_EXACTLY,
                "on Tuesday at 8 pm": "At eight on Tuesday evening: call Mum.",
            },
            {
                "wake me up every day at 7 am": "Every day at seven in the morning: spoken alarm.",
                "cancel tomorrow's alarm": "Which one should I cancel: "
                "spoken alarm, every day at seven in the morning?",
                "yes": "Cancelled: spoken alarm, every day at seven in the morning.",
                "cancel my alarm": "No alarm is set.",
                "cancel my reminder": "There are no reminders.",
            },
            {
                "wake me up tomorrow at 7": "At seven tomorrow morning, in 12 hours and 18 minutes: spoken alarm.",
                "set an alarm every day at 6": "Every day at six in the morning: spoken alarm.",
                "set an alarm for 1 tomorrow": "Did you mean at one tomorrow morning?",
                "no": "All right, I won't.",
                "set an alarm for tomorrow": "Did you mean at eight tomorrow morning?",
                "oh no": "All right, I won't.",
                "cancel all alarms": "2 alarms cancelled.",
            },
            {
                "wake me up tomorrow at 7 am": "At seven tomorrow morning, in 12 hours and 18 minutes: spoken alarm.",
                "set an alarm for 7 pm tomorrow": "At seven tomorrow evening: spoken alarm.",
                "set a timer for ten minutes": "At 6:52 this evening, in 10 minutes: Timer.",
                "when is my next alarm?": "At seven tomorrow morning, in 12 hours and 18 minutes: spoken alarm.",
                "cancel the alarm at seven": "Which one should I cancel: spoken alarm, at seven tomorrow morning; "
                "spoken alarm, at seven tomorrow evening?",
                "no": "All right, I won't.",
                "cancel all alarms": "2 alarms cancelled.",
                "do I have reminders?": "There are no reminders.",
                "what is planned?": "At 6:52 this evening, in 10 minutes: Timer.",
            },
            {
                "remind me at 8 pm tomorrow to call Mum": "At eight tomorrow evening: call Mum.",
                "remind me at 9 pm tomorrow to call Dad": "At nine tomorrow evening: call Dad.",
                "cancel all my reminders": "2 reminders cancelled: call Mum, call Dad.",
            },
            {
                "turn off the floor lamp in 400 days": NO_TIME,
                "tomorrow at eight": "Did you mean at eight tomorrow morning?",
                "in the evening": "At eight tomorrow evening: turn off the Floor Lamp in the Living Room.",
            },
            {
                "unlock the front door": "Unlock the Front Door in the Hallway?",
                "no": "All right, I won't.",
                "turn on the floor lamp": "Turned on the light",
                "turn it off in ten minutes": "At 6:52 this evening, in 10 minutes: "
                "turn off the Floor Lamp in the Living Room.",
            },
            {
                "turn on the floor lamp": "Turned on the light",
                "turn it off tomorrow at seven": "Did you mean at seven tomorrow morning?",
                "yes": "At seven tomorrow morning, in 12 hours and 18 minutes: "
                "turn off the Floor Lamp in the Living Room.",
            },
            {
                "remind me tomorrow at nine to call Mum": "Did you mean at nine tomorrow morning?",
                "no, not at nine": "Sorry, I couldn't understand that",
            },
            {
                "remind me every other day at 7 pm to eat": "Every 2 days at seven in the evening: eat.",
                "wake me up on Mondays and Thursdays at 7 am": "Every Monday and Thursday at seven in the morning: "
                "spoken alarm.",
                "remind me on the 7th at 6 pm to pay": "At six in the evening on December 7: pay.",
                "remind me next week at 6 pm to pay": "Did you mean at six on Monday evening?",
                "on Tuesday at 6 pm": "At six on Tuesday evening: pay.",
            },
        ],
        ids=lambda talk: next(iter(talk)),
    )
    async def test_an_answer_is_taken_with_what_was_said_before(
        self, hass: HomeAssistant, freezer: FrozenDateTimeFactory, talk: dict[str, str]
    ) -> None:
        freezer.move_to("2026-11-27 02:42:00+00:00")
        await move_into_the_demo_home(hass, PART)
        await set_up(hass, offline_entry())

        assert {
            text: speech(await say(hass, text, satellite_id=SATELLITE)) for text in talk
        } == talk

    @pytest.mark.parametrize("language", some(WHICH))
    async def test_one_of_several_plans_is_asked_for(
        self, hass: HomeAssistant, freezer: FrozenDateTimeFactory, language: str
    ) -> None:
        freezer.move_to("2026-11-27 02:42:00+00:00")
        await move_into_the_demo_home(hass, PART)
        await set_up(hass, offline_entry())
        sentences, plans = (
            await async_get_sentences(hass, language),
            async_get_plans(hass),
        )
        tomorrow = dt_util.start_of_local_day() + timedelta(days=1)
        for hours in (7, 6):
            alarm = replace(
                remind(sentences["later_alarm"]), due=tomorrow + timedelta(hours=hours)
            )
            await plans.async_add(replace(alarm, words=str(hours)))
        request, reply = WHICH[language]

        question = speech(
            await say(hass, request, language=language, satellite_id=SATELLITE)
        )
        opening = sentences["later_which_plan"].partition("{")[0]
        assert "".join(question.split()).startswith("".join(opening.split()))
        assert question.count(sentences["later_alarm"]) == len(plans.stored.plans) == 2
        await say(hass, reply, language=language, satellite_id=SATELLITE)

        assert [plan.words for plan in plans.stored.plans] == ["6"]

    @pytest.mark.parametrize(
        ("replies", "left"),
        [
            (("the first",), ["call Dad"]),
            (("call Dad",), ["call Mum"]),
            (("at eight",), ["call Mum"]),
            (("all of them",), []),
            (("the call", "the last one"), ["call Mum"]),
            (("no",), ["call Mum", "call Dad"]),
            (("turn on the floor lamp", "the first"), ["call Mum", "call Dad"]),
            (
                ("remind me tomorrow at eight pm to eat",),
                ["call Mum", "call Dad", "eat"],
            ),
        ],
    )
    async def test_an_answer_chooses_what_is_cancelled(
        self,
        hass: HomeAssistant,
        freezer: FrozenDateTimeFactory,
        replies: tuple[str, ...],
        left: list[str],
    ) -> None:
        freezer.move_to("2026-11-27 02:42:00+00:00")
        await move_into_the_demo_home(hass, PART)
        await set_up(hass, offline_entry())
        await say(
            hass, "remind me tomorrow at seven pm to call Mum", satellite_id=SATELLITE
        )
        await say(
            hass, "remind me tomorrow at eight pm to call Dad", satellite_id=SATELLITE
        )

        assert speech(await say(hass, "forget call", satellite_id=SATELLITE)) == (
            "Which one should I cancel: call Mum, at seven tomorrow evening; call Dad, at eight tomorrow evening?"
        )
        for reply in replies:
            await say(hass, reply, satellite_id=SATELLITE)

        assert [plan.text for plan in async_get_plans(hass).stored.plans] == left

    async def test_a_model_understands_more_of_a_reminder_without_a_time(
        self, hass: HomeAssistant, serve: Serve
    ) -> None:
        answers = (ScriptedAnswer(content="Which day?"),)
        texts = (
            "remind me to call Mum",
            "remind me at 7 pm",
            "wake me up",
            *UNRESOLVED["en"],
            UNSURE_TIMERS[0],
        )
        await serve(Script(answers=answers * len(texts)), local_commands="first")

        for text in texts:
            assert speech(await say(hass, text)) == "Which day?"
        assert async_get_plans(hass).stored.plans == ()

    @pytest.mark.parametrize("language", some(CASES))
    async def test_an_alarm_needs_no_model(
        self,
        hass: HomeAssistant,
        serve: Serve,
        freezer: FrozenDateTimeFactory,
        language: str,
    ) -> None:
        freezer.move_to(NOW)
        server = await serve(Script(), local_commands="first")
        alarm = (await async_get_sentences(hass, language))["later_alarm"]
        texts = [
            text
            for text, what in CASES[language].items()
            if what.endswith(f": {alarm}")
        ]

        for text in texts:
            await say(hass, text, text, language=language)
            (plan,) = async_get_plans(hass).stored.plans
            assert plan.text == alarm
            await async_get_schedule(hass).async_cancel(plan.id)

        assert texts
        assert server.requests == []

    @pytest.mark.parametrize("language", some(ABOUT_WHAT))
    async def test_a_reminder_without_a_text_is_asked_for_it(
        self, hass: HomeAssistant, freezer: FrozenDateTimeFactory, language: str
    ) -> None:
        freezer.move_to(NOW)
        await move_into_the_demo_home(hass, PART)
        await set_up(hass, offline_entry())
        request, answer, text = ABOUT_WHAT[language]

        question = speech(await say(hass, request, language=language))
        assert question == (await async_get_sentences(hass, language))["later_what"]
        await say(hass, answer, language=language)

        (plan,) = async_get_plans(hass).stored.plans
        assert plan.text == text
        assert plan.due
        assert dt_util.as_local(plan.due).hour == 18

    @pytest.mark.parametrize(
        ("answer", "due"),
        [
            ("in the evening", "2026-11-27T18:00"),
            ("yes", "2026-11-27T06:00"),
            ("at seven", "2026-11-27T07:00"),
            ("in the evening at seven", "2026-11-27T19:00"),
            ("tomorrow at 8 am", "2026-11-28T08:00"),
            ("in ten minutes", "2026-11-27T00:10"),
        ],
    )
    async def test_a_day_is_that_of_the_first_words_after_midnight(
        self, hass: HomeAssistant, freezer: FrozenDateTimeFactory, answer: str, due: str
    ) -> None:
        freezer.move_to("2026-11-27 07:59:40+00:00")  # 20 seconds before midnight
        await move_into_the_demo_home(hass, PART)
        await set_up(hass, offline_entry())

        assert speech(
            await say(hass, "remind me tomorrow at six to call Mum")
        ).startswith("Did you mean")
        freezer.move_to("2026-11-27 08:00:10+00:00")
        await say(hass, answer)

        (plan,) = async_get_plans(hass).stored.plans
        assert plan.due
        assert dt_util.as_local(plan.due).isoformat().startswith(due)

    async def test_a_text_that_is_asked_for_after_midnight_keeps_the_day(
        self, hass: HomeAssistant, freezer: FrozenDateTimeFactory
    ) -> None:
        freezer.move_to("2026-11-27 07:59:40+00:00")
        await move_into_the_demo_home(hass, PART)
        await set_up(hass, offline_entry())

        assert speech(await say(hass, "remind me tomorrow at six")) == WHAT
        freezer.move_to("2026-11-27 08:00:10+00:00")
        assert speech(await say(hass, "call Mum")).startswith(
            "Did you mean at six this morning?"
        )
        assert speech(await say(hass, "yes")).startswith(
            "At six this morning, in 6 hours"
        )

    async def test_an_answer_to_a_question_puts_no_reminder_off(
        self, hass: HomeAssistant, freezer: FrozenDateTimeFactory
    ) -> None:
        freezer.move_to("2026-11-27 02:42:00+00:00")
        await move_into_the_demo_home(hass, PART)
        await set_up(hass, offline_entry())
        news = News(
            text="A reminder: bins.",
            language="en",
            asker=Asker(satellite_id=SATELLITE),
            plan=remind("bins"),
        )
        await async_get_schedule(hass).async_heard([news], SATELLITE)

        await say(hass, "remind me tomorrow at eight to run", satellite_id=SATELLITE)
        await say(hass, "in the evening", satellite_id=SATELLITE)

        assert [plan.text for plan in async_get_plans(hass).stored.plans] == ["run"]

    @pytest.mark.parametrize(
        "reply",
        [
            "turn on the floor lamp",
            "how warm will it be at 9 pm?",
            "what is on Mars?",
            "maybe",
        ],
    )
    async def test_other_words_do_not_plan_what_was_asked_about(
        self,
        hass: HomeAssistant,
        serve: Serve,
        freezer: FrozenDateTimeFactory,
        reply: str,
    ) -> None:
        freezer.move_to("2026-11-27 02:42:00+00:00")
        await serve(
            Script(answers=(ScriptedAnswer(content="I see."),)), local_commands="first"
        )

        await say(hass, "remind me at six to call Mum")
        await say(hass, reply)
        await say(hass, "yes")

        assert async_get_plans(hass).stored.plans == ()

    async def test_a_yes_is_asked_for_at_once(
        self, hass: HomeAssistant, serve: Serve, freezer: FrozenDateTimeFactory
    ) -> None:
        freezer.move_to(NOW)
        server = await serve(Script(), local_commands="first")

        question = speech(
            await say(
                hass, "unlock the front door in ten minutes", satellite_id=SATELLITE
            )
        )
        assert question.endswith("Unlock the Front Door in the Hallway?")
        assert async_get_plans(hass).stored.plans == ()
        await say(hass, "yes", satellite_id=SATELLITE)
        await pass_time(hass, freezer, minutes=10)

        assert state(hass, "lock.front_door") == "unlocked"
        assert server.requests == []

    @pytest.mark.parametrize(
        ("text", "answer"),
        [
            (
                "remind me at six to call Mum",
                "Did you mean at six tomorrow morning?",
            ),
            (
                "turn off the floor lamp tomorrow at seven",
                "Did you mean at seven tomorrow morning?",
            ),
            ("turn off the floor lamp in 400 days", NO_TIME),
        ],
    )
    async def test_a_time_that_is_not_clear_is_asked_about(
        self,
        hass: HomeAssistant,
        serve: Serve,
        freezer: FrozenDateTimeFactory,
        text: str,
        answer: str,
    ) -> None:
        freezer.move_to("2026-11-27 03:00:00+00:00")
        server = await serve(Script(), local_commands="first")

        assert speech(await say(hass, text, satellite_id=SATELLITE)) == answer
        assert async_get_plans(hass).stored.plans == ()
        assert server.requests == []

    async def test_an_agent_without_a_model_plans(
        self, hass: HomeAssistant, freezer: FrozenDateTimeFactory
    ) -> None:
        freezer.move_to(NOW)
        await move_into_the_demo_home(hass)
        await set_up(hass, offline_entry())

        planned = await at_hall(hass, "turn off the floor lamp in ten minutes")
        assert "in 10 minutes" in planned
        assert await at_hall(hass, "what is planned?") == planned
        assert await at_hall(hass, "turn off the floor lamp") == "Turned off the light"
        assert await at_hall(hass, "turn off the floor lamp in 400 days") == NO_TIME
        question = await at_hall(hass, "unlock the front door in twenty minutes")
        assert question.endswith("Unlock the Front Door in the Hallway?")
        assert "in 20 minutes" in await at_hall(hass, "yes")
        await at_hall(hass, "cancel everything")
        await pass_time(hass, freezer, minutes=20)
        assert state(hass, "lock.front_door") == "locked"

        assert "in 10 minutes" in await at_hall(
            hass, "dim the kitchen lights to 30 percent in ten minutes"
        )
        assert state(hass, "light.kitchen_pendant") == "off"
        await pass_time(hass, freezer, minutes=10)
        pendant = hass.states.get("light.kitchen_pendant")
        assert pendant is not None
        assert pendant.attributes["brightness"] == round(255 * 0.3)

    async def test_it_is_what_was_controlled_when_it_was_planned(
        self, hass: HomeAssistant, freezer: FrozenDateTimeFactory
    ) -> None:
        freezer.move_to(NOW)
        await move_into_the_demo_home(hass)
        await set_up(hass, offline_entry())

        await at_hall(hass, "turn on the floor lamp")
        assert (await at_hall(hass, "turn it off in ten minutes")).endswith(
            "turn off the Floor Lamp in the Living Room."
        )
        assert "in 20 minutes" not in await at_hall(
            hass, "turn it on in twenty minutes"
        )
        await at_hall(hass, "turn on the desk lamp")
        await pass_time(hass, freezer, minutes=10)
        assert (state(hass, "light.floor_lamp"), state(hass, "light.desk_lamp")) == (
            "off",
            "on",
        )

        await at_hall(hass, "lock the front door")
        assert (await at_hall(hass, "unlock it in ten minutes")).endswith(
            "Unlock the Front Door in the Hallway?"
        )
        assert async_get_plans(hass).stored.plans == ()

    @pytest.mark.usefixtures("whole_home")
    async def test_it_is_left_to_a_model_that_has_spoken(
        self, hass: HomeAssistant, serve: Serve
    ) -> None:
        acts = (
            ScriptedAnswer(tool_calls=(LIGHT_ON,)),
            ScriptedAnswer(content="It is on."),
        )
        server = await serve(
            Script(answers=(*acts, ScriptedAnswer(content="Which one?"))),
            local_commands="first",
        )

        await say(hass, "light on the pots please")
        assert (
            speech(await say(hass, "turn on the floor lamp")) == "Turned on the light"
        )
        assert speech(await say(hass, "turn it off in ten minutes")) == "Which one?"

        assert len(server.requests) == 3

    async def test_a_model_that_only_talks_gives_way_to_the_plan(
        self, hass: HomeAssistant, serve: Serve, freezer: FrozenDateTimeFactory
    ) -> None:
        freezer.move_to(NOW)
        server = await serve(
            Script(answers=(ScriptedAnswer(content="Done."),)),
            local_commands="when_undone",
        )

        spoken = speech(
            await say(
                hass, "turn off the floor lamp in ten minutes", satellite_id=SATELLITE
            )
        )

        assert "in 10 minutes" in spoken
        assert len(async_get_plans(hass).stored.plans) == 1
        assert len(server.requests) == 1

    @pytest.mark.parametrize(
        "options", [{"local_commands": "never"}, {"local_commands": "when_undone"}]
    )
    async def test_what_is_said_while_the_model_is_down_is_planned(
        self,
        hass: HomeAssistant,
        serve: Serve,
        freezer: FrozenDateTimeFactory,
        options: dict[str, object],
    ) -> None:
        freezer.move_to(NOW)
        await serve(Script(), **options)

        light = "light.kitchen_ceiling"
        await hass.services.async_call(
            "light", "turn_on", {"entity_id": light}, blocking=True
        )
        assert "in 10 minutes" in await at_hall(
            hass, "turn off the kitchen ceiling light in ten minutes"
        )
        assert len(async_get_plans(hass).stored.plans) == 1
        assert (
            await at_hall(hass, "turn off the kitchen ceiling light in 400 days")
        ).endswith(NO_TIME)
        question = await at_hall(hass, "unlock the front door in twenty minutes")
        assert question.endswith("Unlock the Front Door in the Hallway?")
        assert len(async_get_plans(hass).stored.plans) == 1
        assert "in 20 minutes" in await at_hall(hass, "yes")
        assert len(async_get_plans(hass).stored.plans) == 2
        await pass_time(hass, freezer, minutes=10)
        await pass_time(hass, freezer, minutes=10)
        assert (state(hass, light), state(hass, "lock.front_door")) == (
            "off",
            "unlocked",
        )

    async def test_a_plan_that_cannot_be_kept_is_not_done_at_once(
        self, hass: HomeAssistant, freezer: FrozenDateTimeFactory
    ) -> None:
        freezer.move_to(NOW)
        await move_into_the_demo_home(hass, PART)
        await set_up(hass, offline_entry())
        plans = async_get_plans(hass)
        await plans.async_load()
        for number in range(MOST_PLANS):
            await plans.async_add(
                replace(remind(str(number)), asker=Asker(person_id=str(number)))
            )

        spoken = speech(
            await say(
                hass, "turn on the floor lamp in ten minutes", satellite_id=SATELLITE
            )
        )

        assert "10 minutes" not in spoken
        assert len(plans.stored.plans) == MOST_PLANS
        assert state(hass, "light.floor_lamp") == "off"


async def test_a_reminder_for_what_comes_more_finely_is_asked_about(
    hass: HomeAssistant, freezer: FrozenDateTimeFactory
) -> None:
    await set_up(hass, offline_entry())
    freezer.move_to(NOW)
    for language, texts in FINE.items():
        question = (await async_get_sentences(hass, language))["later_exactly"]
        for text in texts:
            assert await described(hass, text, language) == question, text


@pytest.mark.usefixtures("offline")
async def test_a_lamp_is_on_for_a_while(
    hass: HomeAssistant, freezer: FrozenDateTimeFactory
) -> None:
    states = [state(hass, LAMP)]
    answer = await at_hall(hass, "turn on the floor lamp for ten minutes")
    for minutes in (9, 2):
        states.append(state(hass, LAMP))
        await pass_time(hass, freezer, minutes=minutes)
    states.append(state(hass, LAMP))

    assert answer.startswith("Turned on the light. ")
    assert answer.endswith(": turn off the Floor Lamp in the Living Room.")
    assert states == ["off", "on", "on", "off"]


@pytest.mark.usefixtures("offline")
@pytest.mark.parametrize(("answer", "after"), [("yes", "on"), ("no", "off")])
async def test_a_lamp_is_turned_on_once_its_end_is_clear(
    hass: HomeAssistant, answer: str, after: str
) -> None:
    await at_hall(hass, "turn on the floor lamp until tomorrow")
    before = state(hass, LAMP)
    await at_hall(hass, answer)

    assert (before, state(hass, LAMP)) == ("off", after)
    assert len(async_get_plans(hass).stored.plans) == (after == "on")


@pytest.mark.usefixtures("offline")
async def test_lights_that_were_off_stay_off_after_a_while_in_the_dark(
    hass: HomeAssistant,
) -> None:
    await say(hass, "turn on the floor lamp")

    await at_hall(hass, "turn off all the lights for ten minutes")

    assert state(hass, LAMP) == "on"
    assert not async_get_plans(hass).stored.plans


@in_one_home(
    "text",
    [
        "turn on the floor lamp at nine pm and turn it off then",
        "unlock the front door in ten minutes and lock it",
        "turn on the floor lamp and add milk to the shopping list and turn it off in ten minutes",
        "turn on the floor lamp and turn off all the lights at nine pm",
        "turn on the floor lamp and turn it off in ten minutes and open the living room blinds",
    ],
)
async def test_nothing_is_done_now_that_has_a_time_and_nothing_is_left_out(
    home: HomeAssistant, text: str
) -> None:
    assert not (await described(home, text)).startswith(("turn", "unlock"))


@pytest.mark.usefixtures("offline")
@pytest.mark.parametrize(
    "text",
    ["turn on the floor lamp in ten minutes", "turn on the floor lamp for ten minutes"],
)
async def test_nothing_is_planned_where_rules_forbid_the_tool(
    hass: HomeAssistant, text: str
) -> None:
    await set_home_rules(
        hass, rules=[{"verdict": "deny", "tools": ["chatterbox__later"]}]
    )

    assert "don't allow" in await at_hall(hass, text)
    assert not async_get_plans(hass).stored.plans
