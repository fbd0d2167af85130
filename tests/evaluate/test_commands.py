"""The page "Try a model" sees what a trial costs, follows it, stops it, and reads its result."""

from collections.abc import Mapping
from typing import Any

import pytest
from homeassistant.core import HomeAssistant
from homeassistant.setup import async_setup_component
from pytest_homeassistant_custom_component.common import MockUser
from pytest_homeassistant_custom_component.typing import (
    MockHAClientWebSocket,
    WebSocketGenerator,
)

from custom_components.chatterbox.evaluate.trials import async_get_trials
from tests.evaluate.conftest import Tried, evaluate
from tests.support.one_home import in_one_home
from tests.support.talk import AGENT, say

pytestmark = pytest.mark.usefixtures("socket_enabled")


async def answer_to(
    client: MockHAClientWebSocket, command: str, **data: object
) -> Mapping[str, Any]:
    """Send a command, and return its answer; events before it are passed over."""
    await client.send_json_auto_id({"type": f"chatterbox/evaluate/{command}", **data})
    while (message := await client.receive_json())["type"] != "result":
        pass
    answer: Mapping[str, Any] = message
    return answer


@pytest.fixture
async def client(
    hass: HomeAssistant, knowing: Tried, hass_ws_client: WebSocketGenerator
) -> MockHAClientWebSocket:
    """Return the connection of an administrator, in a home with an agent."""
    assert await async_setup_component(hass, "websocket_api", {})
    await knowing(price_input=10.0, price_output=0.0)
    return await hass_ws_client(hass)


async def test_the_price_is_told_before(
    hass: HomeAssistant, client: MockHAClientWebSocket
) -> None:
    unknown = await answer_to(client, "preview", requests=5)
    await say(hass, "turn on Bathroom Light")
    known = await answer_to(client, "preview", requests=5)

    agent = {"agent_id": AGENT, "name": "Talker", "service": "", "has_price": True}
    assert unknown["result"] == {"requests": 5, "agents": [{**agent, "cost": None}]}
    assert known["result"] == {
        "requests": 5,
        "agents": [{**agent, "cost": pytest.approx(5 * 0.02)}],
    }


@pytest.mark.usefixtures("offline")
async def test_an_agent_without_a_model_has_no_price(
    hass: HomeAssistant, hass_ws_client: WebSocketGenerator
) -> None:
    assert await async_setup_component(hass, "websocket_api", {})
    (agent,) = (await answer_to(await hass_ws_client(hass), "preview", requests=5))[
        "result"
    ]["agents"]

    assert (agent["cost"], agent["has_price"]) == (None, True)


async def test_a_trial_is_followed_to_its_result(client: MockHAClientWebSocket) -> None:
    await client.send_json_auto_id({"type": "chatterbox/evaluate/subscribe"})
    assert (await client.receive_json())["success"]
    assert (await client.receive_json())["event"] == {
        "running": None,
        "results": [],
        "unreadable": [],
    }
    await client.send_json_auto_id({"type": "chatterbox/evaluate/start", "requests": 3})

    events: list[Mapping[str, Any]] = []
    while not (events and events[-1]["results"]):
        message = await client.receive_json()
        if message["type"] == "event":
            events.append(message["event"])
    (table,) = events[-1]["results"]
    result = await answer_to(client, "result", result_id=table["id"])

    assert [event["running"]["done"] for event in events if event["running"]] == [
        0,
        1,
        2,
        3,
    ]
    assert {event["running"]["total"] for event in events if event["running"]} == {3}
    assert table["agents"][0]["right"] == 3
    assert len(result["result"]["requests"]) == 3
    assert {name: result["result"][name] for name in table} == table


async def test_a_trial_is_stopped(
    hass: HomeAssistant, client: MockHAClientWebSocket
) -> None:
    begun = await answer_to(client, "start")
    trial = async_get_trials(hass).running
    refused = await answer_to(client, "start")
    assert (await answer_to(client, "stop"))["success"]
    assert trial
    assert trial.task
    await trial.task

    assert begun["result"] == {"id": trial.id, "done": 0, "total": 40, "cost": 0}
    assert (refused["error"]["code"], refused["error"]["translation_key"]) == (
        "refused",
        "evaluate_running",
    )
    assert trial.end == "stopped"
    assert (await answer_to(client, "stop"))["success"]


async def test_an_unknown_result_is_not_found(client: MockHAClientWebSocket) -> None:
    assert (await answer_to(client, "result", result_id="gone"))["error"][
        "code"
    ] == "not_found"


@in_one_home(
    "command", ["preview", "start", "stop", "result", "subscribe"], puts_back=True
)
async def test_only_administrators_get_anything(
    hass: HomeAssistant,
    client: MockHAClientWebSocket,
    hass_admin_user: MockUser,
    command: str,
) -> None:
    hass_admin_user.groups = []
    data = {"result_id": "x"} if command == "result" else {}

    assert (await answer_to(client, command, **data))["error"]["code"] == "unauthorized"
    assert async_get_trials(hass).running is None


@in_one_home(
    "data", [{"requests": 0}, {"requests": 1000}, {"max_price": -1}, {"agent_id": []}]
)
async def test_orders_are_bounded(
    client: MockHAClientWebSocket, data: Mapping[str, Any]
) -> None:
    assert (await answer_to(client, "start", **data))["error"][
        "code"
    ] == "invalid_format"


@pytest.mark.usefixtures("socket_enabled", "client")
async def test_a_result_holds_no_more_than_what_was_said(hass: HomeAssistant) -> None:
    result = await evaluate(hass, requests=2)
    (answer,) = result["requests"][0]["answers"]

    assert answer.keys() == {
        *(
            "agent_id",
            "answer",
            "calls",
            "cost",
            "duration_ms",
            "first_words_ms",
            "grade",
        ),
        *("input_tokens", "output_tokens"),
    }
    assert answer["calls"] == [
        {
            "outcome": "runs",
            "name": "intent__HassTurnOn",
            "arguments": {"name": "Bathroom Light"},
        }
    ]
