"""A second view of the running home, in which no action runs: for what is only tried.

All else is shared: states, registries, and what is stored. The answers of Home
Assistant are those of the real home.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple, override

from homeassistant.components.intent import async_device_supports_timers
from homeassistant.components.weather import DOMAIN as WEATHER, SERVICE_GET_FORECASTS
from homeassistant.core import HomeAssistant, ServiceRegistry, ServiceResponse
from homeassistant.helpers import intent

from ..internals.homeassistant import view_of
from ..internals.intent import handler_path
from .actions import controlled_by
from .device_intents import entity_target
from .intents import acts_by_services, intent_effects, is_question_intent

_READING: Final = frozenset({(WEATHER, SERVICE_GET_FORECASTS)})
_TIMERS: Final = "intent.timers."
"""Begins the paths of handlers that need a device with timers."""


class SilentCall(NamedTuple):
    """An action that did not run."""

    action: str
    data: Mapping[str, Any]


class _SilentServices(ServiceRegistry):
    """The actions of a home, none of which runs."""

    def __init__(self, hass: HomeAssistant) -> None:
        super().__init__(hass)
        outer = hass.services
        self._services = outer.async_services()
        self.calls: list[SilentCall] = (
            outer.calls if isinstance(outer, _SilentServices) else []
        )
        """Those that did nothing, in order."""

    @override
    async def async_call(
        self, domain: str, service: str, *data: Any, **options: Any
    ) -> ServiceResponse:
        """Do nothing, unless the action only reads."""
        if (domain, service) in _READING:
            return await super().async_call(
                domain,
                service,
                *data,
                **options,
            )
        if data:
            given = data[0]
        else:
            given = options.get("service_data")
        target = options.get("target") or {}
        self.calls.append(
            SilentCall(
                f"{domain}.{service}",
                {
                    **(given or {}),
                    **target,
                },
            )
        )
        return None


class _SilentHandler(intent.IntentHandler):
    """Says what an intent would have done that acts otherwise than by actions."""

    def __init__(
        self,
        hass: HomeAssistant,
        handler: intent.IntentHandler,
    ) -> None:
        self._hass = hass
        self._handler = handler
        self.intent_type = handler.intent_type

    @property
    @override
    def slot_schema(self) -> dict[Any, Any] | None:
        return self._handler.slot_schema

    @override
    async def async_handle(self, intent_obj: intent.Intent) -> intent.IntentResponse:
        device_id = intent_obj.device_id
        path = handler_path(self._handler)
        if path.startswith(_TIMERS) and not (
            device_id and async_device_supports_timers(self._hass, device_id)
        ):
            raise intent.IntentHandleError("no timers", "no_timer_support")
        slots = {name: slot["value"] for name, slot in intent_obj.slots.items()}
        effects = intent_effects(
            self._hass, self.intent_type, slots, intent_obj.assistant or ""
        )
        response = intent_obj.create_response()
        states = map(
            self._hass.states.get,
            sorted(controlled_by(effects)),
        )
        response.async_set_results([entity_target(state) for state in states if state])
        return response


def silent_home(hass: HomeAssistant) -> HomeAssistant:
    """Return a view of a home in which no action runs. Intents have to be handled in its `handling_home`."""
    return view_of(hass, _SilentServices(hass))


def silent_calls(hass: HomeAssistant) -> Sequence[SilentCall]:
    """Return the actions that were called in a silent home, in order."""
    services = hass.services
    if isinstance(services, _SilentServices):
        return services.calls
    return ()


def is_silent(hass: HomeAssistant) -> bool:
    """Return whether no action runs in a home."""
    return isinstance(hass.services, _SilentServices)


def handling_home(hass: HomeAssistant) -> HomeAssistant:
    """Return the home in which intents are handled: itself, unless it is silent."""
    if not is_silent(hass):
        return hass
    home = silent_home(hass)
    handlers: dict[str, intent.IntentHandler] = {}
    for one in intent.async_get(hass):
        is_silent_now = acts_by_services(one) or is_question_intent(
            hass, one.intent_type
        )
        handlers[one.intent_type] = one if is_silent_now else _SilentHandler(hass, one)
    home.data[intent.DATA_KEY] = handlers
    return home
