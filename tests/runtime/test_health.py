"""Models between turns: they are asked again in the background, and issues tell the owner what to repair."""

import logging
import socket
from collections.abc import AsyncGenerator
from datetime import timedelta
from typing import Any
from unittest.mock import AsyncMock, Mock

import pytest
from freezegun.api import FrozenDateTimeFactory
from homeassistant.components import conversation
from homeassistant.config_entries import ConfigEntryState
from homeassistant.const import CONF_MODEL, STATE_UNAVAILABLE
from homeassistant.core import Context, HomeAssistant
from homeassistant.helpers import issue_registry as ir
from homeassistant.helpers.aiohttp_client import async_get_clientsession
from homeassistant.setup import async_setup_component
from homeassistant.util import dt as dt_util
from pytest_homeassistant_custom_component.common import (
    MockConfigEntry,
    async_fire_time_changed,
)

from custom_components.chatterbox.const import CONF_BASE_URL, DOMAIN
from custom_components.chatterbox.runtime.agents import async_agent_entries
from tests.runtime.changing_server import (
    HELLO,
    LACKS_ROOM,
    Server,
    changing_server,
    issues,
    talker,
)
from tests.support.config_entries import only_agent, prepare, server_entry, set_up
from tests.support.servers.in_process import (
    address_without_server,
    serving_script,
)
from tests.support.servers.raw_http import Ending, RawReply, raw_http_server
from tests.support.servers.script import (
    Script,
    ScriptedAnswer,
    ScriptedFailure,
)
from tests.support.talk import AGENT, say, speech

pytestmark = pytest.mark.usefixtures("socket_enabled")
DOWN = ScriptedFailure(status=500, body="boom")
GONE = ScriptedFailure(
    status=404, body={"error": {"message": "The model `scripted-model` does not exist"}}
)
REFUSED = ScriptedFailure(status=401, body={"error": {"message": "no"}})


@pytest.fixture
async def server(hass: HomeAssistant) -> AsyncGenerator[Server]:
    """Serve until the end of the test."""
    async with changing_server(hass) as served:
        yield served


def is_available(hass: HomeAssistant) -> bool:
    """Return whether Home Assistant shows the agent as available."""
    state = hass.states.get(AGENT)
    assert state is not None
    return state.state != STATE_UNAVAILABLE


def helper_entry() -> MockConfigEntry:
    """Return the entry of a server, not yet there, whose agent others may fall back on."""
    return server_entry(address_without_server(), llm_hass_api=[])


async def later(hass: HomeAssistant, seconds: float) -> None:
    """Have everything happen that is due by then."""
    async_fire_time_changed(hass, dt_util.utcnow() + timedelta(seconds=seconds))
    await hass.async_block_till_done(wait_background_tasks=True)


async def test_an_agent_is_unavailable_while_no_provider_can_answer(
    hass: HomeAssistant, server: Server
) -> None:
    server.answers(DOWN)
    entry = await talker(hass, server)
    for _ in range(2):
        await say(hass, "hello")
        assert is_available(hass)
    await say(hass, "hello")
    assert not is_available(hass)

    await later(hass, 31)
    assert not is_available(hass)
    server.answers(HELLO)
    await later(hass, 61)

    assert is_available(hass)
    assert speech(await say(hass, "hello")) == "Hello."
    await hass.config_entries.async_unload(entry.entry_id)


async def test_a_failed_model_is_asked_again_in_the_background(
    hass: HomeAssistant, server: Server, caplog: pytest.LogCaptureFixture
) -> None:
    server.answers(DOWN)
    await set_up(hass, server_entry(server.address))
    for _ in range(3):
        await say(hass, "hello")
        assert is_available(hass), "Home Assistant itself answers"
    server.answers(HELLO)
    caplog.set_level(logging.INFO)
    await later(hass, 31)

    assert "Talker answers again" in caplog.text
    count = len(server.scripted.requests)
    assert speech(await say(hass, "hello")) == "Hello."
    assert len(server.scripted.requests) == count + 1


async def test_no_model_is_asked_once_its_entry_is_unloaded(
    hass: HomeAssistant, server: Server
) -> None:
    server.answers(DOWN)
    entry = await talker(hass, server)
    for _ in range(3):
        await say(hass, "hello")
    await hass.config_entries.async_unload(entry.entry_id)
    count = len(server.scripted.requests)
    await later(hass, 3600)

    assert len(server.scripted.requests) == count


async def test_a_removed_model_has_an_issue_until_it_is_back(
    hass: HomeAssistant, server: Server
) -> None:
    gone = {"model_gone": {"agent": "Talker", "model": "scripted-model"}}
    server.answers(GONE)
    entry = await talker(hass, server)
    assert not issues(hass)
    await say(hass, "hello")
    assert issues(hass) == gone
    assert not is_available(hass)

    server.answers(DOWN)
    await later(hass, 31)
    assert gone.items() <= issues(hass).items()
    assert "service_down" in issues(hass)

    server.answers(HELLO)
    await later(hass, 62)
    assert not issues(hass)

    server.answers(GONE)
    await say(hass, "hello")
    assert issues(hass)
    await hass.config_entries.async_unload(entry.entry_id)
    assert not issues(hass)


