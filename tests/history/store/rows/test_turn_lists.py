"""Turns are listed, looked up and deleted, in each kind of database."""

from dataclasses import replace

from custom_components.chatterbox.agent.events import StopReason
from custom_components.chatterbox.history.store.history_store import HistoryStore
from custom_components.chatterbox.history.store.query import Selection, TurnList
from custom_components.chatterbox.history.store.records import Record
from tests.history.store.records import DAY, MORNING, audit, response, turn
from tests.history.store.stores import Stores
from tests.support.one_home import in_one_home

CUT_OFF: frozenset[StopReason | None] = frozenset({None})


async def opened(stores: Stores, url: str, *records: Record) -> HistoryStore:
    store, _ = stores.open(url)
    for record in records:
        assert await store.record(record).stored()
    return store


async def listed(store: HistoryStore, query: TurnList) -> tuple[list[str], int | None]:
    found, total = await store.listed_turns(query)
    return [one.turn.id.removeprefix("turn ") for one in found], total


async def test_a_list_goes_on_before_the_last_turn_of_a_page(
    url: str, stores: Stores
) -> None:
    store = await opened(stores, url, *map(turn, range(1, 6)))

    found, total = await store.listed_turns(TurnList(most=2))

    assert ([one.turn.id for one in found], total) == (["turn 5", "turn 4"], 5)
    assert await listed(store, TurnList(most=2, before=found[-1].seq)) == (
        ["3", "2"],
        None,
    )
    assert await listed(store, TurnList(before=1)) == ([], None)
    assert await store.delete_turn(found[0].turn) == 1
    assert await store.record(turn(6)).stored()
    (newest,), _ = await store.listed_turns(TurnList(most=1))
    assert newest.seq > found[0].seq, "a page never goes on after another turn"


@in_one_home(
    ("query", "found"),
    [
        (TurnList(people=frozenset({"ann", "user of ann"})), "51"),
        (TurnList(people=frozenset()), ""),
        (TurnList(people=frozenset({"", "None"})), ""),
        (TurnList(agent="other"), "2"),
        (TurnList(device_id="hall"), "3"),
        (TurnList(words="CAFE no"), "2"),
        (TurnList(words="caf"), "2"),
        (TurnList(words="?", people=frozenset({"ann"})), ""),
        (TurnList(words="say", people=frozenset({"ann"})), "1"),
        (TurnList(ends=frozenset({StopReason.DEADLINE})), "4"),
        (TurnList(ends=frozenset({StopReason.DEADLINE, None})), "43"),
        (TurnList(ends=CUT_OFF), "3"),
        (TurnList(slower_than=5), "54"),
        (TurnList(slower_than=9), ""),
        (TurnList(since=MORNING + 120, until=MORNING + 200), "32"),
    ],
)
async def test_turns_that_match_all_of_a_query_are_listed(
    url: str, stores: Stores, query: TurnList, found: str
) -> None:
    store = await opened(
        stores,
        url,
        turn(1, person="ann"),
        turn(2, agent="other", words="No café"),
        replace(turn(3, device="hall"), stop_reason=None),
        replace(turn(4), stop_reason=StopReason.DEADLINE, duration=9.0),
        replace(
            turn(5, person="user of ann", words="Quick, then long"),
            duration=2.0,
            timings={"first_words": 5_001.0},
        ),
    )

    assert await listed(store, query) == ([*found], len(found))


async def test_a_turn_comes_with_its_own_changes_and_its_neighbours(
    url: str, stores: Stores
) -> None:
    changes = [
        audit(1),
        replace(audit(2), turn_id="turn 2"),
        replace(audit(3), turn_id=None),
        audit(4),
    ]
    others = [turn(3, "another talk"), turn(4, person="ann")]
    store = await opened(stores, url, turn(1), turn(2), *changes, *others)

    found = await store.turn("turn 2")

    assert found is not None
    assert (found.previous, found.next, [one.id for one in found.changes]) == (
        "turn 1",
        "turn 4",
        ["audit 2"],
    )
    page, _ = await store.listed_turns(TurnList())
    assert {
        one.turn.id: [change.id for change in one.changes]
        for one in page
        if one.changes
    } == {
        "turn 2": ["audit 2"],
        "turn 1": ["audit 1", "audit 4"],
    }


async def test_a_turn_of_somebody_else_is_not_found(url: str, stores: Stores) -> None:
    store = await opened(
        stores, url, turn(1, person="ann"), turn(2, person="ben"), turn(3)
    )

    assert await store.turn("turn 1", frozenset({"ben"})) is None
    assert await store.turn("turn 3", frozenset({"ben"})) is None
    assert await store.turn("turn 9") is None
    found = await store.turn("turn 2", frozenset({"ben"}))
    assert found is not None
    assert (found.previous, found.next) == (None, None)


async def test_a_turn_goes_with_its_changes_and_the_response_that_came_of_it(
    url: str, stores: Stores
) -> None:
    talk = "kitchen talk"
    store = await opened(
        stores,
        url,
        *(turn(1), turn(2), turn(3)),
        *(audit(1), replace(audit(2), turn_id="turn 2")),
        response(1, talk, created_at=turn(1).ended_at),
        response(2, talk, created_at=MORNING + 119),
        response(3, talk, agent="other", created_at=MORNING + 119),
        response(4, talk, created_at=MORNING - DAY),
    )
    found = await store.turn("turn 2")
    assert found is not None

    assert await store.delete_turn(found.turn) == 3

    left = [line async for line in store.export(Selection())]
    deleted = {f'"id":"{one} 2"' for one in ("turn", "audit", "resp")}
    assert (
        len(left),
        [line for line in left if any(one in line for one in deleted)],
    ) == (6, [])
