"""Runs one turn: performs the steps that `next_step` returns, and yields events.

It owns the state, the tools and the clock of the turn. The rules are in `next_step.py`
and `calls.py`.
"""

import logging
import time
from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import replace
from typing import Final, assert_never
from uuid import uuid4

from ..conversation.own_words import (
    as_models_read,
    mark_of_call,
    with_own_words,
    without_declined,
)
from ..errors import ContentRefused
from ..events import (
    ApprovalRequested,
    MessageDone,
    PendingApproval,
    PendingCall,
    Phase,
    PhaseEntered,
    PromptReplaced,
    StopReason,
    TextDelta,
    ToolCallReady,
    ToolFinished,
    TurnEvent,
    TurnEvents,
    TurnFinished,
)
from ..json.text import is_json_object
from ..messages import (
    DECLINED,
    AssistantMessage,
    Message,
    ToolDefinition,
    ToolResult,
    UserMessage,
    canonical_json,
)
from ..protocols import Hooks, LLMProvider, ResponseComposer, ToolDispatcher
from ..timeouts import SYSTEM_CLOCK
from ..transcript import (
    TranscriptRecorder,
    call_ids,
    changing_tools,
    open_calls,
    repair,
    results_in,
    synthetic_result,
    without_searches,
)
from .calls import check_again, decide_call
from .execution import ToolRunner
from .hooks import HookChain
from .inference import Inference
from .next_step import (
    CallModel,
    ExecuteTools,
    Finish,
    InterruptForApproval,
    ReturnToClient,
    next_step,
)
from .turn import ClientCall, OpenCall, Resolved, Runnable, Turn, TurnState

_LOGGER = logging.getLogger(__name__)

_HOOK_GRACE: Final = 0.1
"""Seconds that a hook gets even if the turn is out of time; otherwise it would miss an existing result."""
_WITHHELD: Final = "(These words were withheld.)"
_CLIENT_TOOLS_FIRST: Final = "Not run: tools of the client were called at the same time. Call it again if it is needed."
_AWAITS_APPROVAL: Final = "Not run yet: a person has to say yes first."
_ENDS_WITH_ANSWER: Final = frozenset(
    {
        StopReason.COMPLETED,
        StopReason.LENGTH,
        StopReason.CONTENT_FILTER,
        StopReason.REPETITION,
        StopReason.UNKNOWN_FINISH,
        StopReason.OUTPUT_UNFIT,
    }
)
"""Endings at which the text of the model, if any, is the answer. All others need a composed sentence."""
_TOLD: Final = frozenset(
    {
        StopReason.COMPLETED,
        StopReason.NOT_DONE,
        StopReason.PROMPT_DENIED,
    }
)
"""Endings whose composed sentence later turns are told; those of the others only say why there is no answer."""
_CUT: Final = frozenset({StopReason.LENGTH, StopReason.CONTENT_FILTER})
"""Endings of which a person is told the reason after the text; callers see the stop reason."""
_BREAKS_OFF: Final = _CUT | {StopReason.PROVIDER_FAILED, StopReason.DEADLINE}
_SENTENCE_ENDS: Final = tuple(".!?…:;。！？।؟")  # noqa: RUF001 - of Chinese, Japanese, Hindi and Arabic
"""An answer that breaks off without one of these ends with a pause before the reason."""
_BOUNDS: Final = frozenset(
    {
        StopReason.MAX_ITERATIONS,
        StopReason.MAX_TOOL_CALLS,
        StopReason.DEADLINE,
        StopReason.LENGTH,
    }
)


