"""Lists keep their items and the weather has forecasts, as Home Assistant's actions for them tell."""

from datetime import timedelta
from itertools import pairwise

import pytest
from freezegun.api import FrozenDateTimeFactory
from homeassistant.core import HomeAssistant
from homeassistant.exceptions import ServiceValidationError
from homeassistant.util import dt as dt_util
from pydantic import JsonValue, TypeAdapter
from pytest_homeassistant_custom_component.typing import WebSocketGenerator

from tests.demo_house.move_in import move_in

HOME = """
entities:
  - id: todo.shopping
    name: Shopping
    attributes:
      supported_features: [CREATE_TODO_ITEM, UPDATE_TODO_ITEM, DELETE_TODO_ITEM, MOVE_TODO_ITEM, SET_DUE_DATE_ON_ITEM]
      todo_items: [Milk, { summary: Bread, status: completed, due: 2026-11-30 }]
  - id: weather.home
    name: Home
    state: sunny
    attributes:
      temperature: 20
      wind_speed: 10
      forecast_daily:
        - { condition: rainy, temperature: 12, templow: 5, precipitation: 3, precipitation_probability: 90 }
        - { condition: sunny, temperature: 14 }
      forecast_hourly: [{ condition: cloudy, temperature: 19 }, { condition: fog, temperature: 18, wind_speed: 4 }]
"""

type Items = list[dict[str, JsonValue]]

_ITEMS = TypeAdapter(dict[str, dict[str, Items]])


async def answer(
    hass: HomeAssistant, action: str, entity_id: str, **data: str
) -> Items:
    """Return the list that an action answers with for one entity."""
    domain, _, service = action.partition(".")
    response = await hass.services.async_call(
        domain,
        service,
        {"entity_id": entity_id, **data},
        blocking=True,
        return_response=True,
    )
    (items,) = _ITEMS.validate_python(response)[entity_id].values()
    return items


async def change(hass: HomeAssistant, service: str, **data: str) -> None:
    """Change the shopping list."""
    await hass.services.async_call(
        "todo", service, {"entity_id": "todo.shopping", **data}, blocking=True
    )


async def test_a_list_has_the_items_of_its_file(hass: HomeAssistant) -> None:
    await move_in(hass, HOME)

    assert hass.states.is_state("todo.shopping", "1")
    assert await answer(hass, "todo.get_items", "todo.shopping") == [
        {"uid": "1", "summary": "Milk", "status": "needs_action"},
        {"uid": "2", "summary": "Bread", "status": "completed", "due": "2026-11-30"},
    ]


async def test_items_are_added_completed_and_removed(hass: HomeAssistant) -> None:
    await move_in(hass, HOME)

    await change(hass, "add_item", item="Eggs", due_date="2026-12-01")
    assert hass.states.is_state("todo.shopping", "2")
    await change(hass, "update_item", item="Milk", status="completed")
    await change(hass, "remove_item", item="Bread")

    assert hass.states.is_state("todo.shopping", "1")
    assert [
        item["summary"]
        for item in await answer(hass, "todo.get_items", "todo.shopping")
    ] == ["Milk", "Eggs"]
    with pytest.raises(ServiceValidationError):
        await change(hass, "update_item", item="Bread", status="completed")


async def test_items_are_moved(
    hass: HomeAssistant, hass_ws_client: WebSocketGenerator
) -> None:
    await move_in(hass, HOME)
    client = await hass_ws_client(hass)

    async def move(**data: str) -> bool:
        await client.send_json_auto_id(
            {"type": "todo/item/move", "entity_id": "todo.shopping", **data}
        )
        return bool((await client.receive_json())["success"])

    assert await move(uid="2")
    assert [
        item["uid"] for item in await answer(hass, "todo.get_items", "todo.shopping")
    ] == ["2", "1"]
    assert await move(uid="2", previous_uid="1")
    assert [
        item["uid"] for item in await answer(hass, "todo.get_items", "todo.shopping")
    ] == ["1", "2"]
    assert not await move(uid="7")


async def test_the_forecast_begins_with_today_and_with_this_hour(
    hass: HomeAssistant, freezer: FrozenDateTimeFactory
) -> None:
    freezer.move_to("2026-11-21 16:45:10+00:00")
    await move_in(hass, HOME)

    daily = await answer(hass, "weather.get_forecasts", "weather.home", type="daily")
    hourly = await answer(hass, "weather.get_forecasts", "weather.home", type="hourly")

    assert [
        dt_util.parse_datetime(str(item["datetime"])) for item in (daily[0], hourly[0])
    ] == [
        dt_util.start_of_local_day(),
        dt_util.parse_datetime("2026-11-21 16:00:00+00:00"),
    ]
    assert _steps(daily) == [timedelta(days=1)]
    assert _steps(hourly) == [timedelta(hours=1)]
    assert (daily[0]["condition"], daily[0]["temperature"], daily[0]["templow"]) == (
        "rainy",
        12,
        5,
    )
    assert (daily[0]["precipitation"], daily[0]["precipitation_probability"]) == (3, 90)
    assert (hourly[1]["condition"], hourly[1]["wind_speed"]) == ("fog", 4)


def _steps(items: Items) -> list[timedelta]:
    times = [
        dt_util.parse_datetime(str(item["datetime"]), raise_on_error=True)
        for item in items
    ]
    return [later - earlier for earlier, later in pairwise(times)]
