"""When the first words are late a satellite hears that it was understood, once, and nothing else changes."""

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path

import pytest
from homeassistant.components.conversation import AssistantContent
from homeassistant.components.conversation.chat_log import DATA_CHAT_LOGS
from homeassistant.core import HomeAssistant
from homeassistant.util import dt as dt_util
from pytest_homeassistant_custom_component.common import async_fire_time_changed
from sentence_stream import SentenceBoundaryDetector

from custom_components.chatterbox import const
from tests.support.listening_room import SATELLITE, Room, StreamingVoice, WholeVoice, furnish
from tests.support.llm_apis import register
from tests.support.servers.chat_completions import ScriptedChatCompletions
from tests.support.servers.script import Script, ScriptedAnswer, ScriptedFailure
from tests.support.talk import LIGHT_ON, Serve, talk_as_the_pipeline_does
from tests.turns.test_spoken_deltas import Ears

pytestmark = pytest.mark.usefixtures("socket_enabled")

LATE = ScriptedAnswer(content="It is noon.", delay_seconds=10)
ACTS = ScriptedAnswer(tool_calls=(LIGHT_ON,))
TRANSLATIONS = Path(const.__file__).parent / "translations"


def pass_time(hass: HomeAssistant, seconds: float) -> None:
    """Let everything happen that happens within so many seconds."""
    async_fire_time_changed(hass, dt_util.utcnow() + timedelta(seconds=seconds))


async def wait_for_requests(server: ScriptedChatCompletions, count: int) -> None:
    """Wait until the model was asked so often."""
    while len(server.requests) < count:
        server.asked.clear()
        await server.asked.wait()


@asynccontextmanager
async def asking(
    hass: HomeAssistant, room: Room, server: ScriptedChatCompletions, inferences: int = 1
) -> AsyncGenerator[None]:
    """Ask; the block begins when the model has been asked and says nothing, and afterwards it answers."""
    turn = asyncio.create_task(room.say("what time is it?"))
    await wait_for_requests(server, inferences)
    yield
    pass_time(hass, 11)
    await turn


async def test_a_late_answer_comes_after_a_filler(hass: HomeAssistant, serve: Serve) -> None:
    server = await serve(Script(answers=(LATE,)))
    room = await furnish(hass, StreamingVoice())

    async with asking(hass, room, server):
        pass_time(hass, 3.5)
        assert room.heard == ""
        pass_time(hass, 5)
        await room.hear("[One moment.]")
        pass_time(hass, 9)

    assert room.heard == "[One moment.][It is noon.]"
    assert room.speech == "It is noon."
    (chat_log,) = hass.data[DATA_CHAT_LOGS].values()
    assert [content.content for content in chat_log.content if isinstance(content, AssistantContent)] == ["It is noon."]


async def test_a_filler_comes_in_the_language_of_the_speaker(hass: HomeAssistant, serve: Serve) -> None:
    server = await serve(Script(answers=(LATE,)))
    room = await furnish(hass, StreamingVoice(), "de")

    async with asking(hass, room, server):
        pass_time(hass, 5)
        await room.hear("[Einen Moment.]")


async def test_a_model_that_is_late_after_it_acted_is_preceded_by_a_filler_too(
    hass: HomeAssistant, serve: Serve
) -> None:
    server = await serve(Script(answers=(ACTS, LATE)))
    room = await furnish(hass, StreamingVoice())

    async with asking(hass, room, server, inferences=2):
        pass_time(hass, 5)
        await room.hear("[One moment.]")

    assert room.heard == "[One moment.][It is noon.]"


async def test_no_filler_comes_after_the_first_words(hass: HomeAssistant, serve: Serve) -> None:
    speaks = ScriptedAnswer(content="Let me look.", tool_calls=(LIGHT_ON,))
    server = await serve(Script(answers=(speaks, LATE)))
    room = await furnish(hass, StreamingVoice())

    async with asking(hass, room, server, inferences=2):
        pass_time(hass, 5)

    assert room.heard == "[Let me look.][It is noon.]"


