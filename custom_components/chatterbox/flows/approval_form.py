"""The form "Confirmations": its fields, and the conversion between them and what is stored.

A PIN passes through here once, to be hashed: no form shows it again, and no error
quotes it.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final

import voluptuous as vol
from homeassistant.const import Platform
from homeassistant.data_entry_flow import section
from homeassistant.helpers.selector import (
    AreaSelector,
    DeviceSelector,
    EntityFilterSelectorConfig,
    EntitySelector,
    LabelSelector,
    ObjectSelector,
    ObjectSelectorField,
    Selector,
    SelectSelector,
    TimeSelector,
)
from homeassistant.util import dt as dt_util

from ..agent.json.text import as_list
from ..agent.messages import JsonValue
from ..const import (
    CONF_ASK_AFTER_OUTSIDE_CONTENT,
    CONF_GUEST_AREAS,
    CONF_GUEST_DOMAINS,
    CONF_HOUSEHOLD_WRITERS,
    CONF_NOTIFY,
    CONF_PEOPLE_AT_SATELLITES,
    CONF_PIN,
    CONF_RULES,
    CONF_TRUSTED_CALLERS,
    SCRIPT_DOMAIN,
)
from ..runtime.rule_labels import Labels, RuleLabels
from ..settings.options import Problem
from ..settings.pin_hash import PinHash
from ..settings.rules import (
    HomeRules,
    HouseholdWriters,
    OutsideCare,
    PinUse,
    Policy,
    Rule,
    TimeWindow,
    ToolSource,
    Verdict,
    pin_rules,
    pin_uses,
    with_pin_uses,
    without_effect,
)
from .dialog import DROPDOWN, LIST, FormValues, Unchecked, choice, labelled
from .rule_form import (
    FIELD_AFTER,
    FIELD_BEFORE,
    FIELD_MORE,
    FIELD_VERDICT,
    FIELDS,
    MORE,
    read_rules,
    row_of,
    times_of,
)
from .service_form import PASSWORD

SECTION_WHO_SPEAKS: Final = "who_speaks"
SECTION_NIGHT: Final = "night_hours"
SECTION_GUESTS: Final = "guests"
FIELD_DEVICE: Final = "device"
FIELD_PERSON: Final = "person"

FIELD_PIN_FOR: Final = "pin_for"
"""The uses of the PIN, which are rules."""

PIN_USES: Final = choice(
    options=list(PinUse), multiple=True, mode=LIST, translation_key=FIELD_PIN_FOR
)
_SATELLITES: Final = EntityFilterSelectorConfig(domain=Platform.ASSIST_SATELLITE)


# Errors of rows are translated, and no input is lost.
class UncheckedObjectSelector(Unchecked, ObjectSelector):
    """A field for rows that the form reads itself."""


def approval_schema(labels: RuleLabels, opened: Collection[str]) -> vol.Schema:
    """Return the form. The sections in `opened` are expanded."""
    notified_entities = EntitySelector({"domain": Platform.NOTIFY, "multiple": True})
    callers = EntitySelector(
        {"domain": ["automation", SCRIPT_DOMAIN], "multiple": True}
    )
    care = choice(
        options=list(OutsideCare), translation_key=CONF_ASK_AFTER_OUTSIDE_CONTENT
    )
    writers = choice(
        options=list(HouseholdWriters), translation_key=CONF_HOUSEHOLD_WRITERS
    )
    who_speaks = vol.Schema(
        {
            vol.Optional(CONF_PEOPLE_AT_SATELLITES): _rows(
                CONF_PEOPLE_AT_SATELLITES, _people_fields()
            ),
            vol.Optional(CONF_TRUSTED_CALLERS): callers,
            vol.Required(
                CONF_HOUSEHOLD_WRITERS, default=HouseholdWriters.EVERYONE.value
            ): writers,
        }
    )
    night = vol.Schema(
        {vol.Optional(name): TimeSelector() for name in (FIELD_AFTER, FIELD_BEFORE)}
    )
    guests = section(_guest_schema(labels), {"collapsed": True})
    return vol.Schema(
        {
            vol.Optional(CONF_RULES): _rows(CONF_RULES, _rule_fields(labels)),
            vol.Required(CONF_ASK_AFTER_OUTSIDE_CONTENT): care,
            vol.Optional(CONF_PIN): PASSWORD,
            vol.Optional(FIELD_PIN_FOR): PIN_USES,
            vol.Optional(CONF_NOTIFY): notified_entities,
            vol.Required(SECTION_WHO_SPEAKS): section(
                who_speaks, {"collapsed": SECTION_WHO_SPEAKS not in opened}
            ),
            vol.Required(SECTION_GUESTS): guests,
            vol.Required(SECTION_NIGHT): section(
                night, {"collapsed": SECTION_NIGHT not in opened}
            ),
        }
    )


def _guest_schema(labels: RuleLabels) -> vol.Schema:
    kinds = choice(
        options=labelled(labels.kinds),
        multiple=True,
        mode=DROPDOWN,
    )
    areas = AreaSelector({"multiple": True})
    return vol.Schema(
        {
            vol.Optional(CONF_GUEST_DOMAINS): kinds,
            vol.Optional(CONF_GUEST_AREAS): areas,
        }
    )


def _rows(name: str, fields: Mapping[str, ObjectSelectorField]) -> ObjectSelector:
    # Without a label field, a row shows the values of all its fields.
    return UncheckedObjectSelector(
        {
            "fields": dict(fields),
            "multiple": True,
            "translation_key": name,
        }
    )


def _rule_fields(labels: RuleLabels) -> Mapping[str, ObjectSelectorField]:
    first = next(iter(labels.verdicts.ids))
    domains = list(labels.of_conditions["domains"].ids.values())
    selectors: Mapping[str, Selector[Any]] = {
        "entities": EntitySelector({"domain": domains, "multiple": True}),
        "areas": AreaSelector({"multiple": True}),
        "labels": LabelSelector({"multiple": True}),
        "devices": DeviceSelector({"entity": _SATELLITES, "multiple": True}),
        **{
            name: _choice(known, several=True)
            for name, known in labels.of_conditions.items()
        },
        FIELD_AFTER: TimeSelector(),
        FIELD_BEFORE: TimeSelector(),
    }
    verdicts = _choice(labels.verdicts, several=False)
    verdict = ObjectSelectorField(selector=verdicts, required=True, default=first)
    # The frontend translates the names of fields only in the outer row.
    fields = {
        name: ObjectSelectorField(selector=one, label=labels.fields[name])
        for name, one in selectors.items()
    }
    more = ObjectSelector({"fields": {name: fields[name] for name in MORE}})
    return {
        FIELD_VERDICT: verdict,
        **{
            name: fields[name] for name in FIELDS if name in fields and name not in MORE
        },
        FIELD_MORE: ObjectSelectorField(selector=more),
    }


def _choice(
    labels: Labels,
    *,
    several: bool,
) -> SelectSelector:
    return choice(
        options=list(labels.ids), multiple=several, custom_value=several, mode=DROPDOWN
    )


def _people_fields() -> Mapping[str, ObjectSelectorField]:
    selectors: Mapping[str, Selector[Any]] = {
        FIELD_DEVICE: DeviceSelector({"entity": _SATELLITES}),
        FIELD_PERSON: EntitySelector({"domain": "person"}),
    }
    return {
        name: ObjectSelectorField(selector=one, required=True)
        for name, one in selectors.items()
    }


def approvals_as_form(
    home_rules: HomeRules,
    labels: RuleLabels,
) -> dict[str, Any]:
    """Return rules of the home as form values, without the PIN. All of its uses are ticked before one is chosen."""
    people = home_rules.people_at_satellites.items()
    rules = home_rules.policy.rules
    ticked = pin_uses(rules)
    return {
        CONF_RULES: [
            row_of(
                rule,
                labels,
            )
            for rule in rules
            if rule not in pin_rules(ticked)
        ],
        CONF_ASK_AFTER_OUTSIDE_CONTENT: home_rules.ask_after_outside_content.value,
        FIELD_PIN_FOR: ticked if home_rules.pin else list(PinUse),
        CONF_NOTIFY: list(home_rules.notify),
        SECTION_WHO_SPEAKS: {
            CONF_PEOPLE_AT_SATELLITES: [
                {
                    FIELD_DEVICE: device,
                    FIELD_PERSON: person,
                }
                for device, person in people
            ],
            CONF_TRUSTED_CALLERS: sorted(home_rules.trusted_callers),
            CONF_HOUSEHOLD_WRITERS: home_rules.household_writers.value,
        },
        SECTION_GUESTS: {
            CONF_GUEST_DOMAINS: sorted(home_rules.guest_domains),
            CONF_GUEST_AREAS: sorted(home_rules.guest_areas),
        },
        SECTION_NIGHT: times_of(home_rules.night),
    }


def read_approvals(
    form: FormValues,
    labels: RuleLabels,
    pin: PinHash | None,
    sources: Mapping[str, ToolSource],
) -> HomeRules | list[Problem]:
    """Return form values as rules of the home with a PIN and with trust in sources of tools, or their problems."""
    who_speaks = form.get(SECTION_WHO_SPEAKS, {})
    guests = form.get(SECTION_GUESTS, {})
    policy = read_rules(
        form.get(CONF_RULES),
        labels,
        has_pin=pin is not None,
    )
    people = _read_people(who_speaks.get(CONF_PEOPLE_AT_SATELLITES))
    night = _read_night(form.get(SECTION_NIGHT, {}))
    if (
        isinstance(policy, list)
        or isinstance(people, Problem)
        or isinstance(night, Problem)
    ):
        problems = policy if isinstance(policy, list) else []
        return problems + [
            problem for problem in (people, night) if isinstance(problem, Problem)
        ]
    uses = form.get(FIELD_PIN_FOR, ()) if pin else ()
    if pin and (problem := find_pin_problem(policy.rules, uses)):
        return [problem]
    return HomeRules(
        policy=Policy(
            with_pin_uses(policy.rules, uses),
            sources,
        ),
        pin=pin,
        ask_after_outside_content=OutsideCare(
            form.get(CONF_ASK_AFTER_OUTSIDE_CONTENT, OutsideCare.RISKY)
        ),
        notify=tuple(form.get(CONF_NOTIFY) or ()),
        trusted_callers=frozenset(who_speaks.get(CONF_TRUSTED_CALLERS) or ()),
        household_writers=HouseholdWriters(
            who_speaks.get(CONF_HOUSEHOLD_WRITERS, HouseholdWriters.EVERYONE)
        ),
        people_at_satellites=people,
        night=night,
        guest_domains=frozenset(guests.get(CONF_GUEST_DOMAINS) or ()),
        guest_areas=frozenset(guests.get(CONF_GUEST_AREAS) or ()),
    )


def find_pin_problem(
    rules: Sequence[Rule],
    uses: Collection[str],
) -> Problem | None:
    """Return the problem of a PIN that would not be needed for what it is meant."""
    number = without_effect(rules, uses)
    if number is not None:
        return Problem(
            FIELD_PIN_FOR,
            "pin_not_needed",
            {"rule": str(number)},
        )
    if uses or any(rule.verdict is Verdict.PIN for rule in rules):
        return None
    return Problem(FIELD_PIN_FOR, "pin_for_nothing")


def _read_people(rows: JsonValue) -> dict[str, str] | Problem:
    """Return the people at satellites, or the problem of the first invalid row."""
    people: dict[str, str] = {}
    for number, row in enumerate(as_list(rows) if rows else [], start=1):
        match row:
            case {"device": str(device), "person": str(person)} if device and person:
                if device not in people:
                    people[device] = person
                    continue
                key = "satellite_twice"
            case _:
                key = "satellite_incomplete"
        return Problem(
            SECTION_WHO_SPEAKS,
            key,
            {"row": str(number)},
        )
    return people


def _read_night(times: Mapping[str, Any]) -> TimeWindow | Problem | None:
    """Return the night hours; None if there are none, or the problem of times that make none."""
    given = [times.get(name) or "" for name in (FIELD_AFTER, FIELD_BEFORE)]
    after, before = map(dt_util.parse_time, given)
    if after and before and after != before:
        return TimeWindow(after, before)
    if any(given):
        return Problem(SECTION_NIGHT, "night_incomplete")
    return None
