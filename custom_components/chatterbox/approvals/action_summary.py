"""The summary of the actions that a question asks about: a few kinds of action, each with its entities."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from homeassistant.core import HomeAssistant
from homeassistant.util.json import json_loads_object

from ..effects.actions import groups_among, members_of
from ..effects.effect import (
    NOTHING,
    ActionKind,
    Annotated,
    EntityAction,
    Touches,
    Unknown,
    Unresolved,
    actions_of,
    kind_of,
)
from .answers.language import Action
from .review import CallReview

_VAGUE: Final = (ActionKind.CHANGE, ActionKind.USE)

_LEVELS: Final[Mapping[str, str]] = {
    "climate.set_temperature": "temperature",
    "cover.set_cover_position": "position",
    "fan.set_percentage": "percentage",
    "fan.turn_on": "percentage",
    "humidifier.set_humidity": "humidity",
    "light.turn_on": "brightness",
    "media_player.volume_set": "volume_level",
    "valve.set_valve_position": "position",
    "water_heater.set_temperature": "temperature",
}
"""The arguments in which calls of Home Assistant's intents hold what an action sets, temperatures or percentages."""

_MOST_KINDS: Final = 3
"""Kinds of action in one question."""
_MOST_MEMBERS: Final = 5
"""With more entities than this, a group is named instead of its members."""


class Level(NamedTuple):
    """The value that an entity is set to."""

    value: float
    is_temperature: bool
    """Otherwise it is a percentage."""


@dataclass(frozen=True, slots=True)
class ActionSummary:
    """All actions that one question asks about."""

    actions: Mapping[ActionKind, tuple[str, ...]]
    """The entities by kind of action, in the order in which they are named."""
    tools: tuple[str, ...] = ()
    """The names of tools that act on no entity."""
    unforeseen: tuple[str, ...] = ()
    """The actions that could do anything, such as `shell_command.open_up`."""
    levels: Mapping[ActionKind, Level] = field(default_factory=dict)
    """The value that all entities of a kind are set to."""
    has_more: bool = False
    """There are further actions, which are not named."""
    is_unclear: bool = False
    """Not all effects are known."""

    @property
    def is_several(self) -> bool:
        """Whether there is more than one entity or tool."""
        named = {entity_id for entity_ids in self.actions.values() for entity_id in entity_ids}
        return len(named) + len(self.tools) + len(self.unforeseen) + (self.has_more and bool(named)) > 1


def repeatable_action(kind: ActionKind) -> Action | None:
    """Return the action that an answer may repeat; None if there is no word for it."""
    if kind is ActionKind.ARM_FOR_LESS:
        return Action.ARM
    return Action(kind.value) if kind.value in Action else None


def summarize_calls(hass: HomeAssistant, calls: Iterable[CallReview]) -> ActionSummary:
    """Summarize the calls of a question.

    The actions that need approval come first. Of other actions, only the script, scene or automation is named that they
    come from, if there is one.
    """
    found = _Collected()
    for call in calls:
        found.add(call)
    requested = set(found.actions)
    for action in sorted(found.besides):
        found.name(action)
    actions = {kind: _without_groups(hass, entity_ids) for kind, entity_ids in found.actions.items()}
    ordered = sorted(actions, key=lambda kind: (kind not in requested, list(ActionKind).index(kind)))[:_MOST_KINDS]
    return ActionSummary(
        {kind: entity_ids for kind, entity_ids in actions.items() if kind in ordered},
        tuple(found.tools),
        tuple(found.unforeseen),
        {kind: level for kind, (level, *others) in found.levels.items() if level and not others},
        has_more=found.more or len(actions) > len(ordered),
        is_unclear=found.unclear,
    )


