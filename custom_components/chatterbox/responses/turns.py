"""Turns that clients of the Responses API take with one agent.

A question that a client is asked can be answered by the client, or wherever every other
question can be answered.
"""

import asyncio
from collections.abc import Callable, Sequence
from contextvars import Context as Variables
from dataclasses import replace
from functools import partial
from typing import Final

from homeassistant.components.conversation import (
    ChatLog,
    ConversationInput,
    UserContent,
)
from homeassistant.config_entries import ConfigSubentry
from homeassistant.core import Context, HomeAssistant, callback

from ..agent.messages import AssistantMessage, ToolChoiceMode
from ..approvals.answers.yes_or_no import (
    Meaning,
    understand_answer,
    understood_language,
)
from ..approvals.asking import asked_of, chosen_of, unmeant_text
from ..approvals.questions import Question, QuestionGone, async_get_approvals
from ..approvals.review import ApprovalWay, GivenAnswer
from ..const import LOGGER
from ..people.speakers import Asking, Speaker, async_get_speaker, speaker_context
from ..records.turn_record import TurnRecord
from ..runtime.agents import Agent, ChatterboxConfigEntry
from ..speech.sentences import async_get_sentences
from ..turns.input import TurnInput, again_text, async_is_neither
from ..turns.review import REVIEWERS
from ..turns.run import AgentTurns
from .protocol.backend import ApprovalDecisions, BackendEvent, Caller, TurnRequest
from .protocol.errors import ApiError, bad_approval, invalid
from .source import ApiTurnSource, request_words

_MOST_QUESTIONS: Final = 20
"""Questions that wait for the clients of one user; the oldest make room."""


class ApiTurns:
    """The turns of API clients with one agent."""

    def __init__(
        self,
        hass: HomeAssistant,
        agent_id: str,
        entry: ChatterboxConfigEntry,
        subentry: ConfigSubentry,
        agent: Agent,
    ) -> None:
        """Take turns of the agent whose entity is `agent_id`."""
        self.agent_id = agent_id
        self._hass = hass
        self._entry = entry
        self._has_model = subentry.subentry_id in entry.runtime_data.models
        self._turns = AgentTurns(
            hass,
            agent_id,
            entry,
            subentry,
            agent,
            REVIEWERS,
        )

    @callback
    def end(self) -> None:
        """Ask nothing any more: the agent goes, or is loaded anew."""
        self._turns.end()

    async def async_read(
        self, request: TurnRequest, tell: Callable[[BackendEvent], None]
    ) -> TurnInput:
        """Return the input of a turn. Raises `ApiError` for an answer to a question that does not wait."""
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
        speaker = _as_client(
            await async_get_speaker(
                self._hass,
                nothing,
            ),
            request.caller.user_id,
        )
        turn_input = TurnInput(
            replace(
                nothing,
                context=speaker_context(context, speaker),
            ),
            speaker,
        )
        if request.approval is None:
            turn_input = await self._async_answer_in_words(request, turn_input)
        else:
            answered = _with_answers(
                self._question(request, request.approval),
                request.approval,
                request.caller,
            )
            turn_input = replace(turn_input, answered=answered)
        pending = turn_input.answered.pending if turn_input.answered else None
        return self._from_client(
            turn_input, ApiTurnSource(request=request, tell=tell, answered=pending)
        )

    async def _async_answer_in_words(
        self, request: TurnRequest, turn_input: TurnInput
    ) -> TurnInput:
        """Return the input with the answered question if a transcript ends with it and the words are a yes or a no.

        After words that are neither and no request, the input asks the question again,
        once.
        """
        words = request_words(request)
        alike = self._repeated(request)
        if words is None or not alike:
            return turn_input
        *older, question = alike
        approvals = async_get_approvals(self._hass)
        language = self._hass.config.language
        sentences = await async_get_sentences(self._hass, language)
        understood = understood_language(language)
        named = asked_of(self._hass, sentences, question.calls, understood)
        answer = understand_answer(words.text, understood, named)
        chosen = None
        if question.options:
            chosen = chosen_of(
                self._hass,
                question,
                words.text,
                language,
            )
            if answer is not Meaning.NO:
                answer = Meaning.YES if chosen else Meaning.OTHER
        if answer is Meaning.OTHER:
            user_input = replace(turn_input.user_input, text=words.text)
            is_unclear = chosen is not None or await async_is_neither(
                self._hass, user_input, named
            )
            if is_unclear and approvals.repeat(question.id):
                return replace(turn_input, reply=again_text(sentences, question))
            return turn_input
        left = ""
        if chosen:
            question = question.chosen(chosen)
        elif question.later:
            left = unmeant_text(self._hass, sentences, question.later)
        for one in older:  # the same words must not count twice
            approvals.drop(one.id)
        by_client = _by_client(request.caller, approved=answer is Meaning.YES)
        return replace(
            turn_input, answered=question.with_answer(by_client), prefix=left
        )

    def _repeated(self, request: TurnRequest) -> Sequence[Question]:
        """Return the questions that wait, and in whose words the transcript of a client ends before its own."""
        match request.transcript[-2:-1]:
            case (AssistantMessage(text=last),) if request.hosted is None:
                return [
                    one for one in self._waiting(request) if last.endswith(one.text)
                ]
            case _:
                return ()

    def _from_client(
        self,
        turn_input: TurnInput,
        source: ApiTurnSource,
    ) -> TurnInput:
        """Return the input with its source, and with the words of its client."""
        words = request_words(source.request)
        user_input = replace(
            turn_input.user_input,
            text=words.text if words else "",
        )
        turn_input = replace(turn_input, user_input=user_input)
        return replace(
            turn_input,
            source=replace(
                source, resume=partial(self._async_resume, turn_input, source)
            ),
        )

    async def async_take(
        self, turn_input: TurnInput, conversation_id: str
    ) -> TurnRecord:
        """Take a turn. Raises `ApiError` for a wish that cannot be met, and else only for bugs."""
        chat_log = ChatLog(self._hass, conversation_id)
        if turn_input.user_input.text:
            chat_log.async_add_user_content(UserContent(turn_input.user_input.text))
        try:
            prepared = await self._turns.async_prepare(turn_input, chat_log)
            if turn_input.answered:
                self._take_question(turn_input.answered)
            return await self._turns.async_run(
                turn_input,
                chat_log,
                prepared,
            )
        finally:
            self._make_room(turn_input.user_input.context.user_id)

    async def _async_resume(
        self, turn_input: TurnInput, source: ApiTurnSource, question: Question
    ) -> str:
        """Resume a turn whose question was answered elsewhere, and return its answer.

        The turn continues even if nobody waits for it, for as long as the agent exists.
        """
        resumed = self._async_take_resumed(
            turn_input,
            source,
            question,
        )
        # The answer may come in the middle of another turn, whose context variables
        # must not leak into this one.
        start = partial(
            self._entry.async_create_background_task,
            self._hass,
            resumed,
        )
        return await asyncio.shield(
            Variables().run(start, "chatterbox resumed turn of an API client")
        )

    async def _async_take_resumed(
        self, turn_input: TurnInput, source: ApiTurnSource, question: Question
    ) -> str:
        """Resume a turn without its client, which is not informed; client functions are not offered.

        If the tools that the client requested are missing too, the answer says that it
        did not work.
        """
        request = replace(
            source.request,
            transcript=source.so_far,
            added=(),
            functions=(),
            approval=None,
        )
        request = replace(request, tool_choice=ToolChoiceMode.AUTO)
        unheard = ApiTurnSource(
            request=request,
            tell=lambda _: None,
        )
        resumed = self._from_client(
            replace(turn_input, answered=question),
            unheard,
        )
        try:
            record = await self.async_take(resumed, request.conversation_id)
        except ApiError:
            await self._turns.async_give_up(resumed, request.conversation_id)
        except Exception:  # noqa: BLE001  # the answer is told, as in every turn
            LOGGER.exception("A turn of %s failed", self.agent_id)
        else:
            if record.finished:
                return record.finished.text
            return ""
        return (await async_get_sentences(self._hass, question.language))[
            "spoken_agent_failed"
        ]

    def _make_room(self, user_id: str | None) -> None:
        """Drop the oldest questions of a user's clients, where too many wait."""
        approvals = async_get_approvals(self._hass)
        theirs = [
            one
            for one in approvals.waiting
            if one.speaker.is_api_client and one.scope.user_id == user_id
        ]
        for question in theirs[: max(len(theirs) - _MOST_QUESTIONS, 0)]:
            approvals.drop(question.id)

    @callback
    def _waiting(self, request: TurnRequest) -> list[Question]:
        """Return the questions that wait for the clients of a user, the oldest first."""
        theirs = (self.agent_id, request.caller.user_id)
        waiting = (
            one
            for one in async_get_approvals(self._hass).waiting
            if one.speaker.is_api_client
        )
        return [
            one for one in waiting if (one.scope.agent_id, one.scope.user_id) == theirs
        ]

    def _question(
        self,
        request: TurnRequest,
        given: ApprovalDecisions,
    ) -> Question:
        for question in self._waiting(request):
            if question.id == given.pending_id:
                return question
        raise _no_question()

    def _take_question(self, answered: Question) -> None:
        """Close a question that its client has answered. One that was answered elsewhere is closed already."""
        if answered.answer and answered.answer.channel is ApprovalWay.API:
            try:
                async_get_approvals(self._hass).take(
                    answered.id,
                    answered.answer,
                )
            except QuestionGone:
                raise _no_question() from None


