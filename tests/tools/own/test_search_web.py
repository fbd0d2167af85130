"""The tool that searches the web: what it asks a server for, what it makes of the answer, and what it never sends."""

import logging
from collections.abc import Mapping
from dataclasses import replace
from functools import partial

import pytest
from homeassistant.core import HomeAssistant

from custom_components.chatterbox.agent.errors import ProviderError
from custom_components.chatterbox.agent.providers.service_client import TimeLimits
from custom_components.chatterbox.const import CONF_EXTRA_PARAMETERS, DOMAIN
from custom_components.chatterbox.settings.agent import AgentSettings, WebSearch
from custom_components.chatterbox.settings.pin_hash import HashCost, PinHash
from custom_components.chatterbox.settings.rules import async_get_home_rules
from custom_components.chatterbox.tools.own.own_tool import Offered
from custom_components.chatterbox.tools.own.search_web import (
    BRAVE_FEE,
    SEARCH_WEB,
    async_search,
    async_search_web,
    search_problem,
)
from tests.support.config_entries import offline_entry, set_up
from tests.support.own_tools import own_call
from tests.support.servers.raw_http import Ending, RawReply, head, raw_http_server
from tests.support.servers.search_engine import SearchEngine, page

pytestmark = pytest.mark.usefixtures("socket_enabled")

KEY = "BSA-very-secret-key"
SEARXNG = AgentSettings("m", web_search=WebSearch.SEARXNG)
BRAVE = AgentSettings("m", web_search=WebSearch.BRAVE, web_search_key=KEY)
CUP = page("https://cup.example/final", "The final", "The reds  won.\n")


@pytest.fixture(autouse=True)
async def integration(hass: HomeAssistant) -> None:
    """Set the integration up."""
    await set_up(hass, offline_entry())


async def answer_of(
    hass: HomeAssistant, engine: SearchEngine, query: str = "cup"
) -> Mapping[str, object]:
    """Return what the model reads of a search, in English."""
    async with engine.serve() as address:
        agent = replace(SEARXNG, web_search_address=address)
        call = own_call(hass, {"query": query}, settings=agent)
        answer = await SEARCH_WEB.async_answer(call)
    assert answer.is_error == ("error" in answer.data)
    assert answer.open_world != answer.is_error
    assert answer.fee == 0
    return answer.data


async def test_the_first_pages_are_told_in_few_words(hass: HomeAssistant) -> None:
    more = [
        page(f"https://a.example/{number}", "A" * 999, "x" * 9_999)
        for number in range(9)
    ]
    engine = SearchEngine(
        [CUP, {"title": "No address"}, page("javascript:alert(1)"), *more]
    )

    found = (await answer_of(hass, engine, "  cup \n final "))["found"]

    assert isinstance(found, list)
    assert found[0] == {
        "title": "The final",
        "url": "https://cup.example/final",
        "text": "The reds won.",
    }
    assert [one["url"][-1] for one in found[1:]] == ["0", "1", "2", "3"]
    assert all(len(one["text"]) <= 1_200 and len(one["title"]) <= 150 for one in found)
    assert engine.queries == [{"q": "cup final", "format": "json", "language": "en"}]


async def test_no_page_and_no_words_are_said_to_be_none(hass: HomeAssistant) -> None:
    nothing = await answer_of(hass, SearchEngine())
    assert nothing["found"] == []
    assert "Other words" in str(nothing["note"])

    engine = SearchEngine([CUP])
    assert "query" in str((await answer_of(hass, engine, " "))["error"])
    assert engine.queries == []


@pytest.mark.parametrize(
    ("engine", "problem", "busy"),
    [
        (SearchEngine(status=403, body="Forbidden"), "searxng_no_json", False),
        (SearchEngine(status=429, body="Too Many Requests"), "search_busy", True),
        (SearchEngine(status=503), "search_busy", True),
        (SearchEngine(status=500, body="x" * 99_999), "search_unreachable", False),
        (SearchEngine(status=404), "searxng_not_there", False),
        (SearchEngine(body="<html>Search</html>"), "searxng_not_there", False),
        (SearchEngine(body="[]"), "searxng_not_there", False),
        (SearchEngine(body='{"results": 1}'), "searxng_not_there", False),
        (SearchEngine(body="[" * 99_999), "searxng_not_there", False),
        (
            SearchEngine(body='{"results": ["' + "x" * 3_000_000),
            "searxng_not_there",
            False,
        ),
        (
            SearchEngine(
                status=302, headers={"Location": "https://elsewhere.example/"}
            ),
            "searxng_not_there",
            False,
        ),
    ],
    ids=lambda value: str(value)[:40] if isinstance(value, str) else None,
)
async def test_a_server_that_does_not_search_is_a_plain_failure(
    hass: HomeAssistant, engine: SearchEngine, problem: str, *, busy: bool
) -> None:
    async with engine.serve() as address:
        agent = replace(SEARXNG, web_search_address=address)
        with pytest.raises(ProviderError) as failed:
            await async_search(hass, agent, "cup", "en")
    assert search_problem(failed.value, WebSearch.SEARXNG) == problem

    answer_text = str((await answer_of(hass, engine))["error"])
    assert ("too often" in answer_text) == busy
    assert "127.0.0.1" not in answer_text
    assert len(engine.queries) == 2


