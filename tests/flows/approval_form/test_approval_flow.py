"""The dialog "Confirmations", in a real Home Assistant: what it shows, stores, refuses, and what it never tells."""

import json
import logging
from datetime import time

import pytest
from homeassistant.auth.const import GROUP_ID_ADMIN
from homeassistant.auth.models import User
from homeassistant.components import conversation
from homeassistant.components.assist_pipeline.pipeline import (
    async_get_pipelines,
    async_update_pipeline,
)
from homeassistant.components.homeassistant.exposed_entities import async_expose_entity
from homeassistant.config_entries import SubentryFlowResult
from homeassistant.core import HomeAssistant
from homeassistant.data_entry_flow import FlowResultType
from homeassistant.setup import async_setup_component
from pydantic import JsonValue
from pytest_homeassistant_custom_component.common import MockConfigEntry

from custom_components.chatterbox.flows.dialog import escaped
from custom_components.chatterbox.settings.pin_hash import (
    LONGEST_PIN,
    SHORTEST_PIN,
    HashCost,
    PinHash,
)
from custom_components.chatterbox.settings.rules import (
    HomeRules,
    TimeWindow,
    Verdict,
    home_rules_of,
)
from tests.demo_house.move_in import move_in
from tests.flows.agent_forms import choose, open_menu, submit
from tests.flows.rule_forms import (
    ALL,
    HOME,
    PIN,
    approvals,
    counted,
    home_rules,
    open_approvals,
    placeholders,
    sent,
    stored,
)
from tests.flows.test_agent_flow import filled_in, suggested, text_of_error
from tests.support.config_entries import offline_entry, only_agent, server_entry, set_up
from tests.support.home_rules import set_home_rules
from tests.support.llm_apis import StubTool, register
from tests.support.one_home import in_one_home
from tests.support.sentences import sentence
from tests.support.service_dialogs import is_open, problems_in
from tests.support.talk import AGENT


@pytest.fixture
async def entry(hass: HomeAssistant) -> MockConfigEntry:
    """The offline agent in a home whose entities are all exposed."""
    entry = await set_up(hass, offline_entry())
    await move_in(hass, HOME)
    for entity_id in ALL:
        async_expose_entity(hass, conversation.DOMAIN, entity_id, should_expose=True)
    return entry


DOTS = "•" * 8
STORAGE_OF_TESTS = "pytest_homeassistant_custom_component.common"
"""The logger of what takes the place of files: it logs what is written."""


async def saved(
    hass: HomeAssistant, entry: MockConfigEntry, **changes: object
) -> HomeRules:
    """Send the form, save what it means, and return the rules of the home."""
    home = await sent(hass, entry, **changes)
    assert home["type"] is FlowResultType.MENU, home["errors"]
    result = await choose(hass, home, "save_approvals")
    assert result["reason"] == "home_rules_saved"
    return home_rules(hass)


def row_options(step: SubentryFlowResult, field: str) -> list[str]:
    """Return what can be chosen in one field of a rule."""
    schema = step["data_schema"]
    assert schema is not None
    fields = schema.schema["rules"].config["fields"]
    fields = {**fields, **fields["more"]["selector"].config["fields"]}
    options: list[str] = fields[field]["selector"].config["options"]
    return options


async def test_a_new_home_has_no_rules_of_its_own(
    hass: HomeAssistant, entry: MockConfigEntry
) -> None:
    step = await open_approvals(hass, entry)

    assert suggested(step) == approvals()
    assert counted(step) == {"entities": 5, "allow": 3, "ask": 2, "pin": 0, "deny": 0}
    assert not is_open(step, "who_speaks")
    assert await saved(hass, entry) == HomeRules()
    assert only_agent(entry).data == {}


