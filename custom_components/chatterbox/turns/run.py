"""One turn of an agent: prepares it, runs the loop, records it, and requests approval for the calls that need it.

The input was read before (`input.py`); a turn starts with a request, or with an answer
that came from elsewhere.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Final
from weakref import WeakValueDictionary

from homeassistant.components.conversation import ChatLog
from homeassistant.config_entries import ConfigEntry, ConfigSubentry
from homeassistant.core import CALLBACK_TYPE, HomeAssistant, callback
from lru import LRU

from ..agent.events import TurnEvents
from ..agent.loop.loop import AgenticLoop
from ..agent.loop.turn import Turn
from ..agent.protocols import LLMProvider
from ..agent.timeouts import is_cancelled
from ..approvals.questions import Question, async_get_approvals
from ..const import LOGGER, SUBENTRY_CONVERSATION, home_singleton
from ..effects.recognition import async_is_never_mind
from ..history.stores import async_get_histories
from ..offline.context import async_note_unclear
from ..offline.local_commands import LocalCommandsProvider, LocalRequests
from ..people.speakers import in_turn
from ..records.turn_record import TurnRecord
from ..repairs import async_report_broken_template, async_report_missing_tools
from ..runtime.agents import Agent
from ..runtime.health import async_check_health
from ..speech.sentences import async_get_sentences
from .chat_log import async_stream_into_chat_log, history
from .continuity import Continuity, Thread
from .input import TurnInput
from .prepare import MOST_CONVERSATIONS, PreparedTurn, SentPrompts, async_prepare
from .record import (
    TurnRecorder,
    async_audit,
    async_start_recording,
    reply_events,
    turn_origin,
)
from .review import AgentReviews, Reviewer, TurnReview
from .source import TurnSource

type TakeTurns = Callable[[str, AgentTurns], CALLBACK_TYPE]

turn_takers: Final = home_singleton("turn_takers", lambda _: list[TakeTurns]())
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
    _reviewers: Sequence[Reviewer]
    """In the order in which they see a call."""
    _template_error: str | None = None
    _missing_apis: tuple[str, ...] = ()
    _is_over: bool = False
    _prompts: SentPrompts = field(default_factory=partial(LRU, MOST_CONVERSATIONS))
    _latest: WeakValueDictionary[str, TurnRecord] = field(
        default_factory=WeakValueDictionary
    )
    """The latest turn of each conversation. Resumed turns, which nobody hears, do not count."""

    @property
    def reviews(self) -> AgentReviews:
        """The reviews of the agent's calls."""
        return AgentReviews(
            self._agent,
            self.agent_id,
            self._subentry,
        )

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

    async def async_give_up(
        self,
        turn_input: TurnInput,
        conversation_id: str,
    ) -> None:
        """Record that approved calls did not run, because their turn could not start."""
        thread = self._continuity.thread_of(conversation_id)
        record = self._new_record(turn_input)
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
                    return await self._async_run(
                        turn_input,
                        chat_log,
                        prepared,
                    )
        finally:
            async_check_health(self._hass)

    async def _async_run(
        self, turn_input: TurnInput, chat_log: ChatLog, prepared: PreparedTurn | None
    ) -> TurnRecord:
        source = turn_input.source
        asked_for = turn_input.user_input.conversation_id
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
                wait = recorder.recording.async_wait_until_stored
                follow = recorder.async_follow
                await async_stream_into_chat_log(
                    chat_log, self.agent_id, stream, record, wait, follow=follow
                )
            summaries = source.summaries(self._agent.summaries)
            if summaries:
                summaries.async_after_turn(thread.id, history(chat_log))
        finally:
            recorder.finish()
        return record

    def _new_record(self, turn_input: TurnInput) -> TurnRecord:
        record = turn_input.source.new_record(
            turn_input.recognized or turn_input.user_input.text,
            self._subentry.subentry_id,
        )
        record.is_stored = record.is_stored and not turn_input.speaker.is_guest
        return record

    async def _async_prepare(
        self, turn_input: TurnInput, chat_log: ChatLog, record: TurnRecord
    ) -> PreparedTurn:
        prepared = await async_prepare(
            self._agent, turn_input, chat_log, record, self._prompts
        )
        missing = prepared.tools.missing_apis
        is_usual = prepared.settings is self._agent.settings
        if is_usual and missing != self._missing_apis:
            self._missing_apis = missing
            async_report_missing_tools(self._hass, self._subentry, missing)
        error = prepared.template_error
        if error != self._template_error:
            if error is not None:
                LOGGER.warning(
                    "The instructions of %s cannot be rendered: %s",
                    self.agent_id,
                    error,
                )
            self._template_error = error
            async_report_broken_template(self._hass, self._subentry, error)
        return prepared

    async def async_stream(
        self,
        turn_input: TurnInput,
        prepared: PreparedTurn,
        thread: Thread,
        recorder: TurnRecorder,
    ) -> TurnEvents:
        """Return the events of a turn, under the rules of the owner."""
        turn = prepared.turn
        source = turn_input.source
        summaries = source.summaries(self._agent.summaries)
        if summaries:
            turn = summaries.async_begin_turn(thread.id, turn)
        record = prepared.record
        record.context = turn.context
        record.omitted = turn.omitted
        record.attachments = turn.attachments
        language = turn_input.user_input.language
        sentences = await async_get_sentences(self._hass, language)
        if await self._async_is_never_mind(turn_input, turn):
            async_note_unclear(self._hass, thread.id, "")
            return reply_events(sentences["spoken_never_mind"])
        prepared = replace(prepared, turn=turn)
        review = self.reviews.begin(
            turn_input,
            prepared,
            thread,
            recorder,
            sentences,
        )
        recorder.requester = review.requester(partial(self._keep, source))
        loop = AgenticLoop(
            self._provider(turn_input, turn, review),
            prepared.tools.dispatcher,
            hooks=review.hooks(self._reviewers),
            composer=review,
        )
        return loop.stream(turn)

    def _provider(
        self, turn_input: TurnInput, turn: Turn, review: TurnReview
    ) -> LLMProvider:
        """Return what answers in a turn: the models of the agent, and Home Assistant where it may."""
        source = turn_input.source
        requests = self._local_requests(turn_input, turn, review)
        provider = source.provider or self._agent.chain.provider(
            turn.limits.deadline,
            partial(self._agent.took_over, review.sentences),
            requests,
            falls_back=source.falls_back(),
        )
        if not (requests and source.acts_locally and requests.goes_beside_model):
            return provider
        if review.check:
            review.check.tools = turn.tools
        return LocalCommandsProvider(provider, requests)

    async def _async_is_never_mind(
        self,
        turn_input: TurnInput,
        turn: Turn,
    ) -> bool:
        """Return whether a person only says that nothing is wanted after all."""
        return (
            turn_input.answered is None
            and not turn.attachments
            and self._subentry.subentry_type == SUBENTRY_CONVERSATION
            and turn_input.source.acts_locally
            and await async_is_never_mind(self._hass, turn_input.user_input)
        )

    def _local_requests(
        self, turn_input: TurnInput, turn: Turn, review: TurnReview
    ) -> LocalRequests | None:
        """Return the requests that Home Assistant may handle; None if it handles none."""
        agent = self._agent
        source = turn_input.source
        user_input = turn_input.user_input
        if not (source.falls_back() and agent.understands_sentences):
            return None
        is_new = turn_input.answered is None and not turn.attachments
        return LocalRequests(
            agent.hass,
            agent.settings,
            user_input,
            turn.history,
            lambda: bool(review.guard.refusals),
            is_new=is_new and not user_input.extra_system_prompt,
            has_model=agent.chain.ends_offline,
            check=review.check if source.acts_locally else None,
            is_of_guest=turn_input.speaker.is_guest,
        )

    def _keep(
        self,
        source: TurnSource,
        question: Question,
        expires_in: float,
    ) -> bool:
        if self._is_over or source.resume is None:
            return False
        question = replace(
            question, is_personal=source.is_personal, running=source.running
        )
        async_get_approvals(self._hass).ask(
            question,
            expires_in,
            source.resume,
        )
        return True

    def async_note_heard(
        self,
        turn_input: TurnInput,
        record: TurnRecord,
    ) -> None:
        """Mark the question of a turn as heard, unless the turn was cut off, resumed, or followed by another.

        Call it last, without awaiting anything before the result of the turn is
        returned.
        """
        if record.finished:
            pending = record.finished.pending
        else:
            pending = None
        question_id = pending.id if pending else turn_input.said_again
        if (
            question_id
            and not is_cancelled()
            and self._latest.get(str(record.origin["conversation_id"])) is record
        ):
            async_get_approvals(self._hass).note_heard(question_id)
