"""Whatever a model writes, or does not: who asked hears words, from a voice that streams as from one that does not."""

from collections.abc import Callable, Sequence

import pytest
from homeassistant.core import HomeAssistant

from tests.support.listening_room import StreamingVoice, WholeVoice, furnish
from tests.support.servers.script import (
    Script,
    ScriptedAnswer,
    ScriptedCall,
    ScriptedFailure,
)
from tests.support.talk import LIGHT_ON, NOT_DONE, Serve

LONG = "The light in the kitchen is on, and so is the one in the garden, as you have asked. "
NOBODY_THERE = ScriptedCall(name="HassTurnOn", arguments={"name": "Lighthouse"})
UNREADABLE = "I have an answer, but it cannot be read aloud."
TOO_LOUD = ScriptedCall(
    name="HassSetVolume", arguments={"name": "TV", "volume_level": 200}
)
BROKEN = "I lost the connection to the language model."

ANSWERS = (
    (
        "```python\nprint('a program that has more than sixty characters in its code')\n```",
        UNREADABLE,
    ),
    ("| room | light |\n|---|---|\n| kitchen | on |", "kitchen, on"),
    ("👍", "Okay."),
    ("...", NOT_DONE),
    ("\u200b", NOT_DONE),
    (
        "https://example.com/a/page/with/a/long/address?that=nobody&wants=to&hear=at-all",
        "a link",
    ),
    ("\n", NOT_DONE),
    ("\u00a0", NOT_DONE),
)
ENDS = (
    (
        ScriptedAnswer(
            reasoning_content="They want a light, and I know all about it, but never come to an end."
        ),
        NOT_DONE,
    ),
    (ScriptedAnswer(content="", finish_reason="length"), "My answer got too long"),
    (
        ScriptedAnswer(content="", finish_reason="content_filter"),
        "declined to answer that",
    ),
    (
        ScriptedAnswer(content="It is a long st", finish_reason="length"),
        "It is a long st… My answer got too long",
    ),
    (
        ScriptedAnswer(content="It is long.", finish_reason="length"),
        "It is long. My answer got too long",
    ),
    (
        ScriptedAnswer(content="It is a", finish_reason="content_filter"),
        "It is a… The language model declined",
    ),
    (
        ScriptedAnswer(reasoning_content=LONG * 100, piece_characters=500),
        "kept repeating itself",
    ),
    (ScriptedAnswer(content=LONG * 100, piece_characters=500), LONG.strip()),
    (ScriptedAnswer(content=LONG, cut_after_bytes=2500), BROKEN),
    (ScriptedFailure(status=401, body={}), "refuses the API key"),
)
ACTED = ScriptedAnswer(tool_calls=(LIGHT_ON,))
ASKED_TWICE = (
    (
        ScriptedAnswer(content="", finish_reason="something new"),
        ScriptedAnswer(content="It is noon."),
        "It is noon.",
    ),
)
AFTER_A_CALL = (
    (ACTED, ScriptedAnswer(content=""), "Done: Kitchen Ceiling Light."),
    (
        ACTED,
        ScriptedAnswer(content=LONG, cut_after_bytes=2500),
        f"Done: Kitchen Ceiling Light. {BROKEN}",
    ),
    (ACTED, ScriptedAnswer(content="✅"), "Okay."),
    (
        ScriptedAnswer(tool_calls=(NOBODY_THERE,)),
        ScriptedAnswer(content=""),
        "Turn on the Kitchen Ceiling Light?",
    ),
    (
        ScriptedAnswer(tool_calls=(TOO_LOUD,)),
        ScriptedAnswer(content=""),
        "Turn on the Kitchen Ceiling Light?",
    ),
)


@pytest.mark.each_row
@pytest.mark.parametrize(
    "voice", [StreamingVoice, pytest.param(WholeVoice, marks=pytest.mark.thorough)]
)
@pytest.mark.parametrize(
    ("answers", "words"),
    [
        *(((ScriptedAnswer(content=content),), words) for content, words in ANSWERS),
        *(((end,), words) for end, words in ENDS),
        *((answers, words) for *answers, words in (*ASKED_TWICE, *AFTER_A_CALL)),
    ],
)
async def test_every_answer_and_every_action_is_heard(
    hass: HomeAssistant,
    serve: Serve,
    answers: Sequence[ScriptedAnswer | ScriptedFailure],
    words: str,
    voice: Callable[[], WholeVoice],
) -> None:
    await serve(
        Script(answers=tuple(answers)),
        llm_hass_api=["assist"] if len(answers) > 1 else [],
    )
    room = await furnish(hass, voice())

    await room.say("turn on the kitchen ceiling light!")

    assert words in room.heard.replace("][", " ")
    assert words in room.speech


@pytest.mark.parametrize(
    "reason", ["model_length", "error", "insufficient_system_resource", "abort"]
)
@pytest.mark.parametrize(
    "answer",
    [
        ScriptedAnswer(tool_calls=(LIGHT_ON,)),
        ScriptedAnswer(
            content='<tool_call>{"name": "HassTurnOn", "arguments": {"name": "Kitchen ceiling light"'
        ),
        ScriptedAnswer(
            content='<tool_call>{"name": "HassTurnOn", "arguments": {"area": "Kitchen"}}</tool_call>'
        ),
    ],
    ids=["native", "cut text", "whole text"],
)
async def test_a_message_that_was_cut_never_acts(
    hass: HomeAssistant,
    serve: Serve,
    caplog: pytest.LogCaptureFixture,
    answer: ScriptedAnswer,
    reason: str,
) -> None:
    await serve(
        Script(answers=(answer.model_copy(update={"finish_reason": reason}),)),
        llm_hass_api=["assist"],
    )
    room = await furnish(hass, WholeVoice())

    await room.say("turn on the kitchen ceiling light!")

    assert hass.states.is_state("light.kitchen_ceiling", "off")
    assert (
        "too long" if reason == "model_length" else "stopped in the middle"
    ) in room.speech
    assert (
        reason == "model_length" or f"unknown finish reason: '{reason}'" in caplog.text
    )
