"""The WebSocket commands of the page "Try a model". Only administrators may send them."""

from typing import Final

import voluptuous as vol
from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers import config_validation as cv, entity_registry as er
from homeassistant.helpers.dispatcher import async_dispatcher_connect

from ..agent.messages import JsonObject
from ..const import CONF_BASE_URL, CONF_KIND, ServiceKind
from ..home.entity_matches import entity_name
from ..panel.commands import (
    NO_FIELDS,
    NOT_FOUND,
    CommandData,
    CommandRefused,
    Viewer,
    async_register_command,
    text_field,
)
from ..repairs import unreadable_files
from ..runtime.agents import async_agent_entries
from ..settings.service_address import is_local_address
from .requests import async_make_requests
from .trials import (
    SIGNAL_TRIALS,
    TrialOrder,
    async_get_trials,
    expected_cost,
    has_price,
)

MOST_REQUESTS: Final = 100
DEFAULT_REQUESTS: Final = 40
DEFAULT_PRICE: Final = 0.5
"""US dollars."""
MOST_PRICE: Final = 100.0
_MOST_AGENTS: Final = 10

ORDER_FIELDS: Final = {
    vol.Optional("agent_id"): vol.All(
        cv.entity_ids, vol.Length(min=1, max=_MOST_AGENTS)
    ),
    vol.Optional("requests", default=DEFAULT_REQUESTS): vol.All(
        vol.Coerce(int), vol.Range(1, MOST_REQUESTS)
    ),
    vol.Optional("language"): cv.string,
    vol.Optional("max_price", default=DEFAULT_PRICE): vol.All(
        vol.Coerce(float), vol.Range(0, MOST_PRICE)
    ),
}
"""Fields of an order. Without agents, all are tried."""
_RESULT: Final = vol.Schema({vol.Required("result_id"): text_field(64)})


def async_register_commands(hass: HomeAssistant) -> None:
    """Register the commands."""
    order = vol.Schema(ORDER_FIELDS)
    async_register_command(
        hass,
        "evaluate/preview",
        order,
        _async_preview,
    )
    async_register_command(
        hass,
        "evaluate/start",
        order,
        _async_start,
    )
    async_register_command(
        hass,
        "evaluate/stop",
        NO_FIELDS,
        _async_stop,
    )
    async_register_command(
        hass,
        "evaluate/result",
        _RESULT,
        _async_result,
    )
    async_register_command(
        hass,
        "evaluate/subscribe",
        NO_FIELDS,
        _async_subscribe,
    )


def order_of(hass: HomeAssistant, data: CommandData, user_id: str | None) -> TrialOrder:
    """Return an order from its fields."""
    return TrialOrder(
        agents=tuple(
            dict.fromkeys(
                data.get("agent_id")
                or [one.entity_id for one in async_agent_entries(hass)]
            )
        ),
        requests=data["requests"],
        language=data.get("language") or hass.config.language,
        max_price=data["max_price"],
        user_id=user_id,
    )


async def _async_preview(
    viewer: Viewer,
    data: CommandData,
) -> JsonObject:
    """Tell how many requests there would be, where they go, and about what they cost."""
    hass = viewer.hass
    order = order_of(
        viewer.hass,
        data,
        viewer.user.id,
    )
    count = len(await async_make_requests(hass, order.language, order.requests))
    return {
        "requests": count,
        "agents": [_previewed(hass, agent_id, count) for agent_id in order.agents],
    }


def _previewed(
    hass: HomeAssistant,
    agent_id: str,
    count: int,
) -> JsonObject:
    """Return an agent, the service on the internet that gets the requests, and about what they cost."""
    entity = er.async_get(hass).async_get(agent_id)
    entry_id, subentry_id = "", ""
    if entity:
        entry_id = entity.config_entry_id or ""
        subentry_id = entity.config_subentry_id or ""
    entry = hass.config_entries.async_get_entry(entry_id)
    address = entry.data.get(CONF_BASE_URL, "") if entry else ""
    has_model = entry is None or entry.data[CONF_KIND] != ServiceKind.OFFLINE
    return {
        "agent_id": agent_id,
        "name": entity_name(hass, agent_id),
        "service": entry.title
        if entry and address and not is_local_address(address)
        else "",
        "cost": expected_cost(
            hass,
            subentry_id,
            count,
        ),
        "has_price": not has_model or has_price(hass, subentry_id),
    }


async def _async_start(
    viewer: Viewer,
    data: CommandData,
) -> JsonObject:
    """Begin a trial, and return its progress."""
    trial = await async_get_trials(viewer.hass).async_begin(
        order_of(
            viewer.hass,
            data,
            viewer.user.id,
        )
    )
    return trial.progress()


async def _async_stop(
    viewer: Viewer,
    _data: CommandData,
) -> None:
    """Stop the trial that is under way, if there is one."""
    async_get_trials(viewer.hass).async_stop()


async def _async_result(
    viewer: Viewer,
    data: CommandData,
) -> JsonObject:
    """Return a result with all requests."""
    results = await async_get_trials(viewer.hass).async_results()
    found = next(
        (one for one in results if one["id"] == data["result_id"]),
        None,
    )
    if found:
        return found
    raise CommandRefused(NOT_FOUND)


async def _async_subscribe(
    viewer: Viewer,
    _data: CommandData,
) -> None:
    """Send the progress and the tables of the results, now and whenever they change."""
    trials = async_get_trials(viewer.hass)
    results = await trials.async_results()

    @callback
    def send() -> None:
        tables = [
            {name: value for name, value in one.items() if name != "requests"}
            for one in results
        ]
        if trials.running:
            progress = trials.running.progress()
        else:
            progress = None
        unreadable = unreadable_files(viewer.hass)
        viewer.send({"running": progress, "results": tables, "unreadable": unreadable})

    viewer.follow(async_dispatcher_connect(viewer.hass, SIGNAL_TRIALS, send))
    viewer.hass.loop.call_soon(send)  # after the answer to the command
