"""The dialogs that add and change a conversation agent, in a real Home Assistant, against real servers."""

import re
from collections.abc import Mapping
from typing import Any, ClassVar, override

import pytest
from freezegun.api import FrozenDateTimeFactory
from homeassistant.config_entries import SubentryFlowResult
from homeassistant.const import CONF_LLM_HASS_API, CONF_MODEL, CONF_NAME, CONF_PROMPT
from homeassistant.core import HomeAssistant
from homeassistant.data_entry_flow import FlowResultType, InvalidData
from homeassistant.helpers import llm
from pydantic import JsonValue
from pytest_homeassistant_custom_component.common import MockConfigEntry

from custom_components.chatterbox.const import SUBENTRY_CONVERSATION
from tests.flows.agent_forms import (
    ANSWERS,
    LIMITS,
    SPEED,
    advanced,
    change,
    choose,
    open_menu,
    submit,
)
from tests.support.config_entries import offline_entry, only_agent, server_entry, set_up
from tests.support.llm_apis import StubTool, register
from tests.support.one_home import in_one_home
from tests.support.sentences import sentence
from tests.support.servers.chat_completions import ScriptedChatCompletions
from tests.support.servers.in_process import address_without_server, serving_script
from tests.support.servers.model_server import ModelRequest
from tests.support.servers.script import (
    Script,
    ScriptedAnswer,
    ScriptedFailure,
    ScriptedUsage,
)
from tests.support.service_dialogs import TALKING, display_data, is_open, problems_in

pytestmark = pytest.mark.usefixtures("socket_enabled")
STORAGE = {"keep_history": True, "keep_days": 30, "keep_megabytes": 100}
ERRORS = "config_subentries.conversation.error"


def filled_in(**changes: object) -> dict[str, object]:
    """Return a form for settings that can be saved, with changes."""
    form: dict[str, object] = {
        CONF_NAME: "Butler",
        CONF_MODEL: "scripted-model",
        CONF_LLM_HASS_API: ["assist"],
        CONF_PROMPT: "Be kind to {{ user_name }}.",
    }
    return form | changes


WARM = advanced(answers={**ANSWERS, "temperature": 1})


async def add(hass: HomeAssistant, entry: MockConfigEntry) -> SubentryFlowResult:
    """Begin to add an agent."""
    return await hass.config_entries.subentries.async_init(
        (entry.entry_id, SUBENTRY_CONVERSATION), context={"source": "user"}
    )


def suggested(step: SubentryFlowResult) -> Mapping[str, Any]:
    """Return what a form shows in its fields."""
    return display_data(step["data_schema"])


def text_of_error(step: SubentryFlowResult, place: str) -> str:
    """Return the sentence that is shown at a field or a section, and in the list at the top of the form."""
    errors, placeholders = step["errors"], step["description_placeholders"]
    assert errors is not None
    text = sentence(f"{ERRORS}.{errors[place]}", **(placeholders or {}))
    assert any(
        problem.endswith(": " + " ".join(text.split())) for problem in problems_in(step)
    )
    return text


async def test_an_agent_is_added_with_what_was_set(
    hass: HomeAssistant, entry: MockConfigEntry
) -> None:
    step = await add(hass, entry)
    assert suggested(step)[CONF_NAME] == "Chatterbox"
    assert suggested(step)[CONF_LLM_HASS_API] == ["assist"]
    assert suggested(step)[CONF_PROMPT] == llm.DEFAULT_INSTRUCTIONS_PROMPT
    assert suggested(step)["remember_facts"] is False
    assert "budget_month" not in suggested(step)
    result = await submit(hass, step, filled_in(name=" Butler ", model="big-model"))

    assert result["type"] is FlowResultType.CREATE_ENTRY
    agent = list(entry.subentries.values())[-1]
    assert agent.title == "Butler"
    assert agent.data == {
        CONF_MODEL: "big-model",
        CONF_LLM_HASS_API: ["assist"],
        CONF_PROMPT: "Be kind to {{ user_name }}.",
    }
    assert hass.states.get("conversation.butler")


