"""Asks for answers with the `openai` package: at once, streamed, of a shape, about pictures; reads and deletes them."""

import base64
import json
import os

import openai
from openai import OpenAI
from openai.types.responses import ResponseInputItemParam
from pydantic import BaseModel

MODEL = os.environ["MODEL"]
PNG = base64.b64encode(
    bytes.fromhex(
        "89504e470d0a1a0a0000000d4948445200000001000000010806000000"
        "1f15c4890000000d49444154789c6360606060000000050001a5f64540"
        "0000000049454e44ae426082"
    )
).decode()
PDF = base64.b64encode(b"%PDF-1.4\n1 0 obj<<>>endobj\ntrailer<<>>\n%%EOF\n").decode()

client = OpenAI()


class Room(BaseModel):
    """The shape of the model's answer."""

    name: str
    lights: int


def answers() -> dict[str, object]:
    """Ask once, and the same streamed."""
    words = "slowly\nthink Easy.\nsay The kitchen is lit, and the door is shut."
    whole = client.responses.create(
        model=MODEL, input=words, instructions="Be brief.", metadata={"room": "kitchen"}
    )
    with client.responses.stream(
        model=MODEL, input=words, instructions="Be brief."
    ) as stream:
        deltas = [
            event.delta
            for event in stream
            if event.type == "response.output_text.delta"
        ]
        streamed = stream.get_final_response()
    return {
        "status": whole.status,
        "text": whole.output_text,
        "metadata": whole.metadata,
        "instructions": whole.instructions,
        "usage": whole.usage and whole.usage.to_dict(),
        "streamed_text": streamed.output_text,
        "streamed_status": streamed.status,
        "deltas": "".join(deltas),
        "pieces": len(deltas),
    }


def reasoning() -> dict[str, object]:
    """Ask for the reasoning too."""
    words = "think The door may be open.\nsay It is shut."
    response = client.responses.create(
        model=MODEL, input=words, reasoning={"effort": "low", "summary": "auto"}
    )
    quiet = client.responses.create(model=MODEL, input=words)
    [thought] = [item for item in response.output if item.type == "reasoning"]
    return {
        "summary": [part.text for part in thought.summary],
        "types": [item.type for item in response.output],
        "quiet_types": [item.type for item in quiet.output],
    }


def shapes() -> dict[str, object]:
    """Ask for an object of a class."""
    room = client.responses.parse(
        model=MODEL, input='say {"name": "Kitchen", "lights": 3}', text_format=Room
    ).output_parsed
    with client.responses.stream(
        model=MODEL, input='say {"name": "Attic", "lights": 1}', text_format=Room
    ) as stream:
        streamed = stream.get_final_response().output_parsed
    return {
        "parsed": room and room.model_dump(),
        "streamed": streamed and streamed.model_dump(),
    }


def pictures() -> dict[str, object]:
    """Show a picture and a file."""
    content: ResponseInputItemParam = {
        "role": "user",
        "content": [
            {"type": "input_text", "text": "look"},
            {
                "type": "input_image",
                "detail": "auto",
                "image_url": f"data:image/png;base64,{PNG}",
            },
            {
                "type": "input_file",
                "filename": "manual.pdf",
                "file_data": f"data:application/pdf;base64,{PDF}",
            },
        ],
    }
    return {"seen": client.responses.create(model=MODEL, input=[content]).output_text}


def talk() -> dict[str, object]:
    """Go on from a response, from the same one twice, and with everything sent again."""
    first = client.responses.create(
        model=MODEL, input="I am Ada.", instructions="Be loud."
    )
    second = client.responses.create(
        model=MODEL, input="I like tea.", previous_response_id=first.id
    )
    third = client.responses.create(
        model=MODEL, input="recall", previous_response_id=second.id
    )
    beside = client.responses.create(
        model=MODEL, input="recall", previous_response_id=first.id
    )
    again: list[ResponseInputItemParam] = [{"role": "user", "content": "I am Ada."}]
    again += [item.to_dict() for item in first.output]  # type: ignore[misc]  # as every API client that replays
    again.append({"role": "user", "content": "recall"})
    replayed = client.responses.create(model=MODEL, input=again, store=False)
    held = client.responses.create(
        model=MODEL, input="I am Bo.", conversation="conv_of_bo"
    )
    held_on = client.responses.create(
        model=MODEL, input="recall", conversation={"id": "conv_of_bo"}
    )
    return {
        "third": third.output_text,
        "third_instructions": third.instructions,
        "third_previous": third.previous_response_id == second.id,
        "beside": beside.output_text,
        "replayed": replayed.output_text,
        "conversation": held.conversation and held.conversation.id,
        "held_on": held_on.output_text,
    }


