"""An owner's scripts in the turns of an agent: real scripts, the real entity, a scripted model."""

import asyncio
import json
import re
from collections.abc import Mapping, Sequence

import pytest
from homeassistant.components import conversation
from homeassistant.components.conversation import ConversationResult
from homeassistant.core import Context, Event, HomeAssistant, callback
from homeassistant.helpers import issue_registry as ir
from homeassistant.setup import async_setup_component
from pytest_homeassistant_custom_component.common import MockUser, async_capture_events

from custom_components.chatterbox.const import (
    DOMAIN,
    EVENT_CHANGE,
    EVENT_TOOL_FINISHED,
    EVENT_TURN_FINISHED,
    EVENT_TURN_STARTED,
)
from tests.support.documented_yaml import blocks_with
from tests.support.servers.model_server import ReceivedRequest
from tests.support.servers.script import Script, ScriptedAnswer, ScriptedCall
from tests.support.talk import (
    AGENT,
    LIGHT,
    LIGHT_ON,
    Serve,
    messages_of,
    say,
    speech,
    talk_as_the_pipeline_does,
)
from tests.turns.record.test_events import ORIGIN

NOT_DONE = "So be it. As far as I can tell, that wasn't done."
ACTS = Script(
    answers=(
        ScriptedAnswer(tool_calls=(LIGHT_ON,)),
        ScriptedAnswer(content="So be it."),
    )
)
TALKS = Script(answers=(ScriptedAnswer(content="Good morning to you."),))
POINTS = ("user_prompt_submit", "pre_tool_use", "post_tool_use", "pre_speech")
FAILS = {"stop": "It broke.", "error": True}
BUSY = {"delay": 3600}

type Sequence_ = Sequence[Mapping[str, object]]


def answering(answer: object) -> Sequence_:
    """Return what a script does that only answers."""
    return [
        {"variables": {"answer": answer}},
        {"stop": "decided", "response_variable": "answer"},
    ]


async def add_script(
    hass: HomeAssistant, sequence: Sequence_, mode: str = "parallel"
) -> None:
    """Set up the script `script.judge`."""
    judge = {"alias": "The judge", "mode": mode, "sequence": sequence}
    assert await async_setup_component(hass, "script", {"script": {"judge": judge}})


def runs(events: Sequence[Event[dict[str, object]]]) -> list[Event[dict[str, object]]]:
    """Return the calls of the script among those of all actions."""
    return [
        event
        for event in events
        if (event.data["domain"], event.data["service"]) == ("script", "judge")
    ]


def results_in(request: ReceivedRequest) -> list[str]:
    """Return the results of tools that a model was told."""
    return [
        str(message["content"])
        for message in messages_of(request)
        if message["role"] == "tool"
    ]


def issues_of(hass: HomeAssistant) -> list[tuple[str | None, dict[str, str] | None]]:
    """Return what Repairs tells of our agents."""
    issues = ir.async_get(hass).issues.values()
    return [
        (issue.translation_key, issue.translation_placeholders)
        for issue in issues
        if issue.domain == DOMAIN
    ]


async def listen_to(
    hass: HomeAssistant, text: str, satellite_id: str | None = None
) -> tuple[list[str], ConversationResult]:
    """Say something, and return the pieces in which the answer came."""
    pieces: list[str] = []
    result = await talk_as_the_pipeline_does(
        hass,
        text,
        "a-talk",
        lambda _, delta: pieces.append(str(delta.get("content") or "")),
        satellite_id,
    )
    return [piece for piece in pieces if piece], result


async def test_a_script_refuses_a_call_and_the_model_reads_why(
    hass: HomeAssistant, serve: Serve
) -> None:
    server = await serve(ACTS, pre_tool_use="script.judge")
    await add_script(
        hass, answering({"decision": "deny", "reason": "The baby sleeps."})
    )
    finished = async_capture_events(hass, EVENT_TOOL_FINISHED)
    changes = async_capture_events(hass, EVENT_CHANGE)

    result = await say(hass, "light!")

    assert hass.states.is_state(LIGHT, "off")
    assert [change.data["outcome"] for change in changes] == ["refused_by_script"]
    assert "The baby sleeps." in results_in(server.requests[1])[0]
    assert speech(result) == NOT_DONE
    assert finished[0].data["has_run"] is False
    assert issues_of(hass) == []


