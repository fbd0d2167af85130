"""What the next words after a question are: a yes, a no, the PIN, or something else.

Knows questions, words, and where tries to say a PIN are counted. Must not know how a question is asked, or what becomes
of its answer. What was said is compared, and kept nowhere: `turns/pin_redaction.py` takes it from everybody else.
"""

from dataclasses import dataclass
from typing import assert_never

from homeassistant.core import Context, HomeAssistant

from ..agent.consent.answers import Answer, QuestionContext, understand_answer, understood_language
from ..agent.consent.pin import PinHash
from ..agent.consent.pin_detection import may_be_pin
from ..agent.consent.pin_guard import Locked
from ..agent.consent.spoken_digits import spoken_digits
from ..approvals.pin_tries import Right, Wrong, async_get_pin_tries, async_try_scope
from ..approvals.questions import Question


@dataclass(frozen=True, slots=True)
class Agreed:
    """It shall be done."""

    with_pin: bool


@dataclass(frozen=True, slots=True)
class Declined:
    """It shall not be done."""


@dataclass(frozen=True, slots=True)
class WrongPin:
    """A PIN was said, and it is another one."""

    tries_left: int
    """0 if none is listened to for ten minutes now."""


@dataclass(frozen=True, slots=True)
class PinLocked:
    """A PIN was said after too many wrong ones, and was not even compared."""

    seconds_left: float


@dataclass(frozen=True, slots=True)
class PinMissing:
    """A plain yes, where the PIN has to be said: to be asked for."""


@dataclass(frozen=True, slots=True)
class PinUnclear:
    """Something like a PIN that cannot be understood: to be asked for again. It took no try."""


@dataclass(frozen=True, slots=True)
class PinNotNeeded:
    """A PIN, where a yes is enough: the question is to be asked again, for it was perhaps taken for another."""


@dataclass(frozen=True, slots=True)
class TooLate:
    """A yes, a no or a PIN to a question that has run out, or can be agreed to no more as there is no PIN any more."""


@dataclass(frozen=True, slots=True)
class SomethingElse:
    """No answer: a new request. There is no PIN in it, so a model may read it."""


type Reading = (
    Agreed | Declined | WrongPin | PinLocked | PinMissing | PinUnclear | PinNotNeeded | TooLate | SomethingElse
)


async def async_read_answer(  # noqa: PLR0913, PLR0917  # each of these alone changes what an answer is
    hass: HomeAssistant,
    question: Question,
    text: str,
    language: str,
    asked: QuestionContext,
    pin: PinHash | None,
    is_late: bool,  # noqa: FBT001  # it stands beside the question that it tells of
) -> Reading:
    """Tell what words are, spoken where `question` was asked: `text` as it was said, in `language`.

    `asked` is what the question named; `pin` that of the agent, of which one of its tries is taken if the words are a
    PIN and the question needs one. `is_late` tells that the question has run out.
    """
    answer = understand_answer(text, understood_language(language), asked)
    knows_pin = question.needs_pin or pin is not None
    is_pin = knows_pin and may_be_pin(text, language, asked, is_asked_for=question.needs_pin)
    if answer is Answer.OTHER and not is_pin:
        return SomethingElse()
    if is_late:
        return TooLate()
    if answer is Answer.NO:
        return Declined()
    if not question.needs_pin:
        return Agreed(with_pin=False) if answer is Answer.YES else PinNotNeeded()
    if pin is None:
        return TooLate()
    if answer is Answer.YES:
        return PinMissing()
    digits = spoken_digits(text, understood_language(language), asked)
    return PinUnclear() if digits is None else await _async_compare(hass, question, pin, digits)


async def _async_compare(hass: HomeAssistant, question: Question, pin: PinHash, digits: str) -> Reading:
    device_id = None if _is_of_user(question.context) else question.scope.device_id
    place = async_try_scope(hass, question.scope.agent_id, device_id)
    match await async_get_pin_tries(hass).async_try(place, pin, digits):
        case Right():
            return Agreed(with_pin=True)
        case Wrong(tries_left):
            return WrongPin(tries_left)
        case Locked(seconds_left):
            return PinLocked(seconds_left)
        case unreachable:
            assert_never(unreachable)


def _is_of_user(context: Context) -> bool:
    """Tell whether a user of Home Assistant speaks, who can say that they are at any device.

    A person who is known by the satellite speaks in a child of its context (`speakers.speaker_context`).
    """
    return context.user_id is not None and context.parent_id is None
