"""Begins streams with the `openai` package, leaves each after its first words, and counts several times what stays."""

import asyncio
import json
import os
import time

import httpx2
from openai import AsyncOpenAI

MODEL, URL, MODEL_SERVER, TOKEN = (
    os.environ[name] for name in ("MODEL", "URL", "MODEL_SERVER", "OPENAI_API_KEY")
)
WARM_UP, STREAMS, AT_ONCE, ROUNDS = 40, 80, 20, 3
TIMEOUT_SECONDS = 100
ENDLESS = "slowly\nrepeat 2000\nsay And so on. "

client = AsyncOpenAI(max_retries=0)


async def leave_one(gate: asyncio.Semaphore) -> None:
    """Hang up at the first words."""
    async with gate:
        stream = await client.responses.create(model=MODEL, input=ENDLESS, stream=True)
        async for event in stream:
            if event.type == "response.output_text.delta":
                break
        await stream.close()


async def leave(streams: int) -> None:
    """Begin and leave so many."""
    gate = asyncio.Semaphore(AT_ONCE)
    await asyncio.gather(*(leave_one(gate) for _ in range(streams)))


async def census(http: httpx2.AsyncClient) -> dict[str, object]:
    """Count what lives in Home Assistant, once its model's server has nothing to do any more."""
    give_up = time.monotonic() + TIMEOUT_SECONDS
    under_way = -1
    while under_way != 0 and time.monotonic() < give_up:
        under_way = (await http.get(f"{MODEL_SERVER}/load")).json()["under_way"]
        await asyncio.sleep(0.05)
    response = await http.get(
        f"{URL}/api/process_census", headers={"Authorization": f"Bearer {TOKEN}"}
    )
    return {**response.raise_for_status().json(), "under_way": under_way}


async def main() -> None:
    """Leave some, so that everything is imported and cached; then count, and again after each round."""
    async with httpx2.AsyncClient() as http:
        await leave(WARM_UP)
        counts = [await census(http)]
        for _ in range(ROUNDS):
            await leave(STREAMS)
            counts.append(await census(http))
    print(json.dumps({"counts": counts, "streams": STREAMS}))


asyncio.run(main())
