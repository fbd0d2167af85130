"""From "Add integration" to an agent that assistants use: what is found, tried, asked and said."""

import errno
from contextlib import AsyncExitStack
from typing import Any, Final, override

import pytest
from freezegun.api import FrozenDateTimeFactory
from homeassistant.components.homeassistant.exposed_entities import async_expose_entity
from homeassistant.config_entries import ConfigFlowResult
from homeassistant.const import CONF_MODEL, CONF_NAME
from homeassistant.core import HomeAssistant
from homeassistant.data_entry_flow import FlowResultType
from homeassistant.helpers.storage import Store
from homeassistant.setup import async_setup_component
from pydantic import JsonValue

from custom_components.chatterbox.approvals.examples import async_example_requests
from custom_components.chatterbox.const import (
    CONF_BASE_URL,
    CONF_KIND,
    CONF_PIN,
    CONF_SERVER,
    SUBENTRY_AI_TASK,
    SUBENTRY_CONVERSATION,
)
from custom_components.chatterbox.settings.agent import settings_of
from custom_components.chatterbox.settings.rules import Verdict, async_get_home_rules
from tests.flows.first_agent.nearby_servers import LLAMA, nearby, try_it
from tests.support.config_entries import only_agent, prepare, server_entry, set_up
from tests.support.one_home import in_one_home
from tests.support.sentences import sentence
from tests.support.servers.chat_completions import ScriptedChatCompletions
from tests.support.servers.dialects import ScriptedOllama
from tests.support.servers.in_process import always, serving, serving_script
from tests.support.servers.model_server import ModelRequest
from tests.support.servers.script import (
    Script,
    ScriptedAnswer,
    ScriptedFailure,
    ScriptedUsage,
)
from tests.support.service_dialogs import (
    TALKING,
    add,
    choose,
    choose_offline,
    connect,
    connect_internet,
    display_data,
    models_in,
    open_dialog,
    submit,
    suggested,
)
from tests.support.talk import AGENT

pytestmark = pytest.mark.usefixtures("socket_enabled")
ONLY_TALKS = ScriptedAnswer(content="I have turned on the kitchen light. " * 30)


def sentences_in(result: ConfigFlowResult) -> list[str]:
    """Return the sentences that one could try."""
    return [
        line.removeprefix("- ")
        for line in (result["description_placeholders"] or {})["requests"].split("\n")
    ]


def labels(step: ConfigFlowResult) -> list[str]:
    """Return what a menu offers."""
    options = step["menu_options"]
    assert isinstance(options, dict)
    return [*options.values()]


def places(step: ConfigFlowResult) -> list[str]:
    """Return what stands below the models that a menu offers."""
    key = "config.step.in_my_home.menu_option_descriptions"
    options = step["menu_options"]
    assert isinstance(options, dict)
    return [
        sentence(f"{key}.{option}", **(step["description_placeholders"] or {}))
        for option in [*options][:-1]
    ]


async def door_and_lamp(hass: HomeAssistant) -> None:
    """Set up a home in which something is asked about."""
    await prepare(hass)
    for entity_id, name in (("lock.door", "Front Door"), ("light.lamp", "Lamp")):
        hass.states.async_set(entity_id, "off", {"friendly_name": name})
        async_expose_entity(hass, "conversation", entity_id, should_expose=True)
    for domain, services in {
        "lock": ("lock", "unlock"),
        "light": ("turn_on", "turn_off"),
    }.items():
        for service in services:
            hass.services.async_register(domain, service, lambda _call: None)


async def assistants(hass: HomeAssistant) -> Any:
    """Return the store of Home Assistant's assistants."""
    await prepare(hass)
    assert await async_setup_component(hass, "assist_pipeline", {})
    return hass.data["assist_pipeline"].pipeline_store


async def test_a_server_that_is_found_is_added_with_one_of_its_models(
    hass: HomeAssistant,
) -> None:
    async with nearby(hass, LLAMA) as (address, step):
        place = address.removeprefix("http://")
        assert labels(step) == ["llama-8b", "Another address"]
        assert places(step) == [f"llama.cpp on {place}"]
        last = await choose(hass, step, "found_0")
        result = await submit(hass, last, **suggested(last))

    assert last["step_id"] == "first_agent"
    assert "uses tools" in (last["description_placeholders"] or {})["trial"]
    assert result["title"] == f"llama.cpp on {place}"
    assert result["data"] == {
        CONF_KIND: "openai_chat",
        CONF_SERVER: "llama_cpp",
        CONF_BASE_URL: address,
    }
    assert only_agent(result["result"]).data[CONF_MODEL] == "llama-8b"
    assert hass.states.get("conversation.chatterbox")


