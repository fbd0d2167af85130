"""Clients that name no tools: they know no approval requests, so a question and its answer are words."""

import json
from typing import Any

import pytest
from homeassistant.core import HomeAssistant

from tests.demo_house.move_in import move_in
from tests.support.api_clients import HttpClient
from tests.support.servers.script import Script, ScriptedAnswer, ScriptedCall
from tests.support.talk import AGENT, ASKS, DOOR, QUESTION, Serve, messages_of

PATH = "/api/chatterbox/v1/responses"
WHICH = "The Side Door or the Back Door?"
ASSIST = {"type": "mcp", "server_label": "assist", "require_approval": "never"}
REQUEST = {"model": AGENT, "input": "Unlock the front door."}
ALLOWING = [{"verdict": "allow"}]
DOORS = """
entities:
  - { name: Side Door, id: lock.side, state: unlocked }
  - { name: Back Door, id: lock.back, state: unlocked }
"""


async def create(client: HttpClient, **fields: object) -> dict[str, Any]:
    """Return the response to a request."""
    answer = await client.post(PATH, json={"model": AGENT, **fields})
    assert answer.status == 200, await answer.text()
    response: dict[str, Any] = await answer.json()
    return response


def words_of(response: dict[str, Any]) -> str:
    """Return the `output_text` of a response, as clients put it together."""
    messages = (item for item in response["output"] if item["type"] == "message")
    return "".join(part["text"] for message in messages for part in message["content"])


async def test_a_question_is_a_message_beside_its_item(
    hass: HomeAssistant, serve_api: Serve, client: HttpClient
) -> None:
    await serve_api(Script(answers=(ASKS,)))

    response = await create(client, **REQUEST)

    assert [item["type"] for item in response["output"]] == [
        "mcp_approval_request",
        "message",
    ]
    assert words_of(response) == QUESTION
    assert hass.states.is_state(DOOR, "locked")


async def test_a_question_is_streamed(serve_api: Serve, client: HttpClient) -> None:
    await serve_api(Script(answers=(ASKS,)))

    stream = await (await client.post(PATH, json={**REQUEST, "stream": True})).text()

    sent = [
        json.loads(line.removeprefix("data: "))
        for line in stream.splitlines()
        if line.startswith("data: {")
    ]
    deltas = [
        event["delta"]
        for event in sent
        if event["type"] == "response.output_text.delta"
    ]
    assert "".join(deltas) == QUESTION == words_of(sent[-1]["response"])


async def test_who_names_tools_or_a_format_gets_the_item_alone(
    serve_api: Serve, client: HttpClient
) -> None:
    """Words would not fit the format."""
    await serve_api(Script(answers=(ASKS,), after_last="start again"))

    for more in ({"tools": [ASSIST]}, {"text": {"format": {"type": "json_object"}}}):
        response = await create(client, **REQUEST, **more)
        assert [
            item["type"]
            for item in response["output"]
            if item["type"] != "mcp_list_tools"
        ] == ["mcp_approval_request"]


@pytest.mark.parametrize("by_items", [False, True], ids=["by id", "by items"])
@pytest.mark.parametrize(
    ("words", "state"), [("Yes, please.", "unlocked"), ("No.", "locked")]
)
async def test_a_yes_or_no_in_words_answers_the_question(
    hass: HomeAssistant,
    serve_api: Serve,
    client: HttpClient,
    *,
    words: str,
    state: str,
    by_items: bool,
) -> None:
    await serve_api(Script(answers=(ASKS, ScriptedAnswer(content="As you say."))))
    question = await create(client, **REQUEST)

    if by_items:
        before = [{"role": "user", "content": REQUEST["input"]}, *question["output"]]
        response = await create(
            client, input=[*before, {"role": "user", "content": words}], store=False
        )
    else:
        response = await create(
            client, input=words, previous_response_id=question["id"]
        )

    assert words_of(response) == "As you say."
    assert hass.states.is_state(DOOR, state)


@pytest.mark.parametrize(
    "words", ["Why?", "Yes, but the back door.", "What is the time?"]
)
async def test_other_words_go_to_the_model(
    hass: HomeAssistant, serve_api: Serve, client: HttpClient, words: str
) -> None:
    server = await serve_api(Script(answers=(ASKS, ScriptedAnswer(content="Hm."))))
    question = await create(client, **REQUEST)

    response = await create(client, input=words, previous_response_id=question["id"])

    assert words_of(response) == "Hm."
    assert hass.states.is_state(DOOR, "locked")
    assert words in str(messages_of(server.requests[-1])[-1]["content"])


