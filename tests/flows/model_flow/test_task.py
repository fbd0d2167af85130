"""The dialog that adds and changes a model for tasks, in a real Home Assistant, against real servers."""

from collections.abc import Mapping
from typing import Any

import pytest
from homeassistant.config_entries import ConfigEntry, ConfigSubentry, SubentryFlowResult
from homeassistant.const import CONF_LLM_HASS_API, CONF_MODEL, CONF_NAME, CONF_PROMPT
from homeassistant.core import HomeAssistant
from homeassistant.data_entry_flow import FlowResultType
from homeassistant.helpers import entity_registry as er
from pytest_homeassistant_custom_component.common import MockConfigEntry

from custom_components.chatterbox.const import SUBENTRY_AI_TASK, SUBENTRY_CONVERSATION
from custom_components.chatterbox.settings.tasks import INSTRUCTIONS, task_settings_of
from tests.support.config_entries import offline_entry, set_up
from tests.support.one_home import in_one_home
from tests.support.service_dialogs import display_data, is_open, problems_in

LIMITS: dict[str, object] = {
    "max_iterations": 10,
    "max_tool_calls": 32,
    "max_characters": 200_000,
    "deadline": 180,
    "tool_timeout": 30,
    "when_spent": "hand_over",
}
WAITS: dict[str, object] = {
    "connect_timeout": 5,
    "first_token_timeout": 90,
    "between_tokens_timeout": 60,
}
STORAGE: dict[str, object] = {
    "keep_history": False,
    "keep_days": 30,
    "keep_megabytes": 100,
}
ADVANCED: dict[str, dict[str, object]] = {
    "answers": {"fallbacks": []},
    "speed": {"compact_home": True, "most_listed": 500, **WAITS},
    "limits": LIMITS,
    "storage": STORAGE,
    "automation": {},
}


async def add(hass: HomeAssistant, entry: ConfigEntry) -> SubentryFlowResult:
    """Begin to add a model for tasks."""
    return await hass.config_entries.subentries.async_init(
        (entry.entry_id, SUBENTRY_AI_TASK), context={"source": "user"}
    )


async def change(
    hass: HomeAssistant, entry: ConfigEntry, form: str = "settings"
) -> SubentryFlowResult:
    """Begin to change the model for tasks of an entry in one of its forms."""
    menu = await hass.config_entries.subentries.async_init(
        (entry.entry_id, SUBENTRY_AI_TASK),
        context={"source": "reconfigure", "subentry_id": only_task(entry).subentry_id},
    )
    assert menu["menu_options"] == ["settings", "advanced"]
    return await hass.config_entries.subentries.async_configure(
        menu["flow_id"], {"next_step_id": form}
    )


async def submit(
    hass: HomeAssistant, step: SubentryFlowResult, **changes: object
) -> SubentryFlowResult:
    """Send a form as it is shown, with changes."""
    result = await hass.config_entries.subentries.async_configure(
        step["flow_id"], {**suggested(step), **changes}
    )
    await hass.async_block_till_done(
        wait_background_tasks=True
    )  # the service is asked once more
    return result


def only_task(entry: ConfigEntry) -> ConfigSubentry:
    """Return the model for tasks of an entry that has one."""
    (task,) = entry.get_subentries_of_type(SUBENTRY_AI_TASK)
    return task


def suggested(step: SubentryFlowResult) -> Mapping[str, Any]:
    """Return what a form shows in its fields."""
    return display_data(step["data_schema"])


