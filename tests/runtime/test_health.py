"""Models between turns: they are asked again in the background, and issues tell the owner what to repair."""

import logging
import socket
from collections.abc import AsyncGenerator
from datetime import timedelta
from unittest.mock import AsyncMock, Mock

import pytest
from aiohttp import web
from aiohttp.typedefs import Handler
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
from tests.support.config_entries import only_agent, prepare, server_entry, set_up
from tests.support.sentences import sentence
from tests.support.servers.chat_completions import ScriptedChatCompletions
from tests.support.servers.in_process import (
    address_without_server,
    serving,
    serving_script,
)
from tests.support.servers.raw_http import Ending, RawReply, raw_http_server
from tests.support.servers.script import (
    Script,
    ScriptedAnswer,
    ScriptedFailure,
    ScriptedUsage,
)
from tests.support.talk import AGENT, say, speech

pytestmark = pytest.mark.usefixtures("socket_enabled")

DOWN = ScriptedFailure(status=500, body="boom")
GONE = ScriptedFailure(
    status=404, body={"error": {"message": "The model `scripted-model` does not exist"}}
)
REFUSED = ScriptedFailure(status=401, body={"error": {"message": "no"}})
TOO_LONG = ScriptedFailure(
    status=400,
    body={
        "error": {
            "type": "exceed_context_size_error",
            "message": "no",
            "n_prompt_tokens": 12345,
            "n_ctx": 8192,
        }
    },
)
TOO_LONG_BY_AN_UNKNOWN_NUMBER = ScriptedFailure(
    status=400, body={"error": {"message": "The prompt is too long"}}
)
HELLO = ScriptedAnswer(content="Hello.")


class Server:
    """A server whose every answer can be changed while it runs."""

    def __init__(self) -> None:
        self.scripted = ScriptedChatCompletions(Script())
        self.address = ""
        self.listed = 0
        """How often it was asked for its models."""
        self._status = 200

    def lists(self, status: int) -> None:
        """Answer whoever asks for the list of models with this status from now on."""
        self._status = status

    @web.middleware
    async def answer_list(
        self, request: web.Request, handler: Handler
    ) -> web.StreamResponse:
        """Answer for a server that is down, to whoever asks for its models."""
        self.listed += request.path.endswith("/models")
        if self._status != 200 and request.path.endswith("/models"):
            return web.Response(status=self._status)
        return await handler(request)

    def answers(self, answer: ScriptedAnswer | ScriptedFailure) -> None:
        """Answer everybody alike from now on, who tries the model out included."""
        self.scripted.play(
            Script(answers=(answer,), trial_answer=answer, after_last="start again")
        )


@pytest.fixture
async def server(hass: HomeAssistant) -> AsyncGenerator[Server]:
    """Serve until the end of the test."""
    await prepare(hass)
    served = Server()
    application = served.scripted.application()
    application.middlewares.append(served.answer_list)
    async with serving(application) as address:
        served.address = address
        yield served


def is_available(hass: HomeAssistant) -> bool:
    """Return whether Home Assistant shows the agent as available."""
    state = hass.states.get(AGENT)
    assert state is not None
    return state.state != STATE_UNAVAILABLE


def issues(hass: HomeAssistant) -> dict[str | None, dict[str, str] | None]:
    """Return what Repairs shows of us: kinds, and what is filled in."""
    return {
        issue.translation_key: issue.translation_placeholders
        for (domain, _), issue in ir.async_get(hass).issues.items()
        if domain == DOMAIN and issue.active
    }


def helper_entry() -> MockConfigEntry:
    """Return the entry of a server, not yet there, whose agent others may fall back on."""
    return server_entry(address_without_server(), llm_hass_api=[])


async def later(hass: HomeAssistant, seconds: float) -> None:
    """Have everything happen that is due by then."""
    async_fire_time_changed(hass, dt_util.utcnow() + timedelta(seconds=seconds))
    await hass.async_block_till_done(wait_background_tasks=True)


async def talker(
    hass: HomeAssistant, server: Server, api_key: str | None = None
) -> MockConfigEntry:
    """Set up an agent that nobody else can answer for."""
    return await set_up(hass, server_entry(server.address, api_key, llm_hass_api=[]))


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


