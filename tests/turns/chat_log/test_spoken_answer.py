"""A satellite hears speakable words, and a filler when the first ones are late; the ChatLog keeps what was written."""

import asyncio
import gc
import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from types import AsyncGeneratorType

import pytest
from homeassistant.components.conversation import AssistantContent, ChatLog
from homeassistant.components.conversation.chat_log import DATA_CHAT_LOGS
from homeassistant.components.homeassistant.exposed_entities import async_expose_entity
from homeassistant.const import CONF_LLM_HASS_API, CONF_MODEL
from homeassistant.core import HomeAssistant
from homeassistant.util import dt as dt_util
from pytest_homeassistant_custom_component.common import async_fire_time_changed
from sentence_stream import SentenceBoundaryDetector

from custom_components.chatterbox import const
from custom_components.chatterbox.turns.chat_log import FILLERS
from tests.agent.turns import run_other_tasks
from tests.support.listening_room import Room, StreamingVoice, WholeVoice, furnish
from tests.support.llm_apis import register
from tests.support.servers.chat_completions import ScriptedChatCompletions
from tests.support.servers.raw_http import (
    Ending,
    RawHTTPServer,
    RawReply,
    event_stream,
    raw_http_server,
    reply,
)
from tests.support.servers.script import Script, ScriptedAnswer, ScriptedFailure
from tests.support.servers.stream import chunks_of
from tests.support.talk import (
    LIGHT_ON,
    PART,
    SATELLITE,
    Serve,
    add_agent,
    move_into_the_demo_home,
    say,
    speech,
    talk_as_the_pipeline_does,
)

pytestmark = pytest.mark.usefixtures("socket_enabled")

LATE = ScriptedAnswer(content="It is noon.", delay_seconds=10)
ACTS = ScriptedAnswer(tool_calls=(LIGHT_ON,))
TRANSLATIONS = Path(const.__file__).parent / "translations"

LONG_START = "Let me look up what the forecast says about the weekend for you, please."
WRITTEN = "**Done!** The *kitchen* light is on. 💡 Shall I dim it? Just let me know."


class Ears:
    """Hears what the pipeline gives to a voice."""

    def __init__(self) -> None:
        self.heard = ""
        self._role: object = None

    def __call__(self, _: ChatLog, delta: dict[str, object]) -> None:
        """Take the text of assistant messages."""
        self._role = delta.get("role", self._role)
        if self._role == "assistant":
            self.heard += str(delta.get("content") or "")


def pass_time(hass: HomeAssistant, seconds: float) -> None:
    """Let everything happen that happens within so many seconds."""
    async_fire_time_changed(hass, dt_util.utcnow() + timedelta(seconds=seconds))


async def wait_for_requests(server: ScriptedChatCompletions, count: int) -> None:
    """Wait until the model was asked so often."""
    while len(server.requests) < count:
        server.request_arrived.clear()
        await server.request_arrived.wait()


@asynccontextmanager
async def asking(
    hass: HomeAssistant,
    room: Room,
    server: ScriptedChatCompletions,
    inferences: int = 1,
) -> AsyncGenerator[None]:
    """Ask; the block begins when the model has been asked and says nothing, and afterwards it answers."""
    turn = asyncio.create_task(room.say("what time is it?"))
    await wait_for_requests(server, inferences)
    yield
    pass_time(hass, 11)
    await turn


TOLD = 'data: {"choices":[],"prompt_progress":{"total":2200,"cache":0,"processed":%d,"time_ms":1}}\n\n'
MODELS = reply(b'{"object":"list","data":[{"id":"scripted-model","object":"model"}]}')


READING = [(TOLD % 0).encode()]
READS_ON = event_stream(READING, Ending.WAIT)


