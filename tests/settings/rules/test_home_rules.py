"""The rules of the home: every agent obeys them, at once, after a restart, and in doubt nothing is done."""

import errno
import shutil
from copy import deepcopy
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

import pytest
from homeassistant.components import conversation
from homeassistant.config_entries import ConfigSubentryData
from homeassistant.core import Context, HomeAssistant
from homeassistant.helpers import issue_registry as ir
from homeassistant.helpers.storage import Store
from homeassistant.setup import async_setup_component
from homeassistant.util import dt as dt_util
from pydantic import JsonValue
from pytest_homeassistant_custom_component.common import (
    MockConfigEntry,
    async_fire_time_changed,
    async_test_home_assistant,
)

from custom_components.chatterbox.const import (
    CONF_KIND,
    DOMAIN,
    ENTRY_VERSION,
    SUBENTRY_CONVERSATION,
    ServiceKind,
)
from custom_components.chatterbox.settings.pin_hash import HashCost, PinHash
from custom_components.chatterbox.settings.rules import (
    DEFAULT_RULES,
    HOME_RULE_KEYS,
    WITH_RULES,
    HomeRules,
    HomeRulesStore,
    PinUse,
    Policy,
    Rule,
    Verdict,
    async_get_home_rules,
    home_rules_of,
    home_rules_to_json,
    pin_rules,
    pin_uses,
    policy_from_json,
    with_pin_uses,
    without_effect,
)
from tests.flows.agent_forms import choose, submit
from tests.flows.approval_form.test_approval_flow import DOTS, STORAGE_OF_TESTS
from tests.flows.rule_forms import approvals, placeholders
from tests.support.config_entries import only_agent
from tests.support.home_rules import set_home_rules
from tests.support.talk import DOOR, LIGHT, PART, move_into_the_demo_home, speech

KEY: Final = "chatterbox.home_rules"
ONE, OTHER = "conversation.one", "conversation.other"
PIN: Final = "7391"
WITH_PIN: Final[dict[str, JsonValue]] = {
    "pin": PinHash.of(PIN, HashCost(2, 1)).as_json(),
    "rules": [{"verdict": "pin", "domains": ["lock"], "actions": ["lock.unlock"]}],
}
PLEASE_THE_PIN: Final = "Please say the PIN."
NOT_ALLOWED: Final = "The rules of this home don't allow that."
NOT_KNOWN: Final = (
    "The rules of this home can't be read, or have to be entered again, so I change nothing."
    " Open Settings, Repairs in Home Assistant."
)
type Storage = dict[str, Any]  # as the test storage of Home Assistant is typed


async def add_service(
    hass: HomeAssistant, *agents: str, **data: JsonValue
) -> MockConfigEntry:
    """Set up the offline service with agents of these names, as they are found in storage."""
    subentries = [
        ConfigSubentryData(
            data=data, subentry_type=SUBENTRY_CONVERSATION, title=name, unique_id=None
        )
        for name in agents
    ]
    entry = MockConfigEntry(
        domain=DOMAIN, data={CONF_KIND: ServiceKind.OFFLINE}, subentries_data=subentries
    )
    entry.add_to_hass(hass)
    assert await hass.config_entries.async_setup(entry.entry_id)
    await hass.async_block_till_done()
    return entry


@pytest.fixture
async def demo_home(hass: HomeAssistant) -> HomeAssistant:
    """Return a home to which nothing of ours was added yet."""
    await move_into_the_demo_home(hass, PART)
    return hass


@pytest.fixture
async def entry(demo_home: HomeAssistant) -> MockConfigEntry:
    """Set up two agents in that home."""
    return await add_service(demo_home, "One", "Other")


async def say(
    hass: HomeAssistant, text: str, agent_id: str, place: str = "hall"
) -> str:
    """Say something at a satellite."""
    talk = f"{place} {agent_id}"
    heard = await conversation.async_converse(
        hass, text, talk, Context(), "en", agent_id, device_id=place
    )
    await hass.async_block_till_done()
    return speech(heard)


async def unlock(
    hass: HomeAssistant, agent_id: str, *answers: str, place: str = "hall"
) -> str:
    """Ask an agent to unlock the door, answer, and return what it says last."""
    answer_text = await say(hass, "unlock the Front Door", agent_id, place)
    for answer in answers:
        answer_text = await say(hass, answer, agent_id, place)
    return answer_text


