"""Searches of the web that a service runs by itself while its model answers."""

from collections.abc import Iterable, Sequence

import pytest

from custom_components.chatterbox.agent.events import (
    CompletionResult,
    PendingApproval,
    ServiceSearched,
    StopReason,
    TextDelta,
    ToolCallReady,
    TurnEvent,
)
from custom_components.chatterbox.agent.loop.loop import AgenticLoop
from custom_components.chatterbox.agent.loop.turn import Turn
from custom_components.chatterbox.agent.messages import (
    WEB_SEARCH,
    AssistantMessage,
    FinishReason,
    ProviderItem,
    ToolCall,
    ToolResult,
    Transcript,
    UserMessage,
)
from custom_components.chatterbox.agent.protocols import Ask, Deny, Hooks, Rewrite
from custom_components.chatterbox.agent.transcript import (
    TranscriptRecorder,
    has_outside_content,
)
from tests.agent.turns import calls, collect, finished, results, spoken
from tests.support.doubles import (
    Line,
    ScriptedCensor,
    ScriptedDispatcher,
    ScriptedHooks,
    ScriptedProvider,
    asks_for,
    call,
    say,
    tool,
)

LIGHT, LOOK = tool("light_on"), tool("look", read_only=True)
TURN = Turn("Who won?", tools=(LIGHT, LOOK), searches=2)
ON = ToolCall("a", "light_on", "{}")
ITEM = ProviderItem("test", {"found": "The cup is theirs."})


def searched(
    call_id: str, query: str = "cup", *, failed: bool = False
) -> ServiceSearched:
    """Return a search as a provider tells it."""
    wanted = ToolCall(call_id, WEB_SEARCH, f'{{"query":"{query}"}}')
    content = '{"sources":[{"title":"Cup","url":"https://a.example"}]}'
    result = ToolResult(call_id, WEB_SEARCH, content, failed, open_world=True)
    return ServiceSearched(wanted, result, (ITEM,))


def messages(events: Iterable[TurnEvent]) -> Transcript:
    """Return what a turn has added to its conversation."""
    recorder = TranscriptRecorder()
    for event in events:
        recorder.add(event)
    return recorder.messages


def loop(*answers: Sequence[Line], hooks: Sequence[Hooks] = ()) -> AgenticLoop:
    return AgenticLoop(ScriptedProvider(*answers), ScriptedDispatcher(), hooks=hooks)


async def test_an_answer_that_rests_on_searches_is_one_inference_and_ends_the_turn() -> (
    None
):
    provider = ScriptedProvider(
        [TextDelta("One moment."), searched("s"), searched("t"), *say("\n\nThey did.")]
    )

    events = await collect(AgenticLoop(provider, ScriptedDispatcher()), TURN)

    assert len(provider.requests) == 1
    assert provider.requests[0].searches == 2
    assert finished(events).stop_reason is StopReason.COMPLETED
    assert finished(events).text == "They did."
    assert spoken(events) == "One moment.They did."
    assert [one.id for one in calls(events)] == ["s", "t"]
    assert all(one.open_world and not one.synthetic for one in results(events))
    first, _, second, _, last = messages(events)
    assert first == AssistantMessage("One moment.", "", (searched("s").call,), (ITEM,))
    assert second == AssistantMessage("", "", (searched("t").call,), (ITEM,))
    assert last == AssistantMessage("They did.")
    assert has_outside_content(messages(events))


async def test_what_a_search_has_found_is_known_before_the_call_after_it_is_judged() -> (
    None
):
    seen: list[str] = []

    def after(result: ToolResult) -> None:
        seen.append(f"{result.name} {result.open_world}")

    def before(name: str, _: object) -> Ask:
        seen.append(name)
        return Ask("It is risky.")

    hooks = ScriptedHooks(before=before, after=after)

    events = await collect(loop([searched("s"), *call(ON)], hooks=[hooks]), TURN)

    assert seen == [f"{WEB_SEARCH} True", "light_on"]
    assert isinstance(finished(events).pending, PendingApproval)


