"""Resumes conversations that Home Assistant no longer holds: after a restart, or later if the owner allows it.

Only turns with the same agent are resumed, by the same person or, for unknown speakers,
at the same device.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from homeassistant.components.conversation import ChatLog
from homeassistant.config_entries import ConfigEntry, ConfigSubentry
from homeassistant.core import HomeAssistant
from homeassistant.helpers.chat_session import CONVERSATION_TIMEOUT
from homeassistant.util import dt as dt_util
from homeassistant.util.ulid import ulid_to_bytes_or_none
from lru import LRU

from ..agent.transcript import repair
from ..const import LOGGER, home_singleton
from ..history.store.query import Selection
from ..history.store.records import StoredTurn, StoreUnavailable
from ..history.stores import async_get_histories
from ..people.speakers import Asking, Speaker
from ..settings.agent import AgentSettings
from ..settings.rules import async_get_home_rules
from .chat_log import drop_before, is_fresh, put_before

if TYPE_CHECKING:  # imports SQLAlchemy, which is done in a thread
    from ..history.store.history_store import HistoryStore

_READ_TIMEOUT: Final = 0.5
"""Seconds that a turn waits for earlier messages; after that, it runs without them."""
_MOST_TURNS: Final = 200
"""Turns of a conversation that are read, the newest ones."""
_MOST_THREADS: Final = 200
"""Conversations per home in the few minutes for which Home Assistant keeps them."""
_SECONDS: Final = 60.0
"""Seconds of a minute."""


@dataclass(frozen=True, slots=True)
class Thread:
    """A conversation as stored in the history, under whichever ids Home Assistant gave to its parts."""

    id: str
    """Id of its first part."""
    is_cut: bool = False
    """Whether the conversation has messages that the ChatLog lacks."""
    temperatures: dict[tuple[str, str], float] = field(
        default_factory=dict, compare=False
    )
    """Target temperatures before outside content entered the conversation and a temperature was changed without
    approval.
    """
    notices: set[str] = field(
        default_factory=set,
        compare=False,
    )
    """Keys of sentences that are said once in a conversation, and were."""


type _Threads = LRU[tuple[str, str], Thread]

_threads: Final[Callable[[HomeAssistant], _Threads]] = home_singleton(
    "threads", lambda _: LRU(_MOST_THREADS)
)
"""Returns recent conversations by agent and by Home Assistant's conversation id.

