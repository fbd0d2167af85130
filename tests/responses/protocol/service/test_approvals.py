"""Calls that wait for a yes: asked as items, answered as items, run once."""

import pytest

from custom_components.chatterbox.agent.messages import (
    JsonObject,
    JsonValue,
    ToolCall,
    ToolResult,
)
from custom_components.chatterbox.responses.protocol.errors import ApiError
from custom_components.chatterbox.responses.protocol.service import ResponsesService
from tests.responses.protocol.backend_double import BackendDouble
from tests.responses.protocol.service_talk import ask, items, mcp, output_text
from tests.support.doubles import (
    Line,
    ScriptedDispatcher,
    ScriptedProvider,
    asks_for,
    call,
    say,
    tool,
)

UNLOCK, OPEN, LIGHT = tool("unlock"), tool("open_door"), tool("light_on")
YES, NO = True, False
TO_UNLOCK = ToolCall("c_unlock", "unlock", '{"door":"front"}')
TO_OPEN = ToolCall("c_open", "open_door", "{}")
TO_LIGHT = ToolCall("c_light", "light_on", "{}")


class Talk:
    """A home with doors, somebody who asks for them, and what runs."""

    def __init__(
        self, *script: list[Line], asks: tuple[str, ...] = ("unlock", "open_door")
    ) -> None:
        self.dispatcher = ScriptedDispatcher()
        self.provider = ScriptedProvider(*script)
        self.backend = BackendDouble(
            self.provider,
            self.dispatcher,
            [asks_for(*asks)],
            tools={"home": (LIGHT, OPEN, UNLOCK)},
        )
        self.service = ResponsesService(self.backend)

    @property
    def ran(self) -> list[str]:
        """Names of what has run."""
        return [one.name for one in self.dispatcher.started]

    async def say(
        self, text: JsonValue = "Open up!", **fields: JsonValue
    ) -> JsonObject:
        """Ask with the tools of the home."""
        fields.setdefault("tools", [mcp()])
        return await ask(self.service, text, **fields)

    async def refusal(self, text: JsonValue, **fields: JsonValue) -> ApiError:
        """Return why what is asked is refused."""
        with pytest.raises(ApiError) as refused:
            await self.say(text, **fields)
        assert refused.value.status == 400
        return refused.value


def answers(
    question: JsonObject, *approve: bool, reason: str | None = None
) -> list[JsonValue]:
    """Return what a client says to the requests of a response, in their order."""
    requests = items(question, "mcp_approval_request")
    return [
        {
            "type": "mcp_approval_response",
            "approval_request_id": one["id"],
            "approve": yes,
            "reason": reason,
        }
        for one, yes in zip(requests, approve, strict=False)
    ]


async def test_nothing_runs_before_a_yes_and_then_once() -> None:
    """Invariant 45."""
    talk = Talk(call(TO_UNLOCK), say("It is open."), say("Yes."), say("Still."))

    question = await talk.say()
    (request,) = items(question, "mcp_approval_request")
    assert (question["status"], request["server_label"]) == ("completed", "home")
    assert (request["name"], request["arguments"]) == ("unlock", '{"door":"front"}')
    assert (talk.ran, items(question, "mcp_call")) == ([], [])

    done = await talk.say(answers(question, YES), previous_response_id=question["id"])
    (ran,) = items(done, "mcp_call")
    assert (ran["approval_request_id"], ran["status"], talk.ran) == (
        request["id"],
        "completed",
        ["unlock"],
    )

    later = await talk.say("And?", previous_response_id=done["id"])
    last = await talk.say("Still?", previous_response_id=later["id"])
    replayed = await talk.refusal(
        answers(question, YES), previous_response_id=question["id"]
    )
    assert (output_text(last), replayed.code, talk.ran) == (
        "Still.",
        "approval_continuation_invalid",
        ["unlock"],
    )


async def test_an_approval_by_replayed_items_is_acted_on_once() -> None:
    """Invariant 45: without a chain, also when the items are brought again with what came after."""
    talk = Talk(call(TO_UNLOCK), say("It is open."), say("Yes."))
    request: JsonObject = {"role": "user", "content": "Open up!"}

    question = await talk.say([request], store=False)
    sent: list[JsonValue] = [request, *items(question), *answers(question, YES)]
    done = await talk.say(sent, store=False)
    await talk.say(
        [*sent, *items(done), {"role": "user", "content": "Sure?"}], store=False
    )

    assert talk.ran == ["unlock"]


