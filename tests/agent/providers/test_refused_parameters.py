"""Parameters that a model refuses are left out or sent in another way, and remembered if that helped."""

import json
import logging
from collections.abc import Sequence

import pytest
from hypothesis import given, strategies as st

from custom_components.chatterbox.agent.json.text import objects_in
from custom_components.chatterbox.agent.messages import JsonObject, JsonValue
from custom_components.chatterbox.agent.providers.refused_parameters import (
    ANTHROPIC_ADJUSTMENTS,
    ANTHROPIC_ALSO_CALLED,
    TOOL_ADJUSTMENTS,
    Adjustment,
    RefusedParameters,
)

REQUIRED = {"model", "messages", "tools", "stream"}
PAYLOAD: JsonObject = {
    "model": "m",
    "messages": [],
    "temperature": 0.5,
    "top_p": 0.9,
    "max_tokens": 9,
    "reasoning": {"effort": "low", "summary": "auto"},
    "think": True,
    "stream": True,
    "stream_options": {"include_usage": True},
}


def left_out(
    body: str, status: int = 400, payload: JsonObject = PAYLOAD
) -> JsonObject | None:
    """Return what is sent the second time, or None when nothing is."""
    trial = RefusedParameters("m", REQUIRED, {"think": ["thinking"]}).trial(payload)
    return trial.payload if trial.leave_out(status, body.encode()) else None


def without(*names: str) -> JsonObject:
    return {name: value for name, value in PAYLOAD.items() if name not in names}


@pytest.mark.parametrize(
    ("body", "name"),
    [
        (
            (
                '{"error":{"message":"Unsupported value: \'temperature\' does not support 0.5 with this model.",'
                '"param":"temperature","code":"unsupported_value"}}'
            ),
            "temperature",
        ),
        (
            (
                '{"error":{"message":"Unsupported parameter: \'max_tokens\' is not supported with this model. '
                'Use \'max_completion_tokens\' instead.","param":"max_tokens"}}'
            ),
            "max_tokens",
        ),
        (
            '{"type":"error","error":{"message":"`temperature` and `top_p` cannot both be specified"}}',
            "temperature",
        ),
        (
            '{"type":"error","error":{"message":"top_p: Extra inputs are not permitted"}}',
            "top_p",
        ),
        (
            '{"detail":[{"type":"extra_forbidden","loc":["body","stream_options"]}]}',
            "stream_options",
        ),
        (
            '[{"error":{"message":"Unknown name \\"stream_options\\": Cannot find field."}}]',
            "stream_options",
        ),
        (
            "litellm.UnsupportedParamsError: groq does not support parameters: ['top_p', 'temperature']",
            "top_p",
        ),
        ("property 'temperature' is unsupported", "temperature"),
        ('{"error":"\\"gemma\\" does not support thinking"}', "think"),
        ("Unknown parameter: 'reasoning'.", "reasoning"),
        ("Set temperature only together with 'top_p'.", "top_p"),
    ],
)
def test_the_parameter_that_a_refusal_names(body: str, name: str) -> None:
    assert left_out(body) == without(name)


def test_a_parameter_inside_another_is_left_out_alone() -> None:
    body = (
        "Unsupported parameter: 'reasoning.summary' is not supported with this model."
    )

    assert left_out(body) == {**PAYLOAD, "reasoning": {"effort": "low"}}


def test_an_object_without_parameters_is_left_out_too() -> None:
    payload: JsonObject = {"model": "m", "reasoning": {"effort": "low"}}

    assert left_out("Unsupported value: 'reasoning.effort'", payload=payload) == {
        "model": "m"
    }


@pytest.mark.parametrize(
    "body",
    [
        "",
        "Please reduce the length of the messages.",
        "The model does not exist",
        "tools are not supported",
        "min_top_p is wrong",
        "temperatures",
        "extra.temperature.x",
        "reasoning_effort",
    ],
)
def test_a_refusal_that_names_no_parameter_of_ours_is_final(body: str) -> None:
    assert left_out(body) is None


@pytest.mark.parametrize(
    ("status", "again"),
    [(400, True), (404, True), (422, True), (401, False), (429, False), (503, False)],
)
def test_which_refusals_may_be_about_a_parameter(status: int, again: bool) -> None:  # noqa: FBT001  # a table
    assert (left_out("temperature", status) is not None) == again


