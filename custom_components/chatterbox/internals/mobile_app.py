"""The inside of `homeassistant.components.mobile_app`: how a phone is notified."""

from typing import Final

from homeassistant.core import HomeAssistant

from .reliance import Reliance

_UTIL: Final = Reliance(
    "phones", "homeassistant.components.mobile_app.util", ("get_notify_service",)
)


def notify_action(
    hass: HomeAssistant,
    webhook_id: str,
) -> str | None:
    """Return the notify action of a phone; None if it is not connected. Source: `util.get_notify_service`."""
    action: str | None = (
        found.get_notify_service(hass, webhook_id)
        if (found := _UTIL.find(hass))
        else None
    )
    return action
