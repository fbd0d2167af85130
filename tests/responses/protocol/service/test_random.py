"""Random clients of a random model: whatever they do in whatever order, what is promised holds."""

import json
from dataclasses import dataclass, field
from itertools import cycle

import pytest
from hypothesis import given, settings, strategies as st

from custom_components.chatterbox.agent.errors import ProviderUnreachable
from custom_components.chatterbox.agent.events import (
    CompletionResult,
    ReasoningDelta,
    TextDelta,
    ToolCallReady,
)
from custom_components.chatterbox.agent.messages import (
    FinishReason,
    JsonObject,
    JsonValue,
    ToolCall,
    ToolDefinition,
    UserMessage,
)
from custom_components.chatterbox.responses.protocol.backend import Caller
from custom_components.chatterbox.responses.protocol.errors import ApiError
from custom_components.chatterbox.responses.protocol.service import ResponsesService
from tests.agent.turns import assert_valid
from tests.responses.protocol.backend_double import ANNA, BEN, BackendDouble
from tests.responses.protocol.service_talk import (
    ask,
    collected,
    function,
    items,
    last_response,
    mcp,
    output,
    read,
    request,
    stream,
)
from tests.responses.protocol.valid_stream import check_resource, check_stream
from tests.support.doubles import Line, ScriptedProvider, asks_for, tool
from tests.support.thorough import some_examples

CALLS = st.builds(
    lambda call_id, name: ToolCallReady(ToolCall(call_id, name, "{}")),
    st.sampled_from(["", "1", "2"]),
    st.sampled_from(["light_on", "unlock", "show_page", "unheard_of"]),
)
ENDS = st.sampled_from(
    [
        CompletionResult(FinishReason.STOP),
        CompletionResult(FinishReason.STOP),
        CompletionResult(FinishReason.LENGTH),
        CompletionResult(FinishReason.CONTENT_FILTER),
        ProviderUnreachable("gone"),
    ]
)
INFERENCES = st.tuples(
    st.lists(
        st.one_of(CALLS, st.sampled_from([TextDelta("On. "), ReasoningDelta("Hm.")])),
        max_size=4,
    ),
    ENDS,
)


@dataclass(frozen=True)
class Step:
    """A step of a client: a request that continues one of the latest responses or none, or a deletion."""

    caller: Caller
    how: str
    previous: int | None
    store: bool
    approves: bool
    deletes: bool


STEPS = st.builds(
    Step,
    st.sampled_from([ANNA, ANNA, BEN]),
    st.sampled_from(["whole", "streamed", "background"]),
    st.none() | st.integers(0, 3),
    st.sampled_from([True, True, False]),
    st.booleans(),
    st.sampled_from([False, False, False, True]),
)


@dataclass
class Known:
    """A response that somebody got."""

    caller: Caller
    response: JsonObject
    words: list[str]
    """The words of people in its chain."""
    parent: Known | None
    is_there: bool

    @property
    def can_be_gone_on_from(self) -> bool:
        """Whether it is there, with all before it, and has ended well enough."""
        chain = self.is_there and (self.parent is None or self.parent.chain_is_there)
        return chain and self.response["status"] in {"completed", "incomplete"}

    @property
    def chain_is_there(self) -> bool:
        """Whether nothing of it was deleted."""
        return self.is_there and (self.parent is None or self.parent.chain_is_there)


