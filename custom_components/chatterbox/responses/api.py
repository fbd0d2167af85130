"""Serves programs: the addresses are there from the beginning, and what answers at them once an owner lets programs in.

Knows what has to be joined. Must not know HTTP, requests or agents. Most homes never need what answers, so it is
imported then, in a thread.
"""

from dataclasses import dataclass
from functools import partial
from typing import Final

from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers.importlib import async_import_module

from ..agent.responses.endpoint import ResponsesEndpoint
from ..agent.responses.errors import ApiError, ErrorType
from ..const import INTEGRATION
from ..data import singleton
from .views import async_register_responses_api

_MODULES: Final = tuple(f"{INTEGRATION}.{name}" for name in ("agent.responses.service", "responses.backend"))


@dataclass(slots=True)
class _Served:
    endpoint: ResponsesEndpoint | None = None
    """None until an owner lets programs in."""


@singleton
def _served(_hass: HomeAssistant) -> _Served:
    """Return what answers programs."""
    return _Served()


@callback
def async_serve_programs(hass: HomeAssistant) -> None:
    """Begin, once for the whole house. Services that do not let programs in are not there for them."""
    async_register_responses_api(hass, partial(_endpoint, hass))


@callback
def _endpoint(hass: HomeAssistant) -> ResponsesEndpoint:
    if (endpoint := _served(hass).endpoint) is None:  # the service is about to be loaded anew
        raise ApiError("Programs are let in at this moment. Try again.", status=503, kind=ErrorType.SERVER)
    return endpoint


async def async_let_programs_in(hass: HomeAssistant) -> None:
    """Get ready to answer."""
    if _served(hass).endpoint is not None:
        return
    for module in _MODULES:
        await async_import_module(hass, module)
    from ..agent.responses.service import ResponsesService  # noqa: PLC0415  # imported in a thread, right above
    from .backend import ResponsesBackend  # noqa: PLC0415  # imported in a thread, right above

    served = _served(hass)
    if served.endpoint is None:  # else another entry was faster
        served.endpoint = ResponsesService(ResponsesBackend(hass))
