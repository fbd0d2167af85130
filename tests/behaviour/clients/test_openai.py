"""The package `openai` gets along with the home: what it is asked for comes, and what it raises says what is wrong."""

from typing import Final

import pytest
from pydantic import JsonValue, TypeAdapter

from tests.behaviour.clients.home import Address
from tests.behaviour.clients.running_scripts import printed_by

pytestmark = pytest.mark.thorough

type Findings = dict[str, JsonValue]

_FINDINGS: Final = TypeAdapter(dict[str, JsonValue])
_SEVERAL: Final = TypeAdapter(dict[str, dict[str, JsonValue]])
_SAID: Final = "The kitchen is lit, and the door is shut."
_LISTED: Final = "mcp_list_tools"
_CALLED: Final = "mcp_call"
_ASKED: Final = "mcp_approval_request"
_SAYS: Final = "message"


@pytest.fixture(scope="module")
def answers(home: Address) -> Findings:
    """Findings of `openai_answers`."""
    return printed_by("openai_answers", home, _FINDINGS)


@pytest.fixture(scope="module")
def tools(home: Address) -> dict[str, Findings]:
    """Findings of `openai_tools`."""
    return printed_by("openai_tools", home, _SEVERAL)


@pytest.fixture(scope="module")
def background(home: Address) -> dict[str, Findings]:
    """Findings of `openai_background`."""
    return printed_by("openai_background", home, _SEVERAL)


def test_the_models_are_the_agents_of_the_home(
    home: Address, answers: Findings
) -> None:
    assert answers["models"] == [home.model]


def test_an_answer_is_the_same_streamed_and_whole(answers: Findings) -> None:
    """Invariants 14, 15, 72."""
    answer = _FINDINGS.validate_python(answers["answers"])
    pieces = answer.pop("pieces")
    assert isinstance(pieces, int)
    assert pieces > 1
    assert answer == {
        "status": "completed",
        "text": _SAID,
        "metadata": {"room": "kitchen"},
        "instructions": "Be brief.",
        "usage": {
            "input_tokens": 100,
            "input_tokens_details": {"cache_write_tokens": 0, "cached_tokens": 60},
            "output_tokens": 10,
            "output_tokens_details": {"reasoning_tokens": 4},
            "total_tokens": 110,
        },
        "streamed_text": _SAID,
        "streamed_status": "completed",
        "deltas": _SAID,
    }


def test_reasoning_is_shown_where_it_is_asked_for(answers: Findings) -> None:
    assert answers["reasoning"] == {
        "summary": ["The door may be open."],
        "types": ["reasoning", "message"],
        "quiet_types": ["message"],
    }


def test_an_answer_of_a_shape_is_parsed(answers: Findings) -> None:
    assert answers["shapes"] == {
        "parsed": {"name": "Kitchen", "lights": 3},
        "streamed": {"name": "Attic", "lights": 1},
    }


def test_pictures_reach_the_model(answers: Findings) -> None:
    assert answers["pictures"] == {"seen": "I see 1 pictures, and hear of manual.pdf."}


def test_conversations_continue(answers: Findings) -> None:
    """Invariants 36, 37: in the order in which it was said; two that go on from one do not hear each other."""
    assert answers["talk"] == {
        "third": "You said: I am Ada. | I like tea. | recall",
        "third_instructions": None,
        "third_previous": True,
        "beside": "You said: I am Ada. | recall",
        "replayed": "You said: I am Ada. | recall",
        "conversation": "conv_of_bo",
        "held_on": "You said: I am Bo. | recall",
    }


def test_what_is_kept_can_be_read_and_deleted(answers: Findings) -> None:
    """Invariants 38, 41, 42."""
    answer = _FINDINGS.validate_python(answers["kept"])
    assert answer["same"] is True
    assert answer["input"] == [[{"type": "input_text", "text": "say Kept."}]]
    assert _error(answer["after_delete"])["kind"] == "NotFoundError"
    assert _error(answer["not_stored"])["kind"] == "NotFoundError"
    assert _error(answer["from_not_stored"])["code"] == "previous_response_not_found"


def test_a_conversation_is_compacted_and_goes_on(answers: Findings) -> None:
    compacted = _FINDINGS.validate_python(answers["compacted"])
    assert compacted["object"] == "response.compaction"
    assert isinstance(compacted["types"], list)
    assert "compaction" in compacted["types"]
    assert compacted["on"] == "On we go."


def test_errors_are_those_that_the_client_knows(answers: Findings) -> None:
    """Invariants 2, 36, 57, 58, 68."""
    answer = TypeAdapter(dict[str, dict[str, str | None]]).validate_python(
        answers["errors"]
    )
    assert {
        name: (error["kind"], error["param"]) for name, error in answer.items()
    } == {
        "token": ("AuthenticationError", None),
        "model": ("NotFoundError", "model"),
        "previous": ("NotFoundError", "previous_response_id"),
        "field": ("BadRequestError", "max_output_tokens"),
        "orphan": ("BadRequestError", "input"),
        "tool": ("BadRequestError", "tools[0].server_url"),
        "failing_model": ("InternalServerError", None),
    }
    assert answer["previous"]["code"] == "previous_response_not_found"
    assert answer["model"]["code"] == "model_not_found"
    assert answer["failing_model"]["type"] == "model_error"


