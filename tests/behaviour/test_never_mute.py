"""Whatever a model writes, or does not: who asked hears words, from a voice that streams as from one that does not."""

from collections.abc import Callable

import pytest
from homeassistant.core import HomeAssistant

from tests.support.listening_room import StreamingVoice, WholeVoice, furnish
from tests.support.servers.script import Script, ScriptedAnswer, ScriptedCall, ScriptedFailure
from tests.support.talk import LIGHT_ON, Serve

pytestmark = pytest.mark.usefixtures("socket_enabled")

LONG = "The light in the kitchen is on, and so is the one in the garden, as you have asked. "
NOBODY_THERE = ScriptedCall(name="HassTurnOn", arguments={"name": "Lighthouse"})
UNREADABLE = "I have an answer, but it cannot be read aloud."
BROKEN = "The language model sent an invalid answer. Please try again."


@pytest.mark.parametrize("voice", [StreamingVoice, WholeVoice])
@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (
            ScriptedAnswer(
                content="```python\nprint('a program that has more than sixty characters in its code')\n```"
            ),
            UNREADABLE,
        ),
        (ScriptedAnswer(content="| room | light |\n|---|---|\n| kitchen | on |"), "kitchen, on"),
        (ScriptedAnswer(content="👍"), "Okay."),
        (ScriptedAnswer(content="..."), "Okay."),
        (ScriptedAnswer(content="\u200b"), "Okay."),
        (
            ScriptedAnswer(content="https://example.com/a/page/with/a/long/address?that=nobody&wants=to&hear=at-all"),
            "a link",
        ),
        (ScriptedAnswer(content="\n"), "I don't have an answer to that."),
        (ScriptedAnswer(content="\u00a0"), "I don't have an answer to that."),
        (
            ScriptedAnswer(reasoning_content="They want a light, and I know all about it, but I never come to an end."),
            "I don't have an answer to that.",
        ),
        (ScriptedAnswer(content="", finish_reason="length"), "My answer got too long"),
        (ScriptedAnswer(content="", finish_reason="content_filter"), "declined to answer that"),
        (ScriptedAnswer(content="", finish_reason="something new"), "stopped in the middle"),
        (ScriptedAnswer(content=LONG, cut_after_bytes=2500), BROKEN),
        (ScriptedFailure(status=401, body={}), "no longer accepts my API key"),
    ],
)
async def test_every_answer_is_heard(
    hass: HomeAssistant,
    serve: Serve,
    answer: ScriptedAnswer | ScriptedFailure,
    words: str,
    voice: Callable[[], WholeVoice],
) -> None:
    await serve(Script(answers=(answer,)), llm_hass_api=[])
    room = await furnish(hass, voice())

    await room.say("how is the light?")

    assert words in room.heard.replace("][", " ")
    assert words in room.speech


@pytest.mark.parametrize("voice", [StreamingVoice, WholeVoice])
@pytest.mark.parametrize(
    ("ending", "words"),
    [
        (ScriptedAnswer(content=""), "Done: Kitchen Ceiling Light."),
        (ScriptedAnswer(content=LONG, cut_after_bytes=2500), f"Done: Kitchen Ceiling Light. {BROKEN}"),
        (ScriptedAnswer(content="✅"), "Okay."),
    ],
)
async def test_every_action_is_heard(
    hass: HomeAssistant, serve: Serve, ending: ScriptedAnswer, words: str, voice: Callable[[], WholeVoice]
) -> None:
    await serve(Script(answers=(ScriptedAnswer(tool_calls=(LIGHT_ON,)), ending)))
    room = await furnish(hass, voice())

    await room.say("turn on the light!")

    assert words in room.heard.replace("][", " ")
    assert words in room.speech


@pytest.mark.parametrize("voice", [StreamingVoice, WholeVoice])
async def test_what_did_not_work_is_no_silence(
    hass: HomeAssistant, serve: Serve, voice: Callable[[], WholeVoice]
) -> None:
    await serve(Script(answers=(ScriptedAnswer(tool_calls=(NOBODY_THERE,)), ScriptedAnswer(content=""))))
    room = await furnish(hass, voice())

    await room.say("turn on the lighthouse!")

    assert room.heard == f"[{room.speech}]"
    assert room.speech == "I don't have an answer to that."
