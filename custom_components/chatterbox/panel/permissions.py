"""Permissions on the page: the verdict on each exposed entity, the rules of the home, the PIN, and sentences to try.

Only administrators see and change it. A PIN arrives in a field that Home Assistant
keeps out of its logs.
"""

import asyncio
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from hashlib import sha256
from itertools import starmap
from typing import Final, Literal

import voluptuous as vol
from homeassistant.components.conversation import DOMAIN as CONVERSATION_DOMAIN
from homeassistant.const import SERVICE_RELOAD
from homeassistant.core import HomeAssistant, State, callback
from homeassistant.helpers import (
    area_registry as ar,
    config_validation as cv,
)
from homeassistant.helpers.dispatcher import async_dispatcher_connect
from homeassistant.helpers.translation import async_get_translations

from ..agent.messages import JsonValue, canonical_json
from ..agent.text import fold
from ..approvals.asking import actions_text
from ..approvals.examples import EntityVerdict, async_judge_entities
from ..approvals.policy import Decision
from ..const import DOMAIN
from ..effects.effect import Unknown
from ..home.entity_matches import (
    areas_of_entities,
    entity_name,
    exposed_states,
    tool_name,
)
from ..people.speakers import Asking, Speaker
from ..runtime.agents import async_entity_of
from ..runtime.rule_labels import (
    RuleLabels,
    async_action_names,
    async_get_rule_labels,
    async_tool_names,
)
from ..settings.pin_hash import PinHash, flaw_of_pin
from ..settings.rules import (
    DEFAULT_RULES,
    NEVER_WHERE_PEOPLE_WERE,
    SIGNAL_HOME_RULES,
    HomeRules,
    PinUse,
    Policy,
    Rule,
    RuleRefused,
    Verdict,
    async_get_home_rules,
    pin_rules,
    pin_uses,
    policy_to_json,
)
from ..speech.sentences import Sentences, async_get_sentences
from ..turns.dry_run import DryAsker, DryConversation, DryOutcome, DryResult
from .commands import (
    NO_FIELDS,
    NOT_FOUND,
    CommandData,
    CommandRefused,
    Viewer,
    async_register_command,
    text_field,
)
from .rule_changes import (
    check_rules,
    chosen_verdict,
    rules_from_json,
    with_choice,
    with_pin,
)
from .rule_text import RuleText, registered_names
from .turn_view import TurnViews

_MOST_ROWS: Final = 200
_MOST_RULES: Final = 200
_MOST_ACTIONS: Final = 4
_READS: Final = "get_"
"""The beginning of the names of actions that only read."""
_LONGEST: Final = 500
"""Characters of a sentence to try."""
_ERRORS: Final = f"component.{DOMAIN}.config_subentries.conversation.error."

_LANGUAGE: Final = {vol.Required("language"): text_field(35)}
_CHANGE: Final = {
    **_LANGUAGE,
    vol.Required("version"): str,
}
_VERDICT: Final = vol.All(
    vol.In([*Verdict]),
    vol.Coerce(Verdict),
)
_ROWS: Final = vol.Schema(
    {
        **_LANGUAGE,
        vol.Optional("search", default=""): text_field(200),
        vol.Optional("verdict"): _VERDICT,
        vol.Optional("area"): text_field(200),
        vol.Optional("offset", default=0): vol.All(
            int,
            vol.Range(0),
        ),
        vol.Optional("limit", default=50): vol.All(
            int,
            vol.Range(1, _MOST_ROWS),
        ),
    }
)
_CHOICE: Final = vol.Schema(
    {
        **_CHANGE,
        vol.Required("entity_id"): cv.strict_entity_id,
        vol.Required("verdict"): vol.Any(
            None,
            _VERDICT,
        ),
    }
)
_RULES: Final = vol.Schema(
    {
        **_CHANGE,
        vol.Required("rules"): vol.All(
            [dict],
            vol.Length(max=_MOST_RULES),
        ),
    }
)
_PIN: Final = vol.Schema(
    {
        **_CHANGE,
        vol.Optional("new_password"): object,
        vol.Required("uses"): [vol.In([*PinUse])],
    }
)
_TRIAL: Final = vol.Schema(
    {
        **_LANGUAGE,
        vol.Required("sentence"): text_field(_LONGEST, 1),
        vol.Required("agent"): str,
    }
)


