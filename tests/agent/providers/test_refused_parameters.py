"""A parameter that a model refuses is found in what the service says, left out, remembered and logged once."""

import logging

import pytest
from hypothesis import given, strategies as st

from custom_components.chatterbox.agent.messages import JsonObject, JsonValue
from custom_components.chatterbox.agent.providers.refused_parameters import RefusedParameters

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


def left_out(body: str, status: int = 400, payload: JsonObject = PAYLOAD) -> JsonObject | None:
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
        ('{"type":"error","error":{"message":"`temperature` and `top_p` cannot both be specified"}}', "temperature"),
        ('{"type":"error","error":{"message":"top_p: Extra inputs are not permitted"}}', "top_p"),
        ('{"detail":[{"type":"extra_forbidden","loc":["body","stream_options"]}]}', "stream_options"),
        ('[{"error":{"message":"Unknown name \\"stream_options\\": Cannot find field."}}]', "stream_options"),
        ("litellm.UnsupportedParamsError: groq does not support parameters: ['top_p', 'temperature']", "top_p"),
        ("property 'temperature' is unsupported", "temperature"),
        ('{"error":"\\"gemma\\" does not support thinking"}', "think"),
        ("Unknown parameter: 'reasoning'.", "reasoning"),
        ("Set temperature only together with 'top_p'.", "top_p"),
    ],
)
def test_the_parameter_that_a_refusal_names(body: str, name: str) -> None:
    assert left_out(body) == without(name)


def test_a_parameter_inside_another_is_left_out_alone() -> None:
    body = "Unsupported parameter: 'reasoning.summary' is not supported with this model."

    assert left_out(body) == {**PAYLOAD, "reasoning": {"effort": "low"}}


def test_an_object_without_parameters_is_left_out_too() -> None:
    payload: JsonObject = {"model": "m", "reasoning": {"effort": "low"}}

    assert left_out("Unsupported value: 'reasoning.effort'", payload=payload) == {"model": "m"}


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
    ("status", "again"), [(400, True), (404, True), (422, True), (401, False), (429, False), (503, False)]
)
def test_which_refusals_may_be_about_a_parameter(status: int, again: bool) -> None:  # noqa: FBT001  # a table
    assert (left_out("temperature", status) is not None) == again


def test_what_helped_is_remembered_and_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    refused = RefusedParameters("small-1", REQUIRED)
    trial = refused.trial(PAYLOAD)

    with caplog.at_level(logging.WARNING):
        assert trial.leave_out(400, b"no temperature")
        assert trial.leave_out(400, b"no reasoning.effort")
        assert not caplog.messages
        trial.accepted()
        trial.accepted()
        refused.trial(PAYLOAD).accepted()

    assert refused.trial(PAYLOAD).payload == {**without("temperature"), "reasoning": {"summary": "auto"}}
    assert caplog.messages == [
        "small-1 refuses the parameter temperature; it is left out from now on",
        "small-1 refuses the parameter reasoning.effort; it is left out from now on",
    ]


def test_what_did_not_help_is_not_remembered() -> None:
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


def test_of_values_that_callers_wish_for_the_latest_are_remembered(caplog: pytest.LogCaptureFixture) -> None:
    refused = RefusedParameters("small-1", REQUIRED)
    wishes: list[JsonObject] = [{**PAYLOAD, "temperature": number / 1_000} for number in range(1_000)]
    for wish in wishes:
        trial = refused.trial(wish)
        trial.leave_out(400, b"no temperature")
        trial.accepted()

    assert refused.trial(wishes[0]).payload == wishes[0]
    assert "temperature" not in refused.trial(wishes[-1]).payload
    assert sum(record.levelno == logging.WARNING for record in caplog.records) == 1


NAMES = st.sampled_from(["model", "messages", "temperature", "top_p", "reasoning", "a.b", "", "?"])
VALUES: st.SearchStrategy[JsonValue] = st.none() | st.integers() | st.dictionaries(NAMES, st.integers(), max_size=3)


@given(st.dictionaries(NAMES, VALUES), st.text(alphabet="abtempru_.'\" ") | NAMES | st.binary().map(repr))
def test_each_refusal_takes_something_away_and_never_what_is_required(payload: JsonObject, said: str) -> None:
    trial = RefusedParameters("m", REQUIRED).trial(payload)
    before = str(payload)

    while trial.leave_out(400, said.encode()):
        assert len(str(trial.payload)) < len(before)
        before = str(trial.payload)

    assert {name for name in payload if name in REQUIRED} <= trial.payload.keys()
    assert all(trial.payload[name] == payload[name] for name in REQUIRED if name in payload)