def test_a_removal_that_helped_is_remembered_and_logged_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    refused = RefusedParameters("small-1", REQUIRED)
    trial = refused.trial(PAYLOAD)

    with caplog.at_level(logging.WARNING):
        assert trial.leave_out(400, b"no temperature")
        assert trial.leave_out(400, b"no reasoning.effort")
        assert not caplog.messages
        trial.accepted()
        trial.accepted()
        refused.trial(PAYLOAD).accepted()

    assert refused.trial(PAYLOAD).payload == {
        **without("temperature"),
        "reasoning": {"summary": "auto"},
    }
    assert caplog.messages == [
        "small-1 refuses the parameter temperature; it is left out from now on",
        "small-1 refuses the parameter reasoning.effort; it is left out from now on",
    ]


def test_a_removal_that_did_not_help_is_not_remembered() -> None:
    refused = RefusedParameters("m", REQUIRED)

    assert refused.trial(PAYLOAD).leave_out(400, b"no temperature, and not you")
    assert refused.trial(PAYLOAD).payload == PAYLOAD


def test_another_value_of_a_refused_parameter_is_tried() -> None:
    refused = RefusedParameters("m", REQUIRED)
    trial = refused.trial(PAYLOAD)
    trial.leave_out(400, b"'temperature' does not support 0.5 with this model")
    trial.accepted()

    warmer: JsonObject = {**PAYLOAD, "temperature": 1}

    assert refused.trial(warmer).payload == warmer


def test_the_latest_refused_values_are_remembered(
    caplog: pytest.LogCaptureFixture,
) -> None:
    refused = RefusedParameters("small-1", REQUIRED)
    wishes: list[JsonObject] = [
        {**PAYLOAD, "temperature": number / 1_000} for number in range(1_000)
    ]
    for wish in wishes:
        trial = refused.trial(wish)
        trial.leave_out(400, b"no temperature")
        trial.accepted()

    assert refused.trial(wishes[0]).payload == wishes[0]
    assert "temperature" not in refused.trial(wishes[-1]).payload
    assert sum(record.levelno == logging.WARNING for record in caplog.records) == 1


NAMES = st.sampled_from(
    ["model", "messages", "temperature", "top_p", "reasoning", "a.b", "", "?"]
)
VALUES: st.SearchStrategy[JsonValue] = (
    st.none() | st.integers() | st.dictionaries(NAMES, st.integers(), max_size=3)
)


@given(
    st.dictionaries(NAMES, VALUES),
    st.text(alphabet="abtempru_.'\" ") | NAMES | st.binary().map(repr),
)
def test_each_refusal_takes_something_away_and_never_what_is_required(
    payload: JsonObject, sentence: str
) -> None:
    trial = RefusedParameters("m", REQUIRED).trial(payload)
    before = str(payload)

    while trial.leave_out(400, sentence.encode()):
        assert len(str(trial.payload)) < len(before)
        before = str(trial.payload)

    assert {name for name in payload if name in REQUIRED} <= trial.payload.keys()
    assert all(
        trial.payload[name] == payload[name] for name in REQUIRED if name in payload
    )


ANTHROPIC_REQUIRED = {"model", "max_tokens", "messages", "system", "tools", "stream"}
SIGNED: JsonObject = {"type": "thinking", "thinking": "hm", "signature": "Eqo="}
REDACTED: JsonObject = {"type": "redacted_thinking", "data": "Ems="}
CALL: JsonObject = {"type": "tool_use", "id": "a", "name": "on", "input": {}}
RESULT: JsonObject = {"type": "tool_result", "tool_use_id": "a", "content": "done"}
HI: JsonObject = {"type": "text", "text": "Hi"}

NO_ADAPTIVE = "adaptive thinking is not supported on this model"
NO_EFFORT = "This model does not support the effort parameter."
NO_XHIGH = "This model does not support effort level 'xhigh'. Supported levels: high, low, max, medium."
NO_DISABLED = (
    '"thinking.type.disabled" is not supported for this model. Use "thinking.type.adaptive" and "output_config.effort"'
    " to control thinking behavior."
)
NO_ENABLED = NO_DISABLED.replace("type.disabled", "type.enabled")
CHANGED = (
    "messages.1.content.0: `thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified."
    " These blocks must remain as they were in the original response."
)
EXPECTED = (
    "messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`. When `thinking` is"
    " enabled, a final `assistant` message must start with a thinking block."
)
NO_ROOM = (
    "input length and `max_tokens` exceed context limit: 178959 + 64000 > 200000, decrease input length or `max_tokens`"
    " and try again"
)


def anthropic() -> RefusedParameters:
    return RefusedParameters(
        "m", ANTHROPIC_REQUIRED, ANTHROPIC_ALSO_CALLED, ANTHROPIC_ADJUSTMENTS
    )


def refusal(message: str) -> bytes:
    error = {
        "type": "error",
        "error": {"type": "invalid_request_error", "message": message},
        "request_id": "req_1",
    }
    return json.dumps(error).encode()


