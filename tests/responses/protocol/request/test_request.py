"""Every field of a request is obeyed, echoed or refused by name."""

from dataclasses import replace

import pytest

from custom_components.chatterbox.agent.messages import JsonObject, JsonValue
from custom_components.chatterbox.agent.protocols import (
    AnswerOptions,
    OutputFormat,
    ReasoningEffort,
    Verbosity,
)
from custom_components.chatterbox.responses.protocol.errors import ApiError
from custom_components.chatterbox.responses.protocol.request import (
    CreateRequest,
    read_compact,
    read_create,
    read_socket_create,
)
from tests.responses.protocol.open_responses import assert_fits

ASKED: JsonObject = {"model": "conversation.kitchen", "input": "Hi"}
REST_OF_A_RESPONSE: JsonObject = {
    "id": "resp_1",
    "object": "response",
    "created_at": 1,
    "completed_at": None,
    "status": "in_progress",
    "incomplete_details": None,
    "output": [],
    "error": None,
    "usage": None,
}


def new_id(prefix: str) -> str:
    return f"{prefix}_new"


def read(**fields: JsonValue) -> CreateRequest:
    return read_create({**ASKED, **fields}, new_id)


def refused(**fields: JsonValue) -> ApiError:
    with pytest.raises(ApiError) as caught:
        read(**fields)
    assert caught.value.status == 400
    assert caught.value.message
    return caught.value


def echoed(**fields: JsonValue) -> JsonObject:
    """Return what is echoed, once it fits the schema of a response."""
    echo = dict(read(**fields).echo)
    assert_fits("ResponseResource", {**REST_OF_A_RESPONSE, **echo})
    return echo


def test_defaults() -> None:
    """Invariants 41, 43."""
    request = read()

    assert request == CreateRequest(
        model="conversation.kitchen",
        items=(
            {
                "type": "message",
                "id": "msg_new",
                "role": "user",
                "content": [{"type": "input_text", "text": "Hi"}],
                "status": "completed",
            },
        ),
        hosted=None,
        echo=request.echo,
    )
    assert echoed() == {
        "model": "conversation.kitchen",
        "instructions": None,
        "previous_response_id": None,
        "tools": [],
        "tool_choice": "auto",
        "parallel_tool_calls": True,
        "max_tool_calls": None,
        "max_output_tokens": None,
        "text": {"format": {"type": "text"}},
        "reasoning": {"effort": None, "summary": None},
        "temperature": 1,
        "top_p": 1,
        "presence_penalty": 0,
        "frequency_penalty": 0,
        "top_logprobs": 0,
        "truncation": "disabled",
        "store": True,
        "background": False,
        "service_tier": "default",
        "metadata": {},
        "safety_identifier": None,
        "prompt_cache_key": None,
    }


def test_null_is_nothing() -> None:
    fields = [
        *echoed(),
        "include",
        "stream",
        "stream_options",
        "prompt",
        "user",
        "chatterbox:client_tools_status",
    ]
    fields_sent = {**dict.fromkeys(fields), **ASKED}

    assert read_create(fields_sent, new_id) == read()


def test_what_is_said_is_obeyed() -> None:
    request = read(
        instructions="Be brief.",
        previous_response_id="resp_0",
        parallel_tool_calls=False,
        max_tool_calls=1,
        max_output_tokens=16,
        text={"verbosity": "low", "format": {"type": "text"}},
        reasoning={"effort": "xhigh", "summary": "detailed"},
        temperature=0,
        top_p=0.5,
        truncation="auto",
        store=False,
        stream=True,
        stream_options={"include_obfuscation": False},
        include=["reasoning.encrypted_content", "web_search_call.results"],
        metadata={"room": "kitchen"},
        user="somebody",
        **{"chatterbox:client_tools_status": "requires_action"},
    )

    assert request == CreateRequest(
        model="conversation.kitchen",
        items=request.items,
        instructions="Be brief.",
        previous_response_id="resp_0",
        hosted=None,
        max_tool_calls=1,
        max_output_tokens=16,
        options=AnswerOptions(
            temperature=0,
            top_p=0.5,
            reasoning_effort=ReasoningEffort.XHIGH,
            verbosity=Verbosity.LOW,
            parallel_tool_calls=False,
        ),
        may_be_shortened=True,
        store=False,
        stream=True,
        reasoning_summary="detailed",
        include_encrypted_reasoning=True,
        pauses_for_functions=True,
        echo=request.echo,
    )
    assert read(background=True).background