class TurnRunner:
    """One running turn: its state, its tools and its clock."""

    def __init__(
        self,
        provider: LLMProvider,
        dispatcher: ToolDispatcher,
        hooks: Sequence[Hooks],
        composer: ResponseComposer,
        turn: Turn,
    ) -> None:
        """Start the clock of the turn."""
        self._provider = provider
        self._composer = composer
        self._ends_at = SYSTEM_CLOCK.now() + turn.limits.deadline
        self._hooks = HookChain(
            hooks,
            lambda: min(turn.limits.tool_timeout, max(self._time_left(), _HOOK_GRACE)),
        )
        self._runner = ToolRunner(
            dispatcher,
            self._hooks,
            turn.limits.tool_timeout,
            one_by_one=not turn.options.parallel_tool_calls,
        )
        self._transcript = TranscriptRecorder()
        """The messages that this turn has added to the history so far."""
        self._state = TurnState(
            _as_models_read(turn),
            taken=call_ids(turn.history),
        )
        if turn.approval:
            self._resumed = mark_of_call(
                turn.history,
                turn.approval.calls[0].call.id,
            )
        else:
            self._resumed = ()
        """The mark of the message that resumes the calls of a question, which all come from one message."""
        self._is_over = False

    async def run(self) -> TurnEvents:
        """Yield the events of the turn, and fold each into the messages. Ends with exactly one `TurnFinished`."""
        try:
            async with aclosing(self._receive()) as events:
                async for event in events:
                    yield self._folded(event)
            while not self._is_over:
                self._state = self._state._replace(
                    elapsed=self._state.turn.limits.deadline - self._time_left(),
                    messages=self._transcript.messages,
                )
                step = next_step(self._state)
                if isinstance(step, CallModel):
                    inference = Inference(
                        self._provider,
                        self._hooks,
                        self._runner,
                        self._composer,
                        self._time_left,
                        self._state,
                    )
                    for event in inference.begin(step):
                        yield self._folded(event)
                    try:
                        while (pieces := await inference.next_events()) is not None:
                            for event in pieces:
                                yield self._folded(event)
                    finally:
                        await inference.close()
                    async with aclosing(inference.end()) as events:
                        async for event in events:
                            yield self._folded(event)
                    self._state = inference.state
                else:
                    async with aclosing(self._act(step)) as events:
                        async for event in events:
                            yield self._folded(event)
        finally:
            await self._runner.close()

    def _time_left(self) -> float:
        return max(
            self._ends_at - SYSTEM_CLOCK.now(),
            0,
        )

    def _folded(self, event: TurnEvent) -> TurnEvent:
        self._transcript.add(event)
        self._is_over = isinstance(event, TurnFinished)
        return event

    def _act(
        self, step: ExecuteTools | InterruptForApproval | ReturnToClient | Finish
    ) -> TurnEvents:
        match step:
            case ExecuteTools(calls):
                return self._execute_tools(calls)
            case InterruptForApproval(calls):
                return self._interrupt_for_approval(calls)
            case ReturnToClient(calls):
                return self._return_to_client(calls)
            case Finish(reason):
                return self._finish(reason)
            case _:
                assert_never(step)

    async def _receive(self) -> TurnEvents:
        yield PhaseEntered(Phase.RECEIVE_INPUT)
        turn = self._state.turn
        if turn.user_text is not None:
            text = await self._cleared_prompt(turn.user_text)
            if text != turn.user_text:
                yield PromptReplaced(text)
            self._transcript.append(
                UserMessage(
                    text,
                    turn.attachments,
                    turn.context,
                    turn.omitted,
                )
            )
        if turn.approval is not None:
            for judged in await self._resume(turn.approval):
                yield ToolCallReady(judged.call)
            calls = tuple(judged.call for judged in self._state.open_calls)
            yield MessageDone(
                AssistantMessage(tool_calls=calls, provider_items=self._resumed)
            )
            yield PhaseEntered(Phase.TOOL_DECISION)

    async def _cleared_prompt(self, text: str) -> str:
        """Return the user's words as the model gets them, in this turn and later."""
        seen = await self._hooks.user_prompt_submit(text)
        if seen.decision is None:
            return seen.value
        self._state = self._state._replace(prompt_denied=seen.decision.reason)
        return _WITHHELD

    async def _resume(self, pending: PendingApproval) -> tuple[OpenCall, ...]:
        """Continue the turn that asked, under its budgets; the approved calls are judged again."""
        expired = time.time() >= pending.expires_at
        # The owner may have set a lower bound since the question.
        iterations = min(
            pending.iterations,
            self._state.turn.limits.max_iterations,
        )
        state = self._state._replace(
            iterations=iterations, tool_calls=pending.tool_calls
        )
        for pending_call in pending.calls:
            answer = pending.answers.get(pending_call.call.id)
            # The ids of calls of ours are not in the history that a model reads, from
            # which ids are generated.
            if self._resumed:
                new_id = uuid4().hex
            else:
                new_id = ""
            judged = decide_call(
                state, pending_call, answer, expired=expired, new_id=new_id
            )
            match judged:
                case Runnable(_, tool, arguments) | ClientCall(
                    _, ToolDefinition() as tool, arguments
                ) if state.prompt_denied is None:
                    opinion = await self._hooks.pre_approved_use(tool, arguments)
                    judged = check_again(
                        judged,
                        pending_call,
                        opinion,
                    )
                case _:
                    pass
            state = state._replace(open_calls=(*state.open_calls, judged))
        self._state = state
        return state.open_calls

    async def _execute_tools(self, calls: tuple[OpenCall, ...]) -> TurnEvents:
        yield PhaseEntered(Phase.TOOL_EXECUTION)
        for judged in calls:
            if isinstance(judged, Runnable):
                self._state = self._state._replace(
                    tool_calls=self._state.tool_calls + 1
                )
                started = self._runner.start(judged)
                if started:
                    yield started
        for judged in self._state.open_calls:
            yield await self._finish_call(judged)
        still_open = tuple(
            judged for judged in self._state.open_calls if judged not in calls
        )
        self._state = self._state._replace(open_calls=still_open)
        yield PhaseEntered(Phase.RESULT_AGGREGATION)

    async def _finish_call(self, judged: OpenCall) -> ToolFinished:
        match judged:
            case Resolved(_, result):
                return ToolFinished(result)
            case PendingCall(call, note=note):
                waiting = replace(
                    synthetic_result(call, _AWAITS_APPROVAL), is_error=False
                )
                return ToolFinished(_noted(waiting, note), awaits_approval=True)
            case Runnable(call, note=note) | ClientCall(call, note=note):
                return ToolFinished(
                    _noted(
                        await self._runner.result(
                            call,
                            self._time_left(),
                        ),
                        note,
                    )
                )
            case _:
                assert_never(judged)

    async def _interrupt_for_approval(self, calls: tuple[OpenCall, ...]) -> TurnEvents:
        yield PhaseEntered(Phase.APPROVAL_INTERRUPT)
        for judged in self._unanswered():
            yield await self._finish_call(judged)
        pending = PendingApproval(
            id=uuid4().hex,
            calls=tuple([call for call in calls if isinstance(call, PendingCall)]),
            expires_at=time.time() + self._state.turn.limits.approval_expiry,
            iterations=self._state.iterations,
            tool_calls=self._state.tool_calls,
        )
        yield ApprovalRequested(pending)
        yield PhaseEntered(Phase.OUTPUT)
        yield replace(
            self._finished(StopReason.APPROVAL_REQUIRED),
            pending=pending,
        )

    async def _return_to_client(self, calls: tuple[OpenCall, ...]) -> TurnEvents:
        yield PhaseEntered(Phase.CLIENT_INTERRUPT)
        for judged in calls:
            match judged:
                case ClientCall():
                    pass
                case Resolved(_, result):
                    yield ToolFinished(result)
                case _:
                    yield ToolFinished(
                        synthetic_result(judged.call, _CLIENT_TOOLS_FIRST)
                    )
        handed_out = tuple(
            judged.call for judged in calls if isinstance(judged, ClientCall)
        )
        yield PhaseEntered(Phase.OUTPUT)
        yield replace(
            self._finished(StopReason.CLIENT_TOOLS),
            client_calls=handed_out,
        )

    async def _finish(self, reason: StopReason) -> TurnEvents:
        for judged in self._unanswered():
            if isinstance(judged, Resolved):
                yield ToolFinished(judged.result)
            else:
                yield ToolFinished(await self._runner.conclude(judged.call))
        yield PhaseEntered(Phase.RESPONSE_COMPOSITION)
        last_text = self._text_with_calls()
        if reason is StopReason.COMPLETED and last_text.strip():
            yield PhaseEntered(Phase.OUTPUT)
            yield self._finished(reason, last_text)
            return
        answer = self._state.answer or AssistantMessage()
        composed = not answer.text.strip()
        undone = await self._undone(answer.text, reason)
        if undone:
            reason = StopReason.NOT_DONE
        is_cut = reason in _CUT and self._state.turn.checks_answer
        if composed or is_cut or reason not in _ENDS_WITH_ANSWER:
            addition = _gap(answer.text, reason) + (
                undone
                or self._state.prompt_denied
                or self._composer.compose(reason, self._results(), self._state.failure)
            )
            answer = with_own_words(
                answer,
                after=addition,
                is_fact=reason in _TOLD,
            )
            yield TextDelta(addition)
        if reason is StopReason.CONTENT_FILTER or isinstance(
            self._state.failure, ContentRefused
        ):
            answer = replace(
                answer,
                provider_items=(*answer.provider_items, DECLINED),
            )
        yield MessageDone(answer)
        yield PhaseEntered(Phase.OUTPUT)
        yield replace(
            self._finished(reason, answer.text),
            composed=composed,
        )

    def _text_with_calls(self) -> str:
        """Return the text of the last message of the model, if its calls end the turn."""
        if not self._state.open_calls:
            return ""
        return next(
            one.text
            for one in reversed(self._transcript.messages)
            if isinstance(one, AssistantMessage)
        )

    def _unanswered(self) -> list[OpenCall]:
        """Return the calls without a result. A call that waits for approval got its result with its siblings."""
        unanswered = open_calls(self._transcript.messages)
        return [
            judged for judged in self._state.open_calls if judged.call in unanswered
        ]

    async def _undone(
        self,
        answer: str,
        reason: StopReason,
    ) -> str:
        """Return a sentence on changes that calls of the turn failed to make; empty if its end tells them."""
        turn = self._state.turn
        is_empty = not answer.strip()
        if reason is not StopReason.COMPLETED or (is_empty and self._results()):
            return ""
        if not turn.checks_answer or (
            turn.approval and turn.approval.approved != turn.approval.calls
        ):
            return ""
        reading = {tool.name for tool in turn.tools} - changing_tools(turn.tools)
        results = results_in(self._transcript.messages)
        changing = [one for one in results if one.name not in reading]
        return await self._composer.undone(changing, answer)

    def _results(self) -> tuple[ToolResult, ...]:
        """Return the results of the calls that ran."""
        results = results_in(self._transcript.messages)
        return tuple(one for one in results if not one.synthetic)

    def _finished(
        self,
        reason: StopReason,
        text: str = "",
    ) -> TurnFinished:
        state = self._state
        done = tuple(one for one in self._results() if not one.is_error)
        bound = next(
            (one for one in (reason, state.last_call) if one in _BOUNDS),
            None,
        )
        _LOGGER.log(
            logging.WARNING if bound else logging.DEBUG,
            "A turn ended as %s after %d inferences, %d tool calls and %.1f s%s",
            reason,
            state.iterations,
            state.tool_calls,
            state.turn.limits.deadline - self._time_left(),
            f", at its bound {bound}" if bound else "",
        )
        return TurnFinished(
            reason,
            text,
            state.usage,
            state.iterations,
            done,
            error=state.failure,
            misfit=state.misfit,
        )


