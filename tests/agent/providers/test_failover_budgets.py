"""A link whose budget is spent is not asked, and the turn says so; but no turn is cut for money."""

from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import replace
from functools import partial

import pytest

from custom_components.chatterbox.agent.errors import BudgetSpent, ProviderRejectedRequest, ProviderUnreachable
from custom_components.chatterbox.agent.events import ProviderEvent, ProviderSwitched, TextDelta
from custom_components.chatterbox.agent.messages import AssistantMessage, ToolCall, ToolResult, UserMessage
from custom_components.chatterbox.agent.protocols import CompletionRequest
from custom_components.chatterbox.agent.providers.failover import FailoverProvider
from custom_components.chatterbox.agent.providers.managed_provider import CircuitBreaker, ManagedProvider, Retries
from tests.support.doubles import Line, ScriptedProvider, call, say, tool

LIGHT, LOOK = tool("light_on"), tool("look", read_only=True)
HELLO = UserMessage("Hi")
REQUEST = CompletionRequest("Be brief.", (HELLO,), (LIGHT, LOOK))
DOWN = ProviderUnreachable("down")


def after(name: str) -> CompletionRequest:
    """Return the request that follows a call of a tool."""
    asked = ToolCall("a", name, "{}")
    transcript = (HELLO, AssistantMessage(tool_calls=(asked,)), ToolResult("a", name, "{}"))
    return replace(REQUEST, transcript=transcript)


class Chain:
    """Links named first, second and third, and whether what may be spent on them is spent."""

    def __init__(self, *scripts: Sequence[Sequence[Line]], spent: Sequence[int] = (), refuses: bool = False) -> None:
        self.spent = set(spent)
        self.providers = [ScriptedProvider(*script) for script in scripts]
        self.links = [
            ManagedProvider(
                name,
                provider,
                CircuitBreaker(),
                retries=Retries(attempts=1),
                spent=partial(self._spent, at),
                refuses_when_spent=refuses,
            )
            for at, (name, provider) in enumerate(zip(("first", "second", "third"), self.providers, strict=False))
        ]
        self.turn = FailoverProvider(self.links)

    def _spent(self, position: int) -> BudgetSpent | None:
        return BudgetSpent("day") if position in self.spent else None

    async def ask(self, request: CompletionRequest = REQUEST) -> list[ProviderEvent]:
        """Run an inference of the turn to its end."""
        async with aclosing(self.turn.stream(request)) as events:
            return [event async for event in events]

    @property
    def asked(self) -> list[int]:
        """Count the requests that each link got."""
        return [len(provider.requests) for provider in self.providers]


async def test_the_next_link_takes_over_and_it_is_told_why() -> None:
    chain = Chain([], [], [say("Hello.")], spent=[0, 1])

    events = await chain.ask()

    assert events[0] == ProviderSwitched("third", "first: BudgetSpent; second: BudgetSpent")
    assert TextDelta("Hello.") in events
    assert chain.asked == [0, 0, 1]


async def test_a_link_that_is_skipped_is_not_held_to_have_failed() -> None:
    chain = Chain([], [say("Hello.")], spent=[0])

    await chain.ask()

    assert chain.links[0].breaker.last_error is None


async def test_the_first_link_may_refuse_instead() -> None:
    chain = Chain([], [], spent=[0], refuses=True)

    with pytest.raises(BudgetSpent):
        await chain.ask()
    assert chain.asked == [0, 0]


async def test_a_link_that_stands_in_refuses_for_nobody() -> None:
    chain = Chain([[DOWN]], [], [say("Hello.")], spent=[1], refuses=True)

    assert TextDelta("Hello.") in await chain.ask()


@pytest.mark.parametrize("refuses", [False, True])
async def test_where_nobody_is_left_the_budget_is_the_reason(*, refuses: bool) -> None:
    chain = Chain([], [[DOWN]], spent=[0], refuses=refuses)

    with pytest.raises(BudgetSpent) as caught:
        await chain.ask()
    assert caught.value.period == "day"


async def test_a_turn_that_has_begun_keeps_its_link() -> None:
    chain = Chain([call(ToolCall("a", "look", "{}")), say("It is on.")], [], refuses=True)
    await chain.ask()
    chain.spent = {0}

    assert TextDelta("It is on.") in await chain.ask(after("look"))
    assert chain.asked == [2, 0]


async def test_a_turn_that_has_acted_keeps_its_link() -> None:
    chain = Chain([call(ToolCall("a", "light_on", "{}")), say("It is on.")], [])
    await chain.ask()
    chain.spent = {0}

    assert TextDelta("It is on.") in await chain.ask(after("light_on"))


async def test_the_next_turn_of_the_same_provider_is_not_begun() -> None:
    chain = Chain([say("Hello.")], [])
    await chain.ask()
    chain.spent = {0, 1}

    with pytest.raises(BudgetSpent):
        await chain.ask(replace(REQUEST, transcript=(UserMessage("And again"),)))
    assert chain.asked[0] == 1


async def test_a_link_that_hands_over_in_the_middle_passes_by_one_without_money() -> None:
    chain = Chain([call(ToolCall("a", "look", "{}")), [DOWN]], [], [say("Hello.")], spent=[1])
    await chain.ask()

    events = await chain.ask(after("look"))

    assert events[0] == ProviderSwitched("third", "first: ProviderUnreachable; second: BudgetSpent")


async def test_who_took_over_keeps_the_turn_when_the_first_link_runs_out_of_money() -> None:
    """The first link would refuse, but the turn is no longer its own."""
    chain = Chain([[DOWN]], [call(ToolCall("a", "look", "{}")), say("It is on.")], refuses=True)
    await chain.ask()
    chain.spent = {0}

    assert TextDelta("It is on.") in await chain.ask(after("look"))


class TestAfterAPersonsYes:
    """A turn that begins with what was done: nobody else may be asked, so it is chosen well who is."""

    async def test_who_has_money_tells_what_was_done(self) -> None:
        chain = Chain([], [say("Unlocked.")], spent=[0])

        events = await chain.ask(after("light_on"))

        assert events[0] == ProviderSwitched("second", "first: BudgetSpent")
        assert chain.asked == [0, 1]

    async def test_who_has_money_is_asked_although_it_is_left_alone(self) -> None:
        chain = Chain([], [say("Unlocked.")], [], spent=[0])
        for link in chain.links[1:]:
            link.breaker.trip(DOWN)

        events = await chain.ask(after("light_on"))

        assert events[0] == ProviderSwitched("second", "first: BudgetSpent")

    async def test_a_link_that_is_left_alone_is_passed_over_for_one_that_works(self) -> None:
        chain = Chain([], [], [say("Unlocked.")], spent=[1])
        chain.links[0].breaker.trip(DOWN)

        events = await chain.ask(after("light_on"))

        assert events[0] == ProviderSwitched("third", "first: circuit open; second: BudgetSpent")

    @pytest.mark.parametrize(("spent", "refuses"), [([0, 1], False), ([0], True)])
    async def test_without_money_nobody_is_asked(self, spent: list[int], *, refuses: bool) -> None:
        chain = Chain([], [], spent=spent, refuses=refuses)

        with pytest.raises(BudgetSpent):
            await chain.ask(after("light_on"))
        assert chain.asked == [0, 0]


async def test_what_the_chosen_model_refuses_counts_more_than_the_budget_of_a_stand_in() -> None:
    chain = Chain([[ProviderRejectedRequest("no such thing")]], [], spent=[1])

    with pytest.raises(ProviderRejectedRequest, match="no such thing"):
        await chain.ask()

    assert chain.asked == [1, 0]
