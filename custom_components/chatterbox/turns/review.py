"""The review of the calls of a turn: what sees each of them, and what the turn says of those that were not let through.

Turns are built with a list of reviewers, in the order in which they see a call; all of
them are `REVIEWERS`. A reviewer returns its hooks, or none for a turn in which it has no
say, and connects them with the rest of the review.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final, override

from homeassistant.components.conversation import DOMAIN as CONVERSATION
from homeassistant.config_entries import ConfigSubentry
from homeassistant.core import HomeAssistant
from homeassistant.util.json import json_loads_object
from homeassistant.util.ulid import ulid_now

from ..agent.errors import AgentError
from ..agent.events import StopReason
from ..agent.loop.hooks import HookChain
from ..agent.messages import (
    AssistantMessage,
    ToolCall,
    ToolDefinition,
    ToolResults,
    UserMessage,
)
from ..agent.protocols import Ask, Deny, HookPoint, Hooks, ResponseComposer
from ..agent.text import MOST_COMPARED, fold
from ..agent.transcript import has_outside_content, outside_results
from ..approvals.asking import ApprovalRequester, Keep, actions_text, unmeant_text
from ..approvals.audit import CallAudit
from ..approvals.guard import CallGuard
from ..approvals.questions import ApprovalScope
from ..approvals.request_check import RequestCheck
from ..approvals.review import CallReview, Refusal
from ..home.entities import async_get_home
from ..home.request import QUESTION_ENDS
from ..people.speakers import Asking, in_turn
from ..records.turn_record import Origin, found_nothing, targets_done
from ..runtime.agents import Agent
from ..settings.tool_names import SENTENCE_TOOL
from ..speech.sentences import (
    Sentences,
    TranslatedComposer,
    async_get_sentences,
    in_sentences,
)
from ..speech.text import REPORTS, AnswerContent, Statement, answer_content, asks_back
from ..tools.annotations import acts_by_name
from ..tools.own.own_tool import Approval
from ..tools.turn_tools import TurnTools, async_gather_tools
from .continuity import Thread
from .input import TurnInput
from .prepare import PreparedTurn
from .record import TurnRecorder, turn_origin
from .script_hooks import ScriptHooks, SpeechScriptHooks

_EARLIER: Final = 6
"""Messages before a turn in which a name may be found that its words leave out, but not in a question."""


@dataclass(frozen=True, slots=True)
class TurnReview(ResponseComposer):
    """The review of the calls of one turn. As its `ResponseComposer`, it explains what was not done."""

    of_agent: AgentReviews
    turn_input: TurnInput
    tools: TurnTools
    origin: Origin
    composer: TranslatedComposer
    guard: CallGuard
    audit: CallAudit | None = None
    """None for a call that is only judged."""
    check: RequestCheck | None = None

    @property
    def sentences(self) -> Sentences:
        """The sentences in the language of the turn."""
        return self.composer.sentences

    def hooks(self, reviewers: Iterable[Reviewer]) -> list[Hooks]:
        """Return what sees each call, in the order of some reviewers."""
        return [hook for reviewer in reviewers for hook in reviewer(self)]

    def approval_of(self, call: ToolCall) -> Approval | None:
        """Return the approval of a call for another time; None for one that runs now."""
        seen = self.guard.review(call)
        if seen is None or seen.when is None:
            return None
        actions = actions_text(
            self.of_agent.hass,
            self.sentences,
            seen,
        )
        return Approval(self.guard.terms_of(call), actions)

    def requester(self, keep: Keep) -> ApprovalRequester:
        """Return what asks about calls."""
        source = self.turn_input.source
        user_input = self.turn_input.user_input
        scope_id = source.question_scope or str(self.origin["conversation_id"])
        return ApprovalRequester(
            hass=self.of_agent.hass,
            user_input=user_input,
            scope=ApprovalScope.of_input(
                user_input,
                self.of_agent.id,
                scope_id,
            ),
            speaker=self.turn_input.speaker,
            origin=self.origin,
            approved=self.turn_input.approved,
            guard=self.guard,
            composer=self.composer,
            keep=keep,
            is_written=source.asks_in_words(),
        )

    @override
    def compose(
        self,
        reason: StopReason,
        tool_results: ToolResults,
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
            return self.composer.compose(
                reason,
                tool_results,
                error,
            )
        unreachable = self._unreachable()
        sentences = [self.composer.done(tool_results)]
        others = [one for one in reasons if one is not Refusal.NOT_MEANT]
        others = [
            one for one in others if one is not Refusal.UNREACHABLE or not unreachable
        ]
        sentences += [
            self._unmeant(),
            unreachable,
            *(self.sentences[f"spoken_{one}"] for one in others[-1:]),
        ]
        return in_sentences(sentences)

    @override
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
            and self.turn_input.source.provider is None  # else it is heard as it is
            and await self.check.async_is_left_undone()
        )

    @override
    async def undone(
        self,
        tool_results: ToolResults,
        answer: str,
    ) -> str:
        if asks_back(answer, self.turn_input.user_input.language) or (
            self.guard.refusals and not answer.strip()
        ):
            return ""
        if not tool_results and await self._reports_done(answer):
            return self.sentences["spoken_not_done"]
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
        if tells_itself and undone == self.sentences["spoken_not_done"]:
            undone = ""
        return " ".join(
            filter(
                None,
                (
                    self._untold(tried, answer),
                    self._unmeant() or undone,
                    unreachable,
                ),
            )
        )

    def _untold(
        self,
        tried: ToolResults,
        answer: str,
    ) -> str:
        """Return what was done beside something that was not, if an answer tells of the latter alone."""
        worked = [
            result for result in tried if not (result.is_error or result.synthetic)
        ]
        if not _is_partial(tried, worked):
            return ""
        names = [
            fold(target.name) for one in worked for target in targets_done(one.native)
        ]
        statements = {*self._content(answer).statements}
        is_told = bool(statements & {Statement.DONE, Statement.STATE})
        is_told |= any(name in fold(answer) for name in names)
        if is_told or not names:
            return ""
        return self.composer.done(worked)

    def _unreachable(self) -> str:
        names = self.guard.unreachable()
        if names:
            return self.composer.unreachable(names)
        return ""

    def _unmeant(self) -> str:
        """Return what only content from outside may have asked for; empty if nothing was refused for that."""
        calls = self.guard.unmeant
        if calls:
            return unmeant_text(
                self.of_agent.hass,
                self.sentences,
                calls,
            )
        return ""


def _is_partial(
    tried: ToolResults,
    worked: ToolResults,
) -> bool:
    """Return whether something else than what worked was not done."""
    # A sentence that Home Assistant could not make anything of counts as if it had not
    # been tried.
    tried = [
        result
        for result in tried
        if result.name != SENTENCE_TOOL or not found_nothing(result)
    ]
    if not tried:
        return False
    # A call that failed before one of the same tool was repaired.
    failed = {result.name for result in tried if result not in worked}
    return bool(failed - {one.name for one in worked}) or tried[-1] not in worked


type Reviewer = Callable[[TurnReview], Sequence[Hooks]]
"""Returns what sees each call of a turn."""


def names(review: TurnReview) -> Sequence[Hooks]:
    """Return what resolves times and names, so that all others see what is meant."""
    review.tools.own.approval_of = review.approval_of
    return review.tools.own, review.tools.name_resolver


def audit(review: TurnReview) -> Sequence[Hooks]:
    """Return the audit, which precedes what may deny a call before it is judged."""
    if review.audit:
        review.audit.guard = review.guard
        return (review.audit,)
    return ()


def scripts(review: TurnReview) -> Sequence[Hooks]:
    """Return the owner's scripts."""
    by_point = review.of_agent.agent.settings.scripts
    turn_input = review.turn_input
    if not by_point:
        return ()
    is_due = turn_input.source.is_due
    kind = SpeechScriptHooks if HookPoint.PRE_SPEECH in by_point else ScriptHooks
    hook = kind(
        review.of_agent.hass,
        review.of_agent.subentry,
        by_point,
        turn_input.user_input.context,
        review.origin,
        review.sentences["spoken_prompt_denied"],
        Asking.NOBODY if is_due else turn_input.speaker.asking,
        review.tools.own.timed,
        decides_on_approved=is_due,
    )
    return (hook,)