async def test_words_that_are_neither_are_asked_about_once(
    hass: HomeAssistant, serve_api: Serve, client: HttpClient
) -> None:
    await serve_api(Script(answers=(ASKS, ScriptedAnswer(content="As you say."))))
    question = await create(client, **REQUEST)

    again = await create(
        client, input="Yet, sure.", previous_response_id=question["id"]
    )
    answer = await create(
        client, input="Yes. Thank you.", previous_response_id=again["id"]
    )

    assert words_of(again) == f"I need a yes or a no. {QUESTION}"
    assert words_of(answer) == "As you say."
    assert hass.states.is_state(DOOR, "unlocked")


async def test_a_yes_counts_for_the_question_before_it_and_for_nobody_else(
    hass: HomeAssistant, serve_api: Serve, client: HttpClient, guest: HttpClient
) -> None:
    answers = (ASKS, *[ScriptedAnswer(content="Yes to what?")] * 3)
    await serve_api(Script(answers=answers))
    await create(client, **REQUEST)
    as_if_asked = [
        {"role": "assistant", "content": QUESTION},
        {"role": "user", "content": "Yes."},
    ]
    after_more = [
        as_if_asked[0],
        {"role": "assistant", "content": "Or not."},
        as_if_asked[1],
    ]

    for who, words in ((guest, as_if_asked), (client, "Yes."), (client, after_more)):
        assert words_of(await create(who, input=words)) == "Yes to what?"

    assert hass.states.is_state(DOOR, "locked")


async def test_a_second_yes_opens_nothing(
    hass: HomeAssistant, serve_api: Serve, client: HttpClient
) -> None:
    await serve_api(
        Script(
            answers=(
                ASKS,
                ScriptedAnswer(content="Open."),
                ScriptedAnswer(content="Yes to what?"),
            )
        )
    )
    question = await create(client, **REQUEST)
    await create(client, input="Yes.", previous_response_id=question["id"])
    hass.states.async_set(DOOR, "locked")

    response = await create(client, input="Yes.", previous_response_id=question["id"])

    assert words_of(response) == "Yes to what?"
    assert hass.states.is_state(DOOR, "locked")


async def test_one_yes_answers_one_of_two_questions_with_the_same_words(
    hass: HomeAssistant, serve_api: Serve, client: HttpClient
) -> None:
    answers = (
        ASKS,
        ASKS,
        ScriptedAnswer(content="Open."),
        ScriptedAnswer(content="Yes to what?"),
    )
    await serve_api(Script(answers=answers))
    first, _second = [await create(client, **REQUEST) for _ in range(2)]

    assert (
        words_of(await create(client, input="Yes.", previous_response_id=first["id"]))
        == "Open."
    )
    hass.states.async_set(DOOR, "locked")

    assert (
        words_of(await create(client, input="Yes.", previous_response_id=first["id"]))
        == "Yes to what?"
    )
    assert hass.states.is_state(DOOR, "locked")


@pytest.mark.parametrize(
    ("words", "heard", "state"),
    [("The back door.", "As you say.", "locked"), ("Yes.", WHICH, "unlocked")],
)
async def test_a_name_in_words_picks_one_of_several(  # noqa: PLR0917  # a row
    hass: HomeAssistant,
    serve_api: Serve,
    client: HttpClient,
    words: str,
    heard: str,
    state: str,
) -> None:
    locks = ScriptedCall(
        name="HassTurnOn", arguments={"name": "Side Door", "domain": "lock"}
    )
    await serve_api(
        Script(
            answers=(
                ScriptedAnswer(tool_calls=(locks,)),
                ScriptedAnswer(content="As you say."),
            )
        ),
        rules=ALLOWING,
    )
    await move_in(hass, DOORS)
    question = await create(client, input="Lock the door.")

    answer = await create(client, input=words, previous_response_id=question["id"])

    assert words_of(question) == WHICH
    assert words_of(answer) == heard
    assert hass.states.is_state("lock.back", state)
    assert hass.states.is_state("lock.side", "unlocked")
