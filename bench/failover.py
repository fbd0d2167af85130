"""How soon the second provider of a chain speaks when the first does not, over connections on the loopback address.

Run it with `python -m bench.failover`: for each way in which the first server may fail
it prints how long the first token of the second one takes, and how far that is beyond
the first-token deadline of the first. Ends with status 1 when that is too far.
"""

import argparse
import asyncio
import logging
import statistics
import sys
import time
from collections.abc import Mapping
from contextlib import aclosing
from typing import Final

import aiohttp

from custom_components.chatterbox.agent.events import TextDelta
from custom_components.chatterbox.agent.messages import UserMessage
from custom_components.chatterbox.agent.protocols import CompletionRequest
from custom_components.chatterbox.agent.providers.failover import FailoverProvider
from custom_components.chatterbox.agent.providers.managed_provider import (
    CircuitBreaker,
    ManagedProvider,
    Timeouts,
)
from custom_components.chatterbox.agent.providers.openai_chat import OpenAIChatProvider
from tests.support.servers.raw_http import (
    Ending,
    RawReply,
    event_stream,
    raw_http_server,
    reply,
)

BUDGET: Final = 0.1
"""Seconds that the second provider may take beyond the first-token deadline of the first."""

_REQUEST: Final = CompletionRequest("Be brief.", (UserMessage("Is it dark?"),))
_ANSWER: Final = event_stream(
    [
        b'data: {"choices":[{"index":0,"delta":{"content":"Yes."},"finish_reason":null}]}\n\n',
        b'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n',
        b"data: [DONE]\n\n",
    ]
)


class _Refusing:
    """Stands for a server that is not there."""


FIRST_SERVERS: Final[Mapping[str, RawReply | _Refusing]] = {
    "works": _ANSWER,
    "refuses connections": _Refusing(),
    "hangs up": RawReply([]),
    "resets the connection": RawReply([], Ending.RESET),
    "resets it after the headers": event_stream([], Ending.RESET),
    "closes it after the headers": event_stream([], Ending.CLOSE),
    "answers 500": reply(b"", status=500),
    "answers 429, come back in a minute": reply(
        b"", status=429, headers={"Retry-After": "60"}
    ),
    "takes the request and is silent": RawReply([], Ending.WAIT),
    "sends headers and is silent": event_stream([], Ending.WAIT),
    "sends nothing but comments": event_stream([b": wait\n\n"], Ending.REPEAT),
}


async def first_token(
    session: aiohttp.ClientSession, first: int, second: int, timeouts: Timeouts
) -> float:
    """Return the seconds until a new chain of the servers at two ports says its first word."""
    providers = [
        ManagedProvider(
            name,
            OpenAIChatProvider(session, f"http://127.0.0.1:{port}", "m"),
            CircuitBreaker(),
            timeouts,
        )
        for name, port in (("first", first), ("second", second))
    ]
    begun = time.perf_counter()
    async with aclosing(FailoverProvider(providers).stream(_REQUEST)) as events:
        async for event in events:
            if isinstance(event, TextDelta):
                return time.perf_counter() - begun
    raise RuntimeError("the chain has said nothing")


async def measure(
    first_server: RawReply | _Refusing, rounds: int, timeouts: Timeouts
) -> list[float]:
    """Return the seconds to the first token of each round."""
    answer = _ANSWER if isinstance(first_server, _Refusing) else first_server
    async with aiohttp.ClientSession() as session, raw_http_server(_ANSWER) as second:
        async with raw_http_server(answer) as first:
            if not isinstance(first_server, _Refusing):
                return [
                    await first_token(session, first.port, second.port, timeouts)
                    for _ in range(rounds)
                ]
        return [
            await first_token(session, first.port, second.port, timeouts)
            for _ in range(rounds)
        ]


async def main(rounds: int, deadline: float) -> bool:
    """Print a line for each way to fail; tell whether all were soon enough."""
    timeouts = Timeouts(first_token=deadline)
    sys.stdout.write(
        f"first-token deadline {deadline * 1000:.0f} ms, {rounds} rounds each\n"
    )
    sys.stdout.write(
        f"{'the first server':36}{'median':>10}{'longest':>10}{'beyond the deadline':>22}\n"
    )
    soon_enough = True
    for name, first_server in FIRST_SERVERS.items():
        seconds = await measure(first_server, rounds, timeouts)
        beyond = max(max(seconds) - deadline, 0)
        soon_enough &= beyond < BUDGET
        median, longest = statistics.median(seconds) * 1000, max(seconds) * 1000
        sys.stdout.write(
            f"{name:36}{median:7.1f} ms{longest:7.1f} ms{beyond * 1000:19.1f} ms\n"
        )
    return soon_enough


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description="Measures how soon the second provider of a chain speaks."
    )
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument(
        "--deadline", type=float, default=0.5, help="first-token deadline in seconds"
    )
    arguments = parser.parse_args()
    logging.disable()
    sys.exit(0 if asyncio.run(main(arguments.rounds, arguments.deadline)) else 1)
