"""Agents run to their end, the home complies, and API clients may be many, and hang up."""

import re
from itertools import batched, pairwise

import pytest
from pydantic import BaseModel, JsonValue, TypeAdapter

from tests.behaviour.clients.home import Address
from tests.behaviour.clients.running_scripts import (
    CLIENT_BINARIES,
    PYTHON,
    REPOSITORY,
    printed_by,
    run,
)
from tests.responses.protocol.valid_stream import check_stream

type Json = dict[str, JsonValue]

_JSON = TypeAdapter(dict[str, JsonValue])
_PAGE = (REPOSITORY / "docs" / "responses-api.md").read_text(encoding="utf-8")


class _Check(BaseModel):
    """A finding of llm-comply."""

    id: str
    status: str
    errors: list[str] = []
    warnings: list[str] = []


class _Checks(BaseModel):
    results: list[_Check]


class _Census(BaseModel):
    tasks: list[str]
    open_files: int
    objects: int
    under_way: int


class _Counted(BaseModel):
    counts: list[_Census]
    """Before, and after each round."""
    streams: int
    """Of a round."""


class _Stream(BaseModel):
    number: int
    lines: list[str]

    @property
    def words(self) -> str:
        """The words or calls that the model was told, for this one alone."""
        is_call = self.number % 4 == 3
        return (
            f'{{"city": "City {self.number}"}}'
            if is_call
            else f"word-{self.number} " * 30
        )


class _Part(BaseModel):
    text: str


class _Item(BaseModel):
    arguments: str = ""
    content: tuple[_Part, ...] = ()


@pytest.fixture(scope="module")
def agents(home: Address) -> Json:
    """Findings of `agents_runs`."""
    return printed_by("agents_runs", home, _JSON)


@pytest.mark.thorough
def test_an_agent_runs_to_its_end(agents: Json) -> None:
    """Invariant 72."""
    for name in ("plain", "streamed", "over_a_socket"):
        message = _JSON.validate_python(agents[name])
        output = str(message["output"])
        assert "Kitchen Ceiling Light" in output
        assert output.endswith(" | sunny in Rome")
        kinds = [
            "tool_call_item",
            "tool_call_item",
            "tool_call_output_item",
            "message_output_item",
        ]
        assert message["kinds"] == ["mcp_list_tools_item", *kinds]
        assert message.get("deltas", output) == output


@pytest.mark.thorough
def test_an_agent_asks_its_client_for_approval(agents: Json) -> None:
    """Invariants 45, 47, 72."""
    requested = [
        "mcp_list_tools_item",
        "mcp_approval_request_item",
        "mcp_approval_response_item",
    ]
    ran = [*requested, "tool_call_item", "message_output_item"]
    assert agents["approved"] == {"by_items": ["Open.", ran], "by_id": ["Open.", ran]}
    denied = _JSON.validate_python(agents["denied"])
    assert denied["kinds"] == [*requested, "message_output_item"]
    assert "It is bright." in str(denied["output"])
    from_outside = _JSON.validate_python(agents["from_outside"])
    assert from_outside["kinds"] == [
        requested[0],
        "tool_call_item",
        "tool_call_output_item",
        "tool_call_item",
        "message_output_item",
    ], "a light is of no consequence"
    lock, light = "intent__HassTurnOff", "intent__HassTurnOn"
    assert agents["asked_about"] == [lock, lock, light, *(light, lock) * 3]


@pytest.mark.thorough
def test_an_agent_is_asked_again_after_a_no_however_it_continues(agents: Json) -> None:
    """Invariants 22, 45, 47, 72: its package sends answers again that it has given before."""
    message = _JSON.validate_python(agents["asked_twice"])
    assert sorted(message) == ["by_id", "by_items", "in_conversation"]
    for output in map(str, message.values()):
        assert output.startswith("sunny in Rome | Not run")
        assert "It is bright." in output
        assert output.endswith('"lock.front_door"}],"failed":[]}}')


@pytest.mark.thorough
def test_an_agent_may_wait_for_somebody_to_approve(agents: Json) -> None:
    assert agents["approved_by_hand"] == {
        "asked": "intent__HassTurnOn",
        "before": None,
        "after": "Lit.",
    }


@pytest.mark.thorough
def test_an_agent_sends_its_reasoning_back_where_nothing_is_stored(
    agents: Json,
) -> None:
    """Invariants 35, 38."""
    called = ["tool_call_item", "tool_call_output_item"]
    assert agents["not_stored"] == {
        "output": "sunny in Rome",
        "kinds": ["reasoning_item", *called, "reasoning_item", "message_output_item"],
    }


@pytest.mark.thorough
def test_an_agent_hands_a_conversation_to_another_one(agents: Json) -> None:
    """Nested, what was said comes as an assistant message, which is to be answered."""
    message = _JSON.validate_python(agents["handed_over"])
    assert message["nested"] == [
        "Weatherman",
        "I heard: ",
    ]  # an instruction of ours is not said again
    assert "sunny in Rome" in str(message["plain"])


