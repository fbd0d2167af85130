"""Stored turns are found by the words of the person and of the answer, for that person alone."""

from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st
from sqlalchemy import create_engine, text
from sqlalchemy.pool import NullPool

from custom_components.chatterbox.agent.messages import (
    AssistantMessage,
    ToolCall,
    ToolResult,
    Transcript,
    UserMessage,
)
from custom_components.chatterbox.history.store.history_store import HistoryStore
from custom_components.chatterbox.history.store.query import (
    Found,
    HistoryQuery,
    Retention,
    Selection,
    TurnList,
)
from custom_components.chatterbox.history.store.records import StoredTurn
from custom_components.chatterbox.history.store.search import MOST_WORDS, search_phrases
from tests.support.one_home import in_one_home
from tests.support.thorough import some_examples

from .records import MORNING, spoken, turn
from .stores import ON_BOTH, Stores


async def search(
    store: HistoryStore, words: str, person: str = "ann", most: int = 10
) -> list[str]:
    """Return the ids of the turns that are found, the best first."""
    return [
        one.turn_id
        for one in await store.search(
            HistoryQuery(words=words, person_id=person, most=most)
        )
    ]


async def stored(stores: Stores, url: str, *recorded: StoredTurn) -> HistoryStore:
    """Return a store with these turns."""
    store, _ = stores.open(url)
    answers = [store.record(one) for one in recorded]
    assert all([await answer.stored() for answer in answers])
    return store


def stored_turn(
    number: int, words: str, answer: str = "Yes.", person: str | None = "ann"
) -> StoredTurn:
    """Return a turn of somebody."""
    return turn(number, person=person, messages=spoken(words, answer))


def from_outside(number: int, conversation: str = "kitchen talk") -> StoredTurn:
    """Return a turn in which a page was read."""
    call_message = AssistantMessage(tool_calls=(ToolCall("a", "read", "{}"),))
    page = ToolResult("a", "read", "Buy tulips!", open_world=True)
    page_messages: Transcript = (
        UserMessage("What is new?"),
        call_message,
        page,
        AssistantMessage("Flowers are cheap."),
    )
    return turn(number, conversation, person="ann", messages=page_messages)


@ON_BOTH
@in_one_home(
    "words",
    [
        "wifi password",
        "WIFI",
        "password of the wifi",
        "is the wi",
        "wi",
        "Schlüssel",
        "schlussel",
        "SCHLÜSSEL",
        "Straße 7",
        "STRASSE",
    ],
)
async def test_words_are_found_in_any_order_and_case_and_without_accents(
    url: str, stores: Stores, words: str
) -> None:
    store = await stored(
        stores,
        url,
        stored_turn(
            1,
            "What is the password of the WiFi?",
            "The Schlüssel is in Straße 7, second floor.",
        ),
        stored_turn(2, "Good night!", "Sleep well."),
    )
    assert await search(store, words) == ["turn 1"]


@in_one_home(
    ("words", "found"),
    [
        ("厨房的灯", ["turn 2", "turn 1"]),
        ("打开厨房", ["turn 1"]),
        ("房厨", []),
        ("灯 关闭", ["turn 2"]),
        ("ライト", ["turn 3"]),
        ("打开light", ["turn 1"]),
    ],
)
async def test_scripts_without_spaces_are_found_by_what_stands_together(
    url: str, stores: Stores, words: str, found: list[str]
) -> None:
    store = await stored(
        stores,
        url,
        stored_turn(1, "打开厨房的灯", "The light is on."),
        stored_turn(2, "关闭厨房的灯"),
        stored_turn(3, "キッチンのライトをつけて"),
    )
    assert await search(store, words) == found


async def test_a_person_finds_only_their_own_turns(url: str, stores: Stores) -> None:
    store = await stored(
        stores,
        url,
        stored_turn(1, "The secret is blue."),
        stored_turn(2, "The secret is red.", person="ben"),
        stored_turn(3, "The secret is green.", person=None),
        stored_turn(4, "The secret is white.", person=""),
    )
    assert await search(store, "secret", "ann") == ["turn 1"]
    assert await search(store, "secret", "ben") == ["turn 2"]
    for nobody in ("eve", "", "None", "a"):
        assert await search(store, "secret", nobody) == []
        assert await search(store, "", nobody) == []


