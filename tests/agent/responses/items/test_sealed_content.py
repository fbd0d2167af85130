"""What a client keeps for us comes back as it was, and nothing else counts as ours."""

import pytest
from hypothesis import given, strategies as st

from custom_components.chatterbox.agent.messages import AssistantMessage, JsonObject, ProviderItem, ToolResult
from custom_components.chatterbox.agent.responses.items.carriers import (
    phase_item,
    phase_of,
    provider_items,
    sealed_provider_items,
    sealed_summary,
    summary_messages,
    summary_of,
)
from custom_components.chatterbox.agent.responses.items.sealed_content import Seal
from tests.agent.json_values import json_objects

SEAL, OTHER = Seal(b"a key"), Seal(b"another key")
ITEMS = (ProviderItem("anthropic", {"thinking": "hm", "signature": "🔒"}), ProviderItem("x", {}))


@given(json_objects())
def test_content_comes_back(content: JsonObject) -> None:
    unsealed = SEAL.read(SEAL.write(content))

    assert unsealed is not None
    assert unsealed.is_ours
    assert unsealed.content == content


@given(json_objects(), st.data())
def test_what_was_changed_is_not_ours(content: JsonObject, data: st.DataObject) -> None:
    text = SEAL.write(content)
    place = data.draw(st.integers(0, len(text) - 1))
    changed = text[:place] + ("A" if text[place] != "A" else "B") + text[place + 1 :]

    unsealed = SEAL.read(changed)

    assert unsealed is None or not unsealed.is_ours


@given(st.text(st.characters(exclude_categories=())))
def test_any_text_can_be_looked_at(text: str) -> None:
    assert SEAL.read(text) is None
    assert provider_items(text, SEAL) == ()
    assert summary_messages(text, "cmp_1", SEAL) is None


@pytest.mark.parametrize("text", ["", ".", "W10.", "W10=.x", "bnVsbA==.x", "[" * 10_000])
def test_what_is_no_object_was_never_written(text: str) -> None:
    assert SEAL.read(text) is None


def test_a_key_of_another_time_can_read_and_does_not_vouch() -> None:
    unsealed = OTHER.read(SEAL.write({"a": 1}))

    assert unsealed is not None
    assert unsealed.content == {"a": 1}
    assert not unsealed.is_ours


def test_what_a_provider_wants_back_comes_back() -> None:
    """Invariant 35."""
    assert provider_items(sealed_provider_items(ITEMS, SEAL), SEAL) == ITEMS


def test_what_a_client_made_up_reaches_no_provider() -> None:
    assert provider_items(sealed_provider_items(ITEMS, OTHER), SEAL) == ()
    assert provider_items(SEAL.write({"provider_items": [{"format": 1}]}), SEAL) == ()
    assert provider_items(SEAL.write({"summary": "x"}), SEAL) == ()


@pytest.mark.parametrize(
    ("sealed", "is_open"),
    [
        (sealed_summary("They spoke of rain.", has_outside_content=False, seal=SEAL), False),
        (sealed_summary("They spoke of rain.", has_outside_content=True, seal=SEAL), True),
        (sealed_summary("They spoke of rain.", has_outside_content=False, seal=OTHER), True),
        (SEAL.write({"summary": "They spoke of rain."}), True),
    ],
)
def test_a_summary_that_nobody_vouches_for_counts_as_from_outside(sealed: str, *, is_open: bool) -> None:

    messages = summary_messages(sealed, "cmp_1", SEAL)

    assert messages is not None
    call, result = messages
    assert [called.id for called in call.tool_calls] == [result.call_id] == ["cmp_1"]
    assert "They spoke of rain." in result.content
    assert result.open_world is is_open
    assert summary_of(result) == "They spoke of rain."


def test_other_results_are_no_summaries() -> None:
    assert summary_of(ToolResult("c", "earlier_conversation", "Tuesday")) is None
    assert summary_of(ToolResult("c", "weather", "[What was said before, in few words:]\n")) is None


def test_phases() -> None:
    other = ProviderItem("openai_responses", {"block": {"item": {"type": "reasoning"}}, "text": 0, "calls": 0})
    message = AssistantMessage("Hm.", provider_items=(other, phase_item("commentary")))

    assert phase_of(message) == "commentary"
    assert phase_of(AssistantMessage("Hm.", provider_items=(other,))) is None