async def test_an_issue_that_the_owner_ignores_is_ignored_after_a_restart(
    hass: HomeAssistant, server: Server, hass_storage: dict[str, Any]
) -> None:
    entry = server_entry(server.address, llm_hass_api=[])
    issue_id = f"model_gone_{only_agent(entry).subentry_id}"
    stored = {
        "config_entry_id": None,
        "created": dt_util.utcnow().isoformat(),
        "dismissed_version": "2026.11.0",
        "domain": DOMAIN,
        "is_persistent": False,
        "issue_id": issue_id,
    }
    hass_storage[ir.STORAGE_KEY] = {
        "version": ir.STORAGE_VERSION_MAJOR,
        "minor_version": ir.STORAGE_VERSION_MINOR,
        "key": ir.STORAGE_KEY,
        "data": {"issues": [stored]},
    }
    await ir.async_load(hass)
    server.answers(GONE)
    await set_up(hass, entry)

    await say(hass, "hello")

    issue = ir.async_get(hass).async_get_issue(DOMAIN, issue_id)
    assert issue
    assert issue.active
    assert issue.dismissed_version == "2026.11.0"


@pytest.mark.parametrize(
    ("history", "window"), [(300, 32_768), (12_000, 32_768), (12_000, None)]
)
async def test_what_the_owner_leaves_out_of_a_conversation_is_not_told(
    hass: HomeAssistant, server: Server, history: int, window: int | None
) -> None:
    server.answers(HELLO)
    entry = server_entry(
        server.address,
        llm_hass_api=[],
        history_tokens=history,
        context_window=window,
    )
    await set_up(hass, entry)

    heard = [speech(await say(hass, f"Number {one} " * 200)) for one in range(6)]

    assert set(heard) == {"Hello."}
    assert not issues(hass)


async def test_a_conversation_that_has_no_room_in_a_window_that_nobody_told_is_told_too(
    hass: HomeAssistant, server: Server
) -> None:
    server.answers(HELLO)
    entry = server_entry(
        server.address, prompt="Be kind to all. " * 6_500, llm_hass_api=[]
    )
    await set_up(hass, entry)

    heard = [speech(await say(hass, f"Number {one} " * 600)) for one in range(9)]

    assert [one for one in heard if one != "Hello."] == [f"Hello. {LACKS_ROOM}"]
    (shortage,) = issues(hass).items()
    assert shortage[0] == "window_assumed"
    assert shortage[1]
    assert shortage[1]["window_tokens"] == "32\N{NARROW NO-BREAK SPACE}768"


async def test_no_room_is_told_after_a_question_was_answered(
    hass: HomeAssistant, server: Server
) -> None:
    server.answers(ScriptedAnswer(content="Which one?"))
    entry = server_entry(server.address, context_window=2_048, llm_hass_api=[])
    await set_up(hass, entry)

    heard = [speech(await say(hass, f"Number {one} " * 100)) for one in range(12)]
    server.answers(HELLO)
    heard.append(speech(await say(hass, "The first one")))

    assert heard == ["Which one?"] * 12 + [f"Hello. {LACKS_ROOM}"]


async def test_a_key_that_is_refused_in_a_turn_starts_reauth_once(
    hass: HomeAssistant, server: Server
) -> None:
    server.answers(HELLO)
    entry = await talker(hass, server, "old-key")
    await say(hass, "hello")
    assert not list(entry.async_get_active_flows(hass, {"reauth"}))

    server.answers(REFUSED)
    for _ in range(2):
        await say(hass, "hello")
    await hass.async_block_till_done()

    (flow,) = entry.async_get_active_flows(hass, {"reauth"})
    hass.config_entries.flow.async_abort(flow["flow_id"])
    await say(hass, "hello")
    assert not list(entry.async_get_active_flows(hass, {"reauth"}))


async def test_a_key_that_is_refused_at_setup_starts_reauth_although_a_fallback_answers(
    hass: HomeAssistant,
) -> None:
    await prepare(hass)
    async with serving_script(Script(api_key="right-key")) as address:
        entry = await set_up(hass, server_entry(address, "wrong-key"))

    assert is_available(hass)
    assert [
        flow["context"]["source"]
        for flow in entry.async_get_active_flows(hass, {"reauth"})
    ] == ["reauth"]


async def test_availability_follows_the_fallbacks(
    hass: HomeAssistant, server: Server
) -> None:
    server.answers(GONE)
    helper = helper_entry()
    helper.add_to_hass(hass)
    async with serving_script(Script()) as theirs:
        hass.config_entries.async_update_entry(
            helper, data=helper.data | {CONF_BASE_URL: theirs}
        )
        await hass.config_entries.async_setup(helper.entry_id)
        fallback = next(iter(helper.subentries))
        await set_up(
            hass, server_entry(server.address, llm_hass_api=[], fallbacks=[fallback])
        )
        await say(hass, "hello")
        assert is_available(hass)

        await hass.config_entries.async_unload(helper.entry_id)
        assert not is_available(hass)
        await hass.config_entries.async_setup(helper.entry_id)
        assert is_available(hass)


