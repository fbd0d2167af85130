"""One inference: calls the model, and judges each tool call as soon as it is complete.

Read-only calls start while the model is still writing.
"""

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from operator import attrgetter
from typing import Final, assert_never

from ..conversation.own_words import with_own_words, without_broken_words
from ..conversation.token_estimate import TokenEstimate
from ..errors import ProviderError, ProviderUnreachable, reply_cut
from ..events import (
    CompletionResult,
    MessageDone,
    PendingCall,
    Phase,
    PhaseEntered,
    PromptProgress,
    ProviderEvent,
    ProviderSwitched,
    ReasoningDelta,
    ServiceSearched,
    TextDelta,
    ToolCallReady,
    ToolFinished,
    ToolStarted,
    TurnEvent,
    TurnEvents,
    UsageReported,
)
from ..json.coercion import Unfit
from ..messages import (
    DECLINED,
    AssistantMessage,
    FinishReason,
    ProviderItem,
    ToolCall,
    ToolDefinition,
    canonical_json,
    paragraphs,
)
from ..protocols import (
    AnswerOptions,
    Ask,
    CompletionRequest,
    Deny,
    LeavableProvider,
    LLMProvider,
    ResponseComposer,
)
from ..timeouts import WaitedTooLong, leavable, read_aside, time_limit
from ..transcript import results_in, searches_in, without_searches
from .calls import fit_arguments, judge_call
from .execution import ToolRunner
from .hooks import HookChain
from .next_step import CallModel
from .repetition import EchoFilter, RepetitionFilter, echoed_lines
from .structured_output import read_output
from .turn import ClientCall, OpenCall, Resolved, Runnable, TurnState, resolve

_LOGGER = logging.getLogger(__name__)

_LAST_CALL_DIRECTIVE: Final = (
    "Tools can no longer be used in this turn. Answer now, from what is known."
)
_REPORT_DIRECTIVE: Final = " Say briefly what was done and what was not."
_CONTINUE_DIRECTIVE: Final = (
    "You have only announced that. Do it now, with your tools, and then "
    "answer. Do not repeat what you have said."
)
_SPEAK_DIRECTIVE: Final = (
    "You have said nothing. Answer now, with your tools or in words."
)
_REPAIR_DIRECTIVE: Final = "Your answer cannot be used. {misfit} Give the whole answer again, with that put right."
_PIECE: Final = 512
"""Characters of a held answer that are released before the event loop runs other tasks."""


def request_for(state: TurnState, step: CallModel) -> CompletionRequest:
    """Return the request that the step makes from this state."""
    turn = state.turn
    messages = without_broken_words(state.messages)
    if turn.searches:  # what they have found is in the items of their service
        messages = without_searches(messages)
    # Context belongs to the words of this turn; a continuation has none.
    context = turn.context if turn.user_text is None else ""
    unfit = (state.answer,) if _is_kept(state, step) and state.answer else ()
    instructions = turn.instructions
    if turn.output:
        instructions = paragraphs(instructions, turn.output.instruction)
    return CompletionRequest(
        instructions=instructions,
        transcript=turn.history + messages + unfit,
        tools=tuple(sorted(turn.tools, key=attrgetter("name"))),
        tool_choice=step.tool_choice,
        directive=paragraphs(context, _directive(state, step)),
        output=turn.output,
        summary=turn.summary,
        may_be_cut=turn.may_be_shortened,
        options=_options(state),
        searches=max(
            turn.searches - searches_in(state.messages),
            0,
        ),
        may_be_shortened=turn.may_be_shortened,
    )


def _is_kept(state: TurnState, step: CallModel) -> bool:
    """Return whether the answer after which a model is asked once more stays in the conversation."""
    return step.repairs or (step.goes_on and bool(state.answer and state.answer.text))


def _options(state: TurnState) -> AnswerOptions:
    """Return the options of the turn, with the answer limited to the remaining tokens."""
    options = state.turn.options
    left = state.tokens_left
    if left is None:
        return options
    limit = options.max_output_tokens
    return replace(
        options, max_output_tokens=left if limit is None else min(left, limit)
    )


