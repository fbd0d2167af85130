"""Holds the events of a response to what is promised of every stream, one by one as they come.

Knows the events of the Responses API, those of tools of the home too. Must not know how
they come about: they may be ours as objects, or read off a wire by anybody.
"""

import re
from collections.abc import Iterable

from custom_components.chatterbox.agent.messages import JsonObject, JsonValue
from tests.responses.protocol.open_responses import assert_fits, event_schemas

_OPENING = re.compile(r"created( queued)?( in_progress)?")
_ENDS = {"response.completed", "response.failed", "response.incomplete"}
_TEXT = (
    r"content_part\.added( output_text\.delta)* output_text\.done content_part\.done"
)
_REFUSAL = r"content_part\.added( refusal\.delta)* refusal\.done content_part\.done"
_SUMMARY = (
    r"reasoning_summary_part\.added( reasoning_summary_text\.delta)*"
    r" reasoning_summary_text\.done reasoning_summary_part\.done"
)
_LIVES = {
    "message": rf"output_item\.added( ({_TEXT}|{_REFUSAL}))* output_item\.done",
    "reasoning": rf"output_item\.added( {_SUMMARY})* output_item\.done",
    "function_call": (
        r"output_item\.added( function_call_arguments\.delta)* function_call_arguments\.done output_item\.done"
    ),
    "mcp_call": (
        r"output_item\.added mcp_call\.in_progress( mcp_call_arguments\.delta)* mcp_call_arguments\.done"
        r" mcp_call\.(completed|failed) output_item\.done"
    ),
    "mcp_list_tools": (
        r"output_item\.added mcp_list_tools\.in_progress mcp_list_tools\.(completed|failed) output_item\.done"
    ),
    "mcp_approval_request": r"output_item\.added output_item\.done",
}
"""The events of an item, by its type, without the `response.` before each event."""
_OWN_KEYS = {
    "mcp_call": {
        "id",
        "type",
        "server_label",
        "name",
        "arguments",
        "output",
        "error",
        "status",
        "approval_request_id",
    },
    "mcp_list_tools": {"id", "type", "server_label", "tools"},
    "mcp_approval_request": {"id", "type", "server_label", "name", "arguments"},
}
"""Fields of the items that the OpenResponses schemas do not know."""
_INDICES = ("content_index", "summary_index")


def check_stream(events: Iterable[JsonObject]) -> JsonObject:
    """Check a whole stream; return the final response."""
    stream = ValidStream()
    for event in events:
        stream.take(event)
    return stream.end()


def check_resource(response: JsonObject) -> None:
    """Check a response by itself, also one that was not streamed."""
    output = _objects(response["output"])
    known = [item for item in output if item["type"] not in _OWN_KEYS]
    tools = [tool for tool in _objects(response["tools"]) if tool["type"] != "mcp"]
    assert_fits("ResponseResource", {**response, "output": [*known], "tools": [*tools]})
    for item in output:
        check_item(item)
    ids = [item["id"] for item in output]
    assert len(set(map(str, ids))) == len(ids), f"ids that are not unique: {ids}"
    cut = [
        index for index, item in enumerate(output) if item.get("status") == "incomplete"
    ]
    assert cut in ([], [len(output) - 1]), "only the last item may be incomplete"
    status, details, error = (
        response["status"],
        response["incomplete_details"],
        response["error"],
    )
    assert not cut or status in {"incomplete", "failed", "cancelled", "in_progress"}
    assert (details is not None) == (status in {"incomplete", "cancelled"})
    assert (error is not None) == (status == "failed")
    assert (response["completed_at"] is not None) == (status == "completed")
    _check_usage(response)


def check_item(item: JsonObject) -> None:
    """Check an item that is done."""
    kind = str(item["type"])
    if kind not in _OWN_KEYS:
        assert_fits("ItemField", item)
        return
    assert _OWN_KEYS[kind] <= item.keys(), (
        f"{kind} without {_OWN_KEYS[kind] - item.keys()}"
    )
    if kind == "mcp_call":
        assert item["status"] in {"completed", "failed"}
        assert (item["error"] is None) == (item["status"] == "completed")
        assert (item["output"] is None) == (item["status"] == "failed")
        assert isinstance(item["arguments"], str)


def _check_usage(response: JsonObject) -> None:
    usage = response["usage"]
    if response["status"] in {"queued", "in_progress"}:
        assert usage is None
        return
    assert isinstance(usage, dict), "no usage"
    total, input_tokens, written = (
        usage["total_tokens"],
        usage["input_tokens"],
        usage["output_tokens"],
    )
    assert isinstance(input_tokens, int)
    assert isinstance(written, int)
    assert total == input_tokens + written


