"""A German home: its owner adds Chatterbox, talks, and reads forms, sensors and Activity in German."""

import re
from functools import partial
from pathlib import Path

import pytest
from playwright.async_api import expect
from pydantic import JsonValue

from demo.web_api import HomeAssistantClient
from tests.behaviour.browser.frontend import Assist, Frontend
from tests.behaviour.browser.looks import Look
from tests.support.sentences import sentence
from tests.support.servers.process import scripted_server
from tests.support.servers.script import Script, ScriptedAnswer, ScriptedCall

pytestmark = pytest.mark.thorough

_LIGHTS_ON = ScriptedCall(
    name="intent__HassTurnOn",
    arguments={"name": "Kitchen Pendant", "domain": ["light"]},
)
_ANSWERS = (
    ScriptedAnswer(tool_calls=(_LIGHTS_ON,)),
    ScriptedAnswer(content="Das Licht ist an."),
)
_SCRIPT = Script(models=("small-model",), answers=_ANSWERS)

_NOBODY_LISTENS_HERE = "http://127.0.0.1:9/v1"

_AGENT = "config_subentries.conversation"
german = partial(sentence, language="de")


@pytest.fixture
def locale() -> str:
    """Return the language that the browser prefers."""
    return "de-DE"


@pytest.mark.parametrize("look", [Look.PHONE_LIGHT])
async def test_all_is_in_german(
    frontend: Frontend, home: HomeAssistantClient, tmp_path: Path
) -> None:
    page, dialog = frontend.page, frontend.page.locator("dialog-data-entry-flow")
    submit = page.get_by_role("button", name="OK", exact=True)
    await home.command("config/core/update", type(None), language="de")
    assistant = await home.command("assist_pipeline/pipeline/get", dict[str, JsonValue])
    spoken: dict[str, JsonValue] = {"language": "de", "conversation_language": "de"}
    changes = spoken | {"pipeline_id": assistant.pop("id")}
    await home.command(
        "assist_pipeline/pipeline/update", dict[str, JsonValue], **assistant | changes
    )
    async with scripted_server(_SCRIPT, tmp_path) as server:
        await frontend.go("/config/integrations/dashboard/add?domain=chatterbox")
        await submit.click()
        await expect(
            dialog.get_by_text(
                german("config.step.user.menu_option_descriptions.offline")
            )
        ).to_be_visible()
        await frontend.see_that_it_fits(dialog)
        await dialog.get_by_text(
            german("config.step.user.menu_options.in_my_home"), exact=True
        ).click()
        address = dialog.get_by_role(
            "textbox", name=german("config.step.own_server.data.base_url")
        )
        await address.fill(_NOBODY_LISTENS_HERE)
        await submit.click()
        unreachable = german(
            "config.error.provider_unreachable", url=_NOBODY_LISTENS_HERE
        )
        await expect(dialog.get_by_text(unreachable)).to_be_visible()
        await frontend.see_that_it_fits(dialog)
        await address.fill(server.base_url)
        await submit.click()
        await dialog.get_by_text(german("config.step.model.title")).wait_for()
        await submit.click()
        await dialog.get_by_text(german("config.step.first_agent.title")).wait_for()
        requested = german(
            "common.first_asks", names="Front Door, Garage Door, Movie Night, Sprinkler"
        )
        await expect(dialog.get_by_text(requested)).to_be_visible()
        await frontend.see_that_it_fits(dialog)
        await submit.click()
        await expect(
            dialog.get_by_text(german("common.example_unlock", name="Front Door"))
        ).to_be_visible()
        await frontend.see_that_it_fits(dialog)
        await dialog.get_by_role("link", name="ausprobieren").click()
        assist = await Assist.seen_on(page)
        assert await assist.ask("Ich will am Esstisch lesen") == "Das Licht ist an."
        await assist.close()

    await frontend.go("/logbook")
    await frontend.see_activity("Kitchen Pendant")
    own_entry = german("common.change_by_turn_on", actor="Chatterbox (Demo)")
    await expect(page.locator("ha-logbook").get_by_text(own_entry)).to_have_count(0)
    await frontend.see_that_it_fits(page.locator("ha-logbook"))
    await frontend.go("/config/integrations/integration/chatterbox")
    await page.get_by_text(re.compile("small-model")).click()
    for sensor in (
        "turns",
        "failures",
        "spent_this_month",
        "time_to_first_token",
        "waiting_questions",
    ):
        await expect(
            page.get_by_text(german(f"entity.sensor.{sensor}.name"), exact=True).first
        ).to_be_visible()
    unit = german("entity.sensor.turns.unit_of_measurement")
    await expect(page.locator("ha-device-entities-card").last).to_contain_text(
        re.compile(rf"\d\s+{unit}\s")
    )
    await frontend.go("/config/integrations/integration/chatterbox")
    await _read_form(frontend)


async def _read_form(frontend: Frontend) -> None:
    """Read what is wrong with a form, and the unit of a number."""
    page, dialog = frontend.page, frontend.page.locator("dialog-data-entry-flow")
    await page.get_by_role(
        "button", name=german(f"{_AGENT}.initiate_flow.reconfigure")
    ).click()
    await dialog.get_by_text(
        german(f"{_AGENT}.step.reconfigure.menu_options.advanced"), exact=True
    ).click()
    section = f"{_AGENT}.step.advanced.sections.answers"
    await frontend.unfold(dialog, german(f"{section}.name"))
    tokens = dialog.get_by_text(
        german("selector.number.unit_of_measurement.tokens"), exact=True
    )
    await expect(tokens.first).to_be_visible()
    await dialog.get_by_role(
        "spinbutton", name=german(f"{section}.data.temperature")
    ).fill("30")
    await page.get_by_role("button", name="OK", exact=True).click()
    path = " → ".join(
        german(f"{_AGENT}.step.{key}")
        for key in (
            "advanced.title",
            "advanced.sections.answers.name",
            "advanced.sections.answers.data.temperature",
        )
    )
    problem = german(f"{_AGENT}.error.too_high", value="30", least="0", most="2")
    await expect(dialog.locator("ha-alert").first).to_contain_text(f"{path}: {problem}")
    await frontend.see_that_it_fits(dialog)
