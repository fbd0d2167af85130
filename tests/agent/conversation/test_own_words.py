"""Words of ours are not sent as those of the model, which is told of them where they matter."""

from dataclasses import replace

import pytest

from custom_components.chatterbox.agent.conversation.own_words import (
    NO_MODEL,
    as_models_read,
    mark_of_call,
    with_own_words,
)
from custom_components.chatterbox.agent.errors import ProviderUnreachable
from custom_components.chatterbox.agent.messages import (
    AssistantMessage,
    Message,
    ProviderItem,
    ToolCall,
    ToolResult,
    Transcript,
    UserMessage,
)
from custom_components.chatterbox.agent.session import Session
from custom_components.chatterbox.agent.toolbox import Toolbox
from tests.agent.turns import finished
from tests.support.doubles import Line, ScriptedProvider, say

WORDS, NEXT = (
    UserMessage("Turn on the light", context="It is noon."),
    UserMessage("And the time?", context="One."),
)
CALL = ToolCall("1", "conversation__process_sentence", "{}")
OWN_CALL = AssistantMessage(tool_calls=(CALL,), provider_items=(NO_MODEL,))
SIGNED = ProviderItem("openai_chat", {"extra": 1})


def texts(messages: Transcript) -> str:
    """Return all that the model reads of messages."""
    return "\n".join(
        one.prompt if isinstance(one, UserMessage) else f"{one}" for one in messages
    )


def test_a_conversation_without_words_of_ours_is_sent_as_it_is() -> None:
    messages: Transcript = (
        WORDS,
        AssistantMessage(tool_calls=(CALL,)),
        ToolResult("1", CALL.name, "done"),
        NEXT,
    )
    sent = as_models_read(messages)
    assert all(one is other for one, other in zip(sent, messages, strict=True))


def test_a_failure_is_left_out_and_its_request_is_not_to_be_served_later() -> None:
    failure = with_own_words(
        AssistantMessage(), after="I can't reach the language model.", is_fact=False
    )
    sent = as_models_read((WORDS, failure, NEXT))
    assert sent[:2] == (WORDS, AssistantMessage())
    assert "can't reach" not in texts(sent)
    assert isinstance(sent[2], UserMessage)
    assert sent[2].context == (
        'One.\n\n<message_before status="unanswered" to_do="nothing"/>'
    )
    assert texts(sent).count("<") == 1


def test_what_home_assistant_did_is_a_fact_and_neither_a_call_nor_an_answer_of_the_model() -> (
    None
):
    done = AssistantMessage("Turned on the light.", provider_items=(NO_MODEL,))
    sent = as_models_read(
        (WORDS, OWN_CALL, ToolResult("1", CALL.name, "{}"), done, NEXT)
    )
    assert sent[1:4] == (AssistantMessage(),) * 3
    assert isinstance(sent[4], UserMessage)
    assert (
        sent[4].context
        == 'One.\n\n<answered_before by="Home Assistant">“Turned on the light.”</answered_before>'
    )


def test_an_approved_call_of_home_assistant_stays_its_own() -> None:
    question = AssistantMessage("Shall I?", provider_items=(NO_MODEL,))
    waits, ran = (
        ToolResult(call_id, CALL.name, text)
        for call_id, text in (("1", "Not run yet."), ("2", "{}"))
    )
    again = replace(CALL, id="2")
    resumed = AssistantMessage(
        tool_calls=(again,), provider_items=mark_of_call((WORDS, OWN_CALL), CALL.id)
    )
    done = AssistantMessage("Unlocked.", provider_items=(NO_MODEL,))
    sent = as_models_read(
        (WORDS, OWN_CALL, waits, question, UserMessage("Yes"), resumed, ran, done, NEXT)
    )
    assert CALL.name not in texts(sent)
    assert "“Shall I?”" in texts(sent[4:5])
    assert "“Unlocked.”" in texts(sent[8:])
    assert (
        mark_of_call((AssistantMessage(tool_calls=(again,)), OWN_CALL, WORDS), "2")
        == ()
    )


@pytest.mark.parametrize("end", [" That was not done.", " That."])
def test_of_a_message_the_part_of_the_model_stays(end: str) -> None:
    by_model = AssistantMessage("I turned it on.", provider_items=(SIGNED,))
    message = with_own_words(with_own_words(by_model, before="Dropped. "), after=end)
    assert message.text == f"Dropped. I turned it on.{end}"
    sent = as_models_read((WORDS, message, NEXT))
    assert sent[1] == by_model
    assert f'<heard_before from="Home Assistant">“Dropped. {end.strip()}”' in texts(
        sent[2:]
    )


def test_a_broken_answer_stays_without_the_reason() -> None:
    message = with_own_words(
        AssistantMessage("The story of"), after=" I lost it.", is_fact=False
    )
    assert as_models_read((WORDS, message, NEXT)) == (
        WORDS,
        AssistantMessage("The story of"),
        NEXT,
    )


def test_an_answer_after_a_sentence_that_failed_is_the_model_s() -> None:
    answer = AssistantMessage("Which light?")
    failed = ToolResult("1", CALL.name, "no such light", is_error=True)
    assert as_models_read((WORDS, OWN_CALL, failed, answer, NEXT))[3:] == (answer, NEXT)


def test_a_mark_that_makes_no_sense_hides_nothing() -> None:
    messages: tuple[Message, ...] = (
        WORDS,
        AssistantMessage(
            "Hi.", provider_items=(ProviderItem("own_words", {"before": "x"}),)
        ),
        NEXT,
    )
    assert as_models_read(messages) == (WORDS, AssistantMessage("Hi."), NEXT)


@pytest.mark.parametrize(
    "lines",
    [[ProviderUnreachable("refused")], [], say("")],
    ids=["unreachable", "cut", "empty"],
)
async def test_the_model_never_reads_a_composed_sentence_as_its_words(
    lines: list[Line],
) -> None:
    provider = ScriptedProvider(lines, say("Hello."))
    session = Session(provider, Toolbox())
    spoken_text = finished([event async for event in session.say("Hi")]).text
    _ = [event async for event in session.say("Are you there?")]
    assert spoken_text
    assert all(
        spoken_text not in one.text
        for one in provider.requests[1].transcript
        if isinstance(one, AssistantMessage)
    )
