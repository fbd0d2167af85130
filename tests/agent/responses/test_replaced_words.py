"""Words that a hook has replaced are stored nowhere as they were."""

import pytest

from custom_components.chatterbox.agent.messages import AssistantMessage, JsonObject, JsonValue, UserMessage
from custom_components.chatterbox.agent.responses.replaced_words import in_other_words, sent_in_other_words


def message(role: str, *texts: str) -> JsonObject:
    """Return a complete message."""
    parts: list[JsonValue] = [{"type": "input_text", "text": text} for text in texts]
    return {"type": "message", "role": role, "content": parts}


RESULT: JsonObject = {"type": "function_call_output", "call_id": "c1", "output": "1234"}


@pytest.mark.parametrize(
    ("sent", "kept"),
    [
        ((message("user", "12", "34"),), (message("user", "****"),)),
        (
            (message("user", "before"), message("user", "1234"), message("developer", "after")),
            (message("user", "before"), message("user", "****"), message("developer", "after")),
        ),
        ((message("developer", "1234"),), (message("developer", "****"),)),
        ((RESULT,), (RESULT,)),
        ((), ()),
    ],
)
def test_the_words_that_begin_a_turn_are_replaced(sent: tuple[JsonObject, ...], kept: tuple[JsonObject, ...]) -> None:
    assert sent_in_other_words(sent, "****") == kept


def test_what_was_said_is_replaced_at_its_end() -> None:
    said = UserMessage("before"), AssistantMessage("yes"), UserMessage("1234", context="It is noon.")

    assert in_other_words(said, "****") == (*said[:2], UserMessage("****", context="It is noon."))
    assert in_other_words(said[:2], "****") == said[:2]
    assert in_other_words((), "****") == ()
