"""Homes with more things than are listed for a model: it is told of a few, and finds the others."""

import json
import re

import pytest
from homeassistant.components import conversation
from homeassistant.components.homeassistant.exposed_entities import async_expose_entity
from homeassistant.core import Context, HomeAssistant
from homeassistant.helpers import area_registry as ar, entity_registry as er

from custom_components.chatterbox.home.search import (
    MOST_LISTED,
    async_entity_query,
    async_get_entity_index,
)
from custom_components.chatterbox.tools.own.find_entities import FIND
from tests.support.api_clients import ASSIST, ApiClient, a_user, enable_api
from tests.support.llm_apis import StubTool, register, satellite
from tests.support.own_tools import own_call
from tests.support.prefixes import HELLO, prefix_of, words_of
from tests.support.servers.script import Script, ScriptedAnswer, ScriptedCall
from tests.support.talk import (
    AGENT,
    LIGHT_ON,
    Serve,
    messages_of,
    move_into_the_demo_home,
    say,
)

pytestmark = pytest.mark.usefixtures("whole_home")

FEW = {"most_listed": 10}
FINDS = "find_entities"
"""The tool that finds things, as a model sees it."""


async def find(hass: HomeAssistant, **arguments: str) -> list[str]:
    """Return the names that the tool finds."""
    answer = await FIND.run(own_call(hass, {**arguments}))
    assert not answer.is_error
    found = answer.data["found"]
    assert isinstance(found, list)
    return [str(one["name"]) for one in found if isinstance(one, dict)]


async def complaint(hass: HomeAssistant, **arguments: str) -> str:
    """Return what the tool says where it cannot look."""
    answer = await FIND.run(own_call(hass, {**arguments}))
    assert answer.is_error
    return str(answer.data["error"])


def add_lamps(hass: HomeAssistant, count: int) -> None:
    """Add things, all alike but for a number."""
    for number in range(count):
        hass.states.async_set(
            f"light.lamp_{number}", "off", {"friendly_name": f"Lantern {number}"}
        )
        async_expose_entity(
            hass, conversation.DOMAIN, f"light.lamp_{number}", should_expose=True
        )


async def test_a_home_with_many_entities_is_summed_up_and_matches_stand_beside_the_words(
    hass: HomeAssistant, serve: Serve
) -> None:
    server = await serve(HELLO, **FEW)
    await say(hass, "turn on the desk lamp in the office")

    (request,) = server.requests
    assert FINDS in prefix_of(request.body)
    assert "Desk Lamp" not in prefix_of(request.body)
    assert re.search(r"Office[^\n]*\\n [^\n]*1 light", prefix_of(request.body))
    assert "Desk Lamp" in words_of(request.body)
    assert "Garage Door" not in words_of(request.body)


async def test_what_comes_before_the_words_stays_the_same_whatever_is_said_and_where(
    hass: HomeAssistant, serve: Serve
) -> None:
    server = await serve(HELLO, **FEW)
    areas = {area.name: area.id for area in ar.async_get(hass).async_list_areas()}
    for device_id, text in (
        (None, "is the garage open"),
        (satellite(hass, areas["Kitchen"]), "lights on"),
        (satellite(hass, areas["Bedroom"]), "good night"),
    ):
        await conversation.async_converse(
            hass, text, text, Context(), "en", AGENT, device_id=device_id
        )

    assert len({prefix_of(request.body) for request in server.requests}) == 1
    garage, kitchen, bedroom = (words_of(request.body) for request in server.requests)
    assert "cover: Door" in garage
    assert "cover: Door" not in bedroom
    assert "Coffee Machine" in kitchen
    assert "Coffee Machine" not in bedroom


async def test_what_was_used_last_stands_beside_words_that_name_nothing(
    hass: HomeAssistant, serve: Serve
) -> None:
    answers = (
        ScriptedAnswer(tool_calls=(LIGHT_ON,)),
        *(ScriptedAnswer(content=text) for text in ("Done.", "Yes.")),
    )
    server = await serve(Script(answers=answers), **FEW)
    await say(hass, "do it")
    assert "Ceiling Light" not in words_of(server.requests[0].body)
    await say(hass, "undo that")
    assert "Ceiling Light" in words_of(server.requests[-1].body)


