"""Who may ask Home Assistant's LLM APIs in a house: nobody in particular, and one of each kind there is.

Knows users, devices and rooms. Must not know an API, or what becomes of its answers. A kind is what an answer may
differ by: whether a device has a room, a floor or timers, and whether a person is known or speaks another language.
"""

from dataclasses import replace
from typing import Final, NamedTuple

from homeassistant.components.intent import async_device_supports_timers
from homeassistant.core import Context, HomeAssistant, callback
from homeassistant.helpers import area_registry as ar, device_registry as dr, llm

_LANGUAGES: Final = ("en", "de")
"""Two, so that one of them is not that of the house."""


class _DeviceKind(NamedTuple):
    """What Home Assistant makes a difference between devices by."""

    has_area: bool
    has_floor: bool
    has_timers: bool


class _PersonKind(NamedTuple):
    """What is known to differ from nobody in particular in a person who speaks."""

    other_than: str | None
    """The language that they do not speak."""
    is_owner: bool
    """Whether they are a person that Home Assistant knows."""


type AskerKind = _DeviceKind | _PersonKind


@callback
def nobody_in_particular(hass: HomeAssistant, platform: str, assistant: str) -> llm.LLMContext:
    """Return the context of a request by no device and no person, in the language of the house."""
    return llm.LLMContext(platform, Context(), hass.config.language, assistant, None)


@callback
def is_nobody(hass: HomeAssistant, llm_context: llm.LLMContext) -> bool:
    """Tell whether it is nobody in particular who asks, in the language of the house."""
    user_id = llm_context.context.user_id if llm_context.context else None
    return (llm_context.device_id, user_id, llm_context.language) == (None, None, hass.config.language)


async def async_askers(hass: HomeAssistant, nobody: llm.LLMContext) -> dict[AskerKind, llm.LLMContext]:
    """Return a speaker of each kind in the house: from a device of each kind, and one with another language."""
    owner = await hass.auth.async_get_owner()
    context = Context(user_id=owner.id) if owner else nobody.context
    language = next(language for language in _LANGUAGES if language != nobody.language)
    person = replace(nobody, context=context, language=language)
    return {
        _PersonKind(nobody.language, owner is not None): person,
        **{kind: replace(nobody, device_id=device_id) for kind, device_id in _device_kinds(hass).items()},
    }


@callback
def _device_kinds(hass: HomeAssistant) -> dict[_DeviceKind, str]:
    """Return a device of each kind in the house, but for the kind that has nothing to tell it by."""
    areas = ar.async_get(hass)
    kinds: dict[_DeviceKind, str] = {}
    for device in dr.async_get(hass).devices:
        area_id = dr.async_get_effective_area_id(hass, device)
        area = areas.async_get_area(area_id) if area_id else None
        has_floor = area is not None and area.floor_id is not None
        kind = _DeviceKind(area is not None, has_floor, async_device_supports_timers(hass, device.id))
        if any(kind):
            kinds.setdefault(kind, device.id)
    return kinds
