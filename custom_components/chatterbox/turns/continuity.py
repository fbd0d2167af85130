"""Resuming a conversation that Home Assistant has forgotten: after a restart, or later if the owner allows it.

Only turns of the same person, or of nobody in particular at the same device, with the same agent are resumed.
"""

import asyncio
from collections import OrderedDict
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from homeassistant.components.conversation import ChatLog
from homeassistant.config_entries import ConfigEntry, ConfigSubentry
from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers.chat_session import CONVERSATION_TIMEOUT
from homeassistant.util import dt as dt_util
from homeassistant.util.ulid import ulid_to_bytes_or_none

from ..agent.history.query import Selection
from ..agent.history.records import StoredTurn, StoreUnavailable
from ..agent.transcript import repair
from ..const import LOGGER
from ..data import singleton
from ..history.stores import async_get_histories
from ..people.speakers import Asking, Speaker
from ..settings.agent import AgentSettings
from .chat_log import is_fresh, put_before

if TYPE_CHECKING:  # it imports SQLAlchemy, which is done in a thread
    from ..agent.history.store import HistoryStore

_READ_TIMEOUT: Final = 0.5
"""Seconds that a person may wait for what was said earlier; later, the agent goes on without it."""
_MOST_TURNS: Final = 200
"""Of a conversation; of a longer one, the last."""
_MOST_THREADS: Final = 200
"""In one home, in the few minutes for which Home Assistant remembers a conversation."""
_SECONDS: Final = 60.0
"""Of a minute."""


@dataclass(frozen=True, slots=True)
class Thread:
    """A conversation as the history has it, whatever id Home Assistant gave to its parts."""

    id: str
    """That of its first part."""
    is_cut: bool = False
    """More was said in it than is in the ChatLog."""
    temperatures: dict[tuple[str, str], float] = field(default_factory=dict, compare=False)
    """What was set before content from outside was in it and a temperature was moved unasked."""


@singleton
def _threads(_hass: HomeAssistant) -> OrderedDict[tuple[str, str], Thread]:
    """Return recent conversations by agent and by the id that Home Assistant has given to them.

    They outlive the agent's entry, which is reloaded in the middle of conversations.
    """
    return OrderedDict()


def _forget_oldest(threads: OrderedDict[tuple[str, str], Thread]) -> None:
    while len(threads) > _MOST_THREADS:
        threads.popitem(last=False)


type _Earlier = tuple[tuple[StoredTurn, ...], bool]
"""The turns of a speaker in a conversation, at least one, and whether there were more."""


