"""Answers to API clients are stored for their agent and person, as long as the owner wants, and never in the way."""

import asyncio
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from types import MappingProxyType

import pytest
from freezegun.api import FrozenDateTimeFactory
from homeassistant.config_entries import ConfigSubentry
from homeassistant.core import HomeAssistant
from pytest_homeassistant_custom_component.common import (
    MockConfigEntry,
    MockUser,
    async_fire_time_changed,
)

from custom_components.chatterbox.agent.messages import (
    AssistantMessage,
    ToolCall,
    ToolResult,
    Transcript,
    UserMessage,
)
from custom_components.chatterbox.const import (
    CONF_HISTORY_ADDRESS,
    CONF_KEEP_HISTORY,
    CONF_RESPONSE_DAYS,
    CONF_RESPONSE_MEGABYTES,
    CONF_RESPONSES_API,
)
from custom_components.chatterbox.history.store.history_store import HistoryStore
from custom_components.chatterbox.history.store.records import ResponseRecord
from custom_components.chatterbox.history.stores import async_get_histories
from custom_components.chatterbox.responses.backend import (
    EntryResponseStore,
    ResponsesBackend,
)
from custom_components.chatterbox.responses.protocol.backend import Caller
from custom_components.chatterbox.responses.protocol.errors import ApiError
from tests.history.store.records import DAY, MORNING, response, turn
from tests.support.config_entries import offline_entry, only_agent, set_up
from tests.support.listening_agent import a_user, add_person

ANNA = Caller("user")
"""The user of all `response()`s."""


@pytest.fixture
async def entry(hass: HomeAssistant, freezer: FrozenDateTimeFactory) -> MockConfigEntry:
    """Set up an agent, a day after all that is stored of it, and long enough ago that the clock is believed."""
    freezer.move_to(datetime.fromtimestamp(MORNING + DAY, UTC) - timedelta(hours=2))
    entry = await set_up(hass, offline_entry())
    freezer.move_to(datetime.fromtimestamp(MORNING + DAY, UTC))
    await set_options(hass, entry, **{CONF_RESPONSES_API: True})
    return entry


@pytest.fixture
def responses(hass: HomeAssistant, entry: MockConfigEntry) -> EntryResponseStore:
    """Return the responses of the agent."""
    return EntryResponseStore(hass, entry, only_agent(entry).subentry_id)


async def set_options(
    hass: HomeAssistant, entry: MockConfigEntry, **options: object
) -> None:
    """Change options, which loads the service anew."""
    hass.config_entries.async_update_entry(entry, options={**entry.options, **options})
    await hass.async_block_till_done(wait_background_tasks=True)


async def add_agent(hass: HomeAssistant, entry: MockConfigEntry) -> EntryResponseStore:
    """Add another agent to a service."""
    other = ConfigSubentry(
        data=MappingProxyType({}),
        subentry_type="conversation",
        title="Other",
        unique_id=None,
    )
    hass.config_entries.async_add_subentry(entry, other)
    await hass.async_block_till_done(wait_background_tasks=True)
    return EntryResponseStore(hass, entry, other.subentry_id)


async def open_store(hass: HomeAssistant, entry: MockConfigEntry) -> HistoryStore:
    """Return where everything is kept."""
    store = await async_get_histories(hass).async_open(entry)
    assert store
    return store


async def stored_numbers(responses: EntryResponseStore, *numbers: int) -> list[int]:
    """Return which of the responses of these numbers are kept."""
    return [number for number in numbers if await responses.get(f"resp {number}")]


async def test_a_response_is_kept_for_its_agent_and_its_person(
    hass: HomeAssistant, responses: EntryResponseStore
) -> None:
    MockUser(id="user", name="Anna").add_to_hass(hass)
    await add_person(hass, "Anna", "user")

    await responses.put(replace(response(1), agent="conversation.talker"))

    assert await responses.get("resp 1") == replace(
        response(1), agent=responses.agent, person_id="anna"
    )
    assert await responses.get("resp 2") is None


