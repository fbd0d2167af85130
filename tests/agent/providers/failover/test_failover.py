"""A chain answers as long as any provider does, says who answers, and repeats nothing that was said."""

import asyncio
import contextlib
import logging
from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import replace
from functools import partial

import pytest

from custom_components.chatterbox.agent.errors import (
    BetweenTokensTimeout,
    BudgetSpent,
    ConnectTimeout,
    FirstTokenTimeout,
    ModelNotFound,
    PromptTooLong,
    ProviderBusy,
    ProviderError,
    ProviderRejectedKey,
    ProviderRejectedRequest,
    ProviderReplyInvalid,
    ProviderUnreachable,
)
from custom_components.chatterbox.agent.events import (
    CompletionResult,
    PromptProgress,
    ProviderEvent,
    ProviderSwitched,
    ReasoningDelta,
    TextDelta,
    ToolCallReady,
)
from custom_components.chatterbox.agent.messages import (
    AssistantMessage,
    FinishReason,
    NamedTool,
    ToolAnnotations,
    ToolCall,
    ToolChoice,
    ToolChoiceMode,
    ToolResult,
    Usage,
    UserMessage,
)
from custom_components.chatterbox.agent.protocols import (
    AnswerOptions,
    CompletionRequest,
)
from custom_components.chatterbox.agent.providers.failover import FailoverProvider
from custom_components.chatterbox.agent.providers.managed_provider import (
    BreakerPolicy,
    BreakerState,
    CircuitBreaker,
    ManagedProvider,
    Timeouts,
    is_available,
)
from tests.agent.providers.manual_clock import ManualClock
from tests.agent.turns import run_other_tasks
from tests.support.doubles import Line, ScriptedProvider, call, never, say, tool

CLOSED, OPEN, HALF_OPEN = BreakerState
LIGHT, LOOK, SENTENCE = (
    tool("light_on"),
    tool("look", read_only=True),
    tool("process_sentence"),
)
USER = UserMessage("Hi")
REQUEST = CompletionRequest("Be brief.", (USER,), (LIGHT, LOOK, SENTENCE))
ON, LOOKED = ToolCall("a", "light_on", "{}"), ToolCall("a", "look", "{}")


def after(done: ToolCall) -> CompletionRequest:
    """Return the request that follows a call."""
    result = ToolResult("a", done.name, "{}")
    return replace(
        REQUEST, transcript=(USER, AssistantMessage(tool_calls=(done,)), result)
    )


AFTER_A_TOOL = after(ON)
TIMEOUTS = Timeouts(first_token=4, between_tokens=2)
POLICY = BreakerPolicy(failures=2, cool_down=10, growth=2, longest_cool_down=60)
NAMES = ("first", "second", "third")
DOWN = ProviderUnreachable("HTTP 500: boom")
END = CompletionResult(FinishReason.STOP, Usage(10, 5))
HELLO: list[ProviderEvent] = [TextDelta("Hello."), END]


class Chain:
    """Providers to scripted providers, named first, second and third, on one clock."""

    def __init__(
        self,
        *scripts: Sequence[Sequence[Line]],
        retries: bool = False,
        spent: Sequence[int] = (),
        refuses: bool = False,
    ) -> None:
        self.clock = ManualClock()
        self.spent = set(spent)
        self.providers = [ScriptedProvider(*script) for script in scripts]
        self.managed = [
            ManagedProvider(
                name,
                provider,
                CircuitBreaker(POLICY, self.clock),
                TIMEOUTS,
                retries,
                spent=partial(self._spent, position),
                refuses_when_spent=refuses,
            )
            for position, (name, provider) in enumerate(
                zip(NAMES, self.providers, strict=False)
            )
        ]
        self.breakers = [each.breaker for each in self.managed]
        self._turn = self.turn()

    def _spent(self, position: int) -> BudgetSpent | None:
        return BudgetSpent("day") if position in self.spent else None

    def turn(self) -> FailoverProvider:
        """Return the provider of a new turn."""
        return FailoverProvider(self.managed, self.clock, lambda: 0.5)

    async def ask(
        self, turn: FailoverProvider | None = None, request: CompletionRequest = REQUEST
    ) -> list[ProviderEvent]:
        """Run an inference to its end, in a new turn unless one is given."""
        async with aclosing((turn or self.turn()).stream(request)) as events:
            return [event async for event in events]

    async def ask_in_turn(
        self, request: CompletionRequest = REQUEST
    ) -> list[ProviderEvent]:
        """Run an inference of one and the same turn to its end."""
        return await self.ask(self._turn, request)

    def requests_by_member(self) -> list[int]:
        """Count the requests that each provider got."""
        return [len(provider.requests) for provider in self.providers]

    def open(self, *positions: int) -> None:
        """Have providers fail until they are left alone."""
        for position in positions:
            for _ in range(POLICY.failures):
                self.breakers[position].insist().failed(DOWN)
            assert self.breakers[position].state is OPEN

    @property
    def open_streams(self) -> int:
        return sum(provider.open_streams for provider in self.providers)


