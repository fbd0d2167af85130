"""Requests that a home could hear, and what would happen to each: its own lamp, blind, door, script."""

from typing import Final, NamedTuple

from homeassistant.components.conversation import DOMAIN as CONVERSATION
from homeassistant.core import HomeAssistant
from homeassistant.helpers.llm import LLM_API_ASSIST

from ..agent.messages import JsonObject, ToolAnnotations, ToolDefinition
from ..agent.protocols import Ask
from ..effects.actions import ActionReader
from ..effects.effect import Effects
from ..home.entity_matches import exposed_states
from ..people.speakers import Asking, Speaker
from ..settings.agent import AgentSettings
from ..settings.rules import Verdict
from .guard import CallGuard

MOST_EXAMPLES: Final = 10
_DOORS: Final = frozenset({"door", "garage", "gate"})
_BLINDS: Final = frozenset({None, "awning", "blind", "curtain", "shade", "shutter", "window"})
_ANY: Final = frozenset[str | None]()


class _Request(NamedTuple):
    key: str
    """Part of a translation key."""
    action: str
    device_classes: frozenset[str | None] = _ANY
    """Those of the entities that it may be about; empty for all."""
    is_after_search: bool = False
    """Whether something from outside the home is read first."""


_REQUESTS: Final = (
    _Request("turn_on", "light.turn_on"),
    _Request("search_and_dim", "light.turn_on", is_after_search=True),
    _Request("close", "cover.close_cover", _BLINDS),
    _Request("lock", "lock.lock"),
    _Request("unlock", "lock.unlock"),
    _Request("open", "cover.open_cover", _DOORS),
    _Request("run", "script.turn_on"),
    _Request("search_and_unlock", "lock.unlock", is_after_search=True),
    _Request("play", "media_player.play_media"),
    _Request("disarm", "alarm_control_panel.alarm_disarm"),
    _Request("set_temperature", "climate.set_temperature"),
    _Request("open", "valve.open_valve"),
    _Request("add_item", "todo.add_item"),
    _Request("activate", "scene.turn_on"),
    _Request("turn_on", "switch.turn_on"),
    _Request("turn_on", "fan.turn_on"),
    _Request("start", "vacuum.start"),
)
"""The most telling first."""


class Example(NamedTuple):
    """A request, and what would happen to it."""

    key: str
    """Part of a translation key."""
    entity_id: str
    verdict: Verdict


async def async_example_requests(hass: HomeAssistant, settings: AgentSettings) -> list[Example]:
    """Return requests for exposed entities, judged as those of a person whom no rule names, at the present time."""
    entity_ids: dict[str, list[str]] = {}
    classes: dict[str, str | None] = {}
    for state in exposed_states(hass, CONVERSATION):
        entity_ids.setdefault(state.domain, []).append(state.entity_id)
        classes[state.entity_id] = state.attributes.get("device_class")
    examples: list[Example] = []
    for request in _REQUESTS:
        those = entity_ids.get(request.action.partition(".")[0], ())
        fitting = (one for one in those if not request.device_classes or classes[one] in request.device_classes)
        if (entity_id := next(fitting, None)) is not None and len(examples) < MOST_EXAMPLES:
            examples.append(Example(request.key, entity_id, await _async_verdict(hass, settings, request, entity_id)))
    return examples


async def _async_verdict(hass: HomeAssistant, settings: AgentSettings, request: _Request, entity_id: str) -> Verdict:
    """Return what happens to the call of a request. A call that needs a PIN is denied if none is set."""
    domain, _, service = request.action.partition(".")

    async def effects_of(_name: str, _arguments: JsonObject) -> Effects:
        reader = ActionReader(hass)
        reader.touch([entity_id], domain, service, {})
        return reader.effects()

    name = entity_id.replace(".", "__", 1)  # a script is a tool of this name
    tool = ToolDefinition(name, "", {}, ToolAnnotations(open_world=False))
    speaker, outside = Speaker(asking=Asking.PERSON), request.is_after_search
    labels = {name: LLM_API_ASSIST}
    guard = CallGuard(hass, settings, speaker, effects_of, has_outside_content=outside, labels=labels)
    match await guard.pre_tool_use(tool, {}):
        case None:
            return Verdict.ALLOW
        case Ask(terms=terms):
            return Verdict.PIN if terms.startswith(Verdict.PIN) else Verdict.ASK
        case _:
            return Verdict.DENY
