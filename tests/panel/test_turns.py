"""The page lists stored turns, shows one, and deletes it; a user sees their own."""

from collections.abc import Awaitable, Callable
from dataclasses import replace

import pytest
from homeassistant.core import Context, HomeAssistant
from pytest_homeassistant_custom_component.common import MockConfigEntry, MockUser

from custom_components.chatterbox.agent.events import StopReason
from custom_components.chatterbox.const import (
    CONF_HISTORY_ADDRESS,
    CONF_KEEP_HISTORY,
)
from custom_components.chatterbox.history.store.history_store import HistoryStore
from custom_components.chatterbox.history.store.records import StoredTurn
from custom_components.chatterbox.history.stores import async_get_histories
from custom_components.chatterbox.usage.tracker import async_get_usage_tracker
from tests.history.store.records import MORNING, audit, response, turn
from tests.panel.conftest import OpenPage
from tests.support.config_entries import offline_entry, only_agent, set_up
from tests.support.home_rules import set_home_rules
from tests.support.talk import say


async def stored(store: HistoryStore, *turns: StoredTurn) -> None:
    for one in turns[:-1]:
        store.record(one)
    assert await store.record(turns[-1]).stored()


def ids(answer: dict[str, list[dict[str, object]]]) -> list[object]:
    return [row["id"] for row in answer["turns"]]


async def test_turns_are_listed_page_by_page_the_newest_first(
    page: OpenPage, store: HistoryStore, agent: str
) -> None:
    await stored(store, *(turn(number, agent=agent) for number in range(1, 6)))

    first = await page.ask("turns/list", limit=2)
    second = await page.ask("turns/list", limit=2, cursor=first["next"])
    last = await page.ask("turns/list", limit=2, cursor=second["next"])

    assert [ids(first), ids(second), ids(last)] == [
        ["turn 5", "turn 4"],
        ["turn 3", "turn 2"],
        ["turn 1"],
    ]
    assert (first["total"], second["total"], last["next"]) == (5, None, None)
    row = first["turns"][0]
    assert (row["words"], row["answer"], row["agent"], row["agent_id"]) == (
        "Say 5.",
        "It is 5.",
        "Talker",
        agent,
    )
    assert (row["at"], row["duration_ms"], row["marks"]) == (MORNING + 300, 2000, [])


async def test_what_is_listed_can_be_narrowed(
    page: OpenPage, store: HistoryStore, agent: str
) -> None:
    await stored(
        store,
        turn(1, agent=agent, person="anna", words="Close the blinds"),
        replace(turn(2, agent=agent, device="hall"), stop_reason=None),
        replace(turn(3, agent=agent), stop_reason=StopReason.APPROVAL_REQUIRED),
        replace(turn(4, agent=agent), stop_reason=StopReason.PROVIDER_FAILED),
        replace(
            turn(5, agent=agent, words="Which blinds?"), timings={"first_words": 6000.0}
        ),
        turn(6, agent="removed"),
    )

    async def found(**wanted: object) -> list[object]:
        answer = await page.ask("turns/list", **wanted)
        assert answer["total"] == len(answer["turns"])
        return ids(answer)

    assert await found(words="BLIND") == ["turn 5", "turn 1"]
    assert await found(words="?!") == []
    assert await found(person_id="anna") == ["turn 1"]
    assert await found(device_id="hall") == ["turn 2"]
    assert await found(agent=agent) == [
        "turn 5",
        "turn 4",
        "turn 3",
        "turn 2",
        "turn 1",
    ]
    assert await found(marks=["failed"]) == ["turn 4"]
    assert await found(marks=["failed", "asked"]) == ["turn 4", "turn 3"]
    assert await found(marks=["asked"]) == ["turn 3"]
    assert await found(marks=["slow"]) == ["turn 5"]
    assert await found(marks=["slow", "failed"]) == []
    assert await found(since_at=MORNING + 290, until_at=MORNING + 310) == ["turn 5"]


async def test_what_the_page_lists_as_failed_is_what_the_sensors_count(
    hass: HomeAssistant, page: OpenPage, store: HistoryStore, agent: str
) -> None:
    for words in ("Polish the moon", "Hello", "Open the sesame gate of yesterday"):
        await say(hass, words)
    await stored(store, turn(1))

    answer = await page.ask("turns/list", marks=["failed"], agent=agent)

    assert (
        async_get_usage_tracker(hass).latest_usage(agent).failures
        == answer["total"]
        == 2
    )
    assert [row["marks"] for row in answer["turns"]] == [
        [{"kind": "not_done", "text": ""}]
    ] * 2


async def test_turns_of_several_databases_are_one_list(
    hass: HomeAssistant, page: OpenPage, store: HistoryStore, agent: str
) -> None:
    other = await set_up(hass, offline_entry())
    options = {CONF_HISTORY_ADDRESS: f"sqlite:///{hass.config.path('2.db')}"}
    hass.config_entries.async_update_entry(other, options=options)
    await hass.async_block_till_done()
    other_store = await async_get_histories(hass).async_open(other)
    assert other_store
    await stored(
        store, turn(1, agent=agent), turn(4, agent=agent), turn(5, agent=agent)
    )
    await stored(other_store, turn(2), turn(3))

    first = await page.ask("turns/list", limit=3)
    second = await page.ask("turns/list", limit=3, cursor=first["next"])

    assert [ids(first), ids(second)] == [
        ["turn 5", "turn 4", "turn 3"],
        ["turn 2", "turn 1"],
    ]
    assert (first["total"], second["next"]) == (5, None)
    assert (await page.ask("turns/get", turn_id="turn 2"))["id"] == "turn 2"
    assert await page.error("turns/list", cursor="7") == "not_found"