@pytest.mark.thorough
def test_an_agent_stops_at_its_limit_of_turns(agents: Json) -> None:
    """Invariant 72."""
    assert agents["endless"] == {"raised": "MaxTurnsExceeded"}


@pytest.mark.thorough
def test_an_agent_holds_a_conversation(agents: Json) -> None:
    words = "You said: I am Ada. | recall"
    assert agents["talk"] == {"by_items": words, "by_id": words}


@pytest.mark.thorough
def test_an_agent_keeps_its_conversation_at_home(agents: Json) -> None:
    message = _JSON.validate_python(agents["in_a_session"])
    assert str(message["output"]).startswith("You said: ")
    assert str(message["output"]).endswith(" | recall")
    kinds = message["kinds"]
    assert isinstance(kinds, list)
    assert {"message", "function_call", "function_call_output", "mcp_call"} <= {
        *map(str, kinds)
    }
    assert (message["popped"], message["after"]) == (True, [])


def test_the_surface_complies_with_the_specification(home: Address) -> None:
    """Invariants 8, 43: every check of llm-comply passes, none is left out, and it warns of nothing."""
    requested = ["-u", home.base_url, "-k", home.token, "-m", home.model, "--json"]
    checks = _Checks.model_validate_json(
        run([CLIENT_BINARIES / "llm-comply", *requested], home)
    ).results
    assert [
        check
        for check in checks
        if check.status != "passed" or check.errors or check.warnings
    ] == []
    assert len(checks) > 10


def test_the_documented_commands_answer(home: Address) -> None:
    once, streamed = (
        run(["bash", "-c", f"TOKEN={home.token}\n{each}"], home)
        for each in _examples("shell", home)
    )
    assert "It is lit." in once
    assert "event: response.output_text.delta" in streamed
    assert streamed.endswith("data: [DONE]\n\n")


@pytest.mark.thorough
def test_the_documented_examples_print_what_the_page_says(home: Address) -> None:
    openai, agents = (
        run([PYTHON, "-c", each], home) for each in _examples("python", home)
    )
    assert openai.splitlines() == [
        "It is lit.",
        "I am well, and the house is quiet.",
        "Sunny in Rome.",
        "It is open.",
    ]
    assert agents.splitlines() == ["Sunny in Rome.", "It is open."]


@pytest.mark.thorough
def test_streams_at_once_are_each_valid_and_hear_nothing_of_each_other(
    home: Address,
) -> None:
    """Invariants 7, 8, 9, 70."""
    streams = printed_by("many_at_once", home, TypeAdapter(list[_Stream]))
    assert len(streams) == 32
    ids: set[JsonValue] = set()
    for stream in streams:
        final = check_stream(_events(stream.lines))
        [item] = TypeAdapter(list[_Item]).validate_python(final["output"])
        assert (
            item.arguments + "".join(part.text for part in item.content) == stream.words
        )
        ids.add(final["id"])
    assert len(ids) == len(streams)


@pytest.mark.thorough
def test_abandoned_streams_leave_nothing_behind(home: Address) -> None:
    """Invariant 54."""
    counted = printed_by("abandoned", home, TypeAdapter(_Counted))
    before, after = counted.counts[0], counted.counts[-1]
    assert {count.under_way for count in counted.counts} == {0}, (
        "its model is asked nothing more"
    )
    assert len(after.tasks) <= len(before.tasks) + 2, after.tasks
    assert [name for name in after.tasks if "chatterbox" in name] == []
    assert after.open_files <= before.open_files + 5
    # What is loaded late is loaded once; turns that stay do so in every round, each
    # with hundreds of objects.
    grown = min(
        late.objects - early.objects for early, late in pairwise(counted.counts)
    )
    assert grown < 100 * counted.streams


def _examples(language: str, home: Address) -> list[str]:
    """Return the examples of the page, with what a reader fills in."""
    examples = re.findall(rf"```{language}\n(.*?)```", _PAGE, re.DOTALL)
    filled = {
        "http://homeassistant.local:8123": home.url,
        "conversation.chatterbox": home.model,
        "YOUR_TOKEN": home.token,
    }
    return [
        re.sub("|".join(map(re.escape, filled)), lambda found: filled[found[0]], each)
        for each in examples
    ]


def _events(lines: list[str]) -> list[Json]:
    """Read a stream as a strict reader does: a name, the data, an empty line, and `[DONE]` at the end."""
    *blocks, done = batched(lines, 3, strict=False)
    assert done[0] == "data: [DONE]"
    events = []
    for name, data, nothing in blocks:
        assert nothing == ""
        event = _JSON.validate_json(data.removeprefix("data: "))
        assert name == f"event: {event['type']}"
        events.append(event)
    return events