def async_register_permissions(hass: HomeAssistant) -> None:
    """Register the commands of the view."""
    register = partial(async_register_command, hass)
    register("permissions/get", vol.Schema(_LANGUAGE), _async_permissions)
    register("permissions/subscribe", NO_FIELDS, _async_subscribe)
    register("permissions/tools", NO_FIELDS, _async_tools)
    register("permissions/devices", _ROWS, _async_devices)
    register("permissions/choose", _CHOICE, _async_choose)
    register("permissions/set_rules", _RULES, _async_set_rules)
    register("permissions/set_pin", _PIN, _async_set_pin)
    register("permissions/try", _TRIAL, _async_try)


@dataclass(frozen=True, slots=True)
class _Named:
    id: str
    name: str


@dataclass(frozen=True, slots=True)
class _WrittenRule:
    rule: JsonValue
    """As it is stored."""
    text: str
    is_of_pin: bool
    """Whether it is one of the rules for the uses of the PIN, which are chosen together."""


@dataclass(frozen=True, slots=True)
class _Permissions:
    """The rules of the home, without the PIN."""

    version: str
    """A change names the version that it is one of."""
    locked: bool
    """Whether the stored rules cannot be read, so that agents change nothing."""
    has_pin: bool
    pin_uses: list[PinUse]
    rules: list[_WrittenRule]
    defaults: list[_WrittenRule]
    """The rules that come after those of the home."""
    choices: Mapping[str, list[_Named]]
    """The names that a rule may have, by condition. Of entities and tools, only those that rules name."""
    fields: Mapping[str, str]
    """The names of the conditions."""


async def _async_permissions(
    viewer: Viewer,
    data: CommandData,
) -> _Permissions:
    """Return the rules of the home in plain words."""
    hass = viewer.hass
    store = async_get_home_rules(viewer.hass)
    rules = store.stored
    is_locked = store.current is not store.stored
    language = await viewer.async_language(data)
    every = Policy((*rules.policy.rules, *DEFAULT_RULES))
    labels = await async_get_rule_labels(
        hass,
        every,
        language,
        with_tools=False,
    )
    names = registered_names(hass, rules.policy)
    text = RuleText(hass, labels, names)

    uses = pin_uses(rules.policy.rules)
    of_pin = pin_rules(uses)

    def written(policy: Policy) -> list[_WrittenRule]:
        rows = zip(
            policy_to_json(policy),
            policy.rules,
            strict=True,
        )
        return [
            _WrittenRule(
                stored,
                text.of(rule),
                rule in of_pin,
            )
            for stored, rule in rows
        ]

    return _Permissions(
        version=_version(rules),
        locked=is_locked,
        has_pin=rules.pin is not None,
        pin_uses=uses,
        rules=written(rules.policy),
        defaults=written(Policy(DEFAULT_RULES)),
        choices=_offered(labels, rules.policy) | _named(names),
        fields=labels.fields,
    )


def _offered(
    labels: RuleLabels,
    policy: Policy,
) -> dict[str, list[_Named]]:
    """Return the names that any rule may have, by condition."""
    known = {
        "verdicts": labels.verdicts,
        **labels.of_conditions,
    }
    unnamed = NEVER_WHERE_PEOPLE_WERE.actions.difference(
        *(rule.actions for rule in policy.rules)
    )
    return {
        name: [_Named(key, text) for text, key in one.ids.items() if key not in unnamed]
        for name, one in known.items()
    }


def _named(
    names: Mapping[str, Mapping[str, str]],
) -> dict[str, list[_Named]]:
    """Return the names of what rules name, by condition."""
    return {
        condition: sorted(
            starmap(_Named, known.items()), key=lambda one: one.name.casefold()
        )
        for condition, known in names.items()
    }


async def _async_subscribe(
    viewer: Viewer,
    _data: CommandData,
) -> None:
    """Tell an administrator that the rules of the home have changed, wherever that was."""

    @callback
    def tell() -> None:
        if viewer.is_admin:
            viewer.send({})

    viewer.follow(async_dispatcher_connect(viewer.hass, SIGNAL_HOME_RULES, tell))


def _version(rules: HomeRules) -> str:
    content: JsonValue = [policy_to_json(rules.policy), rules.pin is not None]
    return sha256(canonical_json({"rules": content}).encode()).hexdigest()[:16]


async def _async_tools(
    viewer: Viewer,
    _data: CommandData,
) -> list[_Named]:
    """Return the tools of all agents, as a rule may name them. They have to be asked for, which may take seconds."""
    return [_Named(one, one) for one in sorted(await async_tool_names(viewer.hass))]


@dataclass(frozen=True, slots=True)
class _Device:
    """A row of the table."""

    entity_id: str
    name: str
    area: str
    verdict: Verdict
    actions: list[str]
    """The names of the first actions with the verdict; none if all are allowed, or if they are unknown."""
    more_actions: int
    why: Literal["nothing", "rule", "default", "source", "unknown"]
    rule: int | None
    """The number of the rule of the home that decided."""
    chosen: Verdict | None
    """The verdict of the rule for this entity alone."""


