"""Encrypted content that a client keeps for us comes back as it was, and nothing else counts as ours."""

import pytest
from hypothesis import given, strategies as st

from custom_components.chatterbox.agent.messages import JsonObject, ProviderItem
from custom_components.chatterbox.responses.protocol.items.encrypted_content import (
    ContentCodec,
    decode_provider_items,
    decode_summary,
    encode_provider_items,
    encode_summary,
)
from tests.agent.json_values import json_objects

CODEC, OTHER = ContentCodec(b"a key"), ContentCodec(b"another key")
ITEMS = (
    ProviderItem("anthropic", {"thinking": "hm", "signature": "🔒"}),
    ProviderItem("x", {}),
)


@given(json_objects())
def test_content_comes_back(content: JsonObject) -> None:
    decoded = CODEC.decode(CODEC.encode(content))

    assert decoded == (content, True)


@given(json_objects(), st.data())
def test_what_was_changed_is_not_ours(content: JsonObject, data: st.DataObject) -> None:
    text = CODEC.encode(content)
    place = data.draw(st.integers(0, len(text) - 1))
    changed = text[:place] + ("A" if text[place] != "A" else "B") + text[place + 1 :]

    decoded = CODEC.decode(changed)

    assert decoded is None or not decoded[1]


@given(st.text(st.characters(exclude_categories=())))
def test_any_text_can_be_looked_at(text: str) -> None:
    assert CODEC.decode(text) is None
    assert decode_provider_items(text, CODEC) == ()
    assert decode_summary(text, "cmp_1", CODEC) is None


@pytest.mark.parametrize(
    "text", ["", ".", "W10.", "W10=.x", "bnVsbA==.x", "[" * 10_000]
)
def test_what_is_no_object_was_never_written(text: str) -> None:
    assert CODEC.decode(text) is None


def test_a_key_of_another_time_can_read_and_does_not_vouch() -> None:
    decoded = OTHER.decode(CODEC.encode({"a": 1}))

    assert decoded == ({"a": 1}, False)


def test_what_a_provider_wants_back_comes_back() -> None:
    """Invariant 35."""
    assert decode_provider_items(encode_provider_items(ITEMS, CODEC), CODEC) == ITEMS


def test_what_a_client_made_up_reaches_no_provider() -> None:
    assert decode_provider_items(encode_provider_items(ITEMS, OTHER), CODEC) == ()
    assert (
        decode_provider_items(CODEC.encode({"provider_items": [{"format": 1}]}), CODEC)
        == ()
    )
    assert decode_provider_items(CODEC.encode({"summary": "x"}), CODEC) == ()


@pytest.mark.parametrize(
    ("encrypted", "is_open"),
    [
        (
            encode_summary(
                "They spoke of rain.", has_outside_content=False, codec=CODEC
            ),
            False,
        ),
        (
            encode_summary(
                "They spoke of rain.", has_outside_content=True, codec=CODEC
            ),
            True,
        ),
        (
            encode_summary(
                "They spoke of rain.", has_outside_content=False, codec=OTHER
            ),
            True,
        ),
        (CODEC.encode({"summary": "They spoke of rain."}), True),
    ],
)
def test_a_summary_that_nobody_vouches_for_counts_as_from_outside(
    encrypted: str, *, is_open: bool
) -> None:
    messages = decode_summary(encrypted, "cmp_1", CODEC)

    assert messages is not None
    call, result = messages
    assert [called.id for called in call.tool_calls] == [result.call_id] == ["cmp_1"]
    assert "They spoke of rain." in result.content
    assert result.open_world is is_open
