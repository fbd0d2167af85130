"""Dry turns: they tell the calls and the answer of an agent, while nothing in the home changes and nothing is stored.

The turn is a real one up to the last step: the model is called with the prompt and
tools of the agent, and its calls are repaired and judged by the rules. They are not
run, but answered by the `DryDispatcher`. The tokens are counted, outside of turns. The
scripts of the owner do not run, and a question is put to nobody.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import NamedTuple, Self, override

from homeassistant.components.conversation import (
    ChatLog,
    ConversationInput,
    UserContent,
)
from homeassistant.core import Context, HomeAssistant
from homeassistant.helpers.dispatcher import async_dispatcher_send
from homeassistant.util.ulid import ulid_now

from ..agent.conversation.own_words import as_models_read
from ..agent.events import PendingApproval, TurnEvent, TurnFinished
from ..agent.loop.turn import Turn
from ..agent.messages import AssistantMessage
from ..approvals.guard import CallGuard
from ..approvals.questions import Question
from ..approvals.review import CallReview
from ..effects.silent_home import silent_home
from ..history.stores import TurnRecording
from ..people.speakers import Speaker, in_turn
from ..records.turn_record import SIGNAL_REQUEST, RequestRecord, TurnFacts, TurnRecord
from ..runtime.agents import LoadedAgent, async_loaded_agents
from ..runtime.summaries import ConversationSummaries
from ..settings.agent import AgentSettings
from ..tools.dry_dispatch import DryCall, DryDispatcher
from ..tools.turn_tools import TurnTools
from .chat_log import async_stream_into_chat_log
from .continuity import Thread
from .input import TurnInput
from .record import TurnRecorder, async_audit, turn_origin
from .review import REVIEWERS
from .run import AgentTurns
from .source import ToolSelection, TurnSource


@dataclass(frozen=True, slots=True)
class DryAsker:
    """The person for whom a sentence is tried, and where."""

    speaker: Speaker
    language: str
    satellite_id: str | None = None


class DryOutcome(StrEnum):
    """The result that a call would have."""

    RUNS = "runs"
    PLANNED = "planned"
    """It would be done later."""
    HELD = "held"
    """It would wait for a yes, the PIN, or the choice of which one is meant."""
    REFUSED = "refused"
    FAILS = "fails"
    """Home Assistant would find nothing to act on."""


class DryResult(NamedTuple):
    """A call with the result that it would have."""

    outcome: DryOutcome
    review: CallReview
    """With the effects that it would have now."""


@dataclass(frozen=True, slots=True)
class DryTurn:
    """The result of a sentence: the answer and the calls of an agent."""

    text: str
    """Its answer, or the question that it would ask."""
    calls: tuple[DryResult, ...]
    """The calls in order, without those that only read."""
    facts: TurnFacts
    """Times and tokens."""
    question: Question | None
    """The question that it would ask; it waits for no answer."""
    is_by_model: bool
    """Whether a model has written the whole answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _DrySource(TurnSource):
    """A sentence that is tried."""

    hass: HomeAssistant
    dispatchers: list[DryDispatcher] = field(default_factory=list)
    """That of the turn, once it is prepared."""

    @override
    def new_record(
        self,
        text: str,
        agent: str,
    ) -> TurnRecord:
        return TurnRecord(
            text,
            agent,
            is_stored=False,
        )

    @override
    def summaries(
        self, summaries: ConversationSummaries
    ) -> ConversationSummaries | None:
        return None

    @override
    def falls_back(self) -> bool:
        """Return whether all that the agent has may answer, Home Assistant's own understanding included."""
        return self.provider is None

    @override
    def settings(
        self,
        hass: HomeAssistant,
        settings: AgentSettings,
    ) -> AgentSettings:
        """Return a copy: to report missing tools is left to real turns."""
        return replace(settings)

    @override
    def select(self, tools: TurnTools) -> ToolSelection:
        self.dispatchers.append(DryDispatcher(self.hass, tools))
        return ToolSelection(tools._replace(dispatcher=self.dispatchers[-1]))

    @override
    def adapted(self, turn: Turn) -> Turn:
        """Leave the search of the web to real turns: the service would run it, and charge for it."""
        return replace(
            super().adapted(turn),
            searches=0,
        )


