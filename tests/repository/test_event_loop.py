"""The event loop of tests refuses what would break a running Home Assistant now and then."""

import asyncio

import pytest


@pytest.mark.parametrize("call", ["call_soon", "call_later"])
async def test_calls_from_another_thread_are_refused(call: str) -> None:
    loop = asyncio.get_running_loop()
    arguments = (0, print) if call == "call_later" else (print,)
    with pytest.raises(RuntimeError, match="thread"):
        await asyncio.to_thread(getattr(loop, call), *arguments)
