"""The conversation entity: a person's words come in, a turn of the loop answers them.

Knows Home Assistant's conversation platform. No loop, no JSON, no vendor: the runtime
brings the agent, the bridges translate.
"""

import asyncio
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing, nullcontext, suppress
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
from homeassistant.config_entries import SIGNAL_CONFIG_ENTRY_CHANGED, ConfigEntry, ConfigEntryChange, ConfigSubentry
from homeassistant.core import Context, HomeAssistant, callback
from homeassistant.helpers import intent
from homeassistant.helpers.dispatcher import async_dispatcher_connect
from homeassistant.helpers.entity_platform import AddConfigEntryEntitiesCallback

from .agent.events import MessageDone, StopReason, TextDelta, TurnEvent, TurnFinished
from .agent.messages import AssistantMessage, JsonValue
from .agent.protocols import HookPoint, Hooks
from .agent.speech import asks_back, speakable
from .agent.turn import Turn
from .agent_prompt import PromptSources, async_provide_prompt
from .chat_log_bridge import async_record_turn, history, keep_context, words
from .const import DOMAIN, LOGGER, SUBENTRY_CONVERSATION
from .entity import ChatterboxEntity
from .error_bridge import async_get_sentences
from .filler import filling_silence
from .link_watch import SIGNAL_LINKS, async_tell_links
from .repair_issues import async_report_broken_template, async_report_failed_script, async_report_missing_tools
from .runtime import ChatterboxConfigEntry
from .script_hooks import HookScripts, script_hooks
from .shown_files import async_read_shown_files
from .spoken_deltas import speaking
from .turn_events import TurnEvents, turn_origin
from .turn_report import TurnReport
from .warm_up import WarmUp

PARALLEL_UPDATES = 0


async def async_setup_entry(
    hass: HomeAssistant,  # noqa: ARG001  # Home Assistant's signature
    entry: ChatterboxConfigEntry,
    async_add_entities: AddConfigEntryEntitiesCallback,
) -> None:
    """Add one entity for each conversation agent of a service."""
    for subentry in entry.get_subentries_of_type(SUBENTRY_CONVERSATION):
        async_add_entities(
            [ChatterboxConversationEntity(entry, subentry)],
            config_subentry_id=subentry.subentry_id,
        )