async def test_an_agent_waits_long_enough_for_a_slow_model(
    hass: HomeAssistant, freezer: FrozenDateTimeFactory
) -> None:
    class Slow(ScriptedChatCompletions):
        @override
        def answer_to(
            self, body: dict[str, JsonValue], model_request: ModelRequest
        ) -> ScriptedAnswer | ScriptedFailure | None:
            freezer.tick(25)
            return super().answer_to(body, model_request)

    async with serving_script(TALKING, Slow) as address:
        last = await submit(hass, await connect(hass, address), model="big-model")
        result = await submit(hass, last, **suggested(last), ai_task=True)

    message = (last["description_placeholders"] or {})["trial"]
    assert message == sentence("common.trial_slow", seconds="25")
    agent = settings_of(only_agent(result["result"]).data)
    assert (agent.first_token_timeout, agent.limits.deadline) == (50, 150)
    (task,) = result["result"].get_subentries_of_type(SUBENTRY_AI_TASK)
    assert "first_token_timeout" not in task.data, "a task waits that long already"


async def test_of_many_models_the_first_are_offered_and_the_others_are_behind_one_choice(
    hass: HomeAssistant,
) -> None:
    many = Script(models=tuple(f"model-{number}" for number in range(6)), owner="vllm")
    async with nearby(hass, many) as (_, step):
        assert len(labels(step)) == 6
        assert labels(step)[4] == "All 6 models"
        form = await choose(hass, step, "found_4")

    assert models_in(form) == list(many.models)
    assert suggested(form) == {}


async def test_a_server_without_a_model_says_so(hass: HomeAssistant) -> None:
    async with nearby(hass, Script(models=()), ScriptedOllama) as (address, step):
        assert labels(step)[0] == "No model downloaded yet"
        assert places(step) == [f"Ollama on {address.removeprefix('http://')}"]
        form = await choose(hass, step, "found_0")

    assert form["step_id"] == "model"
    assert models_in(form) is None


async def test_models_of_ollama_that_only_talk_come_last(hass: HomeAssistant) -> None:
    script = Script(
        models=("alpha-no-tools", "beta"), without_tools=("alpha-no-tools",)
    )
    async with nearby(hass, script, ScriptedOllama) as (_, step):
        assert labels(step)[:2] == ["beta", "alpha-no-tools (only talks)"]


async def test_each_of_many_servers_offers_fewer_models(hass: HomeAssistant) -> None:
    many = Script(models=tuple(f"model-{number}" for number in range(6)), owner="vllm")
    async with AsyncExitStack() as stack:
        servers = [
            await stack.enter_async_context(serving_script(many)) for _ in range(4)
        ]
        step = await choose(hass, await open_dialog(hass, *servers), "in_my_home")

    assert labels(step) == [
        *["model-0", "model-1", "All 6 models"] * 4,
        "Another address",
    ]
    assert places(step) == [
        f"vLLM on {address.removesuffix('/v1').removeprefix('http://')}"
        for address in servers
        for _ in range(3)
    ]


async def test_where_nothing_answers_the_address_is_asked_for(
    hass: HomeAssistant,
) -> None:
    async with (
        serving(always(200, "<html>Hello</html>", "text/html")) as address,
        serving(always(302, "")) as other,
    ):
        servers = [one.removesuffix("/v1") for one in (address, other)]
        step = await choose(
            hass, await open_dialog(hass, *servers, "http://127.0.0.1:9"), "in_my_home"
        )

    assert step["step_id"] == "own_server"


def page_text(step: ConfigFlowResult) -> str:
    """Return what stands above a form or a menu."""
    form = sentence(
        f"config.step.{step['step_id']}.description",
        **(step["description_placeholders"] or {}),
    )
    return form.replace("\\", "")


def _refusing(words: str) -> ScriptedFailure:
    return ScriptedFailure(status=400, body={"error": words})


