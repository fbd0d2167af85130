"""Commands of the page are refused to those who may not send them, and not quoted."""

from collections.abc import Awaitable, Callable

import pytest

from custom_components.chatterbox.history.store.history_store import HistoryStore
from custom_components.chatterbox.history.store.records import StoredTurn
from tests.history.store.records import turn
from tests.panel.conftest import OpenPage
from tests.support.one_home import in_one_home


async def stored(store: HistoryStore, *turns: StoredTurn) -> None:
    for one in turns[:-1]:
        store.record(one)
    assert await store.record(turns[-1]).stored()


@pytest.mark.each_row
@pytest.mark.parametrize(
    "command",
    ["turns/list", "turns/get", "turns/report", "turns/delete", "turns/subscribe"],
)
async def test_a_user_gets_nothing_of_a_page_that_is_for_administrators(
    store: HistoryStore,
    open_as_ben: Callable[[], Awaitable[OpenPage]],
    command: str,
    agent: str,
) -> None:
    await stored(store, turn(1, agent=agent, person="ben"))
    ben = await open_as_ben()

    assert await ben.error(command, turn_id="turn 1") == "unauthorized"


@in_one_home(
    ("command", "data"),
    [
        ("turns/list", {"limit": 1000}),
        ("turns/list", {"limit": "many"}),
        ("turns/list", {"cursor": "'; drop"}),
        ("turns/list", {"cursor": "9" * 20}),
        ("turns/list", {"cursor": "1..2"}),
        ("turns/list", {"words": "a" * 300}),
        ("turns/list", {"marks": ["all"]}),
        ("turns/get", {}),
        ("turns/get", {"turn_id": ""}),
        ("turns/get", {"turn_id": "turn 1", "password": "4711"}),
    ],
)
async def test_an_invalid_command_is_not_quoted(
    page: OpenPage,
    command: str,
    data: dict[str, object],
    caplog: pytest.LogCaptureFixture,
) -> None:
    answer = await page.send(command, **data)

    assert answer["error"]["code"] == "invalid_format"
    assert "4711" not in str(answer) + caplog.text
