"""Approval notifications: a question on phones, the answers given there, and its outcome on phones and satellites.

A phone with the companion app gets buttons, any other notify entity plain text. Buttons
need the phone's `notify.mobile_app_*` action, which is found through its entity.
Everything is sent in the background, so that no turn waits for it or fails because of
it.

Source of the keys of a phone's `data`:
https://companion.home-assistant.io/docs/notifications/notifications-basic and
https://companion.home-assistant.io/docs/notifications/actionable-notifications.
"""

import asyncio
import secrets
from collections.abc import Coroutine, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from homeassistant.components.notify import (
    ATTR_DATA,
    ATTR_MESSAGE,
    ATTR_TITLE,
    DOMAIN as NOTIFY_DOMAIN,
)
from homeassistant.components.notify.const import SERVICE_SEND_MESSAGE
from homeassistant.config_entries import ConfigEntry, ConfigEntryState
from homeassistant.const import ATTR_ENTITY_ID, CONF_WEBHOOK_ID
from homeassistant.core import Context, Event, HomeAssistant, callback
from homeassistant.helpers import entity_registry as er
from homeassistant.helpers.dispatcher import async_dispatcher_connect
from homeassistant.util import dt as dt_util
from lru import LRU

from ..agent.messages import JsonObject, JsonValue
from ..const import DOMAIN, LOGGER
from ..effects.device_intents import features_of
from ..home.entity_matches import device_name
from ..internals.mobile_app import notify_action
from ..records.turn_record import shown_text
from ..settings.rules import async_get_home_rules
from ..speech.sentences import Sentences, async_get_sentences
from ..speech.text import speakable
from .questions import (
    SIGNAL_QUESTION,
    AnswerRefusal,
    Question,
    QuestionUpdate,
    async_get_approvals,
    async_refusal,
)
from .review import ApprovalWay, CallState, GivenAnswer

EVENT_TAP: Final = "mobile_app_notification_action"
"""Fired when a button is tapped; `action` in its data is the action of the button."""

CLEAR: Final = "clear_notification"
"""The message that removes the notification with its tag."""

_APP: Final = "mobile_app"
_NO_TAG: Final = "\N{SINGLE LEFT-POINTING ANGLE QUOTATION MARK}"
_TIMEOUTS: Final = {
    NOTIFY_DOMAIN: 15.0,
    "assist_satellite": 60.0,
}
"""Seconds to send a notification, for which Home Assistant itself waits 10, or to make and play an announcement."""
_CAN_ANNOUNCE: Final = 1
"""Source: `AssistSatelliteEntityFeature.ANNOUNCE` (homeassistant.components.assist_satellite.const).

Importing it would load the dependencies of satellites in homes that have none.
"""

_MOST_KEPT: Final = 50
"""Questions whose outcome is kept, to show it after a late tap."""

OUTCOME_DATA: Final[Mapping[str, JsonValue]] = {
    "alert_once": True,
    "push": {
        "interruption-level": "passive",
        "sound": "none",
    },
}
"""The data of a notification that silently replaces one with the same tag."""

type _Notification = Mapping[str, JsonValue]
"""The data of a notify action; its `data` are for phones alone, where it replaces one with the same tag."""


