"""One inference: asks the model, and judges each call as soon as it is complete.

Calls that only read start while the model still writes. Knows providers, hooks and the tool
runner; what comes after the inference is `next_step`'s to say.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import Final, assert_never

from .calls import Gated, JudgedCall, Runnable, settle
from .errors import ProviderError, ProviderReplyInvalid
from .events import (
    CompletionResult,
    MessageDone,
    Phase,
    PhaseEntered,
    ProviderEvent,
    ProviderSwitched,
    ReasoningDelta,
    TextDelta,
    ToolCallReady,
    ToolStarted,
    TurnEvent,
    UsageReported,
)
from .execution import ToolRunner
from .hooks import HookChain
from .judgement import judge_call
from .messages import AssistantMessage, ProviderItem, ToolCall, canonical_json
from .next_step import CallModel, TurnState
from .protocols import Ask, CompletionRequest, Deny, LLMProvider

_LAST_CALL_DIRECTIVE: Final = (
    "Tools can no longer be used in this turn. Answer now, from what is known."
    " Say briefly what was done and what was not."
)


class OutOfTime(Exception):
    """The deadline of the turn came while the model was writing."""


@dataclass(slots=True)
class Inference:
    """One model call of a turn. `state` is the turn's state as it goes on."""

    provider: LLMProvider
    hooks: HookChain
    runner: ToolRunner
    remaining: Callable[[], float]
    """Tells how many seconds the turn has left."""
    state: TurnState
    _text: str = ""
    _reasoning: str = ""
    _provider_items: tuple[ProviderItem, ...] = ()

    async def stream(self, step: CallModel) -> AsyncGenerator[TurnEvent]:
        """Yield what the model does; afterwards `state` holds its calls or its answer."""
        yield PhaseEntered(Phase.LLM_INFERENCE)
        self.state = replace(
            self.state,
            iterations=self.state.iterations + 1,
            last_call=step.last_call,
            finish_reason=None,
        )
        hold = self.hooks.hold_speech
        try:
            async with (
                aclosing(self.provider.stream(self._request(step))) as stream,
                aclosing(self._follow(stream)) as events,
            ):
                async for event in events:
                    if not (hold and isinstance(event, TextDelta)):
                        yield event
        except ProviderError as err:
            self.state = replace(self.state, failure=err)
        except OutOfTime:
            self.state = replace(self.state, out_of_time=True)
        if hold and self._text:
            self._text = await self._cleared_for_speech(self._text)
            yield TextDelta(self._text)
        calls = tuple(judged.call for judged in self.state.open_calls)
        message = AssistantMessage(self._text, self._reasoning, calls, self._provider_items)
        if calls:
            yield MessageDone(message)
        else:
            self.state = replace(self.state, answer=message)
        yield PhaseEntered(Phase.TOOL_DECISION)

    def _request(self, step: CallModel) -> CompletionRequest:
        turn = self.state.turn
        # The words of this turn bring its context; a continuation has none.
        context = turn.context if turn.user_text is None else ""
        last_call = _LAST_CALL_DIRECTIVE if step.last_call else ""
        return CompletionRequest(
            turn.instructions,
            turn.history + self.state.messages,
            tuple(sorted(turn.tools, key=lambda tool: tool.name)),
            step.tool_choice,
            "\n\n".join(filter(None, (context, last_call))),
        )

    async def _follow(self, stream: AsyncGenerator[ProviderEvent]) -> AsyncGenerator[TurnEvent]:
        while True:
            match event := await self._next(stream):
                case TextDelta(text):
                    # Many models begin with blank lines; nobody can hear them.
                    text = text if self._text else text.lstrip()
                    if text:
                        self._text += text
                        yield TextDelta(text)
                case ReasoningDelta(text):
                    self._reasoning += text
                    yield event
                case ProviderSwitched():
                    yield event
                case ToolCallReady(call):
                    judged = await self._judge(call)
                    self.state = replace(self.state, open_calls=(*self.state.open_calls, judged))
                    yield ToolCallReady(judged.call)
                    if self._start_early(judged):
                        yield ToolStarted(judged.call)
                case CompletionResult(finish_reason, usage, provider_items):
                    self._provider_items = provider_items
                    self.state = replace(self.state, finish_reason=finish_reason, usage=self.state.usage + usage)
                    yield UsageReported(usage)
                    return
                case _:
                    assert_never(event)

    async def _next(self, stream: AsyncGenerator[ProviderEvent]) -> ProviderEvent:
        remaining = self.remaining()
        if remaining <= 0:  # a stream that never makes us wait
            raise OutOfTime
        bound = asyncio.timeout(remaining)
        try:
            async with bound:
                return await anext(stream)
        except StopAsyncIteration:
            raise ProviderReplyInvalid("the stream ended without a finish") from None
        except TimeoutError as err:
            if not bound.expired():
                raise
            raise OutOfTime from err

    async def _judge(self, call: ToolCall) -> JudgedCall:
        judged = judge_call(self.state, call)
        verdict = judged.verdict
        if not isinstance(verdict, Runnable):
            return judged
        seen = await self.hooks.pre_tool_use(verdict.tool, verdict.arguments)
        if seen.value != verdict.arguments:
            judged = judge_call(self.state, replace(judged.call, arguments=canonical_json(seen.value)))
        match seen.decision, judged.verdict:
            case Deny(reason), _:
                return settle(judged.call, reason)
            case Ask(reason), Runnable(tool, arguments):
                return JudgedCall(judged.call, Gated(tool, arguments, reason))
            case _:
                return judged

    def _start_early(self, judged: JudgedCall) -> bool:
        """Start a call that only reads, where no sibling stands in its way.

        The caller may have to run them, or one before it changes what is read.
        """
        if any(offered.client for offered in self.state.turn.tools):
            return False
        verdicts = [other.verdict for other in self.state.open_calls]
        if any(isinstance(other, Runnable) and not other.tool.annotations.read_only for other in verdicts):
            return False
        verdict = judged.verdict
        return isinstance(verdict, Runnable) and self.runner.start(judged.call, verdict)

    async def _cleared_for_speech(self, text: str) -> str:
        seen = await self.hooks.pre_speech(text)
        return seen.value if seen.decision is None else seen.decision.reason
