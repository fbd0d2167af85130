"""A name is found in calls, sentences, searches and lists in whatever form it is written, and means nothing else."""

import json
import unicodedata
from collections.abc import Callable, Mapping
from typing import Final

import pytest
from homeassistant.components import conversation
from homeassistant.components.homeassistant.exposed_entities import async_expose_entity
from homeassistant.core import HomeAssistant
from homeassistant.helpers import llm
from homeassistant.setup import async_setup_component
from hypothesis import HealthCheck, given, settings, strategies as st

from custom_components.chatterbox.agent.messages import JsonObject
from custom_components.chatterbox.agent.protocols import Deny, Rewrite
from custom_components.chatterbox.home.entities import async_get_home
from custom_components.chatterbox.home.entity_index import EntityIndex
from custom_components.chatterbox.home.name_index import with_known_names
from custom_components.chatterbox.offline.provider import PROCESS_SENTENCE, SENTENCE
from custom_components.chatterbox.tools.turn_tools import TurnTools
from tests.demo_house.move_in import move_in
from tests.support.llm_apis import offer_of
from tests.support.offline_talk import Talk
from tests.support.one_home import in_one_home
from tests.support.thorough import some_examples

NAMES: Final = {
    "light.office": "Bürodecke 3",
    "light.decomposed": unicodedata.normalize("NFD", "Gästebad Lämpchen"),
    "light.zoe": "Zoë's Strahler",
    "light.street": "Weiße Straße",
    "light.turkish": "Işık İki",  # noqa: RUF001  # as people write it
    "light.sofa": "🛋️ Sofa lamp",
    "light.japanese": "寝室の照明",
    "light.kana": "ﾗﾝﾌﾟ",
    "light.arabic": "مصباح ٢",  # as people write it
    "light.umlaut": "Tür",
    "light.plain": "Tur",
}
ITEMS: Final = (
    "Käse",
    "Kase",
    unicodedata.normalize("NFD", "Müsli"),
    "🥛 Milk",
    "Brot (dunkel)",
    "Eier 6",
)
LAMPS: Final = "\n".join(
    f'  - {{ id: {key}, name: "{name}", area: office, state: "off" }}'
    for key, name in NAMES.items()
)
HOME: Final = f"""
areas:
  - {{ id: office, name: "{unicodedata.normalize("NFD", "Büro")}" }}
entities:
{LAMPS}
  - {{ id: lock.door, name: "{unicodedata.normalize("NFD", "Haustür")}", area: office, state: locked }}
  - id: todo.list
    name: "{unicodedata.normalize("NFD", "Einkäufe")}"
    attributes:
      supported_features: [CREATE_TODO_ITEM, UPDATE_TODO_ITEM, DELETE_TODO_ITEM]
      todo_items: {json.dumps(ITEMS, ensure_ascii=False)}
"""
FORMS: Final[Mapping[str, Callable[[str], str]]] = {
    "composed": lambda name: unicodedata.normalize("NFC", name),
    "decomposed": lambda name: unicodedata.normalize("NFD", name),
    "wide": lambda name: "".join(
        chr(ord(one) + 0xFEE0) if "!" < one <= "~" else one for one in name
    ),
    "in capitals": str.upper,
    "with a curly apostrophe": lambda name: name.replace(
        "'", "\N{RIGHT SINGLE QUOTATION MARK}"
    ),
    "held together": lambda name: name.replace(" ", "\N{NO-BREAK SPACE}"),
    "hyphenated": lambda name: f"{name[:3]}\N{SOFT HYPHEN}{name[3:]}",
    "with marks": lambda name: f"\N{RIGHT-TO-LEFT MARK}{name}\N{ZERO WIDTH SPACE}",
    "as a variant": lambda name: f"{name}\N{VARIATION SELECTOR-16}",
    "spelled out": lambda name: name.replace("ß", "ss"),
    "without emoji": lambda name: name.removeprefix("🛋️ ").removeprefix("🥛 "),
    "in other digits": lambda name: name.translate(
        {ord("3"): "٣", ord("6"): "۶", ord("٢"): "۲"}
    ),
}


def written[T](
    names: st.SearchStrategy[T], name_of: Callable[[T], str]
) -> st.SearchStrategy[tuple[T, str]]:
    """Generate a thing and its name in up to three of the forms at once."""

    def apply(drawn: tuple[T, list[str]]) -> tuple[T, str]:
        name = name_of(drawn[0])
        for form in drawn[1]:
            name = FORMS[form](name)
        return drawn[0], name

    return st.tuples(
        names, st.lists(st.sampled_from(sorted(FORMS)), max_size=3, unique=True)
    ).map(apply)