@pytest.mark.parametrize(
    "options",
    [{"most_listed": 0}, {"most_listed": 10_000}, {}, {**FEW, "compact_home": False}],
)
async def test_other_homes_are_listed_as_ever(
    hass: HomeAssistant, serve: Serve, options: dict[str, object]
) -> None:
    server = await serve(HELLO, **options)
    await say(hass, "turn on the desk lamp")

    (request,) = server.requests
    assert "Desk Lamp" in prefix_of(request.body)
    assert FINDS not in prefix_of(request.body)
    assert "by room" not in words_of(request.body)


@pytest.mark.parametrize("apis", [[], ["other"]], ids=repr)
async def test_an_agent_without_assist_is_told_of_no_home(
    hass: HomeAssistant, serve: Serve, apis: list[str]
) -> None:
    register(hass, "other", StubTool(name="search"))
    server = await serve(HELLO, llm_hass_api=apis, **FEW)
    await say(hass, "turn on the desk lamp")
    assert FINDS not in json.dumps(server.requests[0].body)


async def test_a_client_that_asks_for_the_tools_of_assist_can_find_entities(
    hass: HomeAssistant, serve: Serve
) -> None:
    api_client = ApiClient(hass, a_user(hass))
    answers = tuple(ScriptedAnswer(content=text) for text in ("Yes.", "No."))
    server = await serve(Script(answers=answers), **FEW)
    await enable_api(hass)
    await api_client.says("turn on the desk lamp", hosted=(ASSIST,))
    await api_client.says("turn on the desk lamp", hosted=())

    with_tools, without = server.requests
    assert FINDS in json.dumps(with_tools.body["tools"])
    assert "Desk Lamp" in words_of(with_tools.body)
    assert FINDS not in json.dumps(without.body)
    assert "Desk Lamp" not in json.dumps(without.body)


async def test_a_home_grows_too_large_to_be_listed(
    hass: HomeAssistant, serve: Serve
) -> None:
    server = await serve(HELLO, most_listed=200)
    await say(hass, "turn on the lantern 150")
    add_lamps(hass, 200)
    await say(hass, "turn on the lantern 150")
    before, after = server.requests
    assert FINDS not in prefix_of(before.body)
    assert FINDS in prefix_of(after.body)
    assert "Lantern 150" in words_of(after.body)
    assert words_of(after.body).count("Lantern") <= MOST_LISTED


async def test_the_model_finds_what_it_is_not_told_of(
    hass: HomeAssistant, serve: Serve
) -> None:
    called = ScriptedCall(name=FINDS, arguments={"area": "office", "domain": "light"})
    answers = (
        ScriptedAnswer(tool_calls=(called,)),
        ScriptedAnswer(content="A desk lamp."),
    )
    server = await serve(Script(answers=answers), **FEW)
    await say(hass, "what is up there?")

    result = json.loads(str(messages_of(server.requests[-1])[-1]["content"]))
    assert result == {
        "found": [{"name": "Desk Lamp", "area": "Office", "domain": "light"}]
    }


async def test_entities_are_found_by_words_by_place_and_by_domain(
    hass: HomeAssistant,
) -> None:
    await move_into_the_demo_home(hass)
    assert (await find(hass, words="desk lamp"))[0] == "Desk Lamp"
    assert (await find(hass, words="celing lights kichen"))[
        0
    ] == "Kitchen Ceiling Light"
    assert set(await find(hass, area="Upstairs", domain="cover")) == {
        "Bedroom Curtains",
        "Kids Room Blind",
    }
    assert await find(hass, area="study", domain="Light") == ["Desk Lamp"]
    assert await find(hass, words="blind", area="the kids room") == ["Kids Room Blind"]
    assert "Garage Door" in await find(hass, domain="cover")
    nothing = {
        "found": [],
        "note": "Nothing like that is there. Other words may find it, or its room or domain alone.",
    }
    assert (await FIND.run(own_call(hass, {"words": "unicorn"}))).data == nothing