class ChatterboxConversationEntity(ChatterboxEntity, ConversationEntity):
    """An agent to talk to."""

    _attr_supports_streaming = True

    def __init__(self, entry: ChatterboxConfigEntry, subentry: ConfigSubentry) -> None:
        """Take the agent that the runtime put together for the subentry."""
        super().__init__(entry, subentry)
        self._agent = entry.runtime_data.agents[subentry.subentry_id]
        self._warm_up: WarmUp | None = None
        """None for an agent without a model."""
        self._template_error: str | None = None
        """What was wrong with the instructions in the last turn."""
        if self._agent.controls_home:
            self._attr_supported_features = ConversationEntityFeature.CONTROL

    @property
    @override
    def supported_languages(self) -> list[str] | Literal["*"]:
        """Return what the agent's service understands."""
        return self._agent.supported_languages

    @property
    @override
    def available(self) -> bool:
        """Tell whether anybody can answer."""
        return self._agent.chain.is_available

    @override
    async def async_added_to_hass(self) -> None:
        """Follow how the models are doing."""
        await super().async_added_to_hass()
        self.async_on_remove(async_dispatcher_connect(self.hass, SIGNAL_LINKS, self.async_write_ha_state))
        self.async_on_remove(
            async_dispatcher_connect(self.hass, SIGNAL_CONFIG_ENTRY_CHANGED, self._async_follow_entries)
        )
        if (model := self.entry.runtime_data.models.get(self.subentry.subentry_id)) is not None:
            self._warm_up = WarmUp(self.hass, self.entry, model.provider, self._agent.settings)

    @override
    async def async_prepare(self, language: str | None = None) -> None:
        """Get ready while the person still speaks."""
        spoken = language or self.hass.config.language
        await async_get_sentences(self.hass, spoken)
        if self._warm_up is not None:
            await self._warm_up.async_prepare()
        else:
            await conversation.async_prepare_agent(self.hass, conversation.HOME_ASSISTANT_AGENT, spoken)

    @callback
    def _async_follow_entries(self, _change: ConfigEntryChange, entry: ConfigEntry) -> None:
        """Take note that another service of ours comes or goes: it may answer for this agent."""
        if entry.domain == DOMAIN and entry is not self.entry:
            self.async_write_ha_state()

    @override
    async def async_will_remove_from_hass(self) -> None:
        """Take back what was reported; an agent that comes again finds out again."""
        async_report_missing_tools(self.hass, self.subentry, ())
        async_report_broken_template(self.hass, self.subentry, None)
        for point in HookPoint:
            async_report_failed_script(self.hass, self.subentry, point, None)

    @override
    async def _async_handle_message(self, user_input: ConversationInput, chat_log: ChatLog) -> ConversationResult:
        """Answer, whatever happens: the person cannot see an error."""
        sentences = await async_get_sentences(self.hass, user_input.language)
        late = self._agent.settings.filler_after
        with (
            speaking(chat_log, user_input.language) if _is_voice(user_input) else nullcontext() as spoken,
            filling_silence(self.hass, self.entry, spoken, sentences["spoken_filler"], late),
        ):
            try:
                return await self._async_take_turn(user_input, chat_log)
            except Exception:  # noqa: BLE001  # the last border before a person who stands in a room and waits
                LOGGER.exception("A turn of %s failed", self.entity_id)
                result = _error_result(user_input, chat_log, sentences["spoken_agent_failed"])
            finally:
                async_tell_links(self.hass)
            if spoken is not None:  # a pipeline that has begun to speak does not speak the result
                with suppress(Exception):  # who listens may be what broke
                    spoken.break_off(result.response.speech["plain"]["speech"])
            return result

    async def _async_take_turn(self, user_input: ConversationInput, chat_log: ChatLog) -> ConversationResult:
        report = TurnReport(user_input.text)
        origin = turn_origin(user_input, self.entity_id, chat_log.conversation_id)
        events = TurnEvents(self.hass, user_input.context, origin)
        events.started()
        try:
            return await self._async_answer(user_input, chat_log, report, events)
        finally:
            events.finished(report)

    @callback
    def _async_note_template(self, error: str | None) -> None:
        """Tell the owner when the instructions begin to fail, and when they work again."""
        if error is not None and error != self._template_error:
            LOGGER.warning("The instructions of %s cannot be rendered: %s", self.entity_id, error)
        self._template_error = error
        async_report_broken_template(self.hass, self.subentry, error)

    async def _async_answer(
        self, user_input: ConversationInput, chat_log: ChatLog, report: TurnReport, events: TurnEvents
    ) -> ConversationResult:
        limits = self._agent.settings.limits
        files, tools = await asyncio.gather(
            async_read_shown_files(self.hass, chat_log, limits.preparation),
            self._agent.async_gather_tools(user_input, chat_log.conversation_id),
        )
        async_report_missing_tools(self.hass, self.subentry, tools.missing_apis)
        sources = PromptSources(
            self._agent.settings.prompt, tools.prompt, tools.context, user_input.extra_system_prompt
        )
        prompt = await async_provide_prompt(chat_log, user_input.as_llm_context(DOMAIN), sources, tools.api)
        self._async_note_template(prompt.template_error)
        keep_context(chat_log, prompt.context)
        sentences = await async_get_sentences(self.hass, user_input.language)
        hooks = self._hooks(user_input.context, events.origin, sentences["spoken_prompt_denied"])
        loop = await self._agent.async_get_loop(tools, user_input.language, limits.after(report.duration), hooks)
        is_voice = _is_voice(user_input)
        said = words(chat_log, files)
        turn = Turn(
            user_input.text,
            history(chat_log, files),
            prompt.instructions,
            tools.definitions,
            context=said.context,
            attachments=said.attachments,
            claim_language=self._agent.claim_language(user_input.language) if is_voice else None,
        )
        if self._warm_up is not None:
            await self._warm_up.async_give_way(turn, max(limits.preparation - report.duration, 0))
        turn = replace(turn, limits=limits.after(report.duration))
        taken = _with_last_words(events.telling(loop.stream(turn)), sentences["spoken_approval_required"])
        await async_record_turn(chat_log, self.entity_id, taken, report)
        _trace_tokens(chat_log, report)
        result = conversation.async_get_result_from_chat_log(user_input, chat_log)
        if finished := report.finished:
            speech = speakable(finished.text, user_input.language) if is_voice else finished.text
            if finished.stop_reason is StopReason.PROVIDER_FAILED and not finished.receipts:
                return _error_result(user_input, chat_log, speech)
            result.response.async_set_speech(speech)
            result.continue_conversation = asks_back(finished.text, user_input.language)
        return result

    def _hooks(self, context: Context, origin: Mapping[str, JsonValue], refusal: str) -> Sequence[Hooks]:
        """Return what the owner has put between the model and the house."""
        scripts = self._agent.settings.scripts
        return script_hooks(HookScripts(self.hass, self.subentry, scripts, context, origin, refusal))


async def _with_last_words(events: AsyncGenerator[TurnEvent], asking: str) -> AsyncGenerator[TurnEvent]:
    """Yield the events of a turn; one that ends because it needs a yes says so."""
    async with aclosing(events):
        async for event in events:
            if isinstance(event, TurnFinished) and event.stop_reason is StopReason.APPROVAL_REQUIRED:
                yield TextDelta(asking)
                yield MessageDone(AssistantMessage(asking))
                yield replace(event, text=asking)
            else:
                yield event


def _trace_tokens(chat_log: ChatLog, report: TurnReport) -> None:
    """Let traces know what the turn took."""
    if report.finished is not None:
        usage = report.finished.usage
        chat_log.async_trace(
            {
                "stats": {
                    "input_tokens": usage.input_tokens,
                    "cached_input_tokens": usage.cached_tokens,
                    "output_tokens": usage.output_tokens,
                }
            }
        )


def _is_voice(user_input: ConversationInput) -> bool:
    return user_input.satellite_id is not None or user_input.device_id is not None


def _error_result(user_input: ConversationInput, chat_log: ChatLog, speech: str) -> ConversationResult:
    response = intent.IntentResponse(language=user_input.language)
    response.async_set_error(intent.IntentResponseErrorCode.UNKNOWN, speech)
    return ConversationResult(response=response, conversation_id=chat_log.conversation_id)