async def test_a_script_is_told_who_wants_what_where(
    hass: HomeAssistant, serve: Serve, hass_admin_user: MockUser
) -> None:
    every_point = dict.fromkeys(POINTS, "script.judge")
    await serve(ACTS, **every_point)
    await add_script(hass, answering({"decision": "allow"}))
    called = async_capture_events(hass, "call_service")
    turns = async_capture_events(hass, EVENT_TURN_FINISHED)

    context = Context(user_id=hass_admin_user.id)
    await conversation.async_converse(
        hass,
        "light!",
        "a-talk",
        context,
        "en",
        AGENT,
        device_id="a-device",
        satellite_id="assist_satellite.kitchen",
    )

    assert hass.states.is_state(LIGHT, "on")
    requested = runs(called)
    assert {event.context.user_id for event in requested} == {hass_admin_user.id}
    sent = [dict(event.data["service_data"]) for event in requested]  # type: ignore[call-overload]  # of an event, anything
    origin = {key: turns[0].data[key] for key in ORIGIN}
    assert all(one.items() >= origin.items() for one in sent)
    prompt, before, after, spoken = (
        {key: one[key] for key in one if key not in origin} for one in sent
    )
    call = {
        "tool": "intent__HassTurnOn",
        "arguments": {"name": "Kitchen ceiling light", "domain": ["light"]},
    }
    assert prompt == {"hook": "user_prompt_submit", "text": "light!"}
    assert before == {"hook": "pre_tool_use", **call, "read_only": False}
    assert after.pop("result")
    assert after == {"hook": "post_tool_use", **call, "is_error": False}
    assert spoken == {"hook": "pre_speech", "text": "So be it."}


async def test_a_script_changes_what_a_call_does(
    hass: HomeAssistant, serve: Serve
) -> None:
    await serve(ACTS, pre_tool_use="script.judge")
    other = "{{ dict(arguments, name='Bedroom light') }}"
    await add_script(hass, answering({"decision": "allow", "arguments": other}))

    await say(hass, "light!")

    assert (
        hass.states.is_state(LIGHT, "off"),
        hass.states.is_state("light.bedroom", "on"),
    ) == (True, True)


async def test_a_script_wants_a_yes(hass: HomeAssistant, serve: Serve) -> None:
    server = await serve(
        Script(
            answers=(
                ScriptedAnswer(content="Wait.", tool_calls=(LIGHT_ON,)),
                ScriptedAnswer(content="Good."),
            )
        ),
        pre_tool_use="script.judge",
    )
    await add_script(hass, answering({"decision": "ask", "reason": "The baby sleeps."}))
    turns = async_capture_events(hass, EVENT_TURN_FINISHED)

    pieces, result = await listen_to(hass, "light!", "assist_satellite.kitchen")

    question = "The baby sleeps. Turn on the Kitchen Ceiling Light?"
    assert hass.states.is_state(LIGHT, "off")
    assert turns[0].data["stop_reason"] == "approval_required"
    assert speech(result) == turns[0].data["speech"] == question
    assert re.sub(r"\n+", " ", "".join(pieces)).endswith(question)
    assert (
        speech(await say(hass, "yes", "a-talk", "assist_satellite.kitchen")) == "Good."
    )
    assert hass.states.is_state(LIGHT, "on")
    roles = [message["role"] for message in messages_of(server.requests[1])]
    assert roles == ["system", "user", "assistant", "tool", "user", "assistant", "tool"]


async def test_a_script_wants_a_yes_where_nobody_can_give_it(
    hass: HomeAssistant, serve: Serve
) -> None:
    server = await serve(ACTS, pre_tool_use="script.judge")
    await add_script(hass, answering({"decision": "ask", "reason": "The baby sleeps."}))

    result = await say(hass, "light!")

    assert hass.states.is_state(LIGHT, "off")
    assert (
        "The baby sleeps. (Not run: it needs a yes" in results_in(server.requests[1])[0]
    )
    assert speech(result) == NOT_DONE


