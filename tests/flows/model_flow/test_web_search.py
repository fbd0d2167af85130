"""The section Web search of an agent's settings: who may search for it, tried before it is stored."""

from collections.abc import Mapping
from typing import Any

import pytest
from homeassistant.core import HomeAssistant
from homeassistant.helpers.redact import REDACTED
from pytest_homeassistant_custom_component.common import MockConfigEntry

from custom_components.chatterbox.const import CONF_KIND, CONF_SERVER, ServiceKind
from custom_components.chatterbox.flows.dialog import KNOWN_SECRET
from custom_components.chatterbox.settings.redaction import (
    known_secrets,
    without_secrets,
)
from tests.flows.agent_forms import change, submit
from tests.flows.test_agent_flow import ERRORS, filled_in, suggested
from tests.support.config_entries import only_agent, server_entry, set_up
from tests.support.sentences import sentence
from tests.support.servers.search_engine import SearchEngine, page
from tests.support.service_dialogs import is_open, problems_in

KEY = "BSA-very-secret-key"
WEB = "web"


def searches(entry: MockConfigEntry) -> Mapping[str, Any]:
    """Return what is stored of searches."""
    data = only_agent(entry).data
    return {name: data[name] for name in data if name.startswith("web_search")}


@pytest.mark.parametrize(
    ("kind", "server", "can"),
    [
        (ServiceKind.OPENAI_CHAT, "llama_cpp", False),
        (ServiceKind.OPENAI_CHAT, "gemini", False),
        (ServiceKind.OPENAI_CHAT, "openrouter", True),
        (ServiceKind.OPENAI_CHAT, "openai", False),
        (ServiceKind.OPENAI_RESPONSES, "openai", True),
        (ServiceKind.OPENAI_RESPONSES, "llama_cpp", False),
        (ServiceKind.ANTHROPIC_MESSAGES, "anthropic", True),
        (ServiceKind.OLLAMA_CHAT, "ollama", False),
    ],
)
async def test_a_service_can_be_chosen_where_it_searches_by_itself(
    hass: HomeAssistant, address: str, kind: ServiceKind, server: str, *, can: bool
) -> None:
    entry = server_entry(address)
    data = {**entry.data, CONF_KIND: kind, CONF_SERVER: server}
    entry = MockConfigEntry(
        domain=entry.domain,
        data=data,
        subentries_data=[one.as_dict() for one in entry.subentries.values()],
    )
    await set_up(hass, entry)
    step = await change(hass, entry)

    assert step["data_schema"] is not None
    fields = step["data_schema"].schema[WEB].schema.schema
    offered = fields["web_search"].config["options"]
    assert offered == ["off", *(["service"] if can else []), "searxng", "brave"]
    assert suggested(step)[WEB] == {"web_search": "off", "web_search_address": ""}
    assert not is_open(step, WEB)


async def test_a_server_that_searches_is_stored_and_shown_and_taken_out_again(
    hass: HomeAssistant, address: str
) -> None:
    entry = await set_up(hass, server_entry(address))
    engine = SearchEngine([page("https://a.example")])
    async with engine.serve() as searxng:
        typed = {"web_search": "searxng", "web_search_address": f" {searxng}/ "}
        await submit(hass, await change(hass, entry), filled_in(web=typed))
        stored = {"web_search": "searxng", "web_search_address": searxng}
        assert searches(entry) == stored
        assert suggested(await change(hass, entry))[WEB] == stored
        await submit(hass, await change(hass, entry), filled_in(web=stored))
        assert len(engine.queries) == 1, "what is known to search is not tried again"

        off = stored | {"web_search": "off"}
        await submit(hass, await change(hass, entry), filled_in(web=off))
        assert searches(entry) == {"web_search": "off"}


@pytest.mark.parametrize(
    ("engine", "key"),
    [
        (SearchEngine(status=403, body="Forbidden"), "searxng_no_json"),
        (SearchEngine(status=429, body="Too Many Requests"), "search_busy"),
        (SearchEngine(body="<html>"), "searxng_not_there"),
        (
            SearchEngine(status=301, headers={"Location": "https://b.example/"}),
            "searxng_not_there",
        ),
        (SearchEngine(status=500), "search_unreachable"),
    ],
    ids=["no JSON", "limiter", "web page", "moved", "broken"],
)
async def test_a_server_that_does_not_search_is_not_stored(
    hass: HomeAssistant, address: str, engine: SearchEngine, key: str
) -> None:
    entry = await set_up(hass, server_entry(address))
    async with engine.serve() as searxng:
        typed = {"web_search": "searxng", "web_search_address": searxng}
        step = await submit(hass, await change(hass, entry), filled_in(web=typed))

    path = "Agent → Web search → Address of SearXNG"
    assert problems_in(step) == [f"{path}: {sentence(f'{ERRORS}.{key}')}"]
    assert suggested(step)[WEB] == typed
    assert searches(entry) == {}


@pytest.mark.parametrize(
    ("typed", "field", "key"),
    [
        ({"web_search": "searxng"}, "Address of SearXNG", "search_address_unfit"),
        (
            {"web_search": "searxng", "web_search_address": "http://me:pw@box"},
            "Address of SearXNG",
            "search_address_unfit",
        ),
        (
            {"web_search": "brave", "web_search_key": " "},
            "Key for Brave",
            "search_key_missing",
        ),
    ],
)
async def test_what_is_missing_is_named(
    hass: HomeAssistant,
    address: str,
    typed: Mapping[str, str],
    field: str,
    key: str,
) -> None:
    entry = await set_up(hass, server_entry(address))

    step = await submit(hass, await change(hass, entry), filled_in(web=typed))

    text = sentence(f"{ERRORS}.{key}")
    assert problems_in(step) == [f"Agent → Web search → {field}: {text}"]


async def test_a_key_is_never_shown(hass: HomeAssistant, address: str) -> None:
    stored = {"web_search": "brave", "web_search_key": KEY}
    entry = await set_up(
        hass, server_entry(address, web_search="brave", web_search_key=KEY)
    )
    step = await change(hass, entry)
    fields = {"web_search": "brave", "web_search_address": ""}
    assert suggested(step)[WEB] == {**fields, "web_search_key": KNOWN_SECRET}

    unchanged = suggested(step)[WEB]
    await submit(hass, step, filled_in(web=unchanged))

    assert searches(entry) == stored
    assert KEY in known_secrets(hass)
    redacted = without_secrets(
        {**only_agent(entry).data, "words": f"x{KEY}x"}, known_secrets(hass)
    )
    assert isinstance(redacted, dict)
    assert (redacted["web_search_key"], redacted["words"]) == (
        "**REDACTED**",
        f"x{REDACTED}x",
    )