def payload(*messages: JsonObject, **fields: JsonValue) -> JsonObject:
    return {
        "model": "m",
        "max_tokens": 8192,
        "messages": [*messages],
        "stream": True,
        **fields,
    }


def blocks_of(role: str, *blocks: JsonObject) -> JsonObject:
    return {"role": role, "content": [*blocks]}


def amid_calls(*blocks: JsonObject) -> tuple[JsonObject, ...]:
    """Return the messages of a turn in which the model has said this, and its call has a result."""
    return USER, blocks_of("assistant", *blocks), blocks_of("user", RESULT)


USER = blocks_of("user", HI)
BUDGET: JsonObject = {"thinking": {"type": "enabled", "budget_tokens": 4096}}
ADAPTIVE: JsonObject = {
    "thinking": {"type": "adaptive"},
    "output_config": {"effort": "medium"},
}


def answers(
    before: JsonObject, *messages: str
) -> tuple[list[JsonObject], RefusedParameters]:
    """Return what is sent after each refusal, the last of which helps, and what has been learnt."""
    refusals = anthropic()
    trial = refusals.trial(before)
    sent = []
    for message in messages:
        assert trial.leave_out(400, refusal(message)), message
        sent.append(trial.payload)
    trial.accepted()
    return sent, refusals


@pytest.mark.parametrize(
    ("before", "message", "after"),
    [
        pytest.param(
            payload(USER, **ADAPTIVE),
            NO_ADAPTIVE,
            payload(USER, **BUDGET),
            id="adaptive thinking",
        ),
        pytest.param(
            payload(USER, **ADAPTIVE), NO_EFFORT, payload(USER, **BUDGET), id="effort"
        ),
        pytest.param(
            payload(
                USER,
                thinking={"type": "adaptive"},
                output_config={"effort": "low", "format": {}},
            ),
            "thinking: Input tag 'adaptive' found using 'type' does not match any of the expected tags: 'disabled'",
            payload(
                USER,
                thinking={"type": "enabled", "budget_tokens": 1024},
                output_config={"format": {}},
            ),
            id="adaptive thinking, in other words, beside another setting",
        ),
        pytest.param(
            payload(
                USER,
                thinking={"type": "adaptive"},
                output_config={"effort": "max"},
                max_tokens=32_000,
            ),
            NO_ADAPTIVE,
            payload(
                USER,
                thinking={"type": "enabled", "budget_tokens": 16_000},
                max_tokens=32_000,
            ),
            id="half of the tokens are for the answer",
        ),
        pytest.param(
            payload(USER, **ADAPTIVE, max_tokens="many"),
            NO_ADAPTIVE,
            payload(USER, max_tokens="many"),
            id="no budget fits into a limit that is no number",
        ),
        pytest.param(
            payload(USER, thinking={"type": "adaptive"}, max_tokens=100_000),
            NO_ADAPTIVE,
            payload(
                USER,
                thinking={"type": "enabled", "budget_tokens": 12_288},
                max_tokens=100_000,
            ),
            id="adaptive thinking without an effort",
        ),
        pytest.param(
            payload(USER, **ADAPTIVE, max_tokens=1500),
            NO_ADAPTIVE,
            payload(USER, max_tokens=1500),
            id="too few tokens to think within a budget",
        ),
        pytest.param(
            payload(USER, **ADAPTIVE, tool_choice={"type": "any"}),
            NO_ADAPTIVE,
            payload(USER, tool_choice={"type": "any"}),
            id="no budget where a call is forced",
        ),
        pytest.param(
            payload(USER, **ADAPTIVE, tool_choice={"type": "none"}),
            NO_ADAPTIVE,
            payload(USER, **BUDGET, tool_choice={"type": "none"}),
            id="a budget where no call may be made",
        ),
        pytest.param(
            payload(*amid_calls(CALL), **ADAPTIVE),
            NO_ADAPTIVE,
            payload(*amid_calls(CALL)),
            id="no budget amid calls that were made without thinking",
        ),
        pytest.param(
            payload(*amid_calls(HI, SIGNED, CALL), **ADAPTIVE),
            NO_ADAPTIVE,
            payload(*amid_calls(HI, SIGNED, CALL)),
            id="no budget amid a message that did not begin with thinking",
        ),
        pytest.param(
            payload(*amid_calls(REDACTED, CALL), **ADAPTIVE),
            NO_ADAPTIVE,
            payload(*amid_calls(REDACTED, CALL), **BUDGET),
            id="a budget amid calls that were made with thinking",
        ),
        pytest.param(
            payload(*amid_calls(CALL), blocks_of("assistant", HI), USER, **ADAPTIVE),
            NO_ADAPTIVE,
            payload(*amid_calls(CALL), blocks_of("assistant", HI), USER, **BUDGET),
            id="a budget after calls of an earlier turn",
        ),
        pytest.param(
            payload(
                USER, thinking={"type": "adaptive"}, output_config={"effort": "xhigh"}
            ),
            NO_XHIGH,
            payload(
                USER, thinking={"type": "adaptive"}, output_config={"effort": "high"}
            ),
            id="effort that the model does not know",
        ),
        pytest.param(
            payload(
                USER, thinking={"type": "adaptive"}, output_config={"effort": "max"}
            ),
            "output_config: this model has no effort level 'max'",
            payload(
                USER, thinking={"type": "adaptive"}, output_config={"effort": "high"}
            ),
            id="effort that the model does not know, and says no other",
        ),
        pytest.param(
            payload(USER, thinking={"type": "disabled"}),
            NO_DISABLED,
            payload(USER, output_config={"effort": "low"}),
            id="no thinking",
        ),
        pytest.param(
            payload(USER, thinking={"type": "disabled"}),
            '"thinking.type.disabled" is not supported for this model. To turn thinking off on this model, send'
            ' "thinking": {"type": "between_tools"}.',
            payload(USER, thinking={"type": "between_tools"}),
            id="no thinking, where there is a way to ask for little",
        ),
        pytest.param(
            payload(*amid_calls(SIGNED, HI, REDACTED, CALL), **ADAPTIVE),
            CHANGED,
            payload(*amid_calls(HI, CALL), **ADAPTIVE),
            id="thinking that cannot go back",
        ),
        pytest.param(
            payload(*amid_calls(SIGNED, CALL), thinking={"type": "enabled"}),
            "messages.1.content.0: Invalid `signature` in `thinking` block",
            payload(*amid_calls(CALL)),
            id="thinking of another model, within a budget",
        ),
        pytest.param(
            payload(*amid_calls(CALL), thinking={"type": "enabled"}),
            EXPECTED,
            payload(*amid_calls(CALL)),
            id="thinking that is missing",
        ),
        pytest.param(
            payload(USER, max_tokens=8192),
            "max_tokens: 8192 > 4096, which is the maximum allowed number of output tokens for m",
            payload(USER, max_tokens=4096),
            id="too long an answer",
        ),
        pytest.param(
            payload(USER, max_tokens=64_000),
            NO_ROOM,
            payload(USER, max_tokens=21_041),
            id="too long an answer beside the prompt",
        ),
        pytest.param(
            payload(
                blocks_of("user", {**HI, "cache_control": {"type": "ephemeral"}}),
                system=[{**HI, "cache_control": {"type": "ephemeral"}}],
                tools=[
                    {
                        "name": "on",
                        "input_schema": {"required": ["x"]},
                        "cache_control": {"type": "ephemeral"},
                    }
                ],
            ),
            "tools.0.cache_control: Extra inputs are not permitted",
            payload(
                USER,
                system=[HI],
                tools=[{"name": "on", "input_schema": {"required": ["x"]}}],
            ),
            id="cache breakpoints",
        ),
        pytest.param(
            payload(USER, tool_choice={"type": "any"}),
            'tool_choice: type "tool" and "any" are not supported for this model.',
            payload(USER),
            id="forced call",
        ),
        pytest.param(
            payload(
                USER,
                thinking={"type": "adaptive"},
                tool_choice={"type": "tool", "name": "on"},
            ),
            "Thinking may not be enabled when tool_choice forces tool use.",
            payload(USER, thinking={"type": "adaptive"}),
            id="forced call beside thinking",
        ),
        pytest.param(
            payload(
                USER,
                thinking={"type": "enabled", "budget_tokens": 1024},
                temperature=0.5,
                top_p=0.9,
            ),
            "`temperature` may only be set to 1 when thinking is enabled.",
            payload(
                USER, thinking={"type": "enabled", "budget_tokens": 1024}, top_p=0.9
            ),
            id="temperature beside thinking",
        ),
        pytest.param(
            payload(USER, thinking={"type": "enabled", "budget_tokens": 1024}),
            NO_ENABLED,
            payload(USER),
            id="budget",
        ),
        pytest.param(
            payload(USER, output_config={"effort": "low"}),
            NO_EFFORT,
            payload(USER),
            id="effort alone",
        ),
        pytest.param(
            payload(USER, output_config={"effort": "huge"}),
            NO_XHIGH,
            payload(USER),
            id="effort that nobody knows",
        ),
    ],
)
def test_a_refusal_adjusts_the_request(
    before: JsonObject, message: str, after: JsonObject
) -> None:
    [sent], _ = answers(before, message)

    assert sent == after


