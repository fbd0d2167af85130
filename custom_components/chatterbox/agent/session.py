"""A conversation for plain Python: keeps the history, usage, pending approval and open calls between turns.

A thin wrapper around `AgenticLoop.stream`, which keeps nothing itself.
"""

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import aclosing
from dataclasses import replace
from typing import Self

from .events import (
    Answer,
    PendingApproval,
    Phase,
    PhaseEntered,
    PromptReplaced,
    TurnEvent,
    TurnEvents,
    TurnFinished,
    UsageReported,
)
from .loop.hooks import HookChain
from .loop.loop import AgenticLoop, answer_of
from .loop.turn import Limits, Turn
from .messages import (
    AssistantMessage,
    NamedTool,
    ToolCall,
    ToolChoice,
    ToolChoiceMode,
    ToolResult,
    Transcript,
    Usage,
    UserMessage,
)
from .protocols import Hooks, LLMProvider, ResponseComposer
from .toolbox import Toolbox, as_outcome
from .transcript import (
    NOT_STARTED,
    TranscriptRecorder,
    repair,
    results_in,
    synthetic_result,
    without_results,
)


class Session:
    """A conversation with a model that has tools.

    With `run_tools=False` the caller runs them: a turn ends with `open_calls`, the
    caller adds each result with `add_result`, and `resume` continues. Only one turn
    runs at a time; a new turn interrupts the previous one.
    """

    def __init__(  # noqa: PLR0913 a conversation is set up once, and every option has its name
        self,
        provider: LLMProvider,
        toolbox: Toolbox | None = None,
        *,
        instructions: str = "",
        run_tools: bool = True,
        hooks: Sequence[Hooks] = (),
        limits: Limits | None = None,
        composer: ResponseComposer | None = None,
        history: Transcript = (),
        tool_choice: ToolChoice = ToolChoiceMode.AUTO,
        allowed_tools: frozenset[str] | None = None,
    ) -> None:
        """Begin a conversation, or continue one from its `history`.

        Raises TypeError for values of other types, and ValueError for the name of a
        tool that is not in the toolbox: each says what to write instead.
        """
        if toolbox is None:
            toolbox = Toolbox()
        _check_options(toolbox, history, tool_choice, allowed_tools)
        self._loop = AgenticLoop(
            provider,
            toolbox,
            hooks=hooks,
            composer=composer,
        )
        self._tools = tuple(
            replace(one, client=not run_tools) for one in toolbox.definitions
        )
        self._instructions = instructions
        self._limits = limits or Limits()
        self._tool_choice = tool_choice
        self._allowed_tools = allowed_tools
        self._hooks = HookChain(
            hooks,
            lambda: self._limits.tool_timeout,
        )
        self._live: _LiveTurn | None = None
        self._owed: dict[str, ToolCall] = {}
        self.history = repair(history)
        """All messages, as the model receives them in the next turn."""
        self.usage = Usage()
        """Tokens of all finished turns."""
        self.pending: PendingApproval | None = None
        """The pending approval of the last turn; see `answer`."""

    async def __aenter__(self) -> Self:
        """Enter a block at whose end no turn is left running."""
        return self

    async def __aexit__(self, *_: object) -> None:
        """Interrupt the running turn."""
        await self.interrupt()

    @property
    def open_calls(self) -> tuple[ToolCall, ...]:
        """The calls that wait for results from the caller, as the model wrote them."""
        return tuple(self._owed.values())

    def say(self, text: str) -> TurnEvents:
        """Start a turn with the user's words, and yield its events. An interrupted turn just ends.

        Raises ValueError while `open_calls` wait for results.
        """
        self._require_no_calls()
        return self._take(text)

    async def ask(self, text: str) -> str:
        """Start a turn and return its whole answer; an empty text if the turn is interrupted.

        The text is also empty if the turn ends with `open_calls` or a `pending`
        approval. Raises the errors of `AgenticLoop.run`.
        """
        async with aclosing(self.say(text)) as events:
            ends = [event async for event in events if isinstance(event, TurnFinished)]
        if ends:
            return answer_of(ends[-1])
        return ""

    def answer(
        self, answer: Answer | Mapping[str, Answer], text: str | None = None
    ) -> TurnEvents:
        """Answer the `pending` approval, for all calls or by call id, and continue the turn.

        `text` holds the person's words, if any. Raises ValueError if nothing is
        pending.
        """
        pending = self.pending
        if pending is None:
            raise ValueError("Nothing waits for a yes.")
        ids = [pending_call.call.id for pending_call in pending.calls]
        if isinstance(answer, Mapping):
            answers = answer
        else:
            answers = dict.fromkeys(ids, answer)
        for call_id in answers:
            if call_id not in ids:
                raise ValueError(
                    f"No call {call_id!r} waits for a yes; waiting: {', '.join(ids)}."
                )
        return self._take(
            text,
            replace(pending, answers=answers),
        )

    async def add_result(
        self, call_id: str, result: object, *, is_error: bool = False
    ) -> None:
        """Add the result of an open call, after hooks have seen it: any value that `toolbox.as_outcome` accepts.

        Raises ValueError for a call that does not wait for a result, and for a result
        that is not JSON.
        """
        call = self._owed_call(call_id)
        outcome = as_outcome(result)
        failed = is_error or outcome.is_error
        name = call.name
        outside = outcome.open_world or any(
            tool.name == name and tool.annotations.open_world for tool in self._tools
        )
        given = ToolResult(
            call_id,
            name,
            outcome.content,
            is_error=failed,
            open_world=outside,
            native=outcome.native,
        )
        seen = await self._hooks.post_tool_use(call, given)
        self._owed_call(call_id)  # an interruption may have answered the call meanwhile
        self._add(seen)

    def _owed_call(self, call_id: str) -> ToolCall:
        call = self._owed.get(call_id)
        if call is None:
            waiting = ", ".join(self._owed) or "none"
            raise ValueError(
                f"No call {call_id!r} waits for a result; waiting: {waiting}."
            )
        return call

    def resume(self) -> TurnEvents:
        """Have the model read the added results, and continue the turn.

        Raises ValueError if there are no results, if some are missing, or if an
        approval is pending.
        """
        self._require_no_calls()
        if self.pending is not None:
            raise ValueError("A yes or a no is waited for: use answer.")
        if not (self.history and isinstance(self.history[-1], ToolResult)):
            raise ValueError("There are no results to go on from: say something first.")
        return self._take(None)

    async def interrupt(self) -> None:
        """End the running turn, if any, and leave open calls without a result.

        May be called at any time and from any task. Afterwards nothing runs, and the
        conversation can continue.
        """
        live = self._live
        if live is not None:
            await live.stop()
            self._conclude(live)
        for call in self.open_calls:
            self._add(synthetic_result(call, NOT_STARTED))

    async def _take(
        self, text: str | None, approval: PendingApproval | None = None
    ) -> TurnEvents:
        while self._live is not None:
            await self.interrupt()
        turn = Turn(
            text,
            self.history,
            self._instructions,
            self._tools,
            # A forced call applies to new words only: otherwise the results of that
            # call would lead to the next one.
            self._tool_choice
            if text is not None or self._tool_choice is ToolChoiceMode.NONE
            else ToolChoiceMode.AUTO,
            self._allowed_tools,
            self._limits,
            approval,
        )
        self.pending = None
        live = self._live = _LiveTurn(
            text,
            self._loop.stream(turn),
        )
        try:
            while (event := await live.next()) is not None:
                yield event
        finally:
            await live.stop()
            self._conclude(live)

    def _conclude(self, live: _LiveTurn) -> None:
        """Keep the messages and usage of a turn, once."""
        if self._live is not live:
            return
        self._live = None
        self.history += live.messages()
        self.usage += live.usage
        end = live.end
        if end is not None:
            self.pending = end.pending
            self._owed = {call.id: call for call in end.client_calls}

    def _add(self, result: ToolResult) -> None:
        """Insert the result of an open call: results keep the order of their calls."""
        del self._owed[result.call_id]
        self.history = without_results(
            repair((*self.history, result)),
            self._owed,
        )

    def _require_no_calls(self) -> None:
        if self._owed:
            missing = ", ".join(f"{call.id} ({call.name})" for call in self.open_calls)
            raise ValueError(
                f"These calls have no result yet: {missing}. Use add_result, or interrupt."
            )


