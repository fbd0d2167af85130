"""Effects of sentences that Home Assistant understands by itself, known before anything runs."""

from dataclasses import replace
from itertools import islice
from pathlib import Path

import pytest
from hassil.intents import Intents, SlotList, TextSlotList
from hassil.sample import sample_intents
from home_assistant_intents import get_intents, get_languages
from homeassistant.components import conversation
from homeassistant.components.conversation import ConversationInput
from homeassistant.components.conversation.agent_manager import get_agent_manager
from homeassistant.core import Context, HomeAssistant
from homeassistant.helpers import (
    area_registry as ar,
    device_registry as dr,
    entity_registry as er,
)
from homeassistant.setup import async_setup_component
from pytest_homeassistant_custom_component.common import MockConfigEntry

from custom_components.chatterbox.effects.effect import (
    NOTHING,
    Effects,
    Unknown,
    UnknownReason,
)
from custom_components.chatterbox.offline.provider import PROCESS_SENTENCE, SENTENCE
from custom_components.chatterbox.offline.sentence_effects import (
    async_sentence_effects,
    async_with_names,
)
from tests.demo_house.move_in import move_in
from tests.support.offline_talk import HOME, Talk
from tests.support.one_home import in_one_home

UNKNOWN = Effects(unknowns=frozenset({Unknown(UnknownReason.SENTENCE)}))
UNFORESEEN = replace(UNKNOWN, is_guessed=True)


@pytest.fixture
async def talk(hass: HomeAssistant) -> Talk:
    await move_in(hass, HOME)
    assert await async_setup_component(hass, conversation.DOMAIN, {})
    return Talk(hass)


def effects_of_sentence(
    text: str,
    *,
    language: str = "en",
    device_id: str | None = None,
    satellite_id: str | None = None,
) -> ConversationInput:
    agent = conversation.HOME_ASSISTANT_AGENT
    return ConversationInput(
        text, Context(), None, device_id, satellite_id, language, agent
    )


async def effects(talk: Talk, text: str, **who: str) -> Effects:
    user_input = effects_of_sentence(text, **who)
    return await async_sentence_effects(
        talk.hass, replace(user_input, conversation_id=talk.conversation_id)
    )


def facts_of(found: Effects) -> set[tuple[str, str]]:
    assert found.is_known
    return {(action.entity_id, action.action) for action in found.actions}


@in_one_home(
    ("sentence", "expected"),
    [
        ("unlock the front door", {("lock.front_door", "lock.unlock")}),
        ("lock the front door", {("lock.front_door", "lock.lock")}),
        (
            "unlock the front door and turn on the counter lamp",
            {("lock.front_door", "lock.unlock"), ("light.counter", "light.turn_on")},
        ),
        (
            "turn off the lights in the kitchen",
            {
                ("light.kitchen_ceiling", "light.turn_off"),
                ("light.counter", "light.turn_off"),
            },
        ),
        ("is the front door locked", set()),
        ("what time is it", set()),
        ("what is the meaning of life", set()),
        ("unlock the drawbridge", set()),
        ("unlock the front door in 5 minutes", set()),
    ],
)
async def test_a_sentence_tells_what_it_would_do(
    talk: Talk, sentence: str, expected: set[tuple[str, str]]
) -> None:
    before = {state.entity_id: state.state for state in talk.hass.states.async_all()}

    assert facts_of(await effects(talk, sentence)) == expected

    await talk.hass.async_block_till_done()
    assert {
        state.entity_id: state.state for state in talk.hass.states.async_all()
    } == before


async def test_a_sentence_that_changes_no_entity_tells_whether_it_only_reads(
    talk: Talk,
) -> None:
    for sentence in (
        "set a timer for 5 minutes",
        "set a timer for the pasta 9 minutes",
    ):
        assert await effects(talk, sentence) == Effects(beside_entities=True), sentence
    for sentence in (
        "is the front door locked",
        "how long is left on my timer",
        "hum hum",
        "in 5 minutes what time is it",
    ):
        assert await effects(talk, sentence) == NOTHING, sentence


async def test_it_is_what_it_will_be_when_the_sentence_is_acted_on(talk: Talk) -> None:
    await talk.say("lock the front door")
    await talk.say("is the hallway light on")

    assert facts_of(await effects(talk, "turn it off")) == {
        ("light.hallway", "light.turn_off")
    }
    await talk.say("turn on the counter lamp")
    await talk.say("what time is it")
    assert facts_of(await effects(talk, "turn it off again")) == {
        ("light.counter", "light.turn_off")
    }


async def test_names_take_the_place_of_pronouns_if_the_sentence_remains_the_same(
    talk: Talk,
) -> None:
    async def with_names(text: str) -> str:
        here = replace(effects_of_sentence(text), conversation_id=talk.conversation_id)
        return await async_with_names(talk.hass, here)

    assert await with_names("turn it off") == "turn it off"
    await talk.say("turn on the counter lamp")
    assert await with_names("turn it off") == "turn off Counter Lamp"
    assert await with_names("turn it back on") == "turn on Counter Lamp"
    assert await with_names("dim it") == "dim Counter Lamp"
    assert (
        await with_names("turn off the hallway light") == "turn off the hallway light"
    )
    for other in ("unlock it", "turn it off unless it is dark", "is it on?"):
        assert await with_names(other) == other
    await talk.say("turn on the lights in the kitchen")
    assert (
        await with_names("turn them off again")
        == "turn off Counter Lamp and Kitchen Ceiling"
    )