@pytest.mark.parametrize(
    ("before", "messages", "after"),
    [
        (
            payload(USER, **ADAPTIVE, temperature=0.5),
            [
                NO_ADAPTIVE,
                "`temperature` may only be set to 1 when thinking is enabled.",
            ],
            payload(USER, **BUDGET),
        ),
        (
            payload(USER, **ADAPTIVE),
            [NO_ADAPTIVE, "'m' does not support thinking."],
            payload(USER),
        ),
        (
            payload(
                USER, thinking={"type": "adaptive"}, output_config={"effort": "xhigh"}
            ),
            [NO_XHIGH, NO_EFFORT],
            payload(USER, **BUDGET),
        ),
        (
            payload(USER, thinking={"type": "disabled"}),
            [NO_DISABLED, NO_EFFORT],
            payload(USER),
        ),
        (
            payload(*amid_calls(SIGNED, CALL), **ADAPTIVE),
            [CHANGED, NO_ADAPTIVE],
            payload(*amid_calls(CALL)),
        ),
    ],
)
def test_several_refusals_follow_one_another(
    before: JsonObject, messages: Sequence[str], after: JsonObject
) -> None:
    sent, _ = answers(before, *messages)

    assert sent[-1] == after


@pytest.mark.parametrize(
    ("before", "messages"),
    [
        (
            payload(
                USER, thinking={"type": "adaptive"}, output_config={"effort": "xhigh"}
            ),
            [NO_XHIGH],
        ),
        (payload(USER, thinking={"type": "disabled"}), [NO_DISABLED]),
        (payload(USER, **ADAPTIVE), [NO_ADAPTIVE]),
        (payload(USER, **ADAPTIVE), [NO_ADAPTIVE, "'m' does not support thinking."]),
        (
            payload(USER, **ADAPTIVE, temperature=0.5),
            [NO_ADAPTIVE, "`temperature` is deprecated for this model."],
        ),
        (
            payload(USER, max_tokens=8192),
            ["max_tokens: 8192 > 4096, which is the maximum"],
        ),
    ],
)
def test_an_adjustment_that_helped_is_remembered_and_logged_once(
    before: JsonObject, messages: Sequence[str], caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        sent, refusals = answers(before, *messages)
        again = [refusals.trial(before) for _ in range(2)]
        for trial in again:
            trial.accepted()

    assert [trial.payload for trial in again] == [sent[-1], sent[-1]]
    assert len(caplog.messages) == len(messages)
    assert all(
        message.startswith("m ") and message.endswith("from now on")
        for message in caplog.messages
    )


def test_an_adjustment_that_did_not_help_is_forgotten() -> None:
    refusals = anthropic()
    before = payload(USER, **ADAPTIVE)
    trial = refusals.trial(before)

    assert trial.leave_out(400, refusal(NO_ADAPTIVE))
    assert not trial.leave_out(
        400, refusal("Your credit balance is too low to access the Claude API.")
    )

    assert refusals.trial(before).payload == before


def test_that_one_conversation_cannot_take_its_thinking_along_says_nothing_about_the_next() -> (
    None
):
    before = payload(*amid_calls(SIGNED, CALL), **ADAPTIVE)

    _, refusals = answers(before, CHANGED)

    assert refusals.trial(before).payload == before


def test_that_one_prompt_leaves_little_room_says_nothing_about_the_next() -> None:
    before = payload(USER, max_tokens=64_000)

    _, refusals = answers(before, NO_ROOM)

    assert refusals.trial(before).payload == before


def test_a_way_that_is_remembered_fits_itself_to_each_request() -> None:
    _, refusals = answers(payload(USER, **ADAPTIVE), NO_ADAPTIVE)
    amid = payload(*amid_calls(CALL))

    assert refusals.trial({**amid, **ADAPTIVE}).payload == amid
    assert refusals.trial(payload(USER)).payload == payload(USER)


@pytest.mark.parametrize(
    ("status", "before", "message"),
    [
        (429, payload(USER, **ADAPTIVE), NO_ADAPTIVE),
        (400, payload(USER), NO_ADAPTIVE),
        (400, payload(USER), NO_XHIGH),
        (400, payload(USER), NO_DISABLED),
        (400, payload(USER, thinking={"type": "between_tools"}), "messages: too many"),
        (400, payload(USER), CHANGED),
        (400, payload(USER), "max_tokens: 9000 > 8192, which is the maximum"),
        (400, payload(USER), "tools.0.cache_control: Extra inputs are not permitted"),
        (
            400,
            payload(USER, **ADAPTIVE),
            "prompt is too long: 210000 tokens > 200000 maximum",
        ),
        (400, payload(USER), NO_ROOM.replace("178959", "199900")),
        (
            400,
            payload(USER, thinking={"type": "enabled", "budget_tokens": 32_000}),
            NO_ROOM,
        ),
        (400, {**payload(), "output_config": 7, "tools": [7]}, EXPECTED),
    ],
)
def test_where_nothing_can_be_changed_the_refusal_stands(
    status: int, before: JsonObject, message: str
) -> None:
    trial = anthropic().trial(before)

    assert not trial.leave_out(status, refusal(message))
    assert trial.payload == before


def test_no_way_is_tried_twice() -> None:
    trial = anthropic().trial(payload(USER, max_tokens=8192))

    assert trial.leave_out(400, refusal("max_tokens: 8192 > 4096"))
    assert not trial.leave_out(400, refusal("max_tokens: 4096 > 2048"))


WITH_TOOLS: JsonObject = {
    "model": "m",
    "messages": [
        {"role": "system", "content": "You help."},
        {"role": "user", "content": "Hi"},
    ],
    "tools": [{"type": "function"}],
    "parallel_tool_calls": True,
    "stream": True,
    "stream_options": {"include_usage": True},
}


def asked_otherwise(
    status: int, body: str, payload: JsonObject = WITH_TOOLS
) -> tuple[JsonObject, str]:
    """Return what is sent after a refusal that was accepted then, and what is remembered of tools."""
    refused = RefusedParameters("m", REQUIRED, adjustments=TOOL_ADJUSTMENTS)
    trial = refused.trial(payload)
    assert trial.leave_out(status, body.encode())
    trial.accepted()
    assert refused.trial(payload).payload == trial.payload
    return trial.payload, refused.tools_refusal


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (
            400,
            '{"message": "\\"auto\\" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set"}',
        ),
        (500, '{"error": {"message": "tools param requires --jinja flag"}}'),
        (
            400,
            '{"error": "registry.ollama.ai/library/gemma:2b does not support tools"}',
        ),
        (404, '{"error": {"message": "No endpoints found that support tool use."}}'),
        (
            400,
            '{"error": {"message": "`tool calling` is not supported with this model"}}'.replace(
                "`", ""
            ),
        ),
        (
            400,
            '{"error": {"message": "This model does not support function calling."}}',
        ),
    ],
)
def test_where_tools_are_refused_the_model_is_asked_without_them_and_told(
    status: int, body: str
) -> None:
    sent, refusal = asked_otherwise(status, body)

    assert not {"tools", "tool_choice", "parallel_tool_calls"} & {*sent}
    assert str(sent["messages"]).startswith(
        "[{'role': 'system', 'content': 'You help.\\n\\nNo tools can be used"
    )
    assert sent["stream"] is True
    assert refusal == body


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (
            500,
            '{"error": {"code": 500, "message": "Cannot use tools with stream", "type": "server_error"}}',
        ),
        (
            400,
            '{"error": {"message": "Tool calling is not supported in streaming mode"}}',
        ),
        (400, '{"error": "streaming is not supported with tools"}'),
    ],
)
def test_where_tools_exclude_a_stream_the_whole_answer_is_asked_for(
    status: int, body: str
) -> None:
    sent, refusal = asked_otherwise(status, body)

    assert sent == {
        **{
            name: value
            for name, value in WITH_TOOLS.items()
            if name != "stream_options"
        },
        "stream": False,
    }
    assert refusal == ""