def _check_options(
    toolbox: object,
    history: object,
    tool_choice: object,
    allowed_tools: frozenset[str] | None,
) -> None:
    """Check what is easily given in another form, which would fail only in the midst of a turn."""
    if not isinstance(toolbox, Toolbox):
        raise TypeError(
            f"Tools are given as Toolbox([...]), not as a {type(toolbox).__name__}: {toolbox!r:.80}."
        )
    names = [tool.name for tool in toolbox.definitions]
    if not isinstance(tool_choice, ToolChoiceMode | NamedTool):
        modes = ", ".join(f"ToolChoiceMode.{mode.name}" for mode in ToolChoiceMode)
        raise TypeError(
            f'A tool choice is {modes} or NamedTool("name"), not {tool_choice!r}.'
        )
    if isinstance(allowed_tools, str):
        raise TypeError(
            f"Allowed tools are a set of names, such as {{{allowed_tools!r}}}, not a text."
        )
    unknown = sorted(set(allowed_tools or ()) - set(names))
    if unknown:
        raise ValueError(
            f"There is no tool {unknown[0]!r} to allow; there is: {', '.join(names) or 'none'}."
        )
    for message in history if isinstance(history, list | tuple) else [history]:
        if not isinstance(message, UserMessage | AssistantMessage | ToolResult):
            raise TypeError(
                "A history holds messages, such as UserMessage('Hello!') and AssistantMessage('Hi.'), not a"
                f" {type(message).__name__}: {message!r:.80}."
            )