def issues(hass: HomeAssistant) -> dict[str, str]:
    """Return the agents that issues name, by the key of the issue."""
    found = ir.async_get(hass).issues.items()
    return {
        issue_id: (one.translation_placeholders or {}).get("agents", "")
        for (domain, issue_id), one in found
        if domain == DOMAIN
    }


async def open_form(hass: HomeAssistant, entry: MockConfigEntry, agent: int = 0) -> Any:
    """Open the form Confirmations of an agent of an entry."""
    subentry_id = [*entry.subentries][agent]
    menu = await hass.config_entries.subentries.async_init(
        (entry.entry_id, SUBENTRY_CONVERSATION),
        context={"source": "reconfigure", "subentry_id": subentry_id},
    )
    return await choose(hass, menu, "approvals")


async def enter(hass: HomeAssistant, step: Any, **changes: object) -> Any:
    """Fill in the form, and save."""
    home = await submit(hass, step, approvals(**changes))
    assert home["step_id"] == "home", home["errors"]
    result = await choose(hass, home, "save_approvals")
    await hass.async_block_till_done()
    return result


async def test_a_pin_of_one_form_is_needed_with_every_agent(
    hass: HomeAssistant, entry: MockConfigEntry
) -> None:
    before = entry.runtime_data
    assert await unlock(hass, OTHER) == "Unlock the Front Door in the Hallway?"
    result = await enter(hass, await open_form(hass, entry), pin=PIN)
    assert result["reason"] == "home_rules_saved"

    asked_again = await say(hass, "yes", OTHER)
    assert asked_again.startswith("The effect of this has changed")
    assert asked_again.endswith(PLEASE_THE_PIN)
    for agent_id in (ONE, OTHER):
        assert (await unlock(hass, agent_id)).endswith(PLEASE_THE_PIN)
        assert "A yes isn't enough" in await say(hass, "yes", agent_id)
        assert hass.states.is_state(DOOR, "locked")
    await say(hass, "7 3 9 1", OTHER)
    assert hass.states.is_state(DOOR, "unlocked")
    assert entry.runtime_data is before, "nothing was loaded again"


@pytest.mark.usefixtures("entry")
async def test_a_second_agent_gives_no_further_tries(hass: HomeAssistant) -> None:
    await set_home_rules(hass, **WITH_PIN)
    await unlock(hass, ONE, *["1 3 5 2"] * 4)
    assert "minutes" in await unlock(hass, OTHER, "1 3 5 2")
    await unlock(hass, OTHER, "7 3 9 1")
    await unlock(hass, ONE, "7 3 9 1")

    assert hass.states.is_state(DOOR, "locked")


async def test_a_service_that_is_added_obeys_too(
    hass: HomeAssistant, entry: MockConfigEntry
) -> None:
    await enter(
        hass,
        await open_form(hass, entry),
        rules=[{"verdict": "Never", "entities": [LIGHT]}],
    )
    await add_service(hass, "Third")

    assert (
        await say(hass, "turn on the Kitchen Ceiling Light", "conversation.third")
        == NOT_ALLOWED
    )
    assert hass.states.is_state(LIGHT, "off")


async def test_what_was_changed_elsewhere_meanwhile_is_not_overwritten(
    hass: HomeAssistant, entry: MockConfigEntry
) -> None:
    one, other = await open_form(hass, entry, 0), await open_form(hass, entry, 1)
    await enter(hass, one, rules=[{"verdict": "Never", "entities": [LIGHT]}])
    rules = async_get_home_rules(hass).current
    result = await enter(hass, other, notify=["notify.phone"])

    assert result["reason"] == "rules_changed_meanwhile"
    assert async_get_home_rules(hass).current == rules


async def test_rules_stay_until_the_last_service_is_removed(
    hass: HomeAssistant, entry: MockConfigEntry, hass_storage: Storage
) -> None:
    second = await add_service(hass, "Third")
    await enter(hass, await open_form(hass, entry), pin=PIN)
    hass.config_entries.async_remove_subentry(entry, next(iter(entry.subentries)))
    await hass.async_block_till_done()
    await hass.config_entries.async_remove(entry.entry_id)
    await hass.async_block_till_done()
    assert (await unlock(hass, "conversation.third")).endswith(PLEASE_THE_PIN)

    await hass.config_entries.async_remove(second.entry_id)
    assert KEY not in hass_storage
    await add_service(hass, "Fourth")
    assert (
        await unlock(hass, "conversation.fourth")
        == "Unlock the Front Door in the Hallway?"
    )