They outlive the entry of the agent, which may be reloaded during a conversation.
"""


type _Earlier = tuple[tuple[StoredTurn, ...], bool]
"""The turns of a speaker in a conversation, at least one, and whether there were more."""


@dataclass(frozen=True, slots=True)
class Continuity:
    """Finds the conversation to which a turn of one agent belongs."""

    hass: HomeAssistant
    entry: ConfigEntry
    subentry: ConfigSubentry
    agent_id: str
    """Entity id."""
    settings: AgentSettings

    async def async_resume(
        self, asked_for: str | None, speaker: Speaker, chat_log: ChatLog
    ) -> Thread:
        """Return the conversation of a turn, and add to the ChatLog the messages that Home Assistant no longer holds.

        `asked_for` is the conversation id that the request names.
        """
        threads = _threads(self.hass)
        place = (self.subentry.subentry_id, chat_log.conversation_id)
        if speaker.is_guest:
            drop_before(
                chat_log,
                async_get_home_rules(self.hass).current.guests_since,
            )
        # A client that chooses its ids uses them again after Home Assistant has dropped
        # the conversation.
        thread = threads.get(place)
        if thread is None or is_fresh(chat_log):
            found = None
            if not speaker.is_guest:
                found = await self._async_find(
                    asked_for, speaker, chat_log, is_new=thread is None
                )
            threads[place] = thread = found or Thread(chat_log.conversation_id)
        return thread

    def thread_of(self, conversation_id: str) -> Thread:
        """Return the conversation that contains a recent conversation id; an unknown id begins a new one."""
        place = self.subentry.subentry_id, conversation_id
        return _threads(self.hass).setdefault(place, Thread(conversation_id))

    async def _async_find(
        self,
        asked_for: str | None,
        speaker: Speaker,
        chat_log: ChatLog,
        *,
        is_new: bool,
    ) -> Thread | None:
        """Return the earlier conversation that this turn resumes, if any. If none can be, the history is not read."""
        if not (
            self.settings.keep_history and self._may_any_resume() and is_fresh(chat_log)
        ):
            return None
        has_new_id = (
            is_new
            and asked_for == chat_log.conversation_id
            and _is_given(chat_log.conversation_id)
        )
        if has_new_id:
            asked_for = None  # no message was ever stored under it
        if not asked_for and _turns_of(speaker) is None:
            return None
        try:
            async with asyncio.timeout(_READ_TIMEOUT):
                store = await async_get_histories(self.hass).async_open(self.entry)
                if store is None or store.state.trouble is not None:
                    return None
                earlier = await self._async_earlier(
                    store, asked_for, speaker, has_new_id=has_new_id
                )
        except (StoreUnavailable, TimeoutError) as error:
            LOGGER.debug(
                "%s begins anew, because the history does not answer: %s",
                self.agent_id,
                error,
            )
            return None
        except Exception:  # noqa: BLE001  # no fault of the history may cost the person an answer
            LOGGER.exception(
                "%s begins anew, because the history cannot be read", self.agent_id
            )
            return None
        if earlier is None:
            return None
        turns, is_cut = earlier
        messages = repair(message for turn in turns for message in turn.messages)
        put_before(chat_log, messages, self.agent_id)
        return Thread(turns[-1].origin.conversation_id, is_cut)

    async def _async_earlier(
        self,
        store: HistoryStore,
        asked_for: str | None,
        speaker: Speaker,
        *,
        has_new_id: bool,
    ) -> _Earlier | None:
        """Return the turns of the requested conversation, else those of the last one.

        A pipeline replaces an unknown id before it calls an agent: with `has_new_id`,
        the dialog may be new or may have been open before a restart.
        """
        if asked_for:
            earlier = await self._async_theirs(
                store,
                asked_for,
                speaker,
            )
            if earlier and self._goes_on(earlier[0][-1].ended_at):
                return earlier
        theirs = _turns_of(speaker)
        if theirs is None:
            return None
        longest = max(
            CONVERSATION_TIMEOUT.total_seconds(),
            self.settings.continue_minutes * _SECONDS,
        )
        last = await store.last_turn(
            replace(theirs, agent=self.subentry.subentry_id), longest
        )
        if last is None:
            return None
        # A satellite never names its conversation.
        may_be_open = theirs.device_id is not None or (
            has_new_id and _is_of_dialog(last)
        )
        if not (may_be_open and self._goes_on(last.ended_at)) and not self._is_recent(
            last.ended_at
        ):
            return None
        return await self._async_theirs(
            store,
            last.origin.conversation_id,
            speaker,
        )

    async def _async_theirs(
        self, store: HistoryStore, conversation_id: str, speaker: Speaker
    ) -> _Earlier | None:
        """Return the turns of the current speaker in a conversation; others may have used the same id."""
        turns = await store.turns(conversation_id, _MOST_TURNS)
        theirs = tuple(turn for turn in turns if self._is_theirs(turn, speaker))
        if theirs:
            return (theirs, len(turns) == _MOST_TURNS)
        return None

    def _may_any_resume(self) -> bool:
        """Return whether any stored conversation can be resumed now."""
        forgotten_at = (
            dt_util.utcnow().timestamp() - CONVERSATION_TIMEOUT.total_seconds()
        )
        return (
            self.settings.continue_minutes > 0
            or forgotten_at < async_get_histories(self.hass).began_at
        )

    def _goes_on(self, ended_at: float) -> bool:
        """Return whether a conversation would be open without the restart, or is resumed by the owner's setting."""
        began_at = async_get_histories(self.hass).began_at
        now = dt_util.utcnow().timestamp()
        by_restart = (
            ended_at < began_at
            and abs(now - ended_at) <= CONVERSATION_TIMEOUT.total_seconds()
        )
        return by_restart or self._is_recent(ended_at)

    def _is_recent(self, ended_at: float) -> bool:
        return (
            abs(dt_util.utcnow().timestamp() - ended_at)
            <= self.settings.continue_minutes * _SECONDS
        )

    def _is_theirs(
        self,
        turn: StoredTurn,
        speaker: Speaker,
    ) -> bool:
        """Return whether a turn is by the current speaker and with this agent."""
        origin = turn.origin
        if (
            origin.agent != self.subentry.subentry_id
            or origin.person_id != speaker.person_id
        ):
            return False
        return speaker.person_id is not None or origin.device_id == speaker.device_id


def _is_given(conversation_id: str) -> bool:
    """Return whether an id is one that Home Assistant generates, for one conversation each."""
    return ulid_to_bytes_or_none(conversation_id) is not None


def _is_of_dialog(turn: StoredTurn) -> bool:
    """Return whether a person took a turn in an app or a browser, in a conversation without an id of their own."""
    origin = turn.origin
    return (
        origin.device_id is None
        and origin.caller is None
        and _is_given(origin.conversation_id)
    )


def _turns_of(speaker: Speaker) -> Selection | None:
    """Select the turns at the speaker's device, unless the device is unverified; else the turns of the person.

    Turns that a script takes in a person's name are never resumed: others may hear the
    answer.
    """
    if speaker.asking is not Asking.PERSON:
        return None
    if speaker.sure_device_id is not None:
        return Selection(device_id=speaker.sure_device_id)
    if speaker.person_id is not None:
        return Selection(person_id=speaker.person_id)
    return None
