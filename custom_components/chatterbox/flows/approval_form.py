"""The form "Confirmations": its fields, and the conversion between them and what is stored.

A PIN passes through here once, to be hashed: no form shows it again, and no error quotes it.
"""

from collections.abc import Collection, Mapping
from typing import Any, Final, override

import voluptuous as vol
from homeassistant.const import Platform
from homeassistant.data_entry_flow import section
from homeassistant.helpers.selector import (
    AreaSelector,
    AreaSelectorConfig,
    BooleanSelector,
    DeviceSelector,
    DeviceSelectorConfig,
    EntityFilterSelectorConfig,
    EntitySelector,
    EntitySelectorConfig,
    LabelSelector,
    LabelSelectorConfig,
    ObjectSelector,
    ObjectSelectorConfig,
    ObjectSelectorField,
    Selector,
    SelectSelector,
    SelectSelectorConfig,
    SelectSelectorMode,
    TextSelector,
    TextSelectorConfig,
    TextSelectorType,
    TimeSelector,
)

from ..agent.confirmation.pin import PinHash
from ..agent.messages import JsonValue
from ..const import (
    CONF_ASK_AFTER_OUTSIDE_CONTENT,
    CONF_NOTIFY,
    CONF_PEOPLE_AT_SATELLITES,
    CONF_PIN,
    CONF_RULES,
    CONF_TRUSTED_CALLERS,
    SCRIPT_DOMAIN,
)
from ..settings.agent import AgentSettings
from ..settings.options import Problem
from ..settings.rules import Policy, Verdict, policy_to_json
from .rule_form import FIELD_AFTER, FIELD_BEFORE, FIELD_VERDICT, FIELDS, Labels, RuleLabels, read_rules, rows_of

SECTION_WHO_SPEAKS: Final = "who_speaks"
FIELD_DEVICE: Final = "device"
FIELD_PERSON: Final = "person"

APPROVAL_KEYS: Final = frozenset(
    {
        CONF_RULES,
        CONF_PIN,
        CONF_ASK_AFTER_OUTSIDE_CONTENT,
        CONF_NOTIFY,
        CONF_TRUSTED_CALLERS,
        CONF_PEOPLE_AT_SATELLITES,
    }
)
"""The keys that this form sets in the data of an agent."""

_AUTOMATION_DOMAIN: Final = "automation"
_PERSON_DOMAIN: Final = "person"

_KNOWN_PIN: Final = "•" * 8
"""Stands for the present PIN in the form."""

_PASSWORD: Final = TextSelector(TextSelectorConfig(type=TextSelectorType.PASSWORD, autocomplete="off"))
_SATELLITES: Final = EntityFilterSelectorConfig(domain=Platform.ASSIST_SATELLITE)


# The flow checks this value itself, so that errors are translated and no input is lost.
class _UncheckedObjectSelector(ObjectSelector):
    @override
    def __call__(self, data: Any) -> Any:
        return data


def approval_schema(labels: RuleLabels, opened: Collection[str] = ()) -> vol.Schema:
    """Return the form. The sections in `opened` are expanded."""
    told = EntitySelectorConfig(domain=Platform.NOTIFY, multiple=True)
    callers = EntitySelectorConfig(domain=[_AUTOMATION_DOMAIN, SCRIPT_DOMAIN], multiple=True)
    who_speaks = vol.Schema(
        {
            vol.Optional(CONF_PEOPLE_AT_SATELLITES): _rows(CONF_PEOPLE_AT_SATELLITES, _people_fields()),
            vol.Optional(CONF_TRUSTED_CALLERS): EntitySelector(callers),
        }
    )
    return vol.Schema(
        {
            vol.Optional(CONF_RULES): _rows(CONF_RULES, _rule_fields(labels)),
            vol.Optional(CONF_ASK_AFTER_OUTSIDE_CONTENT): BooleanSelector(),
            vol.Optional(CONF_PIN): _PASSWORD,
            vol.Optional(CONF_NOTIFY): EntitySelector(told),
            vol.Required(SECTION_WHO_SPEAKS): section(who_speaks, {"collapsed": SECTION_WHO_SPEAKS not in opened}),
        }
    )


def _rows(name: str, fields: Mapping[str, ObjectSelectorField]) -> ObjectSelector:
    # Without a label field, a row shows the values of all its fields.
    return _UncheckedObjectSelector(ObjectSelectorConfig(fields=dict(fields), multiple=True, translation_key=name))


def _rule_fields(labels: RuleLabels) -> Mapping[str, ObjectSelectorField]:
    first = next(iter(labels.verdicts.ids))
    selectors: Mapping[str, Selector[Any]] = {
        "entities": EntitySelector(EntitySelectorConfig(domain=list(labels.domains.ids.values()), multiple=True)),
        "areas": AreaSelector(AreaSelectorConfig(multiple=True)),
        "labels": LabelSelector(LabelSelectorConfig(multiple=True)),
        "devices": DeviceSelector(DeviceSelectorConfig(entity=_SATELLITES, multiple=True)),
        **{name: _choice(known, several=True) for name, known in labels.of_conditions.items()},
        FIELD_AFTER: TimeSelector(),
        FIELD_BEFORE: TimeSelector(),
    }
    verdict = ObjectSelectorField(selector=_choice(labels.verdicts, several=False), required=True, default=first)
    return {
        name: verdict if name == FIELD_VERDICT else ObjectSelectorField(selector=selectors[name]) for name in FIELDS
    }