async def test_a_restart_changes_nothing(hass_storage: Storage) -> None:
    async with async_test_home_assistant() as first:
        await async_setup_component(first, "homeassistant", {})
        rules = await set_home_rules(
            first,
            **WITH_PIN,
            notify=["notify.phone"],
            ask_after_outside_content="nothing",
        )
        await first.async_stop(force=True)
    async with async_test_home_assistant() as second:
        store = async_get_home_rules(second)
        await store.async_load()
        assert store.current == rules == home_rules_of(hass_storage[KEY]["data"])
        assert PIN not in str(hass_storage[KEY])
        await second.async_stop(force=True)


UNREADABLE: Final[tuple[Storage, ...]] = (
    {"version": 99, "data": {}},
    {"version": 1, "data": [1]},
    {"version": 1, "data": {"rules": [{"verdict": "sometimes"}]}},
    {"version": 1, "data": {"rules": [], "moat": True}},
    {"version": 1, "data": {"pin": "7391"}},
    {"version": 1, "data": {"ask_after_outside_content": "later"}},
    {"version": 1, "data": {"trusted_callers": "automation.night"}},
)


async def test_rules_that_cannot_be_read_let_nothing_be_changed_and_stay_as_they_are(
    hass: HomeAssistant,
    hass_storage: Storage,
    caplog: pytest.LogCaptureFixture,
    subtests: pytest.Subtests,
) -> None:
    for stored in UNREADABLE:
        with subtests.test(stored=stored):
            hass_storage[KEY] = {"minor_version": 1, "key": KEY, **deepcopy(stored)}
            store = HomeRulesStore(hass)
            await store.async_load()
            assert store.current.policy.only_reads
            assert issues(hass) == {"home_rules_unreadable": ""}
            assert hass_storage[KEY]["data"] == stored["data"], "left as it is"
            await store.async_remove()
            assert not issues(hass)
    logged = [
        record.getMessage()
        for record in caplog.records
        if record.name != STORAGE_OF_TESTS
    ]
    assert PIN not in "\n".join(logged)


async def test_rules_that_cannot_be_read_stop_every_change_until_they_are_entered_again(
    hass: HomeAssistant, demo_home: HomeAssistant, hass_storage: Storage
) -> None:
    hass_storage[KEY] = {"minor_version": 1, "key": KEY, **deepcopy(UNREADABLE[2])}
    entry = await add_service(demo_home, "One", "Other")

    assert issues(hass) == {"home_rules_unreadable": ""}
    assert await say(hass, "turn on the Kitchen Ceiling Light", ONE) == NOT_KNOWN
    assert await unlock(hass, OTHER) == NOT_KNOWN

    await enter(hass, await open_form(hass, entry, 1), pin=PIN)
    assert not issues(hass)
    assert (await say(hass, "turn on the Kitchen Ceiling Light", ONE)).startswith(
        "Turned on"
    )
    assert (await unlock(hass, ONE)).endswith(PLEASE_THE_PIN)


@pytest.mark.parametrize(
    "text", ["", "{}", "null", '{"version": 1', '{"version": 1, "data": {"pi']
)
async def test_a_damaged_file_is_found_again_after_the_next_start(
    hass: HomeAssistant, text: str
) -> None:
    file = Path(hass.config.path(".storage", KEY))

    def write() -> None:
        file.parent.mkdir(exist_ok=True)
        file.write_text(text)

    await hass.async_add_executor_job(write)
    for _ in range(2):
        async with async_test_home_assistant(
            config_dir=hass.config.config_dir
        ) as started:
            store = async_get_home_rules(started)
            await store.async_load()
            assert store.current.policy.only_reads
            assert issues(started) == {"home_rules_unreadable": ""}
            await started.async_stop(force=True)
    assert await hass.async_add_executor_job(file.read_text) == text