@asynccontextmanager
async def reading(
    hass: HomeAssistant, stream: RawReply = READS_ON
) -> AsyncGenerator[RawHTTPServer]:
    """Serve a model that tells how far it has read a long prompt, with an agent for it."""
    async with raw_http_server(stream) as server:
        server.models = MODELS
        await move_into_the_demo_home(hass, PART)
        options: dict[str, object] = {
            CONF_MODEL: "scripted-model",
            CONF_LLM_HASS_API: ["assist"],
            const.CONF_CONTEXT_WINDOW: 32_768,
        }
        service: dict[str, object] = {
            const.CONF_KIND: const.ServiceKind.OPENAI_CHAT,
            const.CONF_SERVER: "llama_cpp",
            const.CONF_BASE_URL: f"http://127.0.0.1:{server.port}/v1",
        }
        await add_agent(hass, service, options)
        yield server


async def test_fillers_are_heard_while_a_slow_server_tells_that_it_reads(
    hass: HomeAssistant,
) -> None:
    answers = asyncio.Event()
    noon = chunks_of(
        ScriptedAnswer(content="It is noon."), "scripted-model", include_usage=True
    )
    stream = replace(event_stream([*READING, *noon]), held={2: answers})
    async with reading(hass, stream) as server:
        room = await furnish(hass, StreamingVoice())
        turn = asyncio.create_task(room.say("what time is it?"))
        await server.arrived.wait()
        await run_other_tasks()

        pass_time(hass, 25)
        await room.hear("[One moment.]")
        await run_other_tasks()
        pass_time(hass, 40)
        await room.hear("[I'm still on it.]")
        answers.set()
        await turn

    assert room.heard == "[One moment.][I'm still on it.][It is noon.]"
    assert len(server.requests) == 1


async def test_the_turn_ends_in_time_while_a_server_still_reads(
    hass: HomeAssistant,
) -> None:
    async with reading(hass) as server:
        turn = asyncio.create_task(say(hass, "what time is it?"))
        await server.arrived.wait()
        await run_other_tasks()
        pass_time(hass, 61)
        result = await turn

    assert speech(result)
    assert len(server.requests) == 1


async def test_whoever_cuts_in_while_a_server_reads_frees_it(
    hass: HomeAssistant,
) -> None:
    async with reading(hass) as server:
        turn = asyncio.create_task(say(hass, "what time is it?"))
        await server.arrived.wait()
        await run_other_tasks()
        turn.cancel()
        with pytest.raises(asyncio.CancelledError):
            await turn

        await server.left.wait()


async def test_a_late_answer_comes_after_a_filler(
    hass: HomeAssistant, serve: Serve
) -> None:
    server = await serve(Script(answers=(LATE,)))
    room = await furnish(hass, StreamingVoice())

    async with asking(hass, room, server):
        pass_time(hass, 3.5)
        assert room.heard == ""
        pass_time(hass, 5)
        await room.hear("[One moment.]")
        pass_time(hass, 9)

    assert room.heard == "[One moment.][I'm still on it.][It is noon.]"
    assert room.speech == "It is noon."
    (chat_log,) = hass.data[DATA_CHAT_LOGS].values()
    assert [
        content.content
        for content in chat_log.content
        if isinstance(content, AssistantContent)
    ] == ["It is noon."]


@pytest.mark.parametrize(
    ("language", "answers", "filler"),
    [("de", (LATE,), "[Einen Moment.]"), ("en", (ACTS, LATE), "[One moment.]")],
)
async def test_a_filler_is_in_the_language_of_the_speaker_and_comes_after_actions_too(
    hass: HomeAssistant,
    serve: Serve,
    language: str,
    answers: tuple[ScriptedAnswer, ...],
    filler: str,
) -> None:
    server = await serve(Script(answers=answers))
    room = await furnish(hass, StreamingVoice(), language)

    async with asking(hass, room, server, inferences=len(answers)):
        pass_time(hass, 5)
        await room.hear(filler)

    assert room.heard.startswith(filler)
    assert room.heard.endswith("[It is noon.]")


