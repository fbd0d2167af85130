"""Rules as rows of a form: their labels, and the conversion in both directions.

The frontend shows a list of rules with the values of their choices, not with the labels of these. So the values in our
forms are the labels themselves, and each label means exactly one ID. A row that cannot be read is an error: it is never
read as a broader rule.
"""

from collections import Counter
from collections.abc import Collection, Container, Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import chain, count
from typing import Any, Final, Self

from homeassistant.components.conversation import DOMAIN as CONVERSATION_DOMAIN
from homeassistant.components.lock import DOMAIN as LOCK_DOMAIN
from homeassistant.const import ATTR_DEVICE_CLASS, SERVICE_RELOAD, SERVICE_UNLOCK
from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers import entity_registry as er
from homeassistant.helpers.translation import async_get_translations
from homeassistant.util import dt as dt_util

from ..agent.messages import JsonObject, JsonValue
from ..const import CONF_KIND, CONF_PIN, CONF_RULES, DOMAIN, SCRIPT_DOMAIN, ServiceKind
from ..settings.options import Problem
from ..settings.rules import Policy, PolicyError, Rule, Verdict, policy_from_json
from ..settings.tasks import settings_of_subentry
from ..settings.tool_names import SENTENCE_TOOL
from ..speech.sentences import async_get_sentences
from ..tools.turn_tools import async_offer_common_tools
from .dialog import async_viewer_language

FIELD_VERDICT: Final = "verdict"
FIELD_AFTER: Final = "after"
FIELD_BEFORE: Final = "before"
FIELD_MORE: Final = "more"
MORE: Final = ("device_classes", "labels", FIELD_AFTER, FIELD_BEFORE, "users", "devices", "tools")
"""The fields of the row within a row that is closed at first, in order. The frontend has no sections within rows."""
FIELDS: Final = (FIELD_VERDICT, "entities", "areas", "domains", "actions", *MORE)
"""All fields of a row, in order."""
CONDITIONS: Final = tuple(name for name in FIELDS if name not in {FIELD_VERDICT, FIELD_AFTER, FIELD_BEFORE})
"""The fields that are lists, by the names of the attributes of `Rule`."""

_FIRST_VERDICTS: Final = (Verdict.ASK, Verdict.PIN, Verdict.ALLOW, Verdict.DENY)
"""In the order in which the form offers them."""

_UNLOCKING: Final = frozenset({f"{LOCK_DOMAIN}.{SERVICE_UNLOCK}", f"{LOCK_DOMAIN}.open"})


@dataclass(frozen=True, slots=True)
class Labels:
    """The labels of the IDs that one field may hold, in the order in which they are offered."""

    ids: Mapping[str, str]
    """By label. No label is the ID of another one."""

    @classmethod
    def of(cls, names: Mapping[str, str]) -> Self:
        """Label IDs with their names; a name that is ambiguous, or is another ID, is followed by its ID."""
        plain = {found: " ".join(name.split()) or found for found, name in names.items()}
        owners = Counter(plain.values())
        labels: dict[str, str] = {}
        for found, name in plain.items():
            candidates = chain(
                [name] if owners[name] == 1 else [], (f"{name} ({found}){'.' * more}" for more in count())
            )
            free = (label for label in candidates if label not in labels and (label == found or label not in plain))
            labels[next(free)] = found
        return cls(labels)

    def id_of(self, text: str) -> str:
        """Return the ID of a label, or the text itself, which may be an ID that a user typed."""
        return self.ids.get(text, text)

    def label(self, wanted: str) -> str:
        """Return the label of an ID, or the ID itself."""
        return next((label for label, found in self.ids.items() if found == wanted), wanted)


@dataclass(frozen=True, slots=True)
class RuleLabels:
    """The labels of everything in a rule for which the frontend has no selector of its own."""

    verdicts: Labels
    of_conditions: Mapping[str, Labels]
    """By the name of the condition of a rule."""
    sentences: Mapping[str, str]
    """The category `common` of our translation, by bare key."""
    fields: Mapping[str, str]
    """The names of the fields of a row."""


async def async_get_rule_labels(hass: HomeAssistant, policy: Policy) -> RuleLabels:
    """Return the labels of all that exists and all that rules name, in the system language."""
    found = _actions(hass) | _held(policy, "actions")
    domains = {action.partition(".")[0] for action in found} | _held(policy, "domains")
    texts = await _async_texts(hass, domains)
    sentences = await async_get_sentences(hass, await async_viewer_language(hass))
    titles = {domain: texts.get(f"component.{domain}.title", domain) for domain in domains}
    actions = {action: texts.get(f"component.{action.replace('.', '.services.')}.name", action) for action in found}
    tools = await _async_tools(hass) | _held(policy, "tools")
    return RuleLabels(
        verdicts=Labels.of({verdict: sentences[f"verdict_{verdict}"] for verdict in _FIRST_VERDICTS}),
        of_conditions={
            "domains": Labels.of(_sorted(titles)),
            "device_classes": Labels.of(_sorted(_device_classes(hass, domains, policy, texts))),
            "actions": Labels.of(_sorted(actions)),
            "tools": Labels.of({tool: tool for tool in sorted(tools)}),
            "users": Labels.of(_sorted(await _async_users(hass, policy))),
        },
        sentences=sentences,
        fields={name: texts[f"component.{DOMAIN}.selector.{CONF_RULES}.fields.{name}.name"] for name in FIELDS},
    )