async def test_a_file_of_rules_that_is_lost_is_missed(
    hass: HomeAssistant, entry: MockConfigEntry, hass_storage: Storage
) -> None:
    later = await add_service(hass, "Third")
    await enter(
        hass,
        await open_form(hass, entry),
        rules=[{"verdict": "Never", "entities": [LIGHT]}],
    )
    await hass.config_entries.async_remove(entry.entry_id)
    stored = hass_storage.pop(KEY)
    assert (
        later.minor_version
        == (await add_service(hass, "Fourth")).minor_version
        == WITH_RULES
    )

    store = HomeRulesStore(hass)
    await store.async_load()
    assert store.current.policy.only_reads
    assert [*issues(hass)] == ["home_rules_unreadable"]
    hass_storage[KEY] = stored
    async_fire_time_changed(hass, dt_util.utcnow() + timedelta(minutes=1, seconds=1))
    await hass.async_block_till_done()
    assert store.current == home_rules_of(stored["data"])
    assert not issues(hass)


async def test_a_home_without_rules_misses_no_file(
    hass: HomeAssistant, entry: MockConfigEntry
) -> None:
    assert (entry.version, entry.minor_version) == (ENTRY_VERSION, 1)
    store = HomeRulesStore(hass)
    await store.async_load()
    assert store.current == HomeRules()


async def fail(*_: object) -> None:
    raise OSError(errno.ENOSPC, "the disk is full")


