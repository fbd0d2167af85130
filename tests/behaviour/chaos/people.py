"""The people of the home: what they were asked, what they answer, and what they have agreed to.

Knows what is told of questions, and what a person would say. Must not know what an
answer is taken for: a yes is what a person means by it.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import Enum, auto
from random import Random
from typing import Final

from homeassistant.components.conversation import (
    AssistantContent,
    Content,
    ToolResultContent,
)
from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers.dispatcher import async_dispatcher_connect

from custom_components.chatterbox.approvals.questions import (
    SIGNAL_QUESTION,
    Question,
    QuestionUpdate,
)
from custom_components.chatterbox.approvals.review import CallState
from tests.behaviour.chaos.home import DONE, NEED_A_YES, OPEN_WORLD, Run

KITCHEN: Final = "assist_satellite.kitchen"
_HALL: Final = "assist_satellite.hall"
_YES: Final = {"de-CH": ("ja", "Ja, bitte.", "Ja, mach das!")}
_YES_ELSEWHERE: Final = ("yes", "Yes, please.", "yeah, go ahead")
STRAY_YES: Final = "yes"
"""Sentences that are addressed to nobody."""
_NO: Final = {"de-CH": ("nein", "Nein, lass es.")}
_NO_ELSEWHERE: Final = ("no", "No, thank you.")
_NONSENSE: Final = (
    "yes and no",
    "no wait, yes",
    "purple",
    "yes?",
    "47 11",
    "",
    "👍",
    "yes, but not now",
)


class Reply(Enum):
    """How somebody answers a question."""

    YES = auto()
    NO = auto()
    NONSENSE = auto()
    SOMETHING_ELSE = auto()
    YES_IN_ANOTHER_ROOM = auto()
    YES_BY_PHONE = auto()
    NO_BY_PHONE = auto()
    YES_BY_PHONE_AND_VOICE = auto()

    @property
    def agrees(self) -> bool:
        """Return whether what was asked may be done now."""
        return self in (Reply.YES, Reply.YES_BY_PHONE, Reply.YES_BY_PHONE_AND_VOICE)


REPLIES: Final = {Reply.YES: 6, **dict.fromkeys(list(Reply)[1:], 1)}
"""How often each is drawn."""


@dataclass(frozen=True, slots=True)
class Utterance:
    """A sentence, and the place where it is said."""

    words: str
    satellite_id: str | None


def say(random: Random, reply: Reply, question: Question, otherwise: str) -> Utterance:
    """Return what is said after a question; `otherwise` is a request."""
    here, language = question.scope.satellite_id, question.language
    match reply:
        case Reply.YES | Reply.YES_BY_PHONE_AND_VOICE | Reply.YES_IN_ANOTHER_ROOM:
            elsewhere = KITCHEN if here == _HALL else _HALL
            words = random.choice(_YES.get(language, _YES_ELSEWHERE))
            return Utterance(
                words, elsewhere if reply is Reply.YES_IN_ANOTHER_ROOM else here
            )
        case Reply.NO:
            return Utterance(random.choice(_NO.get(language, _NO_ELSEWHERE)), here)
        case Reply.NONSENSE:
            return Utterance(random.choice(_NONSENSE), here)
        case Reply.SOMETHING_ELSE if otherwise == STRAY_YES:
            return Utterance("never mind that, what time is it?", here)
        case Reply.SOMETHING_ELSE | Reply.YES_BY_PHONE | Reply.NO_BY_PHONE:
            return Utterance(otherwise, here)


@dataclass(slots=True)
class WaitingQuestions:
    """The questions that wait."""

    hass: HomeAssistant
    waiting: dict[str, Question] = field(default_factory=dict)
    """By the id of their conversation."""

    def __post_init__(self) -> None:
        """Follow what becomes of questions."""
        async_dispatcher_connect(self.hass, SIGNAL_QUESTION, self._follow)

    @callback
    def _follow(self, news: QuestionUpdate) -> None:
        conversation_id, question = news.question.scope.conversation_id, news.question
        if news.state is CallState.WAITING:
            self.waiting[conversation_id] = question
        elif (known := self.waiting.get(conversation_id)) and known.id == question.id:
            del self.waiting[conversation_id]


def agreed_actions(question: Question) -> Counter[str]:
    """Return what a yes would do: services of the home, or calls of its tools."""
    actions: Counter[str] = Counter()
    for questions in question.calls:
        call = questions.call
        name = call.name.rpartition("__")[2]
        actions.update(
            {action.action for action in questions.effects.actions}
            or {f"{name} {call.arguments}"}
        )
    return actions


def left_of(
    agreed: Counter[str], runs: Iterable[Run], *, from_outside: bool
) -> Counter[str]:
    """Return what was agreed to and not done; less than nothing of what was done without a yes, or once too often.

    `from_outside` tells that something from outside the home was part of the
    conversation before: then all that changes something needs a yes.
    """
    left = Counter(agreed)
    for run in runs:
        action = run.name if "." in run.name else f"{run.name} {run.arguments}"
        if left[action] > 0 or run.name in NEED_A_YES or (from_outside and run.changes):
            left[action] -= 1
    return left


def has_outside_content(contents: Sequence[Content]) -> bool:
    """Return whether a conversation holds something that came from outside the home."""
    return any(
        isinstance(content, ToolResultContent)
        and content.tool_name in OPEN_WORLD
        and content.result.data == DONE
        for content in contents
    )


def has_call_for_a_yes(contents: Sequence[Content]) -> bool:
    """Return whether a conversation has a call that needs a yes, whatever has become of it."""
    return any(
        call.tool_name in NEED_A_YES or call.tool_args.get("name") in NEED_A_YES
        for content in contents
        if isinstance(content, AssistantContent)
        for call in content.tool_calls or ()
    )