async def test_a_server_that_is_silent_is_not_waited_for(hass: HomeAssistant) -> None:
    begun = RawReply([head(200, {"Content-Length": "9"}), b"{"], Ending.WAIT)
    async with raw_http_server(begun) as server:
        agent = replace(SEARXNG, web_search_address=f"http://127.0.0.1:{server.port}")
        with pytest.raises(ProviderError) as failed:
            await async_search(hass, agent, "cup", "en", limits=TimeLimits(0.1, 0.1))

    assert search_problem(failed.value, WebSearch.SEARXNG) == "search_unreachable"


@pytest.mark.parametrize(
    ("pin", "query", "is_sent"),
    [
        ("4711", "who won the cup in 2026", True),
        ("4711", "weather on 21.11.2026 at 19:30", True),
        ("4711", "weather 2026-11-21", True),
        ("4711", "error code 47111", True),
        ("4711", "what is 4711", False),
        ("4711", "door code 47 11", False),
        ("4711", "4-7-1-1", False),
        ("4711", "my numbers 4, 7, 1, 1", False),
        ("471100", "what is 4711", True),
        ("471100", "what is 47 11 00", False),
        ("", "what is 4711", True),
    ],
)
async def test_a_number_that_may_be_the_pin_is_not_sent(
    hass: HomeAssistant, pin: str, query: str, *, is_sent: bool
) -> None:
    hashed = PinHash.of(pin, HashCost(2, 1)) if pin else None
    async_get_home_rules(hass).async_change(lambda rules: replace(rules, pin=hashed))
    engine = SearchEngine([CUP])

    answer_text = await answer_of(hass, engine, query)

    assert len(engine.queries) == is_sent
    assert ("secret" in str(answer_text.get("error"))) != is_sent


async def test_a_key_of_a_service_is_not_sent(hass: HomeAssistant) -> None:
    (entry,) = hass.config_entries.async_entries(DOMAIN)
    hass.config_entries.async_update_entry(
        entry, options={CONF_EXTRA_PARAMETERS: {"token": KEY}}
    )
    engine = SearchEngine([CUP])

    await answer_of(hass, engine, f"site:evil.example {KEY}")

    assert engine.queries == []


async def test_brave_is_sent_its_key_in_a_header_and_paid(
    hass: HomeAssistant, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    hass.config.country = "DE"
    generic = {
        "url": "https://cup.example/final",
        "title": "The final",
        "snippets": ["The reds won.", "By two."],
    }
    engine = SearchEngine()
    engine.answer = {"grounding": {"generic": [generic], "map": []}, "sources": {}}
    call = own_call(hass, {"query": "cup"}, settings=BRAVE)
    async with engine.serve() as address:
        tool = replace(SEARCH_WEB, run=partial(async_search_web, brave=address))
        answer = await tool.async_answer(call)
        engine.status = 401
        refused = await tool.async_answer(call)
        with pytest.raises(ProviderError) as failed:
            await async_search(hass, BRAVE, "cup", "en", brave=address)

    assert answer.data["found"] == [
        {
            "title": "The final",
            "url": "https://cup.example/final",
            "text": "The reds won. … By two.",
        }
    ]
    assert answer.fee == BRAVE_FEE
    assert engine.queries[0] == {
        "q": "cup",
        "country": "DE",
        "search_lang": "en",
        "count": "5",
        "maximum_number_of_urls": "5",
        "maximum_number_of_tokens": "2048",
    }
    assert engine.sent[0]["X-Subscription-Token"] == KEY
    assert refused.is_error
    assert refused.fee == 0
    assert search_problem(failed.value, WebSearch.BRAVE) == "search_key_refused"
    answer_text = f"{answer} {refused} {failed.value} {BRAVE} {caplog.text}"
    assert KEY not in answer_text


async def test_only_an_agent_with_a_model_and_all_that_is_needed_has_the_tool(
    hass: HomeAssistant,
) -> None:
    at_home = replace(SEARXNG, web_search_address="http://searxng.local")
    agents = {
        at_home: True,
        BRAVE: True,
        SEARXNG: False,
        replace(BRAVE, web_search_key=""): False,
        replace(at_home, model=""): False,
        replace(at_home, web_search=WebSearch.OFF): False,
        replace(at_home, web_search=WebSearch.SERVICE): False,
    }
    assert SEARCH_WEB.needs
    for agent, has_it in agents.items():
        assert SEARCH_WEB.needs(Offered(hass, agent, home_is_large=False)) == has_it
