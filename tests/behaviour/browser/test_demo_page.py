"""Whoever opens the address that `script/demo` prints is signed in, and can talk at once."""

from pathlib import Path

import pytest
from playwright.async_api import Page

from tests.behaviour.browser.camera import Camera
from tests.behaviour.browser.frontend import Assist, Frontend
from tests.support.demo_process import printed_address, started_demo

pytestmark = pytest.mark.usefixtures("socket_enabled")


async def test_the_demo_opens_ready_to_talk(page: Page, tmp_path: Path, camera: Camera) -> None:
    async with started_demo(tmp_path) as process:
        address = await printed_address(process)
        await page.goto(address)
        assist = await Assist.seen_on(page)
        await assist.see_that_it_can_control_the_home()
        assert await assist.ask("Is the garage door open?") == "No, closed"
        assert await assist.ask("Turn on the kitchen lights") == "Turned on the lights"
        await camera.take_page(page, "demo")
        assert await assist.ask("Unlock the front door") == "Unlock the Front Door in the Hallway?"
        assert await assist.ask("Yes, please") == "Unlocking"
        await assist.see_the_end()
        await camera.take_dialog(assist.dialog, "question")
        await assist.close()
        await Frontend(page, address).open_area("Kitchen")
        await Frontend(page, address).see_light("Ceiling Light", on=True)
        await Frontend(page, address).see_activity("Front Door unlocked by Chatterbox (Demo), approved by voice")
        await Frontend(page, address).see_activity(
            "Chatterbox (Demo) turned on Kitchen Ceiling Light, Kitchen Counter Light, Kitchen Pendant"
        )
