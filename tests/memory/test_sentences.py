"""Facts are remembered, listed and forgotten without a model, in eleven languages."""

from datetime import timedelta

import pytest
from freezegun.api import FrozenDateTimeFactory
from homeassistant.components import conversation
from homeassistant.core import Context, HomeAssistant
from homeassistant.util import dt as dt_util
from pydantic import BaseModel

from custom_components.chatterbox.agent.text import read_data_file
from custom_components.chatterbox.memory.facts import (
    HOUSEHOLD,
    Keeper,
    async_get_memories,
)
from tests.support.config_entries import offline_entry, only_agent, set_up
from tests.support.home_rules import set_home_rules
from tests.support.listening_agent import add_person
from tests.support.one_home import in_one_home
from tests.support.servers.script import Script, ScriptedAnswer
from tests.support.talk import AGENT, Serve, speech

SATELLITE = "assist_satellite.kitchen"


class Sentences(BaseModel):
    """The sentences of a language."""

    language: str
    household: str
    fact: str
    """The fact in it, as it is kept."""
    guests: str
    """A fact of the household that ends on Friday."""
    own: str
    forget: str
    """Forgets the fact of the household."""
    list: str


class Languages(BaseModel):
    """The languages of the file."""

    languages: list[Sentences]


LANGUAGES = read_data_file(__file__, Languages, "sentences.toml").languages


@pytest.fixture
async def home(hass: HomeAssistant) -> HomeAssistant:
    """Return a home in which an agent without a model remembers facts."""
    await add_person(hass, "Anna")
    await set_up(hass, offline_entry(remember_facts=True))
    return hass


async def say(
    hass: HomeAssistant, text: str, language: str = "en", user_id: str | None = None
) -> str:
    """Say something, signed in or else at the satellite of nobody in particular."""
    result = await conversation.async_converse(
        hass,
        text,
        None,
        Context(user_id=user_id),
        language,
        AGENT,
        satellite_id=None if user_id else SATELLITE,
    )
    return speech(result)


def household(hass: HomeAssistant) -> list[str]:
    return [fact.text for fact in async_get_memories(hass).facts(HOUSEHOLD)]


@pytest.mark.usefixtures("home")
@in_one_home("sentences", LANGUAGES, share=5)
async def test_facts_are_understood_without_a_model(
    hass: HomeAssistant, sentences: Sentences, freezer: FrozenDateTimeFactory
) -> None:
    memories, language = async_get_memories(hass), sentences.language
    (entry,) = hass.config_entries.async_entries("chatterbox")
    user = await hass.auth.async_create_user(f"Anna {language}")
    own = Keeper(only_agent(entry).subentry_id, user.id)
    freezer.move_to("2026-11-22 10:00:00+00:00")
    facts = memories.facts(HOUSEHOLD)
    await memories.async_forget(HOUSEHOLD, [fact.id for fact in facts])

    plain = await say(hass, sentences.household, language)
    guests = await say(hass, sentences.guests, language)
    (bins, until) = memories.facts(HOUSEHOLD)
    assert (bins.text, bins.ends) == (sentences.fact, None)
    friday = dt_util.start_of_local_day() + timedelta(days=6)
    assert until.ends == friday
    assert len(guests) > len(plain)

    await say(hass, sentences.own, language)
    assert len(household(hass)) == 2
    await say(hass, sentences.own, language, user.id)
    assert len(memories.facts(own)) == 1

    listed = await say(hass, sentences.list, language)
    assert sentences.fact in listed
    assert memories.facts(own)[0].text not in listed
    assert memories.facts(own)[0].text in await say(
        hass, sentences.list, language, user.id
    )

    await say(hass, sentences.forget, language)
    assert household(hass) == [until.text]
    await memories.async_forget(HOUSEHOLD, [until.id])
    await say(hass, sentences.forget, language)
    assert len(memories.facts(own)) == 1


@pytest.mark.usefixtures("home")
@in_one_home(
    "sentence",
    [
        "don't remember that the bins go out on Thursday",
        "do you remember that the bins go out on Thursday?",
        "remind me that the bins go out on Thursday",
        "forget it",
        "remember that",
        "turn on the light that I remember",
        "when do the bins go out?",
    ],
    puts_back=True,
)
async def test_nothing_else_is_remembered(hass: HomeAssistant, sentence: str) -> None:
    await async_get_memories(hass).async_add(HOUSEHOLD, "It is a house.", "")

    await say(hass, sentence)

    assert household(hass) == ["It is a house."]


@pytest.mark.usefixtures("home")
@pytest.mark.each_row
@pytest.mark.parametrize(
    ("language", "sentence", "fact"),
    [
        ("en", "remember until Friday that we have guests", "we have guests"),
        ("de", "merk dir bis Freitag, dass Oma da ist", "dass Oma da ist"),
        ("nl", "onthoud tot en met vrijdag dat oma er is", "dat oma er is"),
        ("es", "recuerda hasta el viernes que hay visita", "hay visita"),
        ("it", "ricorda fino a venerdì che ci sono ospiti", "ci sono ospiti"),
        ("fr", "retiens jusqu'à vendredi que la clé est cachée", "la clé est cachée"),
        ("pt", "lembra até sexta-feira que há visitas", "há visitas"),
        ("sv", "kom ihåg till fredag att vi har gäster", "vi har gäster"),
        ("pl", "zapamiętaj do piątku, że są goście", "są goście"),
    ],
)
async def test_an_end_may_come_first(
    hass: HomeAssistant,
    freezer: FrozenDateTimeFactory,
    language: str,
    sentence: str,
    fact: str,
) -> None:
    freezer.move_to("2026-11-22 10:00:00+00:00")

    await say(hass, sentence, language)

    (known,) = async_get_memories(hass).facts(HOUSEHOLD)
    assert known.text == fact
    assert known.ends == dt_util.start_of_local_day() + timedelta(days=6)


@pytest.mark.usefixtures("home")
async def test_shops_are_open_each_day(hass: HomeAssistant) -> None:
    await say(hass, "remember that the shop is open until six")

    (fact,) = async_get_memories(hass).facts(HOUSEHOLD)
    assert fact.ends is None


@pytest.mark.usefixtures("home")
async def test_refusals_are_said(hass: HomeAssistant) -> None:
    for sentence, reason in (
        ("remember that the alarm code is 4711", "I don't remember PINs."),
        ("forget that we have guests", "I don't remember anything like that."),
    ):
        assert (await say(hass, sentence)).endswith(reason)
    assert "who is speaking" in await say(hass, "remember that I like tea")
    await set_home_rules(hass, household_writers="known")
    assert "administrator" in await say(hass, "remember that the bins go out today")
    assert household(hass) == []


async def test_a_model_is_asked_where_it_may_make_more_of_it(
    hass: HomeAssistant, serve: Serve
) -> None:
    script = Script(
        answers=(ScriptedAnswer(content="Well."),), after_last="start again"
    )
    server = await serve(script, remember_facts=True, local_commands="first")
    anna = (await hass.auth.async_create_user("Anna")).id

    for sentence, user_id, requests in (
        ("remember that the bins go out on Thursday", None, 0),
        ("remember that the present is in the wardrobe", anna, 1),
        ("remember that I like tea", anna, 1),
        ("what do you remember?", anna, 1),
        ("forget the bins", anna, 1),
        ("forget the bins", anna, 2),
    ):
        await say(hass, sentence, user_id=user_id)
        assert len(server.requests) == requests, sentence

    assert household(hass) == []
