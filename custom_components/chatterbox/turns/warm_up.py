"""Warms up an agent before its turns: its server reads the prompt prefix in advance.

It does so while a person is still speaking and, where that costs nothing, once an agent
comes up, after its server is back, and when the home has changed. Turns do not wait for
it, but for what they need of it; see `ReadAhead`. No failure here is worth an error or
a log line: it only means a later answer.
"""

import asyncio
import time
from collections.abc import Coroutine
from datetime import datetime
from typing import Final

from homeassistant.config_entries import ConfigEntry
from homeassistant.core import (
    CALLBACK_TYPE,
    CoreState,
    HassJob,
    HomeAssistant,
    callback,
)
from homeassistant.helpers.chat_session import CONVERSATION_TIMEOUT
from homeassistant.helpers.event import async_call_later
from homeassistant.helpers.start import async_at_started

from ..agent.errors import FirstTokenTimeout, ProviderError
from ..agent.messages import UserMessage
from ..agent.protocols import CompletionRequest
from ..agent.providers.managed_provider import READ_FOR, BreakerState, Prefix
from ..const import LOGGER
from ..home.entities import async_listen_home
from ..internals.assist_pipeline import assistants
from ..runtime.agents import Runtime
from ..runtime.composition import reads_free
from ..runtime.models import AgentModel
from ..settings.agent import AgentSettings
from ..tools.llm_apis import context_without_speaker
from ..tools.turn_tools import async_offer_common_tools, for_models
from .prepare import PromptSources, async_write_prompt

QUIET: Final = 5.0
"""Seconds without a change of the home after which its prefix is read."""

IDLE: Final = CONVERSATION_TIMEOUT.total_seconds()
"""Seconds after a turn for which its conversation may go on with the prefix that it keeps."""

_REST: Final = 10.0
"""Times as long as a reading took, but at least `READ_FOR`, until the next one: some homes never stop changing."""

_LONGEST: Final = 600.0
"""Seconds that reading may take. It gives way to every turn."""