def test_what_is_said_is_echoed() -> None:
    """Invariants 31, 43."""
    echo = echoed(
        instructions="Be brief.",
        previous_response_id="resp_0",
        parallel_tool_calls=False,
        max_tool_calls=3,
        max_output_tokens=100,
        text={"verbosity": "high"},
        reasoning={
            "effort": "none",
            "generate_summary": "auto",
            "context": "auto",
            "mode": "standard",
        },
        temperature=2,
        top_p=0,
        presence_penalty=0,
        frequency_penalty=0.0,
        top_logprobs=0,
        truncation="auto",
        store=False,
        service_tier="priority",
        metadata={"a": "b"},
        safety_identifier="s" * 64,
        prompt_cache_key="k" * 64,
    )

    sent_body: JsonObject = {
        "instructions": "Be brief.",
        "previous_response_id": "resp_0",
        "parallel_tool_calls": False,
        "max_tool_calls": 3,
        "max_output_tokens": 100,
        "text": {"format": {"type": "text"}, "verbosity": "high"},
        "reasoning": {"effort": "none", "summary": "auto"},
        "temperature": 2,
        "top_p": 0,
        "truncation": "auto",
        "store": False,
        "metadata": {"a": "b"},
        "safety_identifier": "s" * 64,
        "prompt_cache_key": "k" * 64,
    }
    assert echo == {**echoed(), **sent_body}
    assert echoed(background=True)["background"] is True


def test_a_top_p_of_nothing_is_the_least_there_is() -> None:
    assert read(top_p=0).options == AnswerOptions(top_p=0.01)


def test_conversations() -> None:
    whole: JsonObject = {"id": "conv_1"}
    for conversation in ("conv_1", whole):
        request = read(conversation=conversation, input=None)
        assert (request.conversation_id, request.items) == ("conv_1", ())
        assert request.echo["conversation"] == {"id": "conv_1"}


def test_answers_as_data() -> None:
    schema: JsonObject = {
        "type": "object",
        "properties": {"a": {"type": "string"}},
        "required": ["a"],
    }
    wanted: JsonObject = {
        "type": "json_schema",
        "name": "thing",
        "schema": schema,
        "strict": True,
    }

    assert read(text={"format": wanted}).output == OutputFormat("thing", schema)
    assert echoed(text={"format": wanted})["text"] == {
        "format": {
            "type": "json_schema",
            "name": "thing",
            "description": None,
            "schema": None,
            "strict": True,
        }
    }
    described = read(
        text={"format": {**wanted, "schema": {}, "description": "A thing."}}
    ).output
    assert described == OutputFormat(
        "thing", {"type": "object", "properties": {}, "description": "A thing."}
    )
    any_object = read(text={"format": {"type": "json_object"}}).output
    assert any_object == OutputFormat(
        "json_object", {"type": "object", "properties": {}}
    )
    assert echoed(text={"format": {"type": "json_object"}})["text"] == {
        "format": {"type": "json_object"}
    }


@pytest.mark.parametrize(
    ("fields", "param"),
    [
        ({"model": None}, "model"),
        ({"model": ""}, "model"),
        ({"model": 5}, "model"),
        ({"input": None}, "input"),
        ({"input": 5}, "input"),
        ({"instructions": ["Be brief."]}, "instructions"),
        ({"previous_response_id": ""}, "previous_response_id"),
        (
            {"previous_response_id": "resp_1", "conversation": "conv_1"},
            "previous_response_id",
        ),
        ({"conversation": ""}, "conversation"),
        ({"conversation": {}}, "conversation.id"),
        ({"conversation": 5}, "conversation"),
        ({"parallel_tool_calls": "no"}, "parallel_tool_calls"),
        ({"max_tool_calls": 0}, "max_tool_calls"),
        ({"max_tool_calls": -1}, "max_tool_calls"),
        ({"max_tool_calls": True}, "max_tool_calls"),
        ({"max_output_tokens": 15}, "max_output_tokens"),
        ({"max_output_tokens": "16"}, "max_output_tokens"),
        ({"text": {"verbosity": "loud"}}, "text.verbosity"),
        ({"text": {"format": {"type": "grammar"}}}, "text.format.type"),
        (
            {"text": {"format": {"type": "json_schema", "schema": {}}}},
            "text.format.name",
        ),
        (
            {"text": {"format": {"type": "json_schema", "name": "a b", "schema": {}}}},
            "text.format.name",
        ),
        (
            {"text": {"format": {"type": "json_schema", "name": "a"}}},
            "text.format.schema",
        ),
        (
            {
                "text": {
                    "format": {
                        "type": "json_schema",
                        "name": "a",
                        "schema": {"type": "array"},
                    }
                }
            },
            "text.format.schema",
        ),
        ({"reasoning": {"effort": "hard"}}, "reasoning.effort"),
        ({"reasoning": {"summary": "long"}}, "reasoning.summary"),
        ({"reasoning": {"mode": "pro"}}, "reasoning.mode"),
        ({"temperature": 2.1}, "temperature"),
        ({"temperature": -0.1}, "temperature"),
        ({"temperature": True}, "temperature"),
        ({"temperature": 10**400}, "temperature"),
        ({"top_p": 1.1}, "top_p"),
        ({"presence_penalty": 0.5}, "presence_penalty"),
        ({"presence_penalty": 3}, "presence_penalty"),
        ({"frequency_penalty": -1}, "frequency_penalty"),
        ({"top_logprobs": 5}, "top_logprobs"),
        ({"top_logprobs": 21}, "top_logprobs"),
        ({"truncation": "middle"}, "truncation"),
        ({"store": 1}, "store"),
        ({"stream_options": {}}, "stream_options"),
        (
            {"stream": True, "stream_options": {"include_usage": True}},
            "stream_options.include_usage",
        ),
        (
            {"stream": True, "stream_options": {"include_obfuscation": True}},
            "stream_options.include_obfuscation",
        ),
        ({"include": "reasoning.encrypted_content"}, "include"),
        (
            {
                "include": [
                    "reasoning.encrypted_content",
                    "message.output_text.logprobs",
                ]
            },
            "include[1]",
        ),
        ({"include": ["everything"]}, "include[0]"),
        ({"service_tier": "gold"}, "service_tier"),
        ({"metadata": {str(number): "" for number in range(17)}}, "metadata"),
        ({"metadata": {"k" * 65: ""}}, "metadata"),
        ({"metadata": {"k": "v" * 513}}, "metadata"),
        ({"metadata": {"k": 5}}, "metadata"),
        ({"safety_identifier": "s" * 65}, "safety_identifier"),
        ({"prompt_cache_key": "k" * 65}, "prompt_cache_key"),
        ({"user": 5}, "user"),
        ({"prompt": {"id": "pmpt_1"}}, "prompt"),
        (
            {"chatterbox:client_tools_status": "paused"},
            "chatterbox:client_tools_status",
        ),
        ({"tools": {}}, "tools"),
        ({"tools": [{"type": "function", "name": "f"}] * 129}, "tools"),
    ],
)
def test_what_is_out_of_bounds_is_refused_by_name(
    fields: dict[str, JsonValue], param: str
) -> None:
    """Invariants 19, 40, 56, 68."""
    assert refused(**fields).param == param