@dataclass(frozen=True, slots=True)
class _Room:
    area: str
    """Its name; empty for entities without an area."""
    count: int


@dataclass(frozen=True, slots=True)
class _Devices:
    total: int
    rows: list[_Device]
    rooms: list[_Room]
    """Those with entities with which everything is allowed."""


async def _async_devices(
    viewer: Viewer,
    data: CommandData,
) -> _Devices:
    """Return exposed entities with what the rules say now of somebody whom no rule names.

    The strictest verdict comes first; entities with the same one are ordered by area
    and name.
    """
    hass = viewer.hass
    policy = async_get_home_rules(viewer.hass).current.policy
    words = fold(data["search"]).split()
    offset = data["offset"]
    area_ids = areas_of_entities(hass)
    areas = {one.id: one.name for one in ar.async_get(hass).async_list_areas()}
    await asyncio.sleep(0)  # in a large home, each of these takes its time
    exposed = exposed_states(hass, CONVERSATION_DOMAIN, _acting_domains(hass))
    places = {
        one.entity_id: areas.get(area_ids.get(one.entity_id) or "", "")
        for one in exposed
    }
    found = [
        one.entity_id
        for one in exposed
        if _has_words(one, places[one.entity_id], words)
    ]

    def rank(one: EntityVerdict) -> tuple[int, bool, str]:
        place = places[one.entity_id]
        return -one.verdict.strictness, not place, place.casefold()

    judged = sorted(await async_judge_entities(hass, policy, found), key=rank)
    rooms = Counter(
        places[one.entity_id] for one in judged if one.verdict is Verdict.ALLOW
    )
    fitting = [
        one
        for one in judged
        if data.get("area") in (None, places[one.entity_id])
        and data.get("verdict") in (None, one.verdict)
    ]
    listed = fitting[offset : offset + data["limit"]]
    language = await viewer.async_language(data)
    actions = await async_action_names(
        hass, {action for one in listed for action in one.actions}, language
    )
    rows = [_row(hass, policy, one, places[one.entity_id], actions) for one in listed]
    return _Devices(len(fitting), rows, [*starmap(_Room, rooms.items())])


def _acting_domains(hass: HomeAssistant) -> list[str]:
    """Return the domains with an action that changes something."""
    services = hass.services.async_services()
    reading = (SERVICE_RELOAD, _READS)
    return [
        one
        for one, names in services.items()
        if any(not name.startswith(reading) for name in names)
    ]


def _has_words(
    state: State,
    place: str,
    words: Sequence[str],
) -> bool:
    text = fold(f"{state.name} {state.entity_id} {place}")
    return all(word in text for word in words)


def _row(
    hass: HomeAssistant,
    policy: Policy,
    found: EntityVerdict,
    place: str,
    actions: Mapping[str, str],
) -> _Device:
    names = [actions[action] for action in found.actions]
    numbers = _numbers(policy.rules, found.decisions)
    is_known = any(not isinstance(one.subject, Unknown) for one in found.decisions)
    why: Literal["nothing", "rule", "default", "source", "unknown"] = "nothing"
    if found.decisions:
        is_default = any(decision.rule in DEFAULT_RULES for decision in found.decisions)
        if numbers:
            why = "rule"
        elif not is_known:
            why = "unknown"
        elif is_default:
            why = "default"
        else:
            why = "source"
    return _Device(
        found.entity_id,
        entity_name(hass, found.entity_id),
        place,
        found.verdict,
        names[:_MOST_ACTIONS],
        max(len(names) - _MOST_ACTIONS, 0),
        why,
        numbers[0] if numbers else None,
        chosen_verdict(
            hass,
            policy.rules,
            found.entity_id,
        ),
    )


def _numbers(
    rules: Sequence[Rule],
    decisions: Iterable[Decision],
) -> list[int]:
    """Return the numbers of the rules of the home that decided."""
    deciding = [decision.rule for decision in decisions]
    return [number for number, rule in enumerate(rules, start=1) if rule in deciding]


async def _async_choose(
    viewer: Viewer,
    data: CommandData,
) -> _Permissions:
    """Have an entity decided as an administrator has chosen in its row."""
    if viewer.hass.states.get(data["entity_id"]) is None:
        raise CommandRefused(NOT_FOUND)

    def change(rules: HomeRules) -> HomeRules:
        policy = with_choice(
            viewer.hass, rules.policy, data["entity_id"], data["verdict"]
        )
        check_rules(
            policy.rules,
            has_pin=rules.pin is not None,
        )
        return replace(rules, policy=policy)

    return await _async_change(
        viewer,
        data,
        change,
    )


