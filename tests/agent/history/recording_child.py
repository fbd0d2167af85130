"""A process that records turns as fast as it can, and says which ones are acknowledged, until somebody kills it.

Run as a program; it takes the folder of the integration, the address of a database and the number of its first turn. It
loads the agent package alone, because Home Assistant takes a while to load.
"""

import asyncio
import importlib
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from custom_components.chatterbox.agent import messages
    from custom_components.chatterbox.agent.history import store, turn_records
else:
    sys.path.insert(0, sys.argv[1])
    messages = importlib.import_module("agent.messages")
    store = importlib.import_module("agent.history.store")
    turn_records = importlib.import_module("agent.history.turn_records")


def turn(number: int) -> turn_records.TurnRecord:
    """Return a turn."""
    return turn_records.TurnRecord(
        id=f"turn {number}",
        origin=turn_records.TurnOrigin(conversation_id="kitchen talk", agent="agent"),
        began_at=1_790_000_000.0 + number,
        duration=2.0,
        messages=(messages.UserMessage("Say it."), messages.AssistantMessage(f"It is {number}.")),
        stop_reason=None,
        timings={},
    )


async def record_for_ever(url: str, number: int) -> None:
    """Record turn after turn, some of them at once."""
    history = store.HistoryStore(url, lambda _state: None)
    history.start()
    while True:
        several = range(number, number + 3)
        answers = [history.record(turn(one)) for one in several]
        for one, answer in zip(several, answers, strict=True):
            if await answer.stored():
                sys.stdout.write(f"{one}\n")
                sys.stdout.flush()
        number += 3


asyncio.run(record_for_ever(sys.argv[2], int(sys.argv[3])))