async def test_the_first_provider_answers_when_it_can() -> None:
    chain = Chain([HELLO], [])

    assert await chain.ask() == HELLO

    assert chain.providers[0].requests == [REQUEST]
    assert chain.open_streams == 0


async def test_the_end_of_an_answer_tells_whose_it_was() -> None:
    chain = Chain([[DOWN]], [HELLO])
    chain.managed = [replace(each, id=f"id of {each.name}") for each in chain.managed]

    *_, end = await chain.ask()

    assert end == replace(END, answered_by="id of second")


@pytest.mark.parametrize(
    ("error", "tries"),
    [
        (ProviderUnreachable("refused"), 2),
        (ProviderBusy("slow down"), 2),
        (ProviderBusy("slow down", retry_after=3), 2),
        (ProviderBusy("slow down", retry_after=4), 1),
        (ProviderReplyInvalid("nonsense"), 2),
        (ConnectTimeout("late"), 1),
        (FirstTokenTimeout("late"), 1),
        (ProviderRejectedKey("HTTP 401"), 1),
        (ModelNotFound("HTTP 404"), 1),
        (ProviderRejectedRequest("HTTP 400"), 1),
        (PromptTooLong("HTTP 400", 9000, 4096), 1),
        (ProviderError("something"), 1),
    ],
    ids=lambda value: type(value).__name__ + str(getattr(value, "retry_after", "")),
)
async def test_a_provider_that_fails_before_its_first_event_hands_over(
    error: ProviderError, tries: int
) -> None:
    chain = Chain([[error]] * tries, [HELLO], retries=True)

    assert await chain.ask() == [
        ProviderSwitched("second", f"first: {type(error).__name__}"),
        *HELLO,
    ]

    assert chain.requests_by_member() == [tries, 1]
    assert chain.breakers[0].last_error is type(error)


async def test_every_provider_gets_the_wishes_of_the_turn() -> None:
    wishes = AnswerOptions(
        temperature=0.5, max_output_tokens=100, parallel_tool_calls=False
    )
    request = replace(REQUEST, options=wishes, may_be_shortened=False)
    chain = Chain([[DOWN]], [[DOWN]], [HELLO])

    await chain.ask(request=request)

    for provider in chain.providers:
        assert [
            (model_request.options, model_request.may_be_shortened)
            for model_request in provider.requests
        ] == [(wishes, False)]


async def test_a_conversation_that_may_not_be_shortened_is_not_handed_over() -> None:
    """Invariant 71: `truncation` is `disabled`."""
    chain = Chain([[DOWN]], [[PromptTooLong("HTTP 400", 9000, 4096)]], [HELLO])

    with pytest.raises(PromptTooLong):
        await chain.ask(request=replace(REQUEST, may_be_shortened=False))

    assert chain.requests_by_member() == [1, 1, 0]
    assert chain.breakers[1].state is CLOSED


