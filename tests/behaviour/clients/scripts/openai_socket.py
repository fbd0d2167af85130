"""Talks over one WebSocket with the `openai` package, as its `responses.connect()` does."""

import json
import os

from openai import OpenAI
from openai.resources.responses.responses import ResponsesConnection
from openai.types.responses import FunctionToolParam, Response, ResponseInputItemParam

MODEL = os.environ["MODEL"]
WEATHER: FunctionToolParam = {
    "type": "function",
    "name": "get_weather",
    "parameters": {"type": "object", "properties": {"city": {"type": "string"}}},
    "strict": False,
}

client = OpenAI()


def answer(connection: ResponsesConnection) -> Response:
    """Read to the end of a response."""
    for event in connection:
        match event.type:
            case "response.completed" | "response.failed" | "response.incomplete":
                return event.response
            case "error":
                raise RuntimeError(event.to_json())
            case _:
                continue
    raise RuntimeError("the connection was closed")


def error(connection: ResponsesConnection) -> str:
    """Read the error that a request is answered with."""
    event = connection.recv()
    if event.type != "error":
        raise RuntimeError(event.to_json())
    return json.loads(event.to_json())["error"]["code"] or ""


def talk() -> dict[str, object]:
    """Say two things, of which nothing is stored, and one with a function."""
    with client.responses.connect() as connection:
        connection.response.create(model=MODEL, input="I am Ada.", store=False)
        first = answer(connection)
        connection.response.create(model=MODEL, input="recall", store=False, previous_response_id=first.id)
        second = answer(connection)
        connection.response.create(
            model=MODEL, input='call get_weather {"city": "Rome"}\nthen\nsay {results}', tools=[WEATHER], store=False
        )
        asked = answer(connection)
        [call] = [item for item in asked.output if item.type == "function_call"]
        output: ResponseInputItemParam = {"type": "function_call_output", "call_id": call.call_id, "output": "sunny"}
        connection.response.create(
            model=MODEL, input=[output], tools=[WEATHER], store=False, previous_response_id=asked.id
        )
        third = answer(connection)
        failed: ResponseInputItemParam = {"type": "function_call_output", "call_id": "call_9", "output": "?"}
        connection.response.create(model=MODEL, input=[failed], store=False, previous_response_id=third.id)
        continuation = error(connection)
        connection.response.create(model=MODEL, input="Hi.", store=False, previous_response_id=third.id)
        evicted = error(connection)
    with client.responses.connect() as connection:
        connection.response.create(model=MODEL, input="Hi.", store=False, previous_response_id=second.id)
        elsewhere = error(connection)
        connection.response.create(model=MODEL, input="say Anew.", store=False)
        anew = answer(connection).output_text
    return {
        "first": first.output_text,
        "second": second.output_text,
        "third": third.output_text,
        "continuation": continuation,
        "evicted": evicted,
        "elsewhere": elsewhere,
        "anew": anew,
    }


print(json.dumps(talk()))
