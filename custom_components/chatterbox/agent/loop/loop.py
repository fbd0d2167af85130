"""The agentic loop: takes a turn, yields events, and keeps nothing between turns.

Every turn streams; `run` collects the stream. Closing the stream at any event ends the
inference and all tools. A caller that may stop early feeds the events to a
`TranscriptRecorder`, whose messages are valid at any time.
"""

from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import replace
from typing import Final

from ..errors import AgentError, MaxIterationsExceeded
from ..events import StopReason, TurnEvents, TurnFinished
from ..messages import ToolDefinition, ToolResults, Transcript
from ..protocols import Hooks, LLMProvider, ResponseComposer, ToolDispatcher
from ..text import read_data_file
from .runner import TurnRunner
from .turn import Limits, Turn

_ENDINGS: Final = read_data_file(__file__, dict[StopReason, str], "endings.toml")


class PlainComposer:
    """The `ResponseComposer` of the Python library: English sentences, and tools by their names."""

    def compose(
        self,
        reason: StopReason,
        tool_results: ToolResults,
        error: AgentError | None,
    ) -> str:
        """Name the tools that succeeded, then say how the turn ended."""
        done = ", ".join(
            dict.fromkeys(result.name for result in tool_results if not result.is_error)
        )
        if done and reason is StopReason.COMPLETED:
            return f"Done: {done}."
        ending = _ENDINGS[reason]
        if error is not None:
            ending = f"{ending} ({error})"
        if done:
            return f"Done: {done}. {ending}"
        return ending

    async def undone(
        self,
        tool_results: ToolResults,
        answer: str,
    ) -> str:
        """Say that nothing was done if every call has failed, unless the model asks."""
        is_undone = bool(tool_results) and all(
            result.is_error for result in tool_results
        )
        if is_undone and not answer.rstrip().endswith("?"):
            return _ENDINGS[StopReason.NOT_DONE]
        return ""

    def announces(self, answer: str) -> bool:  # noqa: ARG002 no language is known
        """Take each answer for complete."""
        return False


class AgenticLoop:
    """Runs turns, from the user's words to an answer.

    Stateless: the turn brings everything, and everything leaves as events.
    """

    def __init__(
        self,
        provider: LLMProvider,
        dispatcher: ToolDispatcher,
        *,
        hooks: Sequence[Hooks] = (),
        composer: ResponseComposer | None = None,
    ) -> None:
        """Combine a model and its tools. Without a composer, fallback sentences are English."""
        self._provider = provider
        self._dispatcher = dispatcher
        self._hooks = hooks
        self._composer = composer or PlainComposer()

    def stream(self, turn: Turn) -> TurnEvents:
        """Run one turn; its clock starts now. Ends with exactly one `TurnFinished`; raises only for bugs."""
        if not self._hooks:
            turn = replace(turn, guards_client_calls=False)
        return TurnRunner(
            self._provider, self._dispatcher, self._hooks, self._composer, turn
        ).run()

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
        turn = Turn(
            user_text,
            tuple(chat_history),
            instructions,
            tuple(tools),
            limits=limits or Limits(),
        )
        async with aclosing(self.stream(turn)) as events:
            *_, end = [
                event async for event in events if isinstance(event, TurnFinished)
            ]
        return answer_of(end)


def answer_of(end: TurnFinished) -> str:
    """Return the answer of a finished turn, for callers that expect exceptions.

    Raises `MaxIterationsExceeded` at that bound, and the `ProviderError` of a turn in
    which nothing was done. A turn that did something says in its text how it ended.
    """
    if end.stop_reason is StopReason.MAX_ITERATIONS:
        raise MaxIterationsExceeded(end.text)
    if end.error is not None and not end.tool_results:
        raise end.error
    return end.text