@pytest.mark.parametrize(
    "begun", [[], [TextDelta("It")]], ids=["before its first event", "amid its answer"]
)
async def test_a_provider_that_ignores_its_cancellation_holds_nobody_up(
    begun: list[ProviderEvent], caplog: pytest.LogCaptureFixture
) -> None:
    reached, release = asyncio.Event(), asyncio.Event()

    async def stubborn() -> None:
        reached.set()
        while not release.is_set():
            with contextlib.suppress(asyncio.CancelledError):
                await release.wait()

    chain = Chain([[*begun, stubborn]], [HELLO])
    asking = asyncio.create_task(chain.ask())
    await reached.wait()
    chain.clock.advance(4)

    if begun:
        with pytest.raises(BetweenTokensTimeout):
            await asking
    else:
        assert (await asking)[1:] == HELLO
    assert "provider of first ignores its cancellation" in caplog.text
    assert chain.open_streams == 1
    release.set()
    await run_other_tasks()
    assert chain.open_streams == 0


@pytest.mark.parametrize("closes_promptly", [True, False])
async def test_only_who_may_hold_its_reader_up_gets_a_task_of_its_own(
    *, closes_promptly: bool
) -> None:
    tasks: list[asyncio.Task[object] | None] = []

    async def note() -> None:
        tasks.append(asyncio.current_task())

    chain = Chain([[note, *HELLO]])
    chain.managed = [replace(chain.managed[0], closes_promptly=closes_promptly)]

    assert await chain.ask() == HELLO
    assert (tasks == [asyncio.current_task()]) is closes_promptly


async def test_no_provider_takes_the_time_of_those_after_it() -> None:
    chain = Chain([[never]], [[never]], [HELLO])
    turn = FailoverProvider(chain.managed, chain.clock, lambda: 0.5, within=4)
    asking = asyncio.create_task(chain.ask(turn))
    waits: list[float] = []
    for position in (0, 1):
        await run_other_tasks()
        began = chain.clock.now()
        while chain.requests_by_member()[position + 1] == 0:
            chain.clock.advance(0.125)
            await run_other_tasks()
        waits.append(chain.clock.now() - began)

    assert (await asking)[-2:] == HELLO
    assert waits == [1.5, 1.875]


@pytest.mark.parametrize(
    "begun", [TextDelta("It"), ReasoningDelta("Hm"), ToolCallReady(ON)], ids=repr
)
@pytest.mark.parametrize("error", [DOWN, None], ids=["fails", "ends without a finish"])
async def test_after_its_first_event_a_providers_failure_is_that_of_the_inference(
    begun: ProviderEvent, error: Exception | None
) -> None:
    chain = Chain([[begun, *([error] if error else [])]], [])
    stream = chain.turn().stream(REQUEST)

    assert await anext(stream) == begun
    with pytest.raises(ProviderUnreachable if error else ProviderReplyInvalid):
        await anext(stream)

    assert chain.requests_by_member() == [1, 0]
    assert chain.breakers[0].failures == 1
    assert chain.open_streams == 0


@pytest.mark.parametrize(
    ("errors", "messages"),
    [
        ([ProviderUnreachable("1"), ProviderBusy("2"), ProviderRejectedKey("3")], 0),
        (
            [ProviderRejectedRequest("1"), ProviderBusy("2"), ProviderUnreachable("3")],
            1,
        ),
        ([PromptTooLong("1"), ProviderRejectedRequest("2"), ModelNotFound("3")], 2),
        (
            [
                PromptTooLong("1"),
                ProviderRejectedRequest("2"),
                ProviderRejectedRequest("3"),
            ],
            0,
        ),
    ],
    ids=["all", "not the first", "the last alone", "none"],
)
async def test_when_nobody_has_answered_the_first_error_that_is_no_refusal_is_raised(
    errors: list[ProviderError], messages: int
) -> None:
    chain = Chain(*([[error]] for error in errors))

    with pytest.raises(ProviderError) as caught:
        await chain.ask()

    assert caught.value is errors[messages]
    assert caught.value.__notes__ == [
        f"{each.name} failed too: {type(error).__name__}: {error}"
        for each, error in zip(chain.managed, errors, strict=True)
        if error is not errors[messages]
    ]
    assert caught.value.__cause__ is None