@pytest.mark.parametrize(
    "address", ["sqlite:////no/such/folder/x.db", "mysql://anna:a-password@server/x"]
)
async def test_a_database_that_cannot_be_read_hides_no_other(
    hass: HomeAssistant,
    page: OpenPage,
    store: HistoryStore,
    agent: str,
    *,
    address: str,
) -> None:
    other = await set_up(hass, offline_entry())
    hass.config_entries.async_update_entry(
        other, options={CONF_HISTORY_ADDRESS: address}
    )
    await hass.async_block_till_done()
    await stored(store, turn(1, agent=agent))

    answer = await page.ask("turns/list")

    assert (ids(answer), answer["total"], len(answer["unreachable"])) == (
        ["turn 1"],
        1,
        1,
    )
    assert "a-password" not in str(answer)
    assert (await page.ask("turns/get", turn_id="turn 1"))["id"] == "turn 1"


async def test_a_history_that_is_down_says_so(
    hass: HomeAssistant, page: OpenPage, entry: MockConfigEntry
) -> None:
    options = {CONF_HISTORY_ADDRESS: "sqlite:////no/such/folder/x.db"}
    hass.config_entries.async_update_entry(entry, options=options)
    await hass.async_block_till_done()

    for command in ("turns/list", "turns/get", "turns/delete"):
        assert (
            await page.error(
                command, **({"turn_id": "a"} if command != "turns/list" else {})
            )
            == "history_down"
        )


async def test_a_turn_is_deleted_with_all_that_tells_of_it(
    page: OpenPage, store: HistoryStore, agent: str
) -> None:
    store.record(audit(1, agent=agent))
    store.record(
        response(
            1, "kitchen talk", agent=agent, words="Say 1.", created_at=MORNING + 59
        )
    )
    store.record(response(2, "kitchen talk", agent=agent, created_at=MORNING + 119))
    await stored(store, turn(1, agent=agent, words="My secret"), turn(2, agent=agent))

    assert await page.ask("turns/delete", turn_id="turn 1") == {"deleted": 3}

    assert ids(await page.ask("turns/list")) == ["turn 2"]
    assert (await page.ask("turns/list", words="secret"))["turns"] == []
    assert await store.response("resp 1") is None
    assert await store.response("resp 2") is not None
    assert await page.error("turns/get", turn_id="turn 1") == "not_found"
    assert await page.error("turns/delete", turn_id="turn 1") == "not_found"


@pytest.fixture
async def shared(hass: HomeAssistant) -> None:
    """Show the page to all users."""
    await set_home_rules(hass, shows_page_to_all=True)


@pytest.mark.usefixtures("shared")
async def test_a_user_sees_their_own_turns(
    store: HistoryStore,
    open_as_ben: Callable[[], Awaitable[OpenPage]],
    hass_read_only_user: MockUser,
    agent: str,
) -> None:
    ben = await open_as_ben()
    before = turn(3, agent=agent, person=hass_read_only_user.id)
    await stored(
        store,
        turn(1, agent=agent, person="anna"),
        turn(2, agent=agent, person="ben"),
        before,
        turn(4, agent=agent),
    )

    listed = await ben.ask("turns/list")

    assert (ids(listed), listed["total"]) == (["turn 3", "turn 2"], 2)
    assert ids(await ben.ask("turns/list", words="say")) == ["turn 3", "turn 2"]
    assert ids(await ben.ask("turns/list", person_id="anna")) == []
    detail = await ben.ask("turns/get", turn_id="turn 2")
    assert (detail["previous"], detail["next"]) == (None, "turn 3")
    for command in ("turns/get", "turns/report", "turns/delete"):
        assert await ben.error(command, turn_id="turn 1") == "not_found"
    assert await ben.ask("turns/delete", turn_id="turn 2") == {"deleted": 1}


@pytest.mark.usefixtures("shared")
async def test_a_page_is_told_of_each_turn_that_its_user_sees(
    hass: HomeAssistant,
    page: OpenPage,
    open_as_ben: Callable[[], Awaitable[OpenPage]],
    hass_read_only_user: MockUser,
) -> None:
    ben = await open_as_ben()
    await page.ask("turns/subscribe")
    await ben.ask("turns/subscribe")

    await say(hass, "Hello", "a-talk")
    theirs = await page.event()
    assert ids(await page.ask("turns/list")) == [theirs["turn_id"]]

    await say(
        hass, "Hello", "bens-talk", context=Context(user_id=hass_read_only_user.id)
    )
    assert await ben.event() == await page.event() != theirs


@pytest.mark.usefixtures("shared")
async def test_a_page_is_not_told_of_a_turn_that_its_agent_does_not_keep(
    hass: HomeAssistant, page: OpenPage, entry: MockConfigEntry
) -> None:
    await page.ask("turns/subscribe")

    for keeps in (False, True):
        data = {**only_agent(entry).data, CONF_KEEP_HISTORY: keeps}
        hass.config_entries.async_update_subentry(entry, only_agent(entry), data=data)
        await hass.async_block_till_done()
        await say(hass, "Hello", f"a-talk-{keeps}")

    event = await page.event()
    assert ids(await page.ask("turns/list")) == [event["turn_id"]]
