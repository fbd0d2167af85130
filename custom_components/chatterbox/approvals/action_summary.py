"""What a question is about: the calls that wait for a yes, put together as a few things to be done to devices.

Knows effects, judgements and groups of entities. Must not know words, names or languages.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from homeassistant.core import HomeAssistant, callback

from ..agent.consent.language import Action
from ..effects.actions import ANY_ACTION
from ..effects.effect import Annotated, EntityAction, Unknown, Unresolved, actions_of
from ..effects.targets import groups_among, members_of
from ..settings.rules import Verdict
from .questions import AskedCall


class ActionKind(StrEnum):
    """What is done to a device, as a person would say it; what lets somebody or something in comes first."""

    UNLOCK = "unlock"
    OPEN = "open"
    DISARM = "disarm"
    OPEN_OR_CLOSE = "open_or_close"
    RUN = "run"
    LOCK = "lock"
    CLOSE = "close"
    ARM = "arm"
    TURN_ON = "turn_on"
    TURN_OFF = "turn_off"
    TOGGLE = "toggle"
    CHANGE = "change"
    """Set it to something else, in whatever way."""
    USE = "use"
    """Anything for which there is no better word."""

    @property
    def action(self) -> Action | None:
        """Return how an answer may repeat it; None if it has no word for it."""
        return Action(self.value) if self.value in Action else None


_DEEDS: Final[Mapping[str, ActionKind]] = {
    "automation.trigger": ActionKind.RUN,
    "scene.turn_on": ActionKind.RUN,
    "script.toggle": ActionKind.RUN,
    "script.turn_on": ActionKind.RUN,
    "alarm_control_panel.alarm_disarm": ActionKind.DISARM,
    "lock.lock": ActionKind.LOCK,
    "lock.open": ActionKind.OPEN,
    "lock.unlock": ActionKind.UNLOCK,
}
_DEEDS_OF_SERVICES: Final[Mapping[str, ActionKind]] = {
    "toggle": ActionKind.TOGGLE,
    "turn_off": ActionKind.TURN_OFF,
    "turn_on": ActionKind.TURN_ON,
}
_OPENING: Final = frozenset({"cover", "valve"})
"""Domains of what opens and closes. A position that is set leaves it open, or it would be written as closing."""
_CHANGING: Final = (ANY_ACTION, "select_", "set_", "volume_")
_VAGUE: Final = (ActionKind.CHANGE, ActionKind.USE)

_MOST_DEEDS: Final = 3
"""So many can be listened to."""
_MOST_MEMBERS: Final = 5
"""Of more entities than this, the name of their group stands for them."""


@dataclass(frozen=True, slots=True)
class ActionSummary:
    """Everything that one question is about."""

    deeds: Mapping[ActionKind, tuple[str, ...]]
    """The entities to which something would be done, in the order in which it is said."""
    tools: tuple[str, ...] = ()
    """Names of tools that act on no entity."""
    has_more: bool = False
    """Something else belongs to it that is not named."""
    is_unclear: bool = False
    """Nobody can tell all that would be done."""

    @property
    def is_several(self) -> bool:
        """Tell whether it is about more than one device."""
        named = {entity_id for entity_ids in self.deeds.values() for entity_id in entity_ids}
        return len(named) + len(self.tools) + (self.has_more and bool(named)) > 1


def kind_of(action: str) -> ActionKind:
    """Return what an action such as `lock.unlock` is for a person."""
    domain, _, service = action.partition(".")
    if action in _DEEDS:
        return _DEEDS[action]
    if domain in _OPENING and service.startswith(("open_", "set_")):
        return ActionKind.OPEN
    if domain in _OPENING and service.startswith("close_"):
        return ActionKind.CLOSE
    if domain in _OPENING and service.startswith("toggle"):
        return ActionKind.OPEN_OR_CLOSE
    if domain == "alarm_control_panel" and service.startswith("alarm_arm"):
        return ActionKind.ARM
    if service.startswith(_CHANGING):
        return ActionKind.CHANGE
    return _DEEDS_OF_SERVICES.get(service, ActionKind.USE)


@callback
def summarize_calls(hass: HomeAssistant, calls: Iterable[AskedCall]) -> ActionSummary:
    """Put together what the calls of a question would do.

    What decided that a call is asked about is named; of what is allowed besides, only the script, scene or automation
    that it would come from.
    """
    found = _Found()
    for call in calls:
        found.add(call)
    deeds = {deed: _without_groups(hass, entity_ids) for deed, entity_ids in found.deeds.items()}
    kept = sorted(deeds, key=list(ActionKind).index)[:_MOST_DEEDS]
    return ActionSummary(
        {deed: entity_ids for deed, entity_ids in deeds.items() if deed in kept},
        tuple(found.tools),
        has_more=found.more or len(deeds) > len(kept),
        is_unclear=found.unclear,
    )


@dataclass(slots=True)
class _Found:
    named: dict[ActionKind, dict[str, None]] = field(default_factory=dict)
    tools: dict[str, None] = field(default_factory=dict)
    more: bool = False
    unclear: bool = False

    @property
    def deeds(self) -> Mapping[ActionKind, Sequence[str]]:
        """What is done to which entities; what is changed and also opened is opened."""
        plain = {entity_id for deed, ids in self.named.items() if deed not in _VAGUE for entity_id in ids}
        kept = {
            deed: [entity_id for entity_id in ids if deed not in _VAGUE or entity_id not in plain]
            for deed, ids in self.named.items()
        }
        return {deed: ids for deed, ids in kept.items() if ids}

    def add(self, call: AskedCall) -> None:
        """Add what a call would do."""
        if isinstance(call.effects, Annotated):
            self.tools[call.pending.call.name] = None
            return
        if isinstance(call.effects, Unresolved):
            self.unclear = True
            self.more |= any(unknown.source is None for unknown in call.effects.unknowns)
        asked = list(dict.fromkeys(_asked_about(call)))
        known = actions_of(call.effects)
        named = {action.entity_id for action in asked}
        besides = {action for action in known if action.entity_id not in named}
        origins = sorted(action for action in besides if kind_of(action.action) is ActionKind.RUN)
        if len(origins) != 1:
            belongs_to_one = any(kind_of(action.action) is ActionKind.RUN for action in asked)
            self.more |= not asked or (bool(besides) and not belongs_to_one)
            origins = []
        for action in (*origins, *asked):
            self.named.setdefault(kind_of(action.action), {})[action.entity_id] = None


def _asked_about(call: AskedCall) -> Iterator[EntityAction]:
    """Yield what a call is asked about: what the rules say of it, or all that it would do."""
    subjects: Iterable[EntityAction | Unknown | None] = [decision.subject for decision in call.judgement.decisions]
    if call.judgement.verdict is Verdict.ALLOW:
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
    """Leave out groups whose members are named, or the members where they are too many to be listened to."""
    named = set(entity_ids)
    members = {group: members_of(hass, group) & named for group in groups_among(hass, entity_ids)}
    single = [entity_id for entity_id in entity_ids if not members.get(entity_id)]
    if len(single) <= _MOST_MEMBERS:
        return tuple(single)
    inside = frozenset[str]().union(*members.values())
    return tuple(entity_id for entity_id in entity_ids if entity_id not in inside)