@dataclass(slots=True)
class _Collected:
    named: dict[ActionKind, dict[str, None]] = field(default_factory=dict)
    tools: dict[str, None] = field(default_factory=dict)
    unforeseen: dict[str, None] = field(default_factory=dict)
    besides: set[EntityAction] = field(default_factory=set)
    """Actions that need no approval themselves, and are done with the rest."""
    levels: dict[ActionKind, dict[Level | None, None]] = field(default_factory=dict)
    more: bool = False
    unclear: bool = False

    @property
    def actions(self) -> Mapping[ActionKind, Sequence[str]]:
        """The entities by kind of action. A vague kind is left out for entities that have a clear one."""
        plain = {entity_id for kind, ids in self.named.items() if kind not in _VAGUE for entity_id in ids}
        clearer = {**dict.fromkeys(_VAGUE, plain), ActionKind.ARM: self.named.get(ActionKind.ARM_FOR_LESS, ())}
        remaining = {
            kind: [entity_id for entity_id in ids if entity_id not in clearer.get(kind, ())]
            for kind, ids in self.named.items()
        }
        return {kind: ids for kind, ids in remaining.items() if ids}

    def add(self, call: CallReview) -> None:
        """Add the actions of a call."""
        effects = call.effects
        if isinstance(effects, Annotated):
            if not effects.is_complete or effects.named == NOTHING:
                self.tools[call.acting_call.name] = None
            self._add_unknowns(effects.named)
            for action in sorted(actions_of(effects)):
                self.name(action)
            return
        is_named = self._add_unknowns(effects)
        subjects = list(dict.fromkeys(_asked_about(call)))
        known = actions_of(call.effects)
        named = {action.entity_id for action in subjects}
        besides = {action for action in known if action.entity_id not in named}
        origins = sorted(action for action in besides if kind_of(action.action) is ActionKind.RUN)
        if len(origins) != 1:
            belongs_to_one = any(kind_of(action.action) is ActionKind.RUN for action in subjects)
            self.more |= not (subjects or is_named or besides)
            self.besides |= set() if belongs_to_one else besides
            origins = []
        for action in (*origins, *subjects):
            self.name(action, _level(call, action.action))

    def name(self, action: EntityAction, level: Level | None = None) -> None:
        """Add an action that is named."""
        kind = kind_of(action.action)
        self.named.setdefault(kind, {})[action.entity_id] = None
        self.levels.setdefault(kind, {})[level] = None

    def _add_unknowns(self, effects: Touches | Unresolved) -> bool:
        """Add what cannot be foreseen, and return whether it has a name; of a script, its own says enough."""
        unknowns = effects.unknowns if isinstance(effects, Unresolved) else ()
        names = {one.action for one in unknowns if one.source is None or one.source.action == one.action}
        self.unforeseen |= dict.fromkeys(sorted(names - {""}))
        self.more |= "" in names
        self.unclear |= bool(unknowns)
        return bool(names - {""})


def _level(call: CallReview, action: str) -> Level | None:
    """Return what an action sets an entity to, if the call itself says so."""
    if (argument := _LEVELS.get(action)) is None:
        return None
    value = json_loads_object(call.acting_call.arguments).get(argument)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return Level(value, is_temperature=argument == "temperature")


def _asked_about(call: CallReview) -> Iterator[EntityAction]:
    """Yield the actions that need approval: those that rules decided, or all if only something else requires it."""
    subjects: Iterable[EntityAction | Unknown | None] = [decision.subject for decision in call.decisions]
    if not call.decisions:
        unknowns = call.effects.unknowns if isinstance(call.effects, Unresolved) else ()
        subjects = [*sorted(actions_of(call.effects)), *sorted(unknowns, key=repr)]
    for subject in subjects:
        match subject:
            case EntityAction():
                yield subject
            case Unknown(_, EntityAction() as source):
                yield source
            case _:
                pass


def _without_groups(hass: HomeAssistant, entity_ids: Sequence[str]) -> tuple[str, ...]:
    """Leave out groups whose members are named, or the members if there are too many."""
    named = set(entity_ids)
    members = {group: members_of(hass, group) & named for group in groups_among(hass, entity_ids)}
    single = [entity_id for entity_id in entity_ids if not members.get(entity_id)]
    if len(single) <= _MOST_MEMBERS:
        return tuple(single)
    inside = frozenset[str]().union(*members.values())
    return tuple(entity_id for entity_id in entity_ids if entity_id not in inside)
