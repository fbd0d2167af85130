"""Takes the turns of a plan, many at once, and judges each.

Knows how Home Assistant's pipeline takes a turn. Must not know what the services do in it.
"""

import asyncio
import logging
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Final, override

from homeassistant.components import conversation
from homeassistant.components.conversation import ChatLog, ConversationInput, ConversationResult
from homeassistant.components.conversation.chat_log import DATA_CHAT_LOGS
from homeassistant.core import Context, HomeAssistant
from homeassistant.helpers import chat_session

from tests.agent.providers.contract.dialect import KEY
from tests.chaos.house import Runs
from tests.chaos.loop_clock import LoopClock, deadline
from tests.chaos.plan import TURNS_OF_A_CONVERSATION, Plans, TurnPlan
from tests.chaos.server import mark
from tests.chaos.verdict import Outcome, complaints
from tests.talk import speech

ENOUGH_FAILURES: Final = 10
_SATELLITE: Final = "assist_satellite.kitchen"
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
class Driver:
    """Takes turns and keeps what was wrong with them."""

    hass: HomeAssistant
    plans: Plans
    runs: Runs
    clock: LoopClock
    errors: ErrorLog
    failures: list[str] = field(default_factory=list)
    broken_off: int = 0

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
        context = Context()
        streamed: list[str] = []
        task = asyncio.create_task(self._say(plan, context, streamed))
        patience = plan.agent.deadline if plan.breaks_in_after is None else plan.breaks_in_after
        async with deadline(self.clock, patience) as late:
            await asyncio.wait({task}, timeout=plan.breaks_in_after)
            if plan.breaks_in_after is not None:
                task.cancel()
                await asyncio.wait({task})
        self._judge(plan, task, "".join(streamed), late.overrun, context.id)
        self.plans.end(plan)

    def _judge(
        self, plan: TurnPlan, task: asyncio.Task[ConversationResult], streamed: str, overrun: float, context_id: str
    ) -> None:
        errors = self.errors.take(plan.number)
        said = None
        if not task.cancelled() and (exception := task.exception()) is not None:
            errors.append(f"it raised {exception!r}")
        elif not task.cancelled():
            said = speech(task.result())
        else:
            self.broken_off += 1
        chat_log = self.hass.data[DATA_CHAT_LOGS].get(_conversation_id(plan))
        contents = chat_log.content if chat_log else ()
        outcome = Outcome(said, streamed, overrun, self.runs.end(context_id), contents, errors)
        for complaint in complaints(outcome, is_voice=plan.is_voice):
            self.failures.append(f"{complaint}\n  {plan}\n  {replay(self.plans.seed, plan.number)}")

    async def _say(self, plan: TurnPlan, context: Context, streamed: list[str]) -> ConversationResult:
        """Open session and ChatLog around the turn, as the pipeline does, and listen."""
        _CURRENT.set(plan.number)

        def listen(_: ChatLog, delta: dict[str, object]) -> None:
            if isinstance(content := delta.get("content"), str) and delta.get("role") != "tool_result":
                streamed.append(content)

        satellite = _SATELLITE if plan.is_voice else None
        agent, prompt = plan.agent.entity_id, mark(plan.number)
        spoken = ConversationInput(
            plan.words, context, _conversation_id(plan), None, satellite, plan.language, agent, prompt
        )
        with (
            chat_session.async_get_chat_session(self.hass, spoken.conversation_id) as session,
            conversation.async_get_chat_log(self.hass, session, spoken, chat_log_delta_listener=listen),
        ):
            return await conversation.async_converse(
                self.hass,
                spoken.text,
                spoken.conversation_id,
                context,
                spoken.language,
                spoken.agent_id,
                satellite_id=satellite,
                extra_system_prompt=spoken.extra_system_prompt,
            )


def replay(seed: int, number: int) -> str:
    """Return the command that takes a turn again."""
    return f"script/test tests/chaos --chaos-seed {seed} --chaos-turn {number}"


def turns_up_to(number: int) -> Iterable[int]:
    """Return the turns of a conversation, up to one of them."""
    return range(number - number % TURNS_OF_A_CONVERSATION, number + 1)


def _conversation_id(plan: TurnPlan) -> str:
    return f"talk-{plan.number // TURNS_OF_A_CONVERSATION}"
