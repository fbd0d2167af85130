"""Reading what arrives in threads, in tests that wait for nobody."""

import asyncio
import atexit
from collections.abc import Coroutine

# Most of what is read this way is shorter than an event loop takes to begin and to end.
_RUNNER = asyncio.Runner(loop_factory=asyncio.EventLoop)
atexit.register(_RUNNER.close)


def at_once[T](reading: Coroutine[object, object, T]) -> T:
    """Run a coroutine that waits for no more than others' turns and a thread; return its result."""
    return _RUNNER.run(reading)
