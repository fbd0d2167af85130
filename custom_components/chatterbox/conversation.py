"""The conversation entity: reads the user's input, has the loop answer it, and returns the result."""

import asyncio
from contextlib import suppress
from dataclasses import replace
from typing import Literal, override

from homeassistant.components import conversation
from homeassistant.components.conversation import (
    ChatLog,
    ConversationEntity,
    ConversationEntityFeature,
    ConversationInput,
    ConversationResult,
)
from homeassistant.config_entries import ConfigSubentry
from homeassistant.const import MATCH_ALL
from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers import intent
from homeassistant.helpers.entity_platform import AddConfigEntryEntitiesCallback

from .agent.events import StopReason
from .approvals.assistants import AssistantWatch
from .approvals.questions import Question
from .const import LOGGER, SUBENTRY_CONVERSATION
from .entity import ChatterboxEntity
from .records.turn_record import TurnFacts, TurnRecord
from .runtime.agents import ChatterboxConfigEntry
from .speech.sentences import async_get_sentences
from .speech.text import asks_back, speakable_in_pieces
from .turns.chat_log import (
    FILLERS,
    SpokenDeltas,
    filling_silence,
    speaking,
    speech_filter,
)
from .turns.input import InputReader, TurnInput, openers
from .turns.record import reported
from .turns.resume import async_resume
from .turns.run import turn_takers
from .turns.source import TurnSource
from .turns.warm_up import WarmUp

PARALLEL_UPDATES = 0


async def async_setup_entry(
    hass: HomeAssistant,  # noqa: ARG001  # Home Assistant's signature
    entry: ChatterboxConfigEntry,
    async_add_entities: AddConfigEntryEntitiesCallback,
) -> None:
    """Add one entity for each conversation agent of a service."""

    @callback
    def add(subentry: ConfigSubentry) -> None:
        if subentry.subentry_type == SUBENTRY_CONVERSATION:
            async_add_entities(
                [ChatterboxConversationEntity(entry, subentry)],
                config_subentry_id=subentry.subentry_id,
            )

    entry.runtime_data.async_add_each(entry, add)


