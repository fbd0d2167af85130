"""Lets addresses be added while Home Assistant's web server runs, as the real server does."""

from homeassistant.core import HomeAssistant


def open_addresses(hass: HomeAssistant) -> None:
    """Do what `HomeAssistantHTTP.start` does, which the server of tests never calls."""
    hass.http.app._router.freeze = lambda: None  # type: ignore[method-assign]  # noqa: SLF001  # as it is done there