async def test_everything_else_has_a_default_and_is_changed_in_a_form_of_its_own(
    hass: HomeAssistant, address: str
) -> None:
    entry = await set_up(
        hass, server_entry(address, of_a_later_version=7, local_commands="first")
    )
    step = await change(hass, entry, "advanced")
    assert suggested(step) == {
        "answers": {
            "fallbacks": [],
            "local_commands": "first",
            "model_requests": ["weather", "media", "lists", "people"],
            "confirmation": "result",
        },
        "speed": {
            "read_ahead": True,
            "compact_home": True,
            "most_listed": 500,
            "filler_after": 4.0,
            "connect_timeout": 5,
            "first_token_timeout": 20,
            "between_tokens_timeout": 30,
        },
        "limits": {
            "deadline": 60,
            "tool_timeout": 30,
            "max_iterations": 10,
            "max_tool_calls": 32,
            "max_characters": 200_000,
            "when_spent": "hand_over",
        },
        "long_conversations": {
            "history_tokens": 12_000,
            "summary": "list",
            "continue_minutes": 0,
        },
        "storage": STORAGE,
        "automation": {},
    }
    assert not any(is_open(step, group) for group in suggested(step))
    before = only_agent(entry)
    result = await submit(hass, step, advanced())

    assert result["reason"] == "reconfigure_successful"
    assert only_agent(entry).title == before.title
    assert only_agent(entry).data == {**before.data, **ANSWERS, **SPEED, **LIMITS}


SLOW_DOWN = ScriptedFailure(status=429, body={"error": "slow down"})


async def test_the_only_model_is_chosen_already_and_still_tried(
    hass: HomeAssistant,
) -> None:
    only = Script(
        models=("scripted-model",), trial_answer=SLOW_DOWN, tool_trial_answer=None
    )
    async with serving_script(only) as address:
        entry = await set_up(hass, server_entry(address))
        step = await add(hass, entry)
        assert suggested(step)[CONF_MODEL] == "scripted-model"
        step = await submit(hass, step, filled_in())

    texts = (
        sentence(f"{ERRORS}.provider_busy"),
        sentence(f"{ERRORS}.service_said", words="slow down"),
    )
    assert problems_in(step) == [f"Agent → Model: {text}" for text in texts]


@in_one_home(
    ("form", "typed", "path"),
    [
        ("settings", filled_in(model="big-model"), "Agent → Model"),
        ("advanced", WARM, "Advanced → Answers"),
    ],
    puts_back=True,
)
async def test_a_server_that_fails_is_quoted_at_a_part_of_the_form(
    hass: HomeAssistant, form: str, typed: dict[str, object], path: str
) -> None:
    trouble = ScriptedFailure(
        status=500, body={"error": {"message": "CUDA error: out of memory"}}
    )
    failing = TALKING.model_copy(
        update={"trial_answer": trouble, "tool_trial_answer": None}
    )
    async with serving_script(failing) as address:
        entry = await set_up(hass, server_entry(address))
        step = await submit(hass, await change(hass, entry, form), typed)

    quoted = sentence(f"{ERRORS}.service_said", words="CUDA error: out of memory")
    assert problems_in(step) == [
        f"{path}: {sentence(f'{ERRORS}.server_out_of_memory')}",
        f"{path}: {quoted}",
    ]


async def test_the_help_of_the_tools_names_the_source_of_home_assistant_as_the_list_does(
    hass: HomeAssistant, entry: MockConfigEntry
) -> None:
    step = await change(hass, entry)

    assert step["data_schema"] is not None
    sources = step["data_schema"].schema[CONF_LLM_HASS_API].config["options"]
    named = next(
        source["label"] for source in sources if source["value"] == llm.LLM_API_ASSIST
    )
    assert (step["description_placeholders"] or {})["assist"] == named


async def test_what_the_form_does_not_hold_is_kept(
    hass: HomeAssistant, address: str
) -> None:
    entry = await set_up(
        hass, server_entry(address, of_a_later_version=7, keep_alive=5)
    )
    await submit(hass, await change(hass, entry, "advanced"), advanced())
    await submit(hass, await change(hass, entry), filled_in())

    data = only_agent(entry).data
    assert data["deadline"] == LIMITS["deadline"], "the other form has it"
    assert data["of_a_later_version"] == 7
    assert "keep_alive" not in data, "it belongs to another kind of service"