@in_one_home("path", ["/v1", "", "/v1/"], puts_back=True)
async def test_a_server_that_is_set_up_is_named_and_not_offered_again(
    hass: HomeAssistant, path: str
) -> None:
    async with serving_script(LLAMA) as address:
        place = address.removesuffix("/v1")
        renamed = place.replace("127.0.0.1", "localhost")
        entry = await set_up(
            hass, server_entry(f"{renamed}{path}", api_key="of-another-day")
        )
        hass.config_entries.async_update_entry(entry, title="The box")
        step = await choose(hass, await open_dialog(hass, place), "in_my_home")

    assert step["step_id"] == "own_server"
    assert page_text(step).startswith(
        f"Already set up: **llama.cpp on {place.removeprefix('http://')} (The box)**."
    )


async def test_what_is_set_up_is_named_beside_what_is_offered(
    hass: HomeAssistant,
) -> None:
    async with serving_script(LLAMA) as known, serving_script(LLAMA) as other:
        await set_up(hass, server_entry(known))
        servers = [one.removesuffix("/v1") for one in (known, other)]
        step = await choose(hass, await open_dialog(hass, *servers), "in_my_home")

    assert labels(step) == ["llama-8b", "Another address"]
    assert page_text(step).startswith("Already set up: **llama.cpp on")
    assert "Already set up" not in page_text(
        await choose(hass, await open_dialog(hass), "in_my_home")
    )


@in_one_home(
    ("answer", "warning"),
    [
        (ONLY_TALKS, "big-model talked about turning on the light"),
        (
            ScriptedAnswer(content="Done."),
            "big-model talked about turning on the light",
        ),
        (
            _refusing("this model does not support tools"),
            "Choose a model that can use tools",
        ),
        (
            _refusing('"auto" tool choice requires --enable-auto-tool-choice'),
            "`--enable-auto-tool-choice`",
        ),
        (_refusing("tools param requires --jinja flag"), "`--jinja`"),
    ],
    puts_back=True,
)
async def test_a_model_that_only_talks_is_warned_of_and_can_be_used(
    hass: HomeAssistant, answer: ScriptedAnswer | ScriptedFailure, warning: str
) -> None:
    script = {
        "tool_trial_answer": answer,
        "answers": (ONLY_TALKS,),
        "after_last": "start again",
    }
    async with serving_script(TALKING.model_copy(update=script)) as address:
        step = await submit(hass, await connect(hass, address), model="big-model")
        assert step["step_id"] == "no_tools"
        assert warning in str((step["description_placeholders"] or {})["trial"])
        again = await choose(hass, step, "model")
        assert suggested(again) == {CONF_MODEL: "big-model"}
        step = await choose(
            hass, await submit(hass, again, model="big-model"), "first_agent"
        )
        result = await submit(hass, step, **suggested(step))

    assert result["type"] is FlowResultType.CREATE_ENTRY


OVERFLOW: Final[dict[str, JsonValue]] = {
    "code": 400,
    "type": "exceed_context_size_error",
    "message": "the request exceeds the available context size, try increasing it",
}
READ_IN_PART: Final = ScriptedAnswer(
    content="Hello!", usage=ScriptedUsage(prompt_tokens=40, completion_tokens=1)
)


@pytest.mark.parametrize(
    ("script", "prompt", "window"),
    [
        ({"context_window": 500}, None, "500"),
        (
            {
                "trial_answer": ScriptedFailure(
                    status=400,
                    body={"error": OVERFLOW | {"n_prompt_tokens": 777, "n_ctx": 512}},
                )
            },
            "777",
            "512",
        ),
        (
            {"trial_answer": ScriptedFailure(status=400, body={"error": OVERFLOW})},
            None,
            "< ",
        ),
        ({"trial_answer": READ_IN_PART}, None, "40"),
        ({"context_window": 500, "tool_trial_answer": ONLY_TALKS}, None, "500"),
    ],
)
async def test_a_window_that_is_small_for_the_home_is_told_before_anything_is_saved(
    hass: HomeAssistant, script: dict[str, Any], prompt: str | None, window: str
) -> None:
    talks = "tool_trial_answer" in script
    async with serving_script(TALKING.model_copy(update=script)) as address:
        step = await submit(hass, await connect(hass, address), model="big-model")
        assert step["step_id"] == "small_window"
        assert not hass.config_entries.async_entries("chatterbox")
        warning = str((step["description_placeholders"] or {})["trial"])
        assert f"big-model reads at most {window}" in warning
        if prompt:
            assert f"about {prompt} of them" in warning
        again = await choose(hass, step, "model")
        assert suggested(again) == {CONF_MODEL: "big-model"}
        step = await submit(hass, again, model="big-model")
        for option in ("no_tools", "first_agent") if talks else ("first_agent",):
            step = await choose(hass, step, option)
        result = await submit(hass, step, **suggested(step))

    assert result["type"] is FlowResultType.CREATE_ENTRY


