"""The inside of the integrations with intents: the classes of their handlers, and what these do.

A handler of Home Assistant that is not known here could do anything, and is asked
about.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from homeassistant.core import HomeAssistant
from homeassistant.helpers import intent
from homeassistant.helpers.script import Script

from ..agent.text import read_data_file
from .reliance import Reliance

_COMPONENTS: Final = "homeassistant.components."


@dataclass(frozen=True, slots=True)
class Reach:
    """The services of a special handler, for the entities of one domain."""

    domain: str = ""
    """Empty for a handler that changes no entity."""
    services: tuple[str, ...] = ()
    where: tuple[str, ...] = (
        "name",
        "area",
        "floor",
    )
    """The slots that select entities. Without slots all entities of the domain are taken."""
    reads: bool = False
    """Whether it changes nothing at all."""


HANDLERS: Final = read_data_file(__file__, dict[str, Reach], "handlers.toml")
"""Special handlers of `homeassistant.components`. Timers and shopping lists are not entities."""

SCRIPT_HANDLERS: Final = frozenset(
    {"intent_script.ScriptIntentHandler", "intent_script.helpers.ScriptIntentHandler"}
)
"""The handler of intents that are scripts: before Home Assistant 2026.11, and since."""

_GUIDE: Final = Reliance(
    "home_in_short",
    "homeassistant.components.intent.llm",
    ("DEVICE_CONTROL_TOOL_USAGE_PROMPT",),
)


_HELPERS: Final = f"{_COMPONENTS}intent_script.helpers"
_SCRIPT: Final = Reliance(
    "foresight", _HELPERS, ("ScriptIntentHandler",), since=(2026, 11)
)
CLASSES: Final = tuple(
    Reliance("foresight", f"{_COMPONENTS}{module}", (name,))
    for module, _, name in (path.rpartition(".") for path in HANDLERS)
)


def handler_path(handler: intent.IntentHandler) -> str:
    """Return the path of one of Home Assistant's own handlers, or an empty text."""
    kind = type(handler)
    is_own = kind.__module__.startswith(_COMPONENTS)
    if is_own:
        return f"{kind.__module__.removeprefix(_COMPONENTS)}.{kind.__qualname__}"
    return ""


def actions_of_script(handler: intent.IntentHandler) -> object:
    """Return the `Script` of an intent that is a script, None without actions, anything else if that is unknown.

    Source: `homeassistant.components.intent_script.helpers.ScriptIntentHandler`.
    """
    config: object = getattr(
        handler,
        "config",
        ...,
    )
    if not isinstance(config, Mapping):
        return config
    return config.get(
        "action",
        next(
            (one for one in config.values() if isinstance(one, Script)),
            None,
        ),
    )


def control_guide(hass: HomeAssistant) -> str:
    """Return what Assist's prompt says about controlling devices; empty if that is unknown. Source: `intent.llm`."""
    guide: str = (
        found.DEVICE_CONTROL_TOOL_USAGE_PROMPT if (found := _GUIDE.find(hass)) else ""
    )
    return guide
