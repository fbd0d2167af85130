"""Asks the owner's hooks: in order, the first decision wins, and a failure is a no.

Knows the `Hooks` protocol and time; nothing of turns.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from .messages import JsonObject, ToolCall, ToolDefinition, ToolResult
from .protocols import Ask, Deny, Hooks, Rewrite

_LOGGER = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class HookChain:
    """The hooks of a loop."""

    hooks: Sequence[Hooks]
    timeout: Callable[[], float]
    """Tells how many seconds a hook may take before its silence is a no."""

    @property
    def hold_speech(self) -> bool:
        """Tell whether any hook wants to see text before it is spoken."""
        return any(type(hook).pre_speech is not Hooks.pre_speech for hook in self.hooks)

    async def user_prompt_submit(self, text: str) -> Deny | Rewrite[str] | None:
        """Show the user's words."""
        return await self._first(lambda hook: hook.user_prompt_submit(text))

    async def pre_tool_use(
        self, tool: ToolDefinition, arguments: JsonObject
    ) -> Deny | Ask | Rewrite[JsonObject] | None:
        """Show a call before it runs."""
        return await self._first(lambda hook: hook.pre_tool_use(tool, arguments))

    async def post_tool_use(self, call: ToolCall, result: ToolResult) -> Deny | Rewrite[str] | None:
        """Show a result before the model reads it."""
        return await self._first(lambda hook: hook.post_tool_use(call, result))

    async def pre_speech(self, text: str) -> Deny | Rewrite[str] | None:
        """Show a message before it is spoken."""
        return await self._first(lambda hook: hook.pre_speech(text))

    async def _first[D](self, ask: Callable[[Hooks], Awaitable[D | None]]) -> D | Deny | None:
        for hook in self.hooks:
            try:
                async with asyncio.timeout(self.timeout()):
                    decision = await ask(hook)
            except Exception:  # a hook that breaks must not open the door
                _LOGGER.exception("Hook %s failed and therefore denies", type(hook).__name__)
                return Deny("A safety check failed.")
            if decision is not None:
                return decision
        return None
