"""The inside of `homeassistant.components.llm`: the Assist API, and the classes of the tools of other components."""

from collections.abc import Mapping
from enum import StrEnum
from functools import cache
from typing import TYPE_CHECKING, Final

from homeassistant.helpers import llm

from ..const import home_singleton
from .reliance import Reliance

if TYPE_CHECKING:
    from homeassistant.components.llm import LLMToolsPlatformProtocol

_COMPONENTS: Final = "homeassistant.components."


class KnownTool(StrEnum):
    """A tool of Home Assistant, by the module and name of its class."""

    CALL_ACTION = "homeassistant.llm.CallActionTool"
    LIVE_CONTEXT = "homeassistant.llm.GetLiveContextTool"
    PLAY_MEDIA = "media_player.llm.MediaPlayTool"
    SCRIPT = "script.llm.ScriptTool"
    SEARCH_ACTIONS = "homeassistant.llm.SearchActionsTool"
    SEARCH_MEDIA = "media_player.llm.MediaSearchTool"
    UNKNOWN = ""
    """Another tool of one of `_COMPONENTS_OF_TOOLS`.

    It may do anything, such as a known one that has another class now. It may quote
    senders, pages and devices, as logs and the attributes of any entity do, although
    Home Assistant annotates it as not open-world.
    """


_COMPONENTS_OF_TOOLS: Final = frozenset(
    {
        "hassio",
        "homeassistant",
        "media_player",
        "script",
        "system_log",
    }
)

_ASSIST: Final = Reliance(
    "home_in_short", "homeassistant.components.llm", ("DATA_PLATFORMS", "AssistAPI")
)
_LIVE_CONTEXT: Final = Reliance(
    "home_in_short",
    "homeassistant.components.homeassistant.llm",
    ("GetLiveContextTool",),
)
TOOLS: Final = tuple(
    Reliance("foresight", f"{_COMPONENTS}{module}", (name,), since=(2026, 11))
    for module, _, name in (
        path.rpartition(".")
        for path in KnownTool
        if path not in (KnownTool.LIVE_CONTEXT, "")
    )
)


def known_tool(tool: llm.Tool) -> KnownTool | None:
    """Return which tool of Home Assistant a tool is; None for one of another component, or of none."""
    return _known(f"{type(tool).__module__}.{type(tool).__qualname__}")


@cache
def _known(own: str) -> KnownTool | None:
    path = own.removeprefix(_COMPONENTS)
    if path in KnownTool:
        return KnownTool(path)
    is_theirs = path != own and path.partition(".")[0] in _COMPONENTS_OF_TOOLS
    return KnownTool.UNKNOWN if is_theirs else None


type _Platforms = Mapping[str, LLMToolsPlatformProtocol]

_last_platforms: Final = home_singleton(
    "assist_platforms", lambda _: dict[frozenset[str], _Platforms]()
)
"""Returns the last platforms by the components that were loaded then: Home Assistant asks each component anew."""


async def async_assist_platforms(api: llm.API) -> _Platforms | None:
    """Return the platforms with the tools of Assist by component; None for another API. Source: `DATA_PLATFORMS`."""
    found = _ASSIST.find(api.hass)
    if found is None or not isinstance(api, found.AssistAPI):
        return None
    last = _last_platforms(api.hass)
    components = frozenset(api.hass.config.top_level_components)
    if components not in last:
        platforms: _Platforms = await api.hass.data[
            found.DATA_PLATFORMS
        ].async_get_platforms()
        last.clear()
        last[components] = platforms
    return last[components]


def live_context_tool(api: llm.API) -> llm.Tool | None:
    """Return the tool that reads states of the home. Source: `homeassistant.components.homeassistant.llm`."""
    tool: llm.Tool | None = (
        found.GetLiveContextTool() if (found := _LIVE_CONTEXT.find(api.hass)) else None
    )
    return tool
