"""Gets a notice to a `notify` entity: with buttons to a phone that has Home Assistant's app, else as plain words.

Knows notify entities, and what the apps for Android and iOS understand. Must not know what a notice is about. A phone
takes buttons only over the older action `notify.mobile_app_*`, which is found through its entity.

Source of the keys of a phone's `data`: https://companion.home-assistant.io/docs/notifications/notifications-basic and
https://companion.home-assistant.io/docs/notifications/actionable-notifications.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from homeassistant.components.notify import ATTR_DATA, ATTR_MESSAGE, ATTR_TITLE, DOMAIN as NOTIFY_DOMAIN
from homeassistant.components.notify.const import SERVICE_SEND_MESSAGE
from homeassistant.config_entries import ConfigEntryState
from homeassistant.const import ATTR_ENTITY_ID, ATTR_SUPPORTED_FEATURES, CONF_WEBHOOK_ID
from homeassistant.core import Context, HomeAssistant, callback
from homeassistant.helpers import entity_registry as er

from ..agent.messages import JsonValue
from ..const import DOMAIN, LOGGER

_SATELLITE_DOMAIN: Final = "assist_satellite"
_CAN_ANNOUNCE: Final = 1
"""Source: `AssistSatelliteEntityFeature.ANNOUNCE` (homeassistant.components.assist_satellite.const).

Importing it would load all that satellites need into homes that have none.
"""

_TIME_LIMIT: Final = 60.0
"""Seconds for the speech to be made and heard."""


async def async_announce(hass: HomeAssistant, satellite_id: str, words: str, context: Context) -> None:
    """Say words at a satellite. One that cannot is left alone, and a failure is told in the log."""
    state = hass.states.get(satellite_id)
    features = state.attributes.get(ATTR_SUPPORTED_FEATURES, 0) if state else 0
    if not features & _CAN_ANNOUNCE:
        return
    data = {ATTR_ENTITY_ID: satellite_id, "message": words}
    try:
        async with asyncio.timeout(_TIME_LIMIT):
            await hass.services.async_call(_SATELLITE_DOMAIN, "announce", data, blocking=True, context=context)
    except Exception as error:  # noqa: BLE001  # whatever a foreign integration does, the answer stands
        LOGGER.warning("%s could not say what came of a question: %s", satellite_id, str(error) or type(error).__name__)


EVENT_TAP: Final = "mobile_app_notification_action"
"""Fired by a phone when a button was tapped; `action` in its data is that of the button."""

_APP: Final = "mobile_app"
_NO_TAG: Final = "\N{SINGLE LEFT-POINTING ANGLE QUOTATION MARK}"
_NOTIFY_TARGETS_TIME_LIMIT: Final = 15.0
"""Seconds to get a notice on its way; Home Assistant itself gives the apps' push service 10."""


@dataclass(frozen=True, slots=True)
class Button:
    """A button of a notice."""

    action: str
    """What the phone sends when it is tapped. Whoever knows it could send it as well."""
    label: str
    needs_unlocked_phone: bool = False


@dataclass(frozen=True, slots=True)
class Notice:
    """What a phone shows. One with the same tag takes its place."""

    tag: str
    title: str
    message: str
    channel: str
    """What the owner of an Android phone finds in its settings, to choose sounds and such for notices of this kind."""
    buttons: Sequence[Button] = ()
    seconds: float | None = None
    """It is urgent, and worth nothing after so long."""


@dataclass(frozen=True, slots=True)
class Phone:
    """A phone that has Home Assistant's app."""

    action: str
    """Service of the domain `notify`."""
    user_id: str
    """Of the user of Home Assistant whose phone it is."""


@callback
def is_phone(hass: HomeAssistant, entity_id: str) -> bool:
    """Tell whether a notify entity is that of a phone with Home Assistant's app, whether or not it is there now."""
    entity = er.async_get(hass).async_get(entity_id)
    return entity is not None and entity.platform == _APP


@callback
def phone_of(hass: HomeAssistant, entity_id: str) -> Phone | None:
    """Return the phone of a notify entity; None when it is no phone, or one that is not there."""
    entity = er.async_get(hass).async_get(entity_id)
    if entity is None or entity.platform != _APP or entity.config_entry_id is None:
        return None
    entry = hass.config_entries.async_get_entry(entity.config_entry_id)
    if entry is None or entry.state is not ConfigEntryState.LOADED:
        return None
    from homeassistant.components.mobile_app.const import CONF_USER_ID  # noqa: PLC0415  # needs what only phones need
    from homeassistant.components.mobile_app.util import get_notify_service  # noqa: PLC0415  # the same

    action = get_notify_service(hass, entry.data[CONF_WEBHOOK_ID])
    return Phone(action, entry.data[CONF_USER_ID]) if action else None


async def async_send(hass: HomeAssistant, entity_id: str, notice: Notice, context: Context) -> None:
    """Show a notice. Who is no phone gets its words; who cannot be reached is named in the log, and that is all."""
    words = {ATTR_TITLE: notice.title, ATTR_MESSAGE: notice.message}
    if is_phone(hass, entity_id):
        # Android reads words as HTML, by which a name could hide what is asked.
        shown = {key: text.replace("<", _NO_TAG) for key, text in words.items()}
        await _async_send_to_phone(hass, entity_id, {**shown, ATTR_DATA: _data(notice)}, context)
    else:
        await _async_call(hass, entity_id, SERVICE_SEND_MESSAGE, {ATTR_ENTITY_ID: entity_id, **words}, context)


async def async_clear(hass: HomeAssistant, entity_id: str, tag: str, context: Context) -> None:
    """Take a notice away from a phone."""
    command = {ATTR_MESSAGE: "clear_notification", ATTR_DATA: {"tag": tag}}
    await _async_send_to_phone(hass, entity_id, command, context)


async def _async_send_to_phone(
    hass: HomeAssistant, entity_id: str, message: Mapping[str, object], context: Context
) -> None:
    if phone := phone_of(hass, entity_id):
        await _async_call(hass, entity_id, phone.action, message, context)
    else:
        LOGGER.warning("%s cannot be told of a question: the phone is not connected to Home Assistant", entity_id)


def _data(notice: Notice) -> dict[str, JsonValue]:
    data: dict[str, JsonValue] = {
        "tag": notice.tag,
        "group": DOMAIN,
        # Android
        "channel": notice.channel,
        "importance": "high",
        "priority": "high",
    }
    if notice.seconds is None:
        return data | {"alert_once": True, "push": {"interruption-level": "passive", "sound": "none"}}
    actions: list[JsonValue] = [
        {"action": button.action, "title": button.label, "authenticationRequired": button.needs_unlocked_phone}
        for button in notice.buttons
    ]
    urgent: dict[str, JsonValue] = {
        "actions": actions,
        # Android: now or never, and gone by itself when nobody can answer any more
        "ttl": 0,
        "timeout": max(round(notice.seconds), 1),
        # iOS
        "push": {"interruption-level": "time-sensitive"},
    }
    return data | urgent


async def _async_call(
    hass: HomeAssistant, entity_id: str, service: str, data: Mapping[str, object], context: Context
) -> None:
    try:
        async with asyncio.timeout(_NOTIFY_TARGETS_TIME_LIMIT):
            await hass.services.async_call(NOTIFY_DOMAIN, service, dict(data), blocking=True, context=context)
    except Exception as error:  # noqa: BLE001  # whatever a foreign integration does, nothing waits for it
        LOGGER.warning("%s could not be told of a question: %s", entity_id, str(error) or type(error).__name__)
