"""A person signs in, adds Chatterbox through its dialogs, makes it their assistant, talks, and sees the light go on."""

from pathlib import Path

import pytest
from playwright.async_api import expect

from tests.behaviour.browser.camera import Camera
from tests.behaviour.browser.frontend import Frontend
from tests.behaviour.browser.looks import Look
from tests.support.sentences import sentence
from tests.support.servers.process import scripted_server
from tests.support.servers.script import (
    Script,
    ScriptedAnswer,
    ScriptedCall,
    ScriptedFailure,
)

_API_KEY = "a-key-of-the-test"
_NOBODY_LISTENS_HERE = "http://127.0.0.1:9/v1"
_LIGHTS_ON = ScriptedCall(
    name="intent__HassTurnOn", arguments={"area": "Kitchen", "domain": ["light"]}
)
_SCRIPT = Script(
    models=("small-model", "large-model"),
    api_key=_API_KEY,
    answers=(
        ScriptedAnswer(tool_calls=(_LIGHTS_ON,)),
        ScriptedAnswer(content="The kitchen is lit. Enjoy your coffee!"),
    ),
)


@pytest.mark.thorough
@pytest.mark.parametrize("look", [Look.DESKTOP_DARK, Look.PHONE_DARK])
async def test_a_home_without_a_model_answers_after_eight_clicks(
    frontend: Frontend, camera: Camera
) -> None:
    await frontend.clicks()
    await frontend.open_devices_and_services()
    dialog = await frontend.pick_integration("Chatterbox")
    await camera.take_dialog(dialog, "add-chatterbox")
    await frontend.see_that_it_fits(dialog)
    await dialog.get_by_text("No model", exact=True).click()
    await expect(dialog.get_by_text("Front Door")).to_be_visible()
    await camera.take_dialog(dialog, "almost-done")
    await frontend.see_that_it_fits(dialog)
    await frontend.complete(dialog)
    assist = await frontend.try_it(dialog)
    assert await assist.ask("Turn on the kitchen lights") == "Turned on the lights"
    assert 0 < await frontend.clicks() <= frontend.most_clicks

    await assist.see_that_it_can_control_the_home()
    assert await assist.ask("Turn off the counter light") == "Turned off the light"
    await camera.take_page(frontend.page, "assist")
    await assist.close()
    await frontend.open_area("Kitchen")
    await frontend.see_light("Ceiling Light", on=True)
    await frontend.see_light("Counter Light", on=False)

    await frontend.open_service("Chatterbox")
    await camera.take_page(frontend.page, "service")


@pytest.mark.thorough
@pytest.mark.parametrize(
    "look",
    [Look.DESKTOP_LIGHT, Look.PHONE_LIGHT],
)
async def test_a_home_with_a_model_that_is_found_answers_after_eight_clicks(
    frontend: Frontend, camera: Camera, tmp_path: Path, port_nearby: int
) -> None:
    models = ("small-model", "qwen3-30b-a3b-instruct-2507-q4_k_m", "nomic-embed-text")
    found = Script(models=models, owner="llamacpp", answers=_SCRIPT.answers)
    async with scripted_server(found, tmp_path, port=port_nearby):
        await frontend.clicks()
        await frontend.open_devices_and_services()
        dialog = await frontend.pick_integration("Chatterbox")
        await dialog.get_by_text("In my home", exact=True).click()
        await dialog.get_by_text("Found in your home").wait_for()
        await expect(dialog.get_by_text("embed")).to_have_count(0)
        await camera.take_dialog(dialog, "found-models")
        await frontend.see_that_it_fits(dialog)
        await expect(
            dialog.get_by_text(f"llama.cpp on 127.0.0.1:{port_nearby}").first
        ).to_be_visible()
        await dialog.get_by_text("small-model").click()
        await expect(dialog.get_by_text("uses tools")).to_be_visible()
        await frontend.complete(dialog)
        await dialog.get_by_text("Chatterbox is ready").wait_for()
        await camera.take_dialog(dialog, "ready")
        await frontend.see_that_it_fits(dialog)
        assist = await frontend.try_it(dialog)
        assert (
            await assist.ask("I need light in the kitchen")
            == "The kitchen is lit. Enjoy your coffee!"
        )
        assert 0 < await frontend.clicks() <= frontend.most_clicks

        await assist.show_details()
        await expect(assist.dialog.get_by_text("intent__HassTurnOn")).to_be_visible()
        await camera.take_dialog(assist.dialog, "details")
        await assist.close()
        await frontend.open_area("Kitchen")
        await frontend.see_light("Ceiling Light", on=True)


