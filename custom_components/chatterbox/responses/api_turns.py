"""Takes the turns of programs with one agent: who speaks, which question is answered, and what becomes of a new one.

Knows users, questions and how an agent takes a turn. Must not know requests as they come in, or where responses are
kept. A question that a program is asked can be answered by the program, or by whoever may answer every other question.
"""

import asyncio
from collections.abc import Callable, Mapping
from contextvars import Context as Variables
from dataclasses import replace
from functools import partial
from typing import Final

from homeassistant.components.conversation import ChatLog, ConversationInput, UserContent
from homeassistant.config_entries import ConfigSubentry
from homeassistant.core import Context, HomeAssistant, callback

from ..agent.loop.turn import Approved, Denied
from ..agent.messages import ToolChoiceMode
from ..agent.responses.backend import ApprovalDecisions, BackendEvent, TurnRequest
from ..agent.responses.errors import ApiError, invalid
from ..approvals.questions import Channel, GivenAnswer, Question, QuestionGone, async_get_approvals
from ..const import LOGGER
from ..people.speakers import Asking, Speaker, async_get_speaker, speaker_context
from ..records.report import TurnReport
from ..runtime.agents import Agent, ChatterboxConfigEntry
from ..runtime.health import async_tell_links
from ..speech.sentences import async_get_sentences
from ..turns.input import Beginning
from ..turns.run import AgentTurns
from .api_turn import ProgramTurn

_MOST_QUESTIONS: Final = 20
"""That wait for one user's programs; the oldest make room."""