async def _async_set_rules(
    viewer: Viewer,
    data: CommandData,
) -> _Permissions:
    """Take a new list of rules: one was added, edited, moved or deleted."""

    def change(rules: HomeRules) -> HomeRules:
        changed = rules_from_json(
            data["rules"],
            has_pin=rules.pin is not None,
        )
        return replace(
            rules,
            policy=replace(rules.policy, rules=changed),
        )

    return await _async_change(
        viewer,
        data,
        change,
    )


async def _async_set_pin(
    viewer: Viewer,
    data: CommandData,
) -> _Permissions:
    """Set, change or remove the PIN, and choose its uses. Without a new one it stays."""
    typed: object = data.get("new_password")
    if typed is not None and (
        flaw := flaw_of_pin(typed if isinstance(typed, str) else "")
    ):
        raise await _async_refusal(
            viewer,
            data,
            RuleRefused(f"pin_{flaw}"),
        )
    if isinstance(typed, str):
        new = await viewer.hass.async_add_executor_job(
            PinHash.of,
            typed,
        )
    else:
        new = None

    return await _async_change(
        viewer,
        data,
        lambda rules: with_pin(
            replace(
                rules,
                pin=new if "new_password" in data else rules.pin,
            ),
            data["uses"],
        ),
    )


async def _async_change(
    viewer: Viewer, data: CommandData, change: Callable[[HomeRules], HomeRules]
) -> _Permissions:
    """Change the rules that the administrator has seen, which all agents obey from then on."""
    store = async_get_home_rules(viewer.hass)
    if store.current is not store.stored:
        raise CommandRefused("rules_locked")
    if _version(store.stored) != data["version"]:
        raise CommandRefused("changed")
    try:
        changed = change(store.stored)
    except RuleRefused as refused:
        raise await _async_refusal(
            viewer,
            data,
            refused,
        ) from None
    await store.async_enter(changed)
    return await _async_permissions(viewer, data)


async def _async_refusal(
    viewer: Viewer, data: CommandData, refused: RuleRefused
) -> CommandRefused:
    """Return why a change is not taken, in the words of the dialog for the same."""
    language = await viewer.async_language(data)
    texts = await async_get_translations(
        viewer.hass,
        language,
        "config_subentries",
        [DOMAIN],
    )
    return CommandRefused(
        "rules", text=texts[_ERRORS + refused.key].format_map(refused.placeholders)
    )


@dataclass(frozen=True, slots=True)
class _TriedCall:
    """The outcome that a call would have."""

    sentence: str
    tool: str
    outcome: DryOutcome
    verdict: Verdict
    why: str
    """The reason of a refusal, as a sentence."""
    rules: list[int]
    """The numbers of the rules of the home that decided."""


@dataclass(frozen=True, slots=True)
class _Trial:
    text: str
    """The answer of the agent, or its question."""
    calls: list[_TriedCall]


async def _async_try(
    viewer: Viewer,
    data: CommandData,
) -> _Trial:
    """Return what an agent would do if the administrator said a sentence. Nothing is done."""
    hass = viewer.hass
    entity = async_entity_of(hass, data["agent"])
    user = viewer.user.id
    person_id = viewer.person_id
    speaker = Speaker(
        user_id=user, asking=Asking.PERSON, is_signed_in=True, person_id=person_id
    )
    talk = DryConversation.with_agent(
        hass, entity.entity_id if entity else "", DryAsker(speaker, data["language"])
    )
    if talk is None:
        raise CommandRefused(NOT_FOUND)
    turn = await talk.async_say(data["sentence"])
    language = await viewer.async_language(data)
    sentences = await async_get_sentences(hass, language)
    rules = async_get_home_rules(hass).current.policy.rules
    return _Trial(
        TurnViews(hass).cleared(turn.text),
        [_tried(hass, sentences, rules, one) for one in turn.calls],
    )


def _tried(
    hass: HomeAssistant,
    sentences: Sentences,
    rules: Sequence[Rule],
    one: DryResult,
) -> _TriedCall:
    seen = one.review
    refusal = one.review.refusal
    actions = actions_text(
        hass,
        sentences,
        seen,
    )
    return _TriedCall(
        actions,
        tool_name(seen.acting_call.name),
        one.outcome,
        seen.verdict or Verdict.ALLOW,
        sentences[f"spoken_{refusal}"].format_map({"actions": actions})
        if refusal
        else "",
        _numbers(rules, seen.decisions),
    )
