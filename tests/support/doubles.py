"""Real implementations of the loop's protocols, driven by a script.

They keep the contracts of `agent/protocols.py`, record what they were given, and know
nothing of the loop's inside.
"""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import override

from custom_components.chatterbox.agent.events import (
    Answer,
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
    ToolResult,
    Usage,
)
from custom_components.chatterbox.agent.protocols import (
    Ask,
    CompletionRequest,
    Deny,
    Hooks,
    Rewrite,
)

YES, NO = Answer(approved=True), Answer(approved=False)

type Pause = Callable[[], Awaitable[object]]
type Line = ProviderEvent | Exception | Pause


def say(
    text: str, finish: FinishReason = FinishReason.STOP, usage: Usage | None = None
) -> list[Line]:
    """Script an inference that answers in words."""
    return [TextDelta(text), CompletionResult(finish, usage or Usage(10, 5))]


def call(*calls: ToolCall, text: str = "", usage: Usage | None = None) -> list[Line]:
    """Script an inference that asks for tools."""
    sentence: list[Line] = [TextDelta(text)] if text else []
    return [
        *sentence,
        *(ToolCallReady(one) for one in calls),
        CompletionResult(FinishReason.TOOL_CALLS, usage or Usage(10, 5)),
    ]


class ScriptedProvider:
    """Plays one list of lines per inference, and fails a test that asks for more.

    A line that is an exception is raised; one that is a coroutine function is awaited,
    so that a test can hold the stream at that point.
    """

    def __init__(self, *inferences: Sequence[Line]) -> None:
        self._inferences = list(inferences)
        self.requests: list[CompletionRequest] = []
        self.open_streams = 0

    async def stream(self, request: CompletionRequest) -> AsyncGenerator[ProviderEvent]:
        """Play the next inference."""
        self.requests.append(request)
        assert self._inferences, (
            "the loop asked for an inference that the script does not have"
        )
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


async def never(_: JsonObject | None = None) -> ToolOutcome:
    """Wait for what does not come, as a line or as the body of a tool."""
    await asyncio.Event().wait()
    raise AssertionError("nobody opens this")


type ToolBody = Callable[[JsonObject], Awaitable[ToolOutcome]]


async def _done(_: JsonObject) -> ToolOutcome:
    return ToolOutcome('{"done":true}')


@dataclass
class ScriptedDispatcher:
    """Runs the bodies it was given, any other tool succeeding, and records the order."""

    bodies: dict[str, ToolBody] = field(default_factory=dict)
    target_of: Callable[[str, JsonObject], frozenset[str] | None] = (
        lambda _name, _arguments: None
    )
    started: list[ToolCall] = field(default_factory=list)
    finished: list[ToolCall] = field(default_factory=list)
    running: int = 0
    most: int = 0
    """So many ran at once."""

    def targets(self, name: str, arguments: JsonObject) -> frozenset[str] | None:
        """Ask the test's function."""
        return self.target_of(name, arguments)

    async def dispatch(self, call: ToolCall, arguments: JsonObject) -> ToolOutcome:
        """Run the body."""
        self.started.append(call)
        self.running += 1
        self.most = max(self.most, self.running)
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
        self.passed = asyncio.Event()

    async def __call__(self, _: JsonObject | None = None) -> ToolOutcome:
        """Say that it was reached, and wait."""
        self.reached.set()
        await self.opened.wait()
        self.passed.set()
        return ToolOutcome('{"done":true}')

    @override
    def __repr__(self) -> str:
        return f"<Gate {'open' if self.opened.is_set() else 'shut'}>"


class ScriptedHooks(Hooks):
    """Decides as the test's functions say, and records what it was shown. It leaves speech alone."""

    def __init__(
        self,
        *,
        prompt: Callable[[str], Deny | Rewrite[str] | None] = lambda _: None,
        before: Callable[
            [str, JsonObject], Deny | Ask | Rewrite[JsonObject] | None
        ] = lambda _, __: None,
        approved: Callable[[str, JsonObject], Deny | Ask | None] = lambda _, __: None,
        after: Callable[[ToolResult], Deny | Rewrite[str] | None] = lambda _: None,
    ) -> None:
        self._prompt, self._before, self._approved, self._after = (
            prompt,
            before,
            approved,
            after,
        )
        self.prompts: list[str] = []
        self.calls: list[tuple[str, JsonObject]] = []
        self.approved_calls: list[tuple[str, JsonObject]] = []
        self.results: list[tuple[ToolCall, ToolResult]] = []

    @override
    async def user_prompt_submit(self, text: str) -> Deny | Rewrite[str] | None:
        self.prompts.append(text)
        return self._prompt(text)

    @override
    async def pre_tool_use(
        self, tool: ToolDefinition, arguments: JsonObject
    ) -> Deny | Ask | Rewrite[JsonObject] | None:
        self.calls.append((tool.name, arguments))
        return self._before(tool.name, arguments)

    @override
    async def pre_approved_use(
        self, tool: ToolDefinition, arguments: JsonObject
    ) -> Deny | Ask | None:
        self.approved_calls.append((tool.name, arguments))
        return self._approved(tool.name, arguments)

    @override
    async def post_tool_use(
        self, call: ToolCall, result: ToolResult
    ) -> Deny | Rewrite[str] | None:
        self.results.append((call, result))
        return self._after(result)


class ScriptedCensor(Hooks):
    """Decides what may be spoken as the test's function says, and records what it was shown."""

    def __init__(self, decide: Callable[[str], Deny | Rewrite[str] | None]) -> None:
        self._decide = decide
        self.texts: list[str] = []

    @override
    async def pre_speech(self, text: str) -> Deny | Rewrite[str] | None:
        self.texts.append(text)
        return self._decide(text)


def asks_for(*names: str) -> ScriptedHooks:
    """Return a hook that wants a yes for these tools."""
    return ScriptedHooks(
        before=lambda name, _: Ask(f"{name} is risky.") if name in names else None
    )


def tool(
    name: str,
    *,
    read_only: bool = False,
    open_world: bool = False,
    client: bool = False,
    repeatable: bool = False,
    parameters: JsonObject | None = None,
) -> ToolDefinition:
    """Define a tool that takes anything."""
    return ToolDefinition(
        name,
        f"Does {name}",
        parameters or {"type": "object", "properties": {}},
        ToolAnnotations(read_only=read_only, open_world=open_world),
        client=client,
        repeatable=repeatable,
    )
