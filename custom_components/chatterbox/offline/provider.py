"""Home Assistant's built-in agent as an `LLMProvider`: it calls one tool with the sentence, then speaks its answer."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Final

from homeassistant.util.ulid import ulid_now

from ..agent.conversation.own_words import NO_MODEL, without_attempts
from ..agent.errors import ProviderRejectedRequest
from ..agent.events import CompletionResult, ProviderEvent, TextDelta, ToolCallReady
from ..agent.joined_tools import every_part
from ..agent.json.text import objects_in, parse_json
from ..agent.messages import (
    AssistantMessage,
    FinishReason,
    JsonObject,
    NamedTool,
    ProviderItem,
    ToolAnnotations,
    ToolCall,
    ToolChoiceMode,
    ToolDefinition,
    ToolResult,
    Transcript,
    canonical_json,
)
from ..agent.protocols import CompletionRequest
from ..agent.text import MOST_UNDERSTOOD
from ..agent.transcript import since_last_user_message
from ..effects.recognition import RecognizedRequest
from ..records.turn_record import found_nothing, parsed_content
from ..settings.tool_names import SENTENCE_TOOL
from ..speech.sentences import in_sentences

SENTENCE: Final = "sentence"
"""The argument of the tool."""

PROCESS_SENTENCE: Final = ToolDefinition(
    name=SENTENCE_TOOL,
    description="Lets Home Assistant understand a sentence in the speaker's language, act on it and word the answer.",
    parameters={
        "type": "object",
        "properties": {
            SENTENCE: {
                "type": "string",
                "description": "What the person said, word for word.",
            }
        },
        "required": [SENTENCE],
        "additionalProperties": False,
    },
    annotations=ToolAnnotations(open_world=False),
)
"""The tool of this provider. Its result is the JSON of an `intent.IntentResponse`."""

_LOCAL_CALL: Final = "local_"
_ASKED_ABOUT: Final = "asked_about"
"""Name of the format of provider items that hold a call until the question about it is answered."""


@dataclass(frozen=True, slots=True)
class OfflineProvider:
    """The `LLMProvider` that needs no model, key or network. It uses no tokens."""

    announcement: Callable[[], str] = str
    """Returns what is spoken before every answer: why it stands in for a model."""
    recognize: (
        Callable[[str, Iterable[ToolDefinition]], Awaitable[RecognizedRequest | None]]
        | None
    ) = None
    """Returns a request in words that another tool does, or that has an answer; None for those of the sentence tool."""

    async def stream(self, request: CompletionRequest) -> AsyncGenerator[ProviderEvent]:
        """Call the tool with the last user message. Once it has answered, or if no tool may run, speak its answer.

        The answer is empty if that of the tool is. Raises `ProviderRejectedRequest` if
        the tool is needed and not offered, and if there are only results of other tools
        and no tool may run.
        """
        sentence, results = since_last_user_message(request.transcript)
        has_acted = any(self._is_own(result, request.tools) for result in results)
        # A directive asks for an answer from what is known.
        if has_acted or request.tool_choice is ToolChoiceMode.NONE or request.directive:
            speech = in_sentences(map(speech_of, results))
            is_refused = any(result.synthetic for result in results)
            if speech and not is_refused:  # otherwise the turn says both
                yield self._announced(speech)
            elif results and not has_acted:
                raise ProviderRejectedRequest(
                    "the offline provider cannot put results of other tools into words"
                )
            yield CompletionResult(
                FinishReason.STOP,
                provider_items=(NO_MODEL,),
            )
            return
        _check_may_call(request)
        if self.recognize:
            found = await self.recognize(
                sentence,
                every_part(request.tools),
            )
        else:
            found = None
        if found and found.answer:
            yield self._announced(found.answer)
            yield CompletionResult(
                FinishReason.STOP, provider_items=answer_items(found)
            )
            return
        for call in calls_of(found, sentence):
            yield ToolCallReady(call)
        yield CompletionResult(
            FinishReason.TOOL_CALLS,
            provider_items=(NO_MODEL,),
        )

    def _is_own(
        self,
        result: ToolResult,
        tools: Iterable[ToolDefinition],
    ) -> bool:
        """Return whether a result is that of a call that this provider may make."""
        if self.recognize:
            own = [tool.name for tool in tools]
        else:
            own = []
        is_sentence = result.name == PROCESS_SENTENCE.name
        return is_sentence or result.name in own or is_local_call(result.call_id)

    def _announced(self, speech: str) -> TextDelta:
        return TextDelta(" ".join(filter(None, (self.announcement(), speech))))


def _check_may_call(request: CompletionRequest) -> None:
    """Raise `ProviderRejectedRequest` if another tool is to be called, or the tool is not offered."""
    name = PROCESS_SENTENCE.name
    choice = request.tool_choice
    if isinstance(choice, NamedTool) and choice.name != name:
        raise ProviderRejectedRequest(
            f"the offline provider calls {name}, never {choice.name}"
        )
    if all(tool.name != name for tool in every_part(request.tools)):
        raise ProviderRejectedRequest(
            f"the offline provider needs the tool {name} to be offered"
        )


def sentence_call(sentence: str) -> ToolCall:
    """Return a new call of the tool."""
    arguments = canonical_json(
        {SENTENCE: sentence[: MOST_UNDERSTOOD + 1]}
    )  # of more, nothing is understood
    return ToolCall(
        id=f"sentence_{ulid_now()}", name=PROCESS_SENTENCE.name, arguments=arguments
    )


def local_call(
    name: str,
    arguments: JsonObject,
) -> ToolCall:
    """Return a new call of another tool that was recognized in a sentence."""
    return ToolCall(
        id=f"{_LOCAL_CALL}{ulid_now()}", name=name, arguments=canonical_json(arguments)
    )


def calls_of(
    request: RecognizedRequest | None,
    sentence: str,
) -> tuple[ToolCall, ...]:
    """Return the calls that do what was recognized in a sentence, if anything was."""
    if request is None or request.call is None:
        return (sentence_call(sentence),)
    if request.first:
        return sentence_call(request.first), request.call
    return (request.call,)


def answer_items(request: RecognizedRequest) -> tuple[ProviderItem, ...]:
    """Return the provider items of a message with the answer of a request, with the call that a question is about."""
    call = request.call
    return (
        NO_MODEL,
        *([ProviderItem(_ASKED_ABOUT, {call.name: call.arguments})] if call else []),
    )


def asked_about(
    name: str,
    history: Transcript,
) -> JsonObject:
    """Return the arguments of the call of a tool that the last message asks about; empty if it asks about none."""
    last = history[-1] if history else None
    if isinstance(last, AssistantMessage):
        items = last.provider_items
    else:
        items = ()
    held = [
        parse_json(str(item.data[name]))
        for item in items
        if item.format == _ASKED_ABOUT and name in item.data
    ]
    return next(iter(objects_in(held)), {})


def is_local_call(call_id: str) -> bool:
    """Return whether a call was recognized in a sentence, as told by its id."""
    return call_id.startswith(_LOCAL_CALL)


def speech_of(result: ToolResult) -> str:
    """Return the speech of an intent response, or an empty text for other results, such as a refusal."""
    match parsed_content(result):
        case {"speech": {"plain": {"speech": str(speech)}}}:
            return speech.strip()
        case _:
            return ""


without_sentences: Final = partial(
    without_attempts, PROCESS_SENTENCE.name, found_nothing
)
"""Returns a request for a model, without sentences that Home Assistant has processed in this turn in vain."""
