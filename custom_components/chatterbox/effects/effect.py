"""What a call would do, to which entities: the words that the resolvers write and the policy reads.

Knows entity ids and names of services. Must not know Home Assistant's registries, tools, rules or people.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, NamedTuple, assert_never

from ..agent.messages import ToolAnnotations

_CLOSED_POSITION: Final[Mapping[str, tuple[str, str]]] = {
    "cover.set_cover_position": ("position", "cover.close_cover"),
    "cover.set_cover_tilt_position": ("tilt_position", "cover.close_cover_tilt"),
    "valve.set_valve_position": ("position", "valve.close_valve"),
}
"""For services that set a position: the name of the position in their data, and what a position of 0 is the same as."""


class EntityAction(NamedTuple):
    """One service that would be called for one entity. A tuple, because a call may have thousands of them."""

    entity_id: str
    action: str
    """Domain and service, such as `lock.unlock`. Setting a position of 0 is written as closing."""

    @property
    def domain(self) -> str:
        """That of the entity."""
        return self.entity_id.partition(".")[0]


class UnknownReason(StrEnum):
    """Why it cannot be told what would happen."""

    CONTENT = "content"
    """A script, an automation or a scene whose content cannot be read."""
    FOREIGN_INTENT = "foreign_intent"
    """An intent whose handler is not Home Assistant's own."""
    OPAQUE_ACTION = "opaque_action"
    """An action that names no entity, or is of an integration and can do anything with it."""
    SENTENCE = "sentence"
    """A sentence that starts automations, or whose meaning is only known later."""
    TEMPLATE = "template"
    """Something that a template decides at run time."""


@dataclass(frozen=True, slots=True)
class Unknown:
    """Something that a call would also do, and nobody can tell what."""

    reason: UnknownReason
    source: EntityAction | None = None
    """What it would come from, such as running a script; None when it is the call itself."""


@dataclass(frozen=True, slots=True)
class Touches:
    """All that a call would do is known: at least these actions will be all of its actions."""

    actions: frozenset[EntityAction] = frozenset()
    """Empty when it changes no entity."""


@dataclass(frozen=True, slots=True)
class Unresolved:
    """Some of what a call would do cannot be told, and has to be judged as the least safe."""

    unknowns: frozenset[Unknown]
    """At least one."""
    actions: frozenset[EntityAction] = frozenset()
    """What is known beside."""


@dataclass(frozen=True, slots=True)
class Annotated:
    """A call of a tool that acts on no entity of the house: only its annotations tell what it does."""

    annotations: ToolAnnotations


type Effects = Touches | Unresolved | Annotated

NOTHING: Final = Touches()


@dataclass(frozen=True, slots=True)
class CallEffects:
    """A call, and what it would do."""

    tool: str
    """The name under which the tool is offered."""
    effects: Effects


def actions_of(effects: Effects) -> frozenset[EntityAction]:
    """Return what is known to be done to entities."""
    match effects:
        case Touches(actions) | Unresolved(_, actions):
            return actions
        case Annotated():
            return frozenset()
        case _ as unreachable:
            assert_never(unreachable)


def effects_of(actions: Iterable[EntityAction], unknowns: Iterable[Unknown]) -> Touches | Unresolved:
    """Return what is known and what is not as one."""
    known, unknown = frozenset(actions), frozenset(unknowns)
    return Unresolved(unknown, known) if unknown else Touches(known)


def joined(several: Iterable[Touches | Unresolved]) -> Touches | Unresolved:
    """Return what several would do together."""
    parts = list(several)
    unknowns = [unknown for part in parts if isinstance(part, Unresolved) for unknown in part.unknowns]
    return effects_of((action for part in parts for action in part.actions), unknowns)


def named_action(domain: str, service: str, data: Mapping[str, object]) -> str:
    """Return the name of an action, which for a position of 0 is that of closing."""
    action = f"{domain}.{service}"
    position, closing = _CLOSED_POSITION.get(action, ("", action))
    value = data.get(position)
    return closing if isinstance(value, (int, float)) and value == 0 else action
