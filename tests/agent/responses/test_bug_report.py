"""A bug is logged with all that led to it, and without what anybody has said."""

import pytest

from custom_components.chatterbox.agent.messages import JsonObject
from custom_components.chatterbox.agent.responses.bug_report import traceback_without_words

WORDS = "my " + "secret"


def _break(values: JsonObject) -> None:
    try:
        del values[WORDS]
    except KeyError as error:
        raise RuntimeError(f"could not use {WORDS}") from error


def test_a_bug_is_told_with_its_cause_and_without_words() -> None:
    with pytest.raises(RuntimeError, match="my secret") as raised:
        _break({})

    told = traceback_without_words(raised.value)
    assert told.index("RuntimeError") < told.index("KeyError")
    assert "_break" in told
    assert "my secret" not in told


def test_a_bug_that_caused_itself_is_told_once() -> None:
    error = ValueError("one")
    error.__cause__ = error

    assert traceback_without_words(error) == "ValueError\n"