async def test_a_search_after_a_call_is_one_of_the_results_of_its_message() -> None:
    provider = ScriptedProvider(
        [ToolCallReady(ON), searched("s"), CompletionResult(FinishReason.TOOL_CALLS)],
        say("They did, and it is on."),
    )

    events = await collect(AgenticLoop(provider, ScriptedDispatcher()), TURN)

    (message, light, found, _) = messages(events)
    assert isinstance(message, AssistantMessage)
    assert [one.id for one in message.tool_calls] == ["a", "s"]
    assert message.provider_items == (ITEM,)
    assert isinstance(light, ToolResult)
    assert isinstance(found, ToolResult)
    assert (light.call_id, found.call_id) == ("a", "s")
    assert finished(events).text == "They did, and it is on."


async def test_a_service_is_sent_its_items_but_no_calls_and_may_not_search_more_often() -> (
    None
):
    provider = ScriptedProvider(
        [searched("s"), *call(ON)],
        [searched("t"), *call(ON)],
        say("They did."),
    )

    await collect(AgenticLoop(provider, ScriptedDispatcher()), TURN)

    assert [one.searches for one in provider.requests] == [2, 1, 0]
    sent = provider.requests[1].transcript
    assert WEB_SEARCH not in str(sent)
    assert AssistantMessage(provider_items=(ITEM,)) in sent


async def test_no_later_turn_is_sent_what_was_found() -> None:
    own = ToolCall("o", WEB_SEARCH, '{"query":"cup"}')
    history = (
        UserMessage("Who won?"),
        AssistantMessage("Let me see.", tool_calls=(own, ON)),
        ToolResult("o", WEB_SEARCH, "The cup is theirs.", open_world=True),
        ToolResult("a", "light_on", "{}"),
        AssistantMessage("They did."),
    )
    provider = ScriptedProvider(say("Yes."))
    turn = Turn("Really?", history, tools=(LIGHT, tool(WEB_SEARCH, read_only=True)))

    await collect(AgenticLoop(provider, ScriptedDispatcher()), turn)

    sent = provider.requests[0].transcript
    assert "The cup is theirs." not in str(sent)
    assert AssistantMessage("Let me see.", tool_calls=(ON,)) in sent
    assert AssistantMessage("They did.") in sent


async def test_a_tool_of_the_turn_that_searches_is_sent_its_results_within_the_turn() -> (
    None
):
    own = tool(WEB_SEARCH, read_only=True, open_world=True)
    provider = ScriptedProvider(
        call(ToolCall("o", WEB_SEARCH, '{"query":"cup"}')), say("They did.")
    )

    await collect(
        AgenticLoop(provider, ScriptedDispatcher()), Turn("Who won?", tools=(own,))
    )

    assert provider.requests[1].searches == 0
    assert isinstance(provider.requests[1].transcript[-1], ToolResult)


@pytest.mark.parametrize("decision", [None, Deny("Not for you."), Rewrite("hidden")])
async def test_the_owners_hooks_see_a_search_and_may_hide_what_it_has_found(
    decision: Deny | Rewrite[str] | None,
) -> None:
    hooks = ScriptedHooks(after=lambda _: decision)

    events = await collect(
        loop([searched("s"), *say("They did.")], hooks=[hooks]), TURN
    )

    ((seen, _),) = hooks.results
    assert seen == searched("s").call
    (result,) = results(events)
    assert ("a.example" in result.content) == (decision is None)
    assert result.open_world


async def test_words_that_are_held_back_are_seen_together() -> None:
    censor = ScriptedCensor(lambda text: Rewrite(text.upper()))

    events = await collect(
        loop([TextDelta("Hm. "), searched("s"), *say("They did.")], hooks=[censor]),
        TURN,
    )

    assert censor.texts == ["Hm. They did."]
    assert finished(events).text == spoken(events) == "HM. THEY DID."


async def test_a_model_that_only_searches_is_asked_once_more() -> None:
    provider = ScriptedProvider(
        [searched("s"), CompletionResult(FinishReason.STOP)], say("They did.")
    )

    events = await collect(
        AgenticLoop(provider, ScriptedDispatcher()),
        Turn("Who won?", tools=(LIGHT,), searches=2, checks_answer=True),
    )

    assert finished(events).text == "They did."
    assert AssistantMessage(provider_items=(ITEM,)) in provider.requests[1].transcript


async def test_a_question_about_a_call_keeps_the_search_before_it() -> None:
    events = await collect(
        loop([searched("s"), *call(ON)], hooks=[asks_for("light_on")]), TURN
    )

    found, waiting = results(events)
    assert found.open_world
    assert waiting.synthetic