def _choice(labels: Labels, *, several: bool) -> SelectSelector:
    return SelectSelector(
        SelectSelectorConfig(
            options=list(labels.ids), multiple=several, custom_value=several, mode=SelectSelectorMode.DROPDOWN
        )
    )


def _people_fields() -> Mapping[str, ObjectSelectorField]:
    return {
        FIELD_DEVICE: ObjectSelectorField(
            selector=DeviceSelector(DeviceSelectorConfig(entity=_SATELLITES)), required=True
        ),
        FIELD_PERSON: ObjectSelectorField(
            selector=EntitySelector(EntitySelectorConfig(domain=_PERSON_DOMAIN)), required=True
        ),
    }


def approvals_as_form(settings: AgentSettings, labels: RuleLabels) -> dict[str, Any]:
    """Return settings as form values, without the PIN."""
    people = [{FIELD_DEVICE: device, FIELD_PERSON: person} for device, person in settings.people_at_satellites.items()]
    return {
        CONF_RULES: rows_of(settings.policy, labels),
        CONF_ASK_AFTER_OUTSIDE_CONTENT: settings.ask_after_outside_content,
        CONF_NOTIFY: list(settings.notify),
        SECTION_WHO_SPEAKS: {
            CONF_PEOPLE_AT_SATELLITES: people,
            CONF_TRUSTED_CALLERS: sorted(settings.trusted_callers),
        },
    }


def shown_pin(pin: PinHash | None) -> dict[str, str]:
    """Return the form value of a PIN."""
    return {CONF_PIN: _KNOWN_PIN} if pin else {}


def without_pin(form: Mapping[str, Any]) -> dict[str, Any]:
    """Return form values without the PIN."""
    return {field: value for field, value in form.items() if field != CONF_PIN}


def typed_pin(form: Mapping[str, Any], present: PinHash | None) -> PinHash | str | None:
    """Return the present PIN if its dots are unchanged, else what was typed, or None."""
    typed: str = form.get(CONF_PIN, "").strip()
    if typed == _KNOWN_PIN:
        return present
    return typed.removeprefix(_KNOWN_PIN).removesuffix(_KNOWN_PIN) or None


def read_approvals(form: Mapping[str, Any], labels: RuleLabels, *, has_pin: bool) -> dict[str, Any] | list[Problem]:
    """Return form values as they are stored, without the PIN and without empty ones; or their problems.

    `has_pin` says whether there is a PIN.
    """
    who_speaks = form.get(SECTION_WHO_SPEAKS, {})
    policy = read_rules(form.get(CONF_RULES), labels)
    people = _read_people(who_speaks.get(CONF_PEOPLE_AT_SATELLITES))
    problems = [found for found in (policy, people) if isinstance(found, Problem)]
    if isinstance(policy, Policy) and not has_pin:
        problems += _missing_pin(policy)
    if isinstance(policy, Problem) or isinstance(people, Problem) or problems:
        return problems
    data = {
        CONF_RULES: policy_to_json(policy),
        CONF_NOTIFY: form.get(CONF_NOTIFY),
        CONF_TRUSTED_CALLERS: who_speaks.get(CONF_TRUSTED_CALLERS),
        CONF_PEOPLE_AT_SATELLITES: people,
    }
    stored = {key: value for key, value in data.items() if value}
    asks = form.get(CONF_ASK_AFTER_OUTSIDE_CONTENT, True)
    return stored if asks else stored | {CONF_ASK_AFTER_OUTSIDE_CONTENT: False}


def _missing_pin(policy: Policy) -> list[Problem]:
    """Return a problem for the first rule that requires the PIN."""
    asking = [number for number, rule in enumerate(policy.rules, start=1) if rule.verdict is Verdict.PIN]
    return [Problem(CONF_PIN, "pin_needed", {"rule": str(number)}) for number in asking[:1]]


def _read_people(rows: JsonValue) -> list[dict[str, str]] | Problem:
    """Return the people at satellites, or the problem of the first invalid row."""
    people: dict[str, str] = {}
    listed = rows if isinstance(rows, list) else [rows] if rows else []
    for number, row in enumerate(listed, start=1):
        device, person = (row.get(FIELD_DEVICE), row.get(FIELD_PERSON)) if isinstance(row, dict) else (None, None)
        if not (isinstance(device, str) and isinstance(person, str) and device and person):
            return Problem(SECTION_WHO_SPEAKS, "satellite_incomplete", {"row": str(number)})
        if device in people:
            return Problem(SECTION_WHO_SPEAKS, "satellite_twice", {"row": str(number)})
        people[device] = person
    return [{FIELD_DEVICE: device, FIELD_PERSON: person} for device, person in people.items()]