class ProgramTurns:
    """The turns of programs with one agent."""

    def __init__(
        self, hass: HomeAssistant, agent_id: str, entry: ChatterboxConfigEntry, subentry: ConfigSubentry, agent: Agent
    ) -> None:
        """Take turns of the agent whose entity is `agent_id`."""
        self.agent_id = agent_id
        self._hass = hass
        self._entry = entry
        self._settings = agent.settings
        self._has_model = subentry.subentry_id in entry.runtime_data.models
        self._turns = AgentTurns(hass, agent_id, entry, subentry, agent, warm_up=None, go_on=None)

    @callback
    def end(self) -> None:
        """Ask nothing any more: the agent goes, or is loaded anew."""
        self._turns.end()

    async def async_begin(self, request: TurnRequest, tell: Callable[[BackendEvent], None]) -> Beginning:
        """Return what a turn begins with. Raises `ApiError` for an answer to a question that does not wait."""
        if not self._has_model:
            _check_without_model(request)
        context = Context(user_id=request.caller.user_id)
        nothing = ConversationInput(
            text="",
            context=context,
            conversation_id=request.conversation_id,
            device_id=None,
            satellite_id=None,
            language=self._hass.config.language,
            agent_id=self.agent_id,
        )
        speaker = _as_program(await async_get_speaker(self._hass, nothing, self._settings), request.caller.user_id)
        said = replace(nothing, context=speaker_context(context, speaker))
        if request.approval is None:
            return self._beginning(Beginning(said, speaker), ProgramTurn(request, tell))
        question = self._question(request, request.approval)
        decisions = _decisions(question, request.approval)
        is_yes = any(isinstance(decision, Approved) for decision in decisions.values())
        answer = GivenAnswer(is_yes, Channel.PROGRAM, request.caller.user_id)
        begin = partial(self._take_question, question, answer)
        program = ProgramTurn(request, tell, decisions, question.pending, begin)
        return self._beginning(Beginning(said, speaker, (question, answer)), program)

    def _beginning(self, begin: Beginning, program: ProgramTurn) -> Beginning:
        """Join who speaks and what is brought, and say how the turn goes on if somebody else answers its question."""
        said = replace(begin.user_input, text=program.words.text if program.words else "")
        program = replace(program, go_on=partial(self._async_go_on, begin, program))
        return replace(begin, user_input=said, output=program.request.output, program=program)

    async def async_take(self, begin: Beginning, conversation_id: str) -> TurnReport:
        """Take a turn. Raises `ApiError` for wishes that cannot be met, and else only for bugs."""
        chat_log = ChatLog(self._hass, conversation_id)
        if begin.user_input.text:
            chat_log.async_add_user_content(UserContent(begin.user_input.text))
        try:
            return await self._turns.async_take(begin, chat_log)
        finally:
            self._make_room(begin.user_input.context.user_id)
            async_tell_links(self._hass)

    async def _async_go_on(
        self, begin: Beginning, program: ProgramTurn, question: Question, answer: GivenAnswer
    ) -> str:
        """Take a turn on whose question somebody else has answered, and return what is said in the end.

        It goes on even if whoever answered does not wait for that, for as long as the agent is there.
        """
        taking_up = self._async_take_up(begin, program, question, answer)
        # Whoever answers may do so in the middle of something else, which this turn has nothing to do with.
        start = partial(self._entry.async_create_background_task, self._hass, taking_up)
        return await asyncio.shield(Variables().run(start, "chatterbox turn of a program taken up"))

    async def _async_take_up(
        self, begin: Beginning, program: ProgramTurn, question: Question, answer: GivenAnswer
    ) -> str:
        """Take it up. The program does not hear of it; it can ask what was done. What only it could run is not there.

        Where what the program wanted is not there any more either, whoever answered hears that it did not work.
        """
        request = replace(
            program.request,
            transcript=program.so_far,
            added=(),
            functions=(),
            tool_choice=ToolChoiceMode.AUTO,
            approval=None,
        )
        decision = Approved() if answer.approved else Denied()
        decisions = {gated.call.id: decision for gated in question.pending.calls}
        again = replace(begin, answered=(question, answer))
        going = self._beginning(again, ProgramTurn(request, _nobody_hears, decisions))
        try:
            report = await self.async_take(going, request.conversation_id)
        except ApiError:
            await self._turns.async_give_up(going, request.conversation_id)
        except Exception:  # noqa: BLE001  # who answered is told, as in a turn
            LOGGER.exception("A turn of %s failed", self.agent_id)
        else:
            return report.finished.text if report.finished else ""
        return (await async_get_sentences(self._hass, question.language))["spoken_agent_failed"]

    @callback
    def _make_room(self, user_id: str | None) -> None:
        """Drop the oldest questions of a user's programs, where too many wait."""
        approvals = async_get_approvals(self._hass)
        theirs = [one for one in approvals.waiting if one.speaker.is_program and one.scope.user_id == user_id]
        for question in theirs[: max(len(theirs) - _MOST_QUESTIONS, 0)]:
            approvals.drop(question.id)

    @callback
    def _question(self, request: TurnRequest, given: ApprovalDecisions) -> Question:
        asked = (self.agent_id, request.caller.user_id, given.pending_id)
        for question in async_get_approvals(self._hass).waiting:
            if question.speaker.is_program and asked == (question.scope.agent_id, question.scope.user_id, question.id):
                return question
        raise _no_question()

    @callback
    def _take_question(self, question: Question, answer: GivenAnswer) -> None:
        try:
            async_get_approvals(self._hass).take(question.id, answer)
        except QuestionGone:
            raise _no_question() from None


def _check_without_model(request: TurnRequest) -> None:
    """Raise `ApiError` for wishes that only a model can meet."""
    if request.hosted is not None:
        raise invalid("This agent has no model, so it takes no tools. Leave `tools` out.", "tools")
    if request.output is not None:
        raise invalid("This agent has no model, so its answers have no shape. Leave the format out.", "text.format")


def _as_program(speaker: Speaker, user_id: str) -> Speaker:
    """Return who speaks where a program does: it can be asked, and is its user, also where that is no human.

    Add-ons come with a user that Home Assistant has made for them. What they say is nobody else's.
    """
    asking = Asking.PERSON if speaker.user_id is None else speaker.asking
    person_id = speaker.person_id or user_id
    return replace(speaker, user_id=user_id, person_id=person_id, asking=asking, is_program=True)


def _nobody_hears(_event: BackendEvent) -> None:
    pass


def _decisions(question: Question, given: ApprovalDecisions) -> Mapping[str, Approved | Denied]:
    calls = question.pending.calls
    if any(index >= len(calls) for index in given.decisions):
        raise _no_question()
    return {calls[index].call.id: decision for index, decision in given.decisions.items()}


def _no_question() -> ApiError:
    return invalid(
        "Nothing waits for this approval: it was answered, ran out, or was never asked of you. Ask for it anew.",
        "input",
        "approval_continuation_invalid",
    )
