"""Reasons of failures are told without the secrets that integrations quote, each to the request that has failed."""

import logging

import pytest
from homeassistant.helpers import intent

from custom_components.chatterbox.effects.reported import intent_failures, shown_reason


@pytest.mark.parametrize(
    "text",
    [
        "HTTP 401: access_token=hunter22&x=1",
        "{'Authorization': 'Bearer hunter22'}",
        "password: hunter22",
        'api_key="hunter22"',
        "Bearer hunter22 is not valid",
        "https://me:hunter22@example.net/",
    ],
)
def test_a_secret_is_not_told(text: str) -> None:
    assert "hunter22" not in shown_reason(text)
    assert "**REDACTED**" in shown_reason(text)


def test_plain_words_are_told() -> None:
    assert (
        shown_reason("The password is wrong.\nCheck the token.")
        == "The password is wrong. Check the token."
    )


def test_failures_are_those_of_the_innermost_request_while_it_runs() -> None:
    logger, listening = (
        logging.getLogger(intent.__name__),
        [*logging.getLogger(intent.__name__).handlers],
    )
    first, second, third = (ValueError(name) for name in ("first", "second", "third"))

    with intent_failures() as outer:
        with intent_failures() as inner:
            logger.error("Failed: %s", "light.a", exc_info=first)
        logger.error("Failed: %s", "light.b", exc_info=second)
    logger.error("Failed: %s", "light.c", exc_info=third)

    assert (inner, outer) == ({"light.a": first}, {"light.b": second})
    assert logger.handlers == listening
