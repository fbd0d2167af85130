"""One turn of an agent: prepares it, runs the loop, records it, and requests approval for the calls that need it.

The input was read before (`input.py`); a turn starts with a request, or with an answer
that came from elsewhere.
"""

from collections import OrderedDict
from collections.abc import AsyncGenerator, Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Final
from weakref import WeakValueDictionary

from homeassistant.components.conversation import ChatLog
from homeassistant.config_entries import ConfigEntry, ConfigSubentry
from homeassistant.core import CALLBACK_TYPE, HomeAssistant, callback
from homeassistant.helpers.singleton import singleton
from homeassistant.util.hass_dict import HassKey
from homeassistant.util.json import json_loads_object
from homeassistant.util.ulid import ulid_now

from ..agent.errors import AgentError
from ..agent.events import StopReason, TurnEvent
from ..agent.loop.hooks import HookChain
from ..agent.loop.turn import Turn
from ..agent.messages import (
    AssistantMessage,
    ToolCall,
    ToolDefinition,
    ToolResult,
    UserMessage,
)
from ..agent.protocols import Ask, Deny, HookPoint, Hooks
from ..agent.text import MOST_COMPARED, fold
from ..agent.timeouts import is_cancelled
from ..agent.transcript import has_outside_content, outside_results
from ..approvals.asking import ApprovalRequester, actions_text, unmeant_text
from ..approvals.guard import CallGuard
from ..approvals.questions import ApprovalScope, Question, async_get_approvals
from ..approvals.request_check import RequestCheck
from ..approvals.review import CallReview, Refusal
from ..const import DOMAIN, LOGGER, SUBENTRY_CONVERSATION
from ..effects.recognition import async_is_never_mind
from ..history.stores import async_get_histories
from ..home.request import QUESTION_ENDS
from ..offline.context import async_note_unclear
from ..people.speakers import Asking, in_turn
from ..records.turn_record import TurnRecord, found_nothing, targets_done
from ..repairs import async_report_broken_template, async_report_missing_tools
from ..runtime.agents import Agent
from ..runtime.health import async_check_health
from ..settings.tool_names import SENTENCE_TOOL
from ..speech.sentences import TranslatedComposer, async_get_sentences, in_sentences
from ..speech.text import REPORTS, AnswerContent, Statement, answer_content, asks_back
from ..tools.annotations import acts_by_name
from ..tools.own.own_tool import Approval
from ..tools.turn_tools import TurnTools, async_gather_tools
from .chat_log import async_stream_into_chat_log, history
from .continuity import Continuity, Thread
from .input import TurnInput
from .prepare import PreparedTurn, SentPrompts, async_prepare
from .record import (
    TurnRecorder,
    async_audit,
    async_start_recording,
    reply_events,
    turn_origin,
)
from .script_hooks import ScriptHooks, SpeechScriptHooks
from .source import TurnSource

_EARLIER: Final = 6
"""Messages before a turn in which a name may be found that its words leave out, but not in a question."""


type TakeTurns = Callable[[str, AgentTurns], CALLBACK_TYPE]

turn_takers: Final = singleton(HassKey[list[TakeTurns]](f"{DOMAIN}_turn_takers"))(
    lambda _: []
)
"""Returns what is given the turns of each conversation agent that is loaded, to run some of its own: it is called with
the subentry id, and returns what ends that."""