async def test_an_agent_is_changed(hass: HomeAssistant, entry: MockConfigEntry) -> None:
    step = await change(hass, entry)
    assert suggested(step)[CONF_NAME] == "Talker"
    assert suggested(step)[CONF_MODEL] == "scripted-model"
    result = await submit(
        hass, step, filled_in(model="big-model", llm_hass_api=[], prompt="")
    )

    assert result["reason"] == "reconfigure_successful"
    assert only_agent(entry).title == "Butler"
    assert only_agent(entry).data == {
        CONF_MODEL: "big-model",
        CONF_LLM_HASS_API: [],
        CONF_PROMPT: "",
        "local_commands": "never",
    }


async def test_scripts_are_chosen_shown_and_taken_out_again(
    hass: HomeAssistant, address: str
) -> None:
    scripts = {
        "user_prompt_submit": "script.words",
        "pre_tool_use": "script.guard",
        "post_tool_use": "script.results",
        "pre_speech": "script.censor",
    }
    entry = await set_up(hass, server_entry(address))
    await submit(
        hass, await change(hass, entry, "advanced"), advanced(automation=scripts)
    )
    assert only_agent(entry).data.items() >= scripts.items()
    step = await change(hass, entry, "advanced")
    assert suggested(step)["automation"] == scripts
    with pytest.raises(InvalidData):
        await submit(hass, step, advanced(automation={"pre_tool_use": "light.kitchen"}))
    await submit(hass, step, advanced(automation={"pre_tool_use": "script.guard"}))

    assert scripts.items() & only_agent(entry).data.items() == {
        ("pre_tool_use", "script.guard")
    }


@in_one_home("offered", [["assist", "vanished"], ["assist"]], puts_back=True)
async def test_an_llm_api_that_is_not_there_is_kept_until_it_is_taken_out(
    hass: HomeAssistant, address: str, offered: list[str]
) -> None:
    entry = await set_up(
        hass, server_entry(address, llm_hass_api=["assist", "vanished"])
    )
    step = await change(hass, entry)
    await submit(hass, step, filled_in(llm_hass_api=offered))

    assert suggested(step)[CONF_LLM_HASS_API] == ["assist", "vanished"]
    assert step["data_schema"] is not None
    options = step["data_schema"].schema[CONF_LLM_HASS_API].config["options"]
    assert {"value": "vanished", "label": "vanished (currently unavailable)"} in options
    assert only_agent(entry).data[CONF_LLM_HASS_API] == offered


async def test_a_source_of_tools_for_administrators_is_shown_as_that(
    hass: HomeAssistant, address: str
) -> None:
    register(hass, "tower", StubTool(name="look"), name="Tower", requires_admin=True)
    step = await change(hass, await set_up(hass, server_entry(address)))

    assert step["data_schema"] is not None
    options = step["data_schema"].schema[CONF_LLM_HASS_API].config["options"]
    assert {"value": "tower", "label": "Tower (only for administrators)"} in options


async def test_a_choice_that_only_another_version_knows_is_not_shown(
    hass: HomeAssistant, address: str
) -> None:
    entry = await set_up(
        hass, server_entry(address, confirmation="sung", reasoning_effort="heroic")
    )
    step = await change(hass, entry, "advanced")

    assert suggested(step)["answers"]["confirmation"] == "result"
    assert "reasoning_effort" not in suggested(step)["speed"]


async def test_instructions_that_are_no_template_are_refused_and_kept(
    hass: HomeAssistant, entry: MockConfigEntry
) -> None:
    step = await submit(
        hass, await change(hass, entry), filled_in(prompt="Hello {{ user_name")
    )

    assert text_of_error(step, CONF_PROMPT).startswith(
        "The instructions are not a valid template: "
    )
    assert "end of template" in text_of_error(step, CONF_PROMPT)
    assert suggested(step)[CONF_PROMPT] == "Hello {{ user_name"