@dataclass(frozen=True, slots=True)
class _NotificationTexts:
    """The notifications of one question. Each replaces the one before."""

    hass: HomeAssistant
    question: Question
    sentences: Sentences

    @property
    def _tag(self) -> JsonObject:
        return {"tag": f"{DOMAIN}_{self.question.id}"}

    def asking(
        self,
        yes: str,
        no: str,
    ) -> _Notification:
        """Return the question, with buttons that send `yes` and `no`. A PIN cannot be given by a button."""
        buttons: list[JsonValue] = [
            {
                "action": no,
                "title": self.sentences["notice_no"],
                "authenticationRequired": False,
            }
        ]
        lines = [self.question.text, self._asked_by()]
        if self.question.needs_pin or self.question.options:
            lines.append(
                self.sentences[
                    "notice_pin" if self.question.needs_pin else "notice_needs_choice"
                ]
            )
        else:
            buttons.insert(
                0,
                {
                    "action": yes,
                    "title": self.sentences["notice_yes"],
                    "authenticationRequired": True,
                },
            )
        seconds = self.question.pending.expires_at - dt_util.utcnow().timestamp()
        urgent: dict[str, JsonValue] = {
            "actions": buttons,
            # Android: deliver now or never, and remove it once nobody can answer any
            # more
            "ttl": 0,
            "timeout": max(round(seconds), 1),
            # iOS
            "push": {"interruption-level": "time-sensitive"},
        }
        return self._notification(
            "\n".join(line for line in lines if line),
            urgent,
        )

    def refusing(self, refusal: AnswerRefusal) -> _Notification:
        """Return the notification that an answer was not accepted."""
        key = "pin" if refusal is AnswerRefusal.NEEDS_PIN else refusal
        return self._after(self.sentences[f"notice_{key}"])

    async def async_outcome(self, update: QuestionUpdate) -> _Notification:
        """Return the outcome of the question, or a command to remove its notification."""
        if update.state is CallState.EXPIRED:
            return self._after(self.sentences["notice_expired"])
        answer = update.question.answer
        if answer is None or answer.channel is ApprovalWay.VOICE:
            return {
                ATTR_MESSAGE: CLEAR,
                ATTR_DATA: self._tag,
            }
        key = "notice_approved" if answer.approved else "notice_denied"
        user = await self.hass.auth.async_get_user(answer.user_id or "")
        if user and user.name:
            sentence = self.sentences[f"{key}_by"].format(name=user.name)
        else:
            sentence = self.sentences[key]
        return self._after(f"{sentence} {update.speech}".strip())

    async def async_send(
        self, recipient: _Recipient, notification: _Notification
    ) -> None:
        """Send a notification. Call it in the order of the recipient."""
        context = _below(self.question)
        await async_send(self.hass, recipient.entity_id, notification, context)

    def _after(self, words: str) -> _Notification:
        return self._notification(
            f"{self.question.text}\n{words}",
            OUTCOME_DATA,
        )

    def _notification(
        self, message: str, data: Mapping[str, JsonValue]
    ) -> _Notification:
        agent = self.hass.states.get(self.question.scope.agent_id)
        android = {
            "channel": self.sentences["notice_channel"],
            "importance": "high",
            "priority": "high",
        }
        return {
            ATTR_TITLE: agent.name if agent else "Chatterbox",
            ATTR_MESSAGE: shown_text(message),
            ATTR_DATA: {
                **self._tag,
                "group": DOMAIN,
                **android,
                **data,
            },
        }

    def _asked_by(self) -> str:
        """Return the speaker and the place, as far as they are known."""
        scope = self.question.scope
        satellite = self.hass.states.get(scope.satellite_id or "")
        if satellite:
            place = satellite.name
        else:
            place = device_name(self.hass, scope.device_id)
        return " · ".join(filter(None, (self.question.speaker.name, place)))


async def _async_texts(
    hass: HomeAssistant,
    question: Question,
) -> _NotificationTexts:
    return _NotificationTexts(
        hass, question, await async_get_sentences(hass, question.language)
    )


@dataclass(frozen=True, slots=True)
class _Recipient:
    """A notify entity that a question was sent to."""

    entity_id: str
    user_id: str | None
    """The owner of the phone; None if it is no phone, which can neither answer nor be updated."""
    yes: str = field(default_factory=secrets.token_hex)
    no: str = field(default_factory=secrets.token_hex)
    """The actions of its buttons, which only this phone knows, so that no other phone can answer."""
    order: asyncio.Lock = field(default_factory=asyncio.Lock)
    """Keeps its notifications in order."""


@dataclass(slots=True)
class _SentQuestion:
    """The recipients of a question, and its latest state."""

    update: QuestionUpdate
    recipients: Sequence[_Recipient]