async def test_a_script_that_asks_need_not_ask_an_automation_that_is_trusted(
    hass: HomeAssistant, serve: Serve
) -> None:
    await serve(
        ACTS, pre_tool_use="script.judge", trusted_callers=["automation.at_night"]
    )
    await add_script(hass, answering({"decision": "ask", "reason": "The baby sleeps."}))
    talks = {
        "action": "conversation.process",
        "data": {"agent_id": AGENT, "text": "light!"},
    }
    at_night = {
        "alias": "At night",
        "triggers": {"trigger": "event", "event_type": "night"},
        "actions": [talks],
    }
    assert await async_setup_component(hass, "automation", {"automation": [at_night]})

    hass.bus.async_fire("night")
    await hass.async_block_till_done()

    assert hass.states.is_state(LIGHT, "on")


@pytest.mark.parametrize(
    ("answer", "heard"),
    [
        ({"decision": "deny", "reason": "Not before school."}, "Not before school."),
        ({"decision": "deny", "reason": 42}, "42"),
        ({"decision": "deny"}, "I'm not allowed to do that."),
        ({"decision": "deny", "reason": ""}, "I'm not allowed to do that."),
    ],
)
async def test_a_script_refuses_what_was_said(
    hass: HomeAssistant, serve: Serve, answer: object, heard: str
) -> None:
    server = await serve(TALKS, user_prompt_submit="script.judge")
    await add_script(hass, answering(answer))

    assert speech(await say(hass, "hello")) == heard
    assert server.requests == []


async def test_a_script_puts_other_words_in_place(
    hass: HomeAssistant, serve: Serve
) -> None:
    server = await serve(TALKS, user_prompt_submit="script.judge")
    await add_script(
        hass,
        answering(
            {"decision": "allow", "text": "{{ text | replace('1234', '****') }}"}
        ),
    )

    turns = [
        *(
            async_capture_events(hass, event)
            for event in (EVENT_TURN_STARTED, EVENT_TURN_FINISHED)
        )
    ]

    await say(hass, "my PIN is 1234")

    sent = json.dumps(server.requests[0].body)
    assert "my PIN is ****" in sent
    assert "1234" not in sent
    ((started,), (finished,)) = turns
    assert finished.data["input"] == "my PIN is ****"
    assert "1234" not in f"{started.data}{finished.data}"


async def test_words_are_told_to_nobody_before_a_script_has_seen_them(
    hass: HomeAssistant, serve: Serve
) -> None:
    await serve(TALKS, user_prompt_submit="script.judge")
    seen = asyncio.Event()
    await add_script(hass, [{"event": "seen"}, BUSY])
    hass.bus.async_listen("seen", callback(lambda _: seen.set()))
    turns = async_capture_events(hass, EVENT_TURN_FINISHED)
    turn = asyncio.create_task(say(hass, "my PIN is 1234"))
    await seen.wait()

    turn.cancel()
    await asyncio.wait({turn})

    assert (turns[0].data["input"], turns[0].data["stop_reason"]) == ("", "interrupted")
    assert hass.states.is_state("script.judge", "off")
    assert issues_of(hass) == []


@pytest.mark.parametrize(
    ("answer", "parsed"),
    [
        ({"decision": "allow", "result": "It worked."}, "It worked."),
        ({"decision": "allow", "result": {"door": "{{ is_error }}"}}, '{"door":false}'),
        ({"decision": "deny", "reason": "Not for models."}, "Not for models."),
    ],
)
async def test_a_script_changes_or_hides_what_came_of_a_call(
    hass: HomeAssistant, serve: Serve, answer: object, parsed: str
) -> None:
    server = await serve(ACTS, post_tool_use="script.judge")
    await add_script(hass, answering(answer))

    await say(hass, "light!")

    assert hass.states.is_state(LIGHT, "on")
    assert results_in(server.requests[1]) == [parsed]


