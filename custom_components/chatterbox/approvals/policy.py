"""Which calls need a yes: the rules of a household, applied to what a call would do.

Knows rules, effects and Home Assistant's registries, which it only reads. Must not know how a call was resolved, nor
how somebody is asked. Nothing that a model writes reaches a rule but the name of an offered tool, and the entities
that the call was resolved to.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import Enum, auto
from typing import Final, assert_never

from homeassistant.const import ATTR_DEVICE_CLASS
from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers import area_registry as ar, device_registry as dr, entity_registry as er

from ..agent.messages import ToolAnnotations
from ..effects.actions import ANY_ACTION
from ..effects.effect import Annotated, CallEffects, EntityAction, Touches, Unknown, Unresolved
from ..home.entity_matches import areas_of_entities
from ..people.speakers import Speaker
from ..settings.rules import DEFAULT_RULES, Policy, Rule, Verdict
from ..settings.tool_names import have_same_origin


@dataclass(frozen=True, slots=True)
class Decision:
    """The verdict on one thing that a call would do."""

    subject: EntityAction | Unknown | None
    """None for a call that changes no entity."""
    verdict: Verdict
    rule: Rule | None
    """What decided; None when no rule did, but what kind of thing it is."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """The verdict on a call: the strictest on anything that it would do."""

    verdict: Verdict
    decisions: tuple[Decision, ...]
    """Those with that verdict, by entity and action, and what is unknown last; none for a call that is allowed."""


_ALLOWED: Final = Judgement(Verdict.ALLOW, ())


@callback
def judge(hass: HomeAssistant, policy: Policy, call: CallEffects, speaker: Speaker, now: datetime) -> Judgement:
    """Judge a call by all that it would do. `now` is in local time."""
    rules = _applicable(policy, call.tool, speaker, now)
    area_ids = areas_of_entities(hass) if [rule for rule in rules if rule.areas or rule.labels] else {}
    decisions = list(_Judge(hass, rules, area_ids).decisions(call))
    if not decisions:
        return _ALLOWED
    verdict = max((decision.verdict for decision in decisions), key=_strictness)
    deciding = [decision for decision in decisions if decision.verdict is verdict]
    return Judgement(verdict, tuple(sorted(deciding, key=_place)))


def _strictness(verdict: Verdict) -> int:
    return verdict.strictness


def _place(decision: Decision) -> tuple[str, str, str]:
    match decision.subject:
        case EntityAction(entity_id, action):
            return "", entity_id, action
        case Unknown(reason, source):
            return "unknown", source.entity_id if source else "", reason.value
        case None:
            return "", "", ""
        case _ as unreachable:
            assert_never(unreachable)


def _applicable(policy: Policy, tool: str, speaker: Speaker, now: datetime) -> Sequence[Rule]:
    """Return the rules that may say something, whatever the call would do."""
    is_named = any(tool in rule.tools for rule in policy.rules)
    applicable: list[Rule] = []
    for rule in (*policy.rules, *DEFAULT_RULES):
        if rule.tools and tool not in rule.tools and (is_named or not _is_renamed(tool, rule)):
            continue
        if rule.users and speaker.user_id not in rule.users:
            continue
        if rule.devices and speaker.sure_device_id not in rule.devices:
            continue
        if rule.window is None or rule.window.holds(now.time()):
            applicable.append(rule)
    return applicable


def _is_renamed(tool: str, rule: Rule) -> bool:
    """Tell whether a rule is about a tool that has got another name since, and lets nothing through.

    Otherwise a server could do away with the rule by offering a tool of the same name.
    """
    return rule.verdict is not Verdict.ALLOW and any(have_same_origin(tool, name) for name in rule.tools)


class _Fit(Enum):
    """How a rule fits what a call would do."""

    NO = auto()
    MAYBE = auto()
    """What is unknown may be just what it is about."""
    YES = auto()


@dataclass(frozen=True, slots=True)
class _Judge:
    """Judges what one call would do, by the rules that apply to the call."""

    hass: HomeAssistant
    rules: Sequence[Rule]
    area_ids: Mapping[str, str | None]
    """By entity id; needed only where a rule is about areas or labels."""

    def decisions(self, call: CallEffects) -> Iterator[Decision]:
        """Yield what is decided of each thing that a call would do, but for what is allowed."""
        match call.effects:
            case Annotated(annotations):
                yield from self._of_call(_by_annotations(annotations))
            case Touches(actions) if not actions:
                yield from self._of_call(Verdict.ALLOW)
            case Touches(actions):
                yield from self._of_actions(actions)
            case Unresolved(unknowns, actions):
                yield from self._of_actions(actions)
                for unknown in unknowns:
                    yield from self._of_unknown(unknown)
            case _ as unreachable:
                assert_never(unreachable)

    def _of_call(self, otherwise: Verdict) -> Iterator[Decision]:
        rule = next((rule for rule in self.rules if not rule.is_about_entities), None)
        yield from _unless_allowed(None, rule.verdict if rule else otherwise, rule)

    def _of_actions(self, actions: Iterable[EntityAction]) -> Iterator[Decision]:
        """Judge actions of one kind together: a call for the whole house has thousands."""
        alike: dict[tuple[str, str], list[EntityAction]] = defaultdict(list)
        for action in actions:
            entity_id, name = action
            alike[entity_id.partition(".")[0], name].append(action)
        for (domain, name), those in alike.items():
            yield from self._of_kind(domain, name, those)

    def _of_kind(self, domain: str, name: str, waiting: list[EntityAction]) -> Iterator[Decision]:
        """Take for each action the first rule that surely fits, or a stricter one before it that may fit."""
        suspected: dict[EntityAction, Rule] = {}
        for rule in self.rules:
            fit = _fit_of_kind(rule, domain, name)
            fitting = self._fitting(waiting, rule) if fit is not _Fit.NO else []
            for action in fitting:
                suspected[action] = _stricter(suspected.get(action), rule)
            if fit is _Fit.YES and fitting:
                done = set(fitting)
                waiting = [action for action in waiting if action not in done]
        for action, rule in suspected.items():
            yield from _unless_allowed(action, rule.verdict, rule)

    def _of_unknown(self, unknown: Unknown) -> Iterator[Decision]:
        """Judge as if it were the worst that it could be: any rule up to one that surely fits may be about it.

        So it is at least asked about when none surely fits, because `DEFAULT_RULES` are among them.
        """
        suspects: list[Rule] = []
        for rule in self.rules:
            suspects.append(rule)
            if self._surely_fits(unknown.source, rule):
                break
        strictest = max(suspects, key=lambda rule: rule.verdict.strictness)
        yield from _unless_allowed(unknown, strictest.verdict, strictest)

    def _surely_fits(self, source: EntityAction | None, rule: Rule) -> bool:
        if not rule.is_about_entities:
            return True
        if source is None or _fit_of_kind(rule, source.domain, source.action) is not _Fit.YES:
            return False
        return bool(self._fitting([source], rule))

    def _fitting(self, actions: list[EntityAction], rule: Rule) -> list[EntityAction]:
        """Return the actions on entities that a rule is about."""
        if rule.entities:
            actions = [action for action in actions if action.entity_id in rule.entities]
        if rule.areas:
            actions = [action for action in actions if self.area_ids.get(action.entity_id) in rule.areas]
        if rule.device_classes:
            actions = [
                action for action in actions if _device_class(self.hass, action.entity_id) in rule.device_classes
            ]
        if rule.labels:
            actions = [action for action in actions if not rule.labels.isdisjoint(self._labels(action.entity_id))]
        return actions

    def _labels(self, entity_id: str) -> frozenset[str]:
        """Return those of an entity, of its device, of the device that this is part of, and of its area."""
        entry, devices = er.async_get(self.hass).async_get(entity_id), dr.async_get(self.hass)
        found = set(entry.labels) if entry else set[str]()
        device = devices.async_get(entry.device_id) if entry and entry.device_id else None
        while device:
            found |= device.labels
            device = devices.async_get(device.parent_device_id) if isinstance(device, dr.ChildDeviceEntry) else None
        area_id = self.area_ids.get(entity_id)
        if area_id and (area := ar.async_get(self.hass).async_get_area(area_id)):
            found |= area.labels
        return frozenset(found)


def _device_class(hass: HomeAssistant, entity_id: str) -> str | None:
    """Return the one that a person has chosen, else the one that the state shows, else the original one."""
    entry, state = er.async_get(hass).async_get(entity_id), hass.states.get(entity_id)
    if entry and entry.device_class:
        return entry.device_class
    if state and (shown := state.attributes.get(ATTR_DEVICE_CLASS)):
        return str(shown)
    return entry.original_device_class if entry else None


def _fit_of_kind(rule: Rule, domain: str, action: str) -> _Fit:
    """Tell how a rule fits an action on entities of a domain, whichever they are."""
    if rule.domains and domain not in rule.domains:
        return _Fit.NO
    if not rule.actions or action in rule.actions:
        return _Fit.YES
    of, _, service = action.partition(".")
    if service == ANY_ACTION and any(name.startswith(f"{of}.") for name in rule.actions):
        return _Fit.MAYBE
    return _Fit.NO


def _stricter(one: Rule | None, other: Rule) -> Rule:
    return other if one is None or other.verdict.strictness > one.verdict.strictness else one


def _unless_allowed(subject: EntityAction | Unknown | None, verdict: Verdict, rule: Rule | None) -> Iterator[Decision]:
    if verdict is not Verdict.ALLOW:
        yield Decision(subject, verdict, rule)


def _by_annotations(annotations: ToolAnnotations) -> Verdict:
    """Judge a tool that acts on no entity: it is asked about when it may do harm somewhere in the world."""
    if annotations.read_only or not (annotations.destructive and annotations.open_world):
        return Verdict.ALLOW
    return Verdict.ASK
