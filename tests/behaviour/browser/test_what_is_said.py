"""A person reads in the Assist dialog why nothing was done: not understood, asked back, or wanted by a web page."""

from contextlib import AsyncExitStack
from pathlib import Path

import pytest
from playwright.async_api import expect

from demo.home import states
from demo.web_api import HomeAssistantClient
from tests.behaviour.browser.frontend import Assist, Frontend
from tests.behaviour.browser.looks import Look
from tests.support.sentences import sentence
from tests.support.servers.process import scripted_server
from tests.support.servers.script import (
    Script,
    ScriptedAnswer,
    ScriptedCall,
    ScriptedFailure,
)

pytestmark = pytest.mark.thorough

_COSY = "Make it cosy for our movie"
"""A wish that only a model understands."""
_NOT_UNDERSTOOD = "Sorry, I couldn't understand that"
_REFUSED_KEY = ScriptedFailure(
    status=401, body={"error": {"message": "Incorrect API key provided."}}
)
_BABY = "Are you sure? The baby sleeps."
_UNTRUE = "I have turned on the light."
_SEARCH = ScriptedCall(name="demo_web__search_web", arguments={"query": "pancakes"})
_OPEN = ScriptedCall(
    name="intent__HassTurnOn", arguments={"name": "Garage Door", "domain": ["cover"]}
)
_RECIPE = "Whisk flour, eggs and milk."


async def _see_one_answer(assist: Assist, answer: str) -> None:
    """Ask for what needs a model; check that this answers, in one bubble that is no error."""
    earlier = await assist.bubbles.count()
    assert await assist.ask(_COSY) == answer
    await expect(assist.bubbles).to_have_count(earlier + 2)
    await expect(assist.bubbles.and_(assist.dialog.locator(".error"))).to_have_count(0)
    await expect(assist.dialog.get_by_text(answer, exact=True)).to_have_count(1)


@pytest.mark.parametrize("look", [Look.PHONE_LIGHT])
async def test_a_sentence_that_needs_a_model_is_answered_once_without_one(
    frontend: Frontend,
) -> None:
    await frontend.open_devices_and_services()
    dialog = await frontend.pick_integration("Chatterbox")
    await dialog.get_by_text("No model", exact=True).click()
    await frontend.complete(dialog)
    assist = await frontend.try_it(dialog)
    await _see_one_answer(
        assist, f"{_NOT_UNDERSTOOD}. {sentence('common.spoken_understood_offline')}"
    )
    await frontend.see_that_it_fits(assist.dialog)


@pytest.mark.parametrize(
    ("is_running", "cause"),
    [(True, "spoken_provider_rejected_key"), (False, "spoken_provider_unreachable")],
)
async def test_a_model_that_cannot_answer_says_why_once(
    frontend: Frontend, tmp_path: Path, *, is_running: bool, cause: str
) -> None:
    await frontend.open_devices_and_services()
    async with AsyncExitStack() as running:
        script = Script(models=("small-model",), answers=(_REFUSED_KEY,))
        server = await running.enter_async_context(scripted_server(script, tmp_path))
        await frontend.add_model(server.base_url)
        if not is_running:
            await running.aclose()
        await frontend.open_overview()
        assist = await frontend.open_assist()
        await _see_one_answer(
            assist,
            f"{sentence(f'common.{cause}')} {sentence('common.spoken_needs_model')}",
        )
        await frontend.see_that_it_fits(assist.dialog)


async def test_a_model_that_asks_back_leaves_the_light_as_it_is(
    frontend: Frontend, tmp_path: Path
) -> None:
    answers = (ScriptedAnswer(content=_UNTRUE), ScriptedAnswer(content=_BABY))
    await frontend.open_devices_and_services()
    async with scripted_server(
        Script(models=("small-model",), answers=answers), tmp_path
    ) as server:
        await frontend.add_model(server.base_url)
        await frontend.open_service("Chatterbox")
        dialog = await frontend.change_agent("Chatterbox", "Advanced")
        await frontend.unfold(dialog, "Answers")
        await frontend.choose_option(
            dialog,
            "Simple commands",
            sentence("selector.local_commands.options.when_undone"),
        )
        await frontend.submit(dialog)
        await frontend.close_when_changed(dialog)

        await frontend.open_overview()
        assist = await frontend.open_assist()
        assert (
            await assist.ask("Turn on the kitchen counter light")
            == "Turned on the light"
        )
        question = "The baby sleeps. Turn on the Kitchen Ceiling Light?"
        assert await assist.ask("Turn on the kitchen ceiling light") == question
        await assist.close()
        await frontend.open_area("Kitchen")
        await frontend.see_light("Counter Light", on=True)
        await frontend.see_light("Ceiling Light", on=False)


async def test_a_wish_of_a_web_page_is_told_apart_from_one_of_the_person(
    frontend: Frontend, home: HomeAssistantClient, tmp_path: Path
) -> None:
    answers = [ScriptedAnswer(tool_calls=(one,)) for one in (_SEARCH, _OPEN)]
    answers += [ScriptedAnswer(content=_RECIPE), ScriptedAnswer(tool_calls=(_OPEN,))]
    await frontend.open_devices_and_services()
    async with scripted_server(
        Script(models=("small-model",), answers=tuple(answers)), tmp_path
    ) as server:
        await frontend.add_model(server.base_url)
        await frontend.open_service("Chatterbox")
        dialog = await frontend.change_agent("Chatterbox")
        await (
            dialog.get_by_role("checkbox", name="Demo web").locator("xpath=..").click()
        )
        await frontend.submit(dialog)
        await frontend.close_when_changed(dialog)

        await frontend.open_overview()
        assist = await frontend.open_assist()
        page_may, garage = sentence("common.spoken_asked_web"), "Open the Garage Door?"
        refused = f"{_RECIPE} {page_may} I didn't do it: open the Garage Door."
        assert await assist.ask("Find me a recipe for pancakes") == refused
        assert await assist.ask("What about the garage?") == f"{page_may} {garage}"
        await frontend.see_that_it_fits(assist.dialog)
        assert (await states(home))["cover.garage_door"].state == "closed"
        await assist.ask("no")
        assert (await states(home))["cover.garage_door"].state == "closed"
