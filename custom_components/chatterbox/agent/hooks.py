"""Asks the owner's hooks: in order, the first decision wins, and a failure is a no.

Knows the `Hooks` protocol and time; nothing of turns.
"""

import logging
from collections.abc import Callable, Coroutine, Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Final

from .messages import JsonObject, ToolCall, ToolDefinition, ToolResult, canonical_json
from .protocols import Ask, Deny, Hooks, Rewrite
from .timeouts import finish_within

_LOGGER = logging.getLogger(__name__)

_FAILED: Final = "A safety check failed."


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
        return await self._first(lambda hook: hook.user_prompt_submit(text), _speaks)

    async def pre_tool_use(
        self, tool: ToolDefinition, arguments: JsonObject
    ) -> Deny | Ask | Rewrite[JsonObject] | None:
        """Show a call before it runs. Each hook gets arguments of its own, to change as it likes."""
        return await self._first(lambda hook: hook.pre_tool_use(tool, deepcopy(arguments)), _decides)

    async def post_tool_use(self, call: ToolCall, result: ToolResult) -> Deny | Rewrite[str] | None:
        """Show a result before the model reads it."""
        return await self._first(lambda hook: hook.post_tool_use(call, result), _speaks)

    async def pre_speech(self, text: str) -> Deny | Rewrite[str] | None:
        """Show a message before it is spoken."""
        return await self._first(lambda hook: hook.pre_speech(text), _speaks)

    async def _first[D](
        self, ask: Callable[[Hooks], Coroutine[object, object, D | None]], understood: Callable[[object], bool]
    ) -> D | Deny | None:
        for hook in self.hooks:
            name = type(hook).__name__
            try:
                decision = await finish_within(self.timeout(), ask(hook), f"hook {name}")
                if decision is None:
                    continue
                if understood(decision):
                    return decision
                _LOGGER.error("Hook %s decided something that is no answer to the question, and therefore denies", name)
            except Exception:  # a hook that breaks must not open the door
                _LOGGER.exception("Hook %s failed and therefore denies", name)
            return Deny(_FAILED)
        return None


def _speaks(decision: object) -> bool:
    match decision:
        case Deny(str()) | Rewrite(str()):
            return True
        case _:
            return False


def _decides(decision: object) -> bool:
    match decision:
        case Deny(str()) | Ask(str()):
            return True
        case Rewrite(dict() as arguments):
            canonical_json(arguments)  # raises for what is not JSON
            return True
        case _:
            return False