async def test_what_is_not_exposed_is_not_found(hass: HomeAssistant) -> None:
    await move_into_the_demo_home(hass)
    assert "Desk Lamp" in await find(hass, words="desk lamp")
    (lamp,) = (
        state.entity_id
        for state in hass.states.async_all("light")
        if state.name == "Desk Lamp"
    )
    async_expose_entity(hass, conversation.DOMAIN, lamp, should_expose=False)
    assert "Desk Lamp" not in await find(hass, words="desk lamp")
    assert await find(hass, area="Office", domain="light") == []


async def test_a_long_answer_ends_and_says_how_to_ask_for_less(
    hass: HomeAssistant,
) -> None:
    await move_into_the_demo_home(hass)
    add_lamps(hass, 200)
    answer = await FIND.run(own_call(hass, {"words": "lantern"}))
    found = answer.data["found"]
    assert isinstance(found, list)
    assert len(found) == 50
    assert (
        answer.data["note"]
        == "There are 150 more. Give more of words, area and domain to narrow it down."
    )
    assert found[0] == {"name": "Lantern 0", "domain": "light"}


async def test_other_names_are_told(hass: HomeAssistant) -> None:
    await move_into_the_demo_home(hass)
    (lamp,) = (
        state.entity_id
        for state in hass.states.async_all("light")
        if state.name == "Desk Lamp"
    )
    er.async_get(hass).async_update_entity(
        lamp, aliases=[er.COMPUTED_NAME, "Writing Light"]
    )
    found = (
        await FIND.run(own_call(hass, {"words": "writing light", "area": "office"}))
    ).data["found"]
    assert found == [
        {
            "name": "Desk Lamp",
            "also": ["Writing Light"],
            "area": "Office",
            "domain": "light",
        }
    ]


async def test_a_place_that_is_not_there_is_answered_with_those_that_are(
    hass: HomeAssistant,
) -> None:
    await move_into_the_demo_home(hass)
    assert "The areas are: Bathroom, Bedroom, Garage" in await complaint(
        hass, area="Swimming pool"
    )
    assert "cover, " in await complaint(hass, domain="submarine")
    assert await complaint(hass) == "Give words, area or domain, or several of these."
    areas, entities = ar.async_get(hass), er.async_get(hass)
    areas.async_create('Attic "of", secrets')
    assert "Attic" not in await complaint(hass, area="Swimming pool")
    for number in range(120):
        area_id = areas.async_create(f"Cell: {number:03}").id
        entry = entities.async_get_or_create(
            "light", "demo", str(number), suggested_object_id=f"cell_{number}"
        )
        entities.async_update_entity(entry.entity_id, area_id=area_id)
        hass.states.async_set(entry.entity_id, "off")
        async_expose_entity(
            hass, conversation.DOMAIN, entry.entity_id, should_expose=True
        )
    message = await complaint(hass, area="Swimming pool")
    assert message.endswith(", and 29 more.")
    assert '"Cell: 001"' in message


async def test_of_a_book_that_a_client_shows_only_the_last_words_are_looked_at(
    hass: HomeAssistant,
) -> None:
    await move_into_the_demo_home(hass)
    log = conversation.ChatLog(hass, "one")
    book = "desk " * 100_000
    log.content += [
        conversation.UserContent(text)
        for text in ("earlier", f"{book} dishwasher?", f"{book} garage?")
    ]
    requested = async_entity_query(hass, f"{book} garage?", None, log)
    assert requested.words.endswith("garage?")
    assert requested.before.endswith("dishwasher?")
    assert max(len(requested.words), len(requested.before)) <= 1_000


async def test_an_index_goes_when_many_other_languages_were_spoken_since(
    hass: HomeAssistant,
) -> None:
    await move_into_the_demo_home(hass)
    index = await async_get_entity_index(hass, "en")
    assert await async_get_entity_index(hass, "en") is index
    for number in range(16):
        await async_get_entity_index(hass, f"x-{number}")
    assert await async_get_entity_index(hass, "en") is not index
