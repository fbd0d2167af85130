"""A person lets API clients talk to the agents of a service, and one turns on the light."""

import asyncio
from http import HTTPStatus

import pytest
from aiohttp import ClientSession
from playwright.async_api import expect

from tests.behaviour.browser.camera import Camera
from tests.behaviour.browser.frontend import Frontend
from tests.support.sentences import sentence

pytestmark = pytest.mark.thorough

_API_CLIENTS = "config.step.options.sections.api"


async def test_an_api_client_switches_the_lights_once_it_may(
    frontend: Frontend, camera: Camera
) -> None:
    await frontend.open_devices_and_services()
    await frontend.add_offline()
    await frontend.open_service("Chatterbox")

    options = await frontend.open_options()
    await frontend.unfold(options, sentence(f"{_API_CLIENTS}.name"))
    await expect(options.get_by_text("/api/chatterbox/v1")).to_be_visible()
    row = options.locator("ha-selector-boolean").filter(
        has_text=sentence(f"{_API_CLIENTS}.data.responses_api")
    )
    await row.locator("ha-switch").click()
    await camera.take_dialog(options, "api-clients")
    await frontend.submit(options)
    await frontend.close_when_changed(options)

    address = f"{frontend.url}/api/chatterbox/v1"
    key = {"Authorization": f"Bearer {await frontend.access_token()}"}
    async with ClientSession(headers=key) as client:
        while (answer := await client.get(f"{address}/models")).status != HTTPStatus.OK:  # noqa: ASYNC110  # it is loaded anew, and nobody says when that is over
            await asyncio.sleep(0.1)
        models = await answer.json()
        (model,) = [one["id"] for one in models["data"]]
        requested = {"model": model, "input": "Turn on the kitchen lights"}
        answer = await (
            await client.post(f"{address}/responses", json=requested)
        ).json()
    assert answer["output"][-1]["content"][0]["text"] == "Turned on the lights"

    await frontend.open_overview()
    await frontend.open_area("Kitchen")
    await frontend.see_light("Ceiling Light", on=True)