def test_what_came_before_the_model_broke_off_is_kept(answers: Findings) -> None:
    """Invariants 15, 57, 59."""
    answer = _FINDINGS.validate_python(answers["cut_off"])
    heard = answer.pop("heard")
    assert isinstance(heard, list)
    assert "response.output_text.delta" in heard
    assert "response.completed" not in heard
    assert answer == {
        "raised": "APIError",
        "status": "failed",
        "code": "model_reply_invalid",
        "kept": "So far so g",
        "usage": True,
    }


def test_functions_of_the_client_run_there(tools: dict[str, Findings]) -> None:
    """Invariants 1, 3, 5, 34."""
    rome, oslo = {"city": "Rome"}, {"city": "Oslo"}
    message = tools["functions"]
    unanswered = message.pop("unanswered")
    assert isinstance(unanswered, str)
    assert "No tool output found for function call" in unanswered
    assert message == {
        "status": "completed",
        "calls": [
            ["get_weather", rome, "completed"],
            ["get_weather", oslo, "completed"],
        ],
        "by_id": "sunny in Rome | sunny in Oslo",
        "by_items": "sunny in Rome | sunny in Oslo",
        "streamed": [rome, oslo],
        "streamed_calls": ["get_weather", "get_weather"],
        "forced": ["get_weather"],
        "pausing": "requires_action",
    }


def test_tools_of_the_home_run_there(tools: dict[str, Findings]) -> None:
    """Invariants 24, 27, 50."""
    message = tools["home"]
    assert message["plain"] == [_CALLED, _SAYS], (
        "no tools were named, so none are listed"
    )
    assert message["named"] == [_LISTED, _CALLED, _SAYS]
    assert message["label"] == "assist"
    assert isinstance(message["tools"], list)
    assert "intent__HassTurnOn" in message["tools"]
    assert message["called"] == [["intent__HassTurnOn", "assist", "completed", None]]
    assert isinstance(message["output"], list)
    assert "Kitchen" in str(message["output"])
    assert isinstance(message["text"], str)
    assert message["text"].startswith("Lit: ")
    assert message["on"] == [_SAYS], (
        "what was listed once in a chain is not listed again"
    )
    assert message["streamed"] == [_LISTED, _CALLED, _SAYS]
    assert message["events"] == [
        "response.mcp_list_tools.in_progress",
        "response.mcp_list_tools.completed",
        "response.mcp_call.in_progress",
        *[
            name
            for name in TypeAdapter(list[str]).validate_python(message["events"])
            if name.endswith("arguments.delta")
        ],
        "response.mcp_call_arguments.done",
        "response.mcp_call.completed",
    ]
    assert message["none"] == [["failed", "chatterbox"]]


def test_what_needs_a_yes_waits_for_it(tools: dict[str, Findings]) -> None:
    """Invariants 45, 46, 47, 49."""
    message = tools["approvals"]
    denied_text = message.pop("denied_text")
    assert isinstance(denied_text, str)
    assert "It is bright." in denied_text
    assert message == {
        "status": "completed",
        "asked": [_LISTED, _ASKED],
        "question": ["intent__HassTurnOff", "assist", {"name": "Front Door"}],
        "opened": [_CALLED, _SAYS],
        "ran": [["completed", True]],
        "twice": "approval_continuation_invalid",
        "again": [_SAYS],
        "strict": [_LISTED, _ASKED],
        "denied": [_SAYS],
    }


def test_several_calls_at_once_are_told_apart(tools: dict[str, Findings]) -> None:
    """Invariants 17, 18, 22, 48."""
    assert tools["several"] == {
        "mixed_answers": [[True, "completed"]],
        "most": ["completed", "Enough.", "completed", "failed"],
        "cut": ["incomplete", "max_output_tokens"],
        "cut_calls": ["failed"],
        "mixed": [[_LISTED, None], [_CALLED, "failed"], ["function_call", "completed"]],
        "on": [_CALLED, "message"],
    }


def test_a_stream_from_the_background_is_resumed(
    background: dict[str, Findings],
) -> None:
    """Invariant 56."""
    assert background["resumed"] == {
        "contiguous": True,
        "last": "response.completed",
        "terminal": ["response.completed"],
        "same_text": True,
        "helper_starts_at": 2,
    }


def test_the_background_is_cancelled(background: dict[str, Findings]) -> None:
    """Invariant 55."""
    assert background["cancelled"] == {
        "cancelled": ["cancelled", "cancelled", "cancelled"],
        "of_a_plain_one": "BadRequestError",
        "of_one_that_has_ended": "completed",
    }


def _error(message: JsonValue) -> dict[str, str | None]:
    return TypeAdapter(dict[str, str | None]).validate_python(message)
