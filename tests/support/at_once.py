"""Reading what arrives in threads, in tests that wait for nobody."""

import asyncio
from collections.abc import Coroutine


def at_once[T](reading: Coroutine[object, object, T]) -> T:
    """Run a coroutine that waits for no more than others' turns and a thread; return its result."""
    with asyncio.Runner() as runner:
        return runner.run(reading)
