"""Shared fixtures of the tests of `agent/`: a client session of their own, on the loopback address."""

from collections.abc import AsyncIterator

import aiohttp
import pytest


@pytest.fixture
async def session(socket_enabled: None) -> AsyncIterator[aiohttp.ClientSession]:  # noqa: ARG001  # opens the sockets
    """Give a client session, closed at the end."""
    async with aiohttp.ClientSession() as client:
        yield client
