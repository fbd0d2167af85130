"""The guard against leaks finds digits in every place where they can be read."""

import logging
from collections.abc import Callable
from pathlib import Path

import pytest
from homeassistant.components.conversation import ChatLog, UserContent
from homeassistant.components.conversation.chat_log import DATA_CHAT_LOGS
from homeassistant.components.conversation.trace import (
    ConversationTraceEventType,
    async_conversation_trace,
    async_conversation_trace_append,
)
from homeassistant.core import HomeAssistant
from homeassistant.helpers import issue_registry as ir

from tests.support.leaks import LOGGED_BEFORE_AN_AGENT_HEARS, Leaks
from tests.support.servers.chat_completions import ScriptedChatCompletions
from tests.support.servers.model_server import ReceivedRequest
from tests.support.servers.script import Script

PIN = "8593614207"


def in_a_chat_log(leaks: Leaks) -> None:
    log = ChatLog(leaks.hass, "a-talk")
    log.content.append(UserContent(PIN))
    leaks.hass.data[DATA_CHAT_LOGS] = {"a-talk": log}


def in_a_trace(_leaks: Leaks) -> None:
    with async_conversation_trace():
        async_conversation_trace_append(
            ConversationTraceEventType.AGENT_DETAIL, {"text": [PIN]}
        )


def in_an_issue(leaks: Leaks) -> None:
    ir.async_create_issue(
        leaks.hass,
        "test",
        "an-issue",
        is_fixable=False,
        severity=ir.IssueSeverity.WARNING,
        translation_key="leak",
        translation_placeholders={"text": PIN},
    )


def in_the_history(leaks: Leaks) -> None:
    Path(leaks.hass.config.path("chatterbox.db-wal")).write_bytes(
        b"\xff\x00" + PIN.encode()
    )


PLACES: dict[str, Callable[[Leaks], object]] = {
    "history": in_the_history,
    "event": lambda leaks: leaks.hass.bus.async_fire(
        "told", {"pin": "85-93 61, 42 07"}
    ),
    "words": lambda leaks: leaks.hass.bus.async_fire(
        "told", {"pin": "Eight Five nine"}
    ),
    "state": lambda leaks: leaks.hass.states.async_set(
        "sensor.last_words", "on", {"text": f"yes, {PIN}"}
    ),
    "storage": lambda leaks: leaks.storage.update(a_file={"data": [int(PIN)]}),
    "log": lambda _: logging.getLogger("custom_components.chatterbox").debug(
        "Somebody said %s", PIN
    ),
    "warning": lambda _: logging.getLogger(min(LOGGED_BEFORE_AN_AGENT_HEARS)).warning(
        PIN
    ),
    "chat log": in_a_chat_log,
    "trace": in_a_trace,
    "issue": in_an_issue,
}


@pytest.mark.each_row
@pytest.mark.parametrize("place", PLACES)
async def test_digits_are_found(leaks: Leaks, place: str) -> None:
    leaks.assert_nowhere(PIN, "eight five nine")

    PLACES[place](leaks)

    with pytest.raises(AssertionError):
        leaks.assert_nowhere(PIN, "eight five nine")


async def test_digits_are_found_in_what_a_server_was_sent(leaks: Leaks) -> None:
    server = ScriptedChatCompletions(Script())
    server.requests.append(
        ReceivedRequest(authorization=None, body={"text": "(a PIN)"})
    )
    leaks.assert_nowhere(PIN, servers=[server])

    server.requests.append(
        ReceivedRequest(authorization=None, body={"text": f"It is {PIN}."})
    )
    with pytest.raises(AssertionError):
        leaks.assert_nowhere(PIN, servers=[server])


async def test_what_home_assistant_writes_before_an_agent_hears_is_no_leak_of_ours(
    hass: HomeAssistant, leaks: Leaks
) -> None:
    for logger in LOGGED_BEFORE_AN_AGENT_HEARS:
        logging.getLogger(logger).debug("Processing in en: %s", PIN)
    await hass.async_block_till_done()

    leaks.assert_nowhere(PIN)


async def test_a_pin_that_stands_in_some_time_stamp_is_not_looked_for(
    leaks: Leaks,
) -> None:
    with pytest.raises(AssertionError, match="8 digits"):
        leaks.assert_nowhere("4711")
