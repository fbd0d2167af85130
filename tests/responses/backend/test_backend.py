"""API clients talk to agents: what they bring, what of the home they get, and what they are asked."""

import asyncio
import time
from contextlib import aclosing
from dataclasses import replace

import pytest
from homeassistant.const import CONF_LLM_HASS_API
from homeassistant.core import HomeAssistant
from homeassistant.helpers import llm
from homeassistant.util.json import JsonObjectType
from pytest_homeassistant_custom_component.common import async_capture_events

from custom_components.chatterbox.agent.events import (
    Answer,
    StopReason,
    TextDelta,
    ToolStarted,
)
from custom_components.chatterbox.agent.messages import (
    AssistantMessage,
    ToolDefinition,
    ToolResult,
    UserMessage,
)
from custom_components.chatterbox.agent.transcript import open_calls
from custom_components.chatterbox.approvals.questions import async_get_approvals
from custom_components.chatterbox.approvals.review import ApprovalWay, GivenAnswer
from custom_components.chatterbox.const import EVENT_CHANGE
from custom_components.chatterbox.history.store.history_store import HistoryStore
from custom_components.chatterbox.history.stores import async_get_histories
from custom_components.chatterbox.responses.protocol.backend import (
    ApprovalDecisions,
    Caller,
)
from custom_components.chatterbox.responses.protocol.errors import ApiError
from custom_components.chatterbox.responses.protocol.tools import (
    HostedToolRef,
    HostedTools,
    ToolFilter,
)
from tests.support.api_clients import ASSIST, ApiClient, a_user, enable_api
from tests.support.doubles import NO, YES
from tests.support.llm_apis import StubApi, StubTool
from tests.support.servers.script import Script, ScriptedAnswer, ScriptedCall
from tests.support.talk import (
    AGENT,
    DOOR,
    LIGHT,
    LIGHT_ON,
    UNLOCK,
    UNLOCKS,
    Serve,
    messages_of,
)

LIGHTS = Script(
    answers=(
        ScriptedAnswer(tool_calls=(LIGHT_ON,)),
        ScriptedAnswer(content="It is on."),
    )
)
WEATHER = ToolDefinition(
    "get_weather",
    "Tells the weather.",
    {"type": "object", "properties": {}},
    client=True,
)
COUNTING = ScriptedAnswer(
    content="One, two, three. " * 99, piece_characters=40, piece_delay_seconds=0.2
)
CALLS_WEATHER = ScriptedAnswer(
    tool_calls=(ScriptedCall(name="get_weather", arguments={}, id="call_w"),)
)


async def history_of(hass: HomeAssistant) -> HistoryStore:
    """Return the history of the service."""
    (entry,) = hass.config_entries.async_loaded_entries("chatterbox")
    store = await async_get_histories(hass).async_open(entry)
    assert store is not None
    return store


async def test_a_client_has_the_home_do_something_and_hears_of_it_as_it_happens(
    hass: HomeAssistant, serve_api: Serve, api_client: ApiClient
) -> None:
    await serve_api(LIGHTS)

    taken = await api_client.says("Turn on the kitchen light.")

    assert hass.states.is_state(LIGHT, "on")
    assert [tool.name for tool in taken.offered.tools["assist"]] == sorted(
        tool.name for tool in taken.offered.tools["assist"]
    )
    assert "intent__HassTurnOn" in {tool.name for tool in taken.offered.tools["assist"]}
    assert [result.name for result in taken.results] == ["intent__HassTurnOn"]
    assert taken.end.stop_reason is StopReason.COMPLETED
    assert (
        "".join(event.text for event in taken.events if isinstance(event, TextDelta))
        == "It is on."
    )


async def test_only_services_that_let_clients_in_have_agents_for_them(
    hass: HomeAssistant, serve: Serve, api_client: ApiClient
) -> None:
    await serve(LIGHTS)
    assert api_client.backend.agents() == ()
    with pytest.raises(ApiError) as refused:
        await api_client.says("Turn on the kitchen light.")
    assert (refused.value.status, refused.value.param, refused.value.code) == (
        404,
        "model",
        "model_not_found",
    )

    await enable_api(hass)

    (card,) = api_client.backend.agents()
    assert (card.id, card.stores_responses) == (AGENT, True)
    assert card.created_at > 0


