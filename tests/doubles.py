"""Real implementations of the loop's protocols, driven by a script.

They keep the contracts of `agent/protocols.py`, record what they were given, and know
nothing of the loop's inside.
"""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import override

from custom_components.chatterbox.agent.events import (
    CompletionResult,
    ProviderEvent,
    TextDelta,
    ToolCallReady,
)
from custom_components.chatterbox.agent.messages import (
    FinishReason,
    JsonObject,
    ToolAnnotations,
    ToolCall,
    ToolDefinition,
    ToolOutcome,
    Usage,
)
from custom_components.chatterbox.agent.protocols import CompletionRequest

type Pause = Callable[[], Awaitable[object]]
type Line = ProviderEvent | Exception | Pause


def say(text: str, finish: FinishReason = FinishReason.STOP, usage: Usage | None = None) -> list[Line]:
    """Script an inference that answers in words."""
    return [TextDelta(text), CompletionResult(finish, usage or Usage(10, 5))]


def call(*calls: ToolCall, text: str = "", usage: Usage | None = None) -> list[Line]:
    """Script an inference that asks for tools."""
    said: list[Line] = [TextDelta(text)] if text else []
    return [
        *said,
        *(ToolCallReady(one) for one in calls),
        CompletionResult(FinishReason.TOOL_CALLS, usage or Usage(10, 5)),
    ]


class ScriptedProvider:
    """Plays one list of lines per inference, and fails a test that asks for more.

    A line that is an exception is raised; one that is a coroutine function is awaited, so
    that a test can hold the stream at that point.
    """

    def __init__(self, *inferences: Sequence[Line]) -> None:
        self._inferences = list(inferences)
        self.requests: list[CompletionRequest] = []
        self.open_streams = 0

    async def stream(self, request: CompletionRequest) -> AsyncGenerator[ProviderEvent]:
        """Play the next inference."""
        self.requests.append(request)
        assert self._inferences, "the loop asked for an inference that the script does not have"
        lines = self._inferences.pop(0)
        self.open_streams += 1
        try:
            for line in lines:
                if isinstance(line, Exception):
                    raise line
                if callable(line):
                    await line()
                else:
                    yield line
        finally:
            self.open_streams -= 1


type ToolBody = Callable[[JsonObject], Awaitable[ToolOutcome]]


async def _done(_: JsonObject) -> ToolOutcome:
    return ToolOutcome('{"done":true}')


@dataclass
class ScriptedDispatcher:
    """Runs the bodies it was given, any other tool succeeding, and records the order."""

    bodies: dict[str, ToolBody] = field(default_factory=dict)
    target_of: Callable[[str, JsonObject], frozenset[str] | None] = lambda _name, _arguments: None
    started: list[ToolCall] = field(default_factory=list)
    finished: list[ToolCall] = field(default_factory=list)
    running: int = 0

    def targets(self, name: str, arguments: JsonObject) -> frozenset[str] | None:
        """Ask the test's function."""
        return self.target_of(name, arguments)

    async def dispatch(self, call: ToolCall, arguments: JsonObject) -> ToolOutcome:
        """Run the body."""
        self.started.append(call)
        self.running += 1
        try:
            outcome = await self.bodies.get(call.name, _done)(arguments)
            self.finished.append(call)
            return outcome
        finally:
            self.running -= 1


class Gate:
    """A tool body or a line that waits until the test opens it."""

    def __init__(self) -> None:
        self.reached = asyncio.Event()
        self.opened = asyncio.Event()

    async def __call__(self, _: JsonObject | None = None) -> ToolOutcome:
        """Say that it was reached, and wait."""
        self.reached.set()
        await self.opened.wait()
        return ToolOutcome('{"done":true}')

    @override
    def __repr__(self) -> str:
        return f"<Gate {'open' if self.opened.is_set() else 'shut'}>"


def tool(
    name: str,
    *,
    read_only: bool = False,
    client: bool = False,
    repeatable: bool = False,
    parameters: JsonObject | None = None,
) -> ToolDefinition:
    """Define a tool that takes anything."""
    return ToolDefinition(
        name,
        f"Does {name}",
        parameters or {"type": "object", "properties": {}},
        ToolAnnotations(read_only=read_only),
        client=client,
        repeatable=repeatable,
    )