async def test_a_user_who_is_no_person_is_found_by_what_the_user_is(
    responses: EntryResponseStore,
) -> None:
    await responses.put(response(1))

    found = await responses.get("resp 1")
    assert found is not None
    assert found.person_id == "user"


async def test_a_response_survives_a_restart(
    hass: HomeAssistant, entry: MockConfigEntry, responses: EntryResponseStore
) -> None:
    await responses.put(response(1))
    await async_get_histories(hass).async_release(entry)

    assert await stored_numbers(responses, 1) == [1]


async def test_a_chain_is_told_in_its_order_whoever_asked(
    responses: EntryResponseStore,
) -> None:
    for record in (
        response(1),
        replace(response(2), user_id="another"),
        response(3),
        response(4, "another chain"),
    ):
        await responses.put(record)
    await responses.put(response(1))

    assert list(await responses.chain("resp 1")) == ["resp 1", "resp 2", "resp 3"]
    assert list(await responses.chain("resp 1", 2)) == ["resp 2", "resp 3"]


async def test_agents_of_a_service_share_chains_and_those_of_others_do_not(
    hass: HomeAssistant, entry: MockConfigEntry, responses: EntryResponseStore
) -> None:
    other = await add_agent(hass, entry)
    await responses.put(response(1))
    await other.put(response(2))
    elsewhere = await set_up(hass, offline_entry())
    stranger = EntryResponseStore(hass, elsewhere, only_agent(elsewhere).subentry_id)

    assert await stored_numbers(other, 1, 2) == [1, 2]
    assert list(await responses.chain("resp 1")) == ["resp 1", "resp 2"]
    assert await stored_numbers(stranger, 1, 2) == []
    assert await stranger.chain("resp 1") == {}


async def test_a_response_that_is_deleted_is_gone(
    responses: EntryResponseStore,
) -> None:
    await responses.put(response(1))
    await responses.put(response(2))

    await responses.delete("resp 1")

    assert await stored_numbers(responses, 1, 2) == [2]


async def test_an_agent_that_keeps_nothing_keeps_no_response(
    hass: HomeAssistant,
) -> None:
    entry = await set_up(hass, offline_entry(**{CONF_KEEP_HISTORY: False}))
    responses = EntryResponseStore(hass, entry, only_agent(entry).subentry_id)

    await responses.put(response(1))

    assert await stored_numbers(responses, 1) == []


async def test_an_agent_that_is_removed_takes_its_responses_along(
    hass: HomeAssistant, entry: MockConfigEntry, responses: EntryResponseStore
) -> None:
    other = await add_agent(hass, entry)
    await responses.put(response(1))
    await other.put(response(2))
    hass.config_entries.async_remove_subentry(entry, other.agent)
    await hass.async_block_till_done(wait_background_tasks=True)

    await other.put(response(3))  # of a response that ended too late

    store = await open_store(hass, entry)
    assert await store.response("resp 1") is not None
    assert await store.response("resp 2") is None
    assert await store.response("resp 3") is None


async def test_what_is_put_before_the_history_is_open_is_kept_too(
    hass: HomeAssistant, entry: MockConfigEntry, responses: EntryResponseStore
) -> None:
    await async_get_histories(hass).async_release(entry)

    await responses.put(response(1, status="in_progress"))
    await responses.put(response(1))
    await hass.async_block_till_done(wait_background_tasks=True)

    found = await responses.get("resp 1")
    assert found is not None
    assert found.response["status"] == "completed"


async def test_nobody_waits_for_a_store_that_is_busy(
    hass: HomeAssistant,
    entry: MockConfigEntry,
    responses: EntryResponseStore,
    freezer: FrozenDateTimeFactory,
) -> None:
    store = await open_store(hass, entry)
    await store.pause()
    try:
        putting = asyncio.create_task(responses.put(response(1)))
        await asyncio.sleep(0)
        freezer.tick(0.11)
        await putting
        assert store.state.waiting == 1
        assert await stored_numbers(responses, 1) == [1], "what waits is found"
    finally:
        store.resume()


