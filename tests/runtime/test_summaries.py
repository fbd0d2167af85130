"""Summaries that are written between turns: when, by whom, and for how long they are kept."""

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AsyncExitStack

import pytest
from freezegun.api import FrozenDateTimeFactory
from homeassistant.const import CONF_LLM_HASS_API, CONF_MODEL
from homeassistant.core import HomeAssistant
from pytest_homeassistant_custom_component.common import MockConfigEntry

from custom_components.chatterbox.agent.errors import ProviderUnreachable
from custom_components.chatterbox.agent.loop.turn import Turn
from custom_components.chatterbox.agent.messages import (
    AssistantMessage,
    Transcript,
    UserMessage,
)
from custom_components.chatterbox.const import (
    CONF_BASE_URL,
    CONF_CONTEXT_WINDOW,
    CONF_KIND,
    CONF_SERVER,
    CONF_SUMMARY,
    DOMAIN,
    SUBENTRY_CONVERSATION,
    ServiceKind,
)
from custom_components.chatterbox.runtime.agents import (
    ChatterboxConfigEntry,
    async_get_models,
)
from custom_components.chatterbox.runtime.summaries import ConversationSummaries
from custom_components.chatterbox.settings.agent import SUMMARY_OWN_MODEL
from tests.support.config_entries import prepare
from tests.support.servers.chat_completions import ScriptedChatCompletions
from tests.support.servers.in_process import serving
from tests.support.servers.script import (
    Script,
    ScriptedAnswer,
    ScriptedFailure,
    ScriptedUsage,
)
from tests.support.talk import messages_of
from tests.support.usage import usage_of

pytestmark = pytest.mark.usefixtures("socket_enabled")

WRITTEN = ScriptedAnswer(
    content="<think>Hm.</think>They like it dark.",
    usage=ScriptedUsage(prompt_tokens=400, completion_tokens=9),
)
TALK = "a-talk"


def transcript_of(turns: int, *, first: str = "Question 0?") -> Transcript:
    """Return a conversation whose turns take about 75 tokens each."""
    messages: list[UserMessage | AssistantMessage] = []
    for number in range(turns):
        messages += [
            UserMessage(f"Question {number}?"),
            AssistantMessage(f"Answer {number}. " * 16),
        ]
    return (UserMessage(first), *messages[1:])


type Add = Callable[..., Awaitable[ScriptedChatCompletions]]


@pytest.fixture
async def add(hass: HomeAssistant) -> AsyncGenerator[Add]:
    """Serve a script, with an agent that keeps 1,000 tokens of earlier turns."""
    await prepare(hass)
    async with AsyncExitStack() as stack:

        async def start(
            script: Script, server_id: str = "openrouter", **options: object
        ) -> ScriptedChatCompletions:
            server = ScriptedChatCompletions(script)
            service: dict[str, object] = {
                CONF_KIND: ServiceKind.OPENAI_CHAT,
                CONF_SERVER: server_id,
                CONF_BASE_URL: await stack.enter_async_context(
                    serving(server.application())
                ),
            }
            defaults = {
                CONF_MODEL: "scripted-model",
                CONF_LLM_HASS_API: [],
                "history_tokens": 1_000,
            }
            data = {**defaults, CONF_CONTEXT_WINDOW: 32_768, **options}
            agent = {
                "subentry_type": SUBENTRY_CONVERSATION,
                "title": "Talker",
                "unique_id": None,
                "data": data,
            }
            entry = MockConfigEntry(
                domain=DOMAIN, title="Service", data=service, subentries_data=[agent]
            )
            entry.add_to_hass(hass)
            assert await hass.config_entries.async_setup(entry.entry_id)
            await hass.async_block_till_done(wait_background_tasks=True)
            return server

        yield start
        for entry in hass.config_entries.async_loaded_entries(DOMAIN):
            await hass.config_entries.async_unload(entry.entry_id)


def summaries_of_last(hass: HomeAssistant) -> ConversationSummaries:
    """Return the summaries of the agent that was added last."""
    entry: ChatterboxConfigEntry = hass.config_entries.async_loaded_entries(DOMAIN)[-1]
    (agent,) = entry.runtime_data.agents.values()
    return agent.summaries


def turn_after(history: Transcript) -> Turn:
    """Return a turn in which something is asked."""
    return Turn("And now?", history, "Be kind.")


async def talk(
    hass: HomeAssistant,
    summaries: ConversationSummaries,
    messages: Transcript,
    conversation_id: str = TALK,
) -> Turn:
    """Take the last turn of a conversation, and wait for what is written afterwards."""
    turn = summaries.async_begin_turn(conversation_id, turn_after(messages[:-2]))
    summaries.async_after_turn(conversation_id, messages)
    await hass.async_block_till_done(wait_background_tasks=True)
    return turn