async def test_what_needs_a_yes_runs_once_after_it(
    hass: HomeAssistant, serve_api: Serve, api_client: ApiClient
) -> None:
    """Invariant 45: not before the yes, and not a second time. An API client has ten minutes to ask somebody."""
    server = await serve_api(UNLOCKS)
    request = api_client.wants("Unlock the front door.")
    began_at = time.time()

    outcome = await api_client.takes(request)

    assert hass.states.is_state(DOOR, "locked")
    assert outcome.pending.expires_at >= began_at + 600
    assert not [event for event in outcome.events if isinstance(event, TextDelta)]

    answered = await api_client.answers(request, outcome.pending, YES)

    assert hass.states.is_state(DOOR, "unlocked")
    assert answered.end.text == "Come in."
    (waiting,) = outcome.pending.calls
    of_answer = replace(outcome.pending, answers={waiting.call.id: YES})
    assert (outcome.offered.question, answered.offered.question) == (None, of_answer), (
        "what is shown belongs to it"
    )
    assert len(server.requests) == 2
    with pytest.raises(ApiError) as refused:
        await api_client.answers(request, outcome.pending, YES)
    assert (refused.value.status, refused.value.code) == (
        400,
        "approval_continuation_invalid",
    )


async def test_wrong_tools_do_not_use_an_answer_up(
    hass: HomeAssistant, serve_api: Serve, api_client: ApiClient
) -> None:
    """Invariant 46: one can still answer with the tools of the question. A no needs none."""
    no = ScriptedAnswer(content="Then not.")
    await serve_api(Script(answers=(*UNLOCKS.answers, *UNLOCKS.answers[:1], no)))
    request = api_client.wants("Unlock the front door.")
    outcome = await api_client.takes(request)

    others = ToolFilter(tool_names=["intent__HassTurnOn"])
    for wrong in (
        replace(request, tool_choice=HostedToolRef(server_label="assist", name="Fly")),
        replace(request, hosted=()),
        replace(request, hosted=(replace(ASSIST, allowed=others),)),
    ):
        with pytest.raises(ApiError):
            await api_client.answers(wrong, outcome.pending, YES)
    await api_client.answers(request, outcome.pending, YES)

    assert hass.states.is_state(DOOR, "unlocked")
    again = await api_client.takes(request)
    await api_client.answers(replace(request, hosted=()), again.pending, NO)


async def test_a_question_is_answered_by_who_was_asked_and_for_what_was_asked(
    hass: HomeAssistant, serve_api: Serve, api_client: ApiClient
) -> None:
    """Invariant 46."""
    await serve_api(UNLOCKS)
    request = api_client.wants("Unlock the front door.")
    outcome = await api_client.takes(request)
    somebody_else = Caller(a_user(hass, "Ben").id)

    for wrong in (
        replace(
            request,
            caller=somebody_else,
            approval=ApprovalDecisions(outcome.pending.id, {0: YES}),
        ),
        replace(request, approval=ApprovalDecisions("unknown", {0: YES})),
        replace(request, approval=ApprovalDecisions(outcome.pending.id, {1: YES})),
    ):
        with pytest.raises(ApiError) as refused:
            await api_client.takes(wrong)
        assert refused.value.code == "approval_continuation_invalid"

    assert hass.states.is_state(DOOR, "locked")


async def test_of_two_questions_one_is_answered_with_yes_and_one_with_no(
    hass: HomeAssistant, serve_api: Serve, api_client: ApiClient
) -> None:
    """Invariants 47, 48: the model is told why, and what was done is in the records."""
    server = await serve_api(
        Script(
            answers=(
                ScriptedAnswer(tool_calls=(UNLOCK, LIGHT_ON)),
                ScriptedAnswer(content="The door is open, the light is not."),
            )
        )
    )
    changes = async_capture_events(hass, EVENT_CHANGE)
    request = api_client.wants("Both!", hosted=(HostedTools(server_label="assist"),))
    outcome = await api_client.takes(request)
    assert [one.call.name for one in outcome.pending.calls] == [
        "intent__HassTurnOff",
        "intent__HassTurnOn",
    ]

    await api_client.answers(
        request, outcome.pending, YES, Answer(approved=False, reason="It is day.")
    )
    await hass.async_block_till_done()

    assert hass.states.is_state(DOOR, "unlocked")
    assert hass.states.is_state(LIGHT, "off")
    assert "It is day." in str(messages_of(server.requests[1]))
    outcomes = [(change.data["outcome"], change.data["approval"]) for change in changes]
    assert outcomes[-2:] == [("done", "api"), ("denied", "api")]


