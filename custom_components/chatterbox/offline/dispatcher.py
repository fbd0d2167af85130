"""Passes a sentence to Home Assistant's built-in agent, as the tool of the offline provider.

The built-in agent gets conversations of its own, so that it writes nothing into our
ChatLog.
"""

import asyncio
import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import Final, Protocol, override

from hassil.recognize import RecognizeResult
from home_assistant_intents import ErrorKey
from homeassistant.components import conversation
from homeassistant.components.media_player import INTENT_MEDIA_SEARCH_AND_PLAY
from homeassistant.components.person.const import DOMAIN as PERSON
from homeassistant.const import STATE_HOME, STATE_UNAVAILABLE, STATE_UNKNOWN
from homeassistant.core import Context, HomeAssistant
from homeassistant.exceptions import HomeAssistantError
from homeassistant.helpers import intent, llm
from homeassistant.helpers.template import Template
from homeassistant.util import dt as dt_util

from ..agent.messages import JsonObject, ToolCall, ToolDefinition, ToolOutcome
from ..agent.protocols import Hooks, Rewrite
from ..agent.text import MOST_UNDERSTOOD, compared
from ..const import LOGGER
from ..effects.effect import NOTHING, Effects
from ..effects.intents import delayed_command, handler_of
from ..effects.reading import (
    Answered,
    IntentCall,
    async_chosen,
    async_happenings,
    async_past_question,
    async_read,
)
from ..effects.recognition import async_is_request, readable_sentence
from ..effects.reported import (
    Failures,
    async_add_reasons,
    async_check_response,
    intent_failures,
    is_unheard,
)
from ..home.entities import async_get_home
from ..home.entity_matches import assist_name
from ..internals.conversation import (
    async_recognized,
    async_texts,
    built_in_agent,
    mismatch_words,
    slots_of,
)
from ..nlu.lexicon import GAP, lexicon
from ..nlu.past import PastForm, PastQuestion
from ..nlu.reading import telling_text
from ..nlu.requests import (
    Choice,
    ListRequest,
    OpenQuestion,
    StateQuestion,
    UnknownName,
    WorldQuestion,
)
from ..people.speakers import async_speaker_area
from ..records.turn_record import did_nothing, intent_speech, result_content
from ..speech.sentences import (
    TranslatedComposer,
    async_get_sentences,
    confirmed_targets,
    in_sentences,
)
from ..speech.text.times import prepare, spoken_date, spoken_weekday, times_in
from .answers import async_answer, async_state_answer
from .context import (
    async_is_first_help,
    async_note_request,
    async_note_unclear,
    last_request,
    unclear_sentence,
)
from .handling import (
    async_handle,
    async_mismatch,
    async_tell_temperatures,
    recognized_call,
    sensed_question,
)
from .misheard import async_meant
from .provider import PROCESS_SENTENCE, SENTENCE
from .sentence_effects import (
    TRIGGERED,
    async_own_effects,
    async_read_sentence,
    async_sentence_effects,
)

MAX_NESTING: Final = 3
"""Sentences that may run inside one another: a sentence may trigger an automation that says another one."""

_CONVERSATION_ID_PREFIX: Final = "chatterbox-offline-sentences"
"""Begins the ids of the built-in agent's conversations: longer than a ULID, which Home Assistant may replace."""
_QUESTION_MARKS: Final = ("?", "\N{FULLWIDTH QUESTION MARK}")
_ENGLISH: Final = "en"
_MOST_TOLD: Final = 3
"""Answers of Home Assistant that are heard about one request."""
_SWITCHING: Final = frozenset({intent.INTENT_TURN_ON, intent.INTENT_TURN_OFF})
_MOST_TIMES: Final = 3
"""Times in a sentence without which it is tried for names."""
_FAILED: Final = (
    intent.IntentResponseErrorCode.FAILED_TO_HANDLE,
    intent.IntentResponseErrorCode.UNKNOWN,
)


@dataclass(slots=True)
class _Sentence:
    """A sentence that is being processed. Tasks that it has started still see it when it is done."""

    is_running: bool = True


