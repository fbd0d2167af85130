"""Types for the predicted effects of a call on entities."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from fnmatch import fnmatchcase
from functools import lru_cache
from types import MappingProxyType
from typing import Final, NamedTuple, assert_never

from ..agent.messages import (
    JsonObject,
    JsonValue,
    ToolAnnotations,
    ToolDefinition,
    canonical_json,
)
from ..settings.rules import TrustLevel

ANY_ACTION: Final = "reproduce_state"
"""Stands for all services of a domain that could reach a state."""


_CLOSED_POSITION: Final[Mapping[str, tuple[str, str]]] = {
    "cover.set_cover_position": ("position", "cover.close_cover"),
    "cover.set_cover_tilt_position": ("tilt_position", "cover.close_cover_tilt"),
    "valve.set_valve_position": ("position", "valve.close_valve"),
}
"""For services that set a position: the key of the position, and the service that position 0 is equal to."""

SET_TEMPERATURE: Final = frozenset(
    {"climate.set_temperature", "water_heater.set_temperature"}
)

DISARM: Final = "alarm_control_panel.alarm_disarm"
ARM_FOR_LESS: Final = "alarm_control_panel.arm_for_less"
"""Stands for arming an alarm for less than it is armed for now. To rules, it is disarming."""


class EntityAction(NamedTuple):
    """One service call for one entity. A tuple, because a call may have thousands of them."""

    entity_id: str
    action: str
    """Domain and service, such as `lock.unlock`. Setting position 0 is written as closing."""
    settings: tuple[tuple[str, float], ...] = ()
    """The values that it sets, where it matters how far: target temperatures. Infinite for those that a tool may choose
    or that are not known before, such as a page that is played or words that are
    spoken."""

    @property
    def domain(self) -> str:
        """Return the domain of the entity."""
        return self.entity_id.partition(".")[0]


class UnknownReason(StrEnum):
    """Why an effect is unknown."""

    CONTENT = "content"
    """The content of a script, an automation or a scene cannot be read."""
    FOREIGN_INTENT = "foreign_intent"
    """The handler of the intent is not part of Home Assistant."""
    OPAQUE_ACTION = "opaque_action"
    """The action has no target, or is an integration's own and could do anything."""
    SENTENCE = "sentence"
    """The sentence triggers automations, or is interpreted later."""
    TEMPLATE = "template"
    """A template decides at run time."""