@pytest.mark.parametrize(
    ("first", "heard"),
    [
        ("Let me look.", "[Let me look.]"),
        (f"{LONG_START} ", f"[{LONG_START}]"),
        ("It will rain on", "[It will rain on]"),
    ],
)
async def test_a_silence_within_an_answer_is_filled_again_and_again(
    hass: HomeAssistant, serve: Serve, first: str, heard: str
) -> None:
    server = await serve(
        Script(answers=(ScriptedAnswer(content=first, tool_calls=(LIGHT_ON,)), LATE))
    )
    room = await furnish(hass, StreamingVoice())

    async with asking(hass, room, server, inferences=2):
        for filler in (
            "[One moment.]",
            "[I'm still on it.]",
            "[Just a little longer.]",
            "[One moment.]",
        ):
            pass_time(hass, 4.5)
            heard += filler
            await room.hear(heard)

    assert room.heard.startswith(heard)
    assert room.heard.endswith("[It is noon.]")
    (chat_log,) = hass.data[DATA_CHAT_LOGS].values()
    messages = [
        content.content
        for content in chat_log.content
        if isinstance(content, AssistantContent)
    ]
    assert messages == [first, "It is noon."]


@pytest.mark.parametrize(
    ("language", "answer", "heard"),
    [
        ("en", "The lamp is on. I know.", "[The lamp is on.][I know.]"),
        ("en", "21 °C. I know.", "[21 degrees Celsius.][I know.]"),
        ("en", "Plan B. The lamp is on.", "[Plan B.][The lamp is on.]"),
        ("en", "Yes. The lamp is on.", "[Yes.][The lamp is on.]"),
        (
            "de",
            "Am 3. Mai ab 8 Uhr. Ich warte.",
            "[Am dritten Mai ab 8 Uhr.][Ich warte.]",
        ),
        ("zh", "灯开着。我知道。", "[灯开着。][我知道。]"),
    ],
)
async def test_a_short_answer_streams_sentence_by_sentence(
    hass: HomeAssistant, serve: Serve, language: str, answer: str, heard: str
) -> None:
    await serve(Script(answers=(ScriptedAnswer(content=answer, piece_characters=2),)))
    room = await furnish(hass, StreamingVoice(), language)

    await room.say("what time is it?")

    assert room.heard == heard
    assert "\n" not in room.speech


async def test_the_name_of_a_device_is_spoken_as_it_is(
    hass: HomeAssistant, serve: Serve
) -> None:
    await serve(
        Script(answers=(ScriptedAnswer(content="The pump 3/4 needs 3/4 of 5 W."),))
    )
    hass.states.async_set("light.pump", "on", {"friendly_name": "Pump 3/4"})
    async_expose_entity(hass, "conversation", "light.pump", should_expose=True)
    room = await furnish(hass, StreamingVoice())

    await room.say("hello")

    assert room.heard == "[The pump 3/4 needs three quarters of 5 watts.]"
    assert room.heard == f"[{room.speech}]"


@pytest.mark.parametrize("filler_after", [0, 8])
async def test_a_person_sets_when_it_comes(
    hass: HomeAssistant, serve: Serve, filler_after: float
) -> None:
    server = await serve(Script(answers=(LATE,)), filler_after=filler_after)
    room = await furnish(hass, StreamingVoice())

    async with asking(hass, room, server):
        pass_time(hass, 7)
        assert room.heard == ""
        if filler_after:
            pass_time(hass, 9)
            await room.hear("[One moment.]")

    assert room.heard.endswith("[It is noon.]")
    assert (room.heard.count("[") > 1) is bool(filler_after)


async def test_a_voice_that_takes_no_stream_speaks_the_answer_alone(
    hass: HomeAssistant, serve: Serve
) -> None:
    server = await serve(Script(answers=(LATE,)))
    room = await furnish(hass, WholeVoice())

    async with asking(hass, room, server):
        pass_time(hass, 5)

    assert room.heard == "[It is noon.]"


LONG = "".join(
    f"Sentence number {number} says a little more about it. " for number in range(120)
).strip()


SPOKEN = {
    "en": (LONG, LONG),
    "ja": (
        "どういたしまして\uff01😊今後も、ご質問がございましたら、お気軽にどうぞ。",
        "どういたしまして\uff01今後も、ご質問がございましたら、お気軽にどうぞ。",
    ),
    "zh": (
        "哇\uff0c这个功能真的很酷\uff01🤩让用户有更多**自由**。",
        "哇\uff0c这个功能真的很酷\uff01让用户有更多自由。",
    ),
}


