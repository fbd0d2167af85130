"""Runs the calls of a turn: concurrently, in the model's order where they meet.

Owns every tool task of a turn and its end. Turns whatever a dispatcher does into exactly
one result. Knows dispatchers and hooks; decides nothing about the turn.
"""

import asyncio
import logging
from dataclasses import dataclass, field, replace
from typing import Final

from .calls import Runnable
from .hooks import HookChain
from .messages import ToolCall, ToolResult
from .protocols import Deny, Rewrite, ToolDispatcher
from .transcript import synthetic_result

_LOGGER = logging.getLogger(__name__)

_REASON_LENGTH: Final = 500
"""Characters of an exception's text that the model gets to read."""
_GRACE: Final = 1.0
"""Seconds that a cancelled tool gets to let go."""


@dataclass(frozen=True, slots=True)
class _Changing:
    """A call that changes something, for those that come after it."""

    targets: frozenset[str] | None
    task: asyncio.Task[ToolResult]

    def meets(self, targets: frozenset[str] | None) -> bool:
        """Tell whether both may touch the same thing."""
        return self.targets is None or targets is None or not self.targets.isdisjoint(targets)


@dataclass(slots=True)
class ToolRunner:
    """The tool tasks of one turn."""

    dispatcher: ToolDispatcher
    hooks: HookChain
    tool_timeout: float
    _tasks: dict[str, asyncio.Task[ToolResult]] = field(default_factory=dict)
    _changing: list[_Changing] = field(default_factory=list)

    def start(self, call: ToolCall, verdict: Runnable) -> bool:
        """Start a call unless it runs already; tell whether this started it."""
        if call.id in self._tasks:
            return False
        waits: list[asyncio.Task[ToolResult]] = []
        targets: frozenset[str] | None = frozenset()
        changes = not verdict.tool.annotations.read_only
        if changes:
            targets = self._targets(call, verdict)
            waits = [other.task for other in self._changing if other.meets(targets)]
        task = asyncio.create_task(self._run(call, verdict, waits), name=f"tool {call.name}")
        self._tasks[call.id] = task
        if changes:
            self._changing.append(_Changing(targets, task))
        return True

    async def result(self, call: ToolCall, remaining: float) -> ToolResult:
        """Wait for a started call, at most `remaining` seconds, and return its result."""
        task = self._tasks[call.id]
        await asyncio.wait({task}, timeout=max(remaining, 0))
        if not task.done():
            await _cancel({task})
            return synthetic_result(call, "The turn ran out of time. It may still take effect.")
        if task.cancelled():
            return synthetic_result(call, f"{call.name} was cancelled.")
        return task.result()

    async def conclude(self, call: ToolCall) -> ToolResult:
        """End a call that the turn does not wait for any more, and return what is known."""
        task = self._tasks.get(call.id)
        if task is None:
            return synthetic_result(call, "Not run: the turn ended first.")
        return await self.result(call, 0)

    async def close(self) -> None:
        """Cancel what still runs and wait until it has let go."""
        await _cancel({task for task in self._tasks.values() if not task.done()})

    def _targets(self, call: ToolCall, verdict: Runnable) -> frozenset[str] | None:
        try:
            return self.dispatcher.targets(call.name, verdict.arguments)
        except Exception:  # not knowing only costs concurrency
            _LOGGER.exception("Could not tell what %s would change", call.name)
            return None

    async def _run(self, call: ToolCall, verdict: Runnable, waits: list[asyncio.Task[ToolResult]]) -> ToolResult:
        if waits:
            await asyncio.wait(waits)
        result = await self._dispatch(call, verdict)
        match await self.hooks.post_tool_use(call, result):
            case Deny(reason):
                return replace(result, content=reason, is_error=True)
            case Rewrite(content):
                return replace(result, content=content)
            case None:
                return result

    async def _dispatch(self, call: ToolCall, verdict: Runnable) -> ToolResult:
        bound = asyncio.timeout(self.tool_timeout)
        try:
            async with bound:
                outcome = await self.dispatcher.dispatch(call, verdict.arguments)
        except Exception as err:  # whatever a tool does is an answer to the model
            if bound.expired():
                return synthetic_result(
                    call,
                    f"{call.name} did not finish within {self.tool_timeout:g} seconds. It may still take effect.",
                )
            _LOGGER.warning("Tool %s failed", call.name, exc_info=True)
            return synthetic_result(call, f"{type(err).__name__}: {err}"[:_REASON_LENGTH])
        return ToolResult(call.id, call.name, outcome.content, is_error=outcome.is_error, native=outcome.native)


async def _cancel(tasks: set[asyncio.Task[ToolResult]]) -> None:
    for task in tasks:
        task.cancel()
    if tasks:
        _, stuck = await asyncio.wait(tasks, timeout=_GRACE)
        for task in stuck:
            _LOGGER.error("%s ignores its cancellation", task.get_name())