@pytest.mark.parametrize(
    ("status", "body"),
    [(500, "Cannot use tools with stream"), (400, "m does not support tools")],
)
def test_a_request_without_tools_is_sent_as_ever(status: int, body: str) -> None:
    refused = RefusedParameters("m", REQUIRED, adjustments=TOOL_ADJUSTMENTS)
    trial = refused.trial(WITH_TOOLS)
    assert trial.leave_out(status, body.encode())
    trial.accepted()

    assert refused.trial(PAYLOAD).payload == PAYLOAD


def test_instructions_of_the_responses_interface_say_that_no_tools_can_be_used() -> (
    None
):
    payload: JsonObject = {
        "model": "m",
        "instructions": "You help.",
        "input": [],
        "tools": [{"type": "function"}],
    }

    sent, _ = asked_otherwise(400, '{"error": "m does not support tools"}', payload)

    assert "tools" not in sent
    assert str(sent["instructions"]).startswith("You help.\n\nNo tools can be used")


def test_a_request_of_the_responses_interface_has_no_messages_to_adjust() -> None:
    words: JsonObject = {"model": "m", "input": []}

    sent, _ = asked_otherwise(
        400,
        '{"error": "m does not support tools"}',
        {**words, "tools": [{"type": "function"}]},
    )
    assert sent == words

    trial = RefusedParameters("m", REQUIRED, adjustments=TOOL_ADJUSTMENTS).trial(words)
    assert not trial.leave_out(400, b"conversation roles must alternate")
    assert trial.payload == words


