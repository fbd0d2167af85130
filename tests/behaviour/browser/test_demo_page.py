"""Whoever opens the address that `script/demo` prints is signed in, and can talk at once."""

from collections.abc import AsyncIterator
from urllib.parse import urljoin

import pytest
import pytest_asyncio
from playwright.async_api import Page, expect

from demo.show import PIN
from tests.behaviour.browser.camera import Camera
from tests.behaviour.browser.frontend import Assist, Frontend
from tests.support.demo_process import printed_address, started_demo

pytestmark = pytest.mark.thorough


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def address(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[str]:
    """The address of a demo, as it prints it."""
    async with started_demo(tmp_path_factory.mktemp("demo")) as process:
        yield await printed_address(process)


async def test_the_demo_opens_ready_to_talk(
    page: Page, address: str, camera: Camera
) -> None:
    await page.goto(address)
    assist = await Assist.seen_on(page)
    await assist.see_that_it_can_control_the_home()
    assert await assist.ask("Are any windows open?") == "The kitchen window is open."
    await camera.film(assist.dialog)
    assert "turned off the ceiling light" in await assist.ask(
        "Make it cosy in the living room"
    )
    await camera.film(assist.dialog)
    assert (
        await assist.ask("Make it brighter") == "The floor lamp is at full brightness."
    )
    await camera.film(assist.dialog)
    assert (
        await assist.ask("Unlock the front door")
        == "Unlock the Front Door in the Hallway? Please say the PIN."
    )
    await assist.see_the_end()
    await camera.film(assist.dialog)
    assert (
        await assist.ask("Yes, please")
        == "A yes isn't enough for that. Please say the PIN."
    )
    await assist.see_the_end()
    await camera.take_dialog(assist.dialog, "question")
    await camera.film(assist.dialog)
    assert "nlock" in await assist.ask(PIN)
    await assist.see_the_end()
    await camera.film(assist.dialog)
    camera.save_film("talk")
    await assist.close()
    frontend = Frontend(page, address)
    await frontend.open_area("Living Room")
    await frontend.see_light("Floor Lamp", on=True)
    await frontend.see_activity("Front Door unlocked by Butler (Demo), after the PIN")
    await camera.take_page(page, "activity")
    await page.goto(urljoin(address, "/chatterbox/turns"))
    await expect(page.get_by_text("Unlocked Front Door, after the PIN")).to_be_visible()
    await camera.take_page(page, "page")


async def test_an_answer_that_failed_is_shown_once(page: Page, address: str) -> None:
    await page.goto(address)
    assist = await Assist.seen_on(page)
    answer = await assist.ask(
        "Close the blind in the kids room and tell me how warm it is there"
    )
    assert (
        answer == "Done: Kids Room Blind. I lost the connection to the language model."
    )
    await expect(assist.dialog.get_by_text("I lost the connection")).to_have_count(1)
