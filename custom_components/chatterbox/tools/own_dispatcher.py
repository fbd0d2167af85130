"""Runs an agent's own tools, and makes results of what they answer.

Knows which part runs which tool. Must not know what facts, a history or a home are.
"""

from dataclasses import dataclass
from typing import Final

from homeassistant.helpers import llm

from ..agent.messages import JsonObject, ToolCall, ToolOutcome
from ..const import DOMAIN, TOOL_SEARCH_HISTORY
from ..effects.effect import NOTHING, Effects
from ..home.description import FIND_ENTITIES
from ..records.tool_answer import result_content
from .find_entities import FindTool
from .memory_tools import MemoryTools
from .search_history import HistoryTool

_MEMORIES: Final = frozenset({f"{DOMAIN}.memories"})
"""What the tools change that change anything: no entity, so that nothing in the house waits for them."""


@dataclass(frozen=True, slots=True)
class OwnDispatcher:
    """The `ToolDispatcher` of `tools/own_tools.py`, made for one turn. Natives are `llm.ToolResult`."""

    memory: MemoryTools
    history: HistoryTool
    finding: FindTool

    def targets(self, name: str, arguments: JsonObject) -> frozenset[str] | None:  # noqa: ARG002 what a protocol asks
        """Return the facts as a whole."""
        return _MEMORIES

    async def async_effects(self, name: str, arguments: JsonObject) -> Effects:  # noqa: ARG002 what a protocol asks
        """Return nothing: in the house, nothing is changed by what an agent remembers."""
        return NOTHING

    async def dispatch(self, call: ToolCall, arguments: JsonObject) -> ToolOutcome:
        """Run a tool."""
        if call.name == FIND_ENTITIES:
            answer = await self.finding.async_run(arguments)
        elif call.name == TOOL_SEARCH_HISTORY:
            answer = await self.history.async_run(arguments)
        else:
            answer = await self.memory.async_run(call.name, arguments)
        native = llm.ToolResult(answer.data, error=answer.is_error)
        return ToolOutcome(
            result_content(native), is_error=answer.is_error, native=native, open_world=answer.open_world
        )
