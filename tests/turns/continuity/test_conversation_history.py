"""The history after turns that overlap, break off, or do not do what they were to."""

import asyncio
import json
import re
from itertools import count, pairwise

import pytest
from freezegun.api import FrozenDateTimeFactory
from homeassistant.components import conversation
from homeassistant.components.conversation import (
    AssistantContent,
    ChatLog,
    ConversationResult,
)
from homeassistant.components.conversation.chat_log import DATA_CHAT_LOGS
from homeassistant.core import HomeAssistant, ServiceCall
from homeassistant.exceptions import HomeAssistantError
from homeassistant.helpers import chat_session
from homeassistant.util.ulid import ulid_now
from pytest_homeassistant_custom_component.common import async_capture_events

from custom_components.chatterbox.const import EVENT_TURN_FINISHED
from tests.support.servers.script import (
    Script,
    ScriptedAnswer,
    ScriptedCall,
    ScriptedFailure,
)
from tests.support.talk import (
    AGENT,
    BLINDS_DOWN,
    LIGHT_ON,
    NOT_DONE,
    SATELLITE,
    Serve,
    assert_no_orphans,
    messages_of,
    say,
    speech,
    talk_as_the_pipeline_does,
)
from tests.support.versions import IS_LATEST, OF_NOBODY


async def test_an_interrupted_turn_leaves_a_later_one_its_words(
    hass: HomeAssistant, serve: Serve
) -> None:
    server = await serve(
        Script(
            answers=(
                ScriptedAnswer(content="Never heard.", delay_seconds=3600),
                ScriptedAnswer(content="The second answer."),
                ScriptedAnswer(content="Here."),
            )
        )
    )
    first = asyncio.create_task(
        talk_as_the_pipeline_does(
            hass, "the first question", "a-talk", lambda _, __: None
        )
    )
    await server.request_arrived.wait()
    await say(hass, "the second question", "a-talk")
    first.cancel()
    await asyncio.wait({first})
    await say(hass, "are you there?", "a-talk")

    heard = [
        str(message["content"]).rpartition("\n\n")[2]
        for message in messages_of(server.requests[-1])[1:]
    ]
    second = (
        [] if IS_LATEST else ["the second question", "The second answer."]
    )  # since 2026.11, it has to wait
    assert heard == ["the first question", *second, "are you there?"]


async def test_a_key_refused_after_its_entry_is_gone_asks_nobody(
    hass: HomeAssistant, serve: Serve, caplog: pytest.LogCaptureFixture
) -> None:
    server = await serve(
        Script(
            answers=(ScriptedFailure(status=401, body={"error": {"message": "no"}}),)
        ),
        llm_hass_api=[],
    )
    (entry,) = hass.config_entries.async_entries("chatterbox")
    agent = conversation.async_get_agent(hass, AGENT)
    talking = asyncio.create_task(say(hass, "hello"))
    await server.request_arrived.wait()
    await hass.config_entries.async_remove(entry.entry_id)
    assert "refuses the API key" in speech(await talking)
    await hass.async_block_till_done()

    assert agent is not None
    assert "UnknownEntry" not in caplog.text
    assert not hass.config_entries.flow.async_progress()


async def test_a_second_turn_repeats_the_first_byte_for_byte(
    hass: HomeAssistant, serve: Serve, freezer: FrozenDateTimeFactory
) -> None:
    """The cache of a server stays valid: requests of a conversation only ever grow at their end."""
    wrong = ScriptedCall(name="intent__HassTurnOn", arguments="{not json")
    unknown = ScriptedCall(name="make_coffee", arguments={"cups": 2})
    server = await serve(
        Script(
            answers=(
                ScriptedAnswer(
                    content="One moment.", tool_calls=(wrong, LIGHT_ON, unknown)
                ),
                ScriptedAnswer(content="Is it bright enough?"),
                ScriptedAnswer(content="Good."),
            )
        )
    )
    first = await say(hass, "turn on the kitchen light")
    freezer.tick(60)
    second = await say(hass, "yes")

    assert first.continue_conversation
    assert not second.continue_conversation
    requests = [messages_of(request) for request in server.requests]
    for earlier, later in pairwise(requests):
        assert json.dumps(later[: len(earlier)]) == json.dumps(earlier)
    roles = [message["role"] for message in requests[-1]]
    assert roles == [
        "system",
        "user",
        "assistant",
        "tool",
        "tool",
        "tool",
        "assistant",
        "user",
    ]
    assert server.requests[0].body["tools"] == server.requests[-1].body["tools"]


