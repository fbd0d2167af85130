"""The summary of the actions that a question asks about: a few kinds of action, each with its entities."""

from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Final, NamedTuple

from homeassistant.core import HomeAssistant
from homeassistant.util.json import json_loads_object
from pydantic import BaseModel, ConfigDict

from ..agent.text import clipped, read_data_file
from ..effects.actions import groups_among, members_of
from ..effects.effect import (
    ANY_ACTION,
    ActionKind,
    Effects,
    EntityAction,
    Unknown,
    kind_of,
)
from .answers.language import Action
from .review import CallReview

_VAGUE: Final = (ActionKind.CHANGE, ActionKind.USE)
PLAY: Final = "media_player.play_media"


class _Wordings(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    intents: Mapping[str, str]
    wordings: Mapping[str, str]
    settings: Mapping[str, Mapping[str, str]]


_DATA: Final = read_data_file(__file__, _Wordings)
_VOLUMES: Final = (
    "media_player.volume_up",
    "media_player.volume_down",
    "media_player.volume_set",
)
"""The actions of one intent, of which it does the first or the second."""
_EVENTS: Final = frozenset({"add_event", "delete_event", "move_event"})
"""Wordings of what is named one by one, and not set to one value."""
_LONGEST: Final = 100
"""Characters of a text in a question."""
_MOST_KINDS: Final = 3
"""Kinds of action in one question."""
_MOST_MEMBERS: Final = 5
"""With more entities than this, a group is named instead of its members."""


class Setting(NamedTuple):
    """A value that an entity is set to, or that something is done with."""

    value: float | str
    unit: str
    """"%", "°" for that of the home, or any other; empty for a text."""


@dataclass(frozen=True, slots=True)
class ActionSummary:
    """All actions that one question asks about."""

    actions: Mapping[str, tuple[str, ...]]
    """The entities by the wording of an action, in the order in which they are named."""
    tools: tuple[str, ...] = ()
    """The names of tools that act on no entity."""
    unforeseen: tuple[str, ...] = ()
    """The actions that could do anything, such as `shell_command.open_up`."""
    settings: Mapping[str, tuple[Setting, ...]] = field(default_factory=dict)
    """The values to which all entities of a wording are set."""
    has_more: bool = False
    """There are further actions, which are not named."""
    is_unclear: bool = False
    """Not all effects are known."""

    @property
    def is_several(self) -> bool:
        """Whether there is more than one entity or tool."""
        named = {
            entity_id
            for entity_ids in self.actions.values()
            for entity_id in entity_ids
        }
        return (
            len(named)
            + len(self.tools)
            + len(self.unforeseen)
            + (self.has_more and bool(named))
            > 1
        )


def wording_of(action: str) -> str:
    """Return the word for an action in a question: its kind, a word of ours, or the action that Home Assistant names.

    The latter stands for what a kind does not tell apart, such as ways of arming.
    """
    kind = kind_of(action)
    is_named = kind in _VAGUE or kind is ActionKind.ARM or "tilt" in action
    return _DATA.wordings.get(
        action, action if is_named and not action.endswith(ANY_ACTION) else str(kind)
    )


def sets_value(wording: str) -> bool:
    """Return whether entities are set to the value of a wording; otherwise, something is done with it."""
    return _kind(wording) is not ActionKind.USE and wording not in _VOLUMES[:2]


def repeatable_action(wording: str) -> Action | None:
    """Return the action that an answer may repeat; None if there is no word for it."""
    kind = _kind(wording)
    if kind is ActionKind.ARM_FOR_LESS:
        return Action.ARM
    if kind.value in Action:
        return Action(kind.value)
    return None


def summarize_calls(
    hass: HomeAssistant,
    calls: Iterable[CallReview],
) -> ActionSummary:
    """Summarize the calls of a question.

    The actions that need approval come first. Of other actions, only the script, scene
    or automation is named that they come from, if there is one.
    """
    found = _Collected()
    for call in calls:
        found.add(call)
    requested = set(found.actions)
    for action in sorted(found.besides):
        found.name(action)
    actions = found.actions
    kinds = [*ActionKind]
    ordered = sorted(
        actions,
        key=lambda wording: (wording not in requested, kinds.index(_kind(wording))),
    )[:_MOST_KINDS]
    return ActionSummary(
        {
            wording: _without_groups(hass, entity_ids)
            for wording, entity_ids in actions.items()
            if wording in ordered
        },
        tuple(found.tools),
        tuple(found.unforeseen),
        {
            wording: _common(wording, several)
            for wording, several in found.settings.items()
        },
        has_more=found.more or len(actions) > len(ordered),
        is_unclear=found.unclear,
    )


def _common(
    wording: str, several: Iterable[tuple[Setting, ...]]
) -> tuple[Setting, ...]:
    """Return the values to which all entities of a wording are set, or those of all events."""
    first, *others = several
    if wording in _EVENTS:
        return (*first, *chain.from_iterable(others))
    return () if others else first


def _kind(wording: str) -> ActionKind:
    """Return the kind of the actions of a wording."""
    kind = kind_of(wording) if "." in wording else wording
    if kind in ActionKind:
        return ActionKind(kind)
    return ActionKind.USE


def _is_vague(wording: str) -> bool:
    return _kind(wording) in _VAGUE


@dataclass(slots=True)
class _Collected:
    named: dict[str, dict[str, None]] = field(default_factory=dict)
    tools: dict[str, None] = field(default_factory=dict)
    unforeseen: dict[str, None] = field(default_factory=dict)
    besides: set[EntityAction] = field(default_factory=set)
    """Actions that need no approval themselves, and are done with the rest."""
    settings: dict[str, dict[tuple[Setting, ...], None]] = field(default_factory=dict)
    more: bool = False
    unclear: bool = False

    @property
    def actions(self) -> Mapping[str, Sequence[str]]:
        """The entities by wording. A vague one is left out for entities that have a clear one."""
        plain = {
            one
            for wording, ids in self.named.items()
            if not _is_vague(wording)
            for one in ids
        }
        less = self.named.get(
            ActionKind.ARM_FOR_LESS,
            (),
        )
        remaining = dict[str, Sequence[str]]()
        for wording, ids in self.named.items():
            arming = less if _kind(wording) is ActionKind.ARM else ()
            # A vague wording with a value says enough.
            says_little = _is_vague(wording) and not any(self.settings[wording])
            clearer = plain if says_little else arming
            remaining[wording] = [one for one in ids if one not in clearer]
        return {wording: ids for wording, ids in remaining.items() if ids}

    def add(self, call: CallReview) -> None:
        """Add the actions of a call."""
        effects = call.effects
        if effects.annotations:
            self._add_annotated(call.acting_call.name, effects)
            return
        subjects = list(dict.fromkeys(_asked_about(call)))
        is_named = self._add_unknowns(effects.unknowns, subjects)
        entity_ids = {action.entity_id for action in subjects}
        besides = {one for one in effects.actions if one.entity_id not in entity_ids}
        origins = sorted(filter(_is_run, besides))
        if len(origins) != 1:
            origins = []
            self.more |= not (subjects or is_named or besides)
            if not any(map(_is_run, subjects)):
                self.besides |= besides
        for action in (*origins, *subjects):
            self.name(action, *_said_of(call, action))

    def _add_annotated(
        self,
        tool: str,
        effects: Effects,
    ) -> None:
        """Add what is known of a tool of others, and the tool itself if that is not all."""
        if not (effects.is_complete and (effects.actions or effects.unknowns)):
            self.tools[tool] = None
        named = sorted(effects.actions)
        self._add_unknowns(effects.unknowns, named)
        for action in named:
            self.name(action)

    def name(
        self,
        action: EntityAction,
        wording: str = "",
        settings: tuple[Setting, ...] = (),
    ) -> None:
        """Add an action that is named."""
        wording = wording or wording_of(action.action)
        self.named.setdefault(wording, {})[action.entity_id] = None
        self.settings.setdefault(wording, {})[settings] = None

    def _add_unknowns(
        self, unknowns: Collection[Unknown], named: Container[EntityAction]
    ) -> bool:
        """Add what cannot be foreseen beside named actions, and return whether it has a name.

        Of a script, its own name says enough.
        """
        names = {
            one.action
            for one in unknowns
            if one.source is None
            or (one.source.action == one.action and one.source not in named)
        }
        self.unforeseen |= dict.fromkeys(sorted(names - {""}))
        self.more |= "" in names
        self.unclear |= bool(unknowns)
        return bool(names - {""})


def _is_run(action: EntityAction) -> bool:
    """Return whether an action runs a script, a scene or an automation."""
    return kind_of(action.action) is ActionKind.RUN


def _said_of(
    call: CallReview,
    action: EntityAction,
) -> tuple[str, tuple[Setting, ...]]:
    """Return the wording of an action, and what it sets an entity to, as far as the call or its words say it."""
    given = json_loads_object(call.acting_call.arguments)
    wording = wording_of(action.action)
    for run in call.effects.intents:
        if action in run.effects.actions:
            given = {
                **given,
                **run.slots,
            }
            wording = _DATA.intents.get(run.intent_type, wording)
    step = given.get("volume_step")
    if step is not None and action.action in _VOLUMES:
        wording = _VOLUMES[str(step).startswith(("d", "-"))]
    named = _DATA.settings.get(
        action.action,
        {},
    )
    values = ((given.get(name), unit) for name, unit in named.items())
    settings = (
        _setting(value, unit)
        for value, unit in values
        if isinstance(value, str | int | float)
    )
    return wording, tuple(filter(None, settings))


def _setting(
    value: str | float,
    unit: str,
) -> Setting | None:
    """Return a value as it is asked about; None for one that tells a direction alone."""
    if isinstance(value, bool) or (
        isinstance(value, str) and (unit or not value.strip())
    ):
        return None
    return Setting(
        clipped(
            value,
            _LONGEST,
        )
        if isinstance(value, str)
        else abs(value),
        unit,
    )


def _asked_about(call: CallReview) -> Iterator[EntityAction]:
    """Yield the actions that need approval: those that rules decided, or all if only something else requires it."""
    subjects = [decision.subject for decision in call.decisions]
    if not call.decisions:
        unknowns = sorted(call.effects.unknowns, key=repr)
        subjects = [*sorted(call.effects.actions), *unknowns]
    for subject in subjects:
        match subject:
            case EntityAction():
                yield subject
            case Unknown(_, EntityAction() as source):
                yield source
            case _:
                pass


def _without_groups(
    hass: HomeAssistant,
    entity_ids: Sequence[str],
) -> tuple[str, ...]:
    """Leave out groups whose members are named, or the members if there are too many."""
    named = set(entity_ids)
    members = {
        group: members_of(hass, group) & named
        for group in groups_among(hass, entity_ids)
    }
    single = [entity_id for entity_id in entity_ids if not members.get(entity_id)]
    if len(single) <= _MOST_MEMBERS:
        return tuple(single)
    inside = frozenset[str]().union(*members.values())
    return tuple(entity_id for entity_id in entity_ids if entity_id not in inside)