class WarmUp:
    """Keeps the prompt prefix of one agent cached at its server, until it is closed."""

    def __init__(
        self,
        hass: HomeAssistant,
        entry: ConfigEntry,
        model: AgentModel,
        settings: AgentSettings,
    ) -> None:
        """Start idle."""
        self._hass = hass
        self._entry = entry
        self._model = model
        self._settings = settings
        self._ahead = model.managed.ahead
        self._entity_id = ""
        self._task: asyncio.Task[None] | None = None
        self._timer: CALLBACK_TYPE | None = None
        self._endings: list[CALLBACK_TYPE] = []
        self._may_read = settings.read_ahead and reads_free(entry.data, settings)
        self._rests_until = 0.0
        self._was_down = False
        self._is_closed = False

    def async_start(
        self,
        runtime: Runtime,
        entity_id: str,
    ) -> None:
        """Read the prefix once Home Assistant has started, and follow the home and the server."""
        if self._may_read:
            self._entity_id = entity_id
            self._ahead.readers[entity_id] = self._settings.model
            assistant = context_without_speaker(self._hass).assistant or ""
            self._endings = [
                async_at_started(self._hass, self._async_plan),
                async_listen_home(
                    self._hass,
                    assistant,
                    self._async_plan,
                ),
                runtime.health.async_add_listener(self._async_follow_server),
            ]

    async def async_prepare(self) -> None:
        """Collect the prefix of the next turn, and start to send it; returns as soon as it is being sent."""
        if self._ahead.is_under_way or self._is_down:
            return
        prefix = await self._async_prefix()
        if self._is_closed or self._ahead.is_under_way:
            return
        since = time.monotonic() - READ_FOR
        is_known = any(
            at > since and known == prefix for known, at in self._ahead.known
        )
        if self._may_read and not is_known:
            new = prefix
        else:
            new = None
        self._run(self._async_send(new), new)

    @callback
    def async_close(self) -> None:
        """Stop for good."""
        self._is_closed = True
        self._ahead.readers.pop(self._entity_id, None)
        self._end_plan()
        for end in self._endings:
            end()
        if self._task is not None:
            self._task.cancel()

    @property
    def _is_down(self) -> bool:
        return self._model.managed.breaker.state is not BreakerState.CLOSED

    @property
    def _is_first_choice(self) -> bool:
        """Return whether its model is that of the preferred assistant, or the first one of its server.

        A server may hold only one model: reading ahead for another one would unload it.
        """
        readers = self._ahead.readers
        store = assistants(self._hass)
        if store:
            preferred = store.data[store.async_get_preferred_item()].conversation_engine
        else:
            preferred = ""
        return (
            readers.get(preferred, next(iter(readers.values()), ""))
            == self._settings.model
        )

    async def _async_prefix(self) -> Prefix:
        offer = await async_offer_common_tools(self._hass, self._settings)
        sources = PromptSources(
            self._settings.prompt,
            offer.prompt,
            offer.context,
        )
        prompt = async_write_prompt(
            self._hass, context_without_speaker(self._hass), sources
        )
        return self._settings.model, prompt.instructions, for_models(offer.definitions)

    @callback
    def _async_plan(
        self, _hass: HomeAssistant | None = None, *, seconds: float = QUIET
    ) -> None:
        """Have the prefix read after so many seconds, in place of any earlier plan."""
        self._end_plan()
        job = HassJob(
            self._async_begin,
            "chatterbox warm-up",
            cancel_on_shutdown=True,
        )
        self._timer = async_call_later(
            self._hass,
            seconds,
            job,
        )

    def _end_plan(self) -> None:
        if self._timer is not None:
            self._timer()
            self._timer = None

    @callback
    def _async_follow_server(self) -> None:
        """Read again once the server is back, and go on after a turn to which it was too slow to answer."""
        was_down = self._was_down
        self._was_down = self._is_down
        if was_down and not self._is_down and self._task is not None:
            # a server that was away has forgotten what it was reading
            self._task.cancel()
        if not self._is_down and (was_down or self._is_too_slow):
            self._ahead.forget()
            self._rests_until = 0.0
            self._async_plan()

    @property
    def _is_too_slow(self) -> bool:
        return self._model.managed.breaker.last_error is FirstTokenTimeout

    @callback
    def _async_begin(self, _now: datetime) -> None:
        """Begin to read the prefix, but not beside another one, soon after the last one, or in a conversation."""
        self._timer = None
        now = time.monotonic()
        due = max(
            self._ahead.latest_turn + IDLE,
            self._rests_until,
        )
        if self._hass.state is not CoreState.running or self._is_down:
            return
        if not (self._is_first_choice or self._is_too_slow):
            return
        if self._ahead.is_under_way:
            self._async_plan()
        elif now < due:
            self._async_plan(seconds=due - now)
        else:
            self._run(self._async_read_early(), None)

    def _run(
        self, reading: Coroutine[object, object, None], prefix: Prefix | None
    ) -> None:
        name = f"chatterbox warm-up of {self._model.agent.title}"
        self._task = self._entry.async_create_background_task(
            self._hass, reading, name, eager_start=False
        )
        self._begin(prefix)

    def _begin(self, prefix: Prefix | None) -> None:
        self._ahead.task = self._task
        self._ahead.prefix = prefix

    async def _async_read_early(self) -> None:
        """Read the prefix, unless it is what the server has read last; again later if a turn or a failure ends this."""
        self._async_plan(seconds=IDLE)
        plan = self._timer
        prefix = await self._async_prefix()
        if not self._ahead.known or self._ahead.known[-1][0] != prefix:
            self._begin(prefix)
            began = time.monotonic()
            await self._async_send(prefix)
            now = time.monotonic()
            self._rests_until = now + max(READ_FOR, _REST * (now - began))
        if (
            self._timer is plan
            and self._ahead.known
            and self._ahead.known[-1][0] == prefix
        ):
            self._end_plan()  # and not one that a change of the home has made meanwhile

    async def _async_send(self, prefix: Prefix | None) -> None:
        """Have the service read a prefix; without one, only open a connection."""
        try:
            async with asyncio.timeout(_LONGEST):
                if prefix is None:
                    await self._model.provider.connect()
                else:
                    model, instructions, tools = prefix
                    began = time.monotonic()
                    await self._model.provider.prefill(
                        CompletionRequest(
                            instructions,
                            (UserMessage("Hi"),),
                            tools,
                        )
                    )
                    self._ahead.note(prefix)
                    self._ahead.results[model] = "read"
                    self._ahead.seconds[model] = max(
                        time.monotonic() - began, self._ahead.seconds.get(model, 0.0)
                    )
        except (ProviderError, TimeoutError) as error:
            self._ahead.results[self._settings.model] = type(error).__name__
            LOGGER.debug(
                "%s was not warmed up: %s",
                self._model.agent.title,
                type(error).__name__,
            )