def _held(policy: Policy, condition: str) -> set[str]:
    """Return the IDs that rules name, which may not exist any more."""
    values: Iterable[frozenset[str]] = (getattr(rule, condition) for rule in policy.rules)
    return set().union(*values)


def _sorted(names: Mapping[str, str]) -> dict[str, str]:
    return dict(sorted(names.items(), key=lambda item: (item[1].casefold(), item[0])))


@callback
def _actions(hass: HomeAssistant) -> set[str]:
    """Return the actions on existing entities. All scripts share one action."""
    services = {
        f"{domain}.{service}"
        for domain in {state.domain for state in hass.states.async_all()} - {CONVERSATION_DOMAIN}
        for service in hass.services.async_services_for_domain(domain)
        if service != SERVICE_RELOAD
    }
    scripts = {state.entity_id for state in hass.states.async_all(SCRIPT_DOMAIN)}
    return services - scripts


async def _async_texts(hass: HomeAssistant, domains: Collection[str]) -> Mapping[str, str]:
    """Return the translated names of domains, their actions and their device classes."""
    texts, language = dict[str, str](), await async_viewer_language(hass)
    for category in ("title", "services", "entity_component"):
        texts |= await async_get_translations(hass, language, category, domains)
    return texts | await async_get_translations(hass, language, "selector", [DOMAIN])


def _device_classes(
    hass: HomeAssistant, domains: Collection[str], policy: Policy, texts: Mapping[str, str]
) -> Mapping[str, str]:
    """Return the names of the device classes of entities in `domains`."""
    names = {found: found for found in _held(policy, "device_classes")}
    for state in hass.states.async_all(sorted(domains)):
        if isinstance(found := state.attributes.get(ATTR_DEVICE_CLASS), str):
            names[found] = texts.get(f"component.{state.domain}.entity_component.{found}.name", found)
    return names


async def _async_tools(hass: HomeAssistant) -> set[str]:
    """Return the names of the tools of all agents and AI tasks."""
    owner = await hass.auth.async_get_owner()
    names = set[str]()
    for entry in hass.config_entries.async_entries(DOMAIN):
        if entry.data[CONF_KIND] == ServiceKind.OFFLINE:
            names.add(SENTENCE_TOOL)
            continue
        for agent in entry.subentries.values():
            offer = await async_offer_common_tools(hass, settings_of_subentry(agent), owner.id if owner else None)
            names |= {definition.name for definition in offer.definitions}
    return names


async def _async_users(hass: HomeAssistant, policy: Policy) -> Mapping[str, str]:
    """Return the names of all users who can sign in."""
    names = {user_id: user_id for user_id in _held(policy, "users")}
    users = await hass.auth.async_get_users()
    return names | {user.id: user.name or user.id for user in users if user.is_active and not user.system_generated}


class RowError(ValueError):
    """A row that is no valid rule."""

    def __init__(self, key: str, **placeholders: str) -> None:
        """Store the key of the error text and its placeholders."""
        super().__init__(key)
        self.key = key
        self.placeholders = placeholders


def row_of(rule: Rule, labels: RuleLabels) -> dict[str, Any]:
    """Return a rule as a row."""
    row: dict[str, Any] = {FIELD_VERDICT: labels.verdicts.label(rule.verdict)}
    for name in CONDITIONS:
        values: frozenset[str] = getattr(rule, name)
        if values:
            known = labels.of_conditions.get(name)
            row[name] = sorted(known.label(value) if known else value for value in values)
    if rule.window:
        row[FIELD_AFTER] = rule.window.after.isoformat("seconds")
        row[FIELD_BEFORE] = rule.window.before.isoformat("seconds")
    more = {name: row.pop(name) for name in MORE if name in row}
    return row | ({FIELD_MORE: more} if more else {})