def _as_models_read(turn: Turn) -> Turn:
    """Return a turn whose history holds only words of models; what else matters is told before the new words."""
    words: Message = UserMessage(
        "",
        context=turn.context,
        omitted=turn.omitted,
    )
    earlier = without_searches(repair(turn.history))
    *history, words = as_models_read(without_declined((*earlier, words)))
    context, omitted = (
        (words.context, words.omitted) if isinstance(words, UserMessage) else ("", "")
    )
    return replace(
        turn,
        history=tuple(history),
        context=context,
        omitted=omitted,
    )


def _gap(text: str, reason: StopReason) -> str:
    """Return what stands between a text and words of ours after it; dots where the text breaks off."""
    if not text.strip():
        return ""
    if reason in _BREAKS_OFF and not text.rstrip().endswith(_SENTENCE_ENDS):
        return "… "
    if text[-1].isspace():
        return ""
    return " "


def _noted(result: ToolResult, note: str) -> ToolResult:
    """Add a note to a result for the model; a JSON object remains one."""
    if not note:
        return result
    if not is_json_object(result.content):
        return replace(
            result,
            content=f"{result.content}\n({note})",
        )
    members = result.content.lstrip()[1:].lstrip()
    if members.startswith("}"):
        comma = ""
    else:
        comma = ","
    return replace(
        result,
        content=f'{{"note":{canonical_json(note)}{comma}{members}',
    )