@dataclass(slots=True)
class AgentTurns:
    """The turns of one agent: those that are running, and the problems of the agent in the last one."""

    _hass: HomeAssistant
    agent_id: str
    """Entity id."""
    _entry: ConfigEntry
    _subentry: ConfigSubentry
    _agent: Agent
    _template_error: str | None = None
    _missing_apis: tuple[str, ...] = ()
    _is_over: bool = False
    _prompts: SentPrompts = field(default_factory=OrderedDict)
    _latest: WeakValueDictionary[str, TurnRecord] = field(
        default_factory=WeakValueDictionary
    )
    """The latest turn of each conversation. Resumed turns, which nobody hears, do not count."""

    @property
    def _continuity(self) -> Continuity:
        return Continuity(
            self._hass,
            self._entry,
            self._subentry,
            self.agent_id,
            self._agent.settings,
        )

    @callback
    def end(self) -> None:
        """Ask no more questions, not even in running turns: the next agent may have other rules."""
        self._is_over = True
        async_get_approvals(self._hass).drop_all_of(self.agent_id)

    async def async_give_up(self, turn_input: TurnInput, conversation_id: str) -> None:
        """Record that approved calls did not run, because their turn could not start."""
        thread, record = (
            self._continuity.thread_of(conversation_id),
            self._new_record(turn_input),
        )
        record.origin = turn_origin(
            turn_input.user_input,
            self.agent_id,
            conversation_id,
            turn_input.speaker,
            thread.id,
        )
        (await async_audit(self._hass, turn_input, record)).finished()

    async def async_prepare(
        self, turn_input: TurnInput, chat_log: ChatLog
    ) -> PreparedTurn:
        """Prepare a turn. Raises the error of its source for an unknown tool that it requests."""
        return await self._async_prepare(
            turn_input, chat_log, self._new_record(turn_input)
        )

    async def async_run(
        self,
        turn_input: TurnInput,
        chat_log: ChatLog,
        prepared: PreparedTurn | None = None,
    ) -> TurnRecord:
        """Run a turn. A source that may request unknown tools has it prepared first. Raises only for bugs."""
        try:
            with async_get_histories(self._hass).awaiting():
                async with turn_input.running:
                    return await self._async_run(turn_input, chat_log, prepared)
        finally:
            async_check_health(self._hass)

    async def _async_run(
        self, turn_input: TurnInput, chat_log: ChatLog, prepared: PreparedTurn | None
    ) -> TurnRecord:
        source, asked_for = turn_input.source, turn_input.user_input.conversation_id
        record = prepared.record if prepared else self._new_record(turn_input)
        thread = await source.async_thread(
            self._continuity, asked_for, turn_input.speaker, chat_log
        )
        record.origin = turn_origin(
            turn_input.user_input,
            self.agent_id,
            chat_log.conversation_id,
            turn_input.speaker,
            thread.id,
        )
        if not turn_input.is_resumed:
            self._latest[chat_log.conversation_id] = record
        recorder = await async_start_recording(
            self._hass, self._entry, self._subentry, turn_input, record
        )
        recorder.notices = thread.notices
        try:
            with in_turn():
                if turn_input.reply:
                    stream = reply_events(turn_input.reply)
                else:
                    prepared = prepared or await self._async_prepare(
                        turn_input, chat_log, record
                    )
                    stream = await self.async_stream(
                        turn_input, prepared, thread, recorder
                    )
                wait, follow = (
                    recorder.recording.async_wait_until_stored,
                    recorder.async_follow,
                )
                await async_stream_into_chat_log(
                    chat_log, self.agent_id, stream, record, wait, follow=follow
                )
            if summaries := source.summaries(self._agent.summaries):
                summaries.async_after_turn(thread.id, history(chat_log))
        finally:
            recorder.finish()
        return record

    def _new_record(self, turn_input: TurnInput) -> TurnRecord:
        return turn_input.source.new_record(
            turn_input.stored_text, self._subentry.subentry_id
        )

    async def _async_prepare(
        self, turn_input: TurnInput, chat_log: ChatLog, record: TurnRecord
    ) -> PreparedTurn:
        prepared = await async_prepare(
            self._agent, turn_input, chat_log, record, self._prompts
        )
        if prepared.settings is self._agent.settings:
            self._note_missing(prepared.tools.missing_apis)
        if prepared.template_error != self._template_error:
            self._note_template(prepared.template_error)
        return prepared

    async def async_judge(
        self, turn_input: TurnInput, call: ToolCall, *, asks_scripts: bool
    ) -> tuple[Deny | Ask | None, CallReview]:
        """Judge a call as if the speaker asked for it now, by the rules and the owner's scripts; it does not run."""
        where, user_input, speaker, agent = (
            ulid_now(),
            turn_input.user_input,
            turn_input.speaker,
            self._agent,
        )
        record, arguments = (
            self._new_record(turn_input),
            json_loads_object(call.arguments),
        )
        record.origin = turn_origin(user_input, self.agent_id, where, speaker)
        with in_turn():
            tools = await async_gather_tools(
                *(self._hass, user_input, where, agent.settings),
                understands_sentences=agent.understands_sentences,
                agent=agent.id,
                speaker=replace(
                    speaker, asking=Asking.PERSON
                ),  # a guess has its effects, too
            )
            effects_of = tools.dispatcher.async_effects
            guard = CallGuard(
                self._hass,
                None,
                speaker,
                effects_of,
                has_outside_content=False,
                labels=tools.labels,
            )
            unknown = ToolDefinition(call.name, "", {})
            tool = next(
                (one for one in tools.definitions if one.name == call.name), unknown
            )
            hooks: Sequence[Hooks] = (guard,)
            if asks_scripts and agent.settings.scripts:
                sentences = await async_get_sentences(self._hass, user_input.language)
                composer = TranslatedComposer(sentences, tools.definitions)
                hooks = (guard, *self._scripts(turn_input, record, composer, tools))
            chain = HookChain(hooks, lambda: agent.settings.limits.tool_timeout)
            result = await chain.pre_tool_use(tool, arguments, lambda value: value)
        return (
            result.decision if result.value == arguments else Deny("")
        ), guard.reviews[0]

    async def async_stream(
        self,
        turn_input: TurnInput,
        prepared: PreparedTurn,
        thread: Thread,
        recorder: TurnRecorder,
    ) -> AsyncGenerator[TurnEvent]:
        """Return the events of a turn, under the rules of the owner."""
        tools, record, language = (
            prepared.tools,
            prepared.record,
            turn_input.user_input.language,
        )
        turn, source, user_input = (
            prepared.turn,
            turn_input.source,
            turn_input.user_input,
        )
        sentences, confirmation = (
            await async_get_sentences(self._hass, language),
            self._agent.settings.confirmation,
        )
        if summaries := turn_input.source.summaries(self._agent.summaries):
            turn = summaries.async_begin_turn(thread.id, turn)
        record.context, record.omitted, record.attachments = (
            turn.context,
            turn.omitted,
            turn.attachments,
        )
        is_new = turn_input.answered is None and not turn.attachments
        is_spoken = (
            self._subentry.subentry_type == SUBENTRY_CONVERSATION
            and source.acts_locally()
        )
        if is_new and is_spoken and await async_is_never_mind(self._hass, user_input):
            async_note_unclear(self._hass, thread.id, "")
            return reply_events(sentences["spoken_never_mind"])
        composer = TranslatedComposer(
            sentences, tools.definitions, confirmation, tools.done_keys
        )
        check = self._check(turn_input, tools, turn)
        guard = self._guard(turn_input, tools, turn, thread, check)
        recorder.audit.reviewed_by(guard)
        tools.own.offered, tools.own.allowed = turn.tools, turn.allowed_tools
        tools.own.approval_of = partial(self._approval, guard, composer)
        recorder.requester = self._requester(turn_input, record, guard, composer)
        local_requests = None
        if source.falls_back():
            is_request = is_new and not user_input.extra_system_prompt
            local_requests = self._agent.local_requests(
                user_input,
                turn.history,
                lambda: bool(guard.refusals),
                is_new=is_request,
            )
            if local_requests and check and source.acts_locally():
                local_requests = replace(local_requests, check=check)
                check.tools = (
                    turn.tools if self._agent.goes_beside_model(local_requests) else ()
                )
        is_tried_alone = source.provider() is not None  # then it is heard as it is
        loop = self._agent.build_loop(
            tools,
            turn.limits,
            self._hooks(turn_input, tools, recorder, composer, guard),
            _Composer(
                self._hass,
                composer,
                guard,
                turn_input,
                None if is_tried_alone else check,
            ),
            partial(self._agent.took_over, composer.sentences),
            falls_back=source.falls_back(),
            local_requests=local_requests,
            acts_locally=source.acts_locally(),
            provider=source.provider(),
        )
        return loop.stream(turn)

    def _guard(
        self,
        turn_input: TurnInput,
        tools: TurnTools,
        turn: Turn,
        thread: Thread,
        check: RequestCheck | None,
    ) -> CallGuard:
        """Return the guard of a turn: the rules of the home, for the person and the words of the turn."""
        return CallGuard(
            self._hass,
            None,
            turn_input.speaker,
            tools.dispatcher.async_effects,
            has_outside_content=thread.is_cut or has_outside_content(turn.history),
            labels=tools.labels,
            temperatures=thread.temperatures,
            agreed=turn_input.agreed,
            request=turn_input.request,
            language=turn_input.user_input.language,
            outside_tool=next(
                (one.name for one in reversed(outside_results(turn.history))), ""
            ),
            check=check,
            timed=tools.own.timed,
        )

    def _approval(
        self, guard: CallGuard, composer: TranslatedComposer, call: ToolCall
    ) -> Approval | None:
        """Return the approval of a call for another time; None for one that runs now."""
        seen = guard.review(call)
        if seen is None or seen.when is None:
            return None
        actions = actions_text(self._hass, composer.sentences, seen)
        return Approval(guard.terms_of(call), actions)

    def _check(
        self, turn_input: TurnInput, tools: TurnTools, turn: Turn
    ) -> RequestCheck | None:
        """Return the check of calls against the words of a request; None for an answer, and for no person's words."""
        asking, answered = turn_input.speaker.asking, turn_input.answered
        is_compared = turn.user_text and len(turn_input.request) <= MOST_COMPARED
        if (
            asking is Asking.TRUSTED
            or not is_compared
            or (answered and not answered.is_choice)
        ):
            return None
        messages = (
            one.text
            for one in turn.history[-_EARLIER:]
            if isinstance(one, UserMessage | AssistantMessage)
        )
        earlier = [
            text for text in messages if not text.rstrip().endswith(QUESTION_ENDS)
        ]
        is_person = asking is Asking.PERSON
        return RequestCheck(
            self._hass,
            replace(tools.request, text=turn_input.request),
            earlier,
            chosen=answered.chosen_calls if answered else frozenset(),
            can_ask=is_person,
            # A chosen call does not pass the owner's scripts.
            can_choose=is_person
            and turn_input.source.asks_in_words()
            and HookPoint.PRE_TOOL_USE not in self._agent.settings.scripts,
        )

    def _hooks(
        self,
        turn_input: TurnInput,
        tools: TurnTools,
        recorder: TurnRecorder,
        composer: TranslatedComposer,
        guard: CallGuard,
    ) -> Sequence[Hooks]:
        """Return what sees each call, in this order: names, audit, the owner's scripts, the source, and the guard.

        The audit precedes the guard only for what scripts and sources do to a call.
        """
        scripts = (
            self._scripts(turn_input, recorder.record, composer, tools)
            if self._agent.settings.scripts
            else ()
        )
        before_guard = (*scripts, *turn_input.source.hooks(tools))
        return (
            tools.own,
            tools.name_resolver,
            *((recorder.audit, *before_guard) if before_guard else ()),
            guard,
        )

    def _requester(
        self,
        turn_input: TurnInput,
        record: TurnRecord,
        guard: CallGuard,
        composer: TranslatedComposer,
    ) -> ApprovalRequester:
        scope_id = turn_input.source.question_scope or str(
            record.origin["conversation_id"]
        )
        return ApprovalRequester(
            hass=self._hass,
            user_input=turn_input.user_input,
            scope=ApprovalScope.of_input(
                turn_input.user_input, self.agent_id, scope_id
            ),
            speaker=turn_input.speaker,
            origin=record.origin,
            approved=turn_input.approved,
            guard=guard,
            composer=composer,
            keep=partial(self._keep, turn_input.source),
            is_written=turn_input.source.asks_in_words(),
        )

    def _keep(self, source: TurnSource, question: Question, expires_in: float) -> bool:
        if self._is_over or source.resume is None:
            return False
        question = replace(
            question, is_personal=source.is_personal, running=source.running
        )
        async_get_approvals(self._hass).ask(question, expires_in, source.resume)
        return True

    def async_note_heard(self, turn_input: TurnInput, record: TurnRecord) -> None:
        """Mark the question of a turn as heard, unless the turn was cut off, resumed, or followed by another.

        Call it last, without awaiting anything before the result of the turn is
        returned.
        """
        pending = record.finished.pending if record.finished else None
        question_id = pending.id if pending else turn_input.said_again
        if (
            question_id
            and not is_cancelled()
            and self._latest.get(str(record.origin["conversation_id"])) is record
        ):
            async_get_approvals(self._hass).note_heard(question_id)

    def _scripts(
        self,
        turn_input: TurnInput,
        record: TurnRecord,
        composer: TranslatedComposer,
        tools: TurnTools,
    ) -> Sequence[Hooks]:
        """Return the owner's scripts as hooks."""
        by_point, context = self._agent.settings.scripts, turn_input.user_input.context
        refusal, asking = (
            composer.sentences["spoken_prompt_denied"],
            turn_input.speaker.asking,
        )
        kind = SpeechScriptHooks if HookPoint.PRE_SPEECH in by_point else ScriptHooks
        is_due = turn_input.source.is_due
        asking = Asking.NOBODY if is_due else asking
        common = (
            self._hass,
            self._subentry,
            by_point,
            context,
            record.origin,
            refusal,
            asking,
        )
        return (kind(*common, tools.own.timed, is_due),)

    def _note_missing(self, apis: tuple[str, ...]) -> None:
        """Report missing sources of tools, and their return."""
        if apis != self._missing_apis:
            self._missing_apis = apis
            async_report_missing_tools(self._hass, self._subentry, apis)

    def _note_template(self, error: str | None) -> None:
        """Report instructions that cannot be rendered, and their recovery."""
        if error is not None:
            LOGGER.warning(
                "The instructions of %s cannot be rendered: %s", self.agent_id, error
            )
        self._template_error = error
        async_report_broken_template(self._hass, self._subentry, error)


