"""The actions that delete and give out what was stored: what they mean, who may call them, and what goes wrong."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest
from freezegun.api import FrozenDateTimeFactory
from homeassistant.auth.const import GROUP_ID_USER
from homeassistant.auth.models import User
from homeassistant.config_entries import SOURCE_IGNORE, ConfigSubentry
from homeassistant.core import Context, HomeAssistant
from homeassistant.exceptions import (
    HomeAssistantError,
    ServiceValidationError,
    Unauthorized,
)
from homeassistant.helpers.dispatcher import async_dispatcher_send
from homeassistant.setup import async_setup_component
from homeassistant.util import dt as dt_util
from pytest_homeassistant_custom_component.common import MockConfigEntry, MockUser

from custom_components.chatterbox.actions.history import SERVICE_EXPORT, SERVICE_PURGE
from custom_components.chatterbox.const import (
    CONF_DIAGNOSE_WORDS,
    CONF_HISTORY_ADDRESS,
    DOMAIN,
)
from custom_components.chatterbox.history.store.history_store import HistoryStore
from custom_components.chatterbox.history.stores import async_get_histories
from custom_components.chatterbox.memory.facts import (
    HOUSEHOLD,
    Keeper,
    async_get_memories,
)
from custom_components.chatterbox.records.turn_record import SIGNAL_TURN, TurnRecord
from custom_components.chatterbox.runtime.recent_turns import async_get_recent_turns
from tests.history.store.records import (
    DAY,
    MORNING,
    audit,
    response as api_response,
    turn,
)
from tests.support.config_entries import offline_entry, set_up
from tests.support.documented_yaml import blocks_with
from tests.support.listening_agent import add_person
from tests.support.one_home import in_one_home
from tests.support.talk import AGENT

OTHER = "conversation.other"
ALL = ["turn 1", "turn 2", "turn 3", "turn 4", "audit 5", "resp 6"]
GUEST_SERVICE = "Guest house"


@pytest.fixture
async def entry(
    hass: HomeAssistant, hass_owner_user: MockUser, freezer: FrozenDateTimeFactory
) -> MockConfigEntry:
    """Set up two agents, in a home with an owner, ten days after all that is stored of them."""
    assert hass_owner_user.is_admin
    freezer.move_to(datetime.fromtimestamp(MORNING + 10 * DAY, UTC))
    entry = await set_up(hass, offline_entry())
    other = ConfigSubentry(
        data=MappingProxyType({}),
        subentry_type="conversation",
        title="Other",
        unique_id=None,
    )
    hass.config_entries.async_add_subentry(entry, other)
    await hass.async_block_till_done(wait_background_tasks=True)
    MockUser(id="user-of-anna", name="Anna").add_to_hass(hass)
    await add_person(hass, "Anna", "user-of-anna")
    return entry


@pytest.fixture
async def store(hass: HomeAssistant, entry: MockConfigEntry) -> HistoryStore:
    """Store what two people said to two agents; Anna once before she was a person."""
    store = await async_get_histories(hass).async_open(entry)
    assert store
    talker, other = entry.subentries
    store.record(turn(1, "a", agent=talker, person="anna"))
    store.record(turn(2, "a", agent=talker, person="ben"))
    store.record(turn(3, "b", agent=other, person="user-of-anna"))
    store.record(turn(4, "b", agent=other, ended_at=MORNING + 8 * DAY))
    store.record(audit(5, "a", agent=talker, person="anna"))
    assert await store.record(
        api_response(6, "a", agent=talker, person="user-of-anna")
    ).stored()
    return store


async def call(hass: HomeAssistant, service: str, **data: object) -> Mapping[str, Any]:
    """Call an action, and return its response."""
    response = await hass.services.async_call(
        DOMAIN, service, dict(data), blocking=True, return_response=True
    )
    assert response is not None
    return response


async def call_as(hass: HomeAssistant, user: User, service: str) -> None:
    """Call an action with everything, as a user."""
    data, context = {"everything": True}, Context(user_id=user.id)
    await hass.services.async_call(
        DOMAIN, service, data, blocking=True, context=context
    )


async def refusal(
    hass: HomeAssistant, service: str, **data: object
) -> HomeAssistantError:
    """Return why a call is refused."""
    with pytest.raises(HomeAssistantError) as raised:
        await call(hass, service, **data)
    return raised.value


def folder_of(hass: HomeAssistant) -> Path:
    """Return where files are written."""
    return Path(hass.config.path("chatterbox_exports"))


def lines_of(file: str | Path) -> list[dict[str, Any]]:
    """Return the records of a file."""
    return [
        json.loads(line) for line in Path(file).read_text(encoding="utf-8").splitlines()
    ]


def exports(hass: HomeAssistant) -> list[Path]:
    """Return the files that were written."""
    return sorted(folder_of(hass).glob("*"))


async def stored_texts(hass: HomeAssistant) -> list[str]:
    """Return the ids of what is stored."""
    return [
        record["id"]
        for record in (
            await call(hass, SERVICE_EXPORT, everything=True, as_response=True)
        )["records"]
    ]


@pytest.mark.usefixtures("store")
@pytest.mark.parametrize(
    ("choice", "chosen"),
    [
        ({"conversation_id": "a"}, ["turn 1", "turn 2", "audit 5", "resp 6"]),
        ({"person": "person.anna"}, ["turn 1", "audit 5", "turn 3", "resp 6"]),
        ({"agent_id": OTHER, "older_than_days": 5}, ["turn 3"]),
        ({"person": "person.anna", "agent_id": AGENT}, ["turn 1", "audit 5", "resp 6"]),
        ({"everything": True}, ALL),
    ],
)
async def test_selected_records_are_exported_and_deleted(
    hass: HomeAssistant, choice: dict[str, object], chosen: list[str]
) -> None:
    response = await call(hass, SERVICE_EXPORT, as_response=True, **choice)
    assert [record["id"] for record in response["records"]] == chosen
    kinds = [one.split()[0] for one in chosen]
    for name, kind in (
        ("turns", "turn"),
        ("audit_records", "audit"),
        ("responses", "resp"),
    ):
        assert response[name] == kinds.count(kind)

    assert await call(hass, SERVICE_PURGE, **choice) == {
        "deleted": len(chosen),
        "facts": 0,
    }
    assert await stored_texts(hass) == [one for one in ALL if one not in chosen]


@pytest.mark.usefixtures("store")
@in_one_home(
    ("choice", "message"),
    [
        ({}, "Nothing is selected"),
        ({"everything": False}, "Nothing is selected"),
        ({"everything": True, "agent_id": AGENT}, "Everything can't be combined"),
        ({"everything": True, "person": "person.anna"}, "Everything can't be combined"),
        (
            {"agent_id": "conversation.home_assistant"},
            "conversation.home_assistant is not a Chatterbox agent",
        ),
        ({"person": "person.nobody"}, "person.nobody does not exist"),
        ({"facts": True}, "Nothing is selected"),
        (
            {"facts": True, "person": "person.anna", "older_than_days": 1},
            "do not belong to a conversation",
        ),
        ({"facts": True, "conversation_id": "a"}, "do not belong to a conversation"),
    ],
)
async def test_an_unclear_selection_is_refused(
    hass: HomeAssistant, choice: dict[str, object], message: str
) -> None:
    for service in (SERVICE_PURGE, SERVICE_EXPORT):
        error = await refusal(hass, service, **choice)

        assert isinstance(error, ServiceValidationError)
        assert message in str(error)
    assert await stored_texts(hass) == ALL
    assert exports(hass) == []


@pytest.mark.usefixtures("store")
@pytest.mark.parametrize("service", [SERVICE_PURGE, SERVICE_EXPORT])
async def test_only_administrators_may_call_them(
    hass: HomeAssistant, hass_admin_user: MockUser, service: str
) -> None:
    guest = await hass.auth.async_create_user("Guest", group_ids=[GROUP_ID_USER])

    with pytest.raises(Unauthorized):
        await call_as(hass, guest, service)
    assert await stored_texts(hass) == ALL
    assert exports(hass) == []
    await call_as(hass, hass_admin_user, service)
    assert bool(exports(hass)) != (await stored_texts(hass) == [])


@pytest.mark.usefixtures("store")
async def test_a_file_holds_every_record_and_is_never_written_over(
    hass: HomeAssistant,
) -> None:
    first = await call(hass, SERVICE_EXPORT, everything=True)
    second = await call(hass, SERVICE_EXPORT, conversation_id="b")
    third = await call(hass, SERVICE_EXPORT, conversation_id="b")

    assert first == {
        "path": str(exports(hass)[0]),
        "turns": 4,
        "audit_records": 1,
        "responses": 1,
        "facts": 0,
    }
    assert [second["turns"], third["turns"]] == [2, 2]
    name = exports(hass)[0].stem
    assert [file.name for file in exports(hass)] == [
        f"{name}.jsonl",
        f"{name}_2.jsonl",
        f"{name}_3.jsonl",
    ]
    lines = lines_of(first["path"])
    assert [line["id"] for line in lines] == ALL
    assert lines[0]["messages"][0]["text"] == "Say 1."
    assert exports(hass)[0].stat().st_mode & 0o777 == 0o600


async def test_many_records_are_written_in_steps(
    hass: HomeAssistant, store: HistoryStore
) -> None:
    stored = [store.record(turn(number, "many")) for number in range(1000, 1600)]
    assert await stored[-1].stored()

    response = await call(hass, SERVICE_EXPORT, conversation_id="many")
    assert (response["turns"], response["audit_records"]) == (600, 0)
    assert len(lines_of(response["path"])) == 600


async def test_too_much_for_a_response_is_refused(
    hass: HomeAssistant, store: HistoryStore
) -> None:
    assert await store.record(turn(6, words="x" * 600_000)).stored()

    error = await refusal(hass, SERVICE_EXPORT, everything=True, as_response=True)
    assert isinstance(error, ServiceValidationError)
    assert "too many records" in str(error)
    assert exports(hass) == []


@pytest.mark.usefixtures("store")
async def test_returned_records_need_a_requested_response(hass: HomeAssistant) -> None:
    with pytest.raises(
        ServiceValidationError, match="only be returned if the caller requests"
    ):
        await hass.services.async_call(
            DOMAIN,
            SERVICE_EXPORT,
            {"everything": True, "as_response": True},
            blocking=True,
        )
    await hass.services.async_call(
        DOMAIN, SERVICE_EXPORT, {"everything": True}, blocking=True
    )
    assert len(exports(hass)) == 1
    await hass.services.async_call(
        DOMAIN, SERVICE_PURGE, {"everything": True}, blocking=True
    )
    assert await stored_texts(hass) == []


@pytest.mark.usefixtures("store")
async def test_a_linked_folder_has_to_be_allowed(
    hass: HomeAssistant, tmp_path_factory: pytest.TempPathFactory
) -> None:
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    folder_of(hass).symlink_to(elsewhere)

    assert "allowlist_external_dirs" in str(
        await refusal(hass, SERVICE_EXPORT, everything=True)
    )
    assert list(elsewhere.iterdir()) == []

    hass.config.allowlist_external_dirs = {str(elsewhere)}
    await call(hass, SERVICE_EXPORT, everything=True)
    assert len(list(elsewhere.iterdir())) == 1


@pytest.mark.usefixtures("store")
async def test_a_file_that_cannot_be_written_is_reported(hass: HomeAssistant) -> None:
    folder_of(hass).write_text("in the way")

    error = await refusal(hass, SERVICE_EXPORT, everything=True)
    assert not isinstance(error, ServiceValidationError)
    assert "can't be written: File exists" in str(error)


async def remember(hass: HomeAssistant, entry: MockConfigEntry) -> None:
    """Have both agents remember something of Anna, one of them before she was a person, and one of Ben."""
    talker, other = entry.subentries
    memories = async_get_memories(hass)
    await memories.async_add(Keeper(talker, "anna"), "Likes tea.", "Anna")
    await memories.async_add(Keeper(other, "user-of-anna"), "Likes cats.", "Anna")
    await memories.async_add(Keeper(talker, "ben"), "Likes rain.", "Ben")
    await memories.async_add(HOUSEHOLD, "Bins.", "", dt_util.utcnow() + timedelta(1))


async def facts(hass: HomeAssistant) -> list[str]:
    """Return what is remembered."""
    response = await call(
        hass, SERVICE_EXPORT, everything=True, facts=True, as_response=True
    )
    texts = [
        record["text"] for record in response["records"] if record["kind"] == "fact"
    ]
    assert response["facts"] == len(texts)
    return sorted(texts)


@pytest.mark.usefixtures("store")
@in_one_home(
    ("choice", "chosen"),
    [
        ({"person": "person.anna"}, ["Likes cats.", "Likes tea."]),
        ({"agent_id": AGENT}, ["Likes rain.", "Likes tea."]),
        ({"person": "person.anna", "agent_id": AGENT}, ["Likes tea."]),
        ({"everything": True}, ["Bins.", "Likes cats.", "Likes rain.", "Likes tea."]),
    ],
    puts_back=True,
)
async def test_facts_are_exported_and_deleted_on_request(
    hass: HomeAssistant,
    entry: MockConfigEntry,
    choice: dict[str, object],
    chosen: list[str],
) -> None:
    await remember(hass, entry)

    written = await call(hass, SERVICE_EXPORT, facts=True, **choice)
    records = [
        record for record in lines_of(written["path"]) if record["kind"] == "fact"
    ]
    assert sorted(record["text"] for record in records) == chosen
    assert written["facts"] == len(chosen)
    assert (await call(hass, SERVICE_EXPORT, as_response=True, **choice))["facts"] == 0
    assert (await call(hass, SERVICE_PURGE, **choice))["facts"] == 0
    assert (await call(hass, SERVICE_PURGE, facts=True, **choice))["facts"] == len(
        chosen
    )
    assert sorted(chosen + await facts(hass)) == [
        "Bins.",
        "Likes cats.",
        "Likes rain.",
        "Likes tea.",
    ]


@pytest.fixture
def unreadable_facts(hass_storage: dict[str, Any]) -> None:
    """Have a file of facts that somebody has spoiled."""
    hass_storage["chatterbox.memories"] = {
        "version": 1,
        "key": "chatterbox.memories",
        "data": {"people": 1},
    }


@pytest.mark.usefixtures("unreadable_facts", "store")
async def test_unreadable_facts_are_reported_before_anything_is_deleted(
    hass: HomeAssistant,
) -> None:
    assert "What is remembered cannot be read" in str(
        await refusal(hass, SERVICE_PURGE, everything=True, facts=True)
    )
    assert await stored_texts(hass) == ALL


async def a_service_with_a_history_at(
    hass: HomeAssistant, address: str
) -> MockConfigEntry:
    entry = MockConfigEntry(
        domain=DOMAIN,
        title=GUEST_SERVICE,
        data={"kind": "offline"},
        options={CONF_HISTORY_ADDRESS: address},
        subentries_data=[],
    )
    return await set_up(hass, entry)


@pytest.mark.usefixtures("store")
@pytest.mark.parametrize(
    ("address", "where"),
    [
        ("no address", GUEST_SERVICE),
        ("sqlite:////dev/null/talk.db", "/dev/null/talk.db"),
    ],
)
async def test_a_history_that_is_down_is_reported_and_the_others_are_purged(
    hass: HomeAssistant, address: str, where: str
) -> None:
    await a_service_with_a_history_at(hass, address)

    exporting = str(await refusal(hass, SERVICE_EXPORT, everything=True))
    assert f"The history in {where} can't be read at the moment" in exporting
    assert "Settings → Repairs" in exporting
    assert exports(hass) == []
    purging = str(await refusal(hass, SERVICE_PURGE, everything=True))
    assert f"The history in {where} can't be used at the moment" in purging
    assert f"Records deleted elsewhere: {len(ALL)}." in purging


async def test_an_ignored_discovery_has_no_history(hass: HomeAssistant) -> None:
    MockConfigEntry(domain=DOMAIN, source=SOURCE_IGNORE).add_to_hass(hass)

    assert not await async_get_histories(hass).async_open_all()


async def test_two_histories_of_one_name_are_two(
    hass: HomeAssistant, tmp_path: Path
) -> None:
    for address in ("", "?timeout=3"):
        await a_service_with_a_history_at(
            hass, f"sqlite:///{tmp_path}/talk.db{address}"
        )

    (first, store), (second, other) = await async_get_histories(hass).async_open_all()
    assert first == second
    assert store is not other


async def test_a_purge_drops_the_words_of_diagnostics(
    hass: HomeAssistant, entry: MockConfigEntry
) -> None:
    hass.config_entries.async_update_entry(entry, options={CONF_DIAGNOSE_WORDS: True})
    await hass.async_block_till_done(wait_background_tasks=True)
    agent = next(iter(entry.subentries))
    async_dispatcher_send(
        hass, SIGNAL_TURN, TurnRecord("My plan", agent, {"turn_id": "1"})
    )
    (recorded,) = async_get_recent_turns(hass).of(agent)
    assert recorded.words is not None

    await call(hass, SERVICE_PURGE, older_than_days=1)

    (recorded,) = async_get_recent_turns(hass).of(agent)
    assert recorded.words is None


async def test_the_documented_automation_deletes_old_records(
    hass: HomeAssistant, store: HistoryStore
) -> None:
    (automation,) = (
        block for block in blocks_with("chatterbox.purge") if "triggers" in block
    )
    assert await store.record(turn(7, ended_at=MORNING - 300 * DAY)).stored()
    assert await async_setup_component(
        hass, "automation", {"automation": {"alias": "Clean", **automation}}
    )

    for service in ("trigger", "turn_off"):
        await hass.services.async_call(
            "automation", service, {"entity_id": "automation.clean"}, blocking=True
        )
    await hass.async_block_till_done()

    assert await stored_texts(hass) == ALL


async def test_the_documented_script_exports_before_it_deletes(
    hass: HomeAssistant, entry: MockConfigEntry, store: HistoryStore
) -> None:
    (script,) = blocks_with("chatterbox.export")
    assert not store.state.trouble
    await remember(hass, entry)
    assert await async_setup_component(hass, "persistent_notification", {})
    assert await async_setup_component(
        hass, "script", {"script": {"forget_anna": script}}
    )

    await hass.services.async_call("script", "forget_anna", {}, blocking=True)

    (file,) = exports(hass)
    lines = lines_of(file)
    assert [line["id"] for line in lines if line["kind"] != "fact"] == [
        "turn 1",
        "audit 5",
        "turn 3",
        "resp 6",
    ]
    assert [line["text"] for line in lines if line["kind"] == "fact"] == [
        "Likes tea.",
        "Likes cats.",
    ]
    assert await facts(hass) == ["Bins.", "Likes rain."]
    assert await stored_texts(hass) == ["turn 2", "turn 4"]
