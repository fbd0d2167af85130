"""Applies rules to the effects of a call, which is allowed, needs approval or the PIN, or is denied.

Of what a model writes, rules see only the name of an offered tool and the entities that
the call was resolved to.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import Enum, auto
from itertools import product
from math import inf
from operator import attrgetter
from types import MappingProxyType
from typing import Final, assert_never

from homeassistant.components.conversation.const import (
    DOMAIN as CONVERSATION,
    SERVICE_PROCESS,
)
from homeassistant.const import ATTR_DEVICE_CLASS, UnitOfTemperature
from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers import (
    area_registry as ar,
    device_registry as dr,
    entity_registry as er,
    intent,
)
from homeassistant.util.unit_conversion import TemperatureDeltaConverter

from ..agent.messages import ToolAnnotations
from ..agent.text import read_data_file
from ..effects.effect import (
    ANY_ACTION,
    ARM_FOR_LESS,
    DISARM,
    SET_TEMPERATURE,
    CallEffects,
    Effects,
    EntityAction,
    IntentRun,
    Unknown,
    UnknownReason,
)
from ..effects.intents import entities_read
from ..home.entity_matches import areas_of_entities
from ..people.guests import GUEST_MODE, GUEST_MODE_ON, guest_switch
from ..people.speakers import Speaker
from ..settings.rules import NEVER_WHERE_PEOPLE_WERE, Policy, Rule, Verdict
from ..settings.tool_names import (
    SENTENCE_TOOL,
    have_same_origin,
    is_tool_of_intent,
)

_LISTED: Final = read_data_file(__file__, dict[str, frozenset[str]])
_SAYS: Final = f"{CONVERSATION}.{SERVICE_PROCESS}"


@dataclass(frozen=True, slots=True)
class Decision:
    """The verdict on one effect of a call."""

    subject: EntityAction | Unknown | None
    """None for a call that acts on no entity."""
    verdict: Verdict
    rule: Rule | None
    """The rule that decided; None if the annotations of the tool did."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """The verdict on a call: the strictest on any of its effects."""

    verdict: Verdict
    decisions: tuple[Decision, ...]
    """The decisions with that verdict, sorted, unknown effects last; none for an allowed call."""


def judge(  # noqa: PLR0913, PLR0917  # each of these alone changes the verdict
    hass: HomeAssistant,
    policy: Policy,
    call: CallEffects,
    speaker: Speaker,
    now: datetime,
    guest_rules: Sequence[Rule] = (),
) -> Judgement:
    """Judge a call by all its effects, also as calls of the tools that rules name and that would do the same.

    `now` is in local time. A call of a guest has to pass the rules for guests as well.
    """
    decisions = dict.fromkeys(_on_guest_mode(hass, call.effects))
    if guest_rules:
        decisions |= dict.fromkeys(_of_guest(hass, guest_rules, call))
    # Guests do not have what one person may who is chosen for a satellite.
    if guest_rules:
        speakers = {speaker, replace(speaker, user_id=None)}
    else:
        speakers = {speaker}
    for one, who in product((call, *_equal_calls(hass, policy, call)), speakers):
        applicable = _applicable(policy, one, who, now)
        if [rule for rule in applicable if rule.areas or rule.labels]:
            area_ids = areas_of_entities(hass)
        else:
            area_ids = {}
        for rules in _possible(applicable, one):
            decisions |= dict.fromkeys(
                _Judge(hass, rules, area_ids).decisions(one.effects)
            )
    verdict = max(
        (decision.verdict for decision in decisions),
        key=lambda one: one.strictness,
        default=Verdict.ALLOW,
    )
    deciding = [
        decision
        for decision in decisions
        if decision.verdict is verdict is not Verdict.ALLOW
    ]
    return Judgement(
        verdict,
        tuple(sorted(deciding, key=_place)),
    )


NEVER_ENDED: Final = Rule(
    verdict=Verdict.DENY, entities=frozenset({f"switch.{GUEST_MODE}"})
)
"""Guest mode is ended by people, never by an agent."""


def _on_guest_mode(
    hass: HomeAssistant,
    effects: Effects,
) -> Iterator[Decision]:
    """Yield the decisions on all that may end guest mode."""
    switch = guest_switch(hass)
    if switch is None:
        return
    for one in effects.possible_actions or effects.actions:
        if one.entity_id == switch and one.action != GUEST_MODE_ON:
            yield Decision(
                one,
                Verdict.DENY,
                NEVER_ENDED,
            )


def _of_guest(
    hass: HomeAssistant, guest_rules: Sequence[Rule], call: CallEffects
) -> Iterator[Decision]:
    """Yield the decisions on a call of a guest.

    What acts on entities is judged by them, what reads by those that it reads, and
    everything else by its name. A sentence in which Home Assistant understands nothing
    does nothing.
    """
    area_ids = areas_of_entities(hass)
    runs = call.effects.intents
    named = replace(call.effects, annotations=None)
    parts = [CallEffects(one.intent_type, one.effects) for one in runs]
    for number, run in enumerate(runs):
        reads = [
            EntityAction(one, "homeassistant.get_state")
            for one in entities_read(hass, run)
        ]
        if reads:
            parts[number] = CallEffects(
                run.intent_type,
                Effects(frozenset(reads)),
            )
    if not runs and call.tool != SENTENCE_TOOL:
        parts.append(call)
    elif named.unknowns or named.actions:
        parts.append(replace(call, effects=named))
    for part in parts:
        fitting = [
            rule
            for rule in guest_rules
            if not rule.tools
            or any(is_tool_of_intent(part.tool, name) for name in rule.tools)
        ]
        yield from _Judge(hass, fitting, area_ids).decisions(part.effects)


def _equal_calls(
    hass: HomeAssistant, policy: Policy, call: CallEffects
) -> Iterator[CallEffects]:
    """Yield calls of tools that rules name, which would do what a call does under another name.

    A sentence runs intents, which are tools as well, and so are scripts. Rules may tell
    two tools of one intent apart.
    """
    named = sorted({name for rule in policy.rules for name in rule.tools} - {call.tool})
    if not named:
        return
    is_named = any(call.tool in rule.tools for rule in policy.rules)
    runs = [*call.effects.intents, *_sentences_in(call.effects)]
    scripts = {
        one.entity_id
        for one in call.effects.actions
        if one.action in _LISTED["running_scripts"]
    }
    for name in named:
        if name.replace("__", ".") in scripts:
            yield replace(call, tool=name)
        for intent_type, effects, _ in runs:
            is_itself = is_named and is_tool_of_intent(call.tool, intent_type)
            if not is_itself and (
                is_tool_of_intent(name, intent_type)
                if intent_type
                else is_of_intent(hass, name)
            ):
                yield CallEffects(
                    name,
                    effects,
                    call.level,
                )


def _sentences_in(effects: Effects) -> Iterator[IntentRun]:
    """Yield what a step of a script says to Home Assistant, which may be any intent."""
    for unknown in effects.unknowns:
        if unknown.action == _SAYS:
            yield IntentRun(
                "",
                Effects(unknowns=frozenset({unknown})),
            )


def is_of_intent(hass: HomeAssistant, tool: str) -> bool:
    """Return whether a tool of this name may be that of an intent."""
    return any(
        is_tool_of_intent(tool, handler.intent_type)
        for handler in intent.async_get(hass)
    )


_STRICTNESS: Final = attrgetter("verdict.strictness")
"""Of a rule or a decision."""


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


def _applicable(
    policy: Policy,
    call: CallEffects,
    speaker: Speaker,
    now: datetime,
) -> Sequence[Rule]:
    """Return the rules whose conditions on tool, speaker and time are met, or may be if a rule does not allow."""
    tool = call.tool
    is_named = any(tool in rule.tools for rule in policy.rules)
    applicable: list[Rule] = []
    for rule in policy.rules_for(call.level):
        if (
            rule.tools
            and tool not in rule.tools
            and (is_named or not _is_renamed(tool, rule))
        ):
            continue
        if rule.users and speaker.user_id not in rule.users:
            continue
        if rule.devices and speaker.sure_device_id not in rule.devices:
            continue
        if rule.window is None or rule.window.holds(now.time()):
            applicable.append(rule)
    return applicable


def _possible(
    applicable: Sequence[Rule], call: CallEffects
) -> Iterator[Sequence[Rule]]:
    """Yield the rules that surely apply, alone and with each one that may: the strictest decides, and none hides it."""
    doubtful = [
        rule for rule in applicable if rule.tools and call.tool not in rule.tools
    ]
    for chosen in (None, *doubtful):
        yield [rule for rule in applicable if rule is chosen or rule not in doubtful]


def _is_renamed(tool: str, rule: Rule) -> bool:
    """Return whether a rule that is not `ALLOW` names a tool that has been renamed since.

    Without this, a server could disable the rule by offering another tool with the same
    name.
    """
    return rule.verdict is not Verdict.ALLOW and any(
        have_same_origin(tool, name) for name in rule.tools
    )


class _Fit(Enum):
    """Whether a rule matches an effect."""

    NO = auto()
    MAYBE = auto()
    """The unknown part of the effect may match."""
    YES = auto()


@dataclass(frozen=True, slots=True)
class _Judge:
    """Judges the effects of one call."""

    hass: HomeAssistant
    rules: Sequence[Rule]
    area_ids: Mapping[str, str | None]
    """By entity ID; empty unless a rule has areas or labels."""

    def decisions(self, effects: Effects) -> Iterator[Decision]:
        """Yield the decisions on all effects that a rule is about, or that are not allowed."""
        if effects.annotations:
            yield self._of_call(_by_annotations(effects.annotations))
        elif not (effects.actions or effects.unknowns):
            yield self._of_call(Verdict.ALLOW)
        yield from self._of_actions(effects.actions)
        yield from map(self._of_unknown, effects.unknowns)

    def _of_call(self, otherwise: Verdict) -> Decision:
        rule = next(
            (rule for rule in self.rules if not rule.is_about_entities),
            None,
        )
        return Decision(
            None,
            rule.verdict if rule else otherwise,
            rule,
        )

    def _of_actions(self, actions: Iterable[EntityAction]) -> Iterator[Decision]:
        """Judge actions of one kind together, since a call for the whole home has thousands."""
        alike: dict[tuple[str, str], list[EntityAction]] = defaultdict(list)
        for action in actions:
            alike[action.domain, action.action].append(action)
        for (domain, name), those in alike.items():
            yield from self._of_kind(
                domain,
                name,
                those,
            )

    def _of_kind(
        self,
        domain: str,
        name: str,
        waiting: list[EntityAction],
    ) -> Iterator[Decision]:
        """Apply the first rule that surely matches each action, or a stricter one before it that may match."""
        suspected: dict[EntityAction, Rule] = {}
        for rule in self.rules:
            fit = _fit_of_kind(
                rule,
                domain,
                name,
            )
            if fit is _Fit.NO:
                continue
            fitting = self._fitting(waiting, rule)
            for action in fitting:
                suspected[action] = max(
                    suspected.get(action, rule), rule, key=_STRICTNESS
                )
            if fit is _Fit.YES and fitting:
                done = set(fitting)
                waiting = [action for action in waiting if action not in done]
        for action, rule in suspected.items():
            yield Decision(
                action,
                rule.verdict,
                rule,
            )

    def _of_unknown(self, unknown: Unknown) -> Decision:
        """Assume the worst: any rule up to the first that surely matches may apply.

        If none surely matches, approval is needed at least, because `DEFAULT_RULES` are
        among them. Nothing is worse than the worst that is within reach.
        """
        suspects: list[Rule] = []
        for rule in self.rules:
            if rule == NEVER_WHERE_PEOPLE_WERE:
                # telling the past is no unknown effect: one tool does, and says of whom
                continue
            suspects.append(rule)
            if self._surely_fits(unknown.source, rule):
                break
        strictest = max(suspects, key=_STRICTNESS)
        decision = Decision(
            unknown,
            strictest.verdict,
            strictest,
        )
        if unknown.reach is None:
            return decision
        within = max(
            self._of_actions(unknown.reach),
            key=_STRICTNESS,
            default=Decision(None, Verdict.ALLOW, None),
        )
        within = replace(within, subject=unknown)
        # A step can be read but for its target, so the trust in a script does not count
        # for it.
        if unknown.reason is UnknownReason.TEMPLATE:
            return within
        return min(decision, within, key=_STRICTNESS)

    def _surely_fits(
        self,
        source: EntityAction | None,
        rule: Rule,
    ) -> bool:
        if not rule.is_about_entities:
            return True
        if (
            source is None
            or _fit_of_kind(rule, source.domain, source.action) is not _Fit.YES
        ):
            return False
        return bool(self._fitting([source], rule))

    def _fitting(
        self,
        actions: list[EntityAction],
        rule: Rule,
    ) -> list[EntityAction]:
        """Return the actions on entities that match a rule."""
        if rule.entities:
            actions = [
                action for action in actions if action.entity_id in rule.entities
            ]
        if rule.areas:
            actions = [
                action
                for action in actions
                if self.area_ids.get(action.entity_id) in rule.areas
            ]
        if rule.device_classes:
            actions = [
                action
                for action in actions
                if _device_class(self.hass, action.entity_id) in rule.device_classes
            ]
        if rule.labels:
            actions = [
                action
                for action in actions
                if not rule.labels.isdisjoint(self._labels(action.entity_id))
            ]
        return actions

    def _labels(self, entity_id: str) -> frozenset[str]:
        """Return the labels of an entity, its device, the parents of that device, and its area."""
        entry = er.async_get(self.hass).async_get(entity_id)
        devices = dr.async_get(self.hass)
        found = set(entry.labels if entry else ())
        device = devices.async_get((entry and entry.device_id) or "")
        while device:
            found |= device.labels
            if isinstance(device, dr.ChildDeviceEntry):
                device = devices.async_get(device.parent_device_id)
            else:
                device = None
        area_id = self.area_ids.get(entity_id)
        area = ar.async_get(self.hass).async_get_area(area_id or "")
        return frozenset(found | area.labels if area else found)


def _device_class(
    hass: HomeAssistant,
    entity_id: str,
) -> str | None:
    """Return the device class that the user has chosen, else that of the state, else the original one."""
    entry = er.async_get(hass).async_get(entity_id)
    state = hass.states.get(entity_id)
    if entry and entry.device_class:
        return entry.device_class
    if state and (device_class := state.attributes.get(ATTR_DEVICE_CLASS)):
        return str(device_class)
    return entry.original_device_class if entry else None


def _fit_of_kind(
    rule: Rule,
    domain: str,
    action: str,
) -> _Fit:
    """Return whether a rule matches an action on entities of a domain."""
    if rule.domains and domain not in rule.domains:
        return _Fit.NO
    if (
        not rule.actions
        or action in rule.actions
        or (action == ARM_FOR_LESS and DISARM in rule.actions)
    ):
        return _Fit.YES
    of, _, service = action.partition(".")
    if (
        rule != NEVER_WHERE_PEOPLE_WERE
        and service == ANY_ACTION
        and any(name.startswith(f"{of}.") for name in rule.actions)
    ):
        return _Fit.MAYBE
    return _Fit.NO


_LARGE_STEP: Final = 3.0
"""Kelvin."""

type Temperatures = Mapping[tuple[str, str], float]
"""Target temperatures, by entity id and attribute."""


def is_risky(
    hass: HomeAssistant, effects: Effects, before: Temperatures = MappingProxyType({})
) -> bool:
    """Return whether a call does more than people do every day, or whether that cannot be foreseen.

    This is a list of what is not risky: everything else lets somebody in, guards the
    home, heats or cools a lot, sends words out of it, lets somebody outside speak in
    it, costs money, or is not known. Temperatures are compared with the present ones
    and with those `before`.
    """
    annotations = effects.annotations
    if annotations and annotations.read_only:
        return False
    if annotations and (annotations.destructive or annotations.open_world):
        return True
    actions = effects.possible_actions
    return actions is None or not all(
        _is_everyday(hass, action, before) for action in actions
    )


def target_temperatures(
    hass: HomeAssistant, actions: Iterable[EntityAction]
) -> Temperatures:
    """Return the present values of the target temperatures that actions set."""
    present: dict[tuple[str, str], float] = {}
    for action in actions:
        state = hass.states.get(action.entity_id)
        for name, _ in action.settings if action.action in SET_TEMPERATURE else ():
            value = state and state.attributes.get(name)
            present[action.entity_id, name] = (
                value if isinstance(value, int | float) else inf
            )
    return present


def _goes_far(
    hass: HomeAssistant,
    action: EntityAction,
    before: Temperatures,
) -> bool:
    """Return whether an action moves a temperature far, or sets what nobody can foresee."""
    if not action.settings:
        return action.action in SET_TEMPERATURE
    unit = hass.config.units.temperature_unit
    most = TemperatureDeltaConverter.convert(
        _LARGE_STEP, UnitOfTemperature.CELSIUS, unit
    )
    present = target_temperatures(hass, (action,))
    for name, value in action.settings:
        key = action.entity_id, name
        starts = [known[key] for known in (present, before) if key in known]
        if not starts or not all(abs(value - start) <= most for start in starts):
            return True
    return False


def _is_everyday(
    hass: HomeAssistant, action: EntityAction, before: Temperatures
) -> bool:
    if _goes_far(hass, action, before):
        return False
    if action.action in SET_TEMPERATURE or action.action in _LISTED["everyday_actions"]:
        return True
    if action.domain == "cover":
        return _device_class(hass, action.entity_id) in _LISTED["everyday_covers"]
    return action.domain in _LISTED["everyday_domains"]


@callback
def lets_in(hass: HomeAssistant, effects: Effects) -> bool:
    """Return whether one of the known effects opens what may be a door, a gate or a valve."""
    return any(
        one.action in _LISTED["opening"]
        and not _is_everyday(
            hass,
            one,
            {},
        )
        for one in effects.actions
    )


type ActionKey = tuple[Rule | None, EntityAction, str | None]
"""The rule that decided, an action on a domain in place of an entity, and the device class."""


def action_keys(
    hass: HomeAssistant, effects: Effects, decisions: Iterable[Decision]
) -> frozenset[ActionKey]:
    """Return what the effects are: the same for the same actions on the same kinds of entity, by the same rules.

    Empty if an action does not say all that is done.
    """
    rules = {decision.subject: decision.rule for decision in decisions}
    actions = effects.actions
    if any(action.action not in _LISTED["alike"] for action in actions):
        return frozenset()
    return frozenset(
        (
            rules.get(action),
            EntityAction(action.domain, action.action),
            _device_class(hass, action.entity_id),
        )
        for action in actions
    )


def _by_annotations(annotations: ToolAnnotations) -> Verdict:
    """Judge a tool that acts on no entity: it needs approval if it may do harm in the outside world."""
    if annotations.read_only or not (
        annotations.destructive and annotations.open_world
    ):
        return Verdict.ALLOW
    return Verdict.ASK