@in_one_home(
    "script",
    [
        {"context_window": 32_768},
        {"context_window": 32_768, "trial_answer": READ_IN_PART},
        {},
        {"trial_answer": ScriptedFailure(status=503)},
    ],
    puts_back=True,
)
async def test_nothing_is_said_of_a_window_with_room_or_one_that_nobody_knows(
    hass: HomeAssistant, script: dict[str, Any]
) -> None:
    async with serving_script(TALKING.model_copy(update=script)) as address:
        step = await submit(hass, await connect(hass, address), model="big-model")
    assert step["step_id"] == "first_agent"


async def test_a_service_that_refuses_is_quoted(hass: HomeAssistant) -> None:
    trouble = ScriptedFailure(
        status=500, body={"error": {"message": "CUDA error: out of memory"}}
    )
    async with serving_script(
        TALKING.model_copy(update={"tool_trial_answer": trouble})
    ) as address:
        step = await submit(hass, await connect(hass, address), model="big-model")

    assert step["step_id"] == "model"
    assert step["errors"] == {
        CONF_MODEL: "server_out_of_memory",
        "base": "service_said",
    }
    assert (step["description_placeholders"] or {})[
        "words"
    ] == "CUDA error: out of memory"


async def test_known_prices_stand_beside_the_models(hass: HomeAssistant) -> None:
    script = Script(
        models=("gpt-4o-mini", "text-embedding-3-small", "unheard-of"),
        api_key="any-key",
    )
    async with serving_script(script) as address:
        step = await connect_internet(hass, "openai", address, "any-key")
        assert models_in(step) == ["gpt-4o-mini", "unheard-of"]


async def test_the_agent_is_used_where_one_says_and_local_handling_is_off_there(
    hass: HomeAssistant,
) -> None:
    store = await assistants(hass)
    (usual,) = store.data
    await store.async_update_item(
        usual, {**without_id(store.data[usual]), "prefer_local_intents": True}
    )
    step = await choose_offline(hass)
    assert suggested(step) == {CONF_NAME: "Chatterbox", "use_in": [usual]}
    result = await submit(hass, step, name=" Butler ", use_in=[usual, "new"])

    assert only_agent(result["result"]).title == "Butler"
    assert [
        (one.name, one.conversation_engine, one.prefer_local_intents)
        for one in store.data.values()
    ] == [
        ("Home Assistant", "conversation.butler", False),
        ("Butler", "conversation.butler", False),
    ]


async def test_an_assistant_that_is_not_chosen_stays_as_it_is(
    hass: HomeAssistant,
) -> None:
    store = await assistants(hass)
    (usual,) = store.data
    step = await choose_offline(hass)
    await submit(hass, step, name="Butler", use_in=[])

    assert store.data[usual].conversation_engine == "conversation.home_assistant"


async def test_an_assistant_that_was_removed_meanwhile_is_passed_over(
    hass: HomeAssistant,
) -> None:
    store = await assistants(hass)
    (usual,) = store.data
    other = await store.async_create_item(
        {**without_id(store.data[usual]), "name": "Other"}
    )
    step = await choose_offline(hass)
    await store.async_delete_item(other.id)
    result = await submit(hass, step, name="Butler", use_in=[other.id])

    assert result["type"] is FlowResultType.CREATE_ENTRY


async def test_the_end_names_the_assistant_to_choose(hass: HomeAssistant) -> None:
    """The frontend opens the assistant that was used last, whatever the address says."""
    store = await assistants(hass)
    (usual,) = store.data
    result = await submit(
        hass, await choose_offline(hass), name="Butler", use_in=[usual]
    )
    assert try_it(result) == "[Try it now](/?conversation=1)", "there is no other"
    await hass.config_entries.async_remove(result["result"].entry_id)

    other = await store.async_create_item(
        {**without_id(store.data[usual]), "name": "Kitchen"}
    )
    result = await submit(
        hass, await choose_offline(hass), name="Butler", use_in=[other.id]
    )
    assert (
        try_it(result)
        == "[Try it now](/?conversation=1) and choose **Kitchen** at the top."
    )
    await hass.config_entries.async_remove(result["result"].entry_id)

    result = await submit(
        hass, await choose_offline(hass), name="Butler", use_in=["new"]
    )
    assert try_it(result).endswith("choose **Butler** at the top.")
    await hass.config_entries.async_remove(result["result"].entry_id)

    result = await submit(hass, await choose_offline(hass), name="Butler", use_in=[])
    assert "Try it now" not in try_it(result), (
        "it would open an assistant that does not use the agent"
    )