async def test_a_question_of_a_client_can_be_answered_elsewhere(
    hass: HomeAssistant, serve_api: Serve, api_client: ApiClient
) -> None:
    await serve_api(UNLOCKS)
    request = api_client.wants("Unlock the front door.")
    outcome = await api_client.takes(request)

    speech = await async_get_approvals(hass).answer(
        outcome.pending.id,
        GivenAnswer(approved=True, way=ApprovalWay.ACTION, user_id=api_client.user.id),
    )

    assert speech == "Come in."
    assert hass.states.is_state(DOOR, "unlocked")
    with pytest.raises(ApiError):
        await api_client.answers(request, outcome.pending, YES)


async def test_what_needs_a_pin_is_refused(
    hass: HomeAssistant, serve_api: Serve, api_client: ApiClient
) -> None:
    """An API client must never be told one."""
    await serve_api(UNLOCKS, rules=[{"verdict": "pin", "domains": ["lock"]}])

    refused = await api_client.says("Unlock the front door.")

    assert hass.states.is_state(DOOR, "locked")
    assert refused.end.stop_reason is StopReason.COMPLETED
    assert "PIN" in refused.results[0].content
    assert not async_get_approvals(hass).waiting


async def test_a_client_may_do_what_its_user_may(
    hass: HomeAssistant, serve_api: Serve
) -> None:
    await serve_api(UNLOCKS)
    api_client = ApiClient(hass, a_user(hass, "Ben", may_all=False))

    refused = await api_client.says("Unlock the front door.")

    assert hass.states.is_state(DOOR, "locked")
    assert "no right" in refused.results[0].content


async def test_too_many_questions_of_a_client_make_room(
    hass: HomeAssistant, serve_api: Serve, api_client: ApiClient
) -> None:
    """The oldest of those that are left can be answered: a turn that asks nothing makes no room."""
    await serve_api(Script(answers=(*UNLOCKS.answers[:1] * 21, *UNLOCKS.answers[1:])))
    request = api_client.wants("Unlock the front door.")

    outcome = [await api_client.takes(request) for _ in range(21)]

    waiting = [question.id for question in async_get_approvals(hass).waiting]
    assert waiting == [one.pending.id for one in outcome[1:]]
    await api_client.answers(request, outcome[1].pending, YES)
    assert hass.states.is_state(DOOR, "unlocked")
    assert len(async_get_approvals(hass).waiting) == 19


async def test_a_turn_that_nobody_listens_to_any_more_ends(
    hass: HomeAssistant, serve_api: Serve, api_client: ApiClient
) -> None:
    """Invariant 54: the model call is over when the closing is."""
    server = await serve_api(Script(answers=(COUNTING,)))
    finished = async_capture_events(hass, "chatterbox_turn_finished")

    async with aclosing(api_client.backend.take(api_client.wants("Count."))) as events:
        async for event in events:
            if isinstance(event, TextDelta):
                break

    await hass.async_block_till_done()
    assert [event.data["stop_reason"] for event in finished] == ["interrupted"]
    assert len(server.requests) == 1


async def test_a_tool_is_cut_off_with_its_turn(
    hass: HomeAssistant, serve_api: Serve, api_client: ApiClient
) -> None:
    """Invariant 54."""
    begun, ended = asyncio.Event(), asyncio.Event()

    async def takes_long(_call: llm.ToolInput) -> JsonObjectType:
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()
        return {}

    look = StubTool(name="look", answer=takes_long)
    look.annotations = llm.ToolAnnotations(read_only=True, destructive=False)
    llm.async_register_api(
        hass, StubApi(hass=hass, id="stub", name="Stub", tools=[look])
    )
    looks = Script(answers=(ScriptedAnswer(tool_calls=(ScriptedCall(name="look"),)),))
    await serve_api(looks, **{CONF_LLM_HASS_API: ["stub"]})
    wanted = replace(ASSIST, server_label="stub")

    async with aclosing(
        api_client.backend.take(api_client.wants("Look!", hosted=(wanted,)))
    ) as events:
        async for event in events:
            if isinstance(event, ToolStarted):
                await begun.wait()
                break

    assert ended.is_set()


async def test_an_agent_that_is_loaded_anew_tells_who_waits(
    hass: HomeAssistant, serve_api: Serve, api_client: ApiClient
) -> None:
    await serve_api(Script(answers=(COUNTING,)))
    (entry,) = hass.config_entries.async_loaded_entries("chatterbox")

    async def listen() -> None:
        async with aclosing(
            api_client.backend.take(api_client.wants("Count."))
        ) as events:
            async for event in events:
                if isinstance(event, TextDelta):
                    await hass.config_entries.async_reload(entry.entry_id)

    with pytest.raises(ApiError) as refused:
        await listen()
    assert refused.value.status == 503


