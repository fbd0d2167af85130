"""Invariants of the requests that are fitted from any conversation, at any moment of it."""

from collections.abc import AsyncGenerator
from itertools import pairwise

from hypothesis import given, settings, strategies as st

from custom_components.chatterbox.agent.conversation.prompt_fitter import (
    Allowance,
    ContextWindow,
    PromptFitter,
)
from custom_components.chatterbox.agent.conversation.token_estimate import TokenEstimate
from custom_components.chatterbox.agent.errors import PromptTooLong
from custom_components.chatterbox.agent.events import CompletionResult, ProviderEvent
from custom_components.chatterbox.agent.messages import (
    AssistantMessage,
    FinishReason,
    Message,
    Summary,
    ToolCall,
    ToolDefinition,
    ToolResult,
    Transcript,
    Usage,
    UserMessage,
)
from custom_components.chatterbox.agent.protocols import CompletionRequest
from tests.agent.conversation.transcripts import (
    ask,
    growth,
    last_turn,
    request_tokens,
    transcripts,
)
from tests.agent.turns import assert_valid
from tests.support.thorough import some_examples

TOOL = ToolDefinition("look", "Looks at something. " * 20, {"type": "object"})
INSTRUCTIONS = "You live in a house. " * 30


class Model:
    """A model that counts in its own way, and refuses what it cannot read."""

    def __init__(self, reads: int, scale: float, *, tells: bool = True) -> None:
        self.reads = reads
        self.estimate = TokenEstimate(scale)
        self.tells = tells
        self.accepted: list[CompletionRequest] = []
        self.refused = 0

    async def stream(self, request: CompletionRequest) -> AsyncGenerator[ProviderEvent]:
        """Answer nothing, or refuse."""
        tokens = request_tokens(request, self.estimate)
        if tokens > self.reads:
            self.refused += 1
            raise PromptTooLong(
                "no", *((tokens, self.reads) if self.tells else (None, None))
            )
        self.accepted.append(request)
        yield CompletionResult(FinishReason.STOP, Usage(tokens, 1))


async def answers(
    model: Model,
    fitter: PromptFitter,
    transcript: Transcript,
    summary: Summary | None = None,
) -> bool:
    """Ask once; return whether there was an answer."""
    try:
        await ask(
            model,
            fitter,
            CompletionRequest(INSTRUCTIONS, transcript, (TOOL,), summary=summary),
        )
    except PromptTooLong:
        return False
    return True


@settings(max_examples=some_examples(60))
@given(
    transcripts(),
    st.builds(
        Model,
        st.sampled_from([1_100, 2_048, 4_096, 40_000]),
        st.floats(0.6, 2.0),
        tells=st.booleans(),
    ),
    st.integers(50, 4_000),
    st.none() | st.builds(Summary, st.text(max_size=200), st.integers(0, 40)),
)
async def test_any_window_sent_is_valid_and_readable(
    transcript: Transcript, model: Model, history: int, summary: Summary | None
) -> None:
    fitter = PromptFitter(ContextWindow(), Allowance(history))
    for messages in growth(transcript):
        before = len(model.accepted)
        if await answers(model, fitter, messages, summary):
            sent = model.accepted[-1].transcript
            assert_valid(sent)
            assert type(sent[-1]) is type(messages[-1])

            earlier = sent[: last_turn(sent)]
            assert sum(
                map(TokenEstimate().of_message, earlier)
            ) <= history / fitter.estimate.scale + len(earlier)
        else:  # not even the last turn can be read
            assert len(model.accepted) == before


def turns(lengths: list[int]) -> list[Transcript]:
    """Return a conversation after each of its questions; every other turn looks at something."""
    messages: list[Message] = []
    requests: list[Transcript] = []
    for number, length in enumerate(lengths):
        messages.append(
            UserMessage(
                f"Question {number}? " + "word " * (length // 4), context="It is noon."
            )
        )
        requests.append(tuple(messages))
        if number % 2:
            call = ToolCall(f"call-{number}", "look", '{"at":"sky"}')
            messages += [
                AssistantMessage(tool_calls=(call,)),
                ToolResult(call.id, "look", "dark " * length),
            ]
        messages.append(AssistantMessage("word " * length))
    return requests


@settings(max_examples=some_examples(10))
@given(
    st.lists(st.integers(60, 120), min_size=100, max_size=130),
    st.sampled_from([16_384, 32_768, 200_000]),
    st.floats(1.0, 1.6),
)
async def test_nine_of_ten_turns_begin_as_the_one_before(
    lengths: list[int], reads: int, scale: float
) -> None:
    model = Model(reads, scale)
    fitter = PromptFitter(ContextWindow(reads))
    requested = turns(lengths)
    for words in requested:
        assert await answers(model, fitter, words)
    sent = [request.transcript for request in model.accepted]
    are_prefixes = [after[: len(before)] == before for before, after in pairwise(sent)]
    assert sum(are_prefixes) / len(are_prefixes) >= 0.9
    assert model.refused <= 2
    assert len(sent[-1]) < len(requested[-1])
