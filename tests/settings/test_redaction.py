"""Secrets are taken out of what is shown, wherever they stand."""

import json
from pathlib import Path
from time import thread_time

import pytest
from hypothesis import given, strategies as st

from custom_components.chatterbox.settings.redaction import secrets_in, without_secrets
from tests.agent.json_values import json_objects
from tests.support.yardstick import json_pass

KEY = "sk-proj-abcdef"


def test_private_fields_are_not_shown_at_any_depth() -> None:
    data = {
        "a": [
            {
                "api_key": KEY,
                "prompt": "My code",
                "extra_parameters": {"user": "me"},
                "pin": None,
            }
        ]
    }

    assert without_secrets(data, ()) == {
        "a": [
            {
                "api_key": "**REDACTED**",
                "prompt": "**REDACTED**",
                "extra_parameters": "**REDACTED**",
                "pin": None,
            }
        ]
    }


@pytest.mark.parametrize(
    ("address", "redacted"),
    [
        ("http://example.net:8080/v1", "http://example.net:8080/v1"),
        ("https://me:hunter22@example.net/v1", "https://**REDACTED**@example.net/v1"),
        ("https://example.net/v1?key=abc#here", "https://example.net/v1?**REDACTED**"),
        (
            "postgresql+psycopg://ha:p%40ss@db/talk",
            "postgresql+psycopg://**REDACTED**@db/talk",
        ),
        (
            "mysql://ha:p@ss/wo?rd@db/talk?ssl=1",
            "mysql://**REDACTED**@db/talk?**REDACTED**",
        ),
        ("sqlite:////config/talk.db", "sqlite:////config/talk.db"),
        (
            "Look at http://me:pw@example.net, please.",
            "Look at http://**REDACTED**@example.net, please.",
        ),
    ],
)
def test_addresses_are_shown_without_who_may_use_them(
    address: str, redacted: str
) -> None:
    assert without_secrets(address, ()) == redacted


def test_a_long_text_without_addresses_is_read_once() -> None:
    """Texts of devices and of tools are read on the event loop."""
    unit = json_pass()

    began = thread_time()
    without_secrets("a" * 1_000_000, ())

    assert thread_time() - began < 10 * unit


def test_what_is_secret_is_found_by_field_and_in_addresses() -> None:
    fields = {
        "api_key": KEY,
        "extra_parameters": {"headers": ["Bearer abcdef"], "effort": "low", "seed": 7},
        "pin": {"digest": "d1d2d3d4", "salt": "s1s2s3s4", "memory": 8},
        "history_address": "postgresql://ha:hunter%4022@db/talk?sslpassword=tls-secret",
        "base_url": "https://me:pass wo/rd@example.net/v1",
        "model": "small-model",
    }

    assert secrets_in(fields) == {
        KEY,
        "Bearer abcdef",
        "d1d2d3d4",
        "s1s2s3s4",
        "hunter@22",
        "hunter%4022",
        "pass wo/rd",
        "tls-secret",
    }


def test_an_address_that_is_none_has_no_secrets() -> None:
    assert secrets_in({"base_url": "http://[half"}) == frozenset()


@given(json_objects(), st.sampled_from([KEY, "a.b*c(d", "ab{6}cd"]), st.text())
def test_a_known_secret_stands_nowhere(
    data: dict[str, object], secret: str, around: str
) -> None:
    planted = {
        **data,
        f"{around}{secret}": [secret, {"x": (f"{around}{secret}{around}", secret)}],
        "n": 1.5,
    }

    assert secret not in json.dumps(
        without_secrets(planted, {secret}), ensure_ascii=False
    )


@given(json_objects())
def test_what_holds_no_secret_is_shown_as_it_is(data: dict[str, object]) -> None:
    text = json.dumps(data)
    if "://" not in text and not any(
        name in text for name in ("api_key", "prompt", "extra_parameters", "pin")
    ):
        assert without_secrets(data, {KEY}) == data


def test_a_secret_that_holds_another_one_goes_as_a_whole() -> None:
    assert (
        without_secrets("Bearer abcdef", {"abcdef", "Bearer abcdef"}) == "**REDACTED**"
    )
    assert without_secrets({"other": {1, 2}, "state": None}, ()) == {
        "other": [1, 2],
        "state": None,
    }


def test_what_is_no_json_is_shown_as_a_text_without_secrets() -> None:
    assert without_secrets(Path("/keys/abcdef"), {"abcdef"}) == "/keys/**REDACTED**"