async def test_a_stricter_rule_that_cannot_be_stored_holds_and_is_not_called_saved(
    hass: HomeAssistant,
    entry: MockConfigEntry,
    hass_storage: Storage,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    step = await open_form(hass, entry)
    with monkeypatch.context() as full:
        full.setattr(Store, "async_save", fail)
        full.setattr(shutil, "disk_usage", lambda _: shutil._ntuple_diskusage(1, 1, 0))  # noqa: SLF001  # its type
        result = await enter(
            hass, step, rules=[{"verdict": "Never", "entities": [LIGHT]}]
        )
        assert result["reason"] == "home_rules_no_room"
        assert await say(hass, "turn on the Kitchen Ceiling Light", ONE) == NOT_ALLOWED
        assert [*issues(hass)] == ["home_rules_not_stored"]
        assert KEY not in hass_storage

    async_fire_time_changed(hass, dt_util.utcnow() + timedelta(minutes=1, seconds=1))
    await hass.async_block_till_done()
    assert not issues(hass)
    assert (
        home_rules_of(hass_storage[KEY]["data"]) == async_get_home_rules(hass).current
    )


async def test_rules_that_an_agent_holds_are_refused_aloud(
    hass: HomeAssistant, demo_home: HomeAssistant, subtests: pytest.Subtests
) -> None:
    await add_service(hass, "Other")
    old: dict[str, JsonValue] = {
        key: WITH_PIN.get(key, []) for key in sorted(HOME_RULE_KEYS)
    }
    for key, held in old.items():
        with subtests.test(key=key):
            entry = await add_service(demo_home, "One", **{key: held})
            assert issues(hass) == {"home_rules_of_agents": "One"}
            assert async_get_home_rules(hass).current.policy.only_reads
            await hass.config_entries.async_remove(entry.entry_id)
            assert not issues(hass)
    entry = await add_service(demo_home, "One", **old)

    assert issues(hass) == {"home_rules_of_agents": "One"}
    for agent_id in (ONE, OTHER):
        assert (
            await say(hass, "turn on the Kitchen Ceiling Light", agent_id) == NOT_KNOWN
        )
        assert await unlock(hass, agent_id) == NOT_KNOWN

    await enter(hass, await open_form(hass, entry))
    assert not issues(hass)
    assert only_agent(entry).data == {}
    assert (await say(hass, "turn on the Kitchen Ceiling Light", ONE)).startswith(
        "Turned on"
    )


async def test_the_rules_of_an_agent_that_is_removed_are_refused_no_longer(
    hass: HomeAssistant, demo_home: HomeAssistant
) -> None:
    await add_service(hass, "Other")
    entry = await add_service(demo_home, "One", **WITH_PIN)
    await hass.config_entries.async_remove(entry.entry_id)
    await hass.async_block_till_done()

    assert not issues(hass)
    assert await unlock(hass, OTHER) == "Unlock the Front Door in the Hallway?"


def locks(verdict: str, **more: JsonValue) -> dict[str, JsonValue]:
    """Return a rule on locks."""
    return {"verdict": verdict, "domains": ["lock"], **more}


@pytest.mark.parametrize(
    ("rules", "uses", "refused_by"),
    [
        ([locks("ask")], ["unlock"], 1),
        ([locks("deny", areas=["hall"]), locks("allow")], ["unlock"], 2),
        (
            [
                {
                    "verdict": "ask",
                    "actions": [
                        "valve.open_valve",
                        "valve.set_valve_position",
                        "valve.toggle",
                    ],
                }
            ],
            ["open"],
            1,
        ),
        ([locks("ask")], ["open", "disarm"], None),
        ([locks("ask", areas=["hall"])], ["unlock"], None),
        (
            [locks("ask", window={"after": "22:00:00", "before": "06:00:00"})],
            ["unlock"],
            None,
        ),
        ([locks("deny")], ["unlock"], None),
        ([locks("ask", actions=["lock.unlock"])], ["unlock"], 1),
        ([locks("ask", actions=["lock.lock"])], ["unlock"], None),
        ([{"verdict": "ask"}], ["unlock"], None),
        ([{"verdict": "allow"}, locks("deny", areas=["hall"])], ["unlock"], 1),
        ([{"verdict": "ask"}, {"verdict": "deny"}], ["unlock"], 1),
    ],
)
def test_a_use_of_the_pin_that_a_rule_takes_away_is_found(
    rules: JsonValue, uses: list[str], refused_by: int | None
) -> None:
    assert without_effect(policy_from_json(rules).rules, uses) == refused_by


@pytest.mark.parametrize("verdict", [Verdict.ASK, Verdict.ALLOW])
def test_uses_of_the_pin_come_before_the_rule_for_everything_else(
    verdict: Verdict,
) -> None:
    rest, never = Rule(verdict=verdict), Rule(verdict=Verdict.DENY)
    first = Rule(verdict=Verdict.DENY, areas=frozenset({"hall"}))

    assert with_pin_uses((first, rest), PinUse) == (first, *pin_rules(PinUse), rest)
    assert with_pin_uses((first, never), PinUse) == (first, never, *pin_rules(PinUse))
    assert pin_uses(with_pin_uses((first, rest), ["open"])) == [PinUse.OPEN]
    assert len(pin_rules(PinUse)) == sum(
        rule.verdict is Verdict.ASK for rule in DEFAULT_RULES
    )


async def test_a_pin_for_nothing_is_refused(
    hass: HomeAssistant, entry: MockConfigEntry
) -> None:
    step = await submit(
        hass, await open_form(hass, entry), approvals(pin=PIN, pin_for=[])
    )
    assert step["errors"] == {"pin_for": "pin_for_nothing"}
    step = await submit(
        hass,
        step,
        approvals(pin=DOTS, rules=[{"verdict": "Ask first", "domains": ["Lock"]}]),
    )
    assert step["errors"] == {"pin_for": "pin_not_needed"}
    assert async_get_home_rules(hass).current == HomeRules()


async def test_a_pin_that_is_removed_is_told_and_its_uses_are_asked_about(
    hass: HomeAssistant, entry: MockConfigEntry
) -> None:
    await enter(hass, await open_form(hass, entry), pin=PIN)
    home = await submit(hass, await open_form(hass, entry), approvals())

    assert placeholders(home)["examples"].startswith("**The PIN is removed.**")
    await choose(hass, home, "save_approvals")
    assert async_get_home_rules(hass).current == HomeRules()
    assert await unlock(hass, ONE) == "Unlock the Front Door in the Hallway?"
    await say(hass, "yes", ONE)
    assert hass.states.is_state(DOOR, "unlocked")


def test_what_is_written_is_read() -> None:
    rules = HomeRules(
        policy=Policy((Rule(verdict=Verdict.PIN, domains=frozenset({"lock"})),)),
        pin=PinHash.of(PIN, HashCost(2, 1)),
        trusted_callers=frozenset({"automation.night"}),
        people_at_satellites={"hall": "person.anna"},
    )

    assert home_rules_of(home_rules_to_json(rules)) == rules
    assert home_rules_to_json(HomeRules()) == {}