def stored_answers() -> dict[str, object]:
    """Read what is kept of a response, and delete it."""
    response = client.responses.create(
        model=MODEL, input=[{"role": "user", "content": "say Kept."}]
    )
    parsed = client.responses.retrieve(response.id)
    items = client.responses.input_items.list(response.id)
    client.responses.delete(response.id)
    not_stored = client.responses.create(model=MODEL, input="say Gone.", store=False)
    return {
        "same": parsed.to_dict() == response.to_dict(),
        "input": [item.to_dict().get("content") for item in items.data],
        "after_delete": error_of(lambda: client.responses.retrieve(response.id)),
        "not_stored": error_of(lambda: client.responses.retrieve(not_stored.id)),
        "from_not_stored": error_of(
            lambda: client.responses.create(
                model=MODEL, input="Hi.", previous_response_id=not_stored.id
            )
        ),
    }


def compacted() -> dict[str, object]:
    """Have a conversation said in few words, and go on from those."""
    talked: list[ResponseInputItemParam] = [
        {"role": "user", "content": "We meet on Tuesday."},
        {"role": "assistant", "content": "Noted."},
    ]
    short = client.responses.compact(model=MODEL, input=talked)
    items = [item.to_dict() for item in short.output]
    on = client.responses.create(
        model=MODEL,
        input=[*items, {"role": "user", "content": "say On we go."}],  # type: ignore[list-item]  # the same
    )
    return {
        "object": short.object,
        "types": [item.type for item in short.output],
        "on": on.output_text,
    }


def error_of(ask: object) -> dict[str, object]:
    """Return which error a request ends with."""
    assert callable(ask)
    try:
        ask()
    except openai.APIStatusError as error:
        return {
            "kind": type(error).__name__,
            "code": error.code,
            "param": error.param,
            "type": error.type,
        }
    return {"kind": None}


def errors() -> dict[str, object]:
    """Ask what cannot be answered."""
    stranger = OpenAI(api_key="not-a-token")
    return {
        "token": error_of(lambda: stranger.responses.create(model=MODEL, input="Hi.")),
        "model": error_of(
            lambda: client.responses.create(model="conversation.nobody", input="Hi.")
        ),
        "previous": error_of(
            lambda: client.responses.create(
                model=MODEL, input="Hi.", previous_response_id="resp_nowhere"
            )
        ),
        "field": error_of(
            lambda: client.responses.create(
                model=MODEL, input="Hi.", max_output_tokens=3
            )
        ),
        "orphan": error_of(
            lambda: client.responses.create(
                model=MODEL,
                input=[
                    {"type": "function_call_output", "call_id": "call_9", "output": "?"}
                ],
            )
        ),
        "tool": error_of(
            lambda: client.responses.create(
                model=MODEL,
                input="Hi.",
                tools=[
                    {
                        "type": "mcp",
                        "server_label": "elsewhere",
                        "server_url": "https://example.com/mcp",
                    }
                ],
            )
        ),
        "failing_model": error_of(
            lambda: client.with_options(max_retries=0).responses.create(
                model=MODEL, input="fail 500", tools=[]
            )
        ),
    }


def cut_off() -> dict[str, object]:
    """Have the model's service break off amid a stream."""
    heard: list[str] = []
    response_id = ""
    try:
        for event in client.responses.create(
            model=MODEL,
            input="cut\nrepeat 30\nsay So far so good. ",
            tools=[],
            stream=True,
        ):
            heard.append(event.type)
            if event.type == "response.created":
                response_id = event.response.id
        raised = None
    except openai.APIError as error:
        raised = type(error).__name__
    remaining = client.responses.retrieve(response_id)
    return {
        "raised": raised,
        "heard": sorted(set(heard)),
        "status": remaining.status,
        "code": remaining.error and remaining.error.code,
        "kept": remaining.output_text[:11],
        "usage": remaining.usage is not None,
    }


print(
    json.dumps(
        {
            "models": [model.id for model in client.models.list()],
            "answers": answers(),
            "reasoning": reasoning(),
            "shapes": shapes(),
            "pictures": pictures(),
            "talk": talk(),
            "kept": stored_answers(),
            "compacted": compacted(),
            "errors": errors(),
            "cut_off": cut_off(),
        }
    )
)
