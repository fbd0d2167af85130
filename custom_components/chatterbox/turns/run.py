"""One turn of an agent: gathers what it needs, has the loop walk it, records what happens, asks what has to be asked.

Knows what a turn is made of. Must not know how words reach an agent, what they mean as an answer, or what Home
Assistant makes of what is said. A turn begins with a person's words, or with an answer that came from elsewhere.
"""

from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from homeassistant.components.conversation import ChatLog
from homeassistant.config_entries import ConfigEntry, ConfigSubentry
from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers.dispatcher import async_dispatcher_send

from ..agent.errors import AgentError
from ..agent.events import StopReason, TurnEvent
from ..agent.loop.turn import Limits
from ..agent.messages import JsonValue, ToolResult
from ..agent.protocols import Hooks
from ..agent.transcript import has_outside_content
from ..approvals.asking import ApprovalRequester, scope_of
from ..approvals.audit import AuditedTurn, CallAudit
from ..approvals.change_record import async_get_change_texts
from ..approvals.guard import CallGuard
from ..approvals.questions import Question, Resume, async_get_approvals
from ..approvals.wording import ApprovalSentences
from ..const import LOGGER
from ..history.recording import TurnRecording
from ..history.stores import async_get_histories
from ..people.speakers import in_turn
from ..records.news import SIGNAL_TURN, TurnNews
from ..records.report import TurnReport
from ..repair_issues import async_report_broken_template, async_report_missing_tools
from ..responses.api_turn import ProgramApprovals
from ..runtime.agents import Agent
from ..speech.sentences import TranslatedComposer, async_get_composer
from .canned_replies import Opening, reply_events
from .chat_log import async_record_turn, history
from .continuity import Continuity, Thread
from .events import TurnEvents, turn_origin
from .following import TurnFollowing
from .input import Beginning
from .prepare import Gathered, async_gather
from .script_hooks import HookScripts, script_hooks
from .warm_up import WarmUp