class ApprovalNotifications:
    """The approval notifications of one loaded entry, from `async_start` until the entry is unloaded."""

    def __init__(
        self,
        hass: HomeAssistant,
        entry: ConfigEntry,
    ) -> None:
        """Send the questions of the agents of `entry` to the entities that the rules of the home name."""
        self._hass = hass
        self._entry = entry
        self._sent: LRU[str, _SentQuestion] = LRU(_MOST_KEPT)
        """By question ID."""

    def async_start(self) -> None:
        """Listen for questions and taps."""
        self._entry.async_on_unload(
            async_dispatcher_connect(
                self._hass,
                SIGNAL_QUESTION,
                self._async_follow,
            )
        )
        self._entry.async_on_unload(
            self._hass.bus.async_listen(EVENT_TAP, self._async_take_tap)
        )

    @callback
    def _async_follow(self, update: QuestionUpdate) -> None:
        if update.state is CallState.WAITING:
            self._async_begin(update)
        elif sent := self._sent.get(update.question.id):
            sent.update = update
            for one in sent.recipients:
                if one.user_id is not None:
                    # This is not a background task: an entry that is unloaded removes
                    # its questions first.
                    name = f"chatterbox outcome of a question to {one.entity_id}"
                    _ = self._entry.async_create_task(
                        self._hass, self._async_show_outcome(sent, one), name
                    )
        if (
            update.state is CallState.CONCLUDED
            and self._entity_ids_of(update.question) is not None
        ):
            self._async_announce_outcome(update)

    @callback
    def _async_begin(self, update: QuestionUpdate) -> None:
        entity_ids = self._entity_ids_of(update.question)
        if not entity_ids:
            return
        phones = {
            entity_id: phone_of(self._hass, entity_id) for entity_id in entity_ids
        }
        recipients = [
            _Recipient(entity_id, phone[1] if phone else None)
            for entity_id, phone in phones.items()
        ]
        sent = self._sent[update.question.id] = _SentQuestion(
            update,
            recipients,
        )
        for one in recipients:
            self._in_background(
                self._async_ask(
                    sent,
                    one,
                ),
                f"question to {one.entity_id}",
            )

    def _entity_ids_of(self, question: Question) -> Sequence[str] | None:
        """Return the notify entities of a question; None if its agent belongs to another entry."""
        entity = er.async_get(self._hass).async_get(question.scope.agent_id)
        if (
            entity.config_subentry_id if entity else None
        ) not in self._entry.subentries:
            return None
        if question.is_personal:
            return phones_of(self._hass, question.speaker.user_id)
        return async_get_home_rules(self._hass).current.notify

    def _async_announce_outcome(self, update: QuestionUpdate) -> None:
        """Announce the outcome on the satellite of the question, if it supports that."""
        satellite_id = update.question.scope.satellite_id
        if satellite_id and update.speech and can_announce(self._hass, satellite_id):
            words = speakable(update.speech, update.question.language)
            data = {
                ATTR_ENTITY_ID: satellite_id,
                "message": words,
            }
            announcing = _async_call(
                self._hass, satellite_id, "announce", data, _below(update.question)
            )
            self._in_background(announcing, f"outcome of a question at {satellite_id}")

    async def _async_ask(
        self,
        sent: _SentQuestion,
        recipient: _Recipient,
    ) -> None:
        texts = await _async_texts(self._hass, sent.update.question)
        async with recipient.order:
            if sent.update.state is CallState.WAITING:
                asking = texts.asking(recipient.yes, recipient.no)
                await texts.async_send(recipient, asking)

    async def _async_show_outcome(
        self, sent: _SentQuestion, recipient: _Recipient
    ) -> None:
        texts = await _async_texts(self._hass, sent.update.question)
        async with recipient.order:
            await texts.async_send(recipient, await texts.async_outcome(sent.update))

    @callback
    def _async_take_tap(self, event: Event) -> None:
        """Answer a question, if the button belongs to one and the tap comes from the phone it was sent to."""
        action = event.data.get("action")
        user_id = event.context.user_id
        for sent in self._sent.values():
            for recipient in sent.recipients:
                if action not in (recipient.yes, recipient.no):
                    continue
                if user_id is None or user_id != recipient.user_id:
                    LOGGER.warning(
                        "Ignored a tap that did not come from the user of %s",
                        recipient.entity_id,
                    )
                    return
                tapped = self._async_answer(
                    sent, recipient, event, approved=action == recipient.yes
                )
                self._in_background(
                    tapped,
                    f"answer from {recipient.entity_id}",
                )
                return

    async def _async_answer(
        self,
        sent: _SentQuestion,
        recipient: _Recipient,
        event: Event,
        *,
        approved: bool,
    ) -> None:
        question = sent.update.question
        refusal = await async_refusal(
            self._hass, question, event.context, approved=approved
        )
        if sent.update.state is not CallState.WAITING:
            await self._async_show_outcome(sent, recipient)
        elif refusal is not None:
            texts = await _async_texts(self._hass, question)
            async with recipient.order:
                await texts.async_send(recipient, texts.refusing(refusal))
        else:
            answer = GivenAnswer(
                approved, way=ApprovalWay.NOTIFICATION, user_id=recipient.user_id
            )
            try:
                await async_get_approvals(self._hass).answer(
                    question.id,
                    answer,
                )
            except Exception:  # noqa: BLE001  # nobody waits for what this task returns
                LOGGER.exception(
                    "Could not carry out the answer from %s", recipient.entity_id
                )

    @callback
    def _in_background(
        self,
        work: Coroutine[None, None, None],
        name: str,
    ) -> None:
        _ = self._entry.async_create_background_task(
            self._hass, work, f"chatterbox {name}"
        )