async def test_a_search_is_limited_to_an_agent_and_a_time(
    url: str, stores: Stores
) -> None:
    store = await stored(
        stores,
        url,
        *(
            turn(
                n,
                person="ann",
                agent=f"agent {n % 2}",
                ended_at=MORNING + n,
                words="Hello",
            )
            for n in range(6)
        ),
    )
    query = HistoryQuery(words="hello", person_id="ann")

    async def found(query: HistoryQuery) -> list[str]:
        return [one.turn_id[-1] for one in await store.search(query)]

    assert await found(replace(query, agent="agent 1")) == ["5", "3", "1"]
    assert await found(replace(query, since=MORNING + 4)) == ["5", "4"]
    assert await found(replace(query, until=MORNING + 1)) == ["1", "0"]
    assert await found(
        replace(query, since=MORNING + 1, until=MORNING + 3, agent="agent 0")
    ) == ["2"]
    assert await found(replace(query, since=MORNING + 99)) == []
    assert await found(
        replace(query, words="", since=MORNING + 1, until=MORNING + 3)
    ) == ["3", "2", "1"]
    assert await found(replace(query, words=" ", most=2)) == ["5", "4"]
    assert await found(replace(query, most=2)) == ["5", "4"]
    assert await found(replace(query, most=1)) == ["5"]
    assert await found(replace(query, most=0)) == []
    assert await found(replace(query, most=-1)) == []


async def test_a_time_is_searched_although_the_clock_was_set_back(
    url: str, stores: Stores
) -> None:
    ended = (MORNING, MORNING + 900, MORNING + 100, MORNING + 950, MORNING + 200)
    store = await stored(
        stores,
        url,
        *(
            turn(number, person="ann", ended_at=at, words="Hello")
            for number, at in enumerate(ended)
        ),
    )
    query = HistoryQuery(
        words="hello", person_id="ann", since=MORNING + 50, until=MORNING + 920
    )
    for words in ("hello", "nowhere hello", ""):
        found = await store.search(replace(query, words=words))
        assert [one.turn_id for one in found] == ["turn 4", "turn 2", "turn 1"]


async def test_turns_with_all_words_are_found_else_those_with_any(
    url: str, stores: Stores
) -> None:
    store = await stored(
        stores,
        url,
        stored_turn(1, "Kitchen lamp, please."),
        stored_turn(2, "Kitchen!"),
        stored_turn(3, "Lamp!"),
        stored_turn(4, "Nothing."),
    )
    assert await search(store, "the kitchen lamp") == ["turn 1", "turn 3", "turn 2"]
    assert await search(store, "kitchen lamp") == ["turn 1"]
    assert await search(store, "garage") == []
    assert await search(store, "?!") == []
    assert sorted(await search(store, "lamp?!")) == ["turn 1", "turn 3"]


async def test_a_rare_word_counts_more_than_many_frequent_ones(
    url: str, stores: Stores
) -> None:
    store = await stored(
        stores,
        url,
        stored_turn(1, "Weather!"),
        *(stored_turn(number, "What did I say to you?") for number in range(2, 9)),
    )
    assert (await search(store, "what did I say about the weather"))[0] == "turn 1"


@in_one_home("words", ["a" * 200, "a" * 41, "a" * 40])
async def test_a_very_long_word_is_found(url: str, stores: Stores, words: str) -> None:
    store = await stored(
        stores, url, stored_turn(1, "a" * 200), stored_turn(2, "b" * 200)
    )
    assert await search(store, words) == ["turn 1"]


async def test_a_very_long_text_is_found_by_its_first_words(
    url: str, stores: Stores
) -> None:
    long = " ".join(
        f"{number}\N{MATHEMATICAL DOUBLE-STRUCK CAPITAL A}" for number in range(20_000)
    )
    store = await stored(stores, url, stored_turn(1, long, long))
    assert await search(store, f"{MOST_WORDS - 1}A") == ["turn 1"]
    assert await search(store, f"{MOST_WORDS}A") == []
    assert await search(store, long) == ["turn 1"]


async def test_a_found_turn_is_clipped(url: str, stores: Stores) -> None:
    store = await stored(
        stores, url, stored_turn(1, "Tell me\na story.", "Once upon a time. " * 100)
    )
    (found,) = await store.search(HistoryQuery(words="story", person_id="ann"))
    assert found == Found(
        turn_id="turn 1",
        at=turn(1).ended_at,
        words="Tell me a story.",
        answered=found.answered,
        has_outside_content=False,
    )
    assert found.answered.startswith("Once upon a time. Once")
    assert found.answered.endswith("…")
    assert len(found.answered) == 500