@in_one_home(
    ("trial_answer", "error"),
    [
        (
            ScriptedFailure(status=404, body={"error": "the model is not here"}),
            "model_not_found",
        ),
        (
            ScriptedFailure(status=400, body={"error": "this is for embeddings"}),
            "provider_rejected_request",
        ),
    ],
    puts_back=True,
)
async def test_another_model_is_tried_before_it_is_taken(
    hass: HomeAssistant, trial_answer: ScriptedFailure, error: str
) -> None:
    failing = TALKING.model_copy(
        update={"trial_answer": trial_answer, "tool_trial_answer": None}
    )
    async with serving_script(failing) as address:
        entry = await set_up(hass, server_entry(address))
        step = await submit(
            hass, await change(hass, entry), filled_in(model="big-model")
        )

    assert text_of_error(step, CONF_MODEL) == sentence(f"{ERRORS}.{error}")
    assert suggested(step)[CONF_MODEL] == "big-model"
    assert only_agent(entry).data[CONF_MODEL] == "scripted-model"


def usage(prompt_tokens: int) -> ScriptedAnswer:
    """Return an answer in words to a prompt of so many tokens."""
    return ScriptedAnswer(
        content="Hello!",
        usage=ScriptedUsage(prompt_tokens=prompt_tokens, completion_tokens=2),
    )


@in_one_home(
    ("tool_trial", "warning"),
    [
        (usage(40), "trial_drops_tools"),
        (usage(140), "trial_talked"),
        (
            ScriptedFailure(
                status=400, body={"error": "requires --enable-auto-tool-choice"}
            ),
            "trial_refused_vllm",
        ),
    ],
    puts_back=True,
)
async def test_another_model_that_cannot_use_tools_is_warned_of_once(
    hass: HomeAssistant, tool_trial: ScriptedAnswer | ScriptedFailure, warning: str
) -> None:
    script = {
        "tool_trial_answer": tool_trial,
        "trial_answer": usage(40),
        "answers": (usage(40),),
        "context_window": 32_768,
    }
    talks = TALKING.model_copy(update=script | {"after_last": "start again"})
    async with serving_script(talks) as address:
        entry = await set_up(hass, server_entry(address))
        step = await submit(
            hass, await change(hass, entry), filled_in(model="big-model")
        )
        text = sentence(f"common.{warning}", model="big-model")
        assert text_of_error(step, CONF_MODEL) == sentence(
            f"{ERRORS}.model_warning", warning=text
        )
        assert only_agent(entry).data[CONF_MODEL] == "scripted-model"
        result = await submit(hass, step, filled_in(model="big-model"))

    assert result["reason"] == "reconfigure_successful"
    assert only_agent(entry).data[CONF_MODEL] == "big-model"


@in_one_home("is_other", [True, False], puts_back=True)
async def test_a_window_that_is_small_for_the_home_is_told_once(
    hass: HomeAssistant,
    is_other: bool,  # noqa: FBT001  # a case
) -> None:
    small = TALKING.model_copy(update={"context_window": 700 if is_other else None})
    async with serving_script(small) as address:
        entry = await set_up(hass, server_entry(address, prompt="Be brief. " * 500))
        step_id = "settings" if is_other else "advanced"
        form = (
            filled_in(model="big-model")
            if is_other
            else advanced(long_conversations={"context_window": 2_048})
        )
        step = await submit(hass, await change(hass, entry, step_id), form)
        (problem,) = problems_in(step)
        assert f"reads at most {700 if is_other else 2048} tokens" in problem
        assert only_agent(entry).data[CONF_MODEL] == "scripted-model"
        assert "context_window" not in only_agent(entry).data
        result = await submit(hass, step, form)

    assert result["reason"] == "reconfigure_successful"


async def test_a_model_that_is_to_talk_only_is_not_asked_to_use_a_tool(
    hass: HomeAssistant,
) -> None:
    talks = TALKING.model_copy(update={"tool_trial_answer": usage(40)})
    async with serving_script(talks) as address:
        entry = await set_up(hass, server_entry(address))
        result = await submit(
            hass,
            await change(hass, entry),
            filled_in(model="big-model", llm_hass_api=[]),
        )

    assert result["reason"] == "reconfigure_successful"


class Slow(ScriptedChatCompletions):
    """A server that takes 6 seconds to act, and 20 to read a sample."""

    freezer: ClassVar[FrozenDateTimeFactory]

    @override
    def answer_to(
        self, body: dict[str, JsonValue], model_request: ModelRequest
    ) -> ScriptedAnswer | ScriptedFailure | None:
        self.freezer.tick(6 if model_request.tries_tool else 20)
        return super().answer_to(body, model_request)