async def test_a_model_for_tasks_is_added_with_what_was_set(
    hass: HomeAssistant, entry: MockConfigEntry
) -> None:
    step = await add(hass, entry)
    assert suggested(step) == {
        CONF_NAME: "AI task",
        CONF_MODEL: "",
        CONF_PROMPT: INSTRUCTIONS,
        CONF_LLM_HASS_API: [],
    }
    result = await submit(
        hass,
        step,
        name=" Painter ",
        model="big-model",
        llm_hass_api=["assist"],
        prompt="",
        image_model=" gpt-image-1 ",
    )

    assert result["type"] is FlowResultType.CREATE_ENTRY
    task = only_task(entry)
    assert task.title == "Painter"
    settings = {
        CONF_MODEL: "big-model",
        CONF_LLM_HASS_API: ["assist"],
        CONF_PROMPT: "",
        "image_model": "gpt-image-1",
    }
    assert task.data == {**settings, "keep_history": False}
    assert task_settings_of(task.data).prompt == INSTRUCTIONS
    registered = er.async_get(hass).async_get("ai_task.painter")
    assert registered is not None
    assert registered.config_subentry_id == task.subentry_id

    step = await change(hass, entry, "advanced")
    assert suggested(step) == ADVANCED
    assert not any(is_open(step, group) for group in ADVANCED)
    await submit(hass, step, answers={"fallbacks": ["conversation.talker"]})
    talker = entry.get_subentries_of_type(SUBENTRY_CONVERSATION)[0]
    assert only_task(entry).data == {
        **settings,
        "fallbacks": [talker.subentry_id],
        **ADVANCED["speed"],
        **LIMITS,
        **STORAGE,
    }


async def test_what_is_changed_holds_from_then_on(
    hass: HomeAssistant, entry: MockConfigEntry
) -> None:
    await submit(hass, await add(hass, entry), model="scripted-model")
    await submit(hass, await change(hass, entry), image_model="imagen-4")
    step = await change(hass, entry)
    assert (suggested(step)[CONF_MODEL], suggested(step)["image_model"]) == (
        "scripted-model",
        "imagen-4",
    )
    step = await change(hass, entry, "advanced")
    waits = ADVANCED["speed"] | {"first_token_timeout": 10}
    result = await submit(hass, step, speed=waits, limits=LIMITS | {"deadline": 20})

    assert (result["type"], result["reason"]) == (
        FlowResultType.ABORT,
        "reconfigure_successful",
    )
    assert (
        entry.runtime_data.tasks[only_task(entry).subentry_id].settings.limits.deadline
        == 20
    )


@in_one_home(
    ("changes", "words"),
    [
        ({"name": " "}, "Settings → Name: Enter a name."),
        ({"model": " "}, "Settings → Model: Select a model, or enter its name."),
        (
            {"prompt": "{{ nonsense"},
            "Settings → Instructions: The instructions are not a valid template: ",
        ),
        ({"budget_month": -1}, "Settings → Monthly budget: -1 is too low, 0 to "),
        (
            {"model": "no-model"},
            "Settings → Model: The server has no model with this name.",
        ),
    ],
)
async def test_what_is_wrong_is_told_and_nothing_typed_is_lost(
    hass: HomeAssistant, entry: MockConfigEntry, changes: dict[str, object], words: str
) -> None:
    step = await submit(
        hass, await add(hass, entry), **{"model": "scripted-model", **changes}
    )

    assert step["type"] is FlowResultType.FORM
    problem = problems_in(step)[0]
    assert problem.startswith(words)
    assert {name: suggested(step)[name] for name in changes} == changes


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        (
            {"answers": {"fallbacks": ["conversation.stranger"]}},
            "Advanced → Answers → Fallback agents: Only Chatterbox agents with a model",
        ),
        (
            {"limits": LIMITS | {"deadline": 1}},
            "Advanced → Limits → Time for an answer: 1 is too low, 5 to 600",
        ),
        (
            {"limits": LIMITS | {"deadline": 60}},
            "Advanced → Speed → Time to the first words: The time to the first words (90 s)",
        ),
    ],
)
async def test_what_is_wrong_in_a_section_is_told_with_its_path(
    hass: HomeAssistant, entry: MockConfigEntry, changes: dict[str, object], words: str
) -> None:
    await submit(hass, await add(hass, entry), model="scripted-model")
    step = await submit(hass, await change(hass, entry, "advanced"), **changes)

    assert step["type"] is FlowResultType.FORM
    (problem,) = problems_in(step)
    assert problem.startswith(words)
    assert {name: suggested(step)[name] for name in changes} == changes


async def test_the_offline_service_has_no_model_for_tasks(hass: HomeAssistant) -> None:
    entry = await set_up(hass, offline_entry())

    assert set(entry.supported_subentry_types) == {SUBENTRY_CONVERSATION}