CALLS = ScriptedAnswer(
    content="One moment.", tool_calls=(LIGHT_ON, BLINDS_DOWN), piece_characters=4
)
ANSWERS = ScriptedAnswer(content="The light is on.", piece_characters=4)


async def test_a_barge_in_at_any_delta_leaves_a_usable_history(
    hass: HomeAssistant, serve: Serve
) -> None:
    """The person interrupts after the first, second, third … delta of a turn, until one gets through."""
    server = await serve(
        Script(answers=(CALLS, ANSWERS, ANSWERS), after_last="start again")
    )
    interrupted = 0
    for deltas in count(1):
        server.start_again()
        conversation_id = f"interrupted after {deltas}"
        talking: asyncio.Task[ConversationResult]
        left = deltas

        def interrupt(_: ChatLog, __: dict[str, object]) -> None:
            nonlocal left
            left -= 1
            if left == 0:
                talking.cancel()  # noqa: B023  # the listener lives no longer than its turn

        talking = asyncio.create_task(
            talk_as_the_pipeline_does(
                hass, "light!", conversation_id, interrupt, "assist_satellite.kitchen"
            )
        )
        await asyncio.wait({talking})

        assert not {
            task for task in asyncio.all_tasks() if "chatterbox" in str(task.get_coro())
        }
        contents = hass.data[DATA_CHAT_LOGS][conversation_id].content
        assert_no_orphans(contents)
        if not talking.cancelled():
            break
        interrupted += 1
        assert speech(await say(hass, "and now?", conversation_id))
        roles = [message["role"] for message in messages_of(server.requests[-1])]
        assert roles[:2] == ["system", "user"]
    assert interrupted > 6  # words that come soon after one another are one delta


async def test_an_interrupted_first_turn_is_continued_under_its_id(
    hass: HomeAssistant, serve: Serve
) -> None:
    """Home Assistant gives new conversations a ULID, and opens another one for a ULID that it does not know."""
    server = await serve(
        Script(
            answers=(
                ScriptedAnswer(tool_calls=(LIGHT_ON,)),
                ScriptedAnswer(content="Yes."),
            )
        )
    )
    conversation_id = ulid_now()
    with chat_session.async_get_chat_session(
        hass, conversation_id, **OF_NOBODY
    ) as session:
        conversation_id = session.conversation_id
    talking: asyncio.Task[ConversationResult]

    def interrupt(_: ChatLog, delta: dict[str, object]) -> None:
        if delta.get("role") == "tool_result":
            talking.cancel()

    talking = asyncio.create_task(
        talk_as_the_pipeline_does(hass, "light!", conversation_id, interrupt)
    )
    await asyncio.wait({talking})
    result = await say(hass, "is it on?", conversation_id)

    assert result.conversation_id == conversation_id
    roles = [message["role"] for message in messages_of(server.requests[-1])]
    assert roles[:4] == ["system", "user", "assistant", "tool"]


LIE = ScriptedAnswer(content="I've turned on the kitchen light.")
FAILS = ScriptedAnswer(
    tool_calls=(ScriptedCall(name="HassTurnOn", arguments={"name": "Kitchen Moon"}),)
)