@pytest.mark.thorough
async def test_what_is_wrong_is_said_until_it_works(
    frontend: Frontend, camera: Camera, tmp_path: Path
) -> None:
    talks = ScriptedAnswer(content="I have turned on the kitchen light.")
    script = _SCRIPT.model_copy(update={"tool_trial_answer": talks})
    async with scripted_server(script, tmp_path) as server:
        await frontend.open_devices_and_services()
        dialog = await frontend.pick_integration("Chatterbox")
        await dialog.get_by_text("In my home", exact=True).click()

        address = dialog.get_by_role("textbox", name="Address")
        await address.fill(_NOBODY_LISTENS_HERE.removeprefix("http://"))
        await frontend.submit(dialog)
        unreachable = sentence(
            "config.error.provider_unreachable", url=_NOBODY_LISTENS_HERE
        )
        await expect(dialog.get_by_text(unreachable)).to_be_visible()
        await camera.take_dialog(dialog, "wrong-address")
        await frontend.see_that_it_fits(dialog)

        await address.fill(server.base_url)
        await frontend.submit(dialog)
        await expect(dialog.get_by_text("Incorrect API key provided.")).to_be_visible()
        await dialog.get_by_role("textbox", name="API key").fill(_API_KEY)
        await frontend.submit(dialog)
        await dialog.get_by_text("Choose a model").wait_for()
        await frontend.choose_model(dialog, "small-model")
        await camera.take_dialog(dialog, "choose-model")
        await frontend.submit(dialog)
        warning = sentence("common.trial_talked", model="small-model")
        await dialog.get_by_text(warning).wait_for()
        await dialog.get_by_text("Use it anyway").click()
        await frontend.complete(dialog, ai_task=True)
        await dialog.get_by_text("Chatterbox is ready").wait_for()


@pytest.mark.thorough
async def test_a_removed_service_leaves_the_assistants_as_they_were_before_its_two_agents(
    frontend: Frontend, tmp_path: Path
) -> None:
    answers = (ScriptedAnswer(content="I am the large one."),)
    script = Script(
        models=("small-model", "large-model"), answers=answers, after_last="start again"
    )
    async with scripted_server(script, tmp_path) as server:
        await frontend.open_devices_and_services()
        await frontend.add_model(server.base_url, "small-model")
        await frontend.open_service("Chatterbox")
        dialog = await frontend.begin_agent()
        await dialog.get_by_role("textbox", name="Name").fill("Butler")
        await frontend.choose_model(dialog, "large-model")
        await frontend.submit(dialog)
        await dialog.get_by_text(
            "Home Assistant (takes it over from Chatterbox)"
        ).click()
        new = dialog.get_by_role(
            "checkbox", name="A new assistant with this name (Butler)"
        )
        await expect(new).to_be_checked()
        await frontend.see_that_it_fits(dialog)
        await frontend.complete(dialog)
        await dialog.get_by_text("What can I cook with eggs and potatoes?").wait_for()
        await expect(dialog.get_by_text("choose Butler at the top")).to_be_visible()
        await frontend.see_that_it_fits(dialog)
        assist = await frontend.try_it(dialog)
        assert (
            await assist.ask("What can I cook with eggs and potatoes?")
            == "I am the large one."
        )
        await assist.close()

        await frontend.open_assistants()
        await expect(frontend.page.get_by_text("Butler")).to_be_visible()
        await frontend.open_service("Chatterbox")
        await frontend.delete_service()
        await frontend.open_assistants()
        await expect(frontend.page.get_by_text("Butler")).to_have_count(0)
        await frontend.open_overview()
        assist = await frontend.open_assist()
        assert await assist.ask("Turn on the kitchen lights") == "Turned on the lights"