@pytest.mark.parametrize("language", SPOKEN)
@pytest.mark.parametrize("voice", [WholeVoice, StreamingVoice])
async def test_all_of_an_answer_is_heard(
    hass: HomeAssistant, serve: Serve, voice: type[WholeVoice], language: str
) -> None:
    answer, heard = SPOKEN[language]
    await serve(Script(answers=(ScriptedAnswer(content=answer),)))
    room = await furnish(hass, voice(), language)

    await room.say("tell me about it")

    assert room.heard.replace("][", " " if language == "en" else "") == f"[{heard}]"


async def test_who_reads_needs_no_filler(hass: HomeAssistant, serve: Serve) -> None:
    server = await serve(Script(answers=(LATE,)))
    ears = Ears()

    turn = asyncio.create_task(
        talk_as_the_pipeline_does(hass, "what time is it?", "a-talk", ears)
    )
    await wait_for_requests(server, 1)
    pass_time(hass, 5)
    pass_time(hass, 11)
    await turn

    assert ears.heard == "It is noon."


async def test_no_filler_comes_after_the_person_has_cut_in(
    hass: HomeAssistant, serve: Serve
) -> None:
    server = await serve(Script(answers=(LATE,)))
    ears = Ears()

    turn = asyncio.create_task(
        talk_as_the_pipeline_does(hass, "what time is it?", "a-talk", ears, SATELLITE)
    )
    await wait_for_requests(server, 1)
    turn.cancel()
    with pytest.raises(asyncio.CancelledError):
        await turn
    pass_time(hass, 5)
    await hass.async_block_till_done(wait_background_tasks=True)

    assert ears.heard == ""


async def test_no_filler_comes_from_an_agent_that_is_gone(
    hass: HomeAssistant, serve: Serve
) -> None:
    server = await serve(Script(answers=(LATE,)))
    ears = Ears()

    turn = asyncio.create_task(
        talk_as_the_pipeline_does(hass, "what time is it?", "a-talk", ears, SATELLITE)
    )
    await wait_for_requests(server, 1)
    (entry,) = hass.config_entries.async_entries(const.DOMAIN)
    assert await hass.config_entries.async_unload(entry.entry_id)
    pass_time(hass, 5)
    pass_time(hass, 11)
    await turn

    assert ears.heard == "It is noon."


async def test_a_turn_that_fails_after_a_filler_is_still_heard_to_its_end(
    hass: HomeAssistant, serve: Serve
) -> None:
    names_its_tools = asyncio.Event()
    is_asked = asyncio.Event()

    async def until() -> None:
        is_asked.set()
        await names_its_tools.wait()

    register(hass, "slow").until = until
    refused = ScriptedFailure(status=401, body="no")
    await serve(
        Script(answers=(refused,), after_last="start again"), llm_hass_api=["slow"]
    )
    room = await furnish(hass, StreamingVoice())

    turn = asyncio.create_task(room.say("what time is it?"))
    await is_asked.wait()
    pass_time(hass, 5)
    await room.hear("[One moment.]")
    names_its_tools.set()
    await turn

    assert room.heard.startswith("[One moment.][My language model refuses the API key;")


@pytest.mark.parametrize(
    "file", sorted(TRANSLATIONS.glob("*.json")), ids=lambda file: file.stem
)
def test_a_filler_is_a_sentence_that_can_be_spoken_at_once(file: Path) -> None:
    sentences = json.loads(file.read_text(encoding="utf-8"))["common"]

    for filler in (sentences[key] for key in FILLERS):
        assert list(SentenceBoundaryDetector().add_chunk(f"{filler}\n\n")) == [filler]


async def test_a_satellite_hears_no_markup(hass: HomeAssistant, serve: Serve) -> None:
    answers = (
        ScriptedAnswer(content="_One_ moment.", tool_calls=(LIGHT_ON,)),
        ScriptedAnswer(content=WRITTEN),
    )
    await serve(Script(answers=answers))
    ears = Ears()

    result = await talk_as_the_pipeline_does(hass, "light!", "a-talk", ears, SATELLITE)

    assert ears.heard.split("\n\n")[-3:] == [
        "The kitchen light is on.",
        "Shall I dim it?",
        "Just let me know.",
    ]
    assert " ".join(ears.heard.split()) == f"One moment. {speech(result)}"
    assert (
        speech(result)
        == "Done! The kitchen light is on. Shall I dim it? Just let me know."
    )
    assert result.continue_conversation
    written = [
        content.content
        for content in hass.data[DATA_CHAT_LOGS]["a-talk"].content
        if isinstance(content, AssistantContent)
    ]
    assert written == ["_One_ moment.", WRITTEN]


