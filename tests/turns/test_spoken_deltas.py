"""A satellite hears words, and the ChatLog keeps what the model wrote."""

import gc
from types import AsyncGeneratorType

import pytest
from homeassistant.components.conversation import AssistantContent, ChatLog
from homeassistant.components.conversation.chat_log import DATA_CHAT_LOGS
from homeassistant.core import HomeAssistant

from tests.support.servers.script import Script, ScriptedAnswer
from tests.support.talk import LIGHT_ON, Serve, say, speech, talk_as_the_pipeline_does

pytestmark = pytest.mark.usefixtures("socket_enabled")

SATELLITE = "assist_satellite.kitchen"
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


async def test_a_satellite_hears_no_markup(hass: HomeAssistant, serve: Serve) -> None:
    answers = (ScriptedAnswer(content="_One_ moment.", tool_calls=(LIGHT_ON,)), ScriptedAnswer(content=WRITTEN))
    await serve(Script(answers=answers))
    ears = Ears()

    result = await talk_as_the_pipeline_does(hass, "light!", "a-talk", ears, SATELLITE)

    assert ears.heard == "One moment.\n\nDone! The kitchen light is on. Shall I dim it? Just let me know."
    assert speech(result) == "Done! The kitchen light is on. Shall I dim it? Just let me know."
    assert result.continue_conversation
    written = [
        content.content
        for content in hass.data[DATA_CHAT_LOGS]["a-talk"].content
        if isinstance(content, AssistantContent)
    ]
    assert written == ["_One_ moment.", WRITTEN]


async def test_who_reads_sees_what_was_written(hass: HomeAssistant, serve: Serve) -> None:
    await serve(Script(answers=(ScriptedAnswer(content=WRITTEN),)))
    ears = Ears()

    result = await talk_as_the_pipeline_does(hass, "light!", "a-talk", ears)

    assert ears.heard == speech(result) == WRITTEN


async def test_a_satellite_that_does_not_stream_hears_no_markup_either(hass: HomeAssistant, serve: Serve) -> None:
    await serve(Script(answers=(ScriptedAnswer(content="**Yes.**"), ScriptedAnswer(content="**Yes.**"))))

    assert speech(await say(hass, "hello", satellite_id=SATELLITE)) == "Yes."
    assert speech(await say(hass, "hello")) == "**Yes.**"


async def test_a_delta_crosses_four_generators(hass: HomeAssistant, serve: Serve) -> None:
    """From the socket to the ChatLog: the provider, the chain, the loop, the surface."""
    await serve(Script(answers=(ScriptedAnswer(content="Hello."),)))
    crossed: list[set[str]] = []

    def find_generators(_: ChatLog, delta: dict[str, object]) -> None:
        if delta.get("content"):
            generators = [each for each in gc.get_objects() if isinstance(each, AsyncGeneratorType) and each.ag_frame]
            ours = [each.ag_code for each in generators if "chatterbox" in each.ag_code.co_filename]
            crossed.append({code.co_qualname for code in ours if "custom_components" in code.co_filename})

    await talk_as_the_pipeline_does(hass, "hello", "a-talk", find_generators)

    assert crossed[0] == {"HTTPProvider.stream", "FailoverProvider.stream", "TurnRunner.run", "_deltas"}


async def test_a_bug_is_logged_and_still_answered(
    hass: HomeAssistant, serve: Serve, caplog: pytest.LogCaptureFixture
) -> None:
    await serve(Script(answers=(ScriptedAnswer(content="Hello."),)))

    def break_down(_: ChatLog, __: dict[str, object]) -> None:
        raise ValueError("a listener that is broken")

    result = await talk_as_the_pipeline_does(hass, "hello", "a-talk", break_down, SATELLITE)

    assert speech(result) == "Something went wrong. Please try again."
    assert "a listener that is broken" in caplog.text


async def test_a_turn_that_breaks_off_is_heard_to_its_end(hass: HomeAssistant, serve: Serve) -> None:
    """A pipeline that has begun to speak does not speak the result."""
    await serve(Script(answers=(ScriptedAnswer(content="Hello there. I am"),)), check_actions=False)
    ears = Ears()

    def break_down_once(chat_log: ChatLog, delta: dict[str, object]) -> None:
        before = ears.heard
        ears(chat_log, delta)
        if before == "" != ears.heard:
            raise ValueError("a listener that is broken for a moment")

    result = await talk_as_the_pipeline_does(hass, "hello", "a-talk", break_down_once, SATELLITE)

    assert ears.heard == f"Hello{speech(result)}"
    assert speech(result) == "Something went wrong. Please try again."