@pytest.mark.thorough
@pytest.mark.parametrize("look", [Look.PHONE_DARK])
async def test_an_internet_service_says_itself_what_is_wrong(
    frontend: Frontend, tmp_path: Path
) -> None:
    full = ScriptedFailure(
        status=500, body={"error": {"message": "CUDA error: out of memory"}}
    )
    script = _SCRIPT.model_copy(update={"tool_trial_answer": full})
    async with scripted_server(script, tmp_path) as server:
        await frontend.open_devices_and_services()
        dialog = await frontend.pick_integration("Chatterbox")
        await dialog.get_by_text("Internet service", exact=True).click()
        await frontend.choose_option(dialog, "Service", "Mistral")
        await frontend.unfold(dialog, "Another address")
        await dialog.get_by_role("textbox", name="Address").fill(server.base_url)
        key = dialog.get_by_role("textbox", name="API key")
        await key.fill("not-the-key")
        await frontend.submit(dialog)
        await expect(dialog.get_by_text("Incorrect API key provided.")).to_be_visible()
        await frontend.see_that_it_fits(dialog)

        await key.fill(_API_KEY)
        await frontend.submit(dialog)
        await frontend.type_model(dialog, "no-such-model")
        await frontend.submit(dialog)
        await expect(
            dialog.get_by_text(sentence("config.error.model_not_found"))
        ).to_be_visible()
        await frontend.see_that_it_fits(dialog)

        await frontend.choose_model(dialog, "small-model")
        await frontend.submit(dialog)
        words = sentence("config.error.service_said", words="CUDA error: out of memory")
        await expect(dialog.get_by_text(words)).to_be_visible()
        await frontend.see_that_it_fits(dialog)


@pytest.mark.thorough
async def test_all_problems_of_a_form_are_listed_at_its_top(
    frontend: Frontend, camera: Camera, tmp_path: Path
) -> None:
    async with scripted_server(
        Script(models=("small-model", "large-model")), tmp_path
    ) as server:
        await frontend.open_devices_and_services()
        await frontend.add_model(server.base_url, "small-model")
        await _add_agent_with_stand_in(frontend, camera)


async def _add_agent_with_stand_in(frontend: Frontend, camera: Camera) -> None:
    """Add an agent with options of its own, after one that does not fit, and find them again."""
    await frontend.open_service("Chatterbox")
    dialog = await frontend.begin_agent()
    await camera.take_dialog(dialog, "agent")
    await frontend.choose_model(dialog, "large-model")
    await frontend.submit(dialog)
    await expect(
        dialog.get_by_text("Home Assistant (takes it over from Chatterbox)")
    ).to_be_visible()
    await frontend.see_that_it_fits(dialog)
    await frontend.complete(dialog)
    await expect(dialog.get_by_text("choose Chatterbox 2 at the top")).to_be_visible()
    await frontend.finish(dialog)

    await frontend.open_service("Chatterbox")
    dialog = await frontend.change_agent("large-model", "Advanced")
    await camera.take_dialog(dialog, "advanced")
    await frontend.unfold(dialog, "Answers")
    await frontend.add_stand_in(dialog, "Chatterbox")
    temperature = dialog.get_by_role("spinbutton", name="Temperature")
    await temperature.fill("30")
    await frontend.unfold(dialog, "Limits")
    await dialog.get_by_role("spinbutton", name="Time for an answer").fill("1")
    await frontend.submit(dialog)
    problems = dialog.locator("ha-alert").first
    await expect(problems).to_contain_text(
        "Advanced → Answers → Temperature: 30 is too high, 0 to 2"
    )
    await expect(problems).to_contain_text(
        "Advanced → Limits → Time for an answer: 1 is too low, 5 to 600"
    )
    await expect(problems).to_be_in_viewport()
    await camera.take_dialog(dialog, "problems")
    await frontend.unfold(dialog, "Answers")
    await expect(temperature).to_have_value("30")
    await temperature.fill("0.4")
    await frontend.unfold(dialog, "Limits")
    await dialog.get_by_role("spinbutton", name="Time for an answer").fill("45")
    await frontend.submit(dialog)
    await frontend.close_when_changed(dialog)

    dialog = await frontend.change_agent("large-model", "Advanced")
    await frontend.unfold(dialog, "Answers")
    await expect(
        dialog.locator("ha-entities-picker").get_by_text("Chatterbox").first
    ).to_be_visible()
    await expect(dialog.get_by_role("spinbutton", name="Temperature")).to_have_value(
        "0.4"
    )