async def marks(store: HistoryStore) -> dict[str, bool]:
    """Return for each turn whether anything from outside may be in its answer."""
    found = await store.search(HistoryQuery(words="", person_id="ann", most=99))
    return {one.turn_id: one.has_outside_content for one in found}


async def test_outside_content_marks_the_rest_of_its_conversation(
    url: str, stores: Stores
) -> None:
    store = await stored(
        stores,
        url,
        stored_turn(1, "Hello."),
        from_outside(2),
        stored_turn(3, "Thanks."),
    )
    assert await search(store, "tulips") == [], "results of tools are not searched"
    assert await search(store, "flowers") == ["turn 2"]
    assert await store.record(turn(4, person="ann")).stored()
    assert await store.record(turn(5, "another talk", person="ann")).stored()
    assert await marks(store) == {
        "turn 1": False,
        "turn 2": True,
        "turn 3": True,
        "turn 4": True,
        "turn 5": False,
    }

    await store.prune("agent", Retention(size=1_500))
    left = await marks(store)
    assert "turn 2" not in left
    assert left["turn 4"]
    assert await store.record(turn(6, person="ann")).stored()
    assert (await marks(store))["turn 6"]


async def test_a_waiting_turn_is_stored_before_the_search(
    url: str, stores: Stores
) -> None:
    store = await stored(
        stores, url, stored_turn(0, "Hello.")
    )  # a new database may take longer than a search waits
    for number in range(1, 16, 3):
        store.record(stored_turn(number, "Lamp."))
        assert len(await search(store, "lamp", most=99)) == number
        store.record(stored_turn(number + 1, "Lamp."))
        assert await store.turn(f"turn {number + 1}") is not None
        store.record(stored_turn(number + 2, "Lamp."))
        assert len((await store.listed_turns(TurnList()))[0]) == number + 3


async def test_a_search_does_not_wait_while_nothing_is_written(
    sqlite: str, stores: Stores
) -> None:
    store = await stored(stores, sqlite, stored_turn(1, "Lamp."))
    await store.pause()
    store.record(stored_turn(2, "Lamp."))
    assert await search(store, "lamp") == ["turn 1"]
    store.resume()
    assert await search(store, "lamp") == ["turn 2", "turn 1"]


def rows_in_the_index(url: str) -> int:
    """Return how many turns can be found."""
    with create_engine(url, poolclass=NullPool).connect() as connection:
        count: int = connection.scalar(text("SELECT count(*) FROM chatterbox_search"))
    return count


@ON_BOTH
@pytest.mark.parametrize("count", [100, 2_100], ids=["some", "many"])
async def test_deleted_turns_are_not_found(
    url: str, stores: Stores, count: int
) -> None:
    store = await stored(
        stores,
        url,
        *(
            stored_turn(number, "Lamp!", person="ben" if number % 100 else "ann")
            for number in range(count)
        ),
    )
    left = count // 100
    assert await store.purge(Selection(person_id="ben")) == count - left
    assert await search(store, "lamp", "ben") == []
    assert rows_in_the_index(url) == left
    assert await store.record(stored_turn(count, "Lamp!")).stored()
    newest = [
        f"turn {count}",
        *(f"turn {number}" for number in range(count - 100, -1, -100)),
    ]
    assert await search(store, "lamp", "ann", 99) == newest, (
        "of equal turns the newer is found first"
    )
    await store.prune("agent", Retention(size=0))
    assert rows_in_the_index(url) == 0


_ODD = (
    st.text(max_size=40)
    | st.text("'\"*():-^&|!<>%_\\\0 aä灯", max_size=12)
    | st.sampled_from(["AND", "NEAR(a b)", "a:b"])
)


@settings(
    max_examples=some_examples(25),
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(talks=st.lists(st.tuples(_ODD, _ODD), min_size=1, max_size=3), words=_ODD)
async def test_any_text_is_found_by_any_of_its_words(
    url: str, talks: list[tuple[str, str]], words: str
) -> None:
    store = HistoryStore(url, lambda _state: None)
    store.start()
    try:
        await store.purge(Selection())
        for number, (question, answer) in enumerate(talks):
            assert await store.record(stored_turn(number, question, answer)).stored()
        await search(store, words)
        for number, (question, answer) in enumerate(talks):
            for word in (question, answer, *question.split(), *answer.split()):
                if search_phrases(word):
                    assert f"turn {number}" in await search(store, word)
    finally:
        await store.close()