async def test_a_no_by_replayed_items_does_not_stand_in_the_way_of_the_next_yes() -> (
    None
):
    talk = Talk(call(TO_UNLOCK), call(TO_OPEN), say("It is open."))
    request: JsonObject = {"role": "user", "content": "Open up!"}

    first = await talk.say([request], store=False)
    sent: list[JsonValue] = [request, *items(first), *answers(first, NO)]
    second = await talk.say(sent, store=False)
    await talk.say([*sent, *items(second), *answers(second, YES)], store=False)

    assert talk.ran == [TO_OPEN.name]


@pytest.mark.parametrize("is_chain", [True, False])
async def test_answers_of_before_are_passed_over_beside_a_new_one(
    *, is_chain: bool
) -> None:
    """Invariant 45: `openai-agents` sends all its answers once more."""
    talk = Talk(call(TO_UNLOCK), call(TO_OPEN), say("It is open."))

    def after(response: JsonObject) -> JsonObject:
        return (
            {"previous_response_id": response["id"]}
            if is_chain
            else {"conversation": "conv_1"}
        )

    first = await talk.say(**({} if is_chain else {"conversation": "conv_1"}))
    second = await talk.say(answers(first, NO), **after(first))
    both = [*answers(first, NO), *answers(second, YES)]
    third = await talk.say(both, **after(second))
    refusal = await talk.refusal(both, **after(third))

    assert talk.ran == [TO_OPEN.name]
    assert refusal.code == "approval_continuation_invalid"


@pytest.mark.parametrize("request_id", ["mcpr_0_0", "nonsense"])
async def test_an_answer_to_no_question_is_refused(request_id: str) -> None:
    """Invariant 46."""
    talk = Talk(call(TO_UNLOCK))
    question = await talk.say()
    answer: JsonValue = {
        "type": "mcp_approval_response",
        "approval_request_id": request_id,
        "approve": True,
    }

    refused = await talk.refusal([answer], previous_response_id=question["id"])

    assert (refused.code, talk.ran) == ("approval_continuation_invalid", [])


async def test_answers_that_repeat_or_mix_questions_are_refused() -> None:
    """Invariant 46."""
    talk = Talk(call(TO_UNLOCK), call(TO_OPEN))
    first, second = await talk.say(), await talk.say()

    twice = await talk.refusal([*answers(first, YES), *answers(first, NO)])
    mixed = await talk.refusal([*answers(first, YES), *answers(second, YES)])

    assert ({twice.code, mixed.code}, talk.ran) == (
        {"approval_continuation_invalid"},
        [],
    )


async def test_a_no_reaches_the_model_with_its_reason() -> None:
    """Invariant 47."""
    talk = Talk(call(TO_UNLOCK), say("All right, it stays shut."))
    question = await talk.say()

    denied = await talk.say(
        answers(question, NO, reason="The dog is out."),
        previous_response_id=question["id"],
    )

    assert (denied["status"], output_text(denied), talk.ran) == (
        "completed",
        "All right, it stays shut.",
        [],
    )
    assert items(denied, "mcp_call") == []
    contents = [
        one.content
        for one in talk.provider.requests[-1].transcript
        if isinstance(one, ToolResult)
    ]
    assert "The dog is out." in contents[-1]


async def test_several_calls_of_one_message_are_asked_at_once_and_answered_one_by_one() -> (
    None
):
    """Invariant 48."""
    talk = Talk(call(TO_LIGHT, TO_UNLOCK, TO_OPEN), say("Half done."))

    question = await talk.say()
    assert talk.ran == ["light_on"]
    assert [item["name"] for item in items(question, "mcp_approval_request")] == [
        "unlock",
        "open_door",
    ]
    done = await talk.say(
        answers(question, NO, YES), previous_response_id=question["id"]
    )

    assert talk.ran == ["light_on", "open_door"]
    assert [item["name"] for item in items(done, "mcp_call")] == ["open_door"]


async def test_a_question_without_an_answer_is_a_no() -> None:
    talk = Talk(call(TO_UNLOCK, TO_OPEN), say("Half done."))
    question = await talk.say()

    await talk.say(answers(question, YES), previous_response_id=question["id"])

    assert talk.ran == ["unlock"]
