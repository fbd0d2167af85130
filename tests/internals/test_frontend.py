"""The language of a profile is unknown without the inside of the frontend."""

import pytest
from homeassistant.components.frontend.storage import async_user_store
from homeassistant.core import HomeAssistant

from custom_components.chatterbox.internals.frontend import async_profile_language
from tests.support.moved_names import take_away


async def test_the_language_of_a_profile_becomes_unknown(
    hass: HomeAssistant, monkeypatch: pytest.MonkeyPatch
) -> None:
    await (await async_user_store(hass, "ann")).async_set_item(
        "language", {"language": "de"}
    )
    assert await async_profile_language(hass, "ann") == "de"
    assert await async_profile_language(hass, "ben") is None
    take_away(monkeypatch, hass, "profile_language")

    assert await async_profile_language(hass, "ann") is None
