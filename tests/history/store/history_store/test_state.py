"""Acknowledgements reach every waiter, whatever became of the others."""

import asyncio
import threading

import pytest

from custom_components.chatterbox.history.store.records import Acknowledgement


async def test_a_cancelled_waiter_does_not_take_the_answer_from_others() -> None:
    acknowledgement = Acknowledgement()
    cancelled, waiter = (
        asyncio.create_task(acknowledgement.stored()),
        asyncio.create_task(acknowledgement.stored()),
    )
    await asyncio.sleep(0)
    cancelled.cancel()
    writer = threading.Thread(target=acknowledgement.give, kwargs={"stored": True})
    writer.start()
    assert await waiter is True
    assert cancelled.cancelled()
    assert acknowledgement.given
    assert await acknowledgement.stored(), "also for later waiters"
    writer.join()


@pytest.mark.parametrize("seconds", [0, 0.01])
async def test_a_bounded_wait_ends_and_a_later_one_gets_the_answer(
    seconds: float,
) -> None:
    acknowledgement = Acknowledgement()
    assert not await acknowledgement.stored(seconds)
    assert not acknowledgement.given
    acknowledgement.give(stored=True)
    assert await acknowledgement.stored(0)


def test_a_waiter_on_a_closed_loop_does_not_matter() -> None:
    acknowledgement = Acknowledgement()
    waiting = acknowledgement.stored()

    async def begin() -> None:
        waiting.send(None)

    loop = asyncio.new_event_loop()
    loop.run_until_complete(begin())
    loop.close()
    acknowledgement.give(stored=True)
    assert acknowledgement.given
    waiting.close()