async def test_a_failure_amid_an_answer_remembers_who_failed_before() -> None:
    chain = Chain([[DOWN]], [[TextDelta("It"), ProviderBusy("slow down")]])

    with pytest.raises(ProviderBusy) as caught:
        await chain.ask()

    assert caught.value.__notes__ == [
        "first failed too: ProviderUnreachable: HTTP 500: boom"
    ]


async def test_a_bug_escapes_and_gives_its_permit_back() -> None:
    chain = Chain([[ValueError("a bug")], HELLO], [])
    chain.open(0)
    chain.clock.advance(10)

    with pytest.raises(ValueError, match="a bug"):
        await chain.ask()

    assert await chain.ask() == HELLO


async def test_a_provider_that_keeps_failing_is_left_alone_and_gets_its_place_back() -> (
    None
):
    chain = Chain([[DOWN], [DOWN], HELLO, HELLO], [HELLO] * 3)
    for _ in range(POLICY.failures):
        await chain.ask()
    assert chain.breakers[0].state is OPEN

    assert await chain.ask() == [
        ProviderSwitched("second", "first: circuit open"),
        *HELLO,
    ]
    assert chain.requests_by_member() == [2, 3]

    chain.clock.advance(10)
    assert await chain.ask() == HELLO
    assert await chain.ask() == HELLO
    assert chain.breakers[0].state is CLOSED


async def test_a_probe_is_one_request() -> None:
    chain = Chain([[DOWN]], [HELLO], retries=True)
    chain.open(0)
    chain.clock.advance(10)

    await chain.ask()

    assert chain.requests_by_member() == [1, 1]
    assert chain.breakers[0].seconds_until_probe == 20


async def test_when_all_are_left_alone_the_one_that_is_soonest_to_be_tried_is_asked() -> (
    None
):
    chain = Chain([], [HELLO], [])
    chain.open(1)
    chain.clock.advance(1)
    chain.open(0, 2)

    assert await chain.ask() == [
        ProviderSwitched(
            "second", "first: circuit open; second: circuit open; third: circuit open"
        ),
        *HELLO,
    ]

    assert chain.breakers[1].state is CLOSED


async def test_a_provider_that_was_left_alone_is_the_last_resort() -> None:
    chain = Chain([HELLO], [[DOWN]])
    chain.open(0)

    assert await chain.ask() == [
        ProviderSwitched("second", "first: circuit open"),
        ProviderSwitched("first", "second: ProviderUnreachable"),
        *HELLO,
    ]


async def test_a_provider_that_took_over_keeps_the_rest_of_the_turn() -> None:
    chain = Chain([[DOWN], HELLO], [call(ON), HELLO])
    turn = chain.turn()

    assert (await chain.ask(turn))[0] == ProviderSwitched(
        "second", "first: ProviderUnreachable"
    )
    assert await chain.ask(turn, AFTER_A_TOOL) == HELLO
    assert chain.requests_by_member() == [1, 2]

    next_turn = (
        *AFTER_A_TOOL.transcript,
        AssistantMessage("Hello."),
        UserMessage("And now?"),
    )
    assert await chain.ask(turn, replace(REQUEST, transcript=next_turn)) == HELLO
    assert chain.requests_by_member() == [2, 2]


async def test_a_later_failure_hands_over_too_and_failed_providers_come_last() -> None:
    chain = Chain([[DOWN], HELLO], [call(ON), [DOWN]], [[DOWN]])
    turn = chain.turn()
    await chain.ask(turn)
    reads = tuple(
        replace(each, annotations=ToolAnnotations(read_only=True))
        for each in AFTER_A_TOOL.tools
    )

    assert await chain.ask(turn, replace(AFTER_A_TOOL, tools=reads)) == [
        ProviderSwitched("third", "second: ProviderUnreachable"),
        ProviderSwitched("first", "third: ProviderUnreachable"),
        *HELLO,
    ]


