"""The options of an agent in its dialog: what is offered, stored, refused, and tried on the model."""

import pytest
from homeassistant.config_entries import SubentryFlowResult
from homeassistant.const import CONF_MODEL
from homeassistant.core import HomeAssistant
from homeassistant.helpers import entity_registry as er
from hypothesis import given, settings, strategies as st
from pydantic import JsonValue
from pytest_homeassistant_custom_component.common import MockConfigEntry

from custom_components.chatterbox.agent.protocols import ReasoningEffort, Verbosity
from custom_components.chatterbox.agent.providers.profiles import ServiceTier
from custom_components.chatterbox.const import (
    SUBENTRY_AI_TASK,
    SUBENTRY_CONVERSATION,
    ServiceKind,
)
from custom_components.chatterbox.flows.model_flow import typed_options
from custom_components.chatterbox.flows.service_form import INTERFACES
from custom_components.chatterbox.settings.agent import (
    AgentSettings,
    Confirmation,
    WebSearch,
    settings_of,
)
from custom_components.chatterbox.settings.options import (
    NUMBERS,
    SETTINGS,
    WEB,
    find_problems,
    options_of,
)
from tests.flows.agent_forms import advanced, change, submit
from tests.flows.test_agent_flow import filled_in, suggested, text_of_error
from tests.support.config_entries import offline_entry, only_agent, server_entry, set_up
from tests.support.sentences import sentence, template
from tests.support.servers.chat_completions import ScriptedChatCompletions
from tests.support.servers.dialects import ScriptedOllama, ScriptedResponses
from tests.support.servers.in_process import serving, serving_script
from tests.support.servers.script import Script, ScriptedAnswer, ScriptedFailure
from tests.support.service_dialogs import TALKING, is_open, problems_in
from tests.support.talk import say, speech
from tests.support.thorough import some_examples

pytestmark = pytest.mark.usefixtures("socket_enabled")
MODEL_OPTIONS: dict[str, JsonValue] = {
    "temperature": 0.4,
    "top_p": 0.9,
    "max_tokens": 300.0,
    "extra_parameters": {"seed": 7},
}


async def changed(
    hass: HomeAssistant, entry: MockConfigEntry, **changes: object
) -> SubentryFlowResult:
    """Open the advanced form of the agent of an entry, and send it with changes."""
    return await submit(
        hass, await change(hass, entry, "advanced"), advanced(**changes)
    )


async def stored_after(
    hass: HomeAssistant, entry: MockConfigEntry, **changes: object
) -> AgentSettings:
    """Return what the agent of an entry is set to once its dialog was sent with changes."""
    result = await changed(hass, entry, **changes)
    assert result["type"] == "abort", problems_in(result)
    return settings_of(only_agent(entry).data)


@pytest.mark.parametrize("kind", INTERFACES)
def test_each_kind_of_service_offers_the_options_that_it_has(kind: ServiceKind) -> None:
    groups = options_of(kind, SUBENTRY_CONVERSATION)
    offered = {option for options in groups.values() for option in options}

    assert {
        "temperature",
        "top_p",
        "max_tokens",
        "reasoning_effort",
        "extra_parameters",
    } <= offered
    assert {
        "verbosity",
        "service_tier",
    } <= offered or kind is not ServiceKind.OPENAI_RESPONSES
    assert {"verbosity", "service_tier"}.isdisjoint(
        offered
    ) or kind is ServiceKind.OPENAI_RESPONSES
    assert {"keep_alive", "num_ctx"} <= offered or kind is not ServiceKind.OLLAMA_CHAT
    assert {"keep_alive", "num_ctx"}.isdisjoint(
        offered
    ) or kind is ServiceKind.OLLAMA_CHAT


async def test_options_of_a_model_are_stored_and_sent_to_it_at_once(
    hass: HomeAssistant,
) -> None:
    server = ScriptedChatCompletions(TALKING)
    async with serving(server.application()) as address:
        entry = await set_up(hass, server_entry(address))
        stored = await stored_after(
            hass, entry, answers=MODEL_OPTIONS, speed={"reasoning_effort": "low"}
        )
        shown_again = suggested(await change(hass, entry, "advanced"))["answers"]

    assert (stored.temperature, stored.top_p, stored.max_tokens) == (0.4, 0.9, 300)
    assert (stored.reasoning_effort, stored.extra_parameters) == ("low", {"seed": 7})
    assert type(stored.max_tokens) is int
    assert shown_again.items() >= MODEL_OPTIONS.items()
    body = server.requests[-1].body
    assert (body["temperature"], body["top_p"], body["max_tokens"], body["seed"]) == (
        0.4,
        0.9,
        300,
        7,
    )