UNANSWERED: JsonObject = {
    "model": "m",
    "messages": [
        {"role": "system", "content": "You help."},
        {"role": "user", "content": "Hi"},
        {"role": "user", "content": "Are you there?"},
    ],
}
NO_ALTERNATION = "conversation roles must alternate user and assistant roles except for tool calls and results."


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (
            500,
            f'{{"error": {{"code": 500, "message": "Error: Jinja Exception: {NO_ALTERNATION}"}}}}',
        ),
        (
            400,
            '{"object": "error", "message": "Conversation roles must alternate user/assistant/user/assistant/..."}',
        ),
        (
            400,
            '{"error": {"message": "Provider returned error", "raw": "Unexpected role \'user\' after role \'tool\'"}}',
        ),
    ],
)
def test_where_roles_must_alternate_neighbours_are_merged(
    status: int, body: str
) -> None:
    sent, refusal = asked_otherwise(status, body, UNANSWERED)

    assert sent["messages"] == [
        {"role": "system", "content": "You help."},
        {"role": "user", "content": "Hi\n\nAre you there?"},
    ]
    assert refusal == ""


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (
            400,
            '{"object": "error", "message": "System role not supported", "type": "BadRequestError", "code": 400}',
        ),
        (
            400,
            '[{"error": {"message": "Developer instruction is not enabled for models/gemma-3-27b-it"}}]',
        ),
        (
            500,
            '{"error": {"message": "Jinja Exception: Only user, assistant and tool roles are supported, got system."}}',
        ),
        (
            400,
            '{"error": {"message": "\'messages[0].role\' does not support \'system\' with this model."}}',
        ),
    ],
)
def test_where_there_is_no_system_role_the_instructions_come_with_the_first_words(
    status: int, body: str
) -> None:
    sent, _ = asked_otherwise(status, body, UNANSWERED)

    assert sent["messages"] == [
        {"role": "user", "content": "You help.\n\nHi\n\nAre you there?"}
    ]