async def test_everything_that_is_filled_in_is_stored_and_shown_again(
    hass: HomeAssistant, entry: MockConfigEntry, hass_admin_user: User
) -> None:
    rules = [
        {
            "verdict": "Never",
            "entities": ["lock.door"],
            "areas": ["hall"],
            "domains": ["Lock"],
            "actions": ["Unlock lock"],
            "more": {
                "device_classes": ["Garage"],
                "labels": ["risky"],
                "users": [hass_admin_user.name],
                "devices": ["a_device"],
                "tools": ["conversation__process_sentence"],
                "after": "22:00:00",
                "before": "06:30:00",
            },
        },
        {"verdict": "Ask first"},
    ]
    form = approvals(
        rules=rules,
        ask_after_outside_content="every_change",
        notify=["notify.phone"],
        who_speaks={
            "people_at_satellites": [
                {"device": "a_satellite", "person": "person.anna"}
            ],
            "trusted_callers": ["automation.bedtime", "script.bedtime"],
            "household_writers": "admins",
        },
        guests={"guest_domains": ["cover"], "guest_areas": ["hall"]},
    )
    rules_now = await saved(hass, entry, **form)

    assert stored(hass) == {
        "rules": [
            {
                "verdict": "deny",
                "entities": ["lock.door"],
                "areas": ["hall"],
                "domains": ["lock"],
                "device_classes": ["garage"],
                "labels": ["risky"],
                "actions": ["lock.unlock"],
                "users": [hass_admin_user.id],
                "devices": ["a_device"],
                "tools": ["conversation__process_sentence"],
                "window": {"after": "22:00:00", "before": "06:30:00"},
            },
            {"verdict": "ask"},
        ],
        "ask_after_outside_content": "every_change",
        "notify": ["notify.phone"],
        "trusted_callers": ["automation.bedtime", "script.bedtime"],
        "people_at_satellites": [{"device": "a_satellite", "person": "person.anna"}],
        "household_writers": "admins",
        "guest_areas": ["hall"],
        "guest_domains": ["cover"],
    }
    assert rules_now.people_at_satellites == {"a_satellite": "person.anna"}
    assert suggested(await open_approvals(hass, entry)) == form


async def test_words_of_the_home_are_offered(
    hass: HomeAssistant, entry: MockConfigEntry, hass_admin_user: User
) -> None:
    step = await open_approvals(hass, entry)

    assert row_options(step, "verdict") == [
        "Ask first",
        "Ask for the PIN",
        "Allow",
        "Never",
    ]
    assert {"Cover", "Light", "Lock"} <= set(row_options(step, "domains"))
    assert {"Unlock lock", "Open cover"} <= set(row_options(step, "actions"))
    assert not [
        word for word in row_options(step, "actions") if word.endswith("reload")
    ]
    assert "Conversation" not in row_options(step, "domains"), (
        "nothing of the house is acted on there"
    )
    assert row_options(step, "device_classes") == ["Blind", "Garage"]
    assert row_options(step, "users") == [hass_admin_user.name]
    assert row_options(step, "tools") == ["conversation__process_sentence"]


async def test_every_field_of_a_row_has_its_words(
    hass: HomeAssistant, entry: MockConfigEntry
) -> None:
    schema = (await open_approvals(hass, entry))["data_schema"]
    assert schema is not None
    rows = [
        schema.schema["rules"],
        schema.schema["who_speaks"].schema.schema["people_at_satellites"],
    ]

    for selector in rows:
        for field in selector.config["fields"]:
            place = f"selector.{selector.config['translation_key']}.fields.{field}"
            assert sentence(f"{place}.name")
            assert sentence(f"{place}.description")
    more = rows[0].config["fields"]["more"]["selector"].config["fields"]
    assert [one["label"] for one in more.values()] == [
        sentence(f"selector.rules.fields.{name}.name") for name in more
    ]


async def test_words_are_in_the_language_of_the_home(
    hass: HomeAssistant, entry: MockConfigEntry
) -> None:
    hass.config.language = "de"
    step = await open_approvals(hass, entry)

    assert "Schloss" in row_options(step, "domains")
    assert "Garage" in row_options(step, "device_classes")
    assert row_options(step, "verdict") != [
        "Ask first",
        "Ask for the PIN",
        "Allow",
        "Never",
    ]


@pytest.mark.usefixtures("socket_enabled")
async def test_the_tools_of_an_agent_can_be_chosen(
    hass: HomeAssistant, address: str
) -> None:
    entry = await set_up(hass, server_entry(address, remember_facts=True))
    assert await async_setup_component(hass, "intent", {})
    step = await open_approvals(hass, entry)

    assert {"intent__HassTurnOn", "chatterbox__remember"} <= set(
        row_options(step, "tools")
    )