@dataclass
class Clients:
    """Those who ask, and what they know."""

    backend: BackendDouble
    service: ResponsesService
    known: list[Known] = field(default_factory=list)
    requests: int = 0
    approved: int = 0

    async def take(self, step: Step) -> None:
        """Do a step, and check what comes of it."""
        previous = (
            self.known[-1 - step.previous]
            if step.previous is not None and step.previous < len(self.known)
            else None
        )
        if step.deletes and previous is not None:
            await self._delete(step, previous)
            return
        self.requests += 1
        text = f"text {self.requests}"
        turns = len(self.backend.turns)
        try:
            response = await self._ask(
                step, self._input(step, previous, text), previous
            )
        except ApiError as refusal:
            self._check_refusal(step, previous, refusal)
            return
        assert previous is None or (
            previous.can_be_gone_on_from and previous.caller == step.caller
        )
        words = [*(previous.words if previous else []), text]
        (turn,) = self.backend.turns[turns:]
        assert_valid(turn.transcript)
        assert [
            one.text for one in turn.transcript if isinstance(one, UserMessage)
        ] == words
        assert turn.may_store == (step.store or step.how == "background")
        self.approved += step.approves * len(
            turn.approval.decisions if turn.approval else ()
        )
        self.known.append(Known(step.caller, response, words, previous, turn.may_store))
        if turn.may_store:
            assert await read(self.service, response["id"], step.caller) == response

    async def _delete(self, step: Step, known: Known) -> None:
        deleting = self.service.delete(str(known.response["id"]), step.caller)
        if known.is_there and known.caller == step.caller:
            await deleting
            known.is_there = False
        else:
            with pytest.raises(ApiError, match="not found"):
                await deleting

    def _input(self, step: Step, previous: Known | None, text: str) -> JsonValue:
        sent: list[JsonValue] = []
        for item in items(previous.response) if previous else []:
            if item["type"] == "function_call":
                sent.append(output(str(item["call_id"])))
            if item["type"] == "mcp_approval_request":
                answer: JsonObject = {
                    "type": "mcp_approval_response",
                    "approve": step.approves,
                }
                sent.append({**answer, "approval_request_id": item["id"]})
        return [*sent, {"role": "user", "content": text}]

    async def _ask(
        self, step: Step, sent: JsonValue, previous: Known | None
    ) -> JsonObject:
        fields: dict[str, JsonValue] = {"tools": [mcp(), function("show_page")]}
        if previous is not None:
            fields["previous_response_id"] = previous.response["id"]
        if step.how == "whole":
            return await ask(
                self.service, sent, step.caller, store=step.store, **fields
            )
        if step.how == "streamed":
            return last_response(
                await stream(
                    self.service, sent, step.caller, store=step.store, **fields
                )
            )
        begun = await self.service.create(
            json.dumps(request(sent, background=True, **fields)), step.caller
        )
        assert isinstance(begun, dict)
        check_resource(begun)
        query = {"stream": "true"}
        return check_stream(
            await collected(
                await self.service.get(str(begun["id"]), step.caller, query)
            )
        )

    def _check_refusal(
        self, step: Step, previous: Known | None, refusal: ApiError
    ) -> None:
        if refusal.code == "model_unreachable":
            assert step.how == "whole"
        elif previous is None:
            raise AssertionError("nothing was wrong") from refusal
        elif refusal.code == "approval_continuation_invalid":
            assert items(previous.response, "mcp_approval_request")
        else:
            assert refusal.code == "previous_response_not_found"
            assert not previous.can_be_gone_on_from or previous.caller != step.caller


@settings(max_examples=some_examples(30))
@given(
    st.lists(STEPS, min_size=1, max_size=10),
    st.lists(INFERENCES, min_size=1, max_size=12),
)
async def test_whatever_clients_do_what_is_promised_holds(
    steps: list[Step], inferences: list[tuple[list[Line], Line]]
) -> None:
    """Invariants 7, 8, 36, 37, 38, 39, 43, 45, 64."""
    scripts = cycle(inferences)
    provider = ScriptedProvider(
        *([*pieces, end] for pieces, end in (next(scripts) for _ in range(120)))
    )
    tools: dict[str, tuple[ToolDefinition, ...]] = {
        "home": (tool("light_on", repeatable=True), tool("unlock"))
    }
    backend = BackendDouble(provider, hooks=[asks_for("unlock")], tools=tools)
    clients = Clients(backend, ResponsesService(backend))

    for step in steps:
        await clients.take(step)

    assert (backend.taking, provider.open_streams) == (0, 0)
    remaining = {str(one.response["id"]) for one in clients.known if one.is_there}
    failed = {
        key
        for key, record in backend.memory.records.items()
        if record.response["status"] == "failed"
    }
    assert remaining <= backend.memory.records.keys() <= remaining | failed
    assert (
        sum(one.name == "unlock" for one in backend.dispatcher.started)
        <= clients.approved
    )
