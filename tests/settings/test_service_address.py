"""Addresses of servers, as people enter them."""

import pytest

from custom_components.chatterbox.settings.service_address import (
    InvalidAddress,
    parse_address,
)


@pytest.mark.parametrize(
    ("typed", "address"),
    [
        ("192.168.1.10:11434", "http://192.168.1.10:11434"),
        (" shelf:8080/v1/ ", "http://shelf:8080/v1"),
        ("[fd00::1]:8080", "http://[fd00::1]:8080"),
        ("models.example:443", "https://models.example"),
        ("models.example:443/v1", "https://models.example/v1"),
        ("https://models.example", "https://models.example"),
    ],
)
def test_host_and_port_are_completed(typed: str, address: str) -> None:
    assert parse_address(typed) == address


@pytest.mark.parametrize(
    ("typed", "problem"),
    [
        ("https:/models.example/v1", "invalid_url"),
        ("unix:/run/model.sock", "invalid_url"),
        ("https://{{ host }}/v1", "invalid_url"),
        ("user:pw@models.example/v1", "url_with_secrets"),
        ("https://models.example/v1?access-token=abc", "url_with_secrets"),
        ("https://models.example/v1?code=abc", "url_with_secrets"),
        ("https://models.example/v1?pass=abc", "url_with_secrets"),
        ("https://models.example/v1?sk=abc", "url_with_secrets"),
        ("https://models.example/v1?jwt=abc", "url_with_secrets"),
        ("https://models.example/v1/sk-abc123def/chat", "url_with_secrets"),
        ("models.example/gsk_0123456789abcdef/v1", "url_with_secrets"),
        ("https://models.example/v1/AIzaSyA0123456789", "url_with_secrets"),
        ("https://models.example/%73k-abc123def/v1", "url_with_secrets"),
        ("https://models.example/api_key=abc/v1", "url_with_secrets"),
    ],
)
def test_no_other_host_is_made_of_an_address_and_none_holds_a_secret(
    typed: str, problem: str
) -> None:
    with pytest.raises(InvalidAddress, match=problem):
        parse_address(typed)


@pytest.mark.parametrize(
    "path",
    [
        "/sk-SK/v1",
        "/v1/8a4f6b2c9d1e4f60a7b8c9d0e1f2a3b4/gateway/openai",
        "/keys/token-limits/v1",
        "/hf_space/v1",
    ],
)
def test_a_path_without_secrets_is_kept(path: str) -> None:
    assert (
        parse_address(f"https://models.example{path}")
        == f"https://models.example{path}"
    )


def test_a_query_without_secrets_is_kept() -> None:
    assert (
        parse_address("https://models.example/v1?api-version=2")
        == "https://models.example/v1?api-version=2"
    )
