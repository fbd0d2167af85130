"""Home Assistant's own understanding beside a model: it acts before it, or after it when it has done nothing.

Either way it is a tool call of the turn, under the same rules. In later turns, the model is told of it.
"""

from collections.abc import AsyncGenerator, Awaitable, Callable, Container, Iterable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import Final

from homeassistant.components.conversation import ConversationInput
from homeassistant.core import HomeAssistant
from homeassistant.helpers.singleton import singleton
from homeassistant.util.hass_dict import HassKey

from ..agent.conversation.own_words import NO_MODEL
from ..agent.errors import ProviderError
from ..agent.events import CompletionResult, ProviderEvent, TextDelta, ToolCallReady
from ..agent.messages import (
    AssistantMessage,
    FinishReason,
    ToolChoiceMode,
    ToolDefinition,
    ToolResult,
    Transcript,
)
from ..agent.protocols import CompletionRequest, LeavableProvider, LLMProvider
from ..agent.transcript import changing_tools, since_last_user_message
from ..const import DOMAIN
from ..effects.recognition import RecognizedRequest, async_recognize
from ..records.turn_record import found_nothing
from ..settings.agent import AgentSettings, LocalCommands
from ..speech.text import REPORTS, Statement, answer_content, asks_back
from .provider import (
    PROCESS_SENTENCE,
    answer_items,
    is_local_call,
    sentence_call,
    speech_of,
    without_sentences,
)

type Recognizer = Callable[
    [HomeAssistant, ConversationInput, Transcript, RecognizedRequest | None], Awaitable[RecognizedRequest | None]
]
"""Returns a request by its words and the messages before them, given what Home Assistant has recognized in them."""

recognizers: Final = singleton(HassKey[dict[str, Recognizer]](f"{DOMAIN}_recognizers"))(lambda _: {})
"""Returns the recognizers that are asked after Home Assistant's own, by the names of the tools that they call."""
_GIVES_NO_REASON: Final = REPORTS | {Statement.CANNOT}


@dataclass(frozen=True, slots=True)
class LocalRequests:
    """Decides which words of a turn are Home Assistant's."""

    hass: HomeAssistant
    settings: AgentSettings
    user_input: ConversationInput
    history: Transcript
    is_refused: Callable[[], bool]
    """Tells whether the rules have refused a call of the turn: then nothing else is tried."""
    is_new: bool = True
    """Whether the words are a request. Those that answer a question are none."""
    has_model: bool = True
    """Whether a model answers. Without one, the provider handles all but requests with a call or an answer."""
    async_hint: Callable[[], Awaitable[tuple[str, bool]]] | None = None
    """Returns the words for a model that did nothing although something fits a command, empty if nothing does; and
    whether they are only for one that reports an action.
    """

    async def async_recognize(self, words: str, tools: Iterable[ToolDefinition]) -> RecognizedRequest | None:
        """Return what words are that stand by themselves; None for those that follow up on words of the model."""
        if not self.is_new or not words:
            return None
        user_input = replace(self.user_input, text=words)
        found, offered = await async_recognize(self.hass, user_input), {tool.name for tool in tools}
        for name, recognize in recognizers(self.hass).items():
            found = await recognize(self.hass, user_input, self.history, found) if name in offered else found
        is_left = not self.has_model and (found is None or not (found.call or found.answer))
        if (
            found is None
            or is_left
            or (self.has_model and found.is_last_resort)
            or (self.has_model and _follows_up(found, self.history, self.user_input.language, changing_tools(tools)))
        ):
            return None
        return found

    async def async_hint_for(self, words: str, tools: Iterable[ToolDefinition]) -> tuple[str, bool]:
        """Return what a model is told once if it only talks; empty for words that may answer some of its own."""
        last = self.history[-1] if self.history else None
        is_asked = isinstance(last, AssistantMessage) and asks_back(last.text, self.user_input.language)
        is_plain = self.has_model and self.is_new and words and changing_tools(tools) and not is_asked
        return await self.async_hint() if is_plain and self.async_hint else ("", False)

    def goes_first(self, request: RecognizedRequest) -> bool:
        """Return whether a request does not go to the model."""
        first = self.settings.local_commands is LocalCommands.FIRST
        return first and request.kind not in self.settings.model_requests


