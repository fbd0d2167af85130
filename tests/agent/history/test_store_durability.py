"""A process that is killed at any moment loses no turn and no response that it was told is stored."""

import random
import subprocess
import sys
from pathlib import Path

import custom_components

from .stores import Stores

_INTEGRATION = Path(custom_components.__file__).parent / "chatterbox"


def record_until_killed(url: str, first: int, after: int) -> list[int]:
    """Record in a process of its own, kill it after so many acknowledgements; return those that it got."""
    with subprocess.Popen(
        [sys.executable, Path(__file__).with_name("recording_child.py"), _INTEGRATION, url, str(first)],
        stdout=subprocess.PIPE,
        text=True,
    ) as child:
        assert child.stdout is not None
        acknowledged = [int(child.stdout.readline()) for _ in range(after)]
        child.kill()
        acknowledged += [int(line) for line in child.stdout if line.endswith("\n")]
    return acknowledged


async def test_a_killed_process_loses_nothing_that_was_acknowledged(sqlite: str, stores: Stores) -> None:
    when = random.Random(1)  # noqa: S311  # moments, not secrets
    acknowledged: list[int] = []
    for kill in range(5):
        acknowledged += record_until_killed(sqlite, kill * 100_000, when.randint(1, 40))

    store, _ = stores.open(sqlite)
    found = await store.turns("kitchen talk")
    numbers = [int(one.id.removeprefix("turn ")) for one in found]
    assert set(acknowledged) <= set(numbers)
    assert numbers == sorted(set(numbers))
    assert all(one.messages for one in found)
    responses = {one.id: one for one in await store.responses("chain", ["agent"])}
    ended = [responses[f"resp {number}"] for number in acknowledged]
    assert {str(one.response["status"]) for one in ended} == {"completed"}
    assert all(one.messages for one in responses.values())