def test_a_request_without_instructions_is_refused_for_good() -> None:
    payload: JsonObject = {
        "model": "m",
        "messages": [{"role": "user", "content": "Hi"}],
    }
    trial = RefusedParameters("m", REQUIRED, adjustments=TOOL_ADJUSTMENTS).trial(
        payload
    )

    assert not trial.leave_out(400, b"System role not supported")
    assert trial.payload == payload


def test_a_model_without_tools_and_system_role_is_told_so_by_the_user() -> None:
    refused = RefusedParameters("m", REQUIRED, adjustments=TOOL_ADJUSTMENTS)
    trial = refused.trial(WITH_TOOLS)
    assert trial.leave_out(400, b"Developer instruction is not enabled for m")
    assert trial.leave_out(400, b"Function calling is not enabled for m")
    trial.accepted()

    [message] = objects_in(trial.payload["messages"])
    assert message["role"] == "user"
    assert str(message["content"]).startswith("No tools can be used")
    assert str(message["content"]).endswith("You help.\n\nHi")
    assert refused.trial(WITH_TOOLS).payload == trial.payload


def _function(name: str, **parameters: JsonValue) -> JsonObject:
    return {
        "type": "function",
        "function": {"name": name, "parameters": {"type": "object", **parameters}},
    }


TURN_ON, SEARCH, STOP = (
    _function("turn_on"),
    _function("ha_search", minimum=True),
    _function("stop"),
)
THREE_TOOLS: JsonObject = {
    "model": "m",
    "messages": [],
    "tools": [TURN_ON, SEARCH, STOP],
}
NO_SCHEMA = '{"error": {"message": "Invalid schema for function \'ha_search\': True is not of type \'number\'."}}'


@pytest.mark.parametrize(
    "body",
    [
        NO_SCHEMA,
        '{"error": {"message": "tools.1.custom.input_schema: JSON schema is invalid."}}',
        '{"error": {"message": "Invalid value.", "param": "tools[1].parameters"}}',
        '[{"error": {"message": "Unknown name at \'tools[0].function_declarations[1].parameters\'."}}]',
    ],
)
def test_a_tool_whose_schema_is_refused_is_left_out_alone_until_it_changes(
    body: str,
) -> None:
    refused = RefusedParameters("m", REQUIRED, adjustments=TOOL_ADJUSTMENTS)
    trial = refused.trial(THREE_TOOLS)
    assert trial.leave_out(400, body.encode())
    assert trial.payload["tools"] == [TURN_ON, STOP]
    trial.accepted()

    changed: JsonObject = {**THREE_TOOLS, "tools": [STOP, _function("ha_search")]}
    assert refused.trial(THREE_TOOLS).payload == trial.payload
    assert refused.trial(changed).payload == changed