@dataclass(frozen=True, slots=True)
class Continuity:
    """Finds out which conversation the words of a turn belong to, for one agent."""

    hass: HomeAssistant
    entry: ConfigEntry
    subentry: ConfigSubentry
    agent_id: str
    """Entity id."""
    settings: AgentSettings

    async def async_resume(self, asked_for: str | None, speaker: Speaker, chat_log: ChatLog) -> Thread:
        """Return the conversation of a turn, and put into the ChatLog what Home Assistant has forgotten of it.

        `asked_for` is the id of the conversation in which somebody wants to say something.
        """
        threads, place = _threads(self.hass), (self.subentry.subentry_id, chat_log.conversation_id)
        # Who picks an id of their own speaks under it again when Home Assistant has forgotten what was said.
        if (thread := threads.get(place)) is None or is_fresh(chat_log):
            found = await self._async_find(asked_for, speaker, chat_log, is_new=thread is None)
            threads[place] = thread = found or Thread(chat_log.conversation_id)
        threads.move_to_end(place)
        _forget_oldest(threads)
        return thread

    @callback
    def thread_of(self, conversation_id: str) -> Thread:
        """Return what a conversation that was spoken in lately is a part of; any other is a new one."""
        threads = _threads(self.hass)
        thread = threads.setdefault((self.subentry.subentry_id, conversation_id), Thread(conversation_id))
        _forget_oldest(threads)
        return thread

    async def _async_find(
        self, asked_for: str | None, speaker: Speaker, chat_log: ChatLog, *, is_new: bool
    ) -> Thread | None:
        """Return the earlier conversation that goes on, if one does; where none can, nobody waits for the history."""
        if not (self.settings.keep_history and self._may_any_resume() and is_fresh(chat_log)):
            return None
        has_new_id = is_new and asked_for == chat_log.conversation_id and _is_given(chat_log.conversation_id)
        if has_new_id:
            asked_for = None  # nothing was ever said in it
        if not asked_for and _turns_of(speaker) is None:
            return None
        try:
            async with asyncio.timeout(_READ_TIMEOUT):
                store = await async_get_histories(self.hass).async_open(self.entry)
                if store is None or store.state.trouble is not None:
                    return None
                earlier = await self._async_earlier(store, asked_for, speaker, has_new_id=has_new_id)
        except (StoreUnavailable, TimeoutError) as error:
            LOGGER.debug("%s begins anew, because the history does not answer: %s", self.agent_id, error)
            return None
        except Exception:  # noqa: BLE001  # whatever is wrong with what was said earlier, a person waits for an answer
            LOGGER.exception("%s begins anew, because the history cannot be read", self.agent_id)
            return None
        if earlier is None:
            return None
        turns, is_cut = earlier
        put_before(chat_log, repair(message for turn in turns for message in turn.messages), self.agent_id)
        return Thread(turns[-1].origin.conversation_id, is_cut)

    async def _async_earlier(
        self, store: HistoryStore, asked_for: str | None, speaker: Speaker, *, has_new_id: bool
    ) -> _Earlier | None:
        """Return what was said in the conversation that is asked for, else in the last one.

        A pipeline replaces an id that it has forgotten before an agent is asked: a dialog that was open before a
        restart `has_new_id`, as a new one has.
        """
        if asked_for:
            earlier = await self._async_theirs(store, asked_for, speaker)
            if earlier and self._goes_on(earlier[0][-1].ended_at):
                return earlier
        if (theirs := _turns_of(speaker)) is None:
            return None
        longest = max(CONVERSATION_TIMEOUT.total_seconds(), self.settings.continue_minutes * _SECONDS)
        last = await store.last_turn(replace(theirs, agent=self.subentry.subentry_id), longest)
        if last is None:
            return None
        # A satellite never says which conversation it is in.
        may_be_open = theirs.device_id is not None or (has_new_id and _is_of_dialog(last))
        if not (may_be_open and self._goes_on(last.ended_at)) and not self._is_recent(last.ended_at):
            return None
        return await self._async_theirs(store, last.origin.conversation_id, speaker)

    async def _async_theirs(self, store: HistoryStore, conversation_id: str, speaker: Speaker) -> _Earlier | None:
        """Return what who speaks now has said in a conversation; others may have used the same id."""
        turns = await store.turns(conversation_id, _MOST_TURNS)
        theirs = tuple(turn for turn in turns if self._is_theirs(turn, speaker))
        return (theirs, len(turns) == _MOST_TURNS) if theirs else None

    def _may_any_resume(self) -> bool:
        """Tell whether anything that is stored can go on at this time."""
        forgotten_at = dt_util.utcnow().timestamp() - CONVERSATION_TIMEOUT.total_seconds()
        return self.settings.continue_minutes > 0 or forgotten_at < async_get_histories(self.hass).began_at

    def _goes_on(self, ended_at: float) -> bool:
        """Tell whether a conversation would go on if Home Assistant had not been restarted, or goes on by the owner."""
        began_at, now = async_get_histories(self.hass).began_at, dt_util.utcnow().timestamp()
        by_restart = ended_at < began_at and abs(now - ended_at) <= CONVERSATION_TIMEOUT.total_seconds()
        return by_restart or self._is_recent(ended_at)

    def _is_recent(self, ended_at: float) -> bool:
        return abs(dt_util.utcnow().timestamp() - ended_at) <= self.settings.continue_minutes * _SECONDS

    def _is_theirs(self, turn: StoredTurn, speaker: Speaker) -> bool:
        """Tell whether a turn was taken by who speaks now, and with this agent."""
        origin = turn.origin
        if origin.agent != self.subentry.subentry_id or origin.person_id != speaker.person_id:
            return False
        return speaker.person_id is not None or origin.device_id == speaker.device_id


def _is_given(conversation_id: str) -> bool:
    """Tell whether an id is one of those that Home Assistant gives, each to one conversation only."""
    return ulid_to_bytes_or_none(conversation_id) is not None


def _is_of_dialog(turn: StoredTurn) -> bool:
    """Tell whether a person took a turn in an app or a browser, in a conversation without an id of their own."""
    origin = turn.origin
    return origin.device_id is None and origin.caller is None and _is_given(origin.conversation_id)


def _turns_of(speaker: Speaker) -> Selection | None:
    """Select the turns at the speaker's device, unless it is only claimed, else those of the person.

    What a script says in somebody's name belongs to no conversation of theirs: others may hear the answer.
    """
    if speaker.asking is not Asking.PERSON:
        return None
    if speaker.sure_device_id is not None:
        return Selection(device_id=speaker.sure_device_id)
    return Selection(person_id=speaker.person_id) if speaker.person_id is not None else None
