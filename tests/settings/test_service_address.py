"""Addresses of servers, as people enter them."""

import pytest

from custom_components.chatterbox.settings.service_address import parse_address


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
