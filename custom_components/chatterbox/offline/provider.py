"""Home Assistant's own understanding of sentences, as a model: it has a sentence acted on, then says what came of it.

Knows the seams of the loop and the shape of an intent response as JSON. Must not know how a sentence is understood:
that is the work of the tool, in `offline/dispatcher.py`. The walk to the answer is that of any other provider.
"""

import json
from collections.abc import AsyncGenerator, Sequence
from typing import Final

from homeassistant.util.ulid import ulid_now

from ..agent.errors import ProviderRejectedRequest
from ..agent.events import CompletionResult, ProviderEvent, TextDelta, ToolCallReady
from ..agent.messages import (
    AssistantMessage,
    FinishReason,
    NamedTool,
    ToolAnnotations,
    ToolCall,
    ToolChoiceMode,
    ToolDefinition,
    ToolResult,
    Transcript,
    UserMessage,
    canonical_json,
)
from ..agent.protocols import CompletionRequest

SENTENCE: Final = "sentence"
"""The one argument of the tool."""

PROCESS_SENTENCE: Final = ToolDefinition(
    name="conversation__process_sentence",
    description="Lets Home Assistant understand a sentence in the speaker's language, act on it and word the answer.",
    parameters={
        "type": "object",
        "properties": {SENTENCE: {"type": "string", "description": "What the person said, word for word."}},
        "required": [SENTENCE],
        "additionalProperties": False,
    },
    annotations=ToolAnnotations(open_world=False),
)
"""The tool that a turn of this provider offers. Its result is the JSON of an `intent.IntentResponse`."""


_LONGEST_SENTENCE: Final = 10_000
"""Characters. Nobody says more at once, and nothing longer is understood."""


class OfflineProvider:
    """The `LLMProvider` that needs no model, no key and no network. Its inferences cost no tokens."""

    def __init__(self, announcement: str = "") -> None:
        """Say `announcement` before whatever there is to say, as who stands in for a model has to."""
        self._announcement = announcement

    async def stream(self, request: CompletionRequest) -> AsyncGenerator[ProviderEvent]:
        """Call the tool for what was said last; once it has answered, or no tool may run, say what it said.

        What other tools have answered is for the model that called them; who asks this one knows that nothing was
        changed yet. Says nothing when its tool said nothing. Raises `ProviderRejectedRequest` when it has to act but
        the tool is not offered, as in a task that is no conversation, and when it may not act and all that there is to
        say are results of other tools.
        """
        said, results = _since_last_user_message(request.transcript)
        has_acted = any(result.name == PROCESS_SENTENCE.name for result in results)
        if has_acted or not _may_act(request):
            if speech := " ".join(filter(None, map(_speech, results))):
                yield TextDelta(" ".join(filter(None, (self._announcement, speech))))
            elif results and not has_acted:
                raise ProviderRejectedRequest("the offline provider cannot put results of other tools into words")
            yield CompletionResult(FinishReason.STOP)
            return
        _require_tool(request)
        arguments = canonical_json({SENTENCE: said[:_LONGEST_SENTENCE]})
        yield ToolCallReady(ToolCall(id=f"sentence_{ulid_now()}", name=PROCESS_SENTENCE.name, arguments=arguments))
        yield CompletionResult(FinishReason.TOOL_CALLS)


def _since_last_user_message(transcript: Transcript) -> tuple[str, Sequence[ToolResult]]:
    """Return what the person said last, and what tools have answered since."""
    results: list[ToolResult] = []
    for message in reversed(transcript):
        match message:
            case UserMessage(text):
                return text, results[::-1]
            case ToolResult():
                results.append(message)
            case AssistantMessage():
                pass
    return "", results[::-1]


def _may_act(request: CompletionRequest) -> bool:
    """Tell whether a call is welcome; a directive asks for an answer from what is known."""
    return request.tool_choice is not ToolChoiceMode.NONE and not request.directive


def _require_tool(request: CompletionRequest) -> None:
    name = PROCESS_SENTENCE.name
    if isinstance(request.tool_choice, NamedTool) and request.tool_choice.name != name:
        raise ProviderRejectedRequest(f"the offline provider calls {name}, never {request.tool_choice.name}")
    if all(tool.name != name for tool in request.tools):
        raise ProviderRejectedRequest(f"the offline provider needs the tool {name} to be offered")


def _speech(result: ToolResult) -> str:
    """Return what an intent response wants said; nothing when a result is something else, such as a refusal."""
    try:
        content: object = json.loads(result.content)
    except ValueError:
        return ""
    match content:
        case {"speech": {"plain": {"speech": str(speech)}}}:
            return speech.strip()
        case _:
            return ""