def _directive(state: TurnState, step: CallModel) -> str:
    if step.repairs:
        return _REPAIR_DIRECTIVE.format(misfit=state.misfit)
    if step.goes_on:
        if _is_kept(state, step):
            return _CONTINUE_DIRECTIVE
        return _SPEAK_DIRECTIVE
    if step.last_call is None:
        return ""
    return _LAST_CALL_DIRECTIVE + ("" if state.turn.output else _REPORT_DIRECTIVE)


@dataclass(slots=True)
class Inference:
    """One model call of a turn. `state` is updated as the call proceeds."""

    provider: LLMProvider
    hooks: HookChain
    runner: ToolRunner
    composer: ResponseComposer
    time_left: Callable[[], float]
    """Returns the seconds that the turn may still last."""
    state: TurnState
    _text: list[str] = field(default_factory=list)
    """All text of the model."""
    _spoken: list[str] = field(default_factory=list)
    """The text that may be spoken."""
    _repetition: RepetitionFilter = field(default_factory=RepetitionFilter)
    """Detects repetition in text, but not in data, whose cells and rows are often equal."""
    _echoes: EchoFilter = field(default_factory=EchoFilter)
    _circling: RepetitionFilter = field(default_factory=RepetitionFilter)
    """Detects repetition in the reasoning, of which nothing is held back."""
    _reasoning: list[str] = field(default_factory=list)
    _provider_items: tuple[ProviderItem, ...] = ()
    _holds_all: bool = False
    """Whether the whole message must be complete before any of it is spoken."""
    _stream: AsyncGenerator[ProviderEvent] = field(init=False)

    def begin(self, step: CallModel) -> Iterator[TurnEvent]:
        """Start the inference, and yield its first events."""
        yield PhaseEntered(Phase.LLM_INFERENCE)
        state = self.state
        request = request_for(state, step)
        self._holds_all = self.hooks.hold_speech
        if not step.goes_on:  # a model that insists is heard
            self._echoes = EchoFilter(echoed_lines(request.transcript))
        self.state = state._replace(
            iterations=state.iterations + 1,
            last_call=step.last_call,
            finish_reason=None,
            answer=None,
            repaired=state.repaired or step.repairs,
            is_unfinished=False,
            has_gone_on=state.has_gone_on or step.goes_on,
            has_begun_anew=state.has_begun_anew or step.begins_anew,
            failure=None,
        )
        if step.begins_anew and state.answer and state.answer.text:
            yield MessageDone(
                with_own_words(
                    replace(state.answer, text=""),
                    before=state.answer.text,
                    is_fact=False,
                )
            )
        if _is_kept(state, step) and state.answer:
            yield MessageDone(state.answer)
        stream = self.provider.stream(request)
        if not isinstance(self.provider, LeavableProvider):
            stream = leavable(
                stream,
                "provider",
                may_fail=ProviderError,
                cancelled_as=ProviderUnreachable,
            )
        self._stream = stream

    async def next_events(self) -> Iterable[TurnEvent] | None:
        """Return the events of the next piece of the reply; None at its end, or when the turn is out of time.

        Read them one by one: a call is started only after its event has been read.
        """
        if (
            self.state.finish_reason is not None or not self.time_left()
        ):  # a finished stream must not block
            return None
        try:
            async with time_limit(self.time_left()):
                event = await anext(self._stream)
        except (ProviderError, StopAsyncIteration) as error:
            self._fail(error)
            return None
        except WaitedTooLong:
            return None  # `end` finds neither a finish reason nor a failure
        return await self._events_of(event)

    async def _events_of(self, event: ProviderEvent) -> Iterable[TurnEvent]:
        is_data = self.state.turn.output is not None
        match event:
            case TextDelta(text):
                spoken_text = self._heard(
                    text if is_data else self._repetition.feed(self._echoes.feed(text))
                )
                heard = (
                    (event if spoken_text == text else TextDelta(spoken_text),)
                    if spoken_text
                    else ()
                )
                return (*heard, *self._end_repetition(self._repetition))
            case ToolCallReady(call, offered):
                return self._called(await self._judge(call, offered))
            case ServiceSearched():
                return await self._searched(event)
            case ReasoningDelta(text):
                self._reasoning.append(text)
                if not is_data:
                    self._circling.feed(text)
                return (event, *self._end_repetition(self._circling))
            case CompletionResult():
                return (self._count(event),)
            case ProviderSwitched():
                return (event,)
            case PromptProgress():
                return ()
            case _:
                assert_never(event)

    def _end_repetition(self, repetition: RepetitionFilter) -> Sequence[UsageReported]:
        """End an inference that only repeats itself, since it would not end on its own."""
        if not repetition.found:
            return ()
        _LOGGER.warning("The model repeated itself, and its message was ended")
        return (self._count(CompletionResult(FinishReason.REPETITION)),)

    async def close(self) -> None:
        """Close the reply of the model. Does nothing if it is closed."""
        try:
            await self._stream.aclose()
        except ProviderError as error:
            self._fail(error)

    def _fail(self, error: ProviderError | StopAsyncIteration) -> None:
        if isinstance(error, ProviderError):
            failure = error
        else:
            failure = reply_cut("the stream ended without a finish")
        if (self._text or self._reasoning) and type(
            failure
        ) is ProviderUnreachable:  # not one of the timeouts
            failure.is_cut = True
        self.state = self.state._replace(failure=failure)

    def _heard(self, text: str) -> str:
        """Add text of the model; return the part that may be spoken by now."""
        # Many models begin with blank lines, which cannot be spoken.
        if not self._text:
            text = text.lstrip()
        if text:
            self._text.append(text)
        if self._holds_all:
            return ""
        self._spoken.append(text)
        return text

    def _rest(self, *, cut: bool = False) -> str:
        """Return the held text that may be spoken when nothing follows it in its message."""
        return self._repetition.feed(self._echoes.end()) + self._repetition.end(cut=cut)

    def _called(self, judged: OpenCall) -> Iterator[TurnEvent]:
        """Add a tool call, and start it if it may run early; not before the reader has its event."""
        self.state = self.state._replace(open_calls=(*self.state.open_calls, judged))
        spoken_text = self._heard(self._rest())
        if spoken_text:
            yield TextDelta(spoken_text)
        yield ToolCallReady(judged.call)
        started = self._start_early(judged)
        if started:
            yield started

    async def _searched(self, search: ServiceSearched) -> Iterable[TurnEvent]:
        """Show a search of the service to the hooks, before the calls that may follow from it, and end its message."""
        call = search.call
        started = ToolStarted(search.call, open_world=True)
        result = await self.hooks.post_tool_use(
            call,
            search.result,
        )
        if self.state.open_calls:
            self._provider_items += search.provider_items
            return *self._called(Resolved(call, result)), started
        rest = self._heard(self._rest())
        ended = replace(
            self._message(), tool_calls=(call,), provider_items=search.provider_items
        )
        self._spoken = []
        self._reasoning = []
        if not self._holds_all:
            self._text = []
        return (
            *([TextDelta(rest)] if rest else ()),
            ToolCallReady(call),
            started,
            MessageDone(ended),
            ToolFinished(result),
        )

    async def end(self) -> TurnEvents:
        """Yield the final events of a closed inference. Afterwards `state` holds its calls or its answer."""
        state = self.state
        if state.finish_reason is None and state.failure is None:
            self.state = state = state._replace(out_of_time=True)
        is_cut = state.finish_reason in {
            None,
            FinishReason.LENGTH,
            FinishReason.CONTENT_FILTER,
        }
        spoken_text = self._heard(self._rest(cut=is_cut))
        if self._holds_all and self._text:
            rest = await self._cleared_for_speech("".join(self._text))
        else:
            rest = ""
        self._spoken.append(rest)
        for start in range(0, len(rest), _PIECE):
            yield TextDelta(rest[start : start + _PIECE])
            await asyncio.sleep(0)
        if spoken_text:
            yield TextDelta(spoken_text)
        message = self._message()
        if message.tool_calls:
            yield MessageDone(message)
        else:
            self.state = state._replace(
                answer=message,
                misfit=await self._misfit(message),
                is_unfinished=self._is_unfinished(message),
            )
        yield PhaseEntered(Phase.TOOL_DECISION)

    def _message(self) -> AssistantMessage:
        calls = tuple([judged.call for judged in self.state.open_calls])
        return AssistantMessage(
            "".join(self._spoken), "".join(self._reasoning), calls, self._provider_items
        )

    def _is_unfinished(self, answer: AssistantMessage) -> bool:
        """Return whether an answer to a person is empty, or ends with what the model is about to do with a tool."""
        turn = self.state.turn
        if not turn.checks_answer or turn.output is not None or not turn.tools:
            return False
        if not answer.text.strip():  # after a tool, the turn tells what was done
            return not any(results_in(self.state.messages))
        return self.composer.announces(answer.text)

    async def _misfit(self, answer: AssistantMessage) -> str:
        """Return what is wrong with structured output; empty for text, and for valid data."""
        output = self.state.turn.output
        if output is None:
            return ""
        try:
            await read_output(answer.text, output)
        except Unfit as err:
            return str(err)
        return ""

    def _count(self, end: CompletionResult) -> UsageReported:
        state = self.state
        usage = end.usage
        self._provider_items += (
            (*end.provider_items, DECLINED) if end.declines else end.provider_items
        )
        written = usage.output_tokens or self._estimated_tokens()
        if usage.is_estimated or end.finish_reason in {
            FinishReason.LENGTH,
            FinishReason.REPETITION,
        }:
            usage = replace(
                usage, output_tokens=written
            )  # we may have closed the stream before any report
        self.state = state._replace(
            finish_reason=end.finish_reason,
            usage=state.usage + usage,
            written=state.written + written,
        )
        return UsageReported(
            usage,
            end.answered_by,
            end.lacks_room,
        )

    def _estimated_tokens(self) -> int:
        calls = tuple(judged.call for judged in self.state.open_calls)
        written = "".join(self._text) + self._repetition.held
        return TokenEstimate().of_message(
            AssistantMessage(
                written,
                "".join(self._reasoning),
                calls,
            )
        )

    async def _judge(
        self,
        call: ToolCall,
        offered: frozenset[str] | None,
    ) -> OpenCall:
        judged = await read_aside(
            len(call.arguments), judge_call, self.state, call, offered
        )
        match judged:
            case Runnable(_, tool, arguments) | ClientCall(
                _, ToolDefinition() as tool, arguments
            ):
                note = judged.note
                seen = await self.hooks.pre_tool_use(
                    tool, arguments, partial(fit_arguments, tool)
                )
            case _:
                return judged
        # Compared as text, since Python considers 1 equal to True.
        if (
            seen.value is not arguments
            and (rewritten := canonical_json(seen.value)) != judged.call.arguments
        ):
            judged = judge_call(
                self.state, replace(judged.call, arguments=rewritten), is_repaired=True
            )
            if isinstance(judged, Runnable):
                judged = replace(judged, note=note)
        match seen.decision:
            case Deny(reason, is_final):
                return resolve(
                    judged.call,
                    reason,
                    may_repeat=not is_final,
                )
            case Ask(reason, terms) if not isinstance(judged, Resolved):
                return PendingCall(
                    judged.call,
                    reason,
                    terms,
                    note,
                )
            case _:
                return judged

    def _start_early(self, judged: OpenCall) -> ToolStarted | None:
        """Start a read-only call if no sibling stands in its way.

        A sibling before it may change what it reads, or may have to run at the client.
        """
        others = self.state.open_calls
        if any(
            isinstance(other, Runnable) and not other.tool.annotations.read_only
            for other in others
        ):
            return None
        if any(offered.client for offered in self.state.turn.tools):
            return None
        if isinstance(judged, Runnable):
            return self.runner.start(judged)
        return None

    async def _cleared_for_speech(self, text: str) -> str:
        seen = await self.hooks.pre_speech(text)
        if seen.decision is None:
            return seen.value
        return seen.decision.reason
