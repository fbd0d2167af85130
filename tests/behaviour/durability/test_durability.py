"""Whoever got an answer is not forgotten, whatever happens to the process in the next moment."""

from pathlib import Path

import pytest
from pydantic import JsonValue

from tests.behaviour.durability.kept_talk import is_whole
from tests.behaviour.durability.killing import Findings, kill_often

_KILLS = 2
"""Here; `python -m tests.behaviour.durability` kills a hundred times."""


def _tell(_found: Findings) -> None:
    """Say nothing on the way."""


@pytest.mark.thorough
@pytest.mark.timeout(1_200)  # Home Assistant starts four times
@pytest.mark.usefixtures("socket_enabled")
async def test_a_killed_home_assistant_keeps_every_turn_that_was_answered(
    tmp_path: Path,
) -> None:
    found = await kill_often(tmp_path, _KILLS, 1, _tell)
    assert found.all_hold, found
    assert found.talk.answered
    assert found.longest > 1


_CALL: dict[str, JsonValue] = {
    "id": "a",
    "type": "function",
    "function": {"name": "look", "arguments": "{}"},
}
_ASKED: dict[str, JsonValue] = {"role": "assistant", "tool_calls": [_CALL]}
_RESULT: dict[str, JsonValue] = {"role": "tool", "tool_call_id": "a", "content": "noon"}
_SAID: dict[str, JsonValue] = {"role": "user", "content": "Hi."}


@pytest.mark.parametrize(
    ("messages", "whole"),
    [
        ([_SAID, _ASKED, _RESULT, _SAID], True),
        ([_SAID, _ASKED], False),
        ([_SAID, _ASKED, _SAID, _RESULT], False),
        ([_SAID, _RESULT], False),
        ([_ASKED, _RESULT, _RESULT], False),
    ],
    ids=["whole", "no result", "late result", "no call", "two results"],
)
def test_an_orphan_is_told_from_a_call_that_was_answered(
    messages: list[JsonValue], *, whole: bool
) -> None:
    assert is_whole({"messages": messages}) is whole
