"""A PIN that is said to a real agent, through a real pipeline or not, is to be read nowhere afterwards."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest
from freezegun.api import FrozenDateTimeFactory
from homeassistant.components import conversation
from homeassistant.components.conversation.chat_log import DATA_CHAT_LOGS
from homeassistant.core import Context, HomeAssistant
from homeassistant.setup import async_setup_component
from pytest_homeassistant_custom_component.common import async_fire_time_changed
from pytest_homeassistant_custom_component.typing import ClientSessionGenerator

from custom_components.chatterbox.const import DOMAIN, REDACTED_PIN
from tests.support.leaks import Leaks
from tests.support.listening_room import StreamingVoice, WholeVoice, furnish
from tests.support.servers.chat_completions import ScriptedChatCompletions
from tests.support.servers.script import Script, ScriptedAnswer
from tests.support.talk import AGENT, ASKS, DOOR, Serve, locks_need, messages_of, speech
from tests.support.versions import IS_LATEST

PIN = "8593614207"
IN_WORDS = "eight five nine three six one four two zero seven"
OTHER = "6140852973"
"""Not the PIN; but perhaps that of another home."""
WITH_PIN = locks_need(PIN)
OPENS = ScriptedAnswer(content="Come in.")
TALK = "a-talk"

type Say = Callable[[str], Awaitable[str]]


async def by_device(hass: HomeAssistant) -> Say:
    """Talk to the entity, as a device does."""

    async def say(text: str) -> str:
        return speech(
            await conversation.async_converse(
                hass, text, TALK, Context(), "en", AGENT, "the-hall"
            )
        )

    return say


def through(
    voice: Callable[[], WholeVoice],
) -> Callable[[HomeAssistant], Awaitable[Say]]:
    """Talk through a pipeline."""

    async def ready(hass: HomeAssistant) -> Say:
        room = await furnish(hass, voice())

        async def say(text: str) -> str:
            await room.say(text, TALK)
            return room.speech

        return say

    return ready


everywhere = pytest.mark.parametrize(
    "way",
    [by_device, through(StreamingVoice), through(WholeVoice)],
    ids=["device", "stream", "whole"],
)


async def diagnostics(hass: HomeAssistant, client: ClientSessionGenerator) -> str:
    """Return what a person would attach to a report."""
    assert await async_setup_component(hass, "diagnostics", {})
    (entry,) = hass.config_entries.async_entries(DOMAIN)
    response = await (await client()).get(
        f"/api/diagnostics/config_entry/{entry.entry_id}"
    )
    return await response.text()


def said_to(server: ScriptedChatCompletions) -> list[str]:
    """Return what a model was told that somebody said, in its last request."""
    return [
        str(message["content"])
        for message in messages_of(server.requests[-1])
        if message["role"] == "user"
    ]


@everywhere
@pytest.mark.parametrize(
    "sentence",
    [PIN, "859 361 4207", IN_WORDS, f"Yes, unlock the front door, {PIN}."],
    ids=range(4),
)
async def test_the_right_pin(
    hass: HomeAssistant,
    serve: Serve,
    leaks: Leaks,
    hass_client: ClientSessionGenerator,
    *,
    way: Callable[[HomeAssistant], Awaitable[Say]],
    sentence: str,
) -> None:
    server = await serve(
        Script(answers=(ASKS, OPENS, ScriptedAnswer(content="You are welcome."))),
        **WITH_PIN,
    )
    say = await way(hass)

    await say("unlock the front door")
    assert await say(sentence) == "Come in."
    assert hass.states.is_state(DOOR, "unlocked")
    await say("thank you")

    assert [words.endswith(REDACTED_PIN) for words in said_to(server)] == [
        False,
        True,
        False,
    ]
    leaks.assert_nowhere(PIN, "eight five nine", servers=[server])
    assert PIN not in await diagnostics(hass, hass_client)


@everywhere
async def test_pins_that_open_nothing(
    hass: HomeAssistant,
    serve: Serve,
    leaks: Leaks,
    hass_client: ClientSessionGenerator,
    *,
    way: Callable[[HomeAssistant], Awaitable[Say]],
) -> None:
    server = await serve(Script(answers=(ASKS, ASKS, OPENS)), **WITH_PIN)
    say = await way(hass)

    await say("unlock the front door")
    assert "4 attempts left" in await say(OTHER)
    assert "3 attempts left" in await say(f"My PIN is {OTHER}, please.")
    assert "didn't understand" in await say(f"{OTHER}?")  # nobody can tell what this is
    for _ in range(3):
        await say(" ".join(OTHER))
    assert "not asking anything" in await say(
        PIN
    )  # no question waits, and still nobody may read it
    await say("unlock the front door")
    assert "too many wrong PINs" in await say(PIN)

    assert hass.states.is_state(DOOR, "locked")
    assert len(server.requests) == 2
    for pin in (PIN, OTHER):
        leaks.assert_nowhere(pin, servers=[server])
        assert pin not in await diagnostics(hass, hass_client)


@everywhere
async def test_a_pin_that_comes_too_late_or_once_more(
    hass: HomeAssistant,
    serve: Serve,
    leaks: Leaks,
    freezer: FrozenDateTimeFactory,
    *,
    way: Callable[[HomeAssistant], Awaitable[Say]],
) -> None:
    server = await serve(
        Script(answers=(ASKS, ASKS, OPENS, ASKS, ScriptedAnswer(content="Noon."))),
        **WITH_PIN,
    )
    say = await way(hass)

    await say("unlock the front door")
    freezer.tick(61)
    async_fire_time_changed(hass)
    await hass.async_block_till_done()
    assert "has expired" in await say(PIN)
    assert "not asking anything" in await say(PIN)
    assert hass.states.is_state(DOOR, "locked")

    await say("unlock the front door")
    assert await say(PIN) == "Come in."
    assert "not asking anything" in await say(PIN)

    await say("unlock the front door")
    assert "Noon." in await say("what time is it?")
    assert "not asking anything" in await say(PIN)

    assert len(server.requests) == 5
    leaks.assert_nowhere(PIN, servers=[server])


async def test_a_pin_where_a_yes_would_do(
    hass: HomeAssistant, serve: Serve, leaks: Leaks
) -> None:
    server = await serve(Script(answers=(ASKS, OPENS)), pin=WITH_PIN["pin"])
    say = await by_device(hass)

    question = await say("unlock the front door")
    assert await say(PIN) == question
    assert hass.states.is_state(DOOR, "locked")
    assert await say("yes") == "Come in."

    leaks.assert_nowhere(PIN, servers=[server])


@everywhere
@pytest.mark.parametrize(
    "options", [{}, {"pin": WITH_PIN["pin"]}], ids=["without a PIN", "with a PIN"]
)
async def test_numbers_after_a_question_that_needs_no_pin_are_a_request(
    hass: HomeAssistant,
    serve: Serve,
    *,
    way: Callable[[HomeAssistant], Awaitable[Say]],
    options: dict[str, object],
) -> None:
    alarms = (
        ScriptedAnswer(content="For when shall I set the alarm?"),
        ScriptedAnswer(content="It is set."),
    )
    server = await serve(Script(answers=(ASKS, OPENS, *alarms * 3)), **options)
    say = await way(hass)

    await say("unlock the front door")
    await say("yes")
    for words in ("ten thirty", "12:30", "no, at 10:15"):
        await say("set an alarm")
        assert await say(words) == "It is set."
        assert said_to(server)[-1].endswith(words)


async def test_a_pin_that_is_cut_off_in_the_middle_of_its_turn(
    hass: HomeAssistant, serve: Serve, leaks: Leaks
) -> None:
    server = await serve(
        Script(answers=(ASKS, ScriptedAnswer(content="Come in.", delay_seconds=30))),
        **WITH_PIN,
    )
    room = await furnish(hass, StreamingVoice())
    await room.say("unlock the front door", TALK)
    server.request_arrived.clear()

    turn = asyncio.create_task(room.say(PIN, TALK))
    await server.request_arrived.wait()
    turn.cancel()
    with pytest.raises(asyncio.CancelledError):
        await turn

    assert hass.states.is_state(DOOR, "unlocked")
    said_last = hass.data[DATA_CHAT_LOGS][TALK].content[
        -2 if IS_LATEST else -1
    ]  # then, that it was cancelled
    assert said_last.role == "tool_result"
    leaks.assert_nowhere(PIN, servers=[server])


@pytest.mark.parametrize(("language", "is_known"), [("tlh", False), ("ru", True)])
async def test_a_pin_in_a_language_of_which_little_is_known(
    hass: HomeAssistant, serve: Serve, leaks: Leaks, language: str, *, is_known: bool
) -> None:
    spoken = "восемь пять девять три шесть один четыре два ноль семь"
    server = await serve(Script(answers=(ASKS, OPENS)), **WITH_PIN)

    async def say(text: str) -> str:
        return speech(
            await conversation.async_converse(
                hass, text, TALK, Context(), language, AGENT, "the-hall"
            )
        )

    await say("unlock the front door")
    if not is_known:
        assert "didn't understand" in await say(spoken)
    assert await say(spoken if is_known else PIN) == "Come in."

    assert hass.states.is_state(DOOR, "unlocked")
    leaks.assert_nowhere(PIN, spoken, servers=[server])


async def test_a_pin_at_another_device_than_the_one_that_asked(
    hass: HomeAssistant, serve: Serve, leaks: Leaks
) -> None:
    server = await serve(
        Script(answers=(ASKS, ScriptedAnswer(content="It is noon."))), **WITH_PIN
    )

    async def say(text: str, device_id: str) -> str:
        return speech(
            await conversation.async_converse(
                hass, text, device_id, Context(), "en", AGENT, device_id
            )
        )

    await say("unlock the front door", "the-hall")
    assert "not asking anything" in await say(PIN, "the-kitchen")
    assert await say("what time is it?", "the-kitchen") == "It is noon."

    assert hass.states.is_state(DOOR, "locked")
    leaks.assert_nowhere(PIN, servers=[server])