def read_rules(rows: JsonValue, labels: RuleLabels, *, has_pin: bool = True) -> Policy | list[Problem]:
    """Return the rules of rows, or the problems of all invalid rows; without a PIN, no rule can ask for it."""
    if rows in (None, ""):
        return Policy()
    rules, problems = dict[int, Rule](), list[Problem]()
    for number, row in enumerate(rows if isinstance(rows, list) else [rows], start=1):
        try:
            rules[number] = _rule(row, labels)
        except RowError as error:
            problems.append(Problem(CONF_RULES, error.key, {"rule": str(number), **error.placeholders}))
    if problem := _problem_of_order(rules):
        problems.append(problem)
    asking = [number for number, rule in rules.items() if rule.verdict is Verdict.PIN and not has_pin]
    problems += [Problem(CONF_PIN, "pin_needed", {"rule": str(number)}) for number in asking[:1]]
    return problems or Policy(tuple(rules.values()))


def rules_on_locking(policy: Policy) -> tuple[int, ...]:
    """Return the numbers of rules on locks that also hold their locking, which no household needs to be asked about."""
    return tuple(number for number, rule in enumerate(policy.rules, start=1) if _is_on_any_use_of_locks(rule))


async def async_absent_names(hass: HomeAssistant, policy: Policy) -> list[str]:
    """Return the names in rules of which the home has nothing: misspelled ones, or those of what comes later."""
    states = hass.states.async_all()
    present: Mapping[str, Container[object]] = {
        "domains": {state.domain for state in states},
        "device_classes": {state.attributes.get(ATTR_DEVICE_CLASS) for state in states},
        "entities": {state.entity_id for state in states} | er.async_get(hass).entities.keys(),
        "actions": {f"{domain}.{name}" for domain, names in hass.services.async_services().items() for name in names},
        "tools": await _async_tools(hass),
        "users": await _async_users(hass, Policy()),
    }
    named = ((name, value) for name in present for value in sorted(_held(policy, name)))
    return [value for name, value in named if value not in present[name]]


def only_on_unlocking(policy: Policy) -> Policy:
    """Return rules that leave locking alone, otherwise unchanged."""
    rules = (replace(rule, actions=_UNLOCKING) if _is_on_any_use_of_locks(rule) else rule for rule in policy.rules)
    return replace(policy, rules=tuple(rules))


def _is_on_any_use_of_locks(rule: Rule) -> bool:
    domains = rule.domains or {entity_id.partition(".")[0] for entity_id in rule.entities}
    return rule.verdict is not Verdict.ALLOW and domains == {LOCK_DOMAIN} and not rule.actions and not rule.tools


def _problem_of_order(rules: Mapping[int, Rule]) -> Problem | None:
    """Return a problem if a rule without conditions is not the last one: those after it would never apply."""
    for number, rule in [*rules.items()][:-1]:
        if rule == Rule(verdict=rule.verdict):
            return Problem(CONF_RULES, "rule_hides_others", {"rule": str(number)})
    return None


def _rule(row: JsonValue, labels: RuleLabels) -> Rule:
    row = _flat(row)
    verdict = _text(row.get(FIELD_VERDICT))
    if not verdict:
        raise RowError("rule_without_verdict")
    stored: JsonObject = {"verdict": labels.verdicts.id_of(verdict)}
    for name in CONDITIONS:
        known = labels.of_conditions.get(name)
        if values := _texts(row.get(name)):
            stored[name] = [known.id_of(value) if known else value for value in values]
    if window := _window(row):
        stored["window"] = window
    try:
        return policy_from_json([stored]).rules[0]
    except PolicyError as error:
        known = labels.of_conditions.get(error.condition)
        raise RowError("rule_value_unknown", value=known.label(error.value) if known else error.value) from None


def _flat(row: JsonValue) -> JsonObject:
    """Return a row with the fields of the row within it. Raises `RowError` for one that holds anything else."""
    if not isinstance(row, dict):
        raise RowError("rule_unreadable")
    others = {name: value for name, value in row.items() if name != FIELD_MORE}
    more = row.get(FIELD_MORE) or {}
    if not isinstance(more, dict) or not others.keys() <= {*FIELDS} - more.keys() or not more.keys() <= {*MORE}:
        raise RowError("rule_unreadable")
    return others | more


def _window(row: JsonObject) -> JsonObject | None:
    after, before = (_text(row.get(name)) for name in (FIELD_AFTER, FIELD_BEFORE))
    if not after and not before:
        return None
    if not (after and before):
        raise RowError("rule_half_a_time")
    ends = {dt_util.parse_time(after), dt_util.parse_time(before)}
    if len(ends) == 1 and None not in ends:
        raise RowError("rule_without_time")
    return {"after": after, "before": before}


def _text(value: JsonValue) -> str:
    """Return a stripped text, empty for None. Raises `RowError` for anything else."""
    if value is None:
        return ""
    if not isinstance(value, str):
        raise RowError("rule_unreadable")
    return value.strip()


def _texts(value: JsonValue) -> list[str]:
    """Return the texts of a list, or a single text as a list, without empty ones."""
    values = value if isinstance(value, list) else [value]
    return [text for text in map(_text, values) if text]