async def test_who_reads_sees_what_was_written(
    hass: HomeAssistant, serve: Serve
) -> None:
    await serve(Script(answers=(ScriptedAnswer(content=WRITTEN),)))
    ears = Ears()

    result = await talk_as_the_pipeline_does(hass, "light!", "a-talk", ears)

    assert ears.heard == speech(result) == WRITTEN


async def test_a_satellite_that_does_not_stream_hears_no_markup_either(
    hass: HomeAssistant, serve: Serve
) -> None:
    await serve(
        Script(
            answers=(
                ScriptedAnswer(content="**Yes.**"),
                ScriptedAnswer(content="**Yes.**"),
            )
        )
    )

    assert speech(await say(hass, "hello", satellite_id=SATELLITE)) == "Yes."
    assert speech(await say(hass, "hello")) == "**Yes.**"


async def test_a_satellite_hears_no_name_of_a_tool_of_the_turn(
    hass: HomeAssistant, serve: Serve
) -> None:
    await serve(
        Script(
            answers=(ScriptedAnswer(content="I can hass_turn_on, or find_entities."),)
        )
    )
    ears = Ears()

    result = await talk_as_the_pipeline_does(hass, "light!", "a-talk", ears, SATELLITE)

    assert ears.heard == speech(result) == "I can turn on, or find entities."


async def test_a_delta_crosses_four_generators(
    hass: HomeAssistant, serve: Serve
) -> None:
    """From the socket to the ChatLog: the provider, the chain, the loop, the surface."""
    await serve(Script(answers=(ScriptedAnswer(content="Hello."),)))
    crossed: list[set[str]] = []

    def find_generators(_: ChatLog, delta: dict[str, object]) -> None:
        if delta.get("content"):
            generators = [
                each
                for each in gc.get_objects()
                if isinstance(each, AsyncGeneratorType) and each.ag_frame
            ]
            ours = [
                each.ag_code
                for each in generators
                if "chatterbox" in each.ag_code.co_filename
            ]
            crossed.append(
                {
                    code.co_qualname
                    for code in ours
                    if "custom_components" in code.co_filename
                }
            )

    await talk_as_the_pipeline_does(hass, "hello", "a-talk", find_generators)

    assert crossed[0] == {
        "HTTPProvider.stream",
        "FailoverProvider.stream",
        "TurnRunner.run",
        "_deltas",
    }


async def test_a_bug_is_logged_and_still_answered(
    hass: HomeAssistant, serve: Serve, caplog: pytest.LogCaptureFixture
) -> None:
    await serve(Script(answers=(ScriptedAnswer(content="Hello."),)))

    def break_down(_: ChatLog, __: dict[str, object]) -> None:
        raise ValueError("a listener that is broken")

    result = await talk_as_the_pipeline_does(
        hass, "hello", "a-talk", break_down, SATELLITE
    )

    assert speech(result) == "Something went wrong. Please try again."
    assert "a listener that is broken" in caplog.text


async def test_a_turn_that_breaks_off_is_heard_to_its_end(
    hass: HomeAssistant, serve: Serve
) -> None:
    """A pipeline that has begun to speak does not speak the result."""
    await serve(Script(answers=(ScriptedAnswer(content="Hello there. I am"),)))
    ears = Ears()

    def break_down_once(chat_log: ChatLog, delta: dict[str, object]) -> None:
        before = ears.heard
        ears(chat_log, delta)
        if before == "" != ears.heard:
            raise ValueError("a listener that is broken for a moment")

    result = await talk_as_the_pipeline_does(
        hass, "hello", "a-talk", break_down_once, SATELLITE
    )

    assert ears.heard == f"Hello{speech(result)}"
    assert speech(result) == "Something went wrong. Please try again."