async def test_a_provider_that_acted_is_not_replaced_if_it_lacks_the_tool() -> None:
    chain = Chain([call(ON)], [])
    turn = chain.turn()
    await chain.ask(turn)

    with pytest.raises(ProviderRejectedRequest, match="no provider"):
        await chain.ask(turn, replace(AFTER_A_TOOL, tool_choice=NamedTool("other")))

    assert chain.requests_by_member() == [1, 0]


async def test_a_provider_that_only_read_hands_over_in_a_turn_without_words() -> None:
    chain = Chain([[DOWN]], [HELLO])
    looked = tuple(
        replace(each, annotations=ToolAnnotations(read_only=True))
        for each in AFTER_A_TOOL.tools
    )
    request = replace(
        AFTER_A_TOOL, transcript=AFTER_A_TOOL.transcript[1:], tools=looked
    )

    assert await chain.ask(request=request) == [
        ProviderSwitched("second", "first: ProviderUnreachable"),
        *HELLO,
    ]


async def test_leaving_closes_everything() -> None:
    for events in (1, 2):
        chain = Chain([[DOWN]], [[TextDelta("It"), never]])
        stream = chain.turn().stream(REQUEST)
        for _ in range(events):
            await anext(stream)
        await stream.aclose()
        assert chain.open_streams == 0
        assert chain.breakers[1].failures == 0


async def test_each_provider_sees_its_own_tools() -> None:
    chain = Chain([[DOWN]], [HELLO])
    chain.managed = [
        replace(
            chain.managed[0],
            tools=lambda tools: tuple(
                tool for tool in tools if tool.name != SENTENCE.name
            ),
        ),
        replace(
            chain.managed[1],
            tools=lambda tools: tuple(
                tool for tool in tools if tool.name == SENTENCE.name
            ),
        ),
    ]

    await chain.ask()

    assert [provider.requests for provider in chain.providers] == [
        [replace(REQUEST, tools=(LIGHT, LOOK))],
        [replace(REQUEST, tools=(SENTENCE,))],
    ]


@pytest.mark.parametrize(
    ("choice", "requests"),
    [
        (NamedTool(SENTENCE.name), [0, 1]),
        (NamedTool(LIGHT.name), [1, 0]),
        (ToolChoiceMode.REQUIRED, [0, 1]),
        (ToolChoiceMode.AUTO, [1, 0]),
        (ToolChoiceMode.NONE, [1, 0]),
    ],
    ids=str,
)
async def test_a_provider_without_the_tool_that_has_to_be_called_is_passed_over(
    choice: ToolChoice, requests: list[int]
) -> None:
    chain = Chain([HELLO], [HELLO])
    visible = {LIGHT.name} if isinstance(choice, NamedTool) else set[str]()
    chain.managed = [
        replace(
            chain.managed[0],
            tools=lambda tools: tuple(tool for tool in tools if tool.name in visible),
        ),
        chain.managed[1],
    ]

    events = await chain.ask(request=replace(REQUEST, tool_choice=choice))

    assert chain.requests_by_member() == requests
    assert events == (
        HELLO
        if requests[0]
        else [ProviderSwitched("second", "first: has not the tool"), *HELLO]
    )


def test_a_chain_without_providers_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one provider"):
        FailoverProvider([])


async def test_a_chain_is_available_exactly_while_a_provider_works() -> None:
    chain = Chain([HELLO], [])
    assert is_available(chain.managed)
    chain.open(0)
    assert is_available(chain.managed)
    chain.open(1)
    assert not is_available(chain.managed)
    chain.clock.advance(10)
    assert not is_available(chain.managed), "nobody has tried it out"
    await chain.ask()
    assert is_available(chain.managed)


async def test_the_log_tells_what_is_new_once(caplog: pytest.LogCaptureFixture) -> None:
    chain = Chain(
        [[DOWN], [DOWN], [DOWN], [ProviderBusy("HTTP 429")], HELLO, HELLO], [HELLO] * 4
    )

    with caplog.at_level(logging.INFO):
        for wait in (0, 0, 10, 20, 40, 0):
            chain.clock.advance(wait)
            await chain.ask()

    assert [(record.levelname, record.message) for record in caplog.records] == [
        ("WARNING", "first failed: ProviderUnreachable: HTTP 500: boom"),
        ("WARNING", "first failed 2 times in a row and is left alone for 10 seconds"),
        ("WARNING", "first failed: ProviderBusy: HTTP 429"),
        ("INFO", "first answers again"),
    ]


