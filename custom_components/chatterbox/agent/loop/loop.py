"""The agentic loop: a turn goes in, events come out, and nothing is kept between turns.

There is one path and it streams; `run` collects it. Closing the stream at any event ends the inference and every tool;
a caller that may leave early follows the events with a `TranscriptRecorder`, whose messages are always valid.
"""

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing

from ..errors import MaxIterationsExceeded
from ..events import StopReason, TurnEvent, TurnFinished
from ..messages import ToolDefinition, Transcript
from ..protocols import Hooks, LLMProvider, ResponseComposer, ToolDispatcher
from .composition import PlainComposer
from .runner import TurnRunner
from .turn import Limits, Turn


class AgenticLoop:
    """Takes a turn from a person's words to an answer.

    Stateless: everything comes in with the turn and goes out as events.
    """

    def __init__(
        self,
        provider: LLMProvider,
        dispatcher: ToolDispatcher,
        *,
        hooks: Sequence[Hooks] = (),
        composer: ResponseComposer | None = None,
    ) -> None:
        """Join a model and its tools. Without a composer, fallback sentences are English."""
        self._provider = provider
        self._dispatcher = dispatcher
        self._hooks = hooks
        self._composer = composer or PlainComposer()

    def stream(self, turn: Turn) -> AsyncGenerator[TurnEvent]:
        """Run one turn, from now on. Ends with exactly one `TurnFinished`; raises only for bugs."""
        return TurnRunner(self._provider, self._dispatcher, self._hooks, self._composer, turn).run()

    async def run(
        self,
        user_text: str,
        chat_history: Transcript = (),
        tools: Sequence[ToolDefinition] = (),
        *,
        instructions: str = "",
        limits: Limits | None = None,
    ) -> str:
        """Return the whole answer of a turn; see `answer_of` for what it raises."""
        turn = Turn(user_text, tuple(chat_history), instructions, tuple(tools), limits=limits or Limits())
        async with aclosing(self.stream(turn)) as events:
            *_, end = [event async for event in events if isinstance(event, TurnFinished)]
        return answer_of(end)


def answer_of(end: TurnFinished) -> str:
    """Return the answer that a turn ended with, for callers who expect exceptions.

    Raises `MaxIterationsExceeded` at that bound and the `ProviderError` of a turn in which
    nothing was done; a turn that did something says so instead.
    """
    if end.stop_reason is StopReason.MAX_ITERATIONS:
        raise MaxIterationsExceeded(end.text)
    if end.error is not None and not end.tool_results:
        raise end.error
    return end.text