async def test_an_answer_is_as_long_as_the_owner_allows(hass: HomeAssistant) -> None:
    long = ScriptedAnswer(content=" ".join(map(str, range(500))))
    async with serving_script(
        Script(models=TALKING.models, answers=(long,) * 5)
    ) as address:
        entry = await set_up(hass, server_entry(address))
        whole = speech(await say(hass, "Count!"))
        stored = await stored_after(hass, entry, limits={"max_characters": 1_000})
        cut = speech(await say(hass, "Count!"))

    assert whole.endswith("499")
    assert stored.max_characters == 1_000
    assert 400 < len(cut) <= 1_000


async def test_the_options_of_responses_reach_its_server(hass: HomeAssistant) -> None:
    server = ScriptedResponses(TALKING)
    async with serving(server.application()) as address:
        entry = await set_up(
            hass, server_entry(address, kind=ServiceKind.OPENAI_RESPONSES)
        )
        stored = await stored_after(
            hass, entry, answers={"verbosity": "low"}, speed={"service_tier": "flex"}
        )

    assert (stored.verbosity, stored.service_tier) == ("low", "flex")
    assert server.requests[-1].body["service_tier"] == "flex"
    assert server.requests[-1].body["text"] == {"verbosity": "low"}


async def test_the_options_of_ollama_reach_its_server(hass: HomeAssistant) -> None:
    server = ScriptedOllama(TALKING)
    async with serving(server.application(), "") as address:
        entry = await set_up(hass, server_entry(address, kind=ServiceKind.OLLAMA_CHAT))
        assert (
            suggested(await change(hass, entry, "advanced"))["long_conversations"][
                "num_ctx"
            ]
            == 8192
        )
        sizes = {"speed": {"keep_alive": -1}, "long_conversations": {"num_ctx": 16384}}
        stored = await stored_after(hass, entry, **sizes)
        body = server.requests[-1].body
        emptied = await stored_after(hass, entry, speed={}, long_conversations={})
        shown_again = suggested(await change(hass, entry, "advanced"))

    assert (stored.keep_alive, stored.num_ctx) == (-1, 16384)
    assert (body["keep_alive"], body["options"]) == (-1, {"num_ctx": 16384})
    assert emptied.keep_alive is emptied.num_ctx is None
    assert "num_ctx" not in shown_again["long_conversations"]


async def test_what_is_emptied_is_stored_no_more(
    hass: HomeAssistant, address: str
) -> None:
    entry = await set_up(
        hass,
        server_entry(
            address, temperature=0.4, extra_parameters={"seed": 7}, deadline=45
        ),
    )
    await changed(hass, entry, answers={"extra_parameters": {}}, speed={}, limits={})

    stored = only_agent(entry).data
    assert set(stored) == {CONF_MODEL, "llm_hass_api", "model_requests"}
    assert stored["model_requests"] == []  # not the default, which is every kind
    assert settings_of(stored).limits == AgentSettings().limits


async def test_the_model_is_left_alone_when_nothing_changes_for_it(
    hass: HomeAssistant,
) -> None:
    server = ScriptedChatCompletions(TALKING)
    async with serving(server.application()) as address:
        entry = await set_up(hass, server_entry(address, temperature=0.4))
        await stored_after(
            hass, entry, answers={"temperature": 0.4}, speed={"filler_after": 0}
        )

    assert server.requests == []


async def test_options_that_the_model_refuses_are_told_in_the_servers_words(
    hass: HomeAssistant,
) -> None:
    refusal = ScriptedFailure(
        status=400, body={"error": {"message": "this mix of values is not allowed"}}
    )
    async with serving_script(
        TALKING.model_copy(update={"trial_answer": refusal})
    ) as address:
        entry = await set_up(hass, server_entry(address))
        step = await changed(hass, entry, answers=MODEL_OPTIONS)

    assert "this mix of values is not allowed" in text_of_error(step, "answers")
    assert suggested(step)["answers"] == MODEL_OPTIONS
    assert only_agent(entry).data == {
        CONF_MODEL: "scripted-model",
        "llm_hass_api": ["assist"],
        "local_commands": "never",
    }


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("temperature", 30, "30 is too high, 0 to 2"),
        ("max_tool_calls", 20.5, "20.5 is not a whole number, 1 to 200"),
        ("connect_timeout", 0, "0 is too low, 0.5 to 60"),
        ("temperature", float("nan"), "nan is too low, 0 to 2"),
    ],
)
def test_a_number_out_of_its_bounds_is_refused(
    option: str, value: float, message: str
) -> None:
    (problem,) = find_problems({option: value})

    assert problem.place == option
    assert (
        sentence(
            f"config_subentries.conversation.error.{problem.key}",
            **problem.placeholders,
        )
        == message
    )


