"""Requests responses in the background with the `openai` package: followed, resumed, cancelled."""

import json
import os
import time

import openai
from openai import OpenAI
from openai.types.responses import Response

MODEL = os.environ["MODEL"]
SLOW = "slowly\nrepeat 40\nsay All is well. "
TIMEOUT_SECONDS = 100

client = OpenAI()


def ended(response: Response) -> Response:
    """Wait for the end of a response, as the documentation of OpenAI does."""
    give_up = time.monotonic() + TIMEOUT_SECONDS
    while response.status in {"queued", "in_progress"} and time.monotonic() < give_up:
        time.sleep(0.2)
        response = client.responses.retrieve(response.id)
    return response


def resumed() -> dict[str, object]:
    """Follow it, lose the connection, and follow the rest."""
    texts: list[str] = []
    numbers: list[int] = []
    response_id = ""
    stream = client.responses.create(
        model=MODEL, input=SLOW, background=True, stream=True
    )
    for event in stream:
        numbers.append(event.sequence_number)
        if event.type == "response.created":
            response_id = event.response.id
        if event.type == "response.output_text.delta":
            texts.append(event.delta)
            if len(texts) == 3:
                break
    stream.close()
    kinds: list[str] = []
    for event in client.responses.retrieve(
        response_id, stream=True, starting_after=numbers[-1]
    ):
        numbers.append(event.sequence_number)
        kinds.append(event.type)
        if event.type == "response.output_text.delta":
            texts.append(event.delta)
    whole = client.responses.retrieve(response_id)
    with client.responses.stream(response_id=response_id, starting_after=1) as helper:
        after = [event.sequence_number for event in helper]
        final = helper.get_final_response().output_text
    return {
        "contiguous": numbers == list(range(len(numbers))),
        "last": kinds[-1],
        "terminal": [
            kind for kind in kinds if kind in {"response.completed", "response.failed"}
        ],
        "same_text": "".join(texts) == whole.output_text == final,
        "helper_starts_at": after[0],
    }


def cancelled() -> dict[str, object]:
    """Change one's mind, twice, and after the end."""
    begun = client.responses.create(model=MODEL, input=SLOW, background=True)
    first = client.responses.cancel(begun.id)
    second = client.responses.cancel(begun.id)
    later = client.responses.retrieve(begun.id)
    plain = client.responses.create(model=MODEL, input="say Hello.")
    try:
        client.responses.cancel(plain.id)
        refusal = None
    except openai.BadRequestError as error:
        refusal = type(error).__name__
    done = ended(
        client.responses.create(model=MODEL, input="say Quick.", background=True)
    )
    return {
        "cancelled": [first.status, second.status, later.status],
        "of_a_plain_one": refusal,
        "of_one_that_has_ended": client.responses.cancel(done.id).status,
    }


print(json.dumps({"resumed": resumed(), "cancelled": cancelled()}))
