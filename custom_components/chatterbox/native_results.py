"""Results of tools ⇄ the native results that Home Assistant's ChatLog keeps.

Knows both, and which agents speak of nothing but the house. Must not know the loop, or what is done about a result that
is from outside.
"""

from copy import copy
from dataclasses import dataclass
from functools import cache

from homeassistant.components.conversation import HOME_ASSISTANT_AGENT, ToolResultContent
from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers import entity_registry as er, llm

from .agent.messages import ToolResult
from .const import DOMAIN
from .tool_bridge import UNREADABLE, result_content


class FromOutside:
    """Marks a result that holds what people outside the house may have written.

    It marks by type alone: for everybody else a marked result is the one that it was, with all its fields.
    """

    __slots__ = ()


@dataclass(slots=True)
class Note(llm.ToolResult):
    """What the ChatLog keeps of a tool that has no native result: `{"note": text}`."""


@dataclass(slots=True)
class NotRun(llm.ToolResult):
    """What the ChatLog keeps for a call that did not run: `{"not_run": text}`. A tool may say so too, and has run."""


def to_native(result: ToolResult) -> llm.ToolResult:
    """Return what the ChatLog keeps of a result."""
    if isinstance(result.native, llm.ToolResult):
        native = result.native
    elif result.synthetic:
        native = NotRun({"not_run": result.content}, result.is_error)
    else:
        native = Note({"note": result.content}, result.is_error)
    return _marked(native) if result.open_world else native


def _marked(result: llm.ToolResult) -> llm.ToolResult:
    """Return a copy of a result that has the mark, and is still of the type that it was."""
    try:
        marked = copy(result)
        marked.__class__ = _marking(type(result))  # type: ignore[arg-type]  # a class has a hash, only its objects do not
    except TypeError:  # nothing can be made of that type: the mark matters more than what it has of its own
        return _marking(llm.ToolResult)(result.data, result.error)
    return marked


@cache
def _marking(kind: type[llm.ToolResult]) -> type[llm.ToolResult]:
    marking = type(kind.__name__, (FromOutside, kind), {"__slots__": (), "__module__": __name__})
    # For who writes JSON, a dataclass is what was made one itself; all else it has from what it was.
    return dataclass(init=False, repr=False, eq=False)(marking)


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
        open_world=isinstance(content.result, FromOutside) or not _knows_only_the_house(hass, content.agent_id),
        native=content.result,
    )


def _read(result: llm.ToolResult) -> tuple[str, bool]:
    """Return what the model reads, and whether it is no result because nothing ran."""
    match result:
        case Note(data={"note": str(text)}):
            return text, False
        case NotRun(data={"not_run": str(text)}):
            return text, True
        case _:
            pass
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