async def test_what_is_not_to_be_kept_is_not(
    hass: HomeAssistant, serve_api: Serve, api_client: ApiClient
) -> None:
    """Invariant 38: neither words nor answers; what was done in the home is in its records all the same."""
    await serve_api(Script(answers=(*LIGHTS.answers, *LIGHTS.answers)))
    store = await history_of(hass)
    changes = async_capture_events(hass, EVENT_CHANGE)

    await api_client.says("Secretly, light!", may_store=False, conversation_id="secret")
    await api_client.says("Light!", conversation_id="known")

    assert await store.turns("secret") == ()
    (turn,) = await store.turns("known")
    assert isinstance(turn.messages[0], UserMessage)
    assert turn.origin.person_id == api_client.user.id
    assert len(changes) == 2


async def test_what_functions_brought_is_part_of_the_turn_that_goes_on(
    hass: HomeAssistant, serve_api: Serve, api_client: ApiClient
) -> None:
    await serve_api(Script(answers=(CALLS_WEATHER, ScriptedAnswer(content="Rain."))))
    store = await history_of(hass)
    called = await api_client.says("Rain?", functions=(WEATHER,))
    result = ToolResult("call_w", "get_weather", "rain", open_world=True)

    await api_client.says(
        "Rain?",
        AssistantMessage(tool_calls=called.end.client_calls),
        result,
        functions=(WEATHER,),
    )

    found = [
        message for turn in await store.turns("a-chain") for message in turn.messages
    ]
    assert [
        (one.content, one.open_world) for one in found if isinstance(one, ToolResult)
    ] == [("rain", True)]


async def test_only_functions_of_a_client_wait_for_it(
    hass: HomeAssistant, serve_api: Serve, api_client: ApiClient
) -> None:
    """Invariant 22: what of the home was called beside them was not run, and waits for nobody."""
    await serve_api(
        Script(
            answers=(ScriptedAnswer(tool_calls=(*CALLS_WEATHER.tool_calls, LIGHT_ON)),)
        )
    )
    store = await history_of(hass)

    await api_client.says("Rain? And light!", functions=(WEATHER,))

    (turn,) = await store.turns("a-chain")
    assert [call.id for call in open_calls(turn.messages)] == ["call_w"]
    (of_the_home,) = [
        message for message in turn.messages if isinstance(message, ToolResult)
    ]
    assert of_the_home.content.startswith("Not run")


async def test_all_that_a_client_brings_into_a_conversation_is_kept(
    hass: HomeAssistant, serve_api: Serve, api_client: ApiClient
) -> None:
    await serve_api(Script(answers=(ScriptedAnswer(content="Dry."),)))
    store = await history_of(hass)
    brought = (UserMessage("Rain?"), AssistantMessage("No."), UserMessage("Sure?"))

    await api_client.says(
        UserMessage("Said before."), AssistantMessage("Yes."), *brought, added=brought
    )

    (turn,) = await store.turns("a-chain")
    assert [one.text for one in turn.messages if not isinstance(one, ToolResult)] == [
        "Rain?",
        "No.",
        "Sure?",
        "Dry.",
    ]


async def test_a_model_that_is_down_is_told_of_where_home_assistant_cannot_stand_in(
    hass: HomeAssistant, serve_api: Serve, api_client: ApiClient
) -> None:
    """A person hears Home Assistant itself; so does an API client that speaks like one."""
    await serve_api(Script(answers=()))

    as_a_person = await api_client.says(
        "turn on the kitchen ceiling light", hosted=None
    )
    as_a_client = await api_client.says("turn off the kitchen ceiling light")

    assert as_a_person.end.stop_reason is StopReason.COMPLETED
    assert as_a_client.end.stop_reason is StopReason.PROVIDER_FAILED
    assert hass.states.is_state(LIGHT, "on")


@pytest.mark.usefixtures("offline")
async def test_an_agent_without_a_model_lists_what_was_asked(
    hass: HomeAssistant, api_client: ApiClient
) -> None:
    await enable_api(hass)

    text, _ = await api_client.backend.compact(AGENT, (UserMessage("Rain?"),), "")
    nothing, _ = await api_client.backend.compact(AGENT, (), "")

    assert "Rain?" in text
    assert nothing