@pytest.mark.parametrize("value", [["seed", 7], "seed", 7])
def test_extra_parameters_have_to_be_an_object(value: JsonValue) -> None:
    problems = find_problems({"extra_parameters": value, "temperature": 3})

    assert [problem.key for problem in problems] == [
        "too_high",
        "extra_parameters_no_object",
    ]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"limits": {"deadline": 15}},
            "The time to the first words (20 s) must not be longer than the time for an answer (15 s).",
        ),
        (
            {"speed": {"first_token_timeout": 60.5}},
            "The time to the first words (60.5 s)",
        ),
        (
            {"speed": {"connect_timeout": 10, "first_token_timeout": 5}},
            "The connection timeout (10 s)",
        ),
    ],
)
async def test_waits_that_make_no_sense_together_are_refused_and_kept(
    hass: HomeAssistant,
    entry: MockConfigEntry,
    changes: dict[str, dict[str, float]],
    message: str,
) -> None:
    step = await changed(hass, entry, **{"limits": {}, "speed": {}, **changes})

    assert text_of_error(step, "speed").startswith(message)
    assert {group: suggested(step)[group] for group in changes} == changes


async def test_all_that_is_wrong_is_told_at_once_and_with_its_path(
    hass: HomeAssistant, entry: MockConfigEntry
) -> None:
    step = await change(hass, entry)
    settings = await submit(
        hass, step, filled_in(name=" ", model=" ", prompt="{{", budget_month=-1)
    )
    step = await changed(
        hass, entry, answers={"temperature": 30, "top_p": 2}, limits={"deadline": 1}
    )

    assert settings["errors"] == {
        "name": "name_missing",
        "model": "model_missing",
        "prompt": "invalid_template",
        "budget_month": "too_low",
    }
    assert [problem.partition(":")[0] for problem in problems_in(settings)] == [
        "Agent → Name",
        "Agent → Model",
        "Agent → Instructions",
        "Agent → Monthly budget",
    ]
    assert step["errors"] == {"answers": "marked", "limits": "marked"}
    assert not is_open(step, "answers"), "or the list at the top is out of sight"
    assert problems_in(step) == [
        "Advanced → Answers → Temperature: 30 is too high, 0 to 2",
        "Advanced → Answers → Top-p: 2 is too high, 0.01 to 1",
        "Advanced → Limits → Time for an answer: 1 is too low, 5 to 600",
    ]


async def test_what_is_wrong_in_the_other_form_is_told_with_its_path(
    hass: HomeAssistant,
) -> None:
    refusal = ScriptedFailure(
        status=400, body={"error": {"message": "not with this model"}}
    )
    refusing = TALKING.model_copy(
        update={"trial_answer": refusal, "tool_trial_answer": None}
    )
    async with serving_script(refusing) as address:
        entry = await set_up(hass, server_entry(address, temperature=0.4))
        step = await submit(
            hass, await change(hass, entry), filled_in(model="big-model")
        )

    (problem,) = problems_in(step)
    assert problem.startswith(
        "Advanced → Answers: The model does not accept these options."
    )
    assert not step["errors"]


async def two_more_agents(hass: HomeAssistant) -> tuple[str, str]:
    """Set up two services beside the one that is tested; return the subentries of their agents."""
    ids = []
    for title in ("First", "Second"):
        entry = server_entry("http://127.0.0.1:9/v1")
        await set_up(hass, entry)
        agent = only_agent(entry)
        hass.config_entries.async_update_subentry(entry, agent, title=title)
        ids.append(agent.subentry_id)
    return ids[0], ids[1]


def entity_of(hass: HomeAssistant, agent_id: str) -> str:
    """Return the entity of an agent."""
    entity_id = er.async_get(hass).async_get_entity_id(
        "conversation", "chatterbox", agent_id
    )
    assert entity_id is not None
    return entity_id


