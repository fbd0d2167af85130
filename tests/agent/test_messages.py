"""The words of the transcript."""

from custom_components.chatterbox.agent.messages import ToolAnnotations, ToolResult, Usage, canonical_json


def test_json_is_written_the_one_way() -> None:
    assert canonical_json({"b": [1, None], "a": "Küche"}) == '{"a":"Küche","b":[1,null]}'


def test_usage_is_summed_by_kind_of_token() -> None:
    assert Usage(1, 2, 3, 4) + Usage(10, 20, 30, 40) == Usage(11, 22, 33, 44)
    assert Usage() + Usage(1, 2, 3, 4) == Usage(1, 2, 3, 4)


def test_a_tool_that_says_nothing_of_itself_is_the_least_safe_one() -> None:
    least_safe = ToolAnnotations(read_only=False, destructive=True, idempotent=False, open_world=True)
    assert ToolAnnotations() == least_safe


def test_results_are_the_same_whatever_the_dispatcher_made_of_them() -> None:
    assert ToolResult("1", "look", "dark", native=object()) == ToolResult("1", "look", "dark")