async def test_another_model_is_measured_and_the_figures_are_shown(
    hass: HomeAssistant, freezer: FrozenDateTimeFactory
) -> None:
    Slow.freezer = freezer
    async with serving_script(TALKING, Slow) as address:
        known = server_entry(
            address,
            server="llama_cpp",
            first_answer=400,
            later_answer=7,
            read_ahead=False,
        )
        entry = await set_up(hass, known)
        before = await open_menu(hass, entry)
        await submit(hass, await choose(hass, before, "settings"), filled_in())
        assert only_agent(entry).data["first_answer"] == 400, "the same model"
        await submit(hass, await change(hass, entry), filled_in(model="big-model"))
        after = await open_menu(hass, entry)
        await submit(
            hass,
            await change(hass, entry),
            filled_in(model="scripted-model", llm_hass_api=[]),
        )

    times = sentence("common.answer_times", first="400", later="7")
    assert (before["description_placeholders"] or {})["times"] == f"{times}\n\n"
    text = (after["description_placeholders"] or {})["times"]
    found = re.search(r"about (\d+) s .* 6 s", text)
    assert found
    assert int(found[1]) > 6 + 20, "the prompt of a home is longer than the sample"
    assert "first_answer" not in only_agent(entry).data, (
        "nothing is known of a model that was not measured"
    )


async def test_all_but_the_model_can_be_changed_while_the_server_is_away(
    hass: HomeAssistant,
) -> None:
    async with serving_script(TALKING) as address:
        entry = await set_up(hass, server_entry(address))
    step = await change(hass, entry)
    refused = await submit(hass, step, filled_in(model="big-model"))
    assert text_of_error(refused, CONF_MODEL) == sentence(
        f"{ERRORS}.provider_unreachable"
    )
    result = await submit(hass, step, filled_in())

    assert result["reason"] == "reconfigure_successful"
    assert only_agent(entry).title == "Butler"


async def test_no_agent_of_a_service_that_does_not_run_is_added_or_changed(
    hass: HomeAssistant,
) -> None:
    entry = await set_up(hass, server_entry(address_without_server(), llm_hass_api=[]))

    result = await add(hass, entry)

    assert result["type"] is FlowResultType.ABORT
    assert result["reason"] == "entry_not_loaded"
    assert (await open_menu(hass, entry))["reason"] == "entry_not_loaded"


async def test_an_offline_agent_is_added_by_its_name(hass: HomeAssistant) -> None:
    entry = await set_up(hass, offline_entry())
    step = await add(hass, entry)
    assert suggested(step) == {CONF_NAME: "Chatterbox"}
    result = await submit(hass, step, {CONF_NAME: "Second"})

    assert result["type"] is FlowResultType.CREATE_ENTRY
    assert hass.states.get("conversation.second")


async def test_an_offline_agent_is_renamed_and_stores_no_history(
    hass: HomeAssistant,
) -> None:
    entry = await set_up(hass, offline_entry())
    step = await change(hass, entry)
    refused = await submit(hass, step, {CONF_NAME: "  "})
    assert problems_in(refused) == ["Agent → Name: Enter a name."]
    await submit(hass, refused, {CONF_NAME: "Renamed"})

    step = await change(hass, entry, "advanced")
    assert suggested(step) == {
        "long_conversations": {"continue_minutes": 0},
        "storage": STORAGE,
    }
    refused = await submit(
        hass,
        step,
        {"long_conversations": {}, "storage": {"keep_history": False, "keep_days": -1}},
    )
    assert problems_in(refused) == [
        "Advanced → Storage → Keep for: -1 is too low, 0 to 3650"
    ]
    assert text_of_error(refused, "storage") == "-1 is too low, 0 to 3650"
    stored = {"keep_history": False, "keep_days": 7}
    result = await submit(hass, refused, {"long_conversations": {}, "storage": stored})

    assert result["reason"] == "reconfigure_successful"
    assert only_agent(entry).title == "Renamed"
    assert only_agent(entry).data == stored