class _ManySwitched(intent.IntentResponse):
    """The response to more commands than are told one by one: some are named, and the others counted."""


_OUTER_SENTENCES: ContextVar[tuple[_Sentence, ...]] = ContextVar(
    "chatterbox_offline_sentences", default=()
)


class PastAnswers(Protocol):
    """Answers questions about what was."""

    async def async_effects(self, arguments: JsonObject) -> Effects:
        """Return the effects of an answer. The arguments are those of the tool that tells what was."""

    async def async_answer(
        self,
        arguments: JsonObject,
        *,
        is_whether: bool,
    ) -> str:
        """Return the answer in the speaker's language; `is_whether` for one that begins with yes or no."""


@dataclass(slots=True)
class OfflineDispatcher(Hooks):
    """The `ToolDispatcher` for `PROCESS_SENTENCE` in one turn. Natives are `llm.ToolResult`."""

    hass: HomeAssistant
    conversation_id: str
    """Id of our conversation. The built-in agent remembers the last target by it."""
    context: Context
    language: str
    device_id: str | None = None
    satellite_id: str | None = None
    can_ask: bool = True
    """Whether somebody can be asked. Otherwise nothing is changed on a guess."""
    has_model: bool = False
    """Whether the agent has a model, which understands more."""
    past: PastAnswers | None = None

    @override
    async def pre_tool_use(
        self, tool: ToolDefinition, arguments: JsonObject
    ) -> Rewrite[JsonObject] | None:
        """Complete an answer to a question, so that all others see what is meant, and a yes is to that."""
        completed = await self._async_completed(str(arguments[SENTENCE]))
        return Rewrite({SENTENCE: completed}) if completed else None

    def targets(self, name: str, arguments: JsonObject) -> frozenset[str] | None:  # noqa: ARG002 demanded by the protocol
        """Return None: only the built-in agent can interpret a sentence."""
        return None

    async def async_effects(self, name: str, arguments: JsonObject) -> Effects:  # noqa: ARG002 there is one tool
        """Return the effects that a sentence would have."""
        sentence = arguments.get(SENTENCE)
        if not isinstance(sentence, str) or len(sentence) > MOST_UNDERSTOOD:
            return NOTHING
        if self.past and (question := await self._async_past(sentence)):
            return await self.past.async_effects({**question.arguments})
        query, is_guess = await self._async_query(sentence)
        effects = await async_sentence_effects(self.hass, query)
        if is_guess and effects != NOTHING:
            effects = replace(effects, is_guessed=True)
        if effects.is_guessed and not self.can_ask:
            return NOTHING
        return effects

    async def dispatch(
        self,
        call: ToolCall,
        arguments: JsonObject,
    ) -> ToolOutcome:
        """Let the built-in agent act on a sentence. The native of a failure has its error code and its own sentence."""
        sentence = arguments.get(SENTENCE)
        if call.name != PROCESS_SENTENCE.name or not isinstance(sentence, str):
            native = llm.ToolResult(
                {"error": f"Expected {PROCESS_SENTENCE.name} with a {SENTENCE}."},
                error=True,
            )
            return ToolOutcome(
                result_content(native),
                is_error=True,
                native=native,
            )
        began = time.time()
        with _entered() as nesting, intent_failures() as failures:
            query, _ = await self._async_query(sentence)
            reading = await async_read(
                self.hass, query, *last_request(self.hass, self.conversation_id)
            )
            if nesting > MAX_NESTING:
                response = await self._refuse()
            else:
                response = await self._async_done(query) or await self._async_processed(
                    sentence, query
                )
        await self._report_failures(response, failures, began)
        async_note_request(
            self.hass,
            self.conversation_id,
            response,
            reading.last,
        )
        is_error = response.response_type is intent.IntentResponseType.ERROR
        if is_error:
            await self._add_help(response)
        native = llm.ToolResult(
            llm.IntentResponseDict(response),
            error=is_error,
        )
        return ToolOutcome(
            result_content(native),
            is_error=is_error,
            native=native,
        )

    async def _async_processed(
        self, sentence: str, query: conversation.ConversationInput
    ) -> intent.IntentResponse:
        """Have the built-in agent act on a sentence, or tell why it does not."""
        effects = await async_own_effects(self.hass, query)
        found = await async_recognized(self.hass, query)
        if effects is not None and effects.is_guessed and not self.can_ask:
            response = await self._not_understood(query)
        elif self.past and (question := await self._async_past(sentence)):
            is_whether = question.form is PastForm.WHETHER
            response = self._query_answer(
                await self.past.async_answer(
                    {**question.arguments}, is_whether=is_whether
                )
            )
        elif effects is None or (found and self._is_unhandled(found)):
            response = await self._not_understood(query)
        elif found is None or effects == TRIGGERED:
            response = await self._converse(query)
        elif self._knows_nobody(found):
            response = self._query_answer(await self._say("spoken_nobody"))
        elif command := delayed_command(found.intent.name, slots_of(found)):
            response = await self._refuse_delayed(replace(query, text=command))
        elif states := sensed_question(self.hass, found):
            response = await async_state_answer(
                self.hass,
                states,
                self.language,
            )
        else:
            response = await self._async_acted(query, found)
        return response

    async def _async_acted(
        self, query: conversation.ConversationInput, found: RecognizeResult
    ) -> intent.IntentResponse:
        """Handle the intent of a sentence; tell of the sensors where it has no thermostat to ask."""
        area = async_speaker_area(self.hass, query)
        call = recognized_call(
            self.hass,
            found,
            area,
        )
        response = await self._async_handled(query, call)
        if response.error_code is not intent.IntentResponseErrorCode.NO_VALID_TARGETS:
            return response
        answered = await async_tell_temperatures(
            self.hass,
            query,
            found,
            area,
        )
        return answered or response

    def _name_today(self, response: intent.IntentResponse) -> None:
        """Add the weekday, which may have been asked for: Home Assistant tells it in half of the languages."""
        today = dt_util.now().date()
        weekday = spoken_weekday(today, self.language)
        if weekday.casefold() not in intent_speech(response).casefold():
            response.async_set_speech(spoken_date(today, self.language))

    async def _async_handled(
        self, query: conversation.ConversationInput, call: IntentCall
    ) -> intent.IntentResponse:
        """Handle an intent. What its words do not find of music, the telling ones of them may."""
        response = await async_handle(
            self.hass,
            query,
            call,
        )
        if call.intent == intent.INTENT_GET_CURRENT_DATE:
            self._name_today(response)
        if is_unheard(response):
            return self._error(
                intent.IntentResponseErrorCode.NO_VALID_TARGETS,
                await self._say("broadcast_nobody"),
            )
        if (
            response.error_code not in _FAILED
            or call.intent != INTENT_MEDIA_SEARCH_AND_PLAY
        ):
            return response
        words = await self.hass.async_add_executor_job(
            lexicon,
            self.language,
        )
        asked_for = str(call.slots["search_query"])
        if words and (telling := telling_text(asked_for, words)) not in {"", asked_for}:
            slots = {
                slot: value
                for slot, value in call.slots.items()
                if slot != "media_class"
            }
            response = await async_handle(
                self.hass,
                query,
                IntentCall(
                    call.intent,
                    slots | {"search_query": telling},
                ),
            )
        text = await self._say("media_not_found")
        code = intent.IntentResponseErrorCode.NO_VALID_TARGETS
        if response.error_code:
            return self._error(code, text)
        return response

    async def _report_failures(
        self, response: intent.IntentResponse, failures: Failures, began: float
    ) -> None:
        """Make a response say what it could not act on, and why: Home Assistant's sentence does not."""
        if response.error_code in _FAILED:
            response.failed_results = [
                _target(self.hass, subject) for subject in failures
            ]
        elif not response.error_code and response.success_results:
            await async_check_response(
                self.hass,
                response,
                self.context,
                began,
            )
        await async_add_reasons(
            self.hass,
            self.language,
            response,
            failures,
        )
        composer = TranslatedComposer(
            await async_get_sentences(
                self.hass,
                self.language,
            ),
            (),
        )
        if response.failed_results:
            undone = composer.not_done(response.failed_results)
        else:
            undone = ""
        unconfirmed = composer.unconfirmed(response.success_results)
        if isinstance(response, _ManySwitched):
            named = composer.done_with([response])
            response.async_set_speech(named or intent_speech(response))
        if undone and (response.error_code or did_nothing(response)):
            response.async_set_error(
                intent.IntentResponseErrorCode.FAILED_TO_HANDLE, undone
            )
        elif undone or unconfirmed:
            if confirmed_targets(response):
                speech = intent_speech(response)
            else:
                speech = ""
            response.async_set_speech(
                "\n".join(filter(None, (speech, unconfirmed, undone)))
            )
        self._tell_unknown(response, composer)

    def _tell_unknown(
        self, response: intent.IntentResponse, composer: TranslatedComposer
    ) -> None:
        """Say of what no state is known that was asked for, in place of "No"."""
        names: dict[str, list[str]] = {
            STATE_UNAVAILABLE: [],
            STATE_UNKNOWN: [],
        }
        for one in response.unmatched_states:
            if one.state not in names:
                return
            name = assist_name(self.hass, one)
            names[one.state].append(name)
        if response.unmatched_states and not response.matched_states:
            unreachable, unknown = names.values()
            parts = (composer.unreachable(unreachable), composer.unknown(unknown))
            response.async_set_speech(" ".join(filter(None, parts)))

    async def _add_help(self, response: intent.IntentResponse) -> None:
        """Put what is missing in the place of "I couldn't understand that", or add what would be understood, once.

        No satellite says the latter.
        """
        texts = await async_texts(
            self.hass,
            self.language,
        )
        speech = intent_speech(response)
        if texts is None or speech != texts.error_responses.get(ErrorKey.NO_INTENT):
            return
        if self.has_model:
            response.async_set_speech(await self._say("spoken_needs_model"))
        elif not self._is_spoken and async_is_first_help(
            self.hass, self.conversation_id
        ):
            helped = f"{speech.rstrip('.。')}. {await self._say('spoken_understood_offline')}"
            response.async_set_speech(helped)

    async def _async_completed(self, sentence: str) -> str:
        """Return the request before, completed by an answer to a question about it; empty for other words."""
        unclear = unclear_sentence(self.hass, self.conversation_id)
        if not unclear:
            return ""
        answer = self._as_input(readable_sentence(self.hass, sentence))
        if await async_own_effects(self.hass, answer) == TRIGGERED:
            return ""
        before = await async_read_sentence(
            self.hass,
            replace(answer, text=unclear),
        )
        choice = before.answered if isinstance(before.answered, Choice) else None
        chosen = await async_chosen(self.hass, choice, answer) if choice else ""
        if choice and chosen and await self._async_keeps_to(choice, chosen, one=True):
            return chosen
        if GAP in unclear:
            text = unclear.replace(GAP, answer.text)
        else:
            text = f"{unclear}, {answer.text}"
        if choice and not await self._async_keeps_to(choice, text):
            return ""
        clear = replace(answer, text=text)
        is_new = await async_sentence_effects(self.hass, answer) != NOTHING
        if not is_new and await async_sentence_effects(self.hass, clear) != NOTHING:
            return text
        together = await async_read_sentence(self.hass, clear)
        return text if together.is_understood and together != before else ""

    async def _async_keeps_to(
        self, choice: Choice, sentence: str, *, one: bool = False
    ) -> bool:
        """Return whether a sentence acts on some entities of a choice alone, or on `one`, or asks about fewer."""
        query = self._as_input(sentence)
        effects = await async_sentence_effects(self.hass, query)
        acted_on = effects.entity_ids
        other = (await async_read_sentence(self.hass, query)).answered
        if isinstance(other, Choice | StateQuestion):
            is_one = isinstance(other, StateQuestion) and len(other.ids) == 1
            return other.ids < choice.ids and (is_one or not one)
        if one and len(acted_on) != 1:
            return False
        return bool(acted_on) and acted_on <= choice.ids

    @property
    def _is_spoken(self) -> bool:
        """Whether a satellite has heard the sentence. Typed words are never taken for others that sound alike."""
        return bool(self.device_id or self.satellite_id)

    async def _async_query(
        self, sentence: str
    ) -> tuple[conversation.ConversationInput, bool]:
        """Return the sentence to process, and whether it is a guess.

        Without a model, a sentence that was said and is not understood may have been
        misheard. Typed text stays.
        """
        hass = self.hass
        query = self._as_input(readable_sentence(self.hass, sentence))
        if self.has_model or not (self.can_ask and self._is_spoken):
            return query, False
        if await async_own_effects(hass, query) not in (None, NOTHING):
            return query, False
        if (await async_read_sentence(hass, query)).is_understood:
            return query, False
        meant = await async_meant(hass, replace(query, conversation_id=None))
        if meant:
            return (replace(query, text=meant), True)
        return (query, False)

    async def _async_done(
        self, query: conversation.ConversationInput
    ) -> intent.IntentResponse | None:
        """Do what was read in a sentence, and tell it in Home Assistant's words; None if nothing was."""
        reading = await async_read_sentence(self.hass, query)
        if reading.answered:
            answer = await self._async_answer(
                query,
                reading.answered,
            )
        else:
            answer = None
        if reading.answered and (answer is None or not reading.calls):
            return answer
        async_note_unclear(
            self.hass,
            self.conversation_id,
            "",
        )
        if not reading.calls:
            return None
        responses = [answer] if answer else []
        responses += [await self._async_handled(query, one) for one in reading.calls]
        responses += [await self._unknown(one) for one in reading.unknown]
        if len(responses) == 1:
            return responses[0]
        return self._told_together(responses) or responses[0]

    async def _async_answer(
        self, query: conversation.ConversationInput, request: Answered
    ) -> intent.IntentResponse | None:
        """Return the answer to what is answered in words; None if there is none."""
        if isinstance(request, StateQuestion):
            return await async_state_answer(
                self.hass,
                request,
                self.language,
            )
        answer = await async_answer(
            self.hass, request, query, async_get_home(self.hass, conversation.DOMAIN)
        )
        is_asked = (
            bool(answer)
            and not isinstance(request, WorldQuestion)
            and str(answer).endswith(_QUESTION_MARKS)
        )
        if isinstance(request, OpenQuestion):
            lacking = request.sentence
        else:
            lacking = ""
        async_note_unclear(
            self.hass, self.conversation_id, (lacking or query.text) if is_asked else ""
        )
        if not answer:
            return None
        is_missing = isinstance(request, ListRequest) and request.items and not is_asked
        if is_missing:
            return self._error(
                intent.IntentResponseErrorCode.NO_VALID_TARGETS,
                answer,
            )
        response = self._query_answer(answer)
        if isinstance(request, Choice | ListRequest):
            response.async_set_results(
                [_target(self.hass, one) for one in sorted(request.ids)]
            )
        return response

    async def _async_past(self, sentence: str) -> PastQuestion | None:
        """Return what a sentence asks about the past, unless Home Assistant understands it with certainty."""
        question = await async_past_question(
            self.hass,
            sentence,
            self.language,
        )
        is_present = question is not None and await async_is_request(
            self.hass, self._as_input(sentence)
        )
        return None if is_present else question

    def _as_input(self, text: str) -> conversation.ConversationInput:
        agent = conversation.HOME_ASSISTANT_AGENT
        place = (self.device_id, self.satellite_id)
        return conversation.ConversationInput(
            text, self.context, self.conversation_id, *place, self.language, agent
        )

    def _knows_nobody(self, found: RecognizeResult) -> bool:
        """Return whether a question is about people, and none is known: "No" would be untrue."""
        home = async_get_home(self.hass, conversation.DOMAIN)
        is_known = any(one.domain == PERSON for one in home.all_entities)
        is_of_persons = slots_of(found).get("domain") == PERSON
        is_asked = found.intent.name == intent.INTENT_GET_STATE
        return is_asked and is_of_persons and not is_known

    def _is_unhandled(self, found: RecognizeResult) -> bool:
        """Return whether nothing does what Home Assistant recognizes: its shopping list may not be set up.

        It takes any word for a zone, as in "who is at the door?": nobody is in it.
        """
        place = found.entities.get("state")
        of_persons = slots_of(found).get("domain") == PERSON
        zones = {
            STATE_HOME,
            *(compared(zone.name) for zone in self.hass.states.async_all("zone")),
        }
        is_nowhere = (
            of_persons
            and place
            and place.is_wildcard
            and compared(str(place.value)) not in zones
        )
        return bool(is_nowhere) or handler_of(self.hass, found.intent.name) is None

    def _query_answer(self, speech: str) -> intent.IntentResponse:
        response = intent.IntentResponse(language=self.language)
        response.response_type = intent.IntentResponseType.QUERY_ANSWER
        response.async_set_speech(speech)
        return response

    async def _converse(
        self, query: conversation.ConversationInput
    ) -> intent.IntentResponse:
        """Have the built-in agent run a sentence trigger.

        Activity does not say that it responded, too, as nobody has asked it.
        """
        agent = conversation.async_get_agent(
            self.hass,
            query.agent_id,
        )
        if agent is None:
            return await self._not_understood(query)
        inner = replace(
            query, conversation_id=f"{_CONVERSATION_ID_PREFIX}-{self.conversation_id}"
        )
        # In its own task: when an inner conversation ends, Home Assistant resets the
        # current session of the context.
        converse = asyncio.create_task(
            agent.async_process(inner), name="chatterbox offline sentence"
        )
        try:
            return (await converse).response
        except HomeAssistantError:
            text = await self._say("spoken_agent_failed")
            return self._error(
                intent.IntentResponseErrorCode.FAILED_TO_HANDLE,
                text,
            )

    def _told_together(
        self, parts: Sequence[intent.IntentResponse]
    ) -> intent.IntentResponse | None:
        """Return the responses to several commands as one: what was done, then what was not; None if nothing was."""
        done, undone = [
            [one for one in parts if bool(one.error_code) is failed]
            for failed in (False, True)
        ]
        if not done:
            return None
        intents = {one.intent.intent_type if one.intent else "" for one in done}
        speech = dict.fromkeys(map(intent_speech, (*done, *undone)))
        is_many = len(done) > _MOST_TOLD and intents <= _SWITCHING and not undone
        kind = _ManySwitched if is_many else intent.IntentResponse
        merged = kind(
            language=self.language,
            intent=done[0].intent,
        )
        merged.response_type = done[-1].response_type  # an answer is first
        for one in done:
            merged.success_results += one.success_results
            merged.failed_results += one.failed_results
        merged.async_set_speech(in_sentences(speech))
        return merged

    async def _not_understood(
        self, query: conversation.ConversationInput
    ) -> intent.IntentResponse:
        """Return what is not understood of a sentence: a name that nothing has, or all of it."""
        agent = built_in_agent(self.hass)
        if agent is None:
            text = await self._say("spoken_offline_is_off")
            return self._error(
                intent.IntentResponseErrorCode.NO_INTENT_MATCH,
                text,
            )
        unknown = await self._async_unknown(query)
        if unknown:
            return await self._unknown(unknown)
        texts = await async_texts(self.hass, self.language) or await async_texts(
            self.hass, _ENGLISH
        )
        errors = texts.error_responses if texts else {}
        is_read = (
            await self.hass.async_add_executor_job(lexicon, self.language) is not None
        )
        if is_read or len(query.text) > MOST_UNDERSTOOD:
            found = None
        else:
            found = await agent.async_recognize_intent(query)
        key, values = (
            mismatch_words(self.hass, found)
            if found and found.unmatched_entities
            else ("", {})
        )
        if key in {"", ErrorKey.NO_INTENT}:
            return self._error(
                intent.IntentResponseErrorCode.NO_INTENT_MATCH,
                errors.get(ErrorKey.NO_INTENT, ""),
            )
        text = Template(errors.get(key, ""), self.hass).async_render(
            values, parse_result=False
        )
        return self._error(
            intent.IntentResponseErrorCode.NO_VALID_TARGETS,
            str(text),
        )

    async def _async_unknown(
        self, query: conversation.ConversationInput
    ) -> UnknownName | None:
        """Return a name that nothing at home has, of a command that may be for a time or for when something happens."""
        text = query.text
        language = self.language
        await self.hass.async_add_executor_job(prepare, language)
        times = times_in(text, language, joined=True)[:_MOST_TIMES]
        occasions = await async_happenings(
            self.hass,
            text,
            language,
        )
        rests = (*(one.rest for one in times), *(one.command for one in occasions))
        for heard in (text, *filter(None, rests)):
            command = replace(query, text=heard)
            reading = await async_read_sentence(self.hass, command)
            if reading.unknown:
                return reading.unknown[0]
        return None

    async def _unknown(self, unknown: UnknownName) -> intent.IntentResponse:
        """Return the answer to a command for what is not at home, with things of its kind."""
        key = "spoken_unknown_name" if unknown.alike else "spoken_unknown_thing"
        text = await self._say(
            key,
            name=unknown.text,
            names=", ".join(unknown.alike),
        )
        return self._error(
            intent.IntentResponseErrorCode.NO_VALID_TARGETS,
            text,
        )

    async def _refuse_delayed(
        self, command: conversation.ConversationInput
    ) -> intent.IntentResponse:
        """Refuse a command for later that is no plan, with the reason if it fits nothing."""
        reason = await async_mismatch(
            self.hass, command, async_speaker_area(self.hass, command)
        )
        unknown = (await async_read_sentence(self.hass, command)).unknown
        if unknown and not reason:
            return await self._unknown(unknown[0])
        text = await self._say(
            "later_impossible",
            command=command.text,
        )
        return self._error(
            intent.IntentResponseErrorCode.NO_VALID_TARGETS, f"{text} {reason}".rstrip()
        )

    async def _refuse(self) -> intent.IntentResponse:
        """Refuse a sentence that triggers an automation that says it again."""
        LOGGER.warning(
            "A sentence was not processed, because it triggers an automation that says it again"
        )
        text = await self._say("spoken_sentence_calls_itself")
        return self._error(
            intent.IntentResponseErrorCode.FAILED_TO_HANDLE,
            text,
        )

    async def _say(
        self,
        key: str,
        **placeholders: str,
    ) -> str:
        return (await async_get_sentences(self.hass, self.language))[key].format_map(
            placeholders
        )

    def _error(
        self, code: intent.IntentResponseErrorCode, text: str
    ) -> intent.IntentResponse:
        response = intent.IntentResponse(language=self.language)
        response.async_set_error(code, text)
        return response


def _target(
    hass: HomeAssistant,
    subject: str,
) -> intent.IntentResponseTarget:
    """Return an entity, or a target without a name for the type of an intent."""
    state = hass.states.get(subject)
    if state:
        name = assist_name(hass, state)
        return intent.IntentResponseTarget(
            name, intent.IntentResponseTargetType.ENTITY, subject
        )
    return intent.IntentResponseTarget(
        "", intent.IntentResponseTargetType.CUSTOM, subject
    )


def offline_languages(hass: HomeAssistant) -> list[str]:
    """Return the sorted languages of the built-in agent. Conversation must be set up."""
    return sorted(
        conversation.async_get_conversation_languages(
            hass, conversation.HOME_ASSISTANT_AGENT
        )
    )


@contextmanager
def _entered() -> Generator[int]:
    """Return the number of nested sentences, including this one."""
    around = tuple(
        sentence for sentence in _OUTER_SENTENCES.get() if sentence.is_running
    )
    sentence = _Sentence()
    token = _OUTER_SENTENCES.set((*around, sentence))
    try:
        yield len(around) + 1
    finally:
        sentence.is_running = False
        _OUTER_SENTENCES.reset(token)