@pytest.mark.parametrize("satellite_id", [SATELLITE, None], ids=["spoken", "typed"])
async def test_an_answer_ends_with_what_was_not_done(
    hass: HomeAssistant, serve: Serve, satellite_id: str | None
) -> None:
    await serve(Script(answers=(FAILS, LIE)))
    turns = async_capture_events(hass, EVENT_TURN_FINISHED)
    heard: list[str] = []

    def listen(_: ChatLog, delta: dict[str, object]) -> None:
        heard.append(str(delta.get("content") or ""))

    result = await talk_as_the_pipeline_does(
        hass, "make the kitchen light shine", "a-talk", listen, satellite_id
    )

    assert (
        speech(result)
        == re.sub(r"\n+", " ", "".join(heard))
        == f"{LIE.content} {NOT_DONE}"
    )
    assert turns[0].data["stop_reason"] == "not_done"
    assert turns[0].data["speech"] == speech(result)
    contents = hass.data[DATA_CHAT_LOGS]["a-talk"].content
    assert_no_orphans(contents)
    assert isinstance(contents[-1], AssistantContent)
    assert contents[-1].content == speech(result)


async def test_after_a_second_call_that_works_nothing_is_missing(
    hass: HomeAssistant, serve: Serve
) -> None:
    await serve(Script(answers=(FAILS, ScriptedAnswer(tool_calls=(LIGHT_ON,)), LIE)))

    assert speech(await say(hass, "turn on the kitchen light")) == LIE.content


@pytest.mark.parametrize(
    ("answer", "is_said_once"),
    [
        ("I could not find the kitchen moon.", True),
        ("Sorry, I can't find that.", True),
        ("I could not find the moon. Anyway, it shines.", False),
        ("I could not find the moon, so I turned on the light.", False),
    ],
)
async def test_an_answer_that_tells_that_nothing_was_done_is_heard_as_it_is(
    hass: HomeAssistant, serve: Serve, answer: str, *, is_said_once: bool
) -> None:
    await serve(Script(answers=(FAILS, ScriptedAnswer(content=answer))))

    assert speech(await say(hass, "turn on the kitchen light")) == (
        answer if is_said_once else f"{answer} {NOT_DONE}"
    )


async def test_a_model_that_asks_back_is_heard_as_it_is(
    hass: HomeAssistant, serve: Serve
) -> None:
    await serve(
        Script(
            answers=(
                FAILS,
                ScriptedAnswer(content="There is no moon. Which light do you mean?"),
            )
        )
    )

    result = await say(hass, "turn on the kitchen light")

    assert speech(result) == "There is no moon. Which light do you mean?"
    assert result.continue_conversation


async def test_what_one_entity_of_several_did_not_do_is_told_by_name(
    hass: HomeAssistant, serve: Serve
) -> None:
    both = ScriptedCall(
        name="HassTurnOn", arguments={"area": "Kitchen", "domain": ["light"]}
    )
    await serve(Script(answers=(ScriptedAnswer(tool_calls=(both,)), LIE)))

    async def works_for_one(call: ServiceCall) -> None:
        if "light.kitchen_ceiling" not in call.data["entity_id"]:
            raise HomeAssistantError("no answer")

    hass.services.async_register("light", "turn_on", works_for_one)

    answer = speech(await say(hass, "light!"))

    assert answer.startswith(
        f"{LIE.content} That didn't work: Kitchen "
    )  # Home Assistant 2026.10 names the other one


@pytest.mark.parametrize(
    ("later", "message"),
    [
        ((), " That didn't work: Kitchen Counter Light. no answer."),
        ((ScriptedCall(name="HassTurnOn", arguments={"name": "Worktop Light"}),), ""),
    ],
)
async def test_a_call_of_several_that_failed_is_told_unless_it_works_later(
    hass: HomeAssistant, serve: Serve, later: tuple[ScriptedCall, ...], message: str
) -> None:
    counter = ScriptedCall(
        name="HassTurnOn", arguments={"name": "Kitchen Counter Light"}
    )
    again = [ScriptedAnswer(tool_calls=later)] if later else []
    await serve(
        Script(answers=(ScriptedAnswer(tool_calls=(LIGHT_ON, counter)), *again, LIE))
    )
    tried: list[ServiceCall] = []

    async def fails_at_first(call: ServiceCall) -> None:
        if "light.kitchen_counter" in call.data["entity_id"]:
            tried.append(call)
            if len(tried) == 1:
                raise HomeAssistantError("no answer")

    hass.services.async_register("light", "turn_on", fails_at_first)

    assert speech(await say(hass, "lights!")) == f"{LIE.content}{message}"