async def test_a_further_agent_ends_with_the_assistants_and_sentences_to_try(
    hass: HomeAssistant, address: str
) -> None:
    store = await assistants(hass)
    (usual,) = store.data
    other = await store.async_create_item(
        {**without_id(store.data[usual]), "name": "Kitchen"}
    )
    await door_and_lamp(hass)
    entry = await set_up(hass, server_entry(address))
    await store.async_update_item(
        usual, without_id(store.data[usual]) | {"conversation_engine": AGENT}
    )
    flows = hass.config_entries.subentries
    step = await flows.async_init(
        (entry.entry_id, SUBENTRY_CONVERSATION), context={"source": "user"}
    )
    form = {
        **display_data(step["data_schema"]),
        CONF_NAME: "Butler",
        CONF_MODEL: "big-model",
    }
    last = await flows.async_configure(step["flow_id"], form)
    placeholders = last["description_placeholders"] or {}
    assert last["step_id"] == "assistants"
    assert placeholders["asked"].endswith("**Front Door**.")
    assert last["data_schema"] is not None
    options = last["data_schema"].schema["use_in"].config["options"]
    assert [one["label"] for one in options][:2] == [
        "Home Assistant (takes it over from Talker)",
        "Kitchen",
    ]
    assert display_data(last["data_schema"]) == {"use_in": ["new"]}, (
        "another agent of ours serves the preferred one"
    )

    result = await flows.async_configure(last["flow_id"], {"use_in": [other.id]})
    await hass.async_block_till_done()

    assert (result["type"], result["title"], result["description"]) == (
        FlowResultType.CREATE_ENTRY,
        "Butler",
        "ready",
    )
    assert (
        "What can I cook with eggs and potatoes"
        in (result["description_placeholders"] or {})["requests"]
    )
    assert try_it(result).endswith("choose **Kitchen** at the top.")
    engines = {one.name: one.conversation_engine for one in store.data.values()}
    assert engines == {"Home Assistant": AGENT, "Kitchen": "conversation.butler"}
    assert hass.states.get("conversation.butler")


async def test_each_further_agent_is_suggested_another_name_and_an_assistant(
    hass: HomeAssistant, address: str
) -> None:
    await assistants(hass)
    entry = await set_up(hass, server_entry(address))
    flows = hass.config_entries.subentries
    names: list[str] = []
    for _ in range(3):
        step = await flows.async_init(
            (entry.entry_id, SUBENTRY_CONVERSATION), context={"source": "user"}
        )
        form = {**display_data(step["data_schema"]), CONF_MODEL: "big-model"}
        names.append(form[CONF_NAME])
        last = await flows.async_configure(step["flow_id"], form)
        await flows.async_configure(last["flow_id"], display_data(last["data_schema"]))
        await hass.async_block_till_done()
    assert names == ["Chatterbox", "Chatterbox 2", "Chatterbox 3"]
    store = await assistants(hass)
    engines = {one.name: one.conversation_engine for one in store.data.values()}
    assert engines == {
        "Home Assistant": "conversation.chatterbox",
        "Chatterbox 2": "conversation.chatterbox_2",
        "Chatterbox 3": "conversation.chatterbox_3",
    }


async def test_what_is_asked_about_is_named_and_can_need_a_pin(
    hass: HomeAssistant,
) -> None:
    await door_and_lamp(hass)
    templated = {
        "sequence": [
            {"action": "{{ 'lock.unlock' }}", "target": {"entity_id": "lock.door"}}
        ]
    }
    assert await async_setup_component(hass, "script", {"script": {"party": templated}})
    async_expose_entity(hass, "conversation", "script.party", should_expose=True)
    step = await choose_offline(hass)
    assert (step["description_placeholders"] or {})["asked"].endswith(
        "**Front Door**, **party**."
    )
    refused = await submit(hass, step, name=" ", pin="12")
    assert refused["errors"] == {CONF_NAME: "name_missing", CONF_PIN: "pin_too_short"}
    result = await submit(
        hass,
        refused,
        name="Butler",
        pin="83 51".replace(" ", ""),
        pin_for=["unlock", "open"],
    )

    assert CONF_PIN not in only_agent(result["result"]).data
    rules = async_get_home_rules(hass).current
    assert "8351" not in repr(rules)
    examples = await async_example_requests(hass, rules, searches_web=False)
    requested = {
        entity_id for _, entity_id, verdict in examples if verdict is Verdict.PIN
    }
    assert requested == {"lock.door", "script.party"}