class ChatterboxConversationEntity(ChatterboxEntity, ConversationEntity):
    """A conversation agent."""

    _attr_supports_streaming = True

    def __init__(
        self,
        entry: ChatterboxConfigEntry,
        subentry: ConfigSubentry,
    ) -> None:
        """Take the agent that the runtime built for the subentry."""
        super().__init__(
            entry, subentry, entry.runtime_data.agents[subentry.subentry_id]
        )
        self._warm_up: WarmUp | None = None
        """None for an agent without a model."""
        if self._agent.controls_home:
            self._attr_supported_features = ConversationEntityFeature.CONTROL

    @property
    @override
    def supported_languages(self) -> list[str] | Literal["*"]:
        """Return the languages that the agent's service understands."""
        return self._agent.supported_languages

    @override
    async def async_added_to_hass(self) -> None:
        """Prepare for turns."""
        await super().async_added_to_hass()
        model = self.entry.runtime_data.models.get(self.subentry.subentry_id)
        if model is not None:
            self._warm_up = WarmUp(
                self.hass,
                self.entry,
                model,
                self._agent.settings,
            )
            self.async_on_remove(self._warm_up.async_close)
            self._warm_up.async_start(
                self.entry.runtime_data,
                self.entity_id,
            )
        for take in turn_takers(self.hass):
            self.async_on_remove(take(self.subentry.subentry_id, self._turns))
        self._source = TurnSource(resume=self._async_resume)
        self.async_on_remove(AssistantWatch(self.hass, self.entity_id).async_end)
        self._reader = InputReader(
            self.hass,
            self.entity_id,
            self._source,
        )

    @override
    async def async_prepare(self, language: str | None = None) -> None:
        """Prepare for a turn while the person is still speaking."""
        spoken = language or self.hass.config.language
        await async_get_sentences(self.hass, spoken)
        if self._warm_up is not None:
            await self._warm_up.async_prepare()
        else:
            await conversation.async_prepare_agent(
                self.hass, conversation.HOME_ASSISTANT_AGENT, spoken
            )

    @override
    async def _async_handle_message(
        self, user_input: ConversationInput, chat_log: ChatLog
    ) -> ConversationResult:
        """Answer in any case: the person cannot see an error."""
        if user_input.language == MATCH_ALL:
            user_input = replace(
                user_input,
                language=self.hass.config.language,
            )
        if user_input.satellite_id is None and user_input.device_id is None:
            return await self._async_answer(
                user_input,
                chat_log,
                None,
            )
        late = self._agent.settings.filler_after
        sentences = await async_get_sentences(self.hass, user_input.language)
        with (
            speaking(chat_log, user_input.language) as spoken,
            filling_silence(
                self.hass, self.entry, spoken, [sentences[key] for key in FILLERS], late
            ),
        ):
            return await self._async_answer(
                user_input,
                chat_log,
                spoken,
            )

    async def _async_answer(
        self,
        user_input: ConversationInput,
        chat_log: ChatLog,
        spoken: SpokenDeltas | None,
    ) -> ConversationResult:
        """Run a turn whose speech goes to `spoken`; None if nobody hears it."""
        try:
            turn_input = await self._reader.async_read(user_input, chat_log)
            where = (self.subentry.subentry_id, chat_log.conversation_id)
            ends = []
            for opener in [one for one in openers(self.hass) if one.news]:
                turn_input, end = await opener.open(turn_input, *where)
                ends.append(end)
            record = await self._turns.async_run(turn_input, chat_log)
            for end in ends:
                await end()
            _trace(chat_log, record.facts)
            answer = reported(
                await _async_result(
                    user_input,
                    chat_log,
                    turn_input,
                    record,
                ),
                record,
            )
        except Exception:  # noqa: BLE001  # the last handler before a person who waits for an answer
            LOGGER.exception("A turn of %s failed", self.entity_id)
            sentences = await async_get_sentences(self.hass, user_input.language)
            result = _error_result(
                user_input, chat_log, sentences["spoken_agent_failed"]
            )
        else:
            self._turns.async_note_heard(turn_input, record)
            return answer
        if (
            spoken is not None
        ):  # a pipeline that has started to speak does not speak the result
            with suppress(Exception):  # the listener may be the cause
                spoken.break_off(result.response.speech["plain"]["speech"])
        return result

    async def _async_resume(self, question: Question) -> str:
        """Resume the turn whose question was answered elsewhere, and return its answer.

        The turn continues even if nobody waits for it.
        """
        resumed = self._async_take_resumed(question)
        return await asyncio.shield(
            self.entry.async_create_background_task(
                self.hass, resumed, "chatterbox resumed turn"
            )
        )

    async def _async_take_resumed(self, question: Question) -> str:
        try:
            return await async_resume(
                self.hass,
                self._turns,
                self._source,
                question,
            )
        except Exception:  # noqa: BLE001  # the failure is told, as in every turn
            LOGGER.exception("A turn of %s failed", self.entity_id)
            return (await async_get_sentences(self.hass, question.language))[
                "spoken_agent_failed"
            ]


async def _async_result(
    user_input: ConversationInput,
    chat_log: ChatLog,
    turn_input: TurnInput,
    record: TurnRecord,
) -> ConversationResult:
    """Return the result of a turn for Home Assistant."""
    result = conversation.async_get_result_from_chat_log(user_input, chat_log)
    finished = record.finished
    if finished:
        spoken: str | None = None
        if turn_input.is_heard:
            spoken = await speakable_in_pieces(
                finished.text, speech_filter(chat_log, user_input.language)
            )
        speech = finished.text if spoken is None else spoken
        is_streamed = chat_log.delta_listener is not None
        if (
            not is_streamed
            and finished.stop_reason is StopReason.PROVIDER_FAILED
            and not finished.tool_results
        ):
            return _error_result(
                user_input,
                chat_log,
                speech,
            )
        if (
            is_streamed
            and result.response.response_type is intent.IntentResponseType.ERROR
        ):
            # The frontend would show what it has streamed again, as an error
            # (`intent-end` in its Assist chat).
            result.response = intent.IntentResponse(language=user_input.language)
        result.response.async_set_speech(speech)
        is_question = finished.pending is not None or turn_input.asks_again
        result.continue_conversation = is_question or asks_back(
            finished.text, user_input.language, spoken
        )
    return result


def _trace(chat_log: ChatLog, facts: TurnFacts) -> None:
    """Add the figures of a turn to the trace of its conversation, with Home Assistant's names for tokens."""
    stats = {
        "input_tokens": facts.usage.input_tokens,
        "cached_input_tokens": facts.usage.cached_tokens,
        "output_tokens": facts.usage.output_tokens,
    }
    chat_log.async_trace({"stats": stats, "turn": facts.as_json()})


def _error_result(
    user_input: ConversationInput, chat_log: ChatLog, speech: str
) -> ConversationResult:
    response = intent.IntentResponse(language=user_input.language)
    response.async_set_error(intent.IntentResponseErrorCode.UNKNOWN, speech)
    return ConversationResult(
        response=response, conversation_id=chat_log.conversation_id
    )