@pytest.mark.parametrize(
    ("answer", "heard"),
    [
        ({"decision": "allow", "text": "{{ text | upper }}"}, "GOOD MORNING TO YOU."),
        ({"decision": "deny", "reason": "Be quiet."}, "Be quiet."),
    ],
)
async def test_a_script_changes_or_refuses_what_is_said(
    hass: HomeAssistant, serve: Serve, answer: object, heard: str
) -> None:
    await serve(TALKS, pre_speech="script.judge")
    await add_script(hass, answering(answer))

    pieces, result = await listen_to(hass, "hello")

    assert pieces == [heard]
    assert speech(result) == heard


async def test_only_a_script_that_decides_about_speech_costs_streaming(
    hass: HomeAssistant, serve: Serve
) -> None:
    await serve(
        TALKS,
        user_prompt_submit="script.judge",
        pre_tool_use="script.judge",
        post_tool_use="script.judge",
    )
    await add_script(hass, answering({"decision": "allow"}))

    pieces, _ = await listen_to(hass, "hello")

    assert len(pieces) > 1


_MALFORMED = [
    {},
    {"decision": "no"},
    {"decision": None},
    {"reason": "I have not decided."},
    {"decision": "allow", "argument": {}},
    {"decision": "ask", "arguments": {"name": "Bedroom light"}},
    {"decision": "allow", "arguments": "Bedroom light"},
    {"decision": "deny", "reason": ["because"]},
    "deny",
]


@pytest.mark.parametrize("answer", _MALFORMED, ids=str)
async def test_an_answer_that_makes_no_sense_refuses_the_call(
    hass: HomeAssistant, serve: Serve, answer: object
) -> None:
    server = await serve(ACTS, pre_tool_use="script.judge")
    await add_script(hass, answering(answer))

    result = await say(hass, "light!")

    assert hass.states.is_state(LIGHT, "off")
    assert results_in(server.requests[1]) == ["A safety check failed."]
    assert speech(result) == NOT_DONE
    assert issues_of(hass) == [
        ("guard_failed", {"agent": "Talker", "script": "The judge"})
    ]


@pytest.mark.parametrize(
    ("point", "answer"),
    [
        ("user_prompt_submit", {}),
        ("user_prompt_submit", {"decision": "ask"}),
        ("post_tool_use", {"decision": "allow", "arguments": {}}),
        ("post_tool_use", {"decision": "deny", "reason": [1]}),
        *(
            ("pre_speech", {"decision": "allow", "text": text})
            for text in ("", "  ", True, ["words"])
        ),
    ],
    ids=str,
)
async def test_elsewhere_an_answer_that_makes_no_sense_counts_for_nothing(
    hass: HomeAssistant, serve: Serve, point: str, answer: object
) -> None:
    await serve(ACTS, **{point: "script.judge"})
    await add_script(hass, answering(answer))

    result = await say(hass, "light!")

    assert hass.states.is_state(LIGHT, "on")
    assert speech(result) == "So be it."
    assert issues_of(hass) == [
        ("script_failed", {"agent": "Talker", "script": "The judge"})
    ]


@pytest.mark.parametrize("step", [FAILS, BUSY], ids=["fails", "takes too long"])
@pytest.mark.usefixtures("loop_clock")
async def test_a_script_that_fails_refuses_calls_and_nothing_else(
    hass: HomeAssistant, serve: Serve, step: dict[str, object]
) -> None:
    await serve(ACTS, pre_tool_use="script.judge", pre_speech="script.judge")
    await add_script(hass, [step])

    result = await say(hass, "light!")

    assert hass.states.is_state(LIGHT, "off")
    assert speech(result) == NOT_DONE
    assert hass.states.is_state("script.judge", "off")
    assert {key for key, _ in issues_of(hass)} == {"guard_failed", "script_failed"}


