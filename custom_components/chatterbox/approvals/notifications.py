"""Tells phones of the questions of an entry's agents, takes what is tapped there, and tells what became of a question.

Knows which notice belongs to which question. What a notice says stands in `approvals/notifications.py`, how it gets to
a phone in `approvals/notify_targets.py`, who may answer in `approvals/answer_rights.py`. Nothing here holds up a turn,
or breaks one: all is sent in the background.
"""

import asyncio
import secrets
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, assert_never

from homeassistant.config_entries import ConfigEntry
from homeassistant.core import Context, Event, HomeAssistant, callback
from homeassistant.helpers import device_registry as dr, entity_registry as er
from homeassistant.helpers.dispatcher import async_dispatcher_connect
from homeassistant.util import dt as dt_util

from ..agent.speech import speakable
from ..const import DOMAIN, LOGGER
from ..records.report import shown_text
from ..speech.sentences import async_get_sentences
from .answer_rights import Refusal, async_refusal
from .notify_targets import EVENT_TAP, Button, Notice, async_announce, async_clear, async_send, phone_of
from .questions import (
    SIGNAL_QUESTION,
    Channel,
    GivenAnswer,
    Question,
    QuestionState,
    QuestionUpdate,
    async_get_approvals,
)


async def async_get_words(hass: HomeAssistant, question: Question) -> NotificationTexts:
    """Load the words for a question, in its language."""
    return NotificationTexts(hass, question, await async_get_sentences(hass, question.language))


@dataclass(frozen=True, slots=True)
class NotificationTexts:
    """The notices of one question. All of them take the place of the one before."""

    hass: HomeAssistant
    question: Question
    sentences: Mapping[str, str]
    """Category `common` of a translation, by bare key."""

    @property
    def tag(self) -> str:
        """The same in all of them."""
        return f"{DOMAIN}_{self.question.id}"

    def asking(self, yes: str, no: str) -> Notice:
        """Ask. `yes` and `no` are what the buttons send; a PIN cannot be said by a button."""
        buttons = [Button(no, self.sentences["notice_no"])]
        lines = [self.question.text, self._asked_by()]
        if self.question.needs_pin:
            lines.append(self.sentences["notice_pin"])
        else:
            buttons.insert(0, Button(yes, self.sentences["notice_yes"], needs_unlocked_phone=True))
        seconds = self.question.pending.expires_at - dt_util.utcnow().timestamp()
        return self._notice("\n".join(line for line in lines if line), tuple(buttons), seconds)

    def refusing(self, refusal: Refusal) -> Notice:
        """Say why the answer of this phone was not taken."""
        match refusal:
            case Refusal.NEEDS_PIN:
                return self._after(self.sentences["notice_pin"])
            case Refusal.NEEDS_ADMIN:
                return self._after(self.sentences["notice_needs_admin"])
            case Refusal.NOT_IN_CONTROL:
                return self._after(self.sentences["notice_not_in_control"])
            case Refusal.UNKNOWN_USER:
                return self._after(self.sentences["notice_unknown_user"])
            case Refusal.OF_A_TURN:
                return self._after(self.sentences["notice_of_a_turn"])
            case _ as unreachable:
                assert_never(unreachable)

    async def async_outcome(self, news: QuestionUpdate) -> Notice | None:
        """Say what became of the question; None where there is nothing more to say, and the notice is to go."""
        answer = news.answer
        match news.state:
            case QuestionState.EXPIRED:
                return self._after(self.sentences["notice_expired"])
            case QuestionState.WAITING | QuestionState.DROPPED:
                return None
            case QuestionState.APPROVED | QuestionState.DENIED | QuestionState.CONCLUDED:
                if answer is None or answer.channel is Channel.VOICE:
                    return None
                key = "notice_approved" if answer.approved else "notice_denied"
                name = await self._async_name_of(answer.user_id)
                said = self.sentences[f"{key}_by"].format(name=name) if name else self.sentences[key]
                return self._after(f"{said} {news.speech}".strip())
            case _ as unreachable:
                assert_never(unreachable)

    def _after(self, words: str) -> Notice:
        return self._notice(f"{self.question.text}\n{words}")

    def _notice(self, message: str, buttons: tuple[Button, ...] = (), seconds: float | None = None) -> Notice:
        agent = self.hass.states.get(self.question.scope.agent_id)
        title = agent.name if agent else "Chatterbox"
        return Notice(self.tag, title, shown_text(message), self.sentences["notice_channel"], buttons, seconds)

    def _asked_by(self) -> str:
        """Return who asks, and where, as far as it is known: whoever is far away has to know."""
        scope = self.question.scope
        satellite = self.hass.states.get(scope.satellite_id) if scope.satellite_id else None
        device = dr.async_get(self.hass).async_get(scope.device_id) if scope.device_id else None
        at_device = (device.name_by_user or device.name) if device else None
        return " · ".join(
            part for part in (self.question.speaker.name, satellite.name if satellite else at_device) if part
        )

    async def _async_name_of(self, user_id: str | None) -> str | None:
        user = await self.hass.auth.async_get_user(user_id) if user_id else None
        return user.name if user else None


_MOST_KEPT: Final = 50
"""So many questions are kept in mind: whoever taps late is told what became of theirs."""


@dataclass(frozen=True, slots=True)
class _Told:
    """Somebody who is told of a question."""

    entity_id: str
    user_id: str | None
    """Whose phone it is; None for what is no phone, and can neither answer nor be told anything anew."""
    yes: str = field(default_factory=secrets.token_hex)
    no: str = field(default_factory=secrets.token_hex)
    """What the buttons send: known to this phone alone, so that nobody else answers, and no other question."""
    order: asyncio.Lock = field(default_factory=asyncio.Lock)
    """Notices are shown in the order in which they were meant."""