LAMP: Final = written(st.sampled_from(sorted(NAMES)), NAMES.__getitem__)
ITEM: Final = written(st.sampled_from(ITEMS), str)
each = settings(
    max_examples=some_examples(120),
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


@pytest.fixture(name="home")
async def home_(hass: HomeAssistant) -> HomeAssistant:
    await move_in(hass, HOME)
    assert await async_setup_component(hass, conversation.DOMAIN, {})
    return hass


@pytest.fixture(name="offer")
async def offer_(home: HomeAssistant) -> TurnTools:
    return await offer_of(home, llm.LLM_API_ASSIST)


async def resolved(
    offer: TurnTools, tool: str, arguments: JsonObject
) -> JsonObject | str:
    """Return the arguments with which a call runs, or why it does not."""
    definition = next(one for one in offer.definitions if one.name == tool)
    match await offer.name_resolver.pre_tool_use(definition, arguments):
        case Deny(reason):
            return reason
        case Rewrite(value):
            return value
        case None:
            return arguments


async def touched_by_call(
    offer: TurnTools, tool: str, arguments: JsonObject
) -> set[str]:
    meant = await resolved(offer, tool, arguments)
    assert isinstance(meant, dict)
    return {
        one.entity_id
        for one in (await offer.dispatcher.async_effects(tool, meant)).actions
    }


async def touched_by_sentence(hass: HomeAssistant, sentence: str) -> set[str]:
    effects = (
        await Talk(hass)
        .dispatcher()
        .async_effects(PROCESS_SENTENCE.name, {SENTENCE: sentence})
    )
    return {one.entity_id for one in effects.actions}


@each
@given(LAMP)
def test_a_call_means_the_one_entity(
    home: HomeAssistant, offer: TurnTools, lamp: tuple[str, str]
) -> None:
    touched = touched_by_call(offer, "intent__HassTurnOn", {"name": lamp[1]})

    assert home.loop.run_until_complete(touched) == {lamp[0]}


@each
@given(LAMP)
def test_a_sentence_means_the_one_entity(
    home: HomeAssistant, lamp: tuple[str, str]
) -> None:
    touched = touched_by_sentence(home, f"turn on {lamp[1]}")

    assert home.loop.run_until_complete(touched) == {lamp[0]}


@each
@given(LAMP)
def test_a_search_finds_the_one_entity(
    home: HomeAssistant, lamp: tuple[str, str]
) -> None:
    of_home = async_get_home(home, conversation.DOMAIN)

    found = EntityIndex(of_home, {}).fitting(lamp[1], of_home.entities)[0].entity_id

    assert found == lamp[0] or {found, lamp[0]} == {"light.umlaut", "light.plain"}


@each
@given(ITEM)
def test_a_call_means_the_one_item_of_a_list(
    home: HomeAssistant, offer: TurnTools, item: tuple[str, str]
) -> None:
    meant = resolved(
        offer, "todo__HassListRemoveItem", {"name": "EINKÄUFE", "item": item[1]}
    )

    match home.loop.run_until_complete(meant):
        case {"item": found}:
            assert found == item[0]
        case other:
            pytest.fail(str(other))


@each
@given(ITEM)
def test_a_sentence_means_the_one_item_of_a_list(
    home: HomeAssistant, item: tuple[str, str]
) -> None:
    async def removed() -> set[str]:
        await Talk(home).say(f"remove {item[1]} from the einkäufe list")
        gone = {*ITEMS} - {*await items_of(home)}
        for one in gone:
            await home.services.async_call(
                "todo",
                "add_item",
                {"entity_id": "todo.list", "item": one},
                blocking=True,
            )
        return gone

    assert home.loop.run_until_complete(removed()) == {item[0]}


async def items_of(hass: HomeAssistant) -> list[str]:
    target = {"entity_id": "todo.list"}
    answer = await hass.services.async_call(
        "todo", "get_items", target, blocking=True, return_response=True
    )
    match answer:
        case {"todo.list": {"items": [*items]}}:
            return [str(item["summary"]) for item in items if isinstance(item, dict)]
        case _:
            return []


@in_one_home("form", FORMS)
async def test_what_a_rule_asks_about_is_foreseen(
    home: HomeAssistant, offer: TurnTools, form: str
) -> None:
    name = FORMS[form]("Haustür")

    assert await touched_by_sentence(home, f"unlock the {name}") == {"lock.door"}
    assert await touched_by_call(offer, "intent__HassTurnOff", {"name": name}) == {
        "lock.door"
    }


async def test_names_that_look_alike_are_never_guessed(
    home: HomeAssistant, offer: TurnTools
) -> None:
    assert await touched_by_sentence(home, "turn on tür") == {"light.umlaut"}
    assert await touched_by_sentence(home, "turn on TUR") == {"light.plain"}
    assert await touched_by_sentence(home, "turn on Tùr") == set()
    assert await resolved(offer, "intent__HassTurnOn", {"name": "Tùr"}) == (
        "Not run: several things are called Tùr: Tur, Tür. Give the whole name, or ask which one is meant."
    )
    assert await resolved(
        offer, "todo__HassListCompleteItem", {"name": "Einkäufe", "item": "Kàse"}
    ) == (
        "Not run: several items are called Kàse: Kase, Käse. Give the whole name, or ask which one is meant."
    )
    await Talk(home).say("remove Kàse from the einkäufe list")
    assert {*await items_of(home)} == {*ITEMS}


async def test_what_is_not_exposed_is_not_taken_for_something_else(
    home: HomeAssistant,
) -> None:
    async_expose_entity(home, conversation.DOMAIN, "light.umlaut", should_expose=False)

    assert await touched_by_sentence(home, "turn on Tür") == set()
    assert await touched_by_sentence(home, "turn on tur") == {"light.plain"}


@in_one_home(
    ("text", "known"),
    [
        ("turn on sofa lamp, please?", "turn on 🛋️ Sofa lamp, please?"),
        (
            "ランプと寝室の照明\u200bをつけて",
            f"{NAMES['light.kana']}と寝室の照明をつけて",
        ),
        (
            "all lights in the buro off!",
            f"all lights in the {unicodedata.normalize('NFD', 'Büro')} off!",
        ),
        ("Ｌamp 2.5 and -3?", "Ｌamp 2.5 and -3?"),  # noqa: RUF001  # as people write it
        ("", ""),
        ("… ?", "… ?"),
    ],
)
async def test_a_sentence_keeps_all_but_the_names(
    home: HomeAssistant, text: str, known: str
) -> None:
    assert with_known_names(home, text) == known
    assert with_known_names(home, known) == known


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(max_size=60))
def test_any_text_is_a_sentence(home: HomeAssistant, text: str) -> None:
    known = with_known_names(home, text)

    assert with_known_names(home, known) == known
