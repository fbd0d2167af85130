"""Runs the call of a plan that is due: a turn without words and without a model, under the terms of the approval.

A missed call is asked about in such a turn, too, in which nothing has approved it.
"""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from contextvars import Context as Variables
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Final, Literal, override

from homeassistant.components.conversation import ChatLog, ConversationInput
from homeassistant.core import Context, HomeAssistant
from homeassistant.exceptions import HomeAssistantError
from homeassistant.helpers import llm
from homeassistant.util import dt as dt_util
from homeassistant.util.json import json_loads_object
from homeassistant.util.ulid import ulid_now

from ..agent.events import PendingApproval, PendingCall, StopReason
from ..agent.loop.turn import Limits, Turn
from ..agent.messages import JsonObject, ToolAnnotations, ToolDefinition
from ..agent.protocols import Ask, Deny, Hooks, LLMProvider
from ..approvals.questions import (
    ANYWHERE,
    UNASKED,
    ApprovalScope,
    Question,
    Running,
    async_get_approvals,
)
from ..approvals.review import ApprovalWay, CallReview, GivenAnswer, Refusal
from ..effects.effect import Effects
from ..effects.intents import filled
from ..effects.reported import actions_in, async_reason
from ..effects.silent_home import (
    SilentCall,
    handling_home,
    silent_calls,
    silent_home,
)
from ..people.speakers import Speaker, in_turn
from ..records.turn_record import TurnRecord, targets_not_done
from ..settings.tool_names import SENTENCE_TOOL
from ..speech.sentences import async_get_sentences
from ..tools.annotations import unwrapped
from ..tools.turn_tools import TurnTools, async_gather_tools
from ..turns.continuity import Continuity, Thread
from ..turns.input import TurnInput
from ..turns.resume import async_run_alone
from ..turns.run import AgentTurns
from ..turns.source import SilentModel, TurnSource
from .plans import Asker, FuturePlan, PlanProblem

_EXPIRES_IN: Final = 60.0
"""Seconds in which the call has to start."""
ENDS_WITHIN: Final = 120.0
"""Seconds in which a device ends what it was asked for."""
_MISSED: Final = "missed"
"""Terms that no plan has, so that it is asked about."""
_ASKED_FOR: Final = 600.0
"""Seconds in which it can be answered whether to do now what was missed."""


@dataclass(frozen=True, slots=True)
class _AskFirst(Hooks):
    """Asks about each call, without terms of its own: a yes is judged by the rules alone."""

    reason: str

    @override
    async def pre_approved_use(
        self, tool: ToolDefinition, arguments: JsonObject
    ) -> Ask:
        return Ask(self.reason, _MISSED)