class _LiveTurn:
    """A running turn that another task can stop."""

    def __init__(
        self,
        text: str | None,
        events: TurnEvents,
    ) -> None:
        self.end: TurnFinished | None = None
        self.usage = Usage()
        self._words = text
        self._accepted = False
        self._events = events
        self._recorder = TranscriptRecorder()
        self._step: asyncio.Task[TurnEvent | None] | None = None
        self._over = False
        self._stopping = asyncio.Lock()

    async def next(self) -> TurnEvent | None:
        """Return the next event; None when the turn has ended or was stopped.

        A caller that is cancelled here has to `stop` the turn.
        """
        if self._over:
            return None
        # Each step is its own task, so that stopping the turn does not cancel the
        # reader.
        step = self._step = asyncio.create_task(self._advance())
        await asyncio.wait({step})
        if step.cancelled():
            return None
        return step.result()

    async def stop(self) -> None:
        """End the turn; returns when nothing of it is running."""
        self._over = True
        async with self._stopping:
            if self._step is not None and self._step.cancel():
                await asyncio.wait({self._step})
            await self._events.aclose()

    def messages(self) -> Transcript:
        """Return the messages that the turn adds to a history.

        Words that no hook has approved yet are omitted, and so is a turn in which the
        model failed before anything was done: it can be repeated.
        """
        if not self._accepted:
            return ()
        if self.end:
            messages = self._recorder.messages
        else:
            messages = self._recorder.interrupted()
        if self.end and self.end.error and not any(results_in(messages)):
            return ()
        if self._words is None:
            return messages
        return (UserMessage(self._words), *messages)

    async def _advance(self) -> TurnEvent | None:
        event = await anext(self._events, None)
        match event:
            case None:
                self._over = True
            case PhaseEntered(Phase.RECEIVE_INPUT):
                return event
            case PromptReplaced(text):
                self._words = text
            case UsageReported(usage):
                self.usage += usage
            case TurnFinished():
                self.end = event
            case _:
                self._recorder.add(event)
        self._accepted = True
        return event