async def test_an_agent_follows_a_fallback_of_another_service_that_fails_in_a_turn(
    hass: HomeAssistant, server: Server
) -> None:
    server.answers(HELLO)
    helper = await set_up(hass, server_entry(server.address, llm_hass_api=[]))
    async with serving_script(
        Script(answers=(REFUSED,), after_last="start again")
    ) as theirs:
        await set_up(
            hass, server_entry(theirs, llm_hass_api=[], fallbacks=[*helper.subentries])
        )
        helping, helped = (one.entity_id for one in async_agent_entries(hass))
        await conversation.async_converse(
            hass, "hello", None, Context(), agent_id=helped
        )
        before = hass.states.get(helped)
        server.answers(GONE)
        await conversation.async_converse(
            hass, "hello", None, Context(), agent_id=helping
        )
        is_gone = hass.states.is_state(helped, STATE_UNAVAILABLE)
        agent = only_agent(helper)
        hass.config_entries.async_update_subentry(
            helper, agent, data={**agent.data, CONF_MODEL: "another-model"}
        )
        await hass.async_block_till_done()

    assert before
    assert before.state != STATE_UNAVAILABLE
    assert is_gone
    assert not hass.states.is_state(helped, STATE_UNAVAILABLE), (
        "the fallback has a new model"
    )


async def test_updating_an_agent_asks_its_service(
    hass: HomeAssistant, server: Server
) -> None:
    await talker(hass, server)
    await async_setup_component(hass, "homeassistant", {})
    server.lists(401)
    await hass.services.async_call(
        "homeassistant", "update_entity", {"entity_id": AGENT}, blocking=True
    )
    await hass.async_block_till_done(wait_background_tasks=True)

    assert not is_available(hass)


async def test_an_agent_is_set_up_before_its_fallback(hass: HomeAssistant) -> None:
    await prepare(hass)
    helper = helper_entry()
    helper.add_to_hass(hass)
    (fallback,) = helper.subentries
    entry = await set_up(
        hass,
        server_entry(address_without_server(), llm_hass_api=[], fallbacks=[fallback]),
    )

    assert entry.state is ConfigEntryState.LOADED
    assert not is_available(hass)


async def test_setup_does_not_wait_for_a_stalled_server_with_a_fallback(
    hass: HomeAssistant,
) -> None:
    await prepare(hass)
    async with raw_http_server(
        RawReply([b"HTTP/1.1 200 OK\r\n"], Ending.WAIT)
    ) as stalled:
        entry = await set_up(
            hass,
            server_entry(f"http://127.0.0.1:{stalled.port}/v1"),
            wait_for_service=False,
        )

        assert entry.state is ConfigEntryState.LOADED
        assert not stalled.left.is_set()
        await hass.config_entries.async_unload(entry.entry_id)


async def test_a_service_that_goes_down_has_an_issue_within_a_minute_before_anybody_speaks(
    hass: HomeAssistant, server: Server, freezer: FrozenDateTimeFactory
) -> None:
    entry = await talker(hass, server, "any-key")
    await later(hass, 31)
    server.lists(500)
    await later(hass, 31)
    assert is_available(hass)
    assert not issues(hass)
    since = dt_util.now().strftime("%Y-%m-%d %H:%M")
    freezer.tick(120)
    await later(hass, 9)
    assert issues(hass) == {"service_down": {"service": "The server", "since": since}}
    assert not is_available(hass)

    server.lists(200)
    await later(hass, 62)
    assert not issues(hass)
    assert is_available(hass)

    server.lists(401)  # which needs no second check
    await later(hass, 31)
    assert list(entry.async_get_active_flows(hass, {"reauth"}))


async def test_neither_one_lost_request_nor_one_on_each_side_of_an_answer_takes_an_agent_away(
    hass: HomeAssistant, server: Server
) -> None:
    server.answers(HELLO)
    await talker(hass, server)
    for status in (500, 200, 500):
        server.lists(status)
        await later(hass, 9 if status == 200 else 31)
        assert is_available(hass)
    await say(hass, "hello")
    await later(hass, 31)

    assert is_available(hass)
    assert not issues(hass)


async def test_a_service_on_the_internet_is_checked_less_often(
    hass: HomeAssistant, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    connector = async_get_clientsession(hass).connector
    here = {
        "hostname": "",
        "host": "127.0.0.1",
        "family": socket.AF_INET,
        "proto": 0,
        "flags": 0,
    }
    answers = AsyncMock(side_effect=lambda _host, port, **_: [{**here, "port": port}])
    monkeypatch.setattr(
        connector, "_resolver", Mock(resolve=answers)
    )  # so the internet needs no network
    server.address = server.address.replace("127.0.0.1", "models.example.org")
    await talker(hass, server)

    await later(hass, 290)
    assert server.listed == 1
    await later(hass, 301)
    assert server.listed == 2