def _below(question: Question) -> Context:
    """Return a context without a user: sending does not depend on the permissions of the person who asked."""
    return Context(parent_id=question.context.id)


def can_announce(
    hass: HomeAssistant,
    satellite_id: str | None,
) -> bool:
    """Return whether a satellite can announce something."""
    state = hass.states.get(satellite_id or "")
    return bool(features_of(state) & _CAN_ANNOUNCE)


def phone_of(
    hass: HomeAssistant,
    entity_id: str,
) -> tuple[str, str] | None:
    """Return the notify action and the user of a phone; None if an entity is no phone, or is not connected."""
    entity = er.async_get(hass).async_get(entity_id)
    if entity is None or entity.platform != _APP or entity.config_entry_id is None:
        return None
    entry = hass.config_entries.async_get_entry(entity.config_entry_id)
    if entry is None or entry.state is not ConfigEntryState.LOADED:
        return None
    from homeassistant.components.mobile_app.const import CONF_USER_ID  # noqa: PLC0415  # loads the dependencies of the companion app

    action = notify_action(hass, entry.data[CONF_WEBHOOK_ID])
    if action:
        return (action, entry.data[CONF_USER_ID])
    return None


def phones_of(
    hass: HomeAssistant,
    user_id: str | None,
) -> list[str]:
    """Return the notify entities of the phones of a user that are connected."""
    if not user_id:
        return []
    return [
        one
        for one in er.async_get(hass).entities
        if one.startswith(f"{NOTIFY_DOMAIN}.")
        and (phone := phone_of(hass, one))
        and phone[1] == user_id
    ]


async def async_send(
    hass: HomeAssistant,
    entity_id: str,
    notification: _Notification,
    context: Context,
) -> None:
    """Send a notification, as plain text to anything but a phone. A failure is only logged."""
    entity = er.async_get(hass).async_get(entity_id)
    if entity is None or entity.platform != _APP:
        words = {key: text for key, text in notification.items() if key != ATTR_DATA}
        await _async_call(
            hass,
            entity_id,
            SERVICE_SEND_MESSAGE,
            {
                ATTR_ENTITY_ID: entity_id,
                **words,
            },
            context,
        )
    elif phone := phone_of(hass, entity_id):
        # Android renders HTML, with which a name could hide the question.
        content = {
            key: one.replace("<", _NO_TAG) if isinstance(one, str) else one
            for key, one in notification.items()
        }
        await _async_call(
            hass,
            entity_id,
            phone[0],
            content,
            context,
        )
    else:
        LOGGER.warning(
            "Cannot send a question to %s: the phone is not connected to Home Assistant",
            entity_id,
        )


async def _async_call(
    hass: HomeAssistant,
    entity_id: str,
    service: str,
    data: Mapping[str, object],
    context: Context,
) -> None:
    """Call a service of the domain of an entity. A failure is only logged."""
    domain = entity_id.partition(".")[0]
    try:
        async with asyncio.timeout(_TIMEOUTS[domain]):
            await hass.services.async_call(
                domain, service, dict(data), blocking=True, context=context
            )
    except Exception as error:  # noqa: BLE001  # any integration may raise anything
        LOGGER.warning(
            "Could not notify %s: %s", entity_id, str(error) or type(error).__name__
        )