async def test_at_the_end_there_are_sentences_for_this_home_in_the_language_of_the_assistant(
    hass: HomeAssistant,
) -> None:
    store = await assistants(hass)
    (usual,) = store.data
    await store.async_update_item(
        usual, {**without_id(store.data[usual]), "language": "de"}
    )
    await door_and_lamp(hass)
    result = await submit(
        hass, await choose_offline(hass), name="Butler", use_in=[usual]
    )

    assert result["description"] == "ready"
    assert sentences_in(result) == [
        "Schalte Lamp ein",
        "Schließe Front Door ab",
        "Schließe Front Door auf",
    ]


async def test_without_a_model_a_sentence_that_home_assistant_does_not_understand_is_left_out(
    hass: HomeAssistant,
    address: str,
) -> None:
    hass.config.language = "pl"
    await door_and_lamp(hass)
    result = await submit(
        hass,
        await submit(hass, await connect(hass, address), model="big-model"),
        name="Butler",
    )
    only_model = "Co mogę ugotować z jajek i ziemniaków?"
    assert sentences_in(result) == [
        "Włącz Lamp",
        "Zablokuj Front Door",
        "Odblokuj Front Door",
        only_model,
    ]
    result = await submit(hass, await choose_offline(hass), name="Jeeves")
    assert sentences_in(result) == ["Włącz Lamp"]


async def test_a_pin_that_is_not_kept_is_told(
    hass: HomeAssistant, monkeypatch: pytest.MonkeyPatch
) -> None:
    await door_and_lamp(hass)
    step = await choose_offline(hass)
    save = Store.async_save

    async def refuse(store: Store[Any], data: Any) -> None:
        if store.key == "chatterbox.home_rules":
            raise OSError(errno.ENOSPC, "it is full")
        await save(store, data)

    with monkeypatch.context() as full:
        full.setattr(Store, "async_save", refuse)
        result = await submit(hass, step, name="Butler", pin="8351", pin_for=["unlock"])

    warning = (result["description_placeholders"] or {})["try_it"].partition("\n\n")[0]
    assert warning.startswith(
        "**PIN:** These rules hold now, but they could not be saved: "
    )
    assert async_get_home_rules(hass).current.pin


async def test_no_pin_replaces_rules_that_cannot_be_read(
    hass: HomeAssistant, hass_storage: dict[str, object]
) -> None:
    damaged = hass_storage["chatterbox.home_rules"] = {"version": 1, "data": 5}
    await door_and_lamp(hass)
    step = await choose_offline(hass)

    assert CONF_PIN not in (step["data_schema"] or {}).schema  # type: ignore[union-attr]  # it is a form
    assert "can't be read" in (step["description_placeholders"] or {})["asked"]
    await submit(hass, step, name="Butler")
    assert hass_storage["chatterbox.home_rules"] is damaged


async def test_where_nothing_is_asked_about_there_is_no_pin(
    hass: HomeAssistant,
) -> None:
    step = await choose_offline(hass)

    assert CONF_PIN not in (step["data_schema"] or {}).schema  # type: ignore[union-attr]  # it is a form


async def test_an_ai_task_is_made_when_somebody_wants_one(
    hass: HomeAssistant, address: str
) -> None:
    step = await submit(hass, await connect(hass, address), model="big-model")
    result = await submit(hass, step, name="Butler", ai_task=True)

    (task,) = result["result"].get_subentries_of_type(SUBENTRY_AI_TASK)
    assert task.title == "AI task with big-model"


async def test_a_second_agent_is_proposed_the_name_of_its_model(
    hass: HomeAssistant,
) -> None:
    async with serving_script(TALKING) as one, serving_script(TALKING) as other:
        await add(hass, await connect(hass, one), model="big-model")
        step = await submit(hass, await connect(hass, other), model="big-model")

    assert suggested(step)[CONF_NAME] == "big-model"


def without_id(pipeline: Any) -> dict[str, Any]:
    """Return the settings of an assistant."""
    return {key: value for key, value in pipeline.to_json().items() if key != "id"}