@dataclass(slots=True)
class _Notices:
    """Who was told of one question, and what became of it last."""

    news: QuestionUpdate
    told: Sequence[_Told]


type NotifiedBy = Callable[[str], Sequence[str] | None]
"""Returns the entities that are told of an agent's questions, by its subentry id; None for one of another entry."""


class ApprovalNotifications:
    """The notices of one loaded entry, from `async_start` until the entry is unloaded."""

    def __init__(self, hass: HomeAssistant, entry: ConfigEntry, notified_by: NotifiedBy) -> None:
        """Notify for the agents of `entry`; `notified_by` knows each of them by its subentry id."""
        self._hass = hass
        self._entry = entry
        self._notified_by = notified_by
        self._kept: dict[str, _Notices] = {}
        """By the id of the question, the oldest first."""

    @callback
    def async_start(self) -> None:
        """Follow questions, and what is tapped."""
        self._entry.async_on_unload(async_dispatcher_connect(self._hass, SIGNAL_QUESTION, self._async_follow))
        self._entry.async_on_unload(self._hass.bus.async_listen(EVENT_TAP, self._async_take_tap))

    @callback
    def _async_follow(self, news: QuestionUpdate) -> None:
        if news.state is QuestionState.WAITING:
            self._async_begin(news)
        elif notices := self._kept.get(news.question.id):
            notices.news = news
            for told in notices.told:
                if told.user_id is not None:
                    self._async_update(notices, told)
        if news.state is QuestionState.CONCLUDED and self._entity_ids_of(news.question) is not None:
            self._async_announce(news)

    @callback
    def _async_begin(self, news: QuestionUpdate) -> None:
        entity_ids = self._entity_ids_of(news.question)
        if not entity_ids:
            return
        phones = {entity_id: phone_of(self._hass, entity_id) for entity_id in entity_ids}
        told = [_Told(entity_id, phone.user_id if phone else None) for entity_id, phone in phones.items()]
        notices = self._kept[news.question.id] = _Notices(news, told)
        if len(self._kept) > _MOST_KEPT:
            del self._kept[next(iter(self._kept))]
        for one in told:
            self._in_background(self._async_ask(notices, one), f"question to {one.entity_id}")

    def _entity_ids_of(self, question: Question) -> Sequence[str] | None:
        """Return who is told of a question; None when its agent is not of this entry."""
        entity = er.async_get(self._hass).async_get(question.scope.agent_id)
        agent_id = entity.config_subentry_id if entity else None
        return self._notified_by(agent_id) if agent_id else None

    @callback
    def _async_update(self, notices: _Notices, told: _Told) -> None:
        """Tell a phone what became of a question.

        Not in the background: what an entry has asked is taken back before the entry is unloaded.
        """
        name = f"chatterbox news of a question to {told.entity_id}"
        _ = self._entry.async_create_task(self._hass, self._async_show_outcome(notices, told), name)

    @callback
    def _async_announce(self, news: QuestionUpdate) -> None:
        satellite_id = news.question.scope.satellite_id
        if satellite_id and news.speech:
            words = speakable(news.speech, news.question.language)
            announcing = async_announce(self._hass, satellite_id, words, _below(news.question))
            self._in_background(announcing, f"outcome of a question at {satellite_id}")

    async def _async_ask(self, notices: _Notices, told: _Told) -> None:
        question = notices.news.question
        words = await async_get_words(self._hass, question)
        async with told.order:
            if notices.news.state is QuestionState.WAITING:
                await async_send(self._hass, told.entity_id, words.asking(told.yes, told.no), _below(question))

    async def _async_show_outcome(self, notices: _Notices, told: _Told) -> None:
        question = notices.news.question
        words = await async_get_words(self._hass, question)
        async with told.order:
            notice = await words.async_outcome(notices.news)
            if notice is None:
                await async_clear(self._hass, told.entity_id, words.tag, _below(question))
            else:
                await async_send(self._hass, told.entity_id, notice, _below(question))

    @callback
    def _async_take_tap(self, event: Event) -> None:
        """Answer a question, if the button is one of ours, and if whoever tapped it has the phone that was shown it."""
        action, user_id = event.data.get("action"), event.context.user_id
        for notices in self._kept.values():
            for told in notices.told:
                if action not in (told.yes, told.no):
                    continue
                if user_id is None or user_id != told.user_id:
                    LOGGER.warning("A button was tapped by somebody to whom %s does not belong", told.entity_id)
                    return
                tapped = self._async_answer(notices, told, event, approved=action == told.yes)
                self._in_background(tapped, f"answer from {told.entity_id}")
                return

    async def _async_answer(self, notices: _Notices, told: _Told, event: Event, *, approved: bool) -> None:
        question = notices.news.question
        refusal = await async_refusal(self._hass, question, event.context, approved=approved)
        if notices.news.state is not QuestionState.WAITING:
            await self._async_show_outcome(notices, told)
        elif refusal is not None:
            words = await async_get_words(self._hass, question)
            async with told.order:
                await async_send(self._hass, told.entity_id, words.refusing(refusal), _below(question))
        else:
            answer = GivenAnswer(approved, Channel.NOTIFICATION, told.user_id)
            try:
                await async_get_approvals(self._hass).answer(question.id, answer)
            except Exception:  # noqa: BLE001  # nobody waits for what this task returns
                LOGGER.exception("What was answered on %s could not be carried out", told.entity_id)

    @callback
    def _in_background(self, work: Coroutine[None, None, None], name: str) -> None:
        _ = self._entry.async_create_background_task(self._hass, work, f"chatterbox {name}")


def _below(question: Question) -> Context:
    """Return a context of the house: whom it tells does not depend on what the person who asked may control."""
    return Context(parent_id=question.context.id)
