"""The drawn tree of errors is the real one."""

import inspect
import re
from typing import Final

import pytest

from custom_components.chatterbox.agent import errors

_WORDS: Final = "my " + "secret"


def test_the_tree_in_the_text_names_every_class_under_its_parent() -> None:
    drawn: dict[str, str] = {}
    path: list[tuple[int, str]] = []
    for line in (errors.__doc__ or "").splitlines():
        if match := re.match(r"[ │├└─]*(?=[A-Z]\w+(\s{2,}|$))", line):
            depth, name = match.end(), line[match.end() :].split()[0]
            path = [entry for entry in path if entry[0] < depth]
            drawn[name] = path[-1][1] if path else "Exception"
            path.append((depth, name))
    real = {
        name: cls.__bases__[0].__name__
        for name, cls in inspect.getmembers(errors, inspect.isclass)
        if cls.__module__ == errors.__name__
    }
    assert drawn == real


def test_a_busy_service_may_say_when_to_come_back() -> None:
    assert errors.ProviderBusy("busy", 2.5).retry_after == 2.5
    assert errors.ProviderBusy("busy").retry_after is None
    assert issubclass(errors.MaxIterationsExceeded, RuntimeError)


def test_a_prompt_that_does_not_fit_may_come_with_both_numbers() -> None:
    error = errors.PromptTooLong("too long", 9000, 4096)
    assert (error.prompt_tokens, error.window_tokens) == (9000, 4096)
    error = errors.PromptTooLong("too long")
    assert (error.prompt_tokens, error.window_tokens) == (None, None)


def test_only_what_may_pass_by_itself_is_worth_a_second_try() -> None:
    kinds = (
        kind
        for _, kind in inspect.getmembers(errors, inspect.isclass)
        if issubclass(kind, errors.ProviderError)
    )
    assert {kind for kind in kinds if kind.retryable} == {
        errors.ProviderUnreachable,
        errors.ProviderFailed,
        errors.ProviderBusy,
        errors.ModelLoading,
        errors.ProviderReplyInvalid,
    }


def _break(values: dict[str, str]) -> None:
    try:
        del values[_WORDS]
    except KeyError as error:
        raise RuntimeError(f"could not use {_WORDS}") from error


def test_a_bug_is_told_with_its_cause_and_without_words() -> None:
    with pytest.raises(RuntimeError, match="my secret") as raised:
        _break({})

    reported = errors.traceback_without_words(raised.value)
    assert reported.index("RuntimeError") < reported.index("KeyError")
    assert "_break" in reported
    assert "my secret" not in reported


def test_a_bug_that_caused_itself_is_told_once() -> None:
    error = ValueError("one")
    error.__cause__ = error

    assert errors.traceback_without_words(error) == "ValueError\n"
