"""Reasons of failures are told without the secrets that integrations quote."""

import pytest

from custom_components.chatterbox.effects.reported import shown_reason


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
    assert shown_reason("The password is wrong.\nCheck the token.") == "The password is wrong. Check the token."