@pytest.mark.parametrize("address", ["sqlite:////dev/null/talk.db", "no address"])
async def test_a_store_that_is_down_fails_questions_and_no_response(
    hass: HomeAssistant,
    entry: MockConfigEntry,
    responses: EntryResponseStore,
    address: str,
) -> None:
    await set_options(hass, entry, **{CONF_HISTORY_ADDRESS: address})

    await responses.put(response(1))
    for question in (
        responses.get("resp 2"),
        responses.chain("resp 1"),
        responses.delete("resp 1"),
        responses.conversation("talk", ANNA),
    ):
        with pytest.raises(ApiError, match="Settings → Repairs") as raised:
            await question
        assert (raised.value.status, raised.value.payload["type"]) == (
            503,
            "server_error",
        )
        assert "/dev/null" not in raised.value.message, (
            "where it is kept is nobody's business"
        )


async def test_a_conversation_is_what_the_caller_and_this_agent_have_said(
    hass: HomeAssistant, entry: MockConfigEntry, responses: EntryResponseStore
) -> None:
    MockUser(id="user", name="Anna").add_to_hass(hass)
    await add_person(hass, "Anna", "user")
    store = await open_store(hass, entry)
    for record in (
        turn(
            1,
            "talk",
            agent=responses.agent,
            person="user",
            words="Before I was a person.",
        ),
        turn(2, "talk", agent=responses.agent, person="ben", words="I am Ben."),
        turn(3, "talk", agent="another", person="anna", words="To somebody else."),
        turn(4, "talk", agent=responses.agent, person="anna", words="It is me."),
        turn(
            5,
            "talk",
            agent=responses.agent,
            device="kitchen",
            words="Nobody knows who.",
        ),
    ):
        assert await store.record(record).stored()

    assert await responses.conversation("talk", ANNA) == (
        UserMessage("Before I was a person."),
        AssistantMessage("It is 1."),
        UserMessage("It is me."),
        AssistantMessage("It is 4."),
    )


async def test_functions_that_a_client_has_to_run_wait_in_a_conversation(
    hass: HomeAssistant, entry: MockConfigEntry, responses: EntryResponseStore
) -> None:
    store = await open_store(hass, entry)
    call_message = AssistantMessage(tool_calls=(ToolCall("c1", "show_page", "{}"),))
    result = ToolResult("c1", "show_page", "Shown.")
    transcripts: tuple[Transcript, ...] = (
        (UserMessage("Show it."), call_message),
        (result, AssistantMessage("Here it is.")),
    )
    for number, messages in enumerate(transcripts):
        record = turn(
            number, "talk", agent=responses.agent, person="user", messages=messages
        )
        assert await store.record(record).stored()
        if number == 0:
            assert await responses.conversation("talk", ANNA) == (
                UserMessage("Show it."),
                call_message,
            )

    assert await responses.conversation("talk", ANNA) == (
        UserMessage("Show it."),
        call_message,
        result,
        AssistantMessage("Here it is."),
    )


async def test_a_conversation_of_others_is_none_of_the_callers(
    hass: HomeAssistant, entry: MockConfigEntry, responses: EntryResponseStore
) -> None:
    store = await open_store(hass, entry)
    store.record(turn(1, "talk", agent=responses.agent, person="ben"))
    assert await store.record(
        turn(2, "satellite", agent=responses.agent, device="kitchen")
    ).stored()
    assert await store.record(
        turn(3, "elsewhere", agent="another", person="user")
    ).stored()

    assert await responses.conversation("talk", ANNA) is None
    assert await responses.conversation("satellite", ANNA) is None
    assert await responses.conversation("elsewhere", ANNA) == ()
    assert await responses.conversation("new", ANNA) == ()
    assert await responses.conversation("talk", Caller(await a_user(hass))) is None


async def test_too_many_responses_are_deleted_as_they_come(
    hass: HomeAssistant, entry: MockConfigEntry, responses: EntryResponseStore
) -> None:
    await set_options(hass, entry, **{CONF_RESPONSE_MEGABYTES: 1})

    for number in range(1, 5):
        await responses.put(response(number, words="x" * 200_000))
        await hass.async_block_till_done(wait_background_tasks=True)

    assert await stored_numbers(responses, 1, 2, 3, 4) == [3, 4]


