"""The WebSocket commands of the page "Try a model". Only administrators may send them."""

from collections.abc import Mapping
from typing import Any, Final

import voluptuous as vol
from homeassistant.components import websocket_api
from homeassistant.components.websocket_api import ActiveConnection
from homeassistant.core import HomeAssistant, callback
from homeassistant.exceptions import HomeAssistantError
from homeassistant.helpers import config_validation as cv, entity_registry as er
from homeassistant.helpers.typing import VolDictType

from ..agent.messages import JsonObject
from ..const import CONF_BASE_URL, DOMAIN
from ..home.entity_matches import entity_name
from ..runtime.agents import async_agent_entries
from ..settings.service_address import is_local_address
from .requests import async_make_requests
from .trials import TrialOrder, async_get_trials, expected_cost

MOST_REQUESTS: Final = 100
DEFAULT_REQUESTS: Final = 40
DEFAULT_PRICE: Final = 0.5
"""US dollars."""
MOST_PRICE: Final = 100.0
_MOST_AGENTS: Final = 10

ORDER_FIELDS: Final[VolDictType] = {
    vol.Optional("agent_id"): vol.All(cv.entity_ids, vol.Length(min=1, max=_MOST_AGENTS)),
    vol.Optional("requests", default=DEFAULT_REQUESTS): vol.All(vol.Coerce(int), vol.Range(1, MOST_REQUESTS)),
    vol.Optional("language"): cv.string,
    vol.Optional("max_price", default=DEFAULT_PRICE): vol.All(vol.Coerce(float), vol.Range(0, MOST_PRICE)),
}
"""Fields of an order. Without agents, all are tried."""


def order_of(hass: HomeAssistant, data: Mapping[str, Any], user_id: str | None) -> TrialOrder:
    """Return an order from its fields."""
    return TrialOrder(
        agents=tuple(dict.fromkeys(data.get("agent_id") or [one.entity_id for one in async_agent_entries(hass)])),
        requests=data["requests"],
        language=data.get("language") or hass.config.language,
        max_price=data["max_price"],
        user_id=user_id,
    )


@websocket_api.require_admin
@websocket_api.websocket_command({vol.Required("type"): f"{DOMAIN}/evaluate/preview", **ORDER_FIELDS})
@websocket_api.async_response
async def _async_preview(hass: HomeAssistant, connection: ActiveConnection, msg: dict[str, Any]) -> None:
    """Tell how many requests there would be, where they go, and about what they cost."""
    order = order_of(hass, msg, connection.user.id)
    count = len(await async_make_requests(hass, order.language, order.requests))
    connection.send_result(
        msg["id"], {"requests": count, "agents": [_previewed(hass, agent_id, count) for agent_id in order.agents]}
    )


def _previewed(hass: HomeAssistant, agent_id: str, count: int) -> JsonObject:
    """Return an agent, the service on the internet that gets the requests, and about what they cost."""
    entity = er.async_get(hass).async_get(agent_id)
    entry = hass.config_entries.async_get_entry(entity.config_entry_id or "") if entity else None
    address = entry.data.get(CONF_BASE_URL, "") if entry else ""
    return {
        "agent_id": agent_id,
        "name": entity_name(hass, agent_id),
        "service": entry.title if entry and address and not is_local_address(address) else "",
        "cost": expected_cost(hass, (entity.config_subentry_id or "") if entity else "", count),
    }


@websocket_api.require_admin
@websocket_api.websocket_command({vol.Required("type"): f"{DOMAIN}/evaluate/start", **ORDER_FIELDS})
@websocket_api.async_response
async def _async_start(hass: HomeAssistant, connection: ActiveConnection, msg: dict[str, Any]) -> None:
    """Begin a trial, and return its progress."""
    try:
        trial = await async_get_trials(hass).async_begin(order_of(hass, msg, connection.user.id))
    except HomeAssistantError as error:
        key, values = error.translation_key, error.translation_placeholders
        connection.send_error(msg["id"], "refused", str(error), key, DOMAIN, values)
    else:
        connection.send_result(msg["id"], trial.progress())


@websocket_api.require_admin
@websocket_api.websocket_command({vol.Required("type"): f"{DOMAIN}/evaluate/stop"})
@callback
def _async_stop(hass: HomeAssistant, connection: ActiveConnection, msg: dict[str, Any]) -> None:
    """Stop the trial that is under way, if there is one."""
    async_get_trials(hass).async_stop()
    connection.send_result(msg["id"])


@websocket_api.require_admin
@websocket_api.websocket_command(
    {vol.Required("type"): f"{DOMAIN}/evaluate/result", vol.Required("result_id"): vol.All(str, vol.Length(max=64))}
)
@websocket_api.async_response
async def _async_result(hass: HomeAssistant, connection: ActiveConnection, msg: dict[str, Any]) -> None:
    """Return a result with all requests."""
    found = [one for one in await async_get_trials(hass).async_results() if one["id"] == msg["result_id"]]
    if found:
        connection.send_result(msg["id"], found[0])
    else:
        connection.send_error(msg["id"], websocket_api.ERR_NOT_FOUND, "There is no such result")


@websocket_api.require_admin
@websocket_api.websocket_command({vol.Required("type"): f"{DOMAIN}/evaluate/subscribe"})
@websocket_api.async_response
async def _async_subscribe(hass: HomeAssistant, connection: ActiveConnection, msg: dict[str, Any]) -> None:
    """Send the progress and the tables of the results, now and after each answer."""
    trials = async_get_trials(hass)
    results = await trials.async_results()

    @callback
    def send() -> None:
        tables = [{name: value for name, value in one.items() if name != "requests"} for one in results]
        progress = trials.running.progress() if trials.running else None
        connection.send_event(msg["id"], {"running": progress, "results": tables})

    connection.subscriptions[msg["id"]] = trials.async_listen(send)
    connection.send_result(msg["id"])
    send()


def async_register_commands(hass: HomeAssistant) -> None:
    """Register the commands."""
    for handle in (_async_preview, _async_start, _async_stop, _async_result, _async_subscribe):
        websocket_api.async_register_command(hass, handle)