@pytest.mark.parametrize("filler_after", [0, 8])
async def test_a_person_sets_when_it_comes(hass: HomeAssistant, serve: Serve, filler_after: float) -> None:
    server = await serve(Script(answers=(LATE,)), filler_after=filler_after)
    room = await furnish(hass, StreamingVoice())

    async with asking(hass, room, server):
        pass_time(hass, 7)
        assert room.heard == ""
        if filler_after:
            pass_time(hass, 9)
            await room.hear("[One moment.]")

    assert room.heard.endswith("[It is noon.]")
    assert room.heard.count("[") == (2 if filler_after else 1)


async def test_a_voice_that_takes_no_stream_speaks_the_answer_alone(hass: HomeAssistant, serve: Serve) -> None:
    server = await serve(Script(answers=(LATE,)))
    room = await furnish(hass, WholeVoice())

    async with asking(hass, room, server):
        pass_time(hass, 5)

    assert room.heard == "[It is noon.]"


async def test_who_reads_needs_no_filler(hass: HomeAssistant, serve: Serve) -> None:
    server = await serve(Script(answers=(LATE,)))
    ears = Ears()

    turn = asyncio.create_task(talk_as_the_pipeline_does(hass, "what time is it?", "a-talk", ears))
    await wait_for_requests(server, 1)
    pass_time(hass, 5)
    pass_time(hass, 11)
    await turn

    assert ears.heard == "It is noon."


async def test_no_filler_comes_after_the_person_has_cut_in(hass: HomeAssistant, serve: Serve) -> None:
    server = await serve(Script(answers=(LATE,)))
    ears = Ears()

    turn = asyncio.create_task(talk_as_the_pipeline_does(hass, "what time is it?", "a-talk", ears, SATELLITE))
    await wait_for_requests(server, 1)
    turn.cancel()
    with pytest.raises(asyncio.CancelledError):
        await turn
    pass_time(hass, 5)
    await hass.async_block_till_done(wait_background_tasks=True)

    assert ears.heard == ""


async def test_no_filler_comes_from_an_agent_that_is_gone(hass: HomeAssistant, serve: Serve) -> None:
    server = await serve(Script(answers=(LATE,)))
    ears = Ears()

    turn = asyncio.create_task(talk_as_the_pipeline_does(hass, "what time is it?", "a-talk", ears, SATELLITE))
    await wait_for_requests(server, 1)
    (entry,) = hass.config_entries.async_entries(const.DOMAIN)
    assert await hass.config_entries.async_unload(entry.entry_id)
    pass_time(hass, 5)
    pass_time(hass, 11)
    await turn

    assert ears.heard == "It is noon."


async def test_a_turn_that_fails_after_a_filler_is_still_heard_to_its_end(hass: HomeAssistant, serve: Serve) -> None:
    names_its_tools = asyncio.Event()
    is_asked = asyncio.Event()

    async def until() -> None:
        is_asked.set()
        await names_its_tools.wait()

    register(hass, "slow").until = until
    refused = ScriptedFailure(status=401, body="no")
    await serve(Script(answers=(refused,), after_last="start again"), llm_hass_api=["slow"])
    room = await furnish(hass, StreamingVoice())

    turn = asyncio.create_task(room.say("what time is it?"))
    await is_asked.wait()
    pass_time(hass, 5)
    await room.hear("[One moment.]")
    names_its_tools.set()
    await turn

    assert room.heard.startswith("[One moment.][The language model no longer accepts my API key.]")


@pytest.mark.parametrize("file", sorted(TRANSLATIONS.glob("*.json")), ids=lambda file: file.stem)
def test_a_filler_is_a_sentence_that_can_be_spoken_at_once(file: Path) -> None:
    filler = json.loads(file.read_text(encoding="utf-8"))["common"]["spoken_filler"]

    assert list(SentenceBoundaryDetector().add_chunk(f"{filler}\n\n")) == [filler]
