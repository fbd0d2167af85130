"""The inside of `homeassistant.components.frontend`: the profiles of users."""

from typing import Final

from homeassistant.core import HomeAssistant

from .reliance import Reliance

_STORAGE: Final = Reliance(
    "profile_language",
    "homeassistant.components.frontend.storage",
    ("async_user_store",),
)


async def async_profile_language(
    hass: HomeAssistant,
    user_id: str,
) -> str | None:
    """Return the language in the profile of a user, if one was chosen. Source: `storage.async_user_store`."""
    found = _STORAGE.find(hass)
    if found is None:
        return None
    chosen = (await found.async_user_store(hass, user_id)).data.get("language")
    language: str | None = (chosen or {}).get("language")
    return language
