"""Questions about what was are recognized in eleven languages, and none of Home Assistant's own sentences is one."""

from collections.abc import Iterator
from itertools import islice

import pytest
from hassil.intents import (
    Intents,
    RangeSlotList,
    SlotList,
    TextSlotList,
    WildcardSlotList,
)
from hassil.sample import sample_sentence
from home_assistant_intents import get_intents
from homeassistant.core import HomeAssistant
from pydantic import BaseModel

from custom_components.chatterbox.agent.text import read_data_file
from custom_components.chatterbox.effects.reading import async_past_question
from custom_components.chatterbox.nlu.past import PastForm, PastQuestion
from tests.demo_house.move_in import move_in
from tests.support.one_home import in_one_home

NAMES = {
    "en": ("Front Door", "Kitchen Window"),
    "de": ("Haustür", "Küchenfenster"),
    "es": ("Puerta Principal", "Ventana de la Cocina"),
    "fr": ("Porte d'entrée", "Fenêtre de la cuisine"),
    "it": ("Porta d'ingresso", "Finestra della cucina"),
    "nl": ("Voordeur", "Keukenraam"),
    "pl": ("Drzwi wejściowe", "Okno w kuchni"),
    "pt": ("Porta da frente", "Janela da cozinha"),
    "pt-BR": ("Porta da sala", "Janela do quarto"),
    "sv": ("Ytterdörren", "Köksfönstret"),
    "zh-Hans": ("前门", "厨房窗户"),
}
HOME = (
    "areas:\n  - { id: kitchen, name: Kitchen }\nentities:\n  - { name: Lamp, id: light.lamp, area: kitchen }\n"
    + "".join(
        f"  - {{ name: {name}, id: binary_sensor.e{number}_{place} }}\n"
        for number, names in enumerate(NAMES.values())
        for place, name in enumerate(names)
    )
    + "  - { name: Golvlampa, id: light.golvlampa }\n"
    + "  - { name: Lampa stojąca, id: light.lampa_stojaca }\n"
)


@pytest.fixture
async def home(hass: HomeAssistant) -> HomeAssistant:
    await move_in(hass, HOME)
    return hass


class Question(BaseModel):
    """A question, and what it asks for."""

    language: str
    text: str
    form: PastForm
    call: dict[str, str]


QUESTIONS = read_data_file(__file__, dict[str, list[Question]], "past.toml")["question"]


@in_one_home("question", QUESTIONS)
async def test_questions_are_recognized(
    home: HomeAssistant, question: Question
) -> None:
    found = await async_past_question(home, question.text, question.language)

    assert found == PastQuestion(question.form, question.call)
    assert {one.language for one in QUESTIONS} == {*NAMES}


@in_one_home(
    ("language", "text", "name"),
    [
        ("sv", "när tändes golvlampan senast", "Golvlampa"),
        ("pl", "kiedy ostatnio włączono lampę stojącą", "Lampa stojąca"),
    ],
)
async def test_names_are_recognized_in_their_other_forms(
    home: HomeAssistant, language: str, text: str, name: str
) -> None:
    found = await async_past_question(home, text, language)

    assert found == PastQuestion(PastForm.LAST, {"name": name, "state": "on"})


@in_one_home(
    "text",
    [
        "when was the castle last opened",
        "is the front door open",
        "open the front door last",
        "was the front door purple last night",
        "I opened the front door last night",
        "the front door was open last night",
        "open the front door tonight",
        "is the front door open today",
        "when was the front door opened yesterday",
        f"when was the front door last opened{' today' * 20}",
        "",
    ],
)
async def test_other_sentences_are_not(home: HomeAssistant, text: str) -> None:
    assert await async_past_question(home, text, "en") is None
    assert (
        await async_past_question(home, "when was the front door last opened", "xx")
        is None
    )


OF_A_TEMPLATE = 4


def sentences(language: str) -> Iterator[str]:
    """Yield sentences of Home Assistant, some of each template."""
    data = get_intents({"zh-Hans": "zh-CN"}.get(language, language))
    assert data, language
    intents = Intents.from_dict(data)
    names = {"name": NAMES[language], "area": ["Kitchen"], "floor": ["Attic"]}
    wild = {
        name: ["Lamp"]
        for name, one in intents.slot_lists.items()
        if isinstance(one, WildcardSlotList)
    }
    # Of all numbers, hassil makes the words anew for each template.
    wild |= {
        name: ["20"]
        for name, one in intents.slot_lists.items()
        if isinstance(one, RangeSlotList)
    }
    filled: dict[str, SlotList] = {
        name: TextSlotList.from_strings(some, name=name)
        for name, some in (wild | names).items()
    }
    lists = {**intents.slot_lists, **filled}
    for one in intents.intents.values():
        for block in one.data:
            for sentence in block.sentences:
                local = {**lists, **block.slot_lists}
                rules = {**intents.expansion_rules, **block.expansion_rules}
                yield from islice(
                    sample_sentence(
                        sentence, local, rules, language=language, skip_optionals=True
                    ),
                    OF_A_TEMPLATE,
                )


async def test_no_sentence_of_home_assistant_is_one(
    home: HomeAssistant, pytestconfig: pytest.Config
) -> None:
    step = 1 if pytestconfig.option.thorough else 7
    for language in NAMES:
        tried = [*sentences(language)]
        assert len(tried) > 1_000, language
        assert [
            one
            for one in tried[::step]
            if await async_past_question(home, one, language)
        ] == []
