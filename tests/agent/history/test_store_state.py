"""What has become of a record is told to everybody who waits for it, whatever became of the others who did."""

import asyncio
import gc
import threading
import weakref

import pytest

from custom_components.chatterbox.agent.history.store_state import Acknowledgement


async def test_who_stops_waiting_does_not_take_the_answer_from_others() -> None:
    acknowledgement = Acknowledgement()
    impatient, patient = asyncio.create_task(acknowledgement.stored()), asyncio.create_task(acknowledgement.stored())
    await asyncio.sleep(0)
    impatient.cancel()
    writer = threading.Thread(target=acknowledgement.give, kwargs={"stored": True})
    writer.start()
    assert await patient is True
    assert impatient.cancelled()
    assert acknowledgement.given
    assert await acknowledgement.stored(), "also for who asks later"
    writer.join()


async def test_an_answer_that_nobody_takes_any_more_is_given() -> None:
    acknowledgement = Acknowledgement()
    impatient = asyncio.create_task(acknowledgement.stored())
    await asyncio.sleep(0)
    acknowledgement.give(stored=False)
    impatient.cancel()
    await asyncio.wait((impatient,))
    assert not await acknowledgement.stored()


async def test_nothing_is_kept_of_who_gave_up() -> None:
    """A store may be down for days, and be asked at every turn."""
    acknowledgement = Acknowledgement()
    impatient = acknowledgement.stored()
    answer = weakref.ref(impatient.send(None))
    assert answer() is not None
    with pytest.raises(asyncio.CancelledError):
        impatient.throw(asyncio.CancelledError)
    gc.collect()
    assert answer() is None


async def test_who_waits_for_some_time_only_goes_on_then() -> None:
    acknowledgement = Acknowledgement()
    impatient = acknowledgement.stored(0)
    answer = impatient.send(None)
    await asyncio.wait([answer])
    kept = weakref.ref(answer)
    del answer
    with pytest.raises(StopIteration) as ended:
        impatient.send(None)
    assert ended.value.value is False
    gc.collect()
    assert kept() is None
    assert not acknowledgement.given
    acknowledgement.give(stored=True)
    assert await acknowledgement.stored(0)


async def test_an_answer_in_time_is_given_at_once() -> None:
    acknowledgement = Acknowledgement()
    waiting = asyncio.create_task(acknowledgement.stored(3600))
    await asyncio.sleep(0)
    acknowledgement.give(stored=True)
    assert await waiting


def test_an_answer_for_a_loop_that_is_gone_harms_nobody() -> None:
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
