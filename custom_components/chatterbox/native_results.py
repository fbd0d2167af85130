"""Results of tools ⇄ the native results that Home Assistant's ChatLog keeps.

Knows both, and which agents speak of nothing but the house. Must not know the loop, or what is done about a result that
is from outside.
"""

from dataclasses import dataclass
from typing import Final

from homeassistant.components.conversation import HOME_ASSISTANT_AGENT, ToolResultContent
from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers import entity_registry as er, llm
from homeassistant.util.json import JsonObjectType

from .agent.messages import ToolResult
from .const import DOMAIN
from .tool_bridge import UNREADABLE, result_content

_NOTE: Final = "note"
"""Key under which the ChatLog keeps the result of a tool that has no native one."""
_NOT_RUN: Final = "not_run"
"""Key under which the ChatLog keeps what a call was answered that did not run."""


@dataclass(slots=True)
class OutsideResult(llm.ToolResult):
    """A result that holds what people outside the house may have written, and says so by its type alone.

    For everybody else it is the result that it was.
    """


def to_native(result: ToolResult) -> llm.ToolResult:
    """Return what the ChatLog keeps of a result."""
    if isinstance(result.native, llm.ToolResult):
        native = result.native
    else:
        data: JsonObjectType = {_NOT_RUN if result.synthetic else _NOTE: result.content}
        native = llm.ToolResult(data=data, error=result.is_error)
    return OutsideResult(native.data, native.error) if result.open_world else native


@callback
def from_native(hass: HomeAssistant, content: ToolResultContent) -> ToolResult:
    """Return a result that a ChatLog holds, ours or that of another agent."""
    text, synthetic = _read(content.result)
    return ToolResult(
        content.tool_call_id,
        content.tool_name,
        text,
        is_error=content.result.error,
        synthetic=synthetic,
        open_world=isinstance(content.result, OutsideResult) or not _knows_only_the_house(hass, content.agent_id),
        native=content.result,
    )


def _read(result: llm.ToolResult) -> tuple[str, bool]:
    """Return what the model reads, and whether it is no result because nothing ran."""
    match result.data:
        case {"note": str(text), **rest} if not rest:
            return text, False
        case {"not_run": str(text), **rest} if not rest:
            return text, True
    try:
        return result_content(result), False
    except TypeError, ValueError:
        return UNREADABLE, False


@callback
def _knows_only_the_house(hass: HomeAssistant, agent_id: str) -> bool:
    """Tell whether results of an agent that have no mark are from the house.

    Ours have a mark if they are not. The built-in agent knows nothing else; in a pipeline that asks it first, it writes
    under the name of the agent that would have been next. What the tools of others bring in, nobody here knows.
    """
    entry = er.async_get(hass).async_get(agent_id)
    return agent_id == HOME_ASSISTANT_AGENT or (entry is not None and entry.platform == DOMAIN)
