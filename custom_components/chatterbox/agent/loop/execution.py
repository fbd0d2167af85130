"""Runs the calls of a turn concurrently, and in the model's order where they affect the same targets.

Calls that change the same target keep their order. A call that reads waits for the
changes before it, so that its result agrees with the transcript. Every call ends with
exactly one result, whatever the dispatcher does.
"""

import asyncio
import logging
from dataclasses import dataclass, field
from typing import Final

from ..events import ToolStarted
from ..messages import JsonObject, ToolCall, ToolOutcome, ToolResult
from ..protocols import ToolDispatcher
from ..text import sendable_text
from ..timeouts import TookTooLong, WaitedTooLong, finish_within, time_limit
from ..transcript import synthetic_result
from .hooks import HookChain
from .turn import Runnable

_LOGGER = logging.getLogger(__name__)

_REASON_LENGTH: Final = 500
"""Characters of an exception's message that the model receives."""
_CUT_OFF: Final = "Cut off: the turn ended before this did. It may still take effect."


@dataclass(slots=True)
class ToolRunner:
    """The tool tasks of one turn."""

    dispatcher: ToolDispatcher
    hooks: HookChain
    tool_timeout: float
    one_by_one: bool
    """Whether each call waits for all calls before it."""
    _open_world: set[str] = field(default_factory=set)
    """Ids of the calls whose results count as outside content, even if the call fails."""
    _tasks: dict[str, asyncio.Task[ToolResult]] = field(default_factory=dict)
    _changing: list[tuple[frozenset[str] | None, asyncio.Task[ToolResult]]] = field(
        default_factory=list
    )
    """Targets and tasks of the calls that may change something; None for unknown targets."""

    def start(self, runnable: Runnable) -> ToolStarted | None:
        """Start a call and return its event; None if it was started before."""
        call = runnable.call
        tool = runnable.tool
        if call.id in self._tasks:
            return None
        if tool.annotations.open_world:
            self._open_world.add(call.id)
        reads = tool.annotations.read_only
        if reads:
            targets = None
        else:
            targets = self._targets(runnable)
        met = [
            task
            for others, task in self._changing
            if targets is None or others is None or not others.isdisjoint(targets)
        ]
        if self.one_by_one:
            waits = [*self._tasks.values()]
        else:
            waits = met
        task = asyncio.create_task(
            self._run(
                runnable,
                waits,
            ),
            name=f"call of {call.name}",
        )
        self._tasks[call.id] = task
        if not reads:
            self._changing.append((targets, task))
        return ToolStarted(call, tool.annotations.open_world)

    async def result(
        self,
        call: ToolCall,
        seconds: float,
    ) -> ToolResult:
        """Wait for a started call and return its result.

        After `seconds` the turn is out of time, and every call that still runs is
        cancelled.
        """
        task = self._tasks[call.id]
        try:
            if not task.done():
                async with time_limit(seconds):
                    await asyncio.wait({task})
        except WaitedTooLong:
            await self.close()
        if task.cancelled():
            return self._failed(call, _CUT_OFF)
        return task.result()

    async def conclude(self, call: ToolCall) -> ToolResult:
        """Return the result of a call that the turn no longer waits for."""
        if call.id not in self._tasks:
            return synthetic_result(call, "Not run: the turn ended first.")
        return await self.result(call, 0)

    async def close(self) -> None:
        """Cancel all running calls at once, and wait until they have ended."""
        running = [task for task in self._tasks.values() if task.cancel()]
        if running:
            await asyncio.wait(running)

    def _targets(self, runnable: Runnable) -> frozenset[str] | None:
        try:
            return self.dispatcher.targets(
                runnable.tool.name,
                runnable.arguments,
            )
        except Exception:  # unknown targets only cost concurrency
            _LOGGER.exception("Could not tell what %s would change", runnable.tool.name)
            return None

    async def _run(
        self, runnable: Runnable, waits: list[asyncio.Task[ToolResult]]
    ) -> ToolResult:
        if waits:
            await asyncio.wait(waits)
        return await self.hooks.post_tool_use(
            runnable.call, await self._dispatch(runnable.call, runnable.arguments)
        )

    async def _dispatch(
        self,
        call: ToolCall,
        arguments: JsonObject,
    ) -> ToolResult:
        try:
            work = self.dispatcher.dispatch(call, arguments)
            outcome = await finish_within(
                self.tool_timeout,
                work,
                f"tool {call.name}",
            )
            return self._answered(call, outcome)
        except TookTooLong:
            bound = f"{self.tool_timeout:g} seconds"
            return self._failed(
                call,
                f"{call.name} did not finish within {bound}. It may still take effect.",
            )
        except Exception as err:  # every failure of a tool is a result for the model
            _LOGGER.warning(
                "Tool %s failed",
                call.name,
                exc_info=True,
            )
            return self._failed(
                call,
                _reason(err)[:_REASON_LENGTH],
            )

    def _failed(
        self,
        call: ToolCall,
        content: str,
    ) -> ToolResult:
        """Return the error result of a tool that ran and returned nothing usable."""
        return self._answered(
            call,
            ToolOutcome(content, is_error=True),
        )

    def _answered(
        self,
        call: ToolCall,
        outcome: ToolOutcome,
    ) -> ToolResult:
        return ToolResult(
            call.id,
            call.name,
            sendable_text(outcome.content),
            is_error=outcome.is_error,
            open_world=outcome.open_world or call.id in self._open_world,
            native=outcome.native,
            fee=outcome.fee,
        )


def _reason(err: Exception) -> str:
    try:
        return f"{type(err).__name__}: {err}"
    except Exception:  # noqa: BLE001 not even the text of a foreign exception may end a turn
        return type(err).__name__