async def test_a_script_that_already_runs_in_single_mode_refuses(
    hass: HomeAssistant, serve: Serve
) -> None:
    await serve(ACTS, pre_tool_use="script.judge")
    slow = [
        {"wait_for_trigger": {"trigger": "event", "event_type": "go_on"}},
        *answering({"decision": "allow"}),
    ]
    await add_script(hass, slow, mode="single")
    await hass.services.async_call(
        "script", "turn_on", {"entity_id": "script.judge"}, blocking=True
    )

    await say(hass, "light!")

    assert hass.states.is_state(LIGHT, "off")
    assert issues_of(hass) == [
        ("guard_failed", {"agent": "Talker", "script": "The judge"})
    ]


async def test_a_script_that_is_gone_is_named_until_it_is_back(
    hass: HomeAssistant, serve: Serve
) -> None:
    await serve(
        Script(answers=(*ACTS.answers, *ACTS.answers)), pre_tool_use="script.judge"
    )

    await say(hass, "light!")
    gone = hass.states.is_state(LIGHT, "off")

    assert gone
    assert issues_of(hass) == [
        ("guard_failed", {"agent": "Talker", "script": "script.judge"})
    ]
    await add_script(hass, answering({"decision": "allow"}))
    await say(hass, "light!")
    assert hass.states.is_state(LIGHT, "on")
    assert issues_of(hass) == []


async def test_an_agent_that_is_unloaded_takes_its_issues_along(
    hass: HomeAssistant, serve: Serve
) -> None:
    await serve(ACTS, **dict.fromkeys(POINTS, "script.judge"))
    await say(hass, "light!")
    assert [key for key, _ in issues_of(hass)] == [
        "script_failed",
        "guard_failed",
        "script_failed",
    ]

    (entry,) = hass.config_entries.async_entries(DOMAIN)
    await hass.config_entries.async_unload(entry.entry_id)

    assert issues_of(hass) == []


async def test_a_script_that_talks_to_its_own_agent_is_not_asked_again(
    hass: HomeAssistant, serve: Serve
) -> None:
    acts = ScriptedAnswer(tool_calls=(LIGHT_ON,))
    server = await serve(
        Script(
            answers=(acts, acts, ScriptedAnswer(content="They say no.")),
            after_last="start again",
        ),
        pre_tool_use="script.judge",
    )
    talk = {
        "action": "conversation.process",
        "data": {"agent_id": AGENT, "text": "May I?"},
    }
    await add_script(
        hass, [talk, *answering({"decision": "deny", "reason": "They said no."})]
    )
    called = async_capture_events(hass, "call_service")

    await say(hass, "light!")

    assert hass.states.is_state(LIGHT, "off")
    assert len(runs(called)) == 1
    assert results_in(server.requests[2]) == ["A safety check failed."]
    assert issues_of(hass) == []


@pytest.mark.parametrize(
    ("sun", "call", "state"),
    [
        (
            "below_horizon",
            ScriptedCall(name="HassTurnOn", arguments={"name": "Garage Door"}),
            "closed",
        ),
        (
            "above_horizon",
            ScriptedCall(name="HassTurnOn", arguments={"name": "Garage Door"}),
            "open",
        ),
        ("below_horizon", LIGHT_ON, "closed"),
    ],
)
async def test_the_documented_script_keeps_the_garage_shut_at_night(
    hass: HomeAssistant, serve: Serve, sun: str, call: ScriptedCall, state: str
) -> None:
    server = await serve(
        Script(
            answers=(
                ScriptedAnswer(tool_calls=(call,)),
                *[ScriptedAnswer(content="There you are.")] * 2,
            )
        ),
        pre_tool_use="script.garage_at_night",
    )
    (script,) = blocks_with("The garage at night")
    assert await async_setup_component(
        hass, "script", {"script": {"garage_at_night": script}}
    )
    hass.states.async_set("sun.sun", sun)

    await say(hass, "please", satellite_id="assist_satellite.kitchen")
    await say(
        hass, "yes", satellite_id="assist_satellite.kitchen"
    )  # to the agent's own question, by day

    assert hass.states.is_state("cover.garage_door", state)
    refused = "The garage stays shut at night." in results_in(server.requests[1])[0]
    assert refused == (state == "closed" and call is not LIGHT_ON)
    assert hass.states.is_state(LIGHT, "on") == (call is LIGHT_ON)
    assert issues_of(hass) == []