@dataclass(frozen=True, slots=True)
class Unknown:
    """An unknown effect of a call."""

    reason: UnknownReason
    source: EntityAction | None = None
    """The action that causes it, such as running a script, or None for the call itself."""
    reach: frozenset[EntityAction] | None = None
    """All actions that it may consist of; None if it could be any."""
    action: str = ""
    """The action that cannot be foreseen, such as `shell_command.open_up`; empty if it has no name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sentence:
    """Further facts about a sentence that causes the effects."""

    is_guessed: bool = False
    """Whether Home Assistant guesses what it means, and passes over words of it."""
    intents: tuple[IntentRun, ...] = field(
        default=(),
        compare=False,
    )
    """The intents that are run, each with its share of the effects."""


@dataclass(frozen=True, slots=True)
class Touches(_Sentence):
    """All effects are known: the call does nothing beyond these actions."""

    actions: frozenset[EntityAction] = frozenset()
    """Empty if no entity is changed."""
    beside_entities: bool = False
    """Whether a sentence may change what is no entity, such as a timer."""
    changes_memory: bool = False
    """Whether it changes what is remembered of people, which nobody outside the home may."""
    needs_yes: bool = False
    """Whether it is read back before it is done, even where rules allow it."""


@dataclass(frozen=True, slots=True)
class Unresolved(_Sentence):
    """Some effects are unknown, and have to be judged as the least safe."""

    unknowns: frozenset[Unknown]
    """At least one."""
    actions: frozenset[EntityAction] = frozenset()
    """The known effects."""


type KnownEffects = Touches | Unresolved
"""Effects that are worked out, as far as they can be."""


@dataclass(frozen=True, slots=True)
class Annotated:
    """The actions of the tool cannot be read, so its annotations describe it."""

    annotations: ToolAnnotations
    named: KnownEffects = Touches()
    """The effects of the actions that the arguments name."""
    is_complete: bool = False
    """Whether it does nothing else."""


class IntentRun(NamedTuple):
    """An intent that a call runs."""

    intent_type: str
    """Empty where it may be any."""
    effects: KnownEffects
    slots: Mapping[str, JsonValue] = MappingProxyType({})


type Effects = KnownEffects | Annotated

NOTHING: Final = Touches()


@dataclass(frozen=True, slots=True)
class CallEffects:
    """A call with its effects."""

    tool: str
    """The name under which the tool is offered."""
    effects: Effects
    level: TrustLevel | None = None
    """How far its source is trusted, if it changes something."""


def actions_of(effects: Effects) -> frozenset[EntityAction]:
    """Return the known actions."""
    match effects:
        case Touches(actions) | Unresolved(_, actions):
            return actions
        case Annotated(_, named):
            return actions_of(named)
        case _ as unreachable:
            assert_never(unreachable)


def possible_actions(effects: Effects) -> frozenset[EntityAction] | None:
    """Return the known actions and those that unknown effects may consist of; None if these could be any."""
    if isinstance(effects, Annotated):
        effects = effects.named
    if isinstance(effects, Unresolved):
        unknowns = effects.unknowns
    else:
        unknowns = frozenset[Unknown]()
    reaches = [unknown.reach for unknown in unknowns if unknown.reach is not None]
    if len(reaches) == len(unknowns):
        return actions_of(effects).union(*reaches)
    return None


def effects_of(
    actions: Iterable[EntityAction], unknowns: Iterable[Unknown]
) -> KnownEffects:
    """Combine known actions and unknown effects."""
    known = frozenset(actions)
    unknown = frozenset(unknowns)
    if unknown:
        return Unresolved(unknown, known)
    return Touches(known)


def joined(several: Iterable[KnownEffects]) -> KnownEffects:
    """Return the effects of several calls together."""
    parts = list(several)
    unknowns = [
        unknown
        for part in parts
        if isinstance(part, Unresolved)
        for unknown in part.unknowns
    ]
    intents = tuple(run for part in parts for run in part.intents)
    effects = replace(
        effects_of(
            (action for part in parts for action in part.actions),
            unknowns,
        ),
        intents=intents,
    )
    is_beside = any(
        isinstance(part, Touches) and part.beside_entities for part in parts
    )
    if isinstance(effects, Touches):
        return replace(effects, beside_entities=is_beside)
    return effects


def run_by(
    intent_type: str,
    effects: KnownEffects,
    slots: Mapping[str, JsonValue] = MappingProxyType({}),
) -> KnownEffects:
    """Return effects as those of an intent, which may run others."""
    return replace(
        effects, intents=(IntentRun(intent_type, effects, slots), *effects.intents)
    )


def intents_of(effects: Effects) -> tuple[IntentRun, ...]:
    """Return the intents that a call runs."""
    if isinstance(effects, Annotated):
        return effects.named.intents
    return effects.intents


def named_action(
    domain: str,
    service: str,
    data: Mapping[str, object],
) -> str:
    """Return the name of an action. Position 0 is named as closing."""
    action = f"{domain}.{service}"
    position, closing = _CLOSED_POSITION.get(
        action,
        ("", action),
    )
    value = data.get(position)
    if isinstance(value, (int, float)) and value == 0:
        return closing
    return action


class When(NamedTuple):
    """The time of a call that is not to run now. Decision 60."""

    words: str
    """The beginning of a question about it, such as the time."""
    triggers: tuple[JsonObject, ...] = ()
    """The triggers of Home Assistant at which it runs; none for a call that only takes such calls back."""
    comes_again: bool = False
    """Whether it is to act each time, which a person has to say yes to. Decision 63."""


class TimedCall(NamedTuple):
    """A call with its time."""

    tool: ToolDefinition
    arguments: JsonObject
    when: When | None = None
    """None for now."""


type TimedCalls = Mapping[tuple[str, str], TimedCall]
"""The calls of a turn that run at another time, by name and arguments of the calls that lead to them."""


def timed_call(
    timed: TimedCalls, tool: ToolDefinition, arguments: JsonObject
) -> TimedCall:
    """Return the call that a call leads to: itself, now, unless another one or another time is known."""
    now = TimedCall(tool, arguments)
    if timed:
        return timed.get(
            (tool.name, canonical_json(arguments)),
            now,
        )
    return now


class ActionKind(StrEnum):
    """The kind of an action, as people name it. Kinds that let somebody or something in come first."""

    UNLOCK = "unlock"
    OPEN = "open"
    DISARM = "disarm"
    ARM_FOR_LESS = "arm_for_less"
    OPEN_OR_CLOSE = "open_or_close"
    RUN = "run"
    LOCK = "lock"
    CLOSE = "close"
    ARM = "arm"
    TURN_ON = "turn_on"
    TURN_OFF = "turn_off"
    TOGGLE = "toggle"
    CHANGE = "change"
    USE = "use"
    """Any other action."""


_ACTIONS_OF_KIND: Final[Mapping[ActionKind, tuple[str, ...]]] = {
    ActionKind.RUN: (
        "automation.trigger",
        "scene.turn_on",
        "script.toggle",
        "script.turn_on",
    ),
    ActionKind.DISARM: ("alarm_control_panel.alarm_disarm",),
    ActionKind.ARM_FOR_LESS: (ARM_FOR_LESS,),
    ActionKind.ARM: ("alarm_control_panel.alarm_arm*",),
    ActionKind.LOCK: ("lock.lock",),
    ActionKind.UNLOCK: ("lock.unlock",),
    ActionKind.OPEN: (
        "lock.open",
        "cover.open_*",
        "cover.set_*",
        "valve.open_*",
        "valve.set_*",
    ),
    ActionKind.CLOSE: ("cover.close_*", "valve.close_*"),
    ActionKind.OPEN_OR_CLOSE: ("cover.toggle*", "valve.toggle*"),
    ActionKind.CHANGE: (
        f"*.{ANY_ACTION}*",
        "*.select_*",
        "*.set_*",
        "*.volume_*",
    ),
    ActionKind.TOGGLE: ("*.toggle",),
    ActionKind.TURN_OFF: ("*.turn_off",),
    ActionKind.TURN_ON: ("*.turn_on",),
}
"""The actions of each kind; the first that matches counts. Setting a position counts as opening."""


@lru_cache
def kind_of(action: str) -> ActionKind:
    """Return the kind of an action such as `lock.unlock`."""
    kinds = (
        kind
        for kind, patterns in _ACTIONS_OF_KIND.items()
        if any(fnmatchcase(action, one) for one in patterns)
    )
    return next(kinds, ActionKind.USE)