def source(review: TurnReview) -> Sequence[Hooks]:
    """Return the hooks of the source of the turn."""
    return review.turn_input.source.hooks(review.tools)


def rules(review: TurnReview) -> Sequence[Hooks]:
    """Return the rules of the home."""
    return (review.guard,)


REVIEWERS: Final = (
    names,
    audit,
    scripts,
    source,
    rules,
)


@dataclass(frozen=True, slots=True)
class AgentReviews:
    """Reviews the calls of one agent."""

    agent: Agent
    id: str
    """Entity id."""
    subentry: ConfigSubentry

    @property
    def hass(self) -> HomeAssistant:
        """The home of the agent."""
        return self.agent.hass

    def begin(
        self,
        turn_input: TurnInput,
        prepared: PreparedTurn,
        thread: Thread,
        recorder: TurnRecorder,
        sentences: Sentences,
    ) -> TurnReview:
        """Begin to review a turn in a language, by its sentences."""
        tools = prepared.tools
        turn = prepared.turn
        settings = self.agent.settings
        check = self._check(turn_input, prepared)
        guard = self._guard(
            turn_input,
            prepared,
            thread,
            check,
        )
        reported = tools.definitions, settings.confirmation, tools.done_keys
        composer = TranslatedComposer(sentences, *reported)
        review = TurnReview(
            self,
            turn_input,
            tools,
            recorder.record.origin,
            composer,
            guard,
            recorder.audit,
            check,
        )
        tools.own.offered = turn.tools
        tools.own.allowed = turn.allowed_tools
        return review

    def _guard(
        self,
        turn_input: TurnInput,
        prepared: PreparedTurn,
        thread: Thread,
        check: RequestCheck | None,
    ) -> CallGuard:
        """Return the rules of the home, for the person and the words of a turn."""
        tools = prepared.tools
        history = prepared.turn.history
        outside = [one.name for one in outside_results(history)]
        return CallGuard(
            self.hass,
            None,
            turn_input.speaker,
            tools.dispatcher.async_effects,
            has_outside_content=thread.is_cut or has_outside_content(history),
            labels=tools.labels,
            temperatures=thread.temperatures,
            agreed=turn_input.agreed,
            request=turn_input.request,
            language=turn_input.user_input.language,
            outside_tool=outside[-1] if outside else "",
            check=check,
            timed=tools.own.timed,
            is_due=turn_input.source.is_due,
            has_model=bool(self.agent.settings.model),
        )

    def _check(
        self, turn_input: TurnInput, prepared: PreparedTurn
    ) -> RequestCheck | None:
        """Return the check of calls against the words of a request; None for an answer, and for no person's words."""
        asking = turn_input.speaker.asking
        answered = turn_input.answered
        request = turn_input.request
        turn = prepared.turn
        if asking is Asking.TRUSTED or (answered and not answered.is_choice):
            return None
        if not turn.user_text or len(request) > MOST_COMPARED:
            return None
        messages = (
            one.text
            for one in turn.history[-_EARLIER:]
            if isinstance(one, UserMessage | AssistantMessage)
        )
        is_person = asking is Asking.PERSON
        return RequestCheck(
            self.hass,
            async_get_home(self.hass, CONVERSATION),
            replace(prepared.tools.request, text=request),
            [text for text in messages if not text.rstrip().endswith(QUESTION_ENDS)],
            chosen=answered.chosen_calls if answered else frozenset(),
            can_ask=is_person,
            # A chosen call does not pass the owner's scripts.
            can_choose=is_person
            and turn_input.source.asks_in_words()
            and HookPoint.PRE_TOOL_USE not in self.agent.settings.scripts,
        )

    async def async_judge(
        self, turn_input: TurnInput, call: ToolCall, *, asks_scripts: bool
    ) -> tuple[Deny | Ask | None, CallReview]:
        """Judge a call as if the speaker asked for it now, by the rules and the owner's scripts; it does not run."""
        user_input = turn_input.user_input
        speaker = turn_input.speaker
        agent = self.agent
        where = ulid_now()
        person = replace(speaker, asking=Asking.PERSON)
        with in_turn():
            tools = await async_gather_tools(
                self.hass,
                user_input,
                where,
                agent.settings,
                understands_sentences=agent.understands_sentences,
                agent=agent.id,
                speaker=person,  # a guess has its effects, too
            )
            guard = CallGuard(
                self.hass,
                None,
                speaker,
                tools.dispatcher.async_effects,
                has_outside_content=False,
                labels=tools.labels,
            )
            sentences = await async_get_sentences(self.hass, user_input.language)
            composer = TranslatedComposer(sentences, tools.definitions)
            origin = turn_origin(user_input, self.id, where, speaker)
            review = TurnReview(self, turn_input, tools, origin, composer, guard)
            hooks = review.hooks((rules, scripts) if asks_scripts else (rules,))
            chain = HookChain(
                hooks,
                lambda: agent.settings.limits.tool_timeout,
            )
            offered = (one for one in tools.definitions if one.name == call.name)
            tool = next(
                offered,
                ToolDefinition(call.name, "", {}),
            )
            arguments = json_loads_object(call.arguments)
            result = await chain.pre_tool_use(tool, arguments, lambda value: value)
        if result.value == arguments:
            decision = result.decision
        else:
            decision = Deny("")
        return decision, guard.reviews[0]
