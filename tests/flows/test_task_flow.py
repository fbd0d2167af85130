"""The dialog that adds and changes a model for tasks, in a real Home Assistant, against real servers."""

from collections.abc import Mapping
from typing import Any

import pytest
from homeassistant.config_entries import ConfigEntry, ConfigSubentry, SubentryFlowResult
from homeassistant.const import CONF_LLM_HASS_API, CONF_MODEL, CONF_NAME, CONF_PROMPT
from homeassistant.core import HomeAssistant
from homeassistant.data_entry_flow import FlowResultType
from homeassistant.helpers import entity_registry as er

from custom_components.chatterbox.const import SUBENTRY_AI_TASK, SUBENTRY_CONVERSATION
from custom_components.chatterbox.settings.tasks import INSTRUCTIONS, task_settings_of
from tests.support.config_entries import offline_entry, server_entry, set_up
from tests.support.sentences import sentence
from tests.support.servers.in_process import serving_script
from tests.support.servers.script import Script
from tests.support.service_dialogs import is_open, shown

pytestmark = pytest.mark.usefixtures("socket_enabled")

TALKING = Script(models=("big-model", "scripted-model"))
LIMITS = {
    "max_iterations": 10,
    "max_tool_calls": 32,
    "deadline": 180,
    "tool_timeout": 30,
    "connect_timeout": 5,
    "first_token_timeout": 90,
    "between_tokens_timeout": 60,
}
HISTORY = {"keep_history": False, "keep_days": 30, "keep_megabytes": 100}
SECTIONS = {
    "model_options": {},
    "home": {"compact_home": True, "most_listed": 500},
    "limits": LIMITS,
    "history": HISTORY,
    "costs": {"when_spent": "hand_over"},
    "automation": {},
}


async def add(hass: HomeAssistant, entry: ConfigEntry) -> SubentryFlowResult:
    """Begin to add a model for tasks."""
    return await hass.config_entries.subentries.async_init(
        (entry.entry_id, SUBENTRY_AI_TASK), context={"source": "user"}
    )


async def change(hass: HomeAssistant, entry: ConfigEntry) -> SubentryFlowResult:
    """Begin to change the model for tasks of an entry."""
    return await hass.config_entries.subentries.async_init(
        (entry.entry_id, SUBENTRY_AI_TASK),
        context={"source": "reconfigure", "subentry_id": only_task(entry).subentry_id},
    )


async def submit(hass: HomeAssistant, step: SubentryFlowResult, **changes: object) -> SubentryFlowResult:
    """Send a form as it is shown, with changes."""
    result = await hass.config_entries.subentries.async_configure(step["flow_id"], {**suggested(step), **changes})
    await hass.async_block_till_done(wait_background_tasks=True)  # the service is asked once more
    return result


def only_task(entry: ConfigEntry) -> ConfigSubentry:
    """Return the model for tasks of an entry that has one."""
    (task,) = entry.get_subentries_of_type(SUBENTRY_AI_TASK)
    return task


def suggested(step: SubentryFlowResult) -> Mapping[str, Any]:
    """Return what a form shows in its fields."""
    return shown(step["data_schema"])


def text_of_error(step: SubentryFlowResult, place: str) -> str:
    """Return the sentence that is shown at a field or a section."""
    errors = step["errors"]
    assert errors is not None
    return sentence(f"config_subentries.ai_task_data.error.{errors[place]}", **(step["description_placeholders"] or {}))


async def test_a_model_for_tasks_is_added_with_what_was_set(hass: HomeAssistant) -> None:
    async with serving_script(TALKING) as address:
        entry = await set_up(hass, server_entry(address))
        step = await add(hass, entry)
        assert suggested(step) == {
            CONF_NAME: "AI task",
            CONF_LLM_HASS_API: [],
            "trusted_callers": [],
            CONF_PROMPT: INSTRUCTIONS,
            "fallbacks": [],
            CONF_MODEL: "",
            **SECTIONS,
        }
        assert not any(is_open(step, section) for section in SECTIONS)
        result = await submit(
            hass,
            step,
            name=" Painter ",
            model="big-model",
            llm_hass_api=["assist"],
            prompt="",
            trusted_callers=["automation.doorbell"],
            fallbacks=["conversation.talker"],
            image_model=" gpt-image-1 ",
        )

        assert result["type"] is FlowResultType.CREATE_ENTRY
        task = only_task(entry)
        talker = entry.get_subentries_of_type(SUBENTRY_CONVERSATION)[0]
        assert task.title == "Painter"
        assert task.data == {
            CONF_MODEL: "big-model",
            CONF_LLM_HASS_API: ["assist"],
            CONF_PROMPT: "",
            "trusted_callers": ["automation.doorbell"],
            "fallbacks": [talker.subentry_id],
            "image_model": "gpt-image-1",
            "compact_home": True,
            "most_listed": 500,
            **LIMITS,
            **HISTORY,
            "when_spent": "hand_over",
        }
        assert task_settings_of(task.data).prompt == INSTRUCTIONS
        registered = er.async_get(hass).async_get("ai_task.painter")
        assert registered is not None
        assert registered.config_subentry_id == task.subentry_id


async def test_what_is_changed_holds_from_then_on(hass: HomeAssistant) -> None:
    async with serving_script(TALKING) as address:
        entry = await set_up(hass, server_entry(address))
        await submit(hass, await add(hass, entry), model="scripted-model")
        await submit(hass, await change(hass, entry), image_model="imagen-4")
        step = await change(hass, entry)
        assert (suggested(step)[CONF_MODEL], suggested(step)["image_model"]) == ("scripted-model", "imagen-4")
        result = await submit(hass, step, limits=LIMITS | {"deadline": 20, "first_token_timeout": 10})

        assert (result["type"], result["reason"]) == (FlowResultType.ABORT, "reconfigure_successful")
        assert entry.runtime_data.tasks[only_task(entry).subentry_id].settings.limits.deadline == 20


@pytest.mark.parametrize(
    ("changes", "place", "words"),
    [
        ({"name": " "}, CONF_NAME, "Enter a name."),
        ({"model": " "}, CONF_MODEL, "Select a model, or enter its name."),
        ({"prompt": "{{ nonsense"}, CONF_PROMPT, "The instructions are not a valid template: "),
        ({"fallbacks": ["conversation.stranger"]}, "fallbacks", "Only Chatterbox agents with a model"),
        ({"limits": LIMITS | {"deadline": 1}}, "limits", "1 is out of range. Enter a whole number from 5 to 600."),
        ({"limits": LIMITS | {"deadline": 60}}, "limits", "The time to the first words (90 seconds)"),
        ({"model": "no-model"}, CONF_MODEL, "The server has no model with this name."),
    ],
)
async def test_what_is_wrong_is_told_and_nothing_typed_is_lost(
    hass: HomeAssistant, changes: dict[str, object], place: str, words: str
) -> None:
    async with serving_script(TALKING) as address:
        entry = await set_up(hass, server_entry(address))
        step = await submit(hass, await add(hass, entry), **{"model": "scripted-model", **changes})

    assert step["type"] is FlowResultType.FORM
    assert text_of_error(step, place).startswith(words)
    assert {name: suggested(step)[name] for name in changes} == changes


async def test_the_offline_service_has_no_model_for_tasks(hass: HomeAssistant) -> None:
    entry = await set_up(hass, offline_entry())

    assert set(entry.supported_subentry_types) == {SUBENTRY_CONVERSATION}