class DryConversation:
    """A conversation with an agent in which nothing is done. Home Assistant does not hold it."""

    def __init__(
        self,
        hass: HomeAssistant,
        built: LoadedAgent,
        asker: DryAsker,
        *,
        is_model_alone: bool,
    ) -> None:
        """Begin the conversation."""
        self._hass = hass
        self._built = built
        self._asker = asker
        home = silent_home(hass)
        self._agent = replace(
            built.agent,
            hass=home,
            # The scripts of the owner could do anything.
            settings=replace(
                built.agent.settings,
                user_prompt_submit=None,
                pre_tool_use=None,
                post_tool_use=None,
                pre_speech=None,
            ),
        )
        self._is_model_alone = is_model_alone
        self._turns = AgentTurns(
            home,
            built.entity.entity_id,
            built.entry,
            built.subentry,
            self._agent,
            REVIEWERS,
        )
        self._chat_log = ChatLog(home, ulid_now())

    @classmethod
    def with_agent(
        cls,
        hass: HomeAssistant,
        agent_id: str,
        asker: DryAsker,
        *,
        is_model_alone: bool = False,
    ) -> Self | None:
        """Begin a conversation with an agent, by its entity id; None if it does not exist, or is not loaded.

        `is_model_alone` leaves out Home Assistant's own understanding, and the models
        that stand in for its own one.
        """
        for built in async_loaded_agents(hass):
            if built.entity.entity_id == agent_id:
                return cls(
                    hass,
                    built,
                    asker,
                    is_model_alone=is_model_alone,
                )
        return None

    async def async_say(self, text: str) -> DryTurn:
        """Try the next sentence. Raises only for bugs."""
        asker = self._asker
        chat_log = self._chat_log
        chat_log.async_add_user_content(UserContent(text))
        context = Context(user_id=asker.speaker.user_id)
        place = chat_log.conversation_id, asker.speaker.device_id, asker.satellite_id
        user_input = ConversationInput(
            text, context, *place, asker.language, self._built.entity.entity_id
        )
        source = _DrySource(
            hass=self._hass,
            provider=self._agent.own_model() if self._is_model_alone else None,
        )
        taker = await self._async_run(TurnInput(user_input, asker.speaker, source))
        recorder = taker.recorder
        record = taker.recorder.record
        self._count(record.facts)
        results: tuple[DryResult, ...] = ()
        if recorder.requester:
            calls = source.dispatchers[-1].calls
            results = _results(
                calls,
                recorder.requester.guard,
                taker.question,
            )
        last = record.messages[-1:]
        is_by_model = (
            isinstance(last[0], AssistantMessage)
            and as_models_read(record.messages)[-1:] == last
        )
        if record.finished:
            answer = record.finished.text
        else:
            answer = ""
        return DryTurn(
            answer,
            results,
            record.facts,
            taker.question,
            is_by_model,
        )

    async def _async_run(self, turn_input: TurnInput) -> _QuestionTaker:
        """Run a turn, and return what took its question, with its record."""
        user_input = turn_input.user_input
        chat_log = self._chat_log
        where = self._built.entity.entity_id, chat_log.conversation_id
        with in_turn():
            prepared = await self._turns.async_prepare(turn_input, chat_log)
            record = prepared.record
            record.origin = turn_origin(
                user_input,
                *where,
                turn_input.speaker,
            )
            recorder = await self._async_recorder(turn_input, record)
            taker = _QuestionTaker(recorder)
            thread = Thread(chat_log.conversation_id)
            stream = await self._turns.async_stream(
                turn_input, prepared, thread, recorder
            )
            await async_stream_into_chat_log(
                chat_log,
                self._built.entity.entity_id,
                stream,
                record,
                follow=taker.async_follow,
            )
        return taker

    def _count(self, facts: TurnFacts) -> None:
        """Count the tokens of a turn, outside of turns."""
        for one in facts.inferences:
            if one.usage is not None and one.answered_by:
                request = RequestRecord(one.answered_by, one.usage)
                async_dispatcher_send(
                    self._hass,
                    SIGNAL_REQUEST,
                    request,
                )

    async def _async_recorder(
        self, turn_input: TurnInput, record: TurnRecord
    ) -> TurnRecorder:
        """Return a recorder that is given no events: it neither tells nor stores anything."""
        hass = self._hass
        built = self._built
        recording = TurnRecording(
            hass, built.entry, built.subentry, record.origin, record, is_wanted=False
        )
        return TurnRecorder(
            hass,
            turn_input,
            record,
            await async_audit(
                hass,
                turn_input,
                record,
            ),
            recording,
        )


@dataclass(slots=True)
class _QuestionTaker:
    """Takes the question of a turn, which is put to nobody."""

    recorder: TurnRecorder
    question: Question | None = None

    async def async_follow(self, event: TurnEvent) -> Sequence[TurnEvent]:
        """Return the events that stand for one of the loop."""
        match event:
            case TurnFinished(pending=PendingApproval() as pending) if (
                self.recorder.requester
            ):
                return [
                    *replace(self.recorder.requester, keep=self._keep).ask(
                        event, pending
                    )
                ]
            case _:
                return (event,)

    def _keep(
        self,
        question: Question,
        _expires_in: float,
    ) -> bool:
        self.question = question
        return True


def _results(
    ran: Sequence[DryCall], guard: CallGuard, question: Question | None
) -> tuple[DryResult, ...]:
    """Return the result that each call would have."""
    found: list[DryResult] = []
    for one in ran:
        seen = guard.review(one.call) or CallReview(one.call, one.effects)
        if seen.when:
            effects = seen.effects
        else:
            effects = one.effects
        if one.is_error:
            outcome = DryOutcome.FAILS
        else:
            outcome = DryOutcome.RUNS
        if seen.when and seen.when.triggers:
            outcome = DryOutcome.PLANNED
        found.append(DryResult(outcome, replace(seen, effects=effects)))
    found += [
        DryResult(
            DryOutcome.REFUSED,
            seen,
        )
        for seen in guard.reviews
        if seen.refusal
    ]
    if question:
        held = (*question.calls, *question.later)
    else:
        held = ()
    return (*found, *(DryResult(DryOutcome.HELD, seen) for seen in held))