async def test_stand_ins_are_stored_in_their_order_and_outlive_new_names(
    hass: HomeAssistant, address: str
) -> None:
    first, second = await two_more_agents(hass)
    entry = await set_up(hass, server_entry(address))
    chosen = [entity_of(hass, second), entity_of(hass, first)]
    stored = await stored_after(hass, entry, answers={"fallbacks": chosen})
    er.async_get(hass).async_update_entity(
        chosen[0], new_entity_id="conversation.renamed"
    )
    step = await change(hass, entry, "advanced")
    assert suggested(step)["answers"]["fallbacks"] == [
        "conversation.renamed",
        chosen[1],
    ]
    stored_again = await stored_after(hass, entry, answers=suggested(step)["answers"])

    assert stored.fallbacks == stored_again.fallbacks == (second, first)


async def test_only_other_agents_with_a_model_can_stand_in(
    hass: HomeAssistant, address: str
) -> None:
    first, second = await two_more_agents(hass)
    await set_up(hass, offline_entry())
    entry = await set_up(hass, server_entry(address))
    own = only_agent(entry).subentry_id
    step = await change(hass, entry, "advanced")
    assert offered_stand_ins(step) == {entity_of(hass, first), entity_of(hass, second)}
    refused = await submit(
        hass, step, advanced(answers={"fallbacks": ["conversation.home_assistant"]})
    )

    assert text_of_error(refused, "answers").startswith(
        "Only Chatterbox agents with a model"
    )
    assert suggested(refused)["answers"]["fallbacks"] == ["conversation.home_assistant"]
    assert entity_of(hass, own) not in offered_stand_ins(refused)


async def test_a_stand_in_that_is_gone_is_left_out_without_a_word(
    hass: HomeAssistant, address: str
) -> None:
    first, second = await two_more_agents(hass)
    entry = await set_up(hass, server_entry(address, fallbacks=[first, "gone", second]))
    step = await change(hass, entry, "advanced")
    assert suggested(step)["answers"]["fallbacks"] == [
        entity_of(hass, first),
        entity_of(hass, second),
    ]
    await submit(hass, step, advanced(answers={"fallbacks": []}))

    assert "fallbacks" not in only_agent(entry).data


def offered_stand_ins(step: SubentryFlowResult) -> set[str]:
    """Return the entities that the field of the stand-ins offers, which has to be one that can be put in order."""
    schema = step["data_schema"]
    assert schema is not None
    config = schema.schema["answers"].schema.schema["fallbacks"].config
    assert config["multiple"]
    assert config["reorder"]
    return set(config["include_entities"])


@pytest.mark.parametrize("kind", INTERFACES)
@pytest.mark.parametrize("subentry_type", [SUBENTRY_CONVERSATION, SUBENTRY_AI_TASK])
def test_every_option_has_its_words_and_every_number_its_range(
    kind: ServiceKind, subentry_type: str
) -> None:
    steps = f"config_subentries.{subentry_type}.step"
    for group, options in options_of(kind, subentry_type).items():
        step = "settings" if group in {SETTINGS, WEB} else "advanced"
        form = f"{steps}.{step}" + ("" if group == SETTINGS else f".sections.{group}")
        for option in options:
            assert sentence(f"{form}.data.{option}")
            described = template(f"{form}.data_description.{option}")
            assert (f"{{{option}_range}}" in described) == (option in NUMBERS)


@pytest.mark.parametrize(
    ("option", "choices"),
    [
        ("reasoning_effort", ReasoningEffort),
        ("verbosity", Verbosity),
        ("service_tier", ServiceTier),
        ("confirmation", tuple(Confirmation)),
        ("web_search", tuple(WebSearch)),
    ],
)
def test_every_choice_has_its_words(option: str, choices: tuple[str, ...]) -> None:
    for choice in choices:
        assert sentence(f"selector.{option}.options.{choice}")


NUMBER = st.one_of(
    st.integers(-10, 10_000_001), st.floats(allow_nan=False, allow_infinity=False)
)


@settings(max_examples=some_examples(150))
@given(st.dictionaries(st.sampled_from(list(NUMBERS)), NUMBER))
def test_numbers_are_stored_as_they_are_or_named_as_a_problem(
    values: dict[str, float],
) -> None:
    wrong = {
        option
        for option, value in values.items()
        if not NUMBERS[option].least <= value <= NUMBERS[option].most
        or (NUMBERS[option].step == 1 and value != int(value))
    }
    problems = find_problems(values)

    assert [problem.place for problem in problems] == [
        option for option in values if option in wrong
    ]
    if not wrong:
        assert typed_options(ServiceKind.OPENAI_CHAT, list(values), values) == values