async def test_the_next_provider_takes_over_and_it_is_told_why() -> None:
    chain = Chain([], [], [say("Hello.")], spent=[0, 1])

    events = await chain.ask_in_turn()

    assert events[0] == ProviderSwitched(
        "third", "first: BudgetSpent; second: BudgetSpent"
    )
    assert TextDelta("Hello.") in events
    assert chain.requests_by_member() == [0, 0, 1]
    assert chain.breakers[0].last_error is None


async def test_the_first_provider_may_refuse_instead() -> None:
    chain = Chain([], [], spent=[0], refuses=True)

    with pytest.raises(BudgetSpent):
        await chain.ask_in_turn()
    assert chain.requests_by_member() == [0, 0]


async def test_a_provider_that_stands_in_refuses_for_nobody() -> None:
    chain = Chain([[DOWN]], [], [say("Hello.")], spent=[1], refuses=True)

    assert TextDelta("Hello.") in await chain.ask_in_turn()


@pytest.mark.parametrize("refuses", [False, True])
async def test_where_nobody_is_left_the_budget_is_the_reason(*, refuses: bool) -> None:
    chain = Chain([], [[DOWN]], spent=[0], refuses=refuses)

    with pytest.raises(BudgetSpent) as caught:
        await chain.ask_in_turn()
    assert caught.value.period == "day"


@pytest.mark.parametrize("done", [LOOKED, ON], ids=["has begun", "has acted"])
async def test_a_turn_under_way_keeps_its_provider_when_the_budget_is_spent(
    done: ToolCall,
) -> None:
    chain = Chain([call(done), say("It is on.")], [], refuses=True)
    await chain.ask_in_turn()
    chain.spent = {0}

    assert TextDelta("It is on.") in await chain.ask_in_turn(after(done))
    assert chain.requests_by_member() == [2, 0]


async def test_the_next_turn_of_the_same_provider_is_not_begun() -> None:
    chain = Chain([say("Hello.")], [])
    await chain.ask_in_turn()
    chain.spent = {0, 1}

    with pytest.raises(BudgetSpent):
        await chain.ask_in_turn(
            replace(REQUEST, transcript=(UserMessage("And again"),))
        )
    assert chain.requests_by_member()[0] == 1


async def test_a_provider_that_hands_over_in_the_middle_passes_by_one_without_money() -> (
    None
):
    chain = Chain([call(LOOKED), [DOWN]], [], [say("Hello.")], spent=[1])
    await chain.ask_in_turn()

    events = await chain.ask_in_turn(after(LOOKED))

    assert events[0] == ProviderSwitched(
        "third", "first: ProviderUnreachable; second: BudgetSpent"
    )


async def test_a_provider_that_took_over_keeps_the_turn_when_the_budget_of_the_first_is_spent() -> (
    None
):
    """The first provider would refuse, but the turn is no longer its own."""
    chain = Chain([[DOWN]], [call(LOOKED), say("It is on.")], refuses=True)
    await chain.ask_in_turn()
    chain.spent = {0}

    assert TextDelta("It is on.") in await chain.ask_in_turn(after(LOOKED))


async def test_a_provider_with_a_budget_reports_the_approved_call() -> None:
    chain = Chain([], [say("Unlocked.")], spent=[0])

    events = await chain.ask_in_turn(AFTER_A_TOOL)

    assert events[0] == ProviderSwitched("second", "first: BudgetSpent")
    assert chain.requests_by_member() == [0, 1]


async def test_a_provider_with_a_budget_is_asked_although_its_circuit_is_open() -> None:
    chain = Chain([], [say("Unlocked.")], [], spent=[0])
    for each in chain.managed[1:]:
        each.breaker.trip(DOWN)

    events = await chain.ask_in_turn(AFTER_A_TOOL)

    assert events[0] == ProviderSwitched("second", "first: BudgetSpent")


