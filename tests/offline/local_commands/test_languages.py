"""Sentences of Home Assistant are done in each language as it does them; other languages keep what it does."""

import pytest
from homeassistant.components import conversation
from homeassistant.components.conversation import ConversationInput
from homeassistant.core import Context, HomeAssistant
from homeassistant.setup import async_setup_component

from custom_components.chatterbox.effects.intents import intent_effects
from custom_components.chatterbox.effects.reading import (
    NOTHING_READ,
    async_is_assumed,
    async_read,
)
from custom_components.chatterbox.internals.conversation import (
    async_recognized,
    slots_of,
)
from custom_components.chatterbox.offline.sentence_effects import async_sentence_effects
from custom_components.demo_house.home import read_home
from demo.translated import languages, translated_home
from tests.demo_house.move_in import move_in
from tests.support.ha_sentences import sentence_source
from tests.support.thorough import some

SENTENCES_OF_EACH = 6
LEAST_COMPARED = 5
CODES = {"zh-Hans": "zh-CN"}
"""The codes of Home Assistant's sentences, where they are other ones."""


def input_of(sentence: str, language: str) -> ConversationInput:
    return ConversationInput(
        sentence,
        Context(),
        None,
        None,
        None,
        language,
        conversation.HOME_ASSISTANT_AGENT,
    )


async def move_into(hass: HomeAssistant, language: str) -> None:
    """Move into the demo home in a language."""
    assert await async_setup_component(hass, "homeassistant", {})
    assert await async_setup_component(hass, "conversation", {})
    await move_in(hass, translated_home(language))


@pytest.mark.parametrize("language", some(languages(), ["de"]))
async def test_what_home_assistant_does_is_done(
    hass: HomeAssistant, language: str, pytestconfig: pytest.Config
) -> None:
    await move_into(hass, language)
    players = {"entity_id": "all"}  # it changes the volume of what plays
    await hass.services.async_call("media_player", "media_play", players, blocking=True)
    home, code, compared = (
        read_home(translated_home(language)),
        CODES.get(language, language),
        0,
    )
    names = {
        "name": [one.name for one in home.entities],
        "area": [one.name for one in home.areas],
        "floor": [one.name for one in home.floors],
    }
    each = SENTENCES_OF_EACH if pytestconfig.getoption("thorough") else 2
    for intent_type, sentence in sentence_source(code, names).drawn(each):
        found = await async_recognized(hass, input_of(sentence, code))
        if (
            found is None or found.intent.name != intent_type
        ):  # another template takes it for something else
            continue
        theirs = {
            *intent_effects(hass, intent_type, slots_of(found), "conversation").actions
        }
        is_assumed = await async_is_assumed(
            hass, input_of(sentence, code), intent_type, slots_of(found)
        )
        if theirs and not is_assumed:
            assert {
                *(await async_sentence_effects(hass, input_of(sentence, code))).actions
            } == theirs, sentence
            compared += 1
    assert compared >= LEAST_COMPARED


@pytest.mark.parametrize(
    ("language", "sentence"),
    [
        ("cs", "zapni světlo v kuchyni"),
        ("fi", "sytytä valot"),
        ("ja", "台所の電気をつけて"),
    ],
)
async def test_sentences_of_other_languages_are_not_read(
    hass: HomeAssistant, language: str, sentence: str
) -> None:
    await move_into(hass, "en")
    assert await async_read(hass, input_of(sentence, language)) == NOTHING_READ