@dataclass(slots=True)
class LocalCommandsProvider(LeavableProvider):
    """The `LLMProvider` of one turn that joins Home Assistant's own understanding and a model."""

    model: LLMProvider
    requests: LocalRequests
    _recognized: RecognizedRequest | None = None
    _has_asked_model: bool = False
    _may_hint: bool = False
    """Whether the model is told what fits if it only talks. That is looked for once it begins to."""
    _hinted: CompletionRequest | None = None
    """The request that tells a model what fits."""
    _hints_at_reports: bool = False
    """Whether only a model that reports an action is told what fits."""
    _undone: str | None = None
    """The words of a model that had done nothing, once they have given way."""

    async def stream(self, request: CompletionRequest) -> AsyncGenerator[ProviderEvent]:
        """Run one inference; see `LLMProvider.stream`."""
        words, results = since_last_user_message(request.transcript)
        may_call = request.tool_choice is ToolChoiceMode.AUTO
        if not results and may_call and (found := await self.requests.async_recognize(words, request.tools)):
            self._recognized = found
            if found.answer:
                yield TextDelta(found.answer)
                yield CompletionResult(FinishReason.STOP, provider_items=answer_items(found))
                return
            if self.requests.goes_first(found):
                yield self._ready(words)
                yield CompletionResult(FinishReason.TOOL_CALLS, provider_items=(NO_MODEL,))
                return
        own = [result for result in results if self._needs_no_model(result)]
        is_ours = self._undone is not None or (not self._has_asked_model and len(own) == len(results))
        if own and is_ours:
            if (speech := self._ending(own)) is not None:
                if speech:
                    yield TextDelta(speech)
                is_by_model = self._undone is not None and speech == self._undone
                yield CompletionResult(FinishReason.STOP, provider_items=() if is_by_model else (NO_MODEL,))
                return
            if len(own) == 1 and found_nothing(own[0]):
                request = without_sentences(request)  # for all providers, as if it had not been tried
        is_first = may_call and not (self._has_asked_model or results)
        self._has_asked_model = True
        is_open = may_call and not own and self._is_undone(request, results)
        self._may_hint = is_first and not self._recognized
        async with aclosing(self.model.stream(request)) as events:
            is_held = is_open or self._may_hint
            async for event in self._with_take_over(events, words, results, request) if is_held else events:
                yield event

    async def _async_withholds(self, text: str, words: str, request: CompletionRequest) -> bool:
        """Return whether the words of a model may give way."""
        if not self._may_hint or self._hinted or not text.strip():
            return True
        hint, self._hints_at_reports = await self.requests.async_hint_for(words, request.tools)
        if hint:
            self._hinted = replace(request, directive="\n\n".join(filter(None, (request.directive, hint))))
        return bool(hint)

    def _needs_no_model(self, result: ToolResult) -> bool:
        """Return whether a result is that of a sentence: in a turn that resumes, its call has another id."""
        requests = self.requests
        is_resumed = not requests.is_new and result.name in recognizers(requests.hass)
        is_sentence = requests.has_model and result.name == PROCESS_SENTENCE.name
        return is_sentence or is_resumed or is_local_call(result.call_id)

    def _ready(self, words: str) -> ToolCallReady:
        """Return the call that does what was recognized in the words."""
        call = (self._recognized.call if self._recognized else None) or sentence_call(words)
        return ToolCallReady(call, frozenset({call.name}))

    def _ending(self, own: Sequence[ToolResult]) -> str | None:
        """Return what is said after a sentence was processed; None if it failed, and the model has to go on."""
        if done := [result for result in own if not (result.is_error or result.synthetic)]:
            return " ".join(filter(None, map(speech_of, done)))
        if all(result.synthetic for result in own) or not self.requests.has_model:
            return ""  # it was refused, nobody said yes, or nobody else can help: the turn says why
        return self._undone

    def _is_undone(self, request: CompletionRequest, results: Iterable[ToolResult]) -> bool:
        """Return whether the words are a command of which nothing has been done yet."""
        changing = changing_tools(request.tools)
        return (
            self._recognized is not None
            and not self._recognized.is_question
            and not any(result.name in changing and not (result.is_error or result.synthetic) for result in results)
        )

    async def _with_take_over(
        self,
        events: AsyncGenerator[ProviderEvent],
        words: str,
        results: Sequence[ToolResult],
        request: CompletionRequest,
    ) -> AsyncGenerator[ProviderEvent]:
        """Yield the events of a model. If it only talks, an answer without a reason gives way to the command.

        Where something fits that was not recognized, it gives way to the model's answer to a request that tells so.
        """
        withheld: list[TextDelta] | None = []
        end: CompletionResult | None = None
        async for event in events:
            match event:
                case TextDelta(text) if withheld is not None and await self._async_withholds(text, words, request):
                    withheld.append(event)
                case CompletionResult(FinishReason.STOP) if (
                    withheld is not None
                    and self._gives_way(answer := "".join(delta.text for delta in withheld), words, results)
                    and (answer.strip() or not self._may_hint)
                ):
                    if self._hinted:
                        end = event
                        continue
                    self._undone = answer
                    yield self._ready(words)
                    yield replace(event, finish_reason=FinishReason.TOOL_CALLS, provider_items=(NO_MODEL,))
                case TextDelta() | ToolCallReady() | CompletionResult():
                    for delta in withheld or ():
                        yield delta
                    withheld = None
                    yield event
                case _:
                    yield event
        if self._hinted and end:
            async for event in self._asked_again(self._hinted, withheld or (), end):
                yield event

    async def _asked_again(
        self, request: CompletionRequest, answer: Sequence[TextDelta], end: CompletionResult
    ) -> AsyncGenerator[ProviderEvent]:
        """Yield the events of a second answer of the model; the first one stands if nothing comes of it."""
        is_empty = True
        try:
            async with aclosing(self.model.stream(request)) as events:
                async for event in events:
                    match event:
                        case CompletionResult():
                            end = replace(end if is_empty else event, usage=end.usage + event.usage)
                        case TextDelta() if is_empty and not event.text.strip():
                            pass
                        case _:
                            is_empty = is_empty and not isinstance(event, TextDelta | ToolCallReady)
                            yield event
        except ProviderError:
            if not is_empty:
                raise
        for delta in answer if is_empty else ():
            yield delta
        yield end

    def _gives_way(self, answer: str, words: str, results: Sequence[ToolResult]) -> bool:
        """Return whether the command is run in place of an answer: one that neither asks nor gives a reason.

        After a look at the home, only the report of an action is certain to be no reason; "The light is on" may be one.
        """
        if self.requests.is_refused():
            return False
        has_failed, has_looked = any(result.is_error for result in results), bool(results)
        if not answer.strip():
            return has_failed or not has_looked
        content = answer_content(answer, words, self.requests.user_input.language)
        statements = frozenset(content.statements)
        if content.asks or content.has_reservations or Statement.ANNOUNCEMENT in statements:
            return False
        if has_failed:
            return True
        if self._hints_at_reports:
            return statements <= REPORTS
        return bool(statements) and statements <= (frozenset({Statement.DONE}) if has_looked else _GIVES_NO_REASON)


def _follows_up(request: RecognizedRequest, history: Transcript, language: str, changing: Container[str]) -> bool:
    """Return whether words may be meant for a model that has just spoken.

    It only talked, and may have asked for words in any way, or it asked a question, or the words name no target.
    """
    _, results = since_last_user_message(history)
    last = history[-1] if history else None
    is_ours = any(result.name == PROCESS_SENTENCE.name for result in results)
    if not isinstance(last, AssistantMessage) or is_ours or NO_MODEL in last.provider_items:
        return False
    has_acted = any(result.name in changing and not (result.is_error or result.synthetic) for result in results)
    return not has_acted or request.is_elliptic or asks_back(last.text, language)
