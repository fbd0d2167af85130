"""Issues tell the owner of a prompt that is too long and a budget that is spent, with numbers and advice."""

from collections.abc import AsyncGenerator

import pytest
from homeassistant.core import HomeAssistant

from tests.runtime.changing_server import (
    HELLO,
    LACKS_ROOM,
    Server,
    changing_server,
    issues,
    talker,
)
from tests.support.config_entries import server_entry, set_up
from tests.support.servers.script import (
    ScriptedAnswer,
    ScriptedFailure,
    ScriptedUsage,
)
from tests.support.talk import say, speech

pytestmark = pytest.mark.usefixtures("socket_enabled")
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


@pytest.fixture
async def server(hass: HomeAssistant) -> AsyncGenerator[Server]:
    """Serve until the end of the test."""
    async with changing_server(hass) as served:
        yield served


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
