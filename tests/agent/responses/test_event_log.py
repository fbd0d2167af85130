"""Events that are kept to be followed: how much of them, and what is told to whoever comes too late."""

import asyncio

import pytest

from custom_components.chatterbox.agent.messages import JsonObject
from custom_components.chatterbox.agent.responses.errors import ApiError
from custom_components.chatterbox.agent.responses.event_log import EventLog
from tests.agent.turns import let_others_go_on


def event(number: int) -> JsonObject:
    """Return an event of 22 characters."""
    return {"sequence_number": number}


async def test_whoever_follows_gets_what_was_and_what_comes() -> None:
    log = EventLog()
    log.add(event(0))

    async def follow(after: int | None) -> list[JsonObject]:
        return [one async for one in log.follow(after)]

    following = [asyncio.create_task(follow(after)) for after in (None, 0, 1)]
    for number in (1, 2):
        await let_others_go_on()
        log.add(event(number))
    log.end()

    assert [await one for one in following] == [[event(0), event(1), event(2)], [event(1), event(2)], [event(2)]]


async def test_only_so_much_is_kept_and_who_comes_late_is_told() -> None:
    log = EventLog(most_characters=50)
    for number in range(5):
        log.add(event(number))
    log.end()

    assert log.characters <= 50
    assert [one async for one in log.follow(2)] == [event(3), event(4)]
    with pytest.raises(ApiError, match="start after 2") as refused:
        log.follow(None)
    assert (refused.value.status, refused.value.param) == (400, "starting_after")


async def test_what_is_larger_than_all_that_may_be_kept_is_kept_until_the_next_comes() -> None:
    log = EventLog(most_characters=10)
    log.add(event(0))
    assert await anext(log.follow(None)) == event(0)
    log.add(event(1))
    assert await anext(log.follow(0)) == event(1)


async def test_who_reads_too_slowly_is_told() -> None:
    log = EventLog(most_characters=50)
    log.add(event(0))
    following = log.follow(None)
    await anext(following)

    for number in range(1, 6):
        log.add(event(number))
    rest = [one async for one in following]

    (told,) = rest
    assert (told["type"], told["sequence_number"]) == ("error", 1)
    assert isinstance(told["error"], dict)
    assert told["error"]["code"] == "stream_lost"
