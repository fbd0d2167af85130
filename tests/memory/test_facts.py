"""Facts are kept for each agent and each person, at once, whole, and as long as their agent is there."""

import asyncio
import json
from collections.abc import AsyncGenerator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from freezegun.api import FrozenDateTimeFactory
from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers.dispatcher import async_dispatcher_connect
from homeassistant.util import dt as dt_util
from hypothesis import given, strategies as st
from pytest_homeassistant_custom_component.common import (
    async_fire_time_changed,
    async_test_home_assistant,
)

from custom_components.chatterbox.memory.facts import (
    HOUSEHOLD,
    LONGEST_FACT,
    MOST_FACTS,
    SIGNAL_MEMORIES,
    Keeper,
    Memories,
    MemoryProblem,
    NotRemembered,
    async_get_memories,
    one_line,
)
from tests.support.busy_threads import no_free_thread
from tests.support.config_entries import offline_entry, only_agent, set_up

ANNA, BEN = Keeper("agent-1", "anna"), Keeper("agent-1", "ben")
ANNA_ELSEWHERE = Keeper("agent-2", "anna")
EARLIER = """
{"version": 1, "minor_version": 1, "key": "chatterbox.memories", "data": {"people": [
  {"agent": "agent-1", "person": "anna", "name": "Anna", "facts": [
    {"id": "a1b2c3", "text": "Has a cat.", "created": "2026-05-01T08:00:00Z", "is_aside": false},
    {"id": "d4e5f6", "text": "Gets up at six.", "created": "2026-05-02T08:00:00Z", "is_aside": true}]},
  {"agent": "agent-1", "person": "ben", "name": "Ben", "facts": [
    {"id": "a1b2c3", "text": "Has a dog.", "created": "2026-05-03T08:00:00Z", "is_aside": false}]}]}}
"""
"""A file of version 1."""


@pytest.fixture
async def disk(tmp_path: Path) -> AsyncGenerator[HomeAssistant]:
    """Return a Home Assistant that writes to a real disk."""
    async with async_test_home_assistant(config_dir=str(tmp_path)) as hass:
        yield hass
        await hass.async_stop(force=True)


def file_of(hass: HomeAssistant) -> Path:
    """Return where facts are stored."""
    return Path(hass.config.path(".storage/chatterbox.memories"))


async def restarted(hass: HomeAssistant) -> Memories:
    """Return what another start of Home Assistant would know."""
    memories = Memories(hass)
    await memories.async_load()
    return memories


def texts(memories: Memories, keeper: Keeper = ANNA) -> list[str]:
    return [fact.text for fact in memories.facts(keeper)]


async def problem_of(memories: Memories, text: str) -> MemoryProblem:
    """Return why a fact is not kept."""
    with pytest.raises(NotRemembered) as refused:
        await memories.async_add(ANNA, text, "Anna")
    return refused.value.problem


async def test_a_fact_is_stored_when_it_is_kept(disk: HomeAssistant) -> None:
    memories = async_get_memories(disk)

    fact = await memories.async_add(ANNA, "  Likes her tea\nwithout   milk. ", "Anna")

    assert fact.text == "Likes her tea without milk."
    again = await restarted(disk)
    assert again.facts(ANNA) == (fact,)
    assert again.people("agent-1") == {"anna": "Anna"}
    assert file_of(disk).stat().st_mode & 0o077 == 0


async def test_each_agent_and_each_person_has_their_own(hass: HomeAssistant) -> None:
    memories = async_get_memories(hass)
    for keeper, text in (
        (ANNA, "Has a cat."),
        (BEN, "Has a dog."),
        (ANNA_ELSEWHERE, "Has a bird."),
    ):
        await memories.async_add(keeper, text, "")

    assert texts(memories) == ["Has a cat."]
    assert texts(memories, BEN) == ["Has a dog."]
    assert texts(memories, ANNA_ELSEWHERE) == ["Has a bird."]
    await memories.async_forget(ANNA, [memories.facts(ANNA)[0].id])
    assert await restarted(hass) is not memories
    again = await restarted(hass)
    assert (texts(again), texts(again, BEN), texts(again, ANNA_ELSEWHERE)) == (
        [],
        ["Has a dog."],
        ["Has a bird."],
    )
    assert again.people("agent-1") == {"ben": ""}


