"""The profiles of servers are whole, consistent, and found by an address as people type it."""

import re

import pytest

from custom_components.chatterbox.agent.messages import IMAGE_TYPES, PDF
from custom_components.chatterbox.agent.protocols import ReasoningEffort
from custom_components.chatterbox.agent.providers.profiles import (
    LM_STUDIO,
    OLLAMA,
    OPENAI,
    OTHER,
    PROFILES,
    ServerProfile,
    nearest_effort,
    profile_at,
)
from custom_components.chatterbox.agent.providers.service_client import api_root
from custom_components.chatterbox.agent.wire.call_assembly import new_call_id

NONE, MINIMAL, LOW, MEDIUM, HIGH, XHIGH, MAX = ReasoningEffort


@pytest.fixture(params=PROFILES.values(), ids=lambda profile: profile.id)
def profile(request: pytest.FixtureRequest) -> ServerProfile:
    """Give one profile after the other."""
    chosen: ServerProfile = request.param
    return chosen


def test_every_profile_can_be_stored_and_found_again(profile: ServerProfile) -> None:
    assert re.fullmatch("[a-z0-9_]+", profile.id)
    assert PROFILES[profile.id] is profile
    assert profile.name


def test_every_profile_says_how_to_ask_for_each_effort(profile: ServerProfile) -> None:
    assert all(map(profile.effort_fields, ReasoningEffort))
    assert profile.effort_fields(NONE) != profile.effort_fields(HIGH)


def test_every_server_takes_the_ids_that_we_make_up(profile: ServerProfile) -> None:
    assert re.fullmatch(profile.chat.call_ids, new_call_id())


def test_every_usual_address_is_one_and_leads_back_to_its_profile(
    profile: ServerProfile,
) -> None:
    if profile is OTHER:
        assert not profile.base_url
        return
    assert api_root(profile.base_url)
    if profile.host or profile.port:
        assert profile_at(profile.base_url) is profile
    assert (
        profile.needs_key
        == profile.base_url.startswith("https://")
        == profile.key_page.startswith("https://")
    )


@pytest.mark.parametrize(
    ("typed", "found"),
    [
        ("https://api.openai.com/v1/chat/completions", OPENAI),
        (" https://API.OpenAI.com ", OPENAI),
        ("https://eu.api.openai.com/v1", OPENAI),
        ("https://openrouter.ai/api", PROFILES["openrouter"]),
        ("https://notopenrouter.ai/api", OTHER),
        ("https://openrouter.ai.example/api", OTHER),
        ("http://192.168.1.5:11434", OLLAMA),
        ("http://192.168.1.5:1234/v1", LM_STUDIO),
        ("http://192.168.1.5:8080", OTHER),
        ("http://192.168.1.5", OTHER),
        ("192.168.1.5:1234", OTHER),
        ("http://host:99999", OTHER),
        ("", OTHER),
        ("my server", OTHER),
    ],
)
def test_the_profile_of_an_address(typed: str, found: ServerProfile) -> None:
    assert profile_at(typed) is found


@pytest.mark.parametrize(
    ("wanted", "known", "requested"),
    [
        (LOW, (LOW, HIGH), LOW),
        (MEDIUM, (LOW, HIGH), LOW),
        (MAX, (NONE, LOW, HIGH), HIGH),
        (MINIMAL, (NONE, HIGH), HIGH),
        (NONE, (MINIMAL, LOW), MINIMAL),
        (NONE, (NONE, LOW), NONE),
    ],
)
def test_the_nearest_effort(
    wanted: ReasoningEffort,
    known: tuple[ReasoningEffort, ...],
    requested: ReasoningEffort,
) -> None:
    assert nearest_effort(wanted, known) is requested


def test_how_servers_are_asked_for_an_effort() -> None:
    assert OTHER.effort_fields(XHIGH) == {"reasoning_effort": "xhigh"}
    assert PROFILES["mistral"].effort_fields(LOW) == {"reasoning_effort": "high"}
    assert PROFILES["groq"].effort_fields(MAX) == {"reasoning_effort": "high"}
    assert PROFILES["openrouter"].effort_fields(MAX) == {
        "reasoning": {"effort": "xhigh"}
    }
    assert PROFILES["deepseek"].effort_fields(NONE) == {
        "thinking": {"type": "disabled"}
    }
    assert PROFILES["deepseek"].effort_fields(LOW) == {
        "thinking": {"type": "enabled"},
        "reasoning_effort": "low",
    }
    assert PROFILES["llama_cpp"].effort_fields(NONE) == {
        "reasoning_effort": "none",
        "chat_template_kwargs": {"enable_thinking": False, "thinking": False},
    }


def test_supported_attachments() -> None:
    assert OPENAI.attachments == IMAGE_TYPES | {PDF}
    assert PROFILES["gemini"].attachments == IMAGE_TYPES
    assert PROFILES["deepseek"].attachments == frozenset()