def _check_without_model(request: TurnRequest) -> None:
    """Raise `ApiError` for wishes that only a model can meet."""
    if request.hosted is not None:
        raise invalid(
            "This agent has no model, so it takes no tools. Leave `tools` out.", "tools"
        )
    if request.output is not None:
        raise invalid(
            "This agent has no model, so its answers have no shape. Leave the format out.",
            "text.format",
        )


def _as_client(speaker: Speaker, user_id: str) -> Speaker:
    """Return the speaker of a client: the user of its token, even if that user is not human, who can be asked.

    Add-ons have a user that Home Assistant created for them.
    """
    asking = Asking.PERSON if speaker.user_id is None else speaker.asking
    person_id = speaker.person_id or user_id
    return replace(
        speaker, user_id=user_id, person_id=person_id, asking=asking, is_api_client=True
    )


def _by_client(
    caller: Caller,
    *,
    approved: bool,
) -> GivenAnswer:
    return GivenAnswer(
        approved,
        way=ApprovalWay.API,
        user_id=caller.user_id,
    )


def _with_answers(
    question: Question, given: ApprovalDecisions, caller: Caller
) -> Question:
    calls = question.pending.calls
    if any(index >= len(calls) for index in given.decisions):
        raise _no_question()
    answers = {
        calls[index].call.id: answer for index, answer in given.decisions.items()
    }
    approved = any(answer.approved for answer in answers.values())
    return question.with_answer(
        _by_client(caller, approved=approved),
        answers,
    )


def _no_question() -> ApiError:
    return bad_approval(
        "Nothing waits for this approval: it was answered, ran out, or was never asked of you. Ask for it anew."
    )
