"""A trial grades the answers of agents, and nothing in the home happens."""

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest
from homeassistant.auth.const import GROUP_ID_USER
from homeassistant.const import EVENT_CALL_SERVICE, EVENT_STATE_CHANGED
from homeassistant.core import Context, Event, HomeAssistant, callback
from homeassistant.exceptions import HomeAssistantError, Unauthorized
from homeassistant.helpers.dispatcher import async_dispatcher_connect
from pytest_homeassistant_custom_component.common import (
    MockUser,
    async_fire_time_changed,
)

from custom_components.chatterbox.approvals.questions import async_get_approvals
from custom_components.chatterbox.const import DOMAIN
from custom_components.chatterbox.evaluate.trials import (
    SIGNAL_TRIALS,
    async_get_trials,
)
from tests.evaluate.conftest import Tried, evaluate
from tests.support.servers.script import Script, ScriptedFailure
from tests.support.talk import AGENT, Serve

pytestmark = pytest.mark.usefixtures("socket_enabled", "whole_home")
PRICE = {"price_input": 10.0, "price_output": 0.0}
"""US dollars for a million tokens: one cent for an answer."""


def only(result: Mapping[str, Any], **expected: object) -> None:
    """Assert that the only agent has these figures."""
    (agent,) = result["agents"]
    assert {name: agent[name] for name in expected} == expected


async def test_a_good_model_is_right_and_the_home_stays_as_it_is(
    hass: HomeAssistant, knowing: Tried
) -> None:
    await knowing()
    await hass.async_block_till_done()
    happened: list[str] = []

    @callback
    def note(event: Event[Mapping[str, Any]]) -> None:
        kind = str(event.event_type)
        is_ours = kind == EVENT_CALL_SERVICE and event.data["service"] == "evaluate"
        if not is_ours and (
            kind in (EVENT_CALL_SERVICE, EVENT_STATE_CHANGED) or kind.startswith(DOMAIN)
        ):
            happened.append(f"{kind} {event.data}")

    hass.bus.async_listen("*", note)
    before = {one.entity_id: one for one in hass.states.async_all()}

    result = await evaluate(hass)

    assert [
        one for one in result["requests"] if one["answers"][0]["grade"] != "right"
    ] == []
    only(
        result,
        requests=40,
        right=40,
        wrong=0,
        harmful=0,
        claimed=0,
        failed=0,
        name="Talker",
    )
    groups = {one["group"] for one in result["requests"]}
    assert groups == {"act", "ask", "compound", "follow_up", "must_not", "impossible"}
    assert result["end"] == "finished"
    assert happened == []
    assert {one.entity_id: one for one in hass.states.async_all()} == before
    assert not async_get_approvals(hass).waiting


@pytest.mark.thorough
async def test_a_trial_may_be_in_another_language(
    hass: HomeAssistant, knowing: Tried
) -> None:
    await knowing(language="de")

    result = await evaluate(hass, language="de")

    assert [
        one for one in result["requests"] if one["answers"][0]["grade"] != "right"
    ] == []


@pytest.mark.usefixtures("offline")
async def test_home_assistant_itself_can_be_tried(hass: HomeAssistant) -> None:
    result = await evaluate(hass)

    grades = {one["text"]: one["answers"][0]["grade"] for one in result["requests"]}
    assert grades["set Bedroom Curtains to 60"] == "right"
    assert grades["turn on Bathroom Light"] == "right"
    assert grades["Turn on the lava lamp in the observatory"] == "right"
    only(result, harmful=0, claimed=0, cost=0)


async def test_an_agent_that_does_not_answer_gets_no_more_requests(
    hass: HomeAssistant, serve: Serve
) -> None:
    server = await serve(
        Script(
            answers=(ScriptedFailure(status=400, body={"error": {"message": "no"}}),)
            * 9
        )
    )

    result = await evaluate(hass)

    only(result, requests=3, failed=3, first_words_ms=None)
    assert len(server.requests) == 3


async def test_it_ends_at_its_price(hass: HomeAssistant, knowing: Tried) -> None:
    await knowing(**PRICE)

    result = await evaluate(hass, max_price=0.05)

    assert result["end"] == "price"
    assert result["agents"][0]["cost"] == pytest.approx(0.05, abs=0.021)
    assert 0 < result["agents"][0]["requests"] < 40


async def test_it_ends_at_an_assumed_price_where_none_is_known(
    hass: HomeAssistant, knowing: Tried
) -> None:
    await knowing(
        server="litellm"
    )  # it passes requests on to others, which may charge for them

    result = await evaluate(hass, max_price=0.05)

    assert result["end"] == "price"
    assert result["agents"][0]["cost"] is None
    assert result["agents"][0]["input_tokens"] + result["agents"][0][
        "output_tokens"
    ] == pytest.approx(10_000, abs=4_000)


async def test_it_can_be_stopped_and_only_one_runs(
    hass: HomeAssistant, knowing: Tried
) -> None:
    await knowing()
    trials, reached = async_get_trials(hass), asyncio.Event()

    @callback
    def see() -> None:
        if trials.running and trials.running.progress()["done"]:
            reached.set()

    async_dispatcher_connect(hass, SIGNAL_TRIALS, see)
    running = hass.async_create_task(evaluate(hass))
    await reached.wait()

    with pytest.raises(HomeAssistantError) as error:
        await evaluate(hass)
    trials.async_stop()
    result = await running

    assert error.value.translation_key == "evaluate_running"
    assert result["end"] == "stopped"
    assert 0 < result["agents"][0]["requests"] < 40
    assert trials.running is None


async def test_the_last_ten_results_are_kept_until_the_last_service_is_removed(
    hass: HomeAssistant, hass_storage: dict[str, Any], knowing: Tried
) -> None:
    await knowing(1)
    ids = [(await evaluate(hass, requests=1))["id"] for _ in range(11)]

    assert [one["id"] for one in await async_get_trials(hass).async_results()] == ids[
        :0:-1
    ]
    async_fire_time_changed(hass, fire_all=True)
    await hass.async_block_till_done()
    assert len(hass_storage["chatterbox.evaluations"]["data"]) == 10
    (entry,) = hass.config_entries.async_entries(DOMAIN)
    await hass.config_entries.async_remove(entry.entry_id)
    await hass.async_block_till_done()
    assert "chatterbox.evaluations" not in hass_storage


async def test_only_administrators_may_evaluate(
    hass: HomeAssistant, knowing: Tried
) -> None:
    await knowing(1)
    group = await hass.auth.async_get_group(GROUP_ID_USER)
    assert group
    user = MockUser(groups=[group]).add_to_hass(hass)
    with pytest.raises(Unauthorized):
        await evaluate(hass, Context(user_id=user.id))


@pytest.mark.parametrize(
    ("data", "key"),
    [
        ({"agent_id": ["conversation.gone"]}, "ask_not_loaded"),
        ({"language": "tlh"}, "evaluate_no_requests"),
    ],
)
async def test_a_trial_that_cannot_begin_says_why(
    hass: HomeAssistant, knowing: Tried, data: dict[str, Any], key: str
) -> None:
    await knowing(1)
    with pytest.raises(HomeAssistantError) as error:
        await evaluate(hass, **data)
    assert error.value.translation_key == key
    assert AGENT not in str(error.value)
