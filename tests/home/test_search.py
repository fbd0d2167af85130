"""Homes with more things than are listed for a model: it is told of a few, and finds the others."""

import json
import re

import pytest
from homeassistant.components import conversation
from homeassistant.core import Context, HomeAssistant
from homeassistant.helpers import area_registry as ar

from custom_components.chatterbox.home.search import (
    MOST_LISTED,
    async_entity_query,
    async_get_entity_index,
)
from tests.home.many_lamps import FINDS, add_lamps
from tests.support.api_clients import ASSIST, ApiClient, a_user, enable_api
from tests.support.llm_apis import StubTool, register, satellite
from tests.support.prefixes import HELLO, prefix_of, words_of
from tests.support.servers.script import Script, ScriptedAnswer
from tests.support.talk import (
    AGENT,
    LIGHT_ON,
    Serve,
    move_into_the_demo_home,
    say,
)

pytestmark = pytest.mark.usefixtures("whole_home")
FEW = {"most_listed": 10}


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