@pytest.mark.usefixtures("socket_enabled")
async def test_the_tools_for_administrators_can_be_chosen(
    hass: HomeAssistant, address: str
) -> None:
    await hass.auth.async_create_user("Owner", group_ids=[GROUP_ID_ADMIN])
    register(hass, "tower", StubTool(name="look"), requires_admin=True)
    step = await open_approvals(
        hass, await set_up(hass, server_entry(address, llm_hass_api=["tower"]))
    )

    assert "look" in row_options(step, "tools")


async def test_all_scripts_are_started_by_one_action(
    hass: HomeAssistant, entry: MockConfigEntry
) -> None:
    script = {"alias": "Welcome", "sequence": []}
    assert await async_setup_component(hass, "script", {"script": {"welcome": script}})
    actions = row_options(await open_approvals(hass, entry), "actions")

    assert "script.welcome" not in actions
    assert "Turn on script" in actions


async def test_what_is_gone_is_still_shown_and_kept(
    hass: HomeAssistant, entry: MockConfigEntry
) -> None:
    gone = {
        "verdict": "deny",
        "domains": ["siren"],
        "device_classes": ["moat"],
        "actions": ["siren.turn_on"],
        "tools": ["moat__fill"],
        "users": ["somebody"],
    }
    await set_home_rules(hass, rules=[gone])
    step = await open_approvals(hass, entry)
    home = await submit(hass, step, suggested(step))
    await choose(hass, home, "save_approvals")

    assert suggested(step)["rules"][0]["domains"] == ["Siren"]
    assert "moat" in row_options(step, "device_classes")
    assert "moat__fill" in row_options(step, "tools")
    assert "somebody" in row_options(step, "users")
    assert stored(hass) == {"rules": [gone]}


async def test_something_can_be_changed_after_it_was_shown_and_nothing_is_lost(
    hass: HomeAssistant, entry: MockConfigEntry
) -> None:
    form = approvals(
        rules=[{"verdict": "Ask for the PIN", "domains": ["Lock"]}],
        pin=PIN,
        notify=["notify.phone"],
        pin_for=[],
    )
    home = await submit(hass, await open_approvals(hass, entry), form)
    step = await choose(hass, home, "approvals")
    assert suggested(step) == form | {"pin": DOTS}
    assert counted(step)["pin"] == 1
    home = await submit(hass, step, {**suggested(step), "notify": []})
    await choose(hass, home, "save_approvals")
    settings = home_rules(hass)

    assert settings.pin is not None
    assert settings.pin.matches(PIN)
    assert settings.notify == ()


@in_one_home(
    ("rule", "message"),
    [
        ({}, "Rule 2 has no result."),
        ({"verdict": "Perhaps"}, "“Perhaps” is not valid in rule 2"),
        ({"verdict": "Never", "after": "22:00:00"}, "Rule 2 has only one end"),
        (
            {"verdict": "Never", "after": "22:00:00", "before": "22:00"},
            "In rule 2, both times are the same.",
        ),
        (
            {"verdict": "Never", "domains": ["Front Door"]},
            "“Front Door” is not valid in rule 2",
        ),
        ({"verdict": "Never", "area": ["hall"]}, "Rule 2 can't be read."),
        ("Never", "Rule 2 can't be read."),
    ],
)
async def test_a_rule_that_makes_no_sense_is_refused_by_its_number_and_kept(
    hass: HomeAssistant, entry: MockConfigEntry, rule: JsonValue, message: str
) -> None:
    rules = [{"verdict": "Ask first", "domains": ["Lock"]}, rule]
    step = await sent(hass, entry, rules=rules, notify=["notify.phone"])

    assert text_of_error(step, "rules").startswith(message)
    assert suggested(step)["rules"] == rules
    assert suggested(step)["notify"] == ["notify.phone"]
    assert counted(step)["entities"] == 5


async def test_a_rule_for_everything_has_to_be_the_last(
    hass: HomeAssistant, entry: MockConfigEntry
) -> None:
    everything: dict[str, object] = {"verdict": "Allow", "areas": [], "after": None}
    locks = {"verdict": "Ask first", "domains": ["Lock"]}
    refused = await sent(hass, entry, rules=[locks, everything, locks])

    assert text_of_error(refused, "rules").startswith("Rule 2 has no conditions")
    assert [
        rule.verdict
        for rule in (await saved(hass, entry, rules=[locks, everything])).policy.rules
    ] == [
        Verdict.ASK,
        Verdict.ALLOW,
    ]