def test_a_tool_of_the_other_interfaces_has_its_name_outside() -> None:
    refused = RefusedParameters("m", REQUIRED)
    trial = refused.trial(
        {
            "tools": [
                {"type": "function", "name": "ha_search"},
                {"type": "web_search", "function": 1},
            ]
        }
    )

    assert trial.leave_out(400, NO_SCHEMA.encode())
    assert trial.payload["tools"] == [{"type": "web_search", "function": 1}]


@pytest.mark.parametrize(
    "body",
    [
        NO_SCHEMA.replace("ha_search", "unknown"),
        '{"message": "tools[7].parameters"}',
        '{"message": "too many tools"}',
    ],
)
def test_a_refusal_that_names_no_tool_of_ours_leaves_none_out(body: str) -> None:
    assert (
        not RefusedParameters("m", REQUIRED)
        .trial(THREE_TOOLS)
        .leave_out(400, body.encode())
    )


def test_a_service_that_refuses_one_tool_after_another_is_believed_for_a_while() -> (
    None
):
    tools: list[JsonValue] = [_function(f"tool_{number}") for number in range(20)]
    trial = RefusedParameters("m", REQUIRED).trial({"tools": tools})
    left_out = 0
    while trial.leave_out(400, b'{"message": "tools.0.custom.input_schema: invalid"}'):
        left_out += 1
    assert left_out == 16


@pytest.mark.parametrize(
    "words",
    [
        "Invalid 'tools': array too long. Expected an array with maximum length 4, but got 7 instead.",
        "You may not include more than 4 tools in your request.",
    ],
)
@pytest.mark.parametrize("source", ["files__", ""])
def test_where_there_are_too_many_tools_the_largest_source_gives_up_some(
    words: str, source: str
) -> None:
    names = (
        f"{source}a",
        f"{source}b",
        f"{source}c",
        f"{source}d",
        "intent__off",
        "intent__on",
        "light__set",
    )
    payload: JsonObject = {"messages": [], "tools": [_function(name) for name in names]}

    sent, refusal = asked_otherwise(
        400, json.dumps({"error": {"message": words}}), payload
    )

    assert sent["tools"] == [
        _function(name)
        for name in (names[0], "intent__off", "intent__on", "light__set")
    ]
    assert refusal == ""


def test_a_request_without_tools_is_none_of_too_many() -> None:
    refused = RefusedParameters("m", REQUIRED, adjustments=TOOL_ADJUSTMENTS)
    assert not refused.trial({"messages": []}).leave_out(
        400, b"You may not include more than 4 tools"
    )


SEARCHING: JsonObject = {
    "model": "m",
    "tools": [{"type": "function", "name": "on"}, {"type": "web_search"}],
    "max_tool_calls": 2,
    "messages": [
        {"role": "user", "content": "Who won?"},
        {
            "role": "assistant",
            "content": [
                {"type": "server_tool_use", "id": "s"},
                {"type": "web_search_tool_result", "tool_use_id": "s"},
                {"type": "text", "text": "They did."},
            ],
        },
    ],
}


@pytest.mark.parametrize(
    "words",
    [
        "Hosted tool 'web_search' is not supported with gpt-4.1-nano.",
        "The following tools cannot be used with reasoning.effort 'minimal': web_search.",
        "tools.1: Web search is not enabled for this organization.",
        "messages.1.content.1: unexpected `web_search_tool_result` block",
    ],
)
@pytest.mark.parametrize("adjustments", [TOOL_ADJUSTMENTS, ANTHROPIC_ADJUSTMENTS])
def test_where_a_service_does_not_search_it_is_asked_without_and_keeps_the_tools_of_the_home(
    adjustments: Sequence[Adjustment], words: str
) -> None:
    refused = RefusedParameters("m", REQUIRED, {}, adjustments)
    trial = refused.trial(SEARCHING)

    assert trial.leave_out(400, json.dumps({"error": {"message": words}}).encode())

    trial.accepted()
    for sent in (trial.payload, refused.trial(SEARCHING).payload):
        assert sent["tools"] == [{"type": "function", "name": "on"}]
        assert "max_tool_calls" not in sent
        assert [message["content"] for message in objects_in(sent["messages"])] == [
            "Who won?",
            [{"type": "text", "text": "They did."}],
        ]
    alone = refused.trial({"model": "m", "tools": [{"type": "web_search"}]})
    assert alone.payload == {"model": "m"}
    of_home: JsonObject = {"model": "m", "tools": [{"type": "function", "name": "on"}]}
    bounded: JsonObject = {**of_home, "max_tool_calls": 2}
    assert refused.trial(bounded).payload == bounded, "a bound of the owner's own"