async def test_a_prompt_that_is_too_long_has_an_issue_with_both_numbers(
    hass: HomeAssistant, server: Server
) -> None:
    server.answers(TOO_LONG)
    entry = await talker(hass, server)

    answer = speech(await say(hass, "hello"))
    assert "more than my language model can read" in answer
    assert issues(hass) == {
        "prompt_too_long": {
            "agent": "Talker",
            "prompt_tokens": "12\N{NARROW NO-BREAK SPACE}345",
            "window_tokens": "8\N{NARROW NO-BREAK SPACE}192",
        }
    }
    server.answers(HELLO)
    await say(hass, "hello")
    assert not issues(hass)

    server.answers(TOO_LONG)
    await say(hass, "hello")
    assert issues(hass)
    await hass.config_entries.async_unload(entry.entry_id)
    assert not issues(hass)


@pytest.mark.parametrize(
    ("words", "advice"),
    [
        (("sea " * 400,) * 10, "start a new conversation"),
        (("hello",), "expose fewer devices"),
        (("hello", "hello"), "expose fewer devices"),
        (("tell me about this: " + "sea " * 2_000,), "ask for less at a time"),
    ],
)
@pytest.mark.parametrize("understands_sentences", [False, True])
async def test_the_advice_on_a_prompt_that_is_too_long_helps(
    hass: HomeAssistant,
    server: Server,
    words: tuple[str, ...],
    advice: str,
    *,
    understands_sentences: bool,
) -> None:
    server.answers(HELLO)
    apis = ["assist"] if understands_sentences else []
    await set_up(hass, server_entry(server.address, llm_hass_api=apis))

    for text in words[:-1]:
        await say(hass, text)
    server.answers(TOO_LONG if len(words) < 10 else TOO_LONG_BY_AN_UNKNOWN_NUMBER)
    answer = speech(await say(hass, words[-1]))

    assert advice in answer
    assert ("new conversation" in answer) is ("new conversation" in advice)


LACKS_ROOM = sentence("common.spoken_lacks_room")
PROMPT = "{{ 'Be kind to all. ' * (states('input_number.length') | int(250)) }}"


async def test_a_conversation_that_has_no_room_is_told_once_and_has_an_issue(
    hass: HomeAssistant, server: Server
) -> None:
    server.answers(HELLO)
    entry = server_entry(
        server.address, context_window=2_600, prompt=PROMPT, llm_hass_api=[]
    )
    await set_up(hass, entry)

    async def answers_in(conversation_id: str, turns: int = 6) -> list[str]:
        heard = [
            speech(await say(hass, f"Number {number} " * 40, conversation_id))
            for number in range(turns)
        ]
        return [one.removeprefix("Hello.").strip() for one in heard]

    first = await answers_in("first")
    assert first[0] == ""
    assert [one for one in first if one] == [LACKS_ROOM]
    (shortage,) = issues(hass).items()
    assert shortage[0] == "conversation_short"
    assert shortage[1]
    assert shortage[1]["window_tokens"] == "2\N{NARROW NO-BREAK SPACE}600"
    home = int(shortage[1]["home_tokens"].replace("\N{NARROW NO-BREAK SPACE}", ""))
    assert 900 < home < 1_600
    assert await answers_in("second", 1) == [""]
    assert issues(hass), "a short conversation always has room"
    assert LACKS_ROOM in await answers_in("second")

    hass.states.async_set("input_number.length", "20")
    assert await answers_in("third", 1) == [""]
    assert not issues(hass)

    hass.states.async_remove("input_number.length")
    await answers_in("fourth")
    assert issues(hass)
    await hass.config_entries.async_unload(entry.entry_id)
    assert not issues(hass)


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


async def test_the_issue_of_a_spent_budget_ends_with_its_agent(
    hass: HomeAssistant, server: Server
) -> None:
    usage = ScriptedUsage(prompt_tokens=500, completion_tokens=250)
    server.answers(ScriptedAnswer(content="Hello.", usage=usage))
    entry = server_entry(
        server.address,
        llm_hass_api=[],
        budget_day=1.0,
        price_input=1000.0,
        price_output=2000.0,
    )
    await set_up(hass, entry)
    assert not issues(hass)

    await say(hass, "hello")
    await hass.async_block_till_done()
    assert list(issues(hass)) == ["budget_spent"]
    await hass.config_entries.async_unload(entry.entry_id)
    assert not issues(hass)


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
