"""The sentences of the documentation are understood in the demo home, without a model unless a page says so."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import pytest
from freezegun.api import FrozenDateTimeFactory
from homeassistant.components.conversation import ConversationResult
from homeassistant.components.recorder import Recorder
from homeassistant.core import HomeAssistant
from homeassistant.helpers import entity_registry as er

from custom_components.chatterbox.const import (
    CONF_KIND,
    CONF_LOCAL_COMMANDS,
    ServiceKind,
)
from custom_components.chatterbox.later.plans import Asker, News
from custom_components.chatterbox.later.schedule import async_get_schedule
from tests.later.talk import remind
from tests.support.documented_sentences import (
    PAGES,
    DocumentedSentence,
    documented_sentences,
    documented_talks,
    pictured_talk,
)
from tests.support.one_home import in_one_home
from tests.support.talk import (
    SATELLITE,
    add_agent,
    move_into_the_demo_home,
    say,
    speech,
)

NOW: Final = "2026-11-27 19:00:00-08:00"
"""A Friday evening in the home of the tests, at which "six" may be two times."""


@dataclass(frozen=True, slots=True)
class Situation:
    """Where a sentence is said that does not stand alone."""

    before: tuple[str, ...] = ()
    """The sentences before it in the conversation."""
    language: str = "en"
    has_heard: bool = False
    """Whether a reminder was just heard."""


_ALARMS: Final = ("set an alarm for seven", "set an alarm for nine pm")
_WHICH: Final = Situation((*_ALARMS, "cancel my alarm"))
_AT_SIX: Final = Situation(("remind me at six to call Mum",))
SITUATIONS: Final[Mapping[str, Situation]] = {
    "turn them off again": Situation(("turn on the kitchen lights",)),
    "turn it off in ten minutes": Situation(("turn on the floor lamp",)),
    "forget the heater": Situation(("turn off the heater in twenty minutes",)),
    "not at six, at seven": Situation(("remind me at six pm tomorrow to call Mum",)),
    "forget that": Situation(("remind me at six pm tomorrow to call Mum",)),
    "cancel the alarm at nine": Situation(_ALARMS),
    "cancel both alarms": Situation(_ALARMS),
    "move my alarm to eight": Situation(("set an alarm for seven",)),
    "move my alarm from seven to eight": Situation(_ALARMS),
    "the one at seven": _WHICH,
    "the first": _WHICH,
    "in ten minutes again": Situation(has_heard=True),
    "when does my timer end?": Situation(("set a timer for ten minutes",)),
    "add five minutes to the timer": Situation(("set a timer for ten minutes",)),
    "yes": _AT_SIX,
    "in the evening": _AT_SIX,
    "at seven": _AT_SIX,
    "schalte in zehn minuten das licht aus": Situation(language="de"),
    "éteins la lampe dans une demi-heure": Situation(language="fr"),
    "日落后半小时打开台灯": Situation(language="zh-Hans"),
}


@pytest.fixture(autouse=True)
def _find_custom_integrations(
    recorder_mock: Recorder, enable_custom_integrations: None
) -> None:
    """Begin to record before Home Assistant is there: the demo home has a history."""
    assert isinstance(recorder_mock, Recorder)
    assert enable_custom_integrations is None


@pytest.fixture
async def offline_home(
    hass: HomeAssistant, freezer: FrozenDateTimeFactory
) -> HomeAssistant:
    """Return the demo home with an agent without a model. Its lamp has a name in each language of the pages."""
    freezer.move_to(NOW)
    await move_into_the_demo_home(hass)
    er.async_get(hass).async_update_entity(
        "light.floor_lamp", aliases=[er.COMPUTED_NAME, "Licht", "lampe", "台灯"]
    )
    await add_agent(
        hass,
        {CONF_KIND: ServiceKind.OFFLINE},
        {CONF_LOCAL_COMMANDS: "first", "remember_facts": True},
    )
    return hass


async def _results(
    hass: HomeAssistant, texts: Sequence[str], language: str = "en"
) -> list[ConversationResult]:
    """Say sentences one after the other, where nothing is planned."""
    await say(hass, "cancel everything", "another-talk", SATELLITE)
    return [
        await say(hass, text, " ".join(texts), SATELLITE, language=language)
        for text in texts
    ]


@in_one_home("sentence", [*documented_sentences()], share=3)
async def test_a_sentence_is_understood_unless_its_row_says_that_it_needs_a_model(
    offline_home: HomeAssistant, sentence: DocumentedSentence
) -> None:
    situation = SITUATIONS.get(sentence.text.lower(), Situation())
    if situation.has_heard:
        news = News(
            text="A reminder: call Mum.",
            language="en",
            asker=Asker(satellite_id=SATELLITE),
            plan=remind(),
        )
        await async_get_schedule(offline_home).async_heard([news], SATELLITE)

    *before, result = await _results(
        offline_home, [*situation.before, sentence.text], situation.language
    )

    assert [speech(one) for one in before if one.response.error_code] == []
    assert (result.response.error_code is not None) == sentence.needs_model, speech(
        result
    )


def test_each_situation_is_that_of_a_sentence() -> None:
    assert SITUATIONS.keys() <= {
        sentence.text.lower() for sentence in documented_sentences()
    }


@in_one_home("talk", [talk for page in PAGES for talk in documented_talks(page)])
async def test_a_talk_is_understood(
    offline_home: HomeAssistant, talk: list[str]
) -> None:
    results = await _results(offline_home, talk)

    assert [speech(result) for result in results if result.response.error_code] == []


async def test_the_picture_of_a_talk_without_a_model_shows_its_answers(
    offline_home: HomeAssistant,
) -> None:
    texts, answers = zip(*pictured_talk("docs/start.md"), strict=True)

    assert [speech(result) for result in await _results(offline_home, texts)] == [
        *answers
    ]
