"""Calls in front of the guard of an agent."""

from homeassistant.core import HomeAssistant

from custom_components.chatterbox.agent.messages import (
    JsonObject,
    ToolAnnotations,
    ToolCall,
    ToolDefinition,
    canonical_json,
)
from custom_components.chatterbox.approvals.guard import CallGuard
from custom_components.chatterbox.effects.effect import (
    Effects,
    EntityAction,
    Unknown,
    UnknownReason,
)
from custom_components.chatterbox.people.speakers import Asking, Speaker
from custom_components.chatterbox.settings.rules import (
    HomeRules,
)

PERSON = Speaker(asking=Asking.PERSON)
TOOL = ToolDefinition(
    "some__tool", "", {"type": "object"}, ToolAnnotations(open_world=False)
)
SOME_SCRIPT = Effects(
    unknowns=frozenset(
        {Unknown(UnknownReason.CONTENT, EntityAction("script.some", "script.turn_on"))}
    )
)


def warming(to: float) -> Effects:
    return Effects(
        frozenset(
            {
                EntityAction(
                    "climate.room", "climate.set_temperature", (("temperature", to),)
                )
            }
        )
    )


class Effective:
    """Tells, of calls with these arguments, what they would do, as long as nobody changes it."""

    def __init__(self, effects: Effects) -> None:
        self.effects = effects

    async def __call__(self, *_: object) -> Effects:
        return self.effects


def guarding(
    hass: HomeAssistant,
    effects: Effects | Effective,
    settings: HomeRules | None = None,
    speaker: Speaker = PERSON,
    *,
    outside: bool = False,
) -> CallGuard:
    effects_of = effects if isinstance(effects, Effective) else Effective(effects)
    return CallGuard(
        hass, settings or HomeRules(), speaker, effects_of, has_outside_content=outside
    )


def call_with(arguments: JsonObject, name: str = TOOL.name) -> ToolCall:
    return ToolCall("a-call", name, canonical_json(arguments))
