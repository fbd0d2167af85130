"""A guest with a token sends requests that are large and mean nothing; the home has time for everybody else."""

import asyncio
import gc
import json
import time
from collections import Counter
from collections.abc import Mapping
from io import BytesIO

import pytest
from homeassistant.core import HomeAssistant
from pytest_homeassistant_custom_component.typing import ClientSessionGenerator

from custom_components.chatterbox.const import BASE_PATH, CONF_REQUEST_MEGABYTES
from tests.support.api_clients import enable_api
from tests.support.servers.script import Script
from tests.support.talk import AGENT, Serve
from tests.support.yardstick import json_pass

_PASSES = 400
"""Processor time in the event loop, in passes over a megabyte of JSON. Unbounded, the first case takes 3,000."""
_TRIES = 3
"""A processor that others use, too, takes longer for the same."""
_SCHEMA = {
    "type": "object",
    "properties": {"a": {"anyOf": [{"type": "string"}] * 60_000}},
}
_REQUESTS: Mapping[str, tuple[int, Mapping[str, object]]] = {
    "unknown fields": (64, {f"field{number}": number for number in range(250_000)}),
    "a wide schema": (
        8,
        {"text": {"format": {"type": "json_schema", "name": "n", "schema": _SCHEMA}}},
    ),
    "a wide schema of a function": (
        8,
        {"tools": [{"type": "function", "name": "f", "parameters": _SCHEMA}]},
    ),
}


_REFUSED: Mapping[str, Mapping[str, object]] = {
    "unknown fields": {f"field{number}": number for number in range(40_000)},
    "empty texts": {"input": [""] * 190_000},
    "unreadable parts": {
        "input": [{"role": "user", "content": [{"type": "input_text"}] * 40}] * 700
    },
    "long keys": {"metadata": {"k" * 190 + str(number): 1 for number in range(4_000)}},
    "no texts": {"include": [1] * 4_000},
}
_LONGEST = 6
"""Processor time of all threads between two turns of the event loop, in passes over a megabyte of JSON."""


@pytest.mark.thorough
@pytest.mark.parametrize("name", _REFUSED)
async def test_others_have_their_turn_while_eight_requests_are_refused(
    hass: HomeAssistant, serve: Serve, hass_client: ClientSessionGenerator, *, name: str
) -> None:
    await serve(Script())
    await enable_api(hass)
    client = await hass_client()
    body = json.dumps({"model": AGENT, "input": "Hi", **_REFUSED[name]}).encode()
    gc.collect()
    gc.freeze()  # what other tests have left behind is no work of ours
    longest: list[float] = []

    async def watch() -> None:
        before = time.process_time()
        while True:
            await asyncio.sleep(0)
            now = time.process_time()
            longest[-1] = max(longest[-1], now - before)
            before = now

    async def ask() -> int:
        answer = await client.post(
            f"{BASE_PATH}/responses",
            data=BytesIO(body),
            headers={"Content-Type": "application/json"},
        )
        return answer.status

    try:
        for _ in range(_TRIES):
            unit = json_pass()
            longest.append(0)
            watching = asyncio.create_task(watch())
            assert set(await asyncio.gather(*(ask() for _ in range(8)))) == {400}
            watching.cancel()
            longest[-1] /= unit
            if longest[-1] < _LONGEST:
                break
    finally:
        gc.unfreeze()
    assert min(longest) < _LONGEST, longest


@pytest.mark.parametrize("megabytes", [1, pytest.param(10, marks=pytest.mark.thorough)])
@pytest.mark.parametrize("name", _REQUESTS)
async def test_the_event_loop_is_not_held_by_large_requests(
    hass: HomeAssistant,
    serve: Serve,
    hass_client: ClientSessionGenerator,
    hass_read_only_access_token: str,
    *,
    name: str,
    megabytes: int,
) -> None:
    await serve(Script())
    await enable_api(hass)
    [entry] = hass.config_entries.async_loaded_entries("chatterbox")
    hass.config_entries.async_update_entry(
        entry, options={**entry.options, CONF_REQUEST_MEGABYTES: megabytes}
    )
    await hass.async_block_till_done(wait_background_tasks=True)
    guest = await hass_client(hass_read_only_access_token)
    count, fields = _REQUESTS[name]
    body = json.dumps({"model": AGENT, "input": "Hi", **fields}).encode()

    async def ask() -> int:
        answer = await guest.post(
            f"{BASE_PATH}/responses",
            data=BytesIO(body),
            headers={"Content-Type": "application/json"},
        )
        await answer.read()
        return answer.status

    took: list[float] = []
    for _ in range(_TRIES):
        unit = json_pass()
        began = time.thread_time()
        statuses = Counter(await asyncio.gather(*(ask() for _ in range(count))))
        took.append((time.thread_time() - began) / unit)
        assert set(statuses) <= {400, 413, 429}, statuses
        if took[-1] < _PASSES:
            break
    assert min(took) < _PASSES, took
    assert (await guest.get(f"{BASE_PATH}/models")).status == 200
