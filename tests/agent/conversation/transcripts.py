"""Hypothesis strategies: conversations of every shape, and what is true of every window on one."""

from contextlib import aclosing
from dataclasses import replace

from hypothesis import strategies as st

from custom_components.chatterbox.agent.conversation.prompt_fitter import PromptFitter
from custom_components.chatterbox.agent.conversation.token_estimate import TokenEstimate
from custom_components.chatterbox.agent.conversation.window import (
    RESULT_LENGTHS,
    Window,
)
from custom_components.chatterbox.agent.events import ProviderEvent
from custom_components.chatterbox.agent.messages import (
    AssistantMessage,
    Message,
    ToolCall,
    ToolResult,
    Transcript,
    UserMessage,
)
from custom_components.chatterbox.agent.protocols import CompletionRequest, LLMProvider
from custom_components.chatterbox.agent.providers.failover import FailoverProvider
from custom_components.chatterbox.agent.providers.managed_provider import (
    CircuitBreaker,
    ManagedProvider,
)
from custom_components.chatterbox.agent.text import shortened
from custom_components.chatterbox.agent.transcript import repair
from tests.agent.turns import assert_valid

LOW = 2
"""A window falls back to the budget divided by this."""

_AS_COUNTED = TokenEstimate()

_WORDS = st.builds(
    lambda letters, times: letters * times,
    st.sampled_from(
        [
            "Turn on the light. ",
            '{"state":"on"},',
            "Öffne die Tür! ",
            "打开厨房的灯。",
            "🎉",
            "42 ",
        ]
    ),
    st.integers(0, 40),
)
_LONG_WORDS = st.builds(lambda words, times: words * times, _WORDS, st.integers(1, 10))


@st.composite
def _answers(draw: st.DrawFn, number: int) -> list[Message]:
    """Return an assistant message, with results: some missing, in any order, of calls that nobody made."""
    calls = tuple(
        ToolCall(f"{number}-{index}", "look", draw(_WORDS))
        for index in range(draw(st.integers(0, 3)))
    )
    ids = draw(st.permutations([*(call.id for call in calls), f"{number}-unknown"]))
    results = [
        ToolResult(
            call_id,
            "look",
            draw(_LONG_WORDS),
            is_error=draw(st.booleans()),
            synthetic=draw(st.booleans()),
            open_world=draw(st.booleans()),
        )
        for call_id in ids[: draw(st.integers(0, len(ids)))]
    ]
    return [AssistantMessage(draw(_WORDS), draw(_WORDS), calls), *results]


@st.composite
def transcripts(draw: st.DrawFn) -> Transcript:
    """Return what `repair` makes of any messages."""
    messages: list[Message] = []
    for number in range(draw(st.integers(0, 14))):
        if draw(st.booleans()):
            messages.append(
                UserMessage(
                    draw(_WORDS), context=draw(st.sampled_from(["", "It is noon."]))
                )
            )
        else:
            messages += draw(_answers(number))
    return repair(messages)


async def ask(
    model: LLMProvider, fitter: PromptFitter, request: CompletionRequest
) -> list[ProviderEvent]:
    """Run an inference of a model whose requests are fitted."""
    managed = ManagedProvider(
        "model", model, CircuitBreaker(), retries=False, fitter=fitter
    )
    async with aclosing(FailoverProvider([managed]).stream(request)) as events:
        return [event async for event in events]


def growth(transcript: Transcript) -> list[Transcript]:
    """Return a conversation as it grew: after each user message, and after each assistant message with its results."""
    ends = [
        index
        for index in range(1, len(transcript))
        if not isinstance(transcript[index], ToolResult)
    ]
    return [transcript[:end] for end in (*ends, len(transcript))] if transcript else []


def last_turn(transcript: Transcript) -> int:
    """Return where the last turn begins."""
    return max(
        (
            index
            for index, message in enumerate(transcript)
            if isinstance(message, UserMessage)
        ),
        default=0,
    )


def tokens_of(messages: Transcript, estimate: TokenEstimate) -> int:
    """Return the tokens of messages."""
    return sum(map(estimate.of_message, messages))


def assert_window(
    window: Window, transcript: Transcript, budget: int, estimate: TokenEstimate
) -> None:
    """Check that a window is valid, made of whole turns, complete and in order, and as small as it has to be."""
    assert_valid(window.transcript)
    assert window.dropped <= last_turn(transcript)
    if window.dropped:
        assert isinstance(transcript[window.dropped], UserMessage)
    for sent, messages in zip(
        window.transcript, transcript[window.dropped :], strict=True
    ):
        _assert_same_but_for_room(sent, messages)
    if tokens_of(window.transcript, estimate) > budget:
        assert window.dropped == last_turn(transcript)
        for message in window.transcript:
            _assert_as_short_as_can_be(message, estimate)


def _assert_same_but_for_room(sent: Message, transcript: Message) -> None:
    match sent, transcript:
        case ToolResult(), ToolResult():
            assert replace(sent, content=transcript.content) == transcript
            assert (
                sent.content == transcript.content
                or "were left out here to save room" in sent.content
            )
            assert len(sent.content) <= len(transcript.content)
        case UserMessage(), UserMessage():
            assert replace(sent, context=transcript.context) == transcript
            assert sent.context.endswith(transcript.context)
        case _:
            assert sent == transcript


def _assert_as_short_as_can_be(message: Message, estimate: TokenEstimate) -> None:
    if isinstance(message, ToolResult):
        shorter = replace(
            message, content=shortened(message.content, RESULT_LENGTHS[-1])
        )
        assert estimate.of_message(shorter) >= estimate.of_message(message)


def request_tokens(
    request: CompletionRequest, estimate: TokenEstimate = _AS_COUNTED
) -> int:
    """Return the estimated input tokens of a request."""
    texts = estimate.of_text(request.instructions) + estimate.of_text(request.directive)
    return (
        estimate.of_tools(request.tools)
        + texts
        + sum(map(estimate.of_message, request.transcript))
    )