def test_hints_are_returned_and_change_nothing() -> None:
    hints: JsonObject = {
        "context_management": [{"type": "compaction", "compact_threshold": 1_000}],
        "prompt_cache_options": {"mode": "explicit", "ttl": "30m"},
        "prompt_cache_retention": "24h",
    }

    hinted = read(**hints)

    assert hinted.echo == {**read().echo, **hints}
    assert replace(hinted, echo=read().echo) == read()
    assert read_compact({**ASKED, **hints}, new_id)[1] == read_compact(ASKED, new_id)[1]


def test_unknown_fields() -> None:
    """Invariant 67."""
    top, inner = refused(temprature=1), refused(text={"fromat": {}})

    assert (top.param, top.code) == ("temprature", "unknown_parameter")
    assert (inner.param, inner.code) == ("text.fromat", "unknown_parameter")
    assert read(**{"acme:mood": "good"}) == read()


@pytest.mark.parametrize("body", [None, [], "Hi", 5])
def test_what_is_no_body(body: JsonValue) -> None:
    for reader in (read_create, read_compact, read_socket_create):
        with pytest.raises(ApiError) as caught:
            reader(body, new_id)
        assert caught.value.status == 400


def test_sockets() -> None:
    """Invariant 69."""
    create: JsonObject = {"type": "response.create", **ASKED}

    assert read_socket_create(create, new_id) == read(stream=True)
    assert read_socket_create({**create, "background": None}, new_id).stream


@pytest.mark.parametrize(
    ("fields", "param"),
    [
        ({"type": "response.steer"}, "type"),
        ({"type": None}, "type"),
        ({"stream": True}, "stream"),
        ({"stream": False}, "stream"),
        ({"background": False}, "background"),
        ({"stream_options": {}}, "stream_options"),
        ({"stream_id": "s"}, "stream_id"),
        ({"temperature": 3}, "temperature"),
    ],
)
def test_what_sockets_do_not_take(fields: JsonObject, param: str) -> None:
    """Invariant 69."""
    with pytest.raises(ApiError) as caught:
        read_socket_create({"type": "response.create", **ASKED, **fields}, new_id)

    assert (caught.value.status, caught.value.param) == (400, param)


def test_compaction() -> None:
    whole, items = read_compact(
        {**ASKED, "instructions": "In German.", "prompt_cache_key": "k"}, new_id
    )
    earlier, nothing = read_compact(
        {"model": "m", "previous_response_id": "resp_1", "service_tier": "auto"}, new_id
    )

    assert (whole.model, items, whole.instructions) == (
        "conversation.kitchen",
        read().items,
        "In German.",
    )
    assert (nothing, earlier.previous_response_id) == ((), "resp_1")


@pytest.mark.parametrize(
    ("body", "param"),
    [
        ({"input": "Hi"}, "model"),
        ({"model": "m", "input": [5]}, "input[0]"),
        ({"model": "m", "input": "Hi", "tools": []}, "tools"),
        ({"model": "m", "input": "Hi", "moderation": {"model": "omni"}}, "moderation"),
    ],
)
def test_what_cannot_be_compacted(body: JsonObject, param: str) -> None:
    with pytest.raises(ApiError) as caught:
        read_compact(body, new_id)

    assert (caught.value.status, caught.value.param) == (400, param)
