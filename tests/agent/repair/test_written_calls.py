"""JSON of a call that is cut, or has only a name, runs nothing."""

import pytest

from custom_components.chatterbox.agent.events import CompletionResult, TextDelta
from custom_components.chatterbox.agent.messages import FinishReason
from tests.agent.repair.hearing import cuts, hear, message
from tests.agent.repair.written_examples import CONTEXT


@pytest.mark.parametrize(
    "text",
    [
        '{"type": "function", "name": "',
        '[{"type": "function", "function": {"na',
        '{"function_call": {',
    ],
)
def test_a_call_that_is_cut_is_not_spoken(text: str) -> None:
    heard = hear(
        *(TextDelta(piece) for piece in text), CompletionResult(FinishReason.LENGTH)
    )

    assert (heard.text, heard.calls) == ("", [])


@pytest.mark.parametrize("name", ["GetLiveContext", CONTEXT])
def test_a_name_alone_is_a_call_only_in_markup(name: str) -> None:
    text = f'{{"name": "{name}"}}'

    for pieces in [[text], *cuts(text)]:
        assert hear(*message(pieces)).text == text
    assert hear(*message(f"<tool_call>{text}</tool_call>")).calls == [(name, "{}")]