async def test_no_summary_is_written_while_all_messages_fit(
    hass: HomeAssistant, add: Add
) -> None:
    server = await add(Script(answers=(WRITTEN,)), **{CONF_SUMMARY: SUMMARY_OWN_MODEL})
    summaries = summaries_of_last(hass)
    await talk(hass, summaries, transcript_of(10))
    assert not server.requests
    assert summaries.of(TALK) is None


async def test_messages_about_to_be_dropped_are_summarized(
    hass: HomeAssistant, add: Add
) -> None:
    server = await add(Script(answers=(WRITTEN,)), **{CONF_SUMMARY: SUMMARY_OWN_MODEL})
    summaries = summaries_of_last(hass)
    await talk(hass, summaries, transcript_of(13))

    summary = summaries.of(TALK)
    assert summary is not None
    assert summary.text == "They like it dark."
    assert 10 <= summary.messages <= 20
    assert "Person: Question 0?" in str(messages_of(server.requests[0])[-1]["content"])
    turn = summaries.async_begin_turn(TALK, turn_after(transcript_of(13)))
    assert turn.summary == summary
    assert turn.instructions == "Be kind."


async def test_a_summary_is_written_once_for_the_same_messages(
    hass: HomeAssistant, add: Add
) -> None:
    server = await add(Script(answers=(WRITTEN,)), **{CONF_SUMMARY: SUMMARY_OWN_MODEL})
    summaries = summaries_of_last(hass)
    for turns in (13, 14, 15):
        await talk(hass, summaries, transcript_of(turns))
    assert len(server.requests) == 1


async def test_a_later_summary_continues_the_earlier_one(
    hass: HomeAssistant, add: Add
) -> None:
    later = ScriptedAnswer(content="They like it very dark.")
    server = await add(
        Script(answers=(WRITTEN, later)), **{CONF_SUMMARY: SUMMARY_OWN_MODEL}
    )
    summaries = summaries_of_last(hass)
    for turns in (13, 30):
        await talk(hass, summaries, transcript_of(turns))
    prompt = str(messages_of(server.requests[1])[-1]["content"])
    assert prompt.startswith("Summary of what came before: They like it dark.")
    assert "Question 0?" not in prompt
    summary = summaries.of(TALK)
    assert summary is not None
    assert summary.text == "They like it very dark."


async def test_the_default_asks_no_model(hass: HomeAssistant, add: Add) -> None:
    server = await add(Script(answers=(WRITTEN,)))
    summaries = summaries_of_last(hass)
    assert not summaries.are_written
    await talk(hass, summaries, transcript_of(31))
    assert not server.requests


async def test_another_agents_model_writes_and_is_counted(
    hass: HomeAssistant, add: Add
) -> None:
    writing = await add(Script(answers=(WRITTEN,)))
    (writer,) = async_get_models(hass)
    talking = await add(Script(), **{CONF_SUMMARY: writer})
    summaries = summaries_of_last(hass)
    await talk(hass, summaries, transcript_of(13))

    assert summaries.of(TALK) is not None
    assert (len(writing.requests), len(talking.requests)) == (1, 0)
    usage = await usage_of(hass, writer)
    assert (usage.inferences, usage.input_tokens, usage.output_tokens) == (1, 400, 9)


async def test_there_is_no_summary_without_a_working_writer(
    hass: HomeAssistant, add: Add
) -> None:
    await add(
        Script(answers=(ScriptedFailure(status=500),) * 4 + (WRITTEN,)),
        **{CONF_SUMMARY: SUMMARY_OWN_MODEL},
    )
    summaries = summaries_of_last(hass)
    await talk(hass, summaries, transcript_of(13))
    assert summaries.of(TALK) is None

    await add(Script(), **{CONF_SUMMARY: "no such agent"})
    summaries = summaries_of_last(hass)
    await talk(hass, summaries, transcript_of(13))
    assert summaries.of(TALK) is None


async def test_a_writer_with_an_open_circuit_is_not_asked(
    hass: HomeAssistant, add: Add
) -> None:
    server = await add(Script(answers=(WRITTEN,)), **{CONF_SUMMARY: SUMMARY_OWN_MODEL})
    (model,) = async_get_models(hass).values()
    model.managed.tripped(ProviderUnreachable("gone"))
    await talk(hass, summaries_of_last(hass), transcript_of(13))
    assert not server.requests


@pytest.mark.parametrize(
    "history",
    [transcript_of(13, first="Something else?"), transcript_of(2)],
    ids=["another", "its end"],
)
async def test_a_summary_does_not_stand_for_another_history(
    hass: HomeAssistant, add: Add, history: Transcript
) -> None:
    await add(Script(answers=(WRITTEN,)), **{CONF_SUMMARY: SUMMARY_OWN_MODEL})
    summaries = summaries_of_last(hass)
    await talk(hass, summaries, transcript_of(13))
    assert summaries.async_begin_turn(TALK, turn_after(history)).summary is None
    assert summaries.of(TALK) is None


