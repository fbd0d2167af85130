"""A process that records turns and responses as fast as it can, and says which are acknowledged, until it is killed.

Run as a script; it takes the folder of the integration, the address of a database and
the number of its first turn. It loads the store without Home Assistant, which takes a
while to load.
"""

import asyncio
import importlib
import sys
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from custom_components.chatterbox.agent import messages
    from custom_components.chatterbox.history.store import history_store, records
else:
    chatterbox = sys.modules["chatterbox"] = ModuleType(
        "chatterbox"
    )  # without its own __init__.py
    chatterbox.__path__ = [sys.argv[1]]
    messages = importlib.import_module("chatterbox.agent.messages")
    records = importlib.import_module("chatterbox.history.store.records")
    history_store = importlib.import_module("chatterbox.history.store.history_store")


def turn(number: int) -> records.StoredTurn:
    """Return a turn."""
    return records.StoredTurn(
        id=f"turn {number}",
        origin=records.TurnOrigin(conversation_id="kitchen talk", agent="agent"),
        began_at=1_790_000_000.0 + number,
        duration=2.0,
        messages=(
            messages.UserMessage("Say it."),
            messages.AssistantMessage(f"It is {number}."),
        ),
        stop_reason=None,
        timings={},
    )


def response(number: int, status: str) -> records.ResponseRecord:
    """Return a response, in one of its states."""
    return records.ResponseRecord(
        id=f"resp {number}",
        agent="agent",
        model="conversation.agent",
        user_id="user",
        conversation_id="chain",
        created_at=1_790_000_000.0 + number,
        response={"id": f"resp {number}", "status": status},
        input=(),
        messages=(
            messages.UserMessage("Say it."),
            messages.AssistantMessage(f"It is {number}."),
        ),
    )


async def record_for_ever(url: str, number: int) -> None:
    """Record turn after turn, some of them at once."""
    history = history_store.HistoryStore(url, lambda _state: None)
    history.start()
    while True:
        several = range(number, number + 3)
        for one in several:
            history.record(response(one, "in_progress"))
        answers = [
            (history.record(turn(one)), history.record(response(one, "completed")))
            for one in several
        ]
        for one, (answer, answered) in zip(several, answers, strict=True):
            if await answer.stored() and await answered.stored():
                sys.stdout.write(f"{one}\n")
                sys.stdout.flush()
        number += 3


asyncio.run(record_for_ever(sys.argv[2], int(sys.argv[3])))
