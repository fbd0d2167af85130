"""What a listener gets of a message that has gone through the recogniser of written calls."""

from collections.abc import AsyncGenerator, Iterable, Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field

from custom_components.chatterbox.agent.events import (
    CompletionResult,
    ProviderEvent,
    ProviderSwitched,
    ReasoningDelta,
    TextDelta,
    ToolCallReady,
)
from custom_components.chatterbox.agent.messages import FinishReason, Message, ToolDefinition, Usage, UserMessage
from custom_components.chatterbox.agent.protocols import CompletionRequest
from custom_components.chatterbox.agent.providers.text_calls import TextCalls
from tests.agent.wire.written_examples import OFFERED
from tests.support.doubles import Line, ScriptedProvider


@dataclass
class Heard:
    """What came of a message."""

    said: str = ""
    thought: str = ""
    calls: list[tuple[str, str]] = field(default_factory=list)
    ids: list[str] = field(default_factory=list)
    result: CompletionResult | None = None

    def add(self, event: ProviderEvent) -> None:
        """Take in one event."""
        match event:
            case TextDelta(text):
                assert text
                self.said += text
            case ReasoningDelta(text):
                self.thought += text
            case ToolCallReady(call):
                self.calls.append((call.name, call.arguments))
                self.ids.append(call.id)
            case CompletionResult():
                assert self.result is None
                self.result = event
            case ProviderSwitched():
                pass

    @property
    def finish(self) -> FinishReason:
        """Why the message ended."""
        assert self.result
        return self.result.finish_reason


def request(tools: Sequence[ToolDefinition] = OFFERED, transcript: tuple[Message, ...] = ()) -> CompletionRequest:
    """Return a request that offers tools."""
    return CompletionRequest("", (*transcript, UserMessage("Go")), tuple(tools))


async def stream(provider: TextCalls, asked: CompletionRequest) -> AsyncGenerator[ProviderEvent]:
    """Stream, and close the stream."""
    async with aclosing(provider.stream(asked)) as events:
        async for event in events:
            yield event


async def hear(*events: Line, asked: CompletionRequest | None = None) -> Heard:
    """Hear a message of which the events are known."""
    return await hear_from(TextCalls(ScriptedProvider(events)), asked)


async def hear_from(provider: TextCalls, asked: CompletionRequest | None = None) -> Heard:
    """Hear what a provider says."""
    heard = Heard()
    async for event in stream(provider, asked or request()):
        heard.add(event)
    assert heard.result
    assert len(set(heard.ids)) == len(heard.ids)
    return heard


def message(text: str | Iterable[str], finish: FinishReason = FinishReason.STOP) -> list[Line]:
    """Return the events of a message that is all text."""
    pieces = [text] if isinstance(text, str) else text
    return [*(TextDelta(piece) for piece in pieces if piece), CompletionResult(finish, Usage(7, 3))]


def cuts(text: str) -> Iterator[list[str]]:
    """Yield every way to cut a text in two, and the text character by character."""
    for place in range(1, len(text)):
        yield [text[:place], text[place:]]
    yield list(text)
