"""Takes the turns of a plan, many at once, and judges each.

Knows how Home Assistant's pipeline takes a turn. Must not know what the services do in
it.
"""

import asyncio
import logging
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from random import Random
from typing import Final, override

from homeassistant.components import conversation
from homeassistant.components.conversation import (
    ChatLog,
    Content,
    ConversationInput,
    ConversationResult,
)
from homeassistant.components.conversation.chat_log import DATA_CHAT_LOGS
from homeassistant.core import Context, HomeAssistant
from homeassistant.helpers import chat_session

from custom_components.chatterbox.approvals.questions import (
    Question,
    QuestionGone,
    async_get_approvals,
)
from custom_components.chatterbox.approvals.review import ApprovalWay, GivenAnswer
from custom_components.chatterbox.speech.text import speakable
from tests.agent.providers.contract.dialect import KEY
from tests.behaviour.chaos.home import Runs
from tests.behaviour.chaos.people import (
    Reply,
    Utterance,
    WaitingQuestions,
    agreed_actions,
    has_call_for_a_yes,
    has_outside_content,
    left_of,
    say,
)
from tests.behaviour.chaos.plan import TURNS_OF_A_CONVERSATION, Plans, TurnPlan
from tests.behaviour.chaos.server import mark
from tests.behaviour.chaos.verdict import GRACE, Outcome, complaints
from tests.support.loop_clock import LoopClock
from tests.support.talk import speech
from tests.support.versions import OF_NOBODY

ENOUGH_FAILURES: Final = 10
ENDLESS: Final = 60.0
"""Seconds after its deadline at which a turn is taken for one without an end. All seconds are those of the clock."""
_CURRENT: ContextVar[int | None] = ContextVar("current_turn", default=None)


class ErrorLog(logging.Handler):
    """Keeps what should not be logged, by the turn in whose tasks it was: errors, and secrets at any level."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self._format = logging.Formatter("%(name)s: %(message)s")
        self._by_turn: dict[int | None, list[str]] = {}

    @override
    def emit(self, record: logging.LogRecord) -> None:
        """Keep a record if it is one of those."""
        text = self._format.format(record)
        if record.levelno >= logging.ERROR or KEY in text:
            self._by_turn.setdefault(_CURRENT.get(), []).append(text[-3_000:])

    def take(self, turn: int | None) -> list[str]:
        """Return what belongs to a turn, or to none, and forget it."""
        return self._by_turn.pop(turn, [])

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Have all that is logged in the block, and nobody else: a test keeps what it logs, and would grow by it."""
        root = logging.getLogger()
        others, level = root.handlers, root.level
        root.handlers = [self]
        root.setLevel(logging.WARNING)
        try:
            yield
        finally:
            root.handlers = others
            root.setLevel(level)


@dataclass(slots=True)
class Turn:
    """A turn under way."""

    plan: TurnPlan
    utterance: Utterance
    question: Question | None
    """The question that waited for an answer when it began."""
    from_outside: bool
    """Whether something from outside the home was part of the conversation before."""
    context: Context = field(default_factory=Context)
    streamed: list[str] = field(default_factory=list)

    @property
    def reply(self) -> Reply | None:
        """How a question is answered; None where none was asked."""
        return self.plan.reply if self.question else None

    @property
    def agreed(self) -> Counter[str]:
        """The actions of the turn that need a yes."""
        return (
            agreed_actions(self.question)
            if self.question and self.plan.reply.agrees
            else Counter()
        )