async def test_a_provider_that_is_left_alone_is_passed_over_for_one_that_works() -> (
    None
):
    chain = Chain([], [], [say("Unlocked.")], spent=[1])
    chain.managed[0].breaker.trip(DOWN)

    events = await chain.ask_in_turn(AFTER_A_TOOL)

    assert events[0] == ProviderSwitched(
        "third", "first: circuit open; second: BudgetSpent"
    )


@pytest.mark.parametrize(("spent", "refuses"), [([0, 1], False), ([0], True)])
async def test_without_money_nobody_is_asked(
    spent: list[int], *, refuses: bool
) -> None:
    chain = Chain([], [], spent=spent, refuses=refuses)

    with pytest.raises(BudgetSpent):
        await chain.ask_in_turn(AFTER_A_TOOL)
    assert chain.requests_by_member() == [0, 0]


async def test_a_refusal_of_the_chosen_model_goes_before_the_budget_of_a_fallback() -> (
    None
):
    chain = Chain([[ProviderRejectedRequest("no such thing")]], [], spent=[1])

    with pytest.raises(ProviderRejectedRequest, match="no such thing"):
        await chain.ask_in_turn()

    assert chain.requests_by_member() == [1, 0]


async def _slowly(clock: ManualClock, *, last: bool, within: float) -> str:
    """Return the answer of a chain to a service that reads a prompt for 100 seconds, perhaps before another one."""

    async def rest() -> None:
        clock.advance(2)
        await run_other_tasks()

    async def check() -> None:
        """Find the service working."""

    lines: list[Line] = []
    for number in range(1, 51):
        lines += [rest, PromptProgress(number, 50)]
    lines += say("At last.")
    scripts = ScriptedProvider(lines), *([] if last else [ScriptedProvider(HELLO)])
    managed = [
        ManagedProvider("a", one, CircuitBreaker(POLICY, clock), TIMEOUTS, check=found)
        for one, found in zip(scripts, (check, None), strict=False)
    ]
    turn = FailoverProvider(managed, clock, lambda: 0.5, within=within)
    async with aclosing(turn.stream(REQUEST)) as events:
        texts = [one.text async for one in events if isinstance(one, TextDelta)]
    return "".join(texts)


@pytest.mark.parametrize(
    ("last", "within", "answer"),
    [
        (True, 101, "At last."),
        (False, 103, "At last."),
        (False, 101, "Hello."),
        (True, 99, None),
    ],
)
async def test_a_service_that_reads_on_is_waited_for_to_the_end_of_the_turn(
    answer: str | None, *, last: bool, within: float
) -> None:
    clock = ManualClock()
    if answer:
        assert await _slowly(clock, last=last, within=within) == answer
        return
    with pytest.raises(FirstTokenTimeout):
        await _slowly(clock, last=last, within=within)


@pytest.mark.parametrize(
    ("takes_over", "answer"), [(True, "Hello."), (False, "At last.")]
)
async def test_a_slow_service_is_waited_for_longer_only_if_no_other_one_works(
    *, takes_over: bool, answer: str
) -> None:
    chain = Chain([])

    async def check() -> None:
        """Find the service working."""

    async def rest() -> None:
        chain.clock.advance(3)
        await run_other_tasks()

    slow: list[Line] = [
        rest,
        PromptProgress(50, 100),
        rest,
        PromptProgress(100, 100),
        *say("At last."),
    ]
    first, second = ScriptedProvider(slow), ScriptedProvider(HELLO)
    chain.managed = [
        ManagedProvider(
            "first", first, CircuitBreaker(POLICY, chain.clock), TIMEOUTS, check=check
        ),
        ManagedProvider(
            "second",
            second,
            CircuitBreaker(POLICY, chain.clock),
            TIMEOUTS,
            check=check if takes_over else None,
        ),
    ]

    events = await chain.ask()

    assert (
        "".join(event.text for event in events if isinstance(event, TextDelta))
        == answer
    )
