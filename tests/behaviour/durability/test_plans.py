"""Home Assistant is killed with plans: what is due later is done, and of what was due meanwhile there is news."""

import asyncio
import json
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path

import aiohttp
import pytest

from tests.behaviour.durability.killed_home import SCRIPT, KilledHome
from tests.support.servers.chat_completions import ScriptedChatCompletions
from tests.support.servers.in_process import serving

PLANS = {
    "turn on the kitchen pendant in ten minutes": timedelta(seconds=20),
    "turn on the floor lamp in ten minutes": timedelta(minutes=-5),
    "remind me in ten minutes to call Mum": timedelta(minutes=-5),
}
"""Requests, and when their plans are due once Home Assistant was killed."""
INTERRUPTED = "turn on the bedside lamp in ten minutes"
TOLD = (
    "late reminder, for",
    "call Mum",
    "wasn't ready then",
    "loor Lamp",
    "so please check",
    "edside Lamp",
)

SLOW_PUMP = """
template:
  - switch:
      - name: Slow Pump
        turn_on: [{ delay: 90 }]
        turn_off: []
"""
"""A device that takes longer than Home Assistant waits for it."""
MEANWHILE = 20
"""Sentences that take longer than that, too."""


async def say(session: aiohttp.ClientSession, home: KilledHome, text: str) -> str:
    query = {"text": text, "agent_id": home.agent, "language": "en"}
    async with session.post("/api/conversation/process", json=query) as response:
        speech: str = (await response.json())["response"]["speech"]["plain"]["speech"]
        return speech


async def state(session: aiohttp.ClientSession, entity_id: str) -> str:
    async with session.get(f"/api/states/{entity_id}") as response:
        found: str = (await response.json())["state"]
        return found


def let_time_pass(file: Path, plans: Mapping[str, timedelta]) -> None:
    """Move the times of plans as if Home Assistant had been down for long, and have the last one be interrupted."""
    stored = json.loads(file.read_text())
    for plan, until in zip(
        stored["data"]["plans"], [*plans.values(), timedelta()], strict=True
    ):
        plan["due"] = (datetime.now(UTC) + until).isoformat()
    stored["data"]["plans"][-1]["is_begun"] = True
    file.write_text(json.dumps(stored))


@pytest.mark.thorough
@pytest.mark.timeout(600)  # Home Assistant starts five times
@pytest.mark.usefixtures("socket_enabled")
async def test_plans_outlive_a_kill(tmp_path: Path) -> None:
    async with serving(ScriptedChatCompletions(SCRIPT).application()) as address:
        home = await KilledHome.set_up(tmp_path, address)
        with (home.folder / "configuration.yaml").open(
            "a", encoding="utf-8"
        ) as configuration:
            configuration.write(SLOW_PUMP)
        file = home.folder / ".storage" / "chatterbox.later"
        file.write_text(damaged := '{"version": 1, "data": {"plans": [')
        async with home.started() as (home_assistant, session):
            for text in ("what is planned?", *PLANS):
                assert "plans cannot be read" in await say(session, home, text)
            assert [
                one.read_text() for one in file.parent.glob("chatterbox.later*")
            ] == [damaged, damaged]
            file.write_text('{"version": 1, "data": {}}')
            assert await say(session, home, "what is planned?") == "Nothing is planned."
            for text in (*PLANS, INTERRUPTED):
                assert "in 10 minutes: " in await say(session, home, text)
            home_assistant.process.kill()
        let_time_pass(file, PLANS)

        async with home.started() as (home_assistant, session):
            news = ""
            while any(words not in news for words in TOLD):
                news += await say(session, home, "what is planned?")
            assert "While you were away: " in news
            while await state(session, "light.kitchen_pendant") != "on":  # noqa: ASYNC110  # it is in another process
                await asyncio.sleep(0.5)
            while await say(session, home, "what is planned?") != "Nothing is planned.":  # noqa: ASYNC110  # as above
                await asyncio.sleep(0.5)
            assert await state(session, "light.floor_lamp") == "off"
            home_assistant.process.kill()

        async with home.started() as (home_assistant, session):
            assert await say(session, home, "what is planned?") == "Nothing is planned."
            assert "Slow Pump" in await say(
                session, home, "turn on the slow pump in two seconds"
            )
            while not json.loads(file.read_text())["data"]["plans"][0]["is_begun"]:  # noqa: ASYNC110  # as above
                await asyncio.sleep(0.05)
            for _ in range(MEANWHILE):
                assert "Slow Pump" in await say(session, home, "what is planned?")
            home_assistant.process.kill()

        async with home.started() as (home_assistant, session):
            news = ""
            while "so please check" not in news:
                news += await say(session, home, "what is planned?")
            assert "low Pump" in news
            home_assistant.process.kill()
