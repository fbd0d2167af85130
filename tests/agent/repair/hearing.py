"""A message as it leaves the recogniser of written calls."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from custom_components.chatterbox.agent.events import (
    CompletionResult,
    PromptProgress,
    ProviderEvent,
    ProviderSwitched,
    ReasoningDelta,
    ServiceSearched,
    TextDelta,
    ToolCallReady,
)
from custom_components.chatterbox.agent.messages import (
    FinishReason,
    Message,
    ToolDefinition,
    Usage,
    UserMessage,
)
from custom_components.chatterbox.agent.protocols import CompletionRequest
from custom_components.chatterbox.agent.repair.text_calls import (
    TextCallReader,
    TextCalls,
)
from tests.agent.repair.written_examples import OFFERED
from tests.support.at_once import at_once


@dataclass
class Heard:
    """The outcome of a message."""

    text: str = ""
    thought: str = ""
    calls: list[tuple[str, str]] = field(default_factory=list)
    ids: list[str] = field(default_factory=list)
    result: CompletionResult | None = None

    def add(self, event: ProviderEvent) -> None:
        """Take in one event."""
        match event:
            case TextDelta(text):
                assert text
                self.text += text
            case ReasoningDelta(text):
                self.thought += text
            case ToolCallReady(call):
                self.calls.append(call.key)
                self.ids.append(call.id)
            case CompletionResult():
                assert self.result is None
                self.result = event
            case ProviderSwitched() | PromptProgress() | ServiceSearched():
                pass

    @property
    def finish(self) -> FinishReason:
        """Why the message ended."""
        assert self.result
        return self.result.finish_reason


def request(
    tools: Sequence[ToolDefinition] = OFFERED, transcript: tuple[Message, ...] = ()
) -> CompletionRequest:
    """Return a request that offers tools."""
    return CompletionRequest("", (*transcript, UserMessage("Go")), tuple(tools))


def hear(
    *events: ProviderEvent,
    model_request: CompletionRequest | None = None,
    model: TextCalls | None = None,
) -> Heard:
    """Read the events of one message."""
    return at_once(
        _hear(events, (model or TextCalls()).message(model_request or request()))
    )


async def _hear(events: Iterable[ProviderEvent], reader: TextCallReader) -> Heard:
    heard = Heard()
    for event in events:
        for parsed in await reader.read(event):
            heard.add(parsed)
    assert heard.result
    assert len(set(heard.ids)) == len(heard.ids)
    return heard


def message(
    text: str | Iterable[str], finish: FinishReason = FinishReason.STOP
) -> list[ProviderEvent]:
    """Return the events of a message that is all text."""
    pieces = [text] if isinstance(text, str) else text
    return [
        *(TextDelta(piece) for piece in pieces if piece),
        CompletionResult(finish, Usage(7, 3)),
    ]


def cuts(text: str) -> Iterator[list[str]]:
    """Yield every way to cut a text in two, and the text character by character."""
    for place in range(1, len(text)):
        yield [text[:place], text[place:]]
    yield list(text)