async def test_a_rule_that_asks_for_a_pin_needs_one(
    hass: HomeAssistant, entry: MockConfigEntry
) -> None:
    rules = [
        {"verdict": "Never", "domains": ["Light"]},
        {"verdict": "Ask for the PIN", "domains": ["Lock"]},
    ]
    step = await sent(hass, entry, rules=rules)
    assert text_of_error(step, "pin").startswith("Rule 2 requires the PIN")
    assert suggested(step)["rules"] == rules
    assert (await saved(hass, entry, rules=rules, pin=PIN)).pin is not None
    emptied = await sent(hass, entry, rules=rules)
    assert text_of_error(emptied, "pin").startswith("Rule 2 requires the PIN")
    assert (await saved(hass, entry, rules=rules, pin=DOTS)).pin is not None
    assert (await saved(hass, entry, rules=rules[:1])).pin is None


async def test_a_pin_with_a_flaw_is_refused_and_the_present_one_kept(
    hass: HomeAssistant, entry: MockConfigEntry, subtests: pytest.Subtests
) -> None:
    await saved(hass, entry, pin=PIN)
    rules = [{"verdict": "Ask for the PIN", "domains": ["Lock"]}]
    for pin, message in (
        ("four", "The PIN may contain digits only."),
        ("•••", "The PIN may contain digits only."),
        ("739", f"{SHORTEST_PIN} to {LONGEST_PIN}"),
        ("73910573910", f"{SHORTEST_PIN} to {LONGEST_PIN}"),
        ("1234", "too easy to guess"),
    ):
        with subtests.test(pin):
            step = await sent(hass, entry, rules=rules, pin=pin)
            assert step["errors"] is not None
            assert step["errors"].keys() == {"pin"}
            assert message in text_of_error(step, "pin")
            assert suggested(step)["pin"] == DOTS
            assert suggested(step)["rules"] == rules


async def test_a_pin_is_changed_beside_its_dots_and_left_alone_with_them(
    hass: HomeAssistant, entry: MockConfigEntry
) -> None:
    await saved(hass, entry, pin=PIN)
    changed = await saved(hass, entry, pin=f" {DOTS}86420 ")
    assert changed.pin is not None
    assert changed.pin.matches("86420")
    assert (await saved(hass, entry, pin=DOTS)).pin == changed.pin


async def test_a_pin_that_was_typed_beside_a_mistake_is_kept(
    hass: HomeAssistant, entry: MockConfigEntry
) -> None:
    step = await sent(hass, entry, rules=[{"verdict": "Perhaps"}], pin=PIN)
    assert suggested(step)["pin"] == DOTS
    rules = [{"verdict": "Ask for the PIN"}]
    home = await submit(hass, step, approvals(rules=rules, pin=DOTS))
    await choose(hass, home, "save_approvals")
    settings = home_rules(hass)

    assert settings.pin is not None
    assert settings.pin.matches(PIN)