class ValidStream:
    """A stream that keeps what is promised so far. Every method fails with what is broken."""

    def __init__(self) -> None:
        self.events: list[JsonObject] = []
        self._opening: list[str] = []
        self._item: _OpenItem | None = None
        self._done: list[JsonObject] = []
        self._response: JsonObject | None = None
        self._failed = False
        self._id: JsonValue = None

    def take(self, event: JsonObject) -> None:
        """Check one event against those before it."""
        kind = str(event["type"])
        assert self._response is None, f"{kind} after the end"
        assert event["sequence_number"] == len(self.events), (
            f"{kind} has another number than {len(self.events)}"
        )
        self.events.append(event)
        self._check_shape(kind, event)
        assert not self._failed or kind == "response.failed", f"{kind} after an error"
        if kind == "error":
            self._failed = True
        elif "response" in event:
            self._take_response(kind, _object(event["response"]))
        else:
            self._take_item_event(kind, event)

    def end(self) -> JsonObject:
        """Check that the stream is over; return the final response."""
        assert self._response is not None, "no terminal event"
        return self._response

    def _check_shape(self, kind: str, event: JsonObject) -> None:
        item = event.get("item")
        if isinstance(item, dict) and item["type"] in _OWN_KEYS:
            return
        if "response" in event:
            check_resource(_object(event["response"]))
        elif kind in event_schemas():
            assert_fits(event_schemas()[kind], event)
        else:
            assert kind.startswith(("response.mcp_call", "response.mcp_list_tools.")), (
                f"unknown event {kind}"
            )

    def _take_response(self, kind: str, response: JsonObject) -> None:
        self._id = self._id or response["id"]
        assert response["id"] == self._id
        name, status = kind.removeprefix("response."), str(response["status"])
        if kind not in _ENDS:
            assert not self._item, f"{kind} after items"
            assert not self._done, f"{kind} after items"
            self._opening.append(name)
            assert _OPENING.fullmatch(" ".join(self._opening)), self._opening
            assert response["output"] == []
            assert status in {"queued", "in_progress"}
            assert name in {status, "created"}
            return
        assert self._opening[-1] == "in_progress", (
            f"{kind} of a response that never went on"
        )
        assert self._item is None, f"{kind} while an item is open"
        assert response["output"] == self._done, (
            "the final response has other items than the stream"
        )
        assert (
            status
            in {
                "response.completed": {"completed", "requires_action"},
                "response.failed": {"failed"},
                "response.incomplete": {"incomplete", "cancelled"},
            }[kind]
        )
        assert self._failed == (status == "failed"), (
            "an error comes before response.failed, and nowhere else"
        )
        self._response = response

    def _take_item_event(self, kind: str, event: JsonObject) -> None:
        assert self._opening, f"{kind} before response.created"
        assert self._opening[-1] == "in_progress", f"{kind} before response.in_progress"
        assert event["output_index"] == len(self._done), (
            f"{kind} at {event['output_index']}"
        )
        if kind == "response.output_item.added":
            assert self._item is None, "an item begins in another one"
            self._item = _OpenItem(_object(event["item"]))
            return
        assert self._item is not None, f"{kind} without an item"
        self._item.take(kind.removeprefix("response."), event)
        if kind == "response.output_item.done":
            self._done.append(self._item.end(_object(event["item"])))
            self._item = None


class _OpenItem:
    """An item that has begun."""

    def __init__(self, item: JsonObject) -> None:
        self._begun = item
        self._lived = ["output_item.added"]
        self._pieces = ""
        self._parts: list[JsonObject] = []
        assert item.get("status", "in_progress") == "in_progress"
        for key in ("content", "summary", "tools"):
            assert item.get(key, []) == [] or "encrypted_content" in item
        if item["type"] in {"function_call", "mcp_call"}:
            assert item["arguments"] == ""

    def take(self, name: str, event: JsonObject) -> None:
        self._lived.append(name)
        if name != "output_item.done":
            assert event["item_id"] == self._begun["id"], f"{name} of another item"
        for index in _INDICES:
            assert event.get(index, len(self._parts)) == len(self._parts), (
                f"{name} of another part"
            )
        match name.rpartition("."):
            case _, _, "delta":
                self._pieces += str(event["delta"])
            case "content_part" | "reasoning_summary_part", _, "added":
                assert not self._text(_object(event["part"]))
            case "content_part" | "reasoning_summary_part", _, "done":
                part = _object(event["part"])
                assert self._text(part) == self._pieces, (
                    "a part is not what its pieces say"
                )
                self._parts.append(part)
                self._pieces = ""
            case "output_item", _, _:
                pass
            case _, _, "done":
                assert self._text(event) == self._pieces, (
                    f"{name} is not what its pieces say"
                )
            case _:
                pass

    def end(self, item: JsonObject) -> JsonObject:
        kind, lived = str(item["type"]), " ".join(self._lived)
        assert re.fullmatch(_LIVES[kind], lived), f"{kind}: {lived}"
        check_item(item)
        for key in (
            "id",
            "type",
            "role",
            "name",
            "call_id",
            "server_label",
            "approval_request_id",
        ):
            assert item.get(key) == self._begun.get(key), f"{key} of {kind} has changed"
        assert item.get("status", "completed") in {"completed", "incomplete", "failed"}
        parts: list[JsonValue] = [*self._parts]
        assert item.get("content", parts) == parts
        assert item.get("summary", parts) == parts
        if kind in {"function_call", "mcp_call"}:
            assert item["arguments"] == self._pieces
        if kind in {"mcp_call", "mcp_list_tools"}:
            outcome = self._lived[-2].rpartition(".")[2]
            assert (outcome == "failed") == (item.get("error") is not None)
        return item

    @staticmethod
    def _text(holder: JsonObject) -> JsonValue:
        (text,) = (
            holder[key] for key in ("text", "refusal", "arguments") if key in holder
        )
        return text


def _object(value: JsonValue) -> JsonObject:
    assert isinstance(value, dict), f"no object: {value!r:.80}"
    return value


def _objects(value: JsonValue) -> list[JsonObject]:
    assert isinstance(value, list)
    return [_object(one) for one in value]
