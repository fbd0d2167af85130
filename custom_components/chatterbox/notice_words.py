"""What a phone shows of a question: the question itself, why an answer was not taken, and what became of it.

Knows questions and the sentences of a language. Must not know how a notice gets to a phone, or who may answer.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import assert_never

from homeassistant.core import HomeAssistant
from homeassistant.helpers import device_registry as dr
from homeassistant.util import dt as dt_util

from .answer_rights import Refusal
from .approvals import Channel, Question, QuestionNews, QuestionState
from .const import DOMAIN
from .error_bridge import async_get_sentences
from .notify_targets import Button, Notice
from .turn_report import shown_text


async def async_get_words(hass: HomeAssistant, question: Question) -> NoticeWords:
    """Load the words for a question, in its language."""
    return NoticeWords(hass, question, await async_get_sentences(hass, question.language))


@dataclass(frozen=True, slots=True)
class NoticeWords:
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

    async def async_outcome(self, news: QuestionNews) -> Notice | None:
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
        agent = self.hass.states.get(self.question.spot.agent_id)
        title = agent.name if agent else "Chatterbox"
        return Notice(self.tag, title, shown_text(message), self.sentences["notice_channel"], buttons, seconds)

    def _asked_by(self) -> str:
        """Return who asks, and where, as far as it is known: whoever is far away has to know."""
        spot = self.question.spot
        satellite = self.hass.states.get(spot.satellite_id) if spot.satellite_id else None
        device = dr.async_get(self.hass).async_get(spot.device_id) if spot.device_id else None
        at_device = (device.name_by_user or device.name) if device else None
        return " · ".join(
            part for part in (self.question.speaker.name, satellite.name if satellite else at_device) if part
        )

    async def _async_name_of(self, user_id: str | None) -> str | None:
        user = await self.hass.auth.async_get_user(user_id) if user_id else None
        return user.name if user else None