async def test_a_pin_is_told_to_nobody(
    hass: HomeAssistant, entry: MockConfigEntry, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    home = await sent(hass, entry, rules=[{"verdict": "Ask for the PIN"}], pin=PIN)
    step = await choose(hass, home, "approvals")
    seen = repr((home, step, suggested(step)))
    for typed in (
        "4747474747",
        f"{PIN}{PIN}",
        "seven",
    ):  # none of them is in the id of a flow by chance
        refused = await submit(hass, step, approvals(rules=["?"], pin=typed))
        seen += repr((refused, suggested(refused)))
        assert typed not in seen
    await choose(hass, await submit(hass, step, approvals(pin=DOTS)), "save_approvals")

    stored_pin = stored(hass)["pin"]
    assert isinstance(stored_pin, dict)
    assert PinHash.from_json(stored_pin).matches(PIN)
    assert PinHash.from_json(stored_pin).cost == HashCost()
    assert PIN not in seen + caplog.text + json.dumps(stored(hass))
    logged = [
        record.getMessage()
        for record in caplog.records
        if record.name != STORAGE_OF_TESTS
    ]
    assert str(stored_pin["digest"]) not in seen + "\n".join(logged)


@pytest.mark.parametrize(
    ("people", "message"),
    [
        (
            [{"device": "here", "person": "person.anna"}, {"device": "there"}],
            "Row 2 needs both",
        ),
        (["here"], "Row 1 needs both"),
        (
            [
                {"device": "here", "person": "person.anna"},
                {"device": "here", "person": "person.ben"},
            ],
            "The satellite in row 2",
        ),
    ],
)
async def test_people_at_satellites_that_make_no_sense_are_refused_and_kept(
    hass: HomeAssistant, entry: MockConfigEntry, people: JsonValue, message: str
) -> None:
    step = await sent(hass, entry, who_speaks={"people_at_satellites": people})

    assert text_of_error(step, "who_speaks").startswith(message)
    assert is_open(step, "who_speaks")
    assert suggested(step)["who_speaks"]["people_at_satellites"] == people


async def test_night_hours_are_two_times(
    hass: HomeAssistant, entry: MockConfigEntry
) -> None:
    for times in ({"after": "22:00:00"}, {"after": "22:00:00", "before": "22:00:00"}):
        step = await sent(hass, entry, night_hours=times)
        assert text_of_error(step, "night_hours").startswith("Enter both times")
        assert is_open(step, "night_hours")

    times = {"after": "22:00:00", "before": "06:30:00"}
    rules = await saved(hass, entry, night_hours=times)
    assert rules == HomeRules(night=TimeWindow(time(22), time(6, 30)))
    assert home_rules_of(stored(hass)) == rules
    assert suggested(await open_approvals(hass, entry))["night_hours"] == times
    assert await saved(hass, entry) == HomeRules()


async def test_all_that_is_wrong_is_told_at_once(
    hass: HomeAssistant, entry: MockConfigEntry
) -> None:
    step = await sent(
        hass, entry, rules=["?"], pin="1", who_speaks={"people_at_satellites": ["?"]}
    )

    assert step["errors"] == {
        "rules": "rule_unreadable",
        "pin": "pin_too_short",
        "who_speaks": "marked",
    }
    assert problems_in(step) == [
        "Confirmations → PIN: The PIN is too short. Use 4 to 10 digits.",
        "Confirmations → Rules: Rule 1 can't be read. Delete it and add it again.",
        "Confirmations → Speakers: Row 1 needs both a satellite and a person. Complete it, or delete it.",
    ]


@pytest.mark.usefixtures("socket_enabled")
async def test_settings_and_approvals_leave_each_other_alone(
    hass: HomeAssistant, address: str
) -> None:
    rules = [{"verdict": "Ask for the PIN", "domains": ["lock"]}]
    entry = await set_up(hass, server_entry(address, temperature=0.4))
    settings = await choose(hass, await open_menu(hass, entry), "settings")
    approved = await saved(hass, entry, rules=rules, pin=PIN)
    assert only_agent(entry).data["temperature"] == 0.4
    await submit(hass, settings, filled_in())  # begun before the rules were saved
    await hass.async_block_till_done(
        wait_background_tasks=True
    )  # the service is asked after each change

    assert only_agent(entry).title == "Butler"
    assert home_rules(hass) == approved
    assert only_agent(entry).data["temperature"] == 0.4


@pytest.mark.parametrize(
    "condition", [{"domains": ["lock"]}, {"entities": ["lock.door"]}]
)
async def test_a_pin_for_locks_is_offered_for_unlocking_alone(
    hass: HomeAssistant, entry: MockConfigEntry, condition: dict[str, list[str]]
) -> None:
    home = await sent(
        hass, entry, pin=PIN, rules=[{"verdict": "pin", **condition}], pin_for=[]
    )
    assert "only_unlock" in home["menu_options"]
    assert (
        sentence("common.home_also_locking", rules="1")
        in placeholders(home)["examples"]
    )
    assert (
        f"| {sentence('common.example_lock', name='Front Door')} | {sentence('common.verdict_pin')} |"
        in (placeholders(home)["examples"])
    )

    narrowed = await choose(hass, home, "only_unlock")

    assert "only_unlock" not in narrowed["menu_options"]
    assert (
        f"| {sentence('common.example_lock', name='Front Door')} | {sentence('common.verdict_allow')} |"
        in (placeholders(narrowed)["examples"])
    )
    await choose(hass, narrowed, "save_approvals")
    (rule,) = home_rules(hass).policy.rules
    assert (rule.verdict, rule.actions) == (
        Verdict.PIN,
        frozenset({"lock.unlock", "lock.open"}),
    )
    assert home_rules(hass).pin


async def test_other_rules_are_not_narrowed(
    hass: HomeAssistant, entry: MockConfigEntry, subtests: pytest.Subtests
) -> None:
    await saved(hass, entry, pin=PIN)
    for rule in (
        {"verdict": "allow", "domains": ["lock"]},
        {"verdict": "pin", "domains": ["lock"], "actions": ["lock.unlock"]},
        {"verdict": "pin", "domains": ["lock", "cover"]},
        {"verdict": "pin", "areas": ["hall"]},
    ):
        with subtests.test(rule=rule):
            home = await sent(hass, entry, pin=DOTS, rules=[rule], pin_for=["open"])
            assert "only_unlock" not in home["menu_options"]


async def test_the_assistants_that_go_round_the_rules_are_named(
    hass: HomeAssistant, entry: MockConfigEntry
) -> None:
    assert await async_setup_component(hass, "assist_pipeline", {})
    (pipeline,) = async_get_pipelines(hass)
    assert placeholders(await open_approvals(hass, entry))["unguarded"] == ""

    for agent_id in (AGENT, "conversation.other"):
        name = f"Butler *of* {agent_id}"
        await async_update_pipeline(
            hass,
            pipeline,
            name=name,
            conversation_engine=agent_id,
            prefer_local_intents=True,
        )
        text = placeholders(await open_approvals(hass, entry))["unguarded"]
        assert text == (
            sentence("common.home_unguarded", assistants=escaped(name)) + "\n\n"
            if agent_id == AGENT
            else ""
        )


async def test_every_rule_that_is_wrong_is_told_at_once(
    hass: HomeAssistant, entry: MockConfigEntry
) -> None:
    rows = [
        {"verdict": "Ask first", "after": "22:00:00"},
        {"verdict": "Never", "domains": ["not a domain!"]},
        {"verdict": "Ask for the PIN"},
    ]
    step = await sent(hass, entry, rules=rows)

    problems = problems_in(step)
    assert len(problems) == len(rows)
    assert all(
        f"rule {number}" in line.casefold()
        for number, line in enumerate(problems, start=1)
    ), problems
    assert step["errors"] == {"rules": "marked", "pin": "marked"}


async def test_names_in_rules_of_which_the_home_has_nothing_are_told(
    hass: HomeAssistant, entry: MockConfigEntry, hass_admin_user: User
) -> None:
    hass.services.async_register("lock", "unlock", lambda _call: None)
    there = {
        "domains": ["lock", "sensor"],
        "device_classes": ["garage"],
        "actions": ["lock.unlock"],
        "entities": ["lock.door"],
        "tools": ["conversation__process_sentence"],
        "users": [hass_admin_user.id],
    }
    absent = {
        "domains": ["lokc"],
        "device_classes": ["gatee"],
        "actions": ["lock.unlokc"],
        "entities": ["lock.gone"],
        "tools": ["nope"],
        "users": ["Nobody"],
    }
    rows = [{"verdict": "Never", **there}, {"verdict": "Never", **absent}]
    home = await sent(hass, entry, rules=rows)

    named = ", ".join(
        f"**{escaped(name)}**"
        for name in ("lokc", "gatee", "lock.gone", "lock.unlokc", "nope", "Nobody")
    )
    assert placeholders(home)["examples"].startswith(
        sentence("common.home_absent", names=named)
    )
    assert "save_approvals" in home["menu_options"], "some of it may come later"
    fine = await sent(hass, entry, rules=rows[:1])
    assert "Not found" not in placeholders(fine)["examples"]
    for_no_valve = {"domains": ["valve"], "actions": ["valve.open_valve"]}
    spelled_right = await sent(
        hass, entry, rules=[{"verdict": "Never", **for_no_valve}]
    )
    assert "Not found" not in placeholders(spelled_right)["examples"], (
        "a default rule is about them"
    )