async def test_a_fact_is_changed_put_aside_and_restored(hass: HomeAssistant) -> None:
    memories = async_get_memories(hass)
    first = await memories.async_add(ANNA, "Gets up at six.", "Anna")
    await memories.async_add(ANNA, "Has a cat.", "Anna")

    await memories.async_change(ANNA, first.id, "Gets up at seven.", is_aside=True)

    changed, _ = (await restarted(hass)).facts(ANNA)
    assert (changed.id, changed.text, changed.is_aside) == (
        first.id,
        "Gets up at seven.",
        True,
    )
    again = await memories.async_add(ANNA, "gets up at SEVEN.", "Anna")
    assert (again.id, again.is_aside) == (first.id, False)
    assert len(memories.facts(ANNA)) == 2
    with pytest.raises(NotRemembered) as refused:
        await memories.async_change(ANNA, "none", "Gets up late.", is_aside=False)
    assert refused.value.problem is MemoryProblem.GONE
    with pytest.raises(NotRemembered) as refused:
        await memories.async_change(ANNA, first.id, " ", is_aside=False)
    assert refused.value.problem is MemoryProblem.EMPTY


async def test_a_stored_change_is_signalled(hass: HomeAssistant) -> None:
    memories, heard = async_get_memories(hass), list[tuple[Keeper, list[str]]]()

    @callback
    def hear(keeper: Keeper) -> None:
        heard.append((keeper, texts(memories, keeper)))

    async_dispatcher_connect(hass, SIGNAL_MEMORIES, hear)

    await memories.async_add(ANNA, "Has a cat.", "Anna")
    await problem_of(memories, "")

    assert heard == [(ANNA, ["Has a cat."])]


async def test_there_are_bounds(
    hass: HomeAssistant, hass_storage: dict[str, object]
) -> None:
    memories = async_get_memories(hass)
    assert (
        await problem_of(memories, "x" * (LONGEST_FACT + 1)) is MemoryProblem.TOO_LONG
    )
    assert await problem_of(memories, " \n\u200b\u202e ") is MemoryProblem.EMPTY
    for number in range(MOST_FACTS):
        await memories.async_add(
            ANNA, f"Fact {number}".ljust(LONGEST_FACT, "x"), "Anna"
        )

    assert await problem_of(memories, "One more.") is MemoryProblem.FULL
    assert (
        await memories.async_add(ANNA, memories.facts(ANNA)[0].text, "Anna")
    ) == memories.facts(ANNA)[0]
    await memories.async_add(BEN, "Has a dog.", "Ben")
    assert len({fact.id for fact in memories.facts(ANNA)}) == MOST_FACTS
    assert "chatterbox.memories" in hass_storage


async def test_a_failed_write_changes_nothing(disk: HomeAssistant) -> None:
    memories = async_get_memories(disk)
    known_facts = await memories.async_add(ANNA, "Has a cat.", "Anna")
    file = file_of(disk)
    file.rename(file.with_suffix(".away"))
    file.mkdir()

    assert await problem_of(memories, "Has a dog.") is MemoryProblem.NOT_KEPT
    with pytest.raises(NotRemembered):
        await memories.async_forget(ANNA, [known_facts.id])

    assert memories.facts(ANNA) == (known_facts,)
    file.rmdir()
    file.with_suffix(".away").rename(file)
    await memories.async_add(ANNA, "Has a bird.", "Anna")
    assert texts(await restarted(disk)) == ["Has a cat.", "Has a bird."]


@pytest.mark.parametrize(
    "content",
    [
        '{"version": 1, "key": "chatterbox.memories", "data": {"people": "Anna\'s secret"}}',
        '{"version": 9, "key": "chatterbox.memories", "data": {"people": []}}',
    ],
)
async def test_an_unreadable_file_is_left_unchanged(
    disk: HomeAssistant, content: str, caplog: pytest.LogCaptureFixture
) -> None:
    file = file_of(disk)
    file.parent.mkdir(exist_ok=True)
    file.write_text(content, encoding="utf-8")
    memories = async_get_memories(disk)

    assert await problem_of(memories, "Has a dog.") is MemoryProblem.UNREADABLE
    await memories.async_forget_removed()

    assert file.read_text(encoding="utf-8") == content
    assert memories.facts(ANNA) == ()
    assert "secret" not in caplog.text
    file.unlink()
    await memories.async_add(ANNA, "Has a dog.", "Anna")
    assert texts(await restarted(disk)) == ["Has a dog."]


