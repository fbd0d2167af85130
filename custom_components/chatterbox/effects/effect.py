"""Types for the predicted effects of a call on entities."""

from collections.abc import Iterable, Mapping
from dataclasses import KW_ONLY, dataclass, field, replace
from enum import StrEnum
from fnmatch import fnmatchcase
from functools import lru_cache
from types import MappingProxyType
from typing import Final, NamedTuple

from ..agent.messages import (
    JsonObject,
    JsonValue,
    ToolAnnotations,
    ToolDefinition,
    canonical_json,
)
from ..agent.text import read_data_file
from ..settings.rules import TrustLevel

ANY_ACTION: Final = "reproduce_state"
"""Stands for all services of a domain that could reach a state."""


_CLOSED_POSITION: Final = {
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


type ActionData = Mapping[str, object]
"""The data of an action, as it is written."""


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


@dataclass(frozen=True, slots=True)
class Effects:
    """The effects of a call, as far as they are known."""

    actions: frozenset[EntityAction] = frozenset()
    """The known ones; empty if no entity is changed."""
    unknowns: frozenset[Unknown] = frozenset()
    """The others, which have to be judged as the least safe."""
    _: KW_ONLY
    annotations: ToolAnnotations | None = None
    """Describe a tool whose actions cannot be read. All else is then what its arguments name."""
    is_complete: bool = False
    """Whether such a tool does nothing else."""
    is_guessed: bool = False
    """Whether Home Assistant guesses what a sentence means, and passes over words of it."""
    beside_entities: bool = False
    """Whether a sentence may change what is no entity, such as a timer."""
    changes_memory: bool = False
    """Whether it changes what is remembered of people, which nobody outside the home may."""
    needs_yes: bool = False
    """Whether it is read back before it is done, even where rules allow it."""
    intents: tuple[IntentRun, ...] = field(
        default=(),
        compare=False,
    )
    """The intents that are run, each with its share of the effects."""

    @property
    def is_known(self) -> bool:
        """Whether the call does nothing beyond its actions."""
        return self.annotations is None and not self.unknowns

    @property
    def entity_ids(self) -> frozenset[str]:
        """The entities of the known actions."""
        return frozenset(action.entity_id for action in self.actions)

    @property
    def possible_actions(self) -> frozenset[EntityAction] | None:
        """The known actions and those that unknown effects may consist of; None if these could be any."""
        reaches = [one.reach for one in self.unknowns if one.reach is not None]
        if len(reaches) == len(self.unknowns):
            return self.actions.union(*reaches)
        return None


class IntentRun(NamedTuple):
    """An intent that a call runs."""

    intent_type: str
    """Empty where it may be any."""
    effects: Effects
    slots: Mapping[str, JsonValue] = MappingProxyType({})


NOTHING: Final = Effects()


@dataclass(frozen=True, slots=True)
class CallEffects:
    """A call with its effects."""

    tool: str
    """The name under which the tool is offered."""
    effects: Effects
    level: TrustLevel | None = None
    """How far its source is trusted, if it changes something."""


def joined(several: Iterable[Effects]) -> Effects:
    """Return the effects of several calls together."""
    parts = list(several)
    return Effects(
        frozenset(action for part in parts for action in part.actions),
        frozenset(unknown for part in parts for unknown in part.unknowns),
        beside_entities=any(part.beside_entities for part in parts),
        intents=tuple(run for part in parts for run in part.intents),
    )


def run_by(
    intent_type: str,
    effects: Effects,
    slots: Mapping[str, JsonValue] = MappingProxyType({}),
) -> Effects:
    """Return effects as those of an intent, which may run others."""
    return replace(
        effects, intents=(IntentRun(intent_type, effects, slots), *effects.intents)
    )


def named_action(
    domain: str,
    service: str,
    data: ActionData,
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


_ACTIONS_OF_KIND: Final = read_data_file(
    __file__, dict[ActionKind, tuple[str, ...]], "action_kinds.toml"
)


@lru_cache
def kind_of(action: str) -> ActionKind:
    """Return the kind of an action such as `lock.unlock`."""
    kinds = (
        kind
        for kind, patterns in _ACTIONS_OF_KIND.items()
        if any(fnmatchcase(action, one) for one in patterns)
    )
    return next(kinds, ActionKind.USE)
