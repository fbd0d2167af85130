"""What has become of a record is told to everybody who waits for it, whatever became of the others who did."""

import asyncio
import threading

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


def test_an_answer_for_a_loop_that_is_gone_harms_nobody() -> None:
    acknowledgement = Acknowledgement()
    loop = asyncio.new_event_loop()
    waiting = loop.create_task(acknowledgement.stored())
    loop.run_until_complete(asyncio.sleep(0))
    waiting.cancel()
    loop.run_until_complete(asyncio.wait((waiting,)))
    loop.close()
    acknowledgement.give(stored=True)
    assert acknowledgement.given