async def test_what_an_earlier_version_has_stored_is_kept(disk: HomeAssistant) -> None:
    file = file_of(disk)
    file.parent.mkdir(exist_ok=True)
    file.write_text(EARLIER, encoding="utf-8")
    memories = async_get_memories(disk)

    await memories.async_add(HOUSEHOLD, "The bins go out on Thursday.", "")

    again = await restarted(disk)
    assert [(fact.id, fact.text, fact.is_aside) for fact in again.facts(ANNA)] == [
        ("a1b2c3", "Has a cat.", False),
        ("d4e5f6", "Gets up at six.", True),
    ]
    assert again.facts(ANNA)[0].created == datetime(2026, 5, 1, 8, tzinfo=UTC)
    assert texts(again, BEN) == ["Has a dog."]
    assert again.people("agent-1") == {"anna": "Anna", "ben": "Ben"}
    assert texts(again, HOUSEHOLD) == ["The bins go out on Thursday."]
    assert json.loads(file.read_text("utf-8"))["version"] == 2


async def test_what_has_ended_is_deleted_and_signalled(
    hass: HomeAssistant, freezer: FrozenDateTimeFactory
) -> None:
    memories, heard = async_get_memories(hass), list[Keeper]()
    now = dt_util.utcnow()
    await memories.async_add(HOUSEHOLD, "Guests.", "", now + timedelta(hours=2))
    await memories.async_add(HOUSEHOLD, "Bins.", "")
    await memories.async_add(ANNA, "Away.", "Anna", now + timedelta(hours=1))

    @callback
    def hear(keeper: Keeper) -> None:
        heard.append(keeper)

    async_dispatcher_connect(hass, SIGNAL_MEMORIES, hear)

    for hours, left, keepers in (
        (1, {"Guests.", "Bins."}, [ANNA]),
        (2, {"Bins."}, [ANNA, HOUSEHOLD]),
    ):
        freezer.move_to(now + timedelta(hours=hours, seconds=1))
        async_fire_time_changed(hass)
        await hass.async_block_till_done()
        assert {*texts(memories, HOUSEHOLD), *texts(memories)} == left
        assert heard == keepers
    assert "Guests" not in str((await restarted(hass)).facts(HOUSEHOLD))


async def test_a_change_survives_the_cancellation_of_its_caller(
    disk: HomeAssistant,
) -> None:
    memories = async_get_memories(disk)
    async with no_free_thread():
        asking = asyncio.create_task(memories.async_add(ANNA, "Has a cat.", "Anna"))
        await asyncio.sleep(0)
        asking.cancel()

    await memories.async_add(ANNA, "Has a dog.", "Anna")

    assert asking.cancelled()
    assert (
        texts(memories) == texts(await restarted(disk)) == ["Has a cat.", "Has a dog."]
    )


async def test_readers_do_not_wait_for_a_change(disk: HomeAssistant) -> None:
    memories = async_get_memories(disk)
    await memories.async_add(ANNA, "Has a cat.", "Anna")
    async with no_free_thread():
        changing = asyncio.create_task(memories.async_add(ANNA, "Has a dog.", "Anna"))
        await asyncio.sleep(0)

        await memories.async_load()

        assert texts(memories) == ["Has a cat."]
        assert not changing.done()
    await changing
    assert texts(memories) == ["Has a cat.", "Has a dog."]


@pytest.mark.parametrize("removed", ["agent", "service"])
async def test_the_facts_of_a_removed_agent_are_deleted(
    hass: HomeAssistant, removed: str
) -> None:
    entry = await set_up(hass, offline_entry())
    memories, keeper = (
        async_get_memories(hass),
        Keeper(only_agent(entry).subentry_id, "anna"),
    )
    await memories.async_add(keeper, "Has a cat.", "Anna")
    await memories.async_add(HOUSEHOLD, "Bins.", "")
    await hass.config_entries.async_reload(entry.entry_id)
    assert texts(memories, keeper) == ["Has a cat."]

    if removed == "agent":
        hass.config_entries.async_remove_subentry(entry, keeper.agent)
    else:
        await hass.config_entries.async_remove(entry.entry_id)
    await hass.async_block_till_done(wait_background_tasks=True)

    assert texts(memories, keeper) == texts(await restarted(hass), keeper) == []
    left = ["Bins."] if removed == "agent" else []
    assert texts(memories, HOUSEHOLD) == left
    assert texts(await restarted(hass), HOUSEHOLD) == left


@given(st.text(max_size=400))
def test_a_fact_is_one_line_that_can_be_seen(text: str) -> None:
    try:
        line = one_line(text)
    except NotRemembered:
        return
    assert 0 < len(line) <= LONGEST_FACT
    assert line.splitlines() == [line]
    assert line == one_line(line)
    line.encode()