@pytest.mark.parametrize(
    ("server_id", "is_asked"), [("llama_cpp", 2), ("openrouter", 1)]
)
async def test_a_local_server_is_left_to_the_speaker(
    hass: HomeAssistant, add: Add, server_id: str, is_asked: int
) -> None:
    slow = ScriptedAnswer(content="They like it dark.", delay_seconds=0.2)
    server = await add(
        Script(answers=(slow, WRITTEN)), server_id, **{CONF_SUMMARY: SUMMARY_OWN_MODEL}
    )
    summaries = summaries_of_last(hass)
    summaries.async_begin_turn(TALK, turn_after(transcript_of(12)))
    summaries.async_after_turn(TALK, transcript_of(13))
    await server.request_arrived.wait()
    summaries.async_after_turn(TALK, transcript_of(13))  # it is being written
    summaries.async_begin_turn(TALK, turn_after(transcript_of(13)))
    while summaries.of(TALK) is None:  # leaving a request takes a moment
        await talk(hass, summaries, transcript_of(14))
    assert len(server.requests) == is_asked


async def test_a_forgotten_conversation_is_not_summarized(
    hass: HomeAssistant, add: Add
) -> None:
    slow = ScriptedAnswer(content="They like it dark.", delay_seconds=3600)
    server = await add(
        Script(answers=(WRITTEN, slow)), **{CONF_SUMMARY: SUMMARY_OWN_MODEL}
    )
    summaries = summaries_of_last(hass)
    await talk(hass, summaries, transcript_of(13), "one-talk")
    summaries.async_begin_turn(TALK, turn_after(transcript_of(12)))
    server.request_arrived.clear()
    summaries.async_after_turn(TALK, transcript_of(13))
    await server.request_arrived.wait()
    summaries.async_forget(TALK)
    await hass.async_block_till_done(wait_background_tasks=True)
    assert summaries.of(TALK) is None
    assert summaries.of("one-talk") is not None
    summaries.async_forget()
    assert summaries.of("one-talk") is None


async def test_a_purge_drops_the_summaries(hass: HomeAssistant, add: Add) -> None:
    await add(Script(answers=(WRITTEN,)), **{CONF_SUMMARY: SUMMARY_OWN_MODEL})
    summaries = summaries_of_last(hass)
    await talk(hass, summaries, transcript_of(13))
    assert summaries.of(TALK)

    await hass.services.async_call(DOMAIN, "purge", {"everything": True}, blocking=True)

    assert summaries.of(TALK) is None


async def test_of_too_many_conversations_the_oldest_is_forgotten(
    hass: HomeAssistant, add: Add
) -> None:
    answer = ScriptedAnswer(content="They like it dark.")
    await add(
        Script(answers=(answer,) * 40),
        **{CONF_SUMMARY: SUMMARY_OWN_MODEL, "continue_minutes": 60},
    )
    summaries = summaries_of_last(hass)
    for number in range(33):
        await talk(hass, summaries, transcript_of(13), f"talk-{number}")
    assert summaries.of("talk-0") is None
    assert summaries.of("talk-1") is not None
    assert summaries.of("talk-32") is not None


@pytest.mark.parametrize(("minutes", "is_kept"), [(0, False), (60, True)])
async def test_a_conversation_that_cannot_be_continued_is_forgotten(
    hass: HomeAssistant,
    add: Add,
    freezer: FrozenDateTimeFactory,
    minutes: int,
    *,
    is_kept: bool,
) -> None:
    options = {CONF_SUMMARY: SUMMARY_OWN_MODEL, "continue_minutes": minutes}
    await add(Script(answers=(WRITTEN,)), **options)
    summaries = summaries_of_last(hass)
    await talk(hass, summaries, transcript_of(13))
    freezer.tick(301)
    await talk(hass, summaries, transcript_of(1), "another-talk")
    assert (summaries.of(TALK) is not None) == is_kept


async def test_no_summary_is_written_once_the_agent_is_unloaded(
    hass: HomeAssistant, add: Add
) -> None:
    slow = ScriptedAnswer(content="They like it dark.", delay_seconds=3600)
    server = await add(Script(answers=(slow,)), **{CONF_SUMMARY: SUMMARY_OWN_MODEL})
    summaries = summaries_of_last(hass)
    (entry,) = hass.config_entries.async_loaded_entries(DOMAIN)
    summaries.async_begin_turn(TALK, turn_after(transcript_of(12)))
    summaries.async_after_turn(TALK, transcript_of(13))
    await server.request_arrived.wait()
    await hass.config_entries.async_unload(entry.entry_id)
    await hass.async_block_till_done(wait_background_tasks=True)
    assert summaries.of(TALK) is None
    summaries.async_after_turn(TALK, transcript_of(14))
    await hass.async_block_till_done(wait_background_tasks=True)
    assert len(server.requests) == 1