@dataclass(frozen=True, slots=True, kw_only=True)
class _PlanSource(TurnSource):
    """A plan that is due, at a time at which nobody can be asked; with a `reason`, one that was missed."""

    reason: str = ""
    """Why the call is asked about, whatever the rules say."""
    provider: LLMProvider | None = field(default_factory=SilentModel)

    @override
    def hooks(self, tools: TurnTools) -> Sequence[Hooks]:
        """Return a hook that asks about the call."""
        if self.reason:
            return (_AskFirst(self.reason),)
        return ()

    @override
    def limits(self, limits: Limits) -> Limits:
        """Return the agent's limits, with more time for an answer."""
        return replace(limits, approval_expiry=_ASKED_FOR)

    @override
    async def async_thread(
        self,
        continuity: Continuity,
        asked_for: str | None,
        speaker: Speaker,
        chat_log: ChatLog,
    ) -> Thread:
        """Return a conversation of its own."""
        return continuity.thread_of(chat_log.conversation_id)

    @override
    def adapted(self, turn: Turn) -> Turn:
        """Return the turn as it is: no answer is expected."""
        return turn


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of the call of a plan."""

    problem: Literal["", "later_failed", "later_partly", "later_slow"] = ""
    """The key of the sentence that tells it; empty if the call was done."""
    why: str = ""


@dataclass(frozen=True, slots=True)
class PlanRunner:
    """Runs the calls of the plans of one agent."""

    hass: HomeAssistant
    turns: AgentTurns

    async def async_act(self, plan: FuturePlan) -> Outcome:
        """Run the call of a plan to its end, and return what came of it."""
        user_input = self._input(
            plan.asker,
            plan.language,
        )
        with actions_in(self.hass, user_input.context) as actions:
            record = await self._async_run(
                plan, _PlanSource(is_due=True), user_input, plan.asker.speaker
            )
        results = record.finished.tool_results if record.finished else ()
        spoken_text = await self._async_spoken(
            record,
            plan.language,
        )
        if not results or any(result.is_error for result in results):
            return Outcome("later_failed", spoken_text)
        ended = set[asyncio.Task[object]]()
        late = set[asyncio.Task[object]]()
        if actions:
            ended, late = await asyncio.wait(
                actions,
                timeout=ENDS_WITHIN,
            )
        if late:
            return Outcome("later_slow")
        is_partial = any(targets_not_done(result.native) for result in results)
        errors = [task.exception() for task in ended if not task.cancelled()]
        return await self._async_outcome(
            plan, spoken_text if is_partial else "", errors
        )

    async def _async_outcome(
        self,
        plan: FuturePlan,
        answer: str,
        errors: Sequence[BaseException | None],
    ) -> Outcome:
        """Return what came of a call: what the turn answered of targets that did not follow, and of its actions."""
        reasons = [
            await async_reason(
                self.hass,
                plan.language,
                error,
            )
            for error in errors
            if error
        ]
        if not answer and not reasons:
            return Outcome()
        untold = [one for one in dict.fromkeys(reasons) if one not in answer]
        why = " ".join(filter(None, (answer, *untold)))
        if not why:
            sentences = await async_get_sentences(
                self.hass,
                plan.language,
            )
            why = sentences["spoken_not_done"]
        is_partial = answer or None in errors
        return Outcome("later_partly" if is_partial else "later_failed", why)

    async def async_actions(self, plan: FuturePlan) -> Sequence[SilentCall]:
        """Return the actions of Home Assistant of which the call of a plan consists now; none of them runs."""
        user_input = self._input(plan.asker, plan.language)
        agent = self.turns.reviews.agent
        call = plan.tool_call
        arguments = json_loads_object(call.arguments)
        home = silent_home(self.hass)
        with in_turn():
            tools = await async_gather_tools(
                home,
                user_input,
                ulid_now(),
                agent.settings,
                understands_sentences=agent.understands_sentences,
                agent=agent.id,
                speaker=plan.asker.speaker,
            )
            offered = tools.instance.tools if tools.instance else []
            tool = next(
                (one for one in offered if one.name == call.name),
                None,
            )
            if call.name == SENTENCE_TOOL:
                await tools.dispatcher.dispatch(call, arguments)
            elif tool and isinstance(intent_tool := unwrapped(tool), llm.IntentTool):
                given = llm.ToolInput(
                    call.name,
                    filled(arguments),
                )
                with suppress(HomeAssistantError):
                    await intent_tool.async_call(
                        handling_home(home), given, tools.llm_context
                    )
        return silent_calls(home)

    async def async_problem(
        self,
        plan: FuturePlan,
        mover: Speaker,
        *,
        takes_back: bool,
        asks_scripts: bool,
    ) -> PlanProblem | None:
        """Return why somebody may not have the call of a plan now, in its place; None if they may.

        To take it back needs no yes, and a rule against it for everybody keeps nobody
        from that.
        """
        user_input = replace(
            self._input(
                plan.asker,
                plan.language,
            ),
            context=Context(user_id=mover.user_id),
        )
        turn_input = TurnInput(
            user_input,
            mover,
            _PlanSource(),
        )
        decision, review = await self.turns.reviews.async_judge(
            turn_input, plan.tool_call, asks_scripts=asks_scripts
        )
        is_theirs = any(rule.users or rule.devices for rule in review.own_rules)
        match review.refusal:
            case Refusal.PERMISSION:
                return PlanProblem.NOT_PERMITTED
            case Refusal.RULES | Refusal.RULES_UNKNOWN | Refusal.GUESTS if (
                is_theirs or not takes_back
            ):
                return PlanProblem.NOT_ALLOWED
            case _ if (
                takes_back or decision is None or review.refusal is Refusal.UNREACHABLE
            ):
                return None
            case None if isinstance(decision, Deny):  # a script
                return PlanProblem.NOT_ALLOWED
            case _:
                return PlanProblem.NEEDS_YES

    async def async_ask(
        self,
        plan: FuturePlan,
        reason: str,
        running: Running,
        here: TurnInput | None = None,
    ) -> Question | None:
        """Ask whether to do now what was missed: as part of the turn `here`, or wherever the plan was made.

        The call is judged as if it was asked for now. Return None if it cannot be asked
        about. `running` is entered while the call runs.
        """
        user_input = self._input(plan.asker, plan.language)
        speaker = plan.asker.speaker
        scope = ANYWHERE
        if here:
            speaker = here.speaker
            scope = str(here.user_input.conversation_id)
            user_input = replace(
                here.user_input,
                text="",
                conversation_id=ulid_now(),
                context=Context(user_id=here.user_input.context.user_id),
                extra_system_prompt=None,
            )
        source = _PlanSource(
            reason=reason,
            resume=self._async_resume,
            question_scope=scope,
            is_personal=True,
            running=running,
            is_due=True,
        )
        record = await self._async_run(
            plan,
            source,
            user_input,
            speaker,
            UNASKED,
        )
        pending = record.finished and record.finished.pending
        waiting = async_get_approvals(self.hass).waiting
        return next(
            (question for question in waiting if pending and question.id == pending.id),
            None,
        )

    async def _async_resume(self, question: Question) -> str:
        user_input = replace(
            self._input(question.scope, question.language), context=question.context
        )
        record = await self._async_alone(
            TurnInput(
                user_input,
                question.speaker,
                _PlanSource(),
                question,
            )
        )
        return await self._async_spoken(record, question.language)

    async def _async_spoken(
        self,
        record: TurnRecord,
        language: str,
    ) -> str:
        """Return the answer of a turn. A call whose approval no longer holds was declined by nobody."""
        if (
            record.finished
            and record.finished.stop_reason is StopReason.APPROVAL_REQUIRED
        ):
            return (await async_get_sentences(self.hass, language))["later_stricter"]
        if record.finished:
            return record.finished.text
        return ""

    async def _async_run(
        self,
        plan: FuturePlan,
        source: TurnSource,
        user_input: ConversationInput,
        speaker: Speaker,
        terms: str = "",
    ) -> TurnRecord:
        """Run the call of a plan as one that was asked about and approved, on its terms or on those given."""
        planned = replace(plan.tool_call, id=f"plan_{ulid_now()}")
        if plan.call and not terms:
            terms = plan.call.terms
        expires_at = dt_util.utcnow().timestamp() + _EXPIRES_IN
        waiting = (PendingCall(planned, "", terms),)
        pending = PendingApproval(
            ulid_now(),
            waiting,
            expires_at,
            0,
            0,
        )
        scope = ApprovalScope.of_input(
            user_input, self.turns.agent_id, str(user_input.conversation_id)
        )
        reviews = (CallReview(planned, Effects(annotations=ToolAnnotations())),)
        question = Question(
            pending,
            reviews,
            "",
            user_input.language,
            scope,
            speaker,
            user_input.context,
        )
        question = question.with_answer(
            GivenAnswer(
                approved=True,
                way=ApprovalWay.PLAN,
                user_id=speaker.user_id,
            )
        )
        return await self._async_alone(TurnInput(user_input, speaker, source, question))

    async def _async_alone(self, turn_input: TurnInput) -> TurnRecord:
        """Run a turn apart from the one that may be running, whose variables must not reach it."""
        run = async_run_alone(
            self.hass,
            self.turns,
            turn_input,
        )
        start = partial(
            self.hass.async_create_background_task, run, "chatterbox turn of a plan"
        )
        return await asyncio.shield(Variables().run(start))

    def _input(
        self,
        asker: Asker | ApprovalScope,
        language: str,
    ) -> ConversationInput:
        where = ulid_now(), asker.device_id, asker.satellite_id
        return ConversationInput(
            "", Context(user_id=asker.user_id), *where, language, self.turns.agent_id
        )
