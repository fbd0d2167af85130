"""Streams 32 answers at once with the `openai` package, each with a word of its own, and keeps all that came."""

import asyncio
import json
import os

from openai import AsyncOpenAI

MODEL = os.environ["MODEL"]
STREAMS = 32

client = AsyncOpenAI(max_retries=0)


async def one(number: int, begun: asyncio.Barrier) -> dict[str, object]:
    """Follow one stream from its first event on, which all wait for."""
    words = (
        f'call get_weather {{"city": "City {number}"}}'
        if number % 4 == 3
        else f"repeat 30\nsay word-{number} "
    )
    lines: list[str] = []
    async with client.responses.with_streaming_response.create(
        model=MODEL,
        input=f"slowly\n{words}",
        stream=True,
        tools=[
            {
                "type": "function",
                "name": "get_weather",
                "parameters": {"type": "object"},
                "strict": False,
            }
        ],
    ) as response:
        is_first = True
        async for line in response.iter_lines():
            if is_first:
                await begun.wait()
                is_first = False
            lines.append(line)
    return {"number": number, "lines": lines}


async def main() -> None:
    """Follow all."""
    begun = asyncio.Barrier(STREAMS)
    print(
        json.dumps(
            await asyncio.gather(*(one(number, begun) for number in range(STREAMS)))
        )
    )


asyncio.run(main())