async def test_small_responses_are_not_looked_after_each_time(
    hass: HomeAssistant, entry: MockConfigEntry, responses: EntryResponseStore
) -> None:
    await set_options(
        hass, entry, **{CONF_RESPONSE_DAYS: 0.5, CONF_RESPONSE_MEGABYTES: 1}
    )

    await responses.put(response(1))
    await hass.async_block_till_done(wait_background_tasks=True)
    assert await stored_numbers(responses, 1) == [1], (
        "too old, and left to the retention of the history"
    )

    await responses.put(response(2, words="x" * 100_000))
    await hass.async_block_till_done(wait_background_tasks=True)
    assert await stored_numbers(responses, 1) == []


@pytest.mark.parametrize(
    ("options", "left"),
    [
        ({}, [2, 3]),
        ({CONF_RESPONSE_DAYS: 0}, [1, 2, 3]),
        ({CONF_RESPONSE_DAYS: 2}, [3]),
        ({CONF_RESPONSE_DAYS: 2, CONF_RESPONSE_MEGABYTES: 0}, [3]),
    ],
    ids=["as it is", "for ever", "two days", "as large as it gets"],
)
async def test_old_responses_go_from_time_to_time(
    hass: HomeAssistant,
    entry: MockConfigEntry,
    responses: EntryResponseStore,
    options: dict[str, object],
    left: list[int],
) -> None:
    await set_options(hass, entry, **options)
    for number, age in ((1, 31), (2, 10), (3, 0)):
        await responses.put(response(number, created_at=MORNING + DAY - age * DAY))

    async_fire_time_changed(
        hass, datetime.fromtimestamp(MORNING + DAY, UTC) + timedelta(hours=6, seconds=1)
    )
    await hass.async_block_till_done(wait_background_tasks=True)

    assert await stored_numbers(responses, 1, 2, 3) == left


async def test_retention_waits_for_a_store_that_is_down(
    hass: HomeAssistant,
    entry: MockConfigEntry,
    responses: EntryResponseStore,
    caplog: pytest.LogCaptureFixture,
) -> None:
    for address in ("sqlite:////dev/null/talk.db", "no address"):
        await set_options(
            hass,
            entry,
            **{CONF_HISTORY_ADDRESS: address, CONF_RESPONSE_MEGABYTES: 0.01},
        )
        await responses.put(response(1, words="x" * 10_000))
        await hass.async_block_till_done(wait_background_tasks=True)
    assert "Traceback" not in caplog.text


async def test_the_home_knows_where_the_responses_of_its_agents_are(
    hass: HomeAssistant, entry: MockConfigEntry, responses: EntryResponseStore
) -> None:
    other = await add_agent(hass, entry)
    await set_up(hass, offline_entry())  # a service without the API
    backend = ResponsesBackend(hass)

    stores = [backend.store(card.id) for card in backend.agents()]
    assert [
        store.agent for store in stores if isinstance(store, EntryResponseStore)
    ] == [other.agent, responses.agent]
    await responses.put(response(1))
    await other.put(response(2))
    found = [
        await store.get(name)
        for store in backend.stores()
        for name in ("resp 1", "resp 2")
    ]
    assert [one.id for one in found if isinstance(one, ResponseRecord)] == [
        "resp 1",
        "resp 2",
    ]

    off = {CONF_KEEP_HISTORY: False}
    hass.config_entries.async_update_subentry(
        entry, entry.subentries[other.agent], data=off
    )
    await hass.async_block_till_done(wait_background_tasks=True)
    assert [backend.store(card.id) is None for card in backend.agents()].count(
        True
    ) == 1


async def test_a_client_that_goes_while_its_response_is_stored_takes_nothing_along(
    hass: HomeAssistant, entry: MockConfigEntry, responses: EntryResponseStore
) -> None:
    store = await open_store(hass, entry)
    await store.pause()
    putting = asyncio.create_task(responses.put(response(1)))
    await asyncio.sleep(0)
    putting.cancel()
    await asyncio.wait({putting})
    store.resume()

    assert await stored_numbers(responses, 1) == [1]
