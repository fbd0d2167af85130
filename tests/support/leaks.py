"""Finds out whether digits that were said are to be read anywhere: the guard of every test in which a PIN is spoken.

Looks where Home Assistant keeps or tells anything: events, states, storage, the
history, issues, chat logs, traces of conversations, runs of voice pipelines, what is
told of questions, logs, and what a model's server was sent. Knows nothing of how a PIN
is understood. The fixture `leaks` (`conftest.py`) watches from its beginning, and
`Leaks.assert_nowhere` judges.
"""

import json
import logging
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from homeassistant.components.conversation.chat_log import DATA_CHAT_LOGS
from homeassistant.components.conversation.trace import (
    async_clear_traces,
    async_get_traces,
)
from homeassistant.const import MATCH_ALL
from homeassistant.core import Event, HomeAssistant, callback
from homeassistant.helpers import issue_registry as ir
from homeassistant.helpers.dispatcher import async_dispatcher_connect

from custom_components.chatterbox.approvals.questions import (
    SIGNAL_QUESTION,
    QuestionUpdate,
)
from custom_components.chatterbox.const import DOMAIN
from tests.support.servers.model_server import ScriptedModelServer

SHORTEST = 8
"""Digits of a PIN that is looked for: a shorter one stands in some time stamp sooner or later."""

LOGGED_BEFORE_AN_AGENT_HEARS = frozenset(
    {
        "homeassistant.components.assist_pipeline.default_pipeline",
        "homeassistant.components.conversation.agent_manager",
        "homeassistant.components.conversation.chat_log",
        "homeassistant.components.conversation.default_agent",
        "homeassistant.components.conversation.services",
        "homeassistant.components.websocket_api.http.connection",
    }
)
"""Loggers of Home Assistant that write what was said, if set to debug; `docs/pin.md` tells it."""


@dataclass(slots=True)
class Leaks:
    """All that can be read of a home, from now on."""

    hass: HomeAssistant
    storage: dict[str, Any]  # as the test storage of Home Assistant is typed
    caplog: pytest.LogCaptureFixture
    _lines: list[tuple[str, str]] = field(default_factory=list)

    def watch(self) -> None:
        """Begin to listen to what is told and not kept. Traces outlive a test; those of others are forgotten."""
        async_clear_traces()
        self.caplog.set_level(logging.DEBUG)
        self.hass.bus.async_listen(MATCH_ALL, self._note_event)
        async_dispatcher_connect(self.hass, SIGNAL_QUESTION, self._note_question)

    def assert_nowhere(
        self, pin: str, *words: str, servers: Iterable[ScriptedModelServer] = ()
    ) -> None:
        """Assert that neither the digits of a PIN nor the words in which they were said are to be read.

        Digits count with signs and blanks between them, too.
        """
        assert pin.isdecimal(), "a PIN is digits"
        assert len(pin) >= SHORTEST, f"choose a PIN of {SHORTEST} digits or more"
        digits = re.compile(r"[\s,.:;/\-]{0,3}".join(pin))
        found = [
            (where, text)
            for where, text in self._texts(servers)
            if digits.search(text)
            or any(one.casefold() in text.casefold() for one in words)
        ]
        assert not found, "\n".join(f"{where}: {text}" for where, text in found)

    def _texts(
        self, servers: Iterable[ScriptedModelServer]
    ) -> Iterator[tuple[str, str]]:
        """Yield all that can be read, and where."""
        hass = self.hass
        yield from self._lines
        yield from (
            ("state", repr(state.as_dict())) for state in hass.states.async_all()
        )
        yield from (
            ("issue", repr(issue)) for issue in ir.async_get(hass).issues.values()
        )
        yield from (
            ("storage", json.dumps(file, default=repr))
            for file in self.storage.values()
        )
        yield from (("history", text) for text in _histories(hass))
        yield from (
            ("chat log", repr(log.content))
            for log in hass.data.get(DATA_CHAT_LOGS, {}).values()
        )
        yield from (("trace", repr(trace.as_dict())) for trace in async_get_traces())
        yield from (
            ("log", _logged(record))
            for record in self.caplog.records
            if not _is_before_us(record)
        )
        yield from (
            ("request", request.model_dump_json())
            for server in servers
            for request in server.requests
        )
        if "assist_pipeline" in hass.config.components:
            from homeassistant.components.assist_pipeline.pipeline import (  # noqa: PLC0415  # it is not always there
                KEY_ASSIST_PIPELINE,
            )

            for runs in hass.data[KEY_ASSIST_PIPELINE].pipeline_debug.values():
                yield from (("pipeline", repr(run.events)) for run in runs.values())

    @callback
    def _note_event(self, event: Event[dict[str, object]]) -> None:
        self._lines.append((f"event {event.event_type}", repr(event.data)))

    @callback
    def _note_question(self, news: QuestionUpdate) -> None:
        self._lines.append(("question", repr(news)))


def _histories(hass: HomeAssistant) -> Iterator[str]:
    """Yield what is in the files of the history; some come and go with its transactions."""
    for file in sorted(Path(hass.config.config_dir).glob(f"{DOMAIN}.db*")):
        with suppress(FileNotFoundError):
            yield file.read_text("latin-1")


def _logged(record: logging.LogRecord) -> str:
    return f"{record.name} {record.getMessage()} {record.exc_text or ''} {record.exc_info or ''}"


def _is_before_us(record: logging.LogRecord) -> bool:
    return (
        record.levelno <= logging.DEBUG and record.name in LOGGED_BEFORE_AN_AGENT_HEARS
    )
