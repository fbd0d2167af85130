"""Runs a sentence through Home Assistant's built-in agent, for the offline provider.

Knows the conversation integration. Must not know the loop or how the provider decides. The built-in agent works in a
conversation of its own beside ours: it writes nothing into our ChatLog, and still knows what "it" was a sentence ago.
"""

import asyncio
from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Final

from homeassistant.components import conversation
from homeassistant.core import Context, HomeAssistant
from homeassistant.helpers import intent, llm

from ..agent.messages import JsonObject, ToolCall, ToolOutcome
from ..const import LOGGER
from ..effects.effect import NOTHING, Effects
from ..records.tool_answer import result_content
from ..speech.sentences import async_get_sentences
from .context import async_process_in_context
from .provider import PROCESS_SENTENCE, SENTENCE
from .sentence_effects import async_sentence_effects

MAX_NESTING: Final = 3
"""How many sentences may be at work inside one another: one may run an automation that says another."""


@dataclass(slots=True)
class _Sentence:
    """A sentence at work. A task that it started, and that outlives it, still sees it, but no longer at work."""

    at_work: bool = True


_SENTENCES_AROUND: ContextVar[tuple[_Sentence, ...]] = ContextVar("chatterbox_offline_sentences", default=())


@dataclass(slots=True)
class OfflineDispatcher:
    """The `ToolDispatcher` for `PROCESS_SENTENCE`, made for one turn. Natives are `llm.ToolResult`."""

    hass: HomeAssistant
    conversation_id: str
    """Of our conversation; the built-in agent remembers by it."""
    context: Context
    language: str
    device_id: str | None = None
    satellite_id: str | None = None

    def targets(self, name: str, arguments: JsonObject) -> frozenset[str] | None:  # noqa: ARG002 what a protocol asks
        """Return None: only the built-in agent finds out what a sentence means."""
        return None

    async def async_effects(self, name: str, arguments: JsonObject) -> Effects:  # noqa: ARG002 there is one tool
        """Return what a sentence would do."""
        sentence = arguments.get(SENTENCE)
        if not isinstance(sentence, str):
            return NOTHING
        return await async_sentence_effects(self.hass, self._said(sentence), self.conversation_id)

    async def dispatch(self, call: ToolCall, arguments: JsonObject) -> ToolOutcome:
        """Let the built-in agent act on a sentence.

        What it did not understand, or could not do, is an outcome with `is_error`; the native then holds its error code
        and its own sentence, as when it is asked directly.
        """
        sentence = arguments.get(SENTENCE)
        if call.name != PROCESS_SENTENCE.name or not isinstance(sentence, str):
            native = llm.ToolResult({"error": f"Expected {PROCESS_SENTENCE.name} with a {SENTENCE}."}, error=True)
            return ToolOutcome(result_content(native), is_error=True, native=native)
        with _entered() as nesting:
            response = await (self._process(sentence) if nesting <= MAX_NESTING else self._refuse())
        is_error = response.response_type is intent.IntentResponseType.ERROR
        native = llm.ToolResult(llm.IntentResponseDict(response), error=is_error)
        return ToolOutcome(result_content(native), is_error=is_error, native=native)

    async def _process(self, sentence: str) -> intent.IntentResponse:
        return await async_process_in_context(self.hass, self._said(sentence), self.conversation_id, self._converse)

    def _said(self, sentence: str) -> conversation.ConversationInput:
        return conversation.ConversationInput(
            sentence,
            self.context,
            None,
            self.device_id,
            self.satellite_id,
            self.language,
            conversation.HOME_ASSISTANT_AGENT,
        )

    async def _converse(self, user_input: conversation.ConversationInput) -> intent.IntentResponse:
        converse = conversation.async_converse(
            self.hass,
            user_input.text,
            user_input.conversation_id,
            user_input.context,
            user_input.language,
            agent_id=user_input.agent_id,
            device_id=user_input.device_id,
            satellite_id=user_input.satellite_id,
        )
        # In a task of its own: when an inner conversation ends, Home Assistant forgets the outer one of its context.
        result = await asyncio.create_task(converse, name="chatterbox offline sentence")
        return result.response

    async def _refuse(self) -> intent.IntentResponse:
        """Break a circle: an automation says a sentence that starts the same automation."""
        LOGGER.warning("A sentence was not processed: it starts an automation that says it again")
        sentences = await async_get_sentences(self.hass, self.language)
        response = intent.IntentResponse(language=self.language)
        response.async_set_error(
            intent.IntentResponseErrorCode.FAILED_TO_HANDLE, sentences["spoken_sentence_calls_itself"]
        )
        return response


def offline_languages(hass: HomeAssistant) -> list[str]:
    """Return the language tags that the built-in agent understands, sorted. Conversation must be set up."""
    return sorted(conversation.async_get_conversation_languages(hass, conversation.HOME_ASSISTANT_AGENT))


@contextmanager
def _entered() -> Generator[int]:
    """Count the sentences at work around this one, itself included."""
    around = tuple(sentence for sentence in _SENTENCES_AROUND.get() if sentence.at_work)
    sentence = _Sentence()
    token = _SENTENCES_AROUND.set((*around, sentence))
    try:
        yield len(around) + 1
    finally:
        sentence.at_work = False
        _SENTENCES_AROUND.reset(token)
