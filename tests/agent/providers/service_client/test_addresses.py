"""Addresses are understood as people type them."""

from collections.abc import Callable

import pytest
from yarl import URL

from custom_components.chatterbox.agent.errors import ProviderUnreachable
from custom_components.chatterbox.agent.providers.service_client import (
    address_without_version,
    api_root,
    ollama_root,
    server_root,
)


@pytest.mark.parametrize(
    ("typed", "root"),
    [
        ("http://192.168.1.5:8080", "http://192.168.1.5:8080/v1"),
        ("http://192.168.1.5:8080/", "http://192.168.1.5:8080/v1"),
        (" http://host/v1 ", "http://host/v1"),
        ("http://host/v1/", "http://host/v1"),
        ("http://host/v1/chat/completions", "http://host/v1"),
        ("http://host/v1/chat/completions/", "http://host/v1"),
        ("http://host/v1/completions", "http://host/v1"),
        ("http://host/v1/models", "http://host/v1"),
        ("http://host/v1/responses", "http://host/v1"),
        ("https://host/v1/messages", "https://host/v1"),
        ("https://openrouter.ai/api", "https://openrouter.ai/api/v1"),
        ("https://api.groq.com/openai", "https://api.groq.com/openai/v1"),
        ("https://host/v1beta/openai/", "https://host/v1beta/openai"),
        ("https://host/api/paas/v4", "https://host/api/paas/v4"),
        ("https://host/chat/completions", "https://host"),
        (
            "https://host/openai/x/chat/completions?api-version=1",
            "https://host/openai/x?api-version=1",
        ),
        ("http://[::1]:8080", "http://[::1]:8080/v1"),
        ("http://home/vault", "http://home/vault/v1"),
    ],
)
def test_addresses(typed: str, root: str) -> None:
    assert str(api_root(typed)) == root


@pytest.mark.parametrize(
    ("typed", "root"),
    [
        ("https://models.github.ai/inference/", "https://models.github.ai/inference"),
        (
            "https://host/openai/deployments/x?api-version=1",
            "https://host/openai/deployments/x?api-version=1",
        ),
        ("https://host", "https://host"),
        ("https://host/api/v4", "https://host/api/v4"),
        ("https://host/chat/completions", "https://host"),
    ],
)
def test_addresses_without_a_version(typed: str, root: str) -> None:
    assert str(api_root(address_without_version(typed))).removesuffix("/") == root


@pytest.mark.parametrize(
    ("typed", "root"),
    [
        ("http://192.168.1.5:11434", "http://192.168.1.5:11434"),
        (" http://192.168.1.5:11434/ ", "http://192.168.1.5:11434"),
        ("http://host:11434/api", "http://host:11434"),
        ("http://host:11434/api/chat", "http://host:11434"),
        ("http://host:11434/api/tags/", "http://host:11434"),
        ("http://host:11434/v1", "http://host:11434"),
        ("http://host:11434/v1/chat/completions", "http://host:11434"),
        ("https://home/ollama", "https://home/ollama"),
        ("https://home/ollama/api?user=me", "https://home/ollama?user=me"),
        ("https://home/api/ollama", "https://home/api/ollama"),
        ("http://[::1]:11434", "http://[::1]:11434"),
    ],
)
def test_addresses_of_ollama(typed: str, root: str) -> None:
    assert str(ollama_root(typed)) == root


@pytest.mark.parametrize(
    ("typed", "root"),
    [
        ("http://host:8080", "http://host:8080"),
        ("http://host:8080/v1/chat/completions", "http://host:8080"),
        ("https://home/llama/v1?user=me", "https://home/llama?user=me"),
        ("https://host/v1beta/openai", "https://host/v1beta/openai"),
    ],
)
def test_addresses_of_servers(typed: str, root: str) -> None:
    assert str(server_root(typed)) == root


@pytest.mark.parametrize("root_of", [api_root, ollama_root, server_root])
@pytest.mark.parametrize(
    "typed",
    ["", "host:8080", "ftp://host", "http://", "http://host:99999", "my server"],
)
def test_an_invalid_address_is_refused(
    typed: str, root_of: Callable[[str], URL]
) -> None:
    with pytest.raises(ProviderUnreachable, match="not a valid http"):
        root_of(typed)