@dataclass(slots=True)
class Driver:
    """Takes turns and keeps what was wrong with them."""

    hass: HomeAssistant
    clock: LoopClock
    plans: Plans
    runs: Runs
    waiting_questions: WaitingQuestions
    errors: ErrorLog
    failures: list[str] = field(default_factory=list)
    broken_off: int = 0
    replies: Counter[Reply] = field(default_factory=Counter)
    """How questions were answered."""
    agreed: int = 0
    """The actions that people agreed to and then listened for."""
    undone: int = 0
    """Those of them that were not done: there was no time for them."""

    async def take_turns(self, turns: range, workers: int) -> None:
        """Take all turns of some whole conversations, `workers` of them at a time."""
        conversations = iter(range(turns.start, turns.stop, TURNS_OF_A_CONVERSATION))
        async with asyncio.TaskGroup() as tasks:
            for _ in range(workers):
                tasks.create_task(self._talk(conversations, turns.stop))

    async def _talk(self, conversations: Iterator[int], stop: int) -> None:
        for first in conversations:
            for number in range(first, min(first + TURNS_OF_A_CONVERSATION, stop)):
                await self.take_turn(number)
            if len(self.failures) >= ENOUGH_FAILURES:
                return

    async def take_turn(self, number: int) -> None:
        """Take one turn and judge it."""
        plan = self.plans.draw(number)
        if plan.mends:
            plan.agent.mend()
        question = self.waiting_questions.waiting.get(_conversation_id(plan))
        words = (
            say(plan.random, plan.reply, question, plan.words)
            if question
            else Utterance(plan.words, plan.satellite_id)
        )
        turn = Turn(plan, words, question, has_outside_content(self._contents(plan)))
        if turn.reply in (Reply.YES_BY_PHONE, Reply.NO_BY_PHONE):
            await self._tap(turn)
        began = self.clock.now
        task = asyncio.create_task(self._say(turn))
        taps = (
            self._tap(turn)
            if turn.reply is Reply.YES_BY_PHONE_AND_VOICE
            else asyncio.sleep(0)
        )
        tap = asyncio.create_task(taps)
        if plan.breaks_in_after is None:
            await asyncio.wait({task}, timeout=plan.agent.deadline + ENDLESS)
        else:
            await asyncio.wait({task}, timeout=plan.breaks_in_after)
            task.cancel()
            await asyncio.wait({task}, timeout=ENDLESS)
        seconds = (
            plan.agent.deadline
            if plan.breaks_in_after is None
            else plan.breaks_in_after
        )
        overrun = self.clock.now - began - seconds
        await tap
        self._judge(turn, task, overrun)
        self.plans.end(plan)

    async def answer_late(self, question: Question) -> None:
        """Say yes to a question that has run out: something is said, and nothing is done."""
        scope, context = question.scope, Context()
        words = say(Random(question.id), Reply.YES, question, "").words  # noqa: S311  # no secret
        result = await conversation.async_converse(
            self.hass,
            words,
            scope.conversation_id,
            context,
            question.language,
            scope.agent_id,
            satellite_id=scope.satellite_id,
        )
        if done := left_of(Counter(), self.runs.end(context.id), from_outside=False):
            self.failures.append(
                f"done after {words!r}, which came too late: {dict(done)}"
            )
        if not any(map(str.isalnum, speech(result))):
            self.failures.append(
                f"nothing was said after {words!r}, which came too late"
            )

    async def _tap(self, turn: Turn) -> None:
        """Answer a question by phone, unless somebody else was faster."""
        assert turn.question
        answer = GivenAnswer(turn.plan.reply.agrees, way=ApprovalWay.NOTIFICATION)
        began = self.clock.now
        try:
            async with asyncio.timeout(ENDLESS):
                spoken_text = await async_get_approvals(self.hass).answer(
                    turn.question.id, answer
                )
        except QuestionGone:
            return
        except TimeoutError:
            spoken_text = ""
        if not any(
            map(str.isalnum, speakable(spoken_text, turn.question.language))
        ):  # as the notification shows it
            self._fail(
                turn,
                f"nothing is said about what a phone has answered: {spoken_text!r}",
            )
        if (
            overrun := self.clock.now - began - turn.plan.agent.deadline
        ) > 3 * GRACE:  # voice may answer too
            self._fail(
                turn, f"what a phone has answered ended {overrun:.2f} s too late"
            )

    def _judge(
        self, turn: Turn, task: asyncio.Task[ConversationResult], overrun: float
    ) -> None:
        errors = self.errors.take(turn.plan.number)
        answer = None
        if not task.done():
            task.cancel()
            errors.append("it has no end")
        elif not task.cancelled() and (exception := task.exception()) is not None:
            errors.append(f"it raised {exception!r}")
        elif not task.cancelled():
            answer = speech(task.result())
        else:
            self.broken_off += 1
        runs = self.runs.end(turn.context.id)
        contents = self._contents(turn.plan)
        may_ask = turn.from_outside or has_call_for_a_yes(contents)
        outcome = Outcome(
            answer, "".join(turn.streamed), overrun, runs, contents, errors, may_ask
        )
        for complaint in complaints(
            outcome, is_voice=turn.utterance.satellite_id is not None
        ):
            self._fail(turn, complaint)
        by_phone = self.runs.end(turn.question.context.id) if turn.question else []
        left = left_of(turn.agreed, (*runs, *by_phone), from_outside=turn.from_outside)
        if without_yes := +-left:
            self._fail(
                turn, f"done without a yes, or once too often: {dict(without_yes)}"
            )
        if answer is not None and turn.plan.is_understood:
            self.agreed += turn.agreed.total()
            self.undone += (+left).total()
        if turn.reply:
            self.replies[turn.reply] += 1

    def _fail(self, turn: Turn, complaint: str) -> None:
        question = (
            f"\n  {turn.utterance}, {turn.reply} to {turn.question.text!r}"
            if turn.question
            else ""
        )
        self.failures.append(
            f"{complaint}{question}\n  {turn.plan}\n  {replay(self.plans.seed, turn.plan.number)}"
        )

    def _contents(self, plan: TurnPlan) -> Sequence[Content]:
        chat_log = self.hass.data.get(DATA_CHAT_LOGS, {}).get(_conversation_id(plan))
        return chat_log.content if chat_log else ()

    async def _say(self, turn: Turn) -> ConversationResult:
        """Open session and ChatLog around the turn, as the pipeline does, and listen."""
        plan, words = turn.plan, turn.utterance
        _CURRENT.set(plan.number)

        def listen(_: ChatLog, delta: dict[str, object]) -> None:
            if (
                isinstance(content := delta.get("content"), str)
                and delta.get("role") != "tool_result"
            ):
                turn.streamed.append(content)

        where = (
            _conversation_id(plan),
            turn.context,
            plan.language,
            plan.agent.entity_id,
        )
        conversation_id, context, language, agent_id = where
        prompt = mark(plan.number)
        spoken = ConversationInput(
            words.words,
            context,
            conversation_id,
            None,
            words.satellite_id,
            language,
            agent_id,
            prompt,
        )
        with (
            chat_session.async_get_chat_session(
                self.hass, conversation_id, **OF_NOBODY
            ) as session,
            conversation.async_get_chat_log(
                self.hass, session, spoken, chat_log_delta_listener=listen
            ),
        ):
            return await conversation.async_converse(
                self.hass,
                words.words,
                *where,
                satellite_id=words.satellite_id,
                extra_system_prompt=prompt,
            )


def replay(seed: int, number: int) -> str:
    """Return the command that takes a turn again."""
    return (
        f"script/test tests/behaviour/chaos --chaos-seed {seed} --chaos-turn {number}"
    )


def turns_up_to(number: int) -> Iterable[int]:
    """Return the turns of a conversation, up to one of them."""
    return range(number - number % TURNS_OF_A_CONVERSATION, number + 1)


def _conversation_id(plan: TurnPlan) -> str:
    return f"talk-{plan.number // TURNS_OF_A_CONVERSATION}"