class AgentTurns:
    """Takes the turns of one agent. Of them it keeps nothing but what was wrong with the agent in the last one."""

    def __init__(  # noqa: PLR0913 these are what an agent is made of
        self,
        hass: HomeAssistant,
        agent_id: str,
        entry: ConfigEntry,
        subentry: ConfigSubentry,
        agent: Agent,
        *,
        warm_up: WarmUp | None,
        go_on: Resume | None,
    ) -> None:
        """Take turns of the agent whose entity is `agent_id`. `go_on` is for `Approvals.ask`; None to ask nothing."""
        self._hass = hass
        self._agent_id = agent_id
        self._entry = entry
        self._subentry = subentry
        self._agent = agent
        self._warm_up = warm_up
        self._go_on = go_on
        self._continuity = Continuity(hass, entry, subentry, agent_id, agent.settings)
        self._template_error: str | None = None
        self._missing_apis: tuple[str, ...] = ()
        self._is_over = False

    @callback
    def end(self) -> None:
        """Ask nothing any more, also in turns that are not over yet: who comes next may have other rules."""
        self._is_over = True
        async_get_approvals(self._hass).drop_all_of(self._agent_id)

    @callback
    def _keep(self, go_on: Resume | None, question: Question, expires_in: float) -> bool:
        if self._is_over or go_on is None:
            return False
        async_get_approvals(self._hass).ask(question, expires_in, go_on)
        return True

    async def async_give_up(self, begin: Beginning, conversation_id: str) -> None:
        """Tell that what somebody has said yes to was not run: its turn could not begin."""
        thread = self._continuity.thread_of(conversation_id)
        origin = turn_origin(begin.user_input, self._agent_id, conversation_id, begin.speaker, thread.id)
        (await self._async_audit(begin, origin)).finished()

    async def async_take(self, begin: Beginning, chat_log: ChatLog) -> TurnReport:
        """Take a turn and record it in the ChatLog. Raises only for bugs, and `ApiError` for what a program may not."""
        with async_get_histories(self._hass).awaiting:
            return await self._async_take(begin, chat_log)

    async def _async_take(self, begin: Beginning, chat_log: ChatLog) -> TurnReport:
        report, program = TurnReport(begin.user_input.text), begin.program
        if program is None:
            gathered = None
            thread = await self._continuity.async_resume(begin.user_input.conversation_id, begin.speaker, chat_log)
        else:  # what cannot be done for it is no turn at all
            gathered = await self._async_gather(begin, chat_log, report)
            thread = Thread(program.request.conversation_id)
            program.begin()
            report.brought, report.functions = program.brought, program.functions
        origin = turn_origin(begin.user_input, self._agent_id, chat_log.conversation_id, begin.speaker, thread.id)
        is_kept = begin.is_kept
        events = TurnEvents(self._hass, begin.user_input.context, origin, tells_words=is_kept)
        audit = await self._async_audit(begin, origin)
        # Else the satellite would lose what was said there to who only says to be at it.
        kept_as = {**origin, "device_id": begin.speaker.sure_device_id}
        recording = TurnRecording(self._hass, self._entry, self._subentry, kept_as, report, is_wanted=is_kept)
        events.started()
        try:
            with in_turn():
                following = TurnFollowing(events, audit, Opening(begin.opening) if begin.opening else None)
                if begin.reply:
                    walk = reply_events(begin.reply)
                else:
                    gathered = gathered or await self._async_gather(begin, chat_log, report)
                    walk = await self._async_walk(begin, gathered, thread, report, following)
                followed = following.follow(walk)
                await async_record_turn(chat_log, self._agent_id, followed, report, recording.async_settle)
            if self._agent.summaries.are_written and program is None:
                self._agent.summaries.async_after_turn(thread.id, history(chat_log))
        finally:
            audit.finished()
            events.finished(report)
            news = TurnNews(self._subentry.subentry_id, origin, report.facts, report if is_kept else None)
            async_dispatcher_send(self._hass, SIGNAL_TURN, news)
            recording.async_store()
        return report

    async def _async_audit(self, begin: Beginning, origin: Mapping[str, JsonValue]) -> CallAudit:
        turn = AuditedTurn(
            origin=origin, context=begin.user_input.context, answered=begin.answered, denied=begin.denied
        )
        return CallAudit(turn, await async_get_change_texts(self._hass))

    async def _async_gather(self, begin: Beginning, chat_log: ChatLog, report: TurnReport) -> Gathered:
        gathered = await async_gather(self._agent, begin, chat_log, partial(self._limits, begin, report))
        if begin.program is None or begin.program.request.hosted is None:
            self._note_missing(gathered.tools.missing_apis)
        if gathered.template_error != self._template_error:
            self._note_template(gathered.template_error)
        return gathered

    async def _async_walk(
        self, begin: Beginning, gathered: Gathered, thread: Thread, report: TurnReport, following: TurnFollowing
    ) -> AsyncGenerator[TurnEvent]:
        """Return the events of a turn, and have those follow it who take part in it."""
        settings, program, house, audit = self._agent.settings, begin.program, following.house, following.audit
        tools, turn = gathered.tools, gathered.turn
        if program is None:
            turn = self._agent.summaries.async_begin_turn(thread.id, turn)
        report.context, report.attachments = turn.context, turn.attachments
        composer = await async_get_composer(
            self._hass, begin.user_input.language, tools.definitions, settings.confirmation
        )
        effects_of, is_marked = tools.dispatcher.async_effects, thread.is_cut or has_outside_content(turn.history)
        guard = CallGuard(self._hass, settings, begin.speaker, effects_of, has_outside_content=is_marked)
        audit.judged_by(guard, effects_of)
        if self._warm_up is not None:
            if self._warm_up.is_under_way:
                await self._warm_up.async_give_way(max(settings.limits.preparation - report.duration, 0))
                turn = replace(turn, limits=self._limits(begin, report))
            self._warm_up.async_note_turn(turn)
        wishes = [ProgramApprovals(program.request, tools.labels)] if program else []
        scripts = self._scripts(begin, house, composer) if settings.scripts else ()
        before_guard = (audit, *scripts, *wishes) if scripts or wishes else ()
        hooks = [*filter(None, (tools.name_resolver,)), *before_guard, guard]
        not_done = _NotDone(composer, guard, begin)
        took_over = self._agent.took_over(composer.sentences)
        falls_back = program is None or program.may_fall_back
        loop = self._agent.build_loop(tools, turn.limits, hooks, not_done, took_over, falls_back=falls_back)
        following.asker, following.program = partial(self._asker, begin, house.origin, guard, composer), program
        return loop.stream(turn)

    def _limits(self, begin: Beginning, report: TurnReport) -> Limits:
        """Return the bounds of a turn that begins now."""
        limits, program = self._agent.settings.limits, begin.program
        return (program.limits(limits) if program else limits).after(report.duration)

    def _asker(
        self, begin: Beginning, origin: Mapping[str, JsonValue], guard: CallGuard, composer: TranslatedComposer
    ) -> ApprovalRequester:
        """Return who asks what has to be asked."""
        conversation_id, program = str(origin["conversation_id"]), begin.program
        return ApprovalRequester(
            hass=self._hass,
            user_input=begin.user_input,
            scope=scope_of(begin.user_input, self._agent_id, program.spot_id if program else conversation_id),
            speaker=begin.speaker,
            origin=origin,
            approved=begin.approved,
            guard=guard,
            composer=composer,
            keep=partial(self._keep, program.go_on if program else self._go_on),
            is_written=program is None,
        )

    def _scripts(self, begin: Beginning, events: TurnEvents, composer: TranslatedComposer) -> Sequence[Hooks]:
        """Return what the owner has put between the model and the house."""
        by_point, context = self._agent.settings.scripts, begin.user_input.context
        refusal, asking = composer.sentences["spoken_prompt_denied"], begin.speaker.asking
        return script_hooks(HookScripts(self._hass, self._subentry, by_point, context, events.origin, refusal, asking))

    @callback
    def _note_missing(self, apis: tuple[str, ...]) -> None:
        """Tell the owner when sources of tools go, and when they are there again."""
        if apis != self._missing_apis:
            self._missing_apis = apis
            async_report_missing_tools(self._hass, self._subentry, apis)

    @callback
    def _note_template(self, error: str | None) -> None:
        """Tell the owner when the instructions begin to fail, and when they work again."""
        if error is not None:
            LOGGER.warning("The instructions of %s cannot be rendered: %s", self._agent_id, error)
        self._template_error = error
        async_report_broken_template(self._hass, self._subentry, error)


@dataclass(slots=True)
class _NotDone:
    """The `ResponseComposer` of a turn: where a model has no words for it, it says why something was not done."""

    composer: TranslatedComposer
    guard: CallGuard
    begin: Beginning

    def compose(self, reason: StopReason, receipts: Sequence[ToolResult], error: AgentError | None) -> str:
        why = self._why() if reason is StopReason.COMPLETED and error is None else ""
        if not why:
            return self.composer.compose(reason, receipts, error)
        return " ".join(filter(None, (self.composer.done(receipts), why)))

    def _why(self) -> str:
        """Say why the last thing that was not done was not; nothing where nothing was refused."""
        if refused := self.guard.refusals:
            return self.composer.sentences[f"spoken_{refused[-1]}"]
        if self.begin.answered and not self.begin.approved:
            return ApprovalSentences(self.composer.sentences).declined
        return ""