async def test_another_language_is_understood_too(talk: Talk) -> None:
    assert facts_of(await effects(talk, "schalte Counter Lamp an", language="de")) == {
        ("light.counter", "light.turn_on")
    }
    assert await effects(talk, "schalte die Zugbrücke an", language="de") == NOTHING
    assert await effects(talk, "brumm", language="de") == NOTHING


def sentences_that_unlock(language: str) -> list[str]:
    """Return sentences of Home Assistant that unlock the front door; not every language has any."""
    data = get_intents(language) or {}
    blocks = [
        block
        for block in data.get("intents", {}).get("HassTurnOff", {}).get("data", ())
        if "lock" in block.get("requires_context", {}).get("domain", ())
        and block["metadata"]["slot_combination"] == "name_only"
    ]
    intents = Intents.from_dict({**data, "intents": {"HassTurnOff": {"data": blocks}}})
    names: dict[str, SlotList] = {
        "name": TextSlotList.from_strings(["Front Door"], name="name")
    }
    return [
        sentence
        for _, sentence in islice(sample_intents(intents, names, language=language), 2)
    ]


async def test_a_door_is_known_to_be_unlocked_in_every_language_in_which_it_can_be(
    talk: Talk, pytestconfig: pytest.Config
) -> None:
    query = {
        text: language
        for language in get_languages()
        for text in sentences_that_unlock(language)
    }

    assert len(set(query.values())) > 40
    step = 1 if pytestconfig.option.thorough else 4
    found = {
        text: await effects(talk, text, language=query[text])
        for text in [*query][::step]
    }

    told_otherwise = [
        text
        for text, effect in found.items()
        if facts_of(effect) != {("lock.front_door", "lock.unlock")}
    ]
    assert told_otherwise == []


async def test_a_sentence_that_starts_an_automation_is_unknown(talk: Talk) -> None:
    async def run(*_: object) -> str:
        raise AssertionError("nothing may run")

    get_agent_manager(talk.hass).register_trigger(["good night"], run)

    assert await effects(talk, "good night") == UNKNOWN


async def test_without_the_built_in_agent_nothing_can_be_told(talk: Talk) -> None:
    manager = get_agent_manager(talk.hass)
    manager.default_agent = None

    assert await effects(talk, "unlock the front door") == UNFORESEEN


async def test_a_sentence_somebody_wrote_is_not_read_another_way(
    hass: HomeAssistant,
) -> None:
    sentences = Path(hass.config.config_dir) / "custom_sentences" / "en"
    sentences.mkdir(parents=True)
    (sentences / "mine.yaml").write_text(
        'language: "en"\nintents:\n  HassTurnOff:\n    data:\n      - sentences: ["kill {name} now"]\n',
        encoding="utf-8",
    )
    await move_in(hass, HOME)
    assert await async_setup_component(hass, conversation.DOMAIN, {})
    talk = Talk(hass)

    assert facts_of(await effects(talk, "kill front door now")) == {
        ("lock.front_door", "lock.unlock")
    }
    assert await effects(talk, "kill the drawbridge now") == NOTHING


async def test_the_room_of_the_satellite_is_meant(talk: Talk) -> None:
    hass = talk.hass
    entry = MockConfigEntry(domain="satellite")
    entry.add_to_hass(hass)
    kitchen = ar.async_get(hass).async_get_area_by_name("Kitchen")
    assert kitchen
    device = dr.async_get(hass).async_get_or_create(
        config_entry_id=entry.entry_id, identifiers={("satellite", "one")}
    )
    dr.async_get(hass).async_update_device(device.id, area_id=kitchen.id)
    satellite = er.async_get(hass).async_get_or_create(
        "assist_satellite", "satellite", "one", config_entry=entry, device_id=device.id
    )
    both = {
        ("light.kitchen_ceiling", "light.turn_on"),
        ("light.counter", "light.turn_on"),
    }
    several = "lock the front door and turn on the lights"

    assert (
        facts_of(await effects(talk, "turn on the lights", device_id=device.id)) == both
    )
    assert facts_of(await effects(talk, several, device_id=device.id)) == {
        *both,
        ("lock.front_door", "lock.lock"),
    }
    assert facts_of(await effects(talk, several, satellite_id=satellite.entity_id)) == {
        *both,
        ("lock.front_door", "lock.lock"),
    }


async def test_the_text_of_an_item_ends_with_a_word(hass: HomeAssistant) -> None:
    """In Spanish, Home Assistant would add "huevos a l"."""
    await move_in(
        hass, "entities:\n  - { name: Lista de la compra, id: todo.compra }\n"
    )
    assert await async_setup_component(hass, conversation.DOMAIN, {})

    for text, item in (
        ("añade huevos a la lista de la compra", "huevos"),
        ("Añade la leche a la Lista de la compra", "leche"),
    ):
        found = (
            await Talk(hass, "es")
            .dispatcher()
            .async_effects(PROCESS_SENTENCE.name, {SENTENCE: text})
        )
        assert [run.slots["item"] for run in found.intents] == [item]