@dataclass(frozen=True, slots=True)
class _Composer:
    """The `ResponseComposer` of a turn. If the model gave no answer, it explains why something was not done."""

    hass: HomeAssistant
    composer: TranslatedComposer
    guard: CallGuard
    turn_input: TurnInput
    check: RequestCheck | None

    def compose(
        self,
        reason: StopReason,
        tool_results: Sequence[ToolResult],
        error: AgentError | None,
    ) -> str:
        is_declined = (
            self.turn_input.answered is not None and not self.turn_input.approved
        )
        reasons: list[str] = [
            *(["declined"] if is_declined else []),
            *self.guard.refusals,
        ]
        if reason is not StopReason.COMPLETED or error is not None or not reasons:
            return self.composer.compose(reason, tool_results, error)
        unreachable, sentences = self._unreachable(), [self.composer.done(tool_results)]
        others = [one for one in reasons if one is not Refusal.NOT_MEANT]
        others = [
            one for one in others if one is not Refusal.UNREACHABLE or not unreachable
        ]
        sentences += [
            self._unmeant(),
            unreachable,
            *(self.composer.sentences[f"spoken_{one}"] for one in others[-1:]),
        ]
        return in_sentences([*filter(None, sentences)])

    def announces(self, answer: str) -> bool:
        return self._content(answer).ends_with_announcement

    def _content(self, answer: str) -> AnswerContent:
        return answer_content(
            answer, self.turn_input.request, self.turn_input.user_input.language
        )

    async def _reports_done(self, answer: str) -> bool:
        """Return whether an answer tells of a command as if it was done, while something is not as it was wanted."""
        content = self._content(answer)
        is_plain = (
            not content.asks
            and not content.has_reservations
            and {*content.statements} <= REPORTS
        )
        return (
            is_plain
            and self.check is not None
            and await self.check.async_is_left_undone()
        )

    async def undone(self, tool_results: Sequence[ToolResult], answer: str) -> str:
        if asks_back(answer, self.turn_input.user_input.language) or (
            self.guard.refusals and not answer.strip()
        ):
            return ""
        if not tool_results and await self._reports_done(answer):
            return self.composer.sentences["spoken_not_done"]
        unreachable = self._unreachable()
        offered = {tool.name for tool in self.composer.tools}
        tried = [
            result
            for result in tool_results
            if not (result.synthetic and unreachable)
            and (result.name in offered or acts_by_name(result.name))
        ]
        undone = self.composer.undone(tried, answer)
        tells_itself = {*self._content(answer).statements} == {Statement.CANNOT}
        if tells_itself and undone == self.composer.sentences["spoken_not_done"]:
            undone = ""
        return " ".join(
            filter(
                None,
                (self._untold(tried, answer), self._unmeant() or undone, unreachable),
            )
        )

    def _untold(self, tried: Sequence[ToolResult], answer: str) -> str:
        """Return what was done beside something that was not, if an answer tells of the latter alone."""
        worked = [
            result for result in tried if not (result.is_error or result.synthetic)
        ]
        names = [
            fold(target.name) for one in worked for target in targets_done(one.native)
        ]
        is_told = not {Statement.DONE, Statement.STATE}.isdisjoint(
            self._content(answer).statements
        )
        is_told |= any(name in fold(answer) for name in names)
        # A sentence that Home Assistant could not make anything of counts as if it had
        # not been tried.
        tried = [
            result
            for result in tried
            if result.name != SENTENCE_TOOL or not found_nothing(result)
        ]
        failed = {result.name for result in tried if result not in worked}
        # A call that failed before one of the same tool was repaired.
        is_partial = bool(
            failed - {one.name for one in worked} or (tried and tried[-1] not in worked)
        )
        return (
            self.composer.done(worked) if is_partial and names and not is_told else ""
        )

    def _unreachable(self) -> str:
        names = self.guard.unreachable()
        return self.composer.unreachable(names) if names else ""

    def _unmeant(self) -> str:
        """Return what only content from outside may have asked for; empty if nothing was refused for that."""
        calls = self.guard.unmeant
        return unmeant_text(self.hass, self.composer.sentences, calls) if calls else ""
