"""Changes of the rules of the home on the page: a choice for one device, a new list of rules, the PIN.

Nothing is taken that would not have the effect that it says: a rule behind one that
hides it, a PIN that nothing needs.
"""

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Final

from homeassistant.const import ATTR_DEVICE_CLASS
from homeassistant.core import HomeAssistant

from ..agent.messages import JsonValue
from ..approvals.examples import judge_all_actions
from ..settings.rules import (
    DEFAULT_RULES,
    HomeRules,
    Policy,
    PolicyError,
    Rule,
    RuleRefused,
    Verdict,
    pin_rules,
    pin_uses,
    policy_from_json,
    with_pin_uses,
    without_effect,
)

_WITH_A_YES: Final = (Verdict.ASK, Verdict.PIN)


def chosen_verdict(
    hass: HomeAssistant, rules: Sequence[Rule], entity_id: str
) -> Verdict | None:
    """Return the verdict of the rule that was chosen for an entity alone; None if there is none."""
    return next(
        (rule.verdict for rule in rules if _is_choice(hass, rule, entity_id)), None
    )


def with_choice(
    hass: HomeAssistant, policy: Policy, entity_id: str, verdict: Verdict | None
) -> Policy:
    """Return rules by which an entity has a verdict, or has that of the other rules.

    A yes is asked for what lets somebody in, as by the default rules, unless other
    rules hold more. The new rule comes before those that would decide in its place, and
    after those for some people, places, times or tools.
    """
    others = [rule for rule in policy.rules if not _is_choice(hass, rule, entity_id)]
    if verdict is None:
        return replace(policy, rules=tuple(others))
    concerned = [_concerns(hass, rule, entity_id) for rule in others]
    place = next(
        (at for at, rule in enumerate(others) if concerned[at] and _is_general(rule)),
        len(others),
    )
    for number, rule in enumerate(others[place:], start=place):
        if (
            concerned[number]
            and not _is_general(rule)
            and rule.verdict.strictness > verdict.strictness
        ):
            raise RuleRefused("rule_in_the_way", rule=str(number + 1))
    narrow = Rule(
        verdict=verdict,
        entities=frozenset({entity_id}),
        actions=_opening(
            hass,
            entity_id,
            verdict,
        ),
    )
    general = [rule for rule in others[place:] if _is_general(rule)]
    is_enough = (
        judge_all_actions(
            hass, replace(policy, rules=(narrow, *general)), entity_id
        ).verdict
        is verdict
    )
    if is_enough:
        rule = narrow
    else:
        rule = replace(narrow, actions=frozenset())
    return replace(
        policy,
        rules=(*others[:place], rule, *others[place:]),
    )


def _is_general(rule: Rule) -> bool:
    """Return whether a rule holds for everybody, everywhere, always and for all tools."""
    return rule == rule.for_everybody and not rule.tools


def _is_choice(
    hass: HomeAssistant,
    rule: Rule,
    entity_id: str,
) -> bool:
    only = Rule(
        verdict=rule.verdict,
        entities=frozenset({entity_id}),
    )
    return rule in (
        only,
        replace(only, actions=_opening(hass, entity_id, rule.verdict)),
    )


def _opening(
    hass: HomeAssistant,
    entity_id: str,
    verdict: Verdict,
) -> frozenset[str]:
    """Return the actions on an entity that the default rules hold, for a verdict that asks; empty for all."""
    domain = entity_id.partition(".")[0]
    state = hass.states.get(entity_id)
    device_class = state and state.attributes.get(ATTR_DEVICE_CLASS)
    fitting = (
        rule.actions
        for rule in DEFAULT_RULES
        if domain in rule.domains
        and (not rule.device_classes or device_class in rule.device_classes)
    )
    if verdict in _WITH_A_YES:
        return next(fitting, frozenset())
    return frozenset()


def _concerns(
    hass: HomeAssistant,
    rule: Rule,
    entity_id: str,
) -> bool:
    """Return whether a rule may be about an entity, whoever speaks, where and when."""
    bare = replace(
        rule.for_everybody,
        tools=frozenset(),
        verdict=Verdict.DENY,
    )
    return judge_all_actions(hass, Policy((bare,)), entity_id).verdict is Verdict.DENY


def rules_from_json(
    stored: Sequence[JsonValue],
    *,
    has_pin: bool,
) -> tuple[Rule, ...]:
    """Read a new list of rules. Raises `RuleRefused` for one that is not valid, or not effective."""
    rules: list[Rule] = []
    for number, one in enumerate(stored, start=1):
        try:
            rules += policy_from_json([one]).rules
        except PolicyError as error:
            raise RuleRefused(
                "rule_value_unknown", rule=str(number), value=error.value[:100]
            ) from None
    check_rules(rules, has_pin=has_pin)
    return tuple(rules)


def check_rules(
    rules: Sequence[Rule],
    *,
    has_pin: bool,
) -> None:
    """Raise `RuleRefused` for rules that do not have the effect that they say."""
    for number, rule in enumerate(rules, start=1):
        if rule.is_for_the_rest and number < len(rules):
            raise RuleRefused("rule_hides_others", rule=str(number))
        if rule.verdict is Verdict.PIN and not has_pin:
            raise RuleRefused("pin_needed", rule=str(number))
    for use in pin_uses(rules):
        needed = pin_rules([use])
        before = rules[: min(rules.index(rule) for rule in needed)]
        place = without_effect(before, [use])
        if place is not None:
            raise RuleRefused("pin_not_needed", rule=str(place))


def with_pin(
    rules: HomeRules,
    uses: Collection[str],
) -> HomeRules:
    """Return rules of the home by which some uses need its PIN. Raises `RuleRefused` if the PIN would do nothing."""
    ticked = pin_uses(rules.policy.rules)
    changed = rules.policy.rules
    if {*ticked} != {*uses} or rules.pin is None:
        others = [rule for rule in changed if rule not in pin_rules(ticked)]
        if rules.pin:
            changed = with_pin_uses(others, uses)
        else:
            changed = tuple(others)
    check_rules(changed, has_pin=rules.pin is not None)
    if rules.pin and all(rule.verdict is not Verdict.PIN for rule in changed):
        raise RuleRefused("pin_for_nothing")
    return replace(
        rules,
        policy=replace(rules.policy, rules=changed),
    )
