"""The words of the transcript."""

import pytest

from custom_components.chatterbox.agent.messages import ToolAnnotations, ToolResult, Usage, canonical_json


def test_json_is_written_the_one_way() -> None:
    assert canonical_json({"b": [1, None], "a": "Küche"}) == '{"a":"Küche","b":[1,null]}'


def test_usage_is_summed_by_kind_of_token() -> None:
    assert Usage(3, 2, 1, 4) + Usage(30, 20, 10, 40) == Usage(33, 22, 11, 44)
    assert Usage() + Usage(3, 2, 1, 4) == Usage(3, 2, 1, 4)


def test_a_tool_that_says_nothing_of_itself_is_the_least_safe_one() -> None:
    least_safe = ToolAnnotations(read_only=False, destructive=True, idempotent=False, open_world=True)
    assert ToolAnnotations() == least_safe


def test_results_are_the_same_whatever_the_dispatcher_made_of_them() -> None:
    assert ToolResult("1", "look", "dark", native=object()) == ToolResult("1", "look", "dark")


@pytest.mark.parametrize(
    ("reported", "usage"),
    [
        (Usage(10**30, 10**30, 5, 10**30), Usage(100_000_000, 100_000_000, 5, 100_000_000)),
        (Usage(10, 20, 30), Usage(10, 20, 10)),
        (Usage(-1, -1, -1, -1), Usage()),
    ],
)
def test_impossible_token_counts_are_clamped(reported: Usage, usage: Usage) -> None:
    assert reported == usage
    assert sum([reported] * 1000, Usage()).input_tokens <= 100_000_000
