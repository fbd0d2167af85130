"""Has a model call functions of its own and tools of the home, with the `openai` package, and says yes and no."""

import json
import os

import openai
from openai import OpenAI
from openai.types.responses import (
    FunctionToolParam,
    Response,
    ResponseFunctionToolCall,
    ResponseInputItemParam,
    ToolParam,
)
from openai.types.responses.response_output_item import McpApprovalRequest, McpCall

MODEL = os.environ["MODEL"]
WEATHER: FunctionToolParam = {
    "type": "function",
    "name": "get_weather",
    "description": "Get the weather of a city.",
    "parameters": {
        "type": "object",
        "properties": {"city": {"type": "string"}},
        "required": ["city"],
        "additionalProperties": False,
    },
    "strict": True,
}
HOME: ToolParam = {"type": "mcp", "server_label": "assist", "require_approval": "never"}
ASKING_HOME: ToolParam = {"type": "mcp", "server_label": "assist"}
LIGHT = 'call intent__HassTurnOn {"area": "Kitchen", "domain": ["light"]}'
HALL = 'call intent__HassTurnOn {"name": "Hallway Light", "domain": ["light"]}'
DOOR = 'call intent__HassTurnOff {"name": "Front Door"}'

client = OpenAI()


def calls(response: Response) -> list[ResponseFunctionToolCall]:
    """Return the functions that the model wants called."""
    return [item for item in response.output if item.type == "function_call"]


def home_calls(response: Response) -> list[McpCall]:
    """Return the calls that the home ran."""
    return [item for item in response.output if item.type == "mcp_call"]


def questions(response: Response) -> list[McpApprovalRequest]:
    """Return what has to be approved."""
    return [item for item in response.output if item.type == "mcp_approval_request"]


def outputs(response: Response) -> list[ResponseInputItemParam]:
    """Run the functions."""
    return [
        {
            "type": "function_call_output",
            "call_id": call.call_id,
            "output": f"sunny in {json.loads(call.arguments)['city']}",
        }
        for call in calls(response)
    ]


def functions() -> dict[str, object]:
    """Run two functions; go on by id, by everything sent again, and streamed."""
    words = 'call get_weather {"city": "Rome"}\ncall get_weather {"city": "Oslo"}\nthen\nsay {results}'
    requested = client.responses.create(model=MODEL, input=words, tools=[WEATHER])
    by_id = client.responses.create(
        model=MODEL,
        input=outputs(requested),
        tools=[WEATHER],
        previous_response_id=requested.id,
    )
    replayed: list[ResponseInputItemParam] = [{"role": "user", "content": words}]
    replayed += [item.to_dict() for item in requested.output]  # type: ignore[misc]  # as every API client that replays
    replayed += outputs(requested)
    by_items = client.responses.create(
        model=MODEL, input=replayed, tools=[WEATHER], store=False
    )
    with client.responses.stream(model=MODEL, input=words, tools=[WEATHER]) as stream:
        arguments = [
            event.arguments
            for event in stream
            if event.type == "response.function_call_arguments.done"
        ]
        streamed = stream.get_final_response()
    forced = client.responses.create(
        model=MODEL,
        input="What is the weather?",
        tools=[WEATHER],
        tool_choice="required",
    )
    return {
        "status": requested.status,
        "calls": [
            (call.name, json.loads(call.arguments), call.status)
            for call in calls(requested)
        ],
        "by_id": by_id.output_text,
        "by_items": by_items.output_text,
        "streamed": [json.loads(text) for text in arguments],
        "streamed_calls": [call.name for call in calls(streamed)],
        "forced": [call.name for call in calls(forced)],
        "unanswered": refused(requested.id, "Hi."),
        "pausing": client.responses.create(
            model=MODEL,
            input=words,
            tools=[WEATHER],
            extra_body={"chatterbox:client_tools_status": "requires_action"},
        ).status,
    }


def refused(previous_response_id: str, text: str) -> str | None:
    """Return the message of the error that a request ends with."""
    try:
        client.responses.create(
            model=MODEL, input=text, previous_response_id=previous_response_id
        )
    except openai.BadRequestError as error:
        return str(error.body["message"]) if isinstance(error.body, dict) else None
    return None


def home() -> dict[str, object]:
    """Have lights switched: as a person would, and with tools that are named."""
    plain = client.responses.create(model=MODEL, input=f"{LIGHT}\nthen\nsay Lit.")
    named = client.responses.create(
        model=MODEL, input=f"{LIGHT}\nthen\nsay Lit: {{results}}", tools=[HOME]
    )
    on = client.responses.create(
        model=MODEL, input="recall", tools=[HOME], previous_response_id=named.id
    )
    with client.responses.stream(
        model=MODEL, input=f"{LIGHT}\nthen\nsay Lit.", tools=[HOME]
    ) as stream:
        events = [event.type for event in stream]
        streamed = stream.get_final_response()
    none = client.responses.create(
        model=MODEL, input=f"{LIGHT}\nthen\nsay No.", tools=[]
    )
    [listed] = [item for item in named.output if item.type == "mcp_list_tools"]
    return {
        "plain": [item.type for item in plain.output],
        "named": [item.type for item in named.output],
        "label": listed.server_label,
        "tools": [tool.name for tool in listed.tools],
        "called": [
            (call.name, call.server_label, call.status, call.error)
            for call in home_calls(named)
        ],
        "output": [call.output for call in home_calls(named)],
        "text": named.output_text,
        "on": [item.type for item in on.output],
        "streamed": [item.type for item in streamed.output],
        "events": [name for name in events if "mcp" in name],
        "none": [(call.status, call.server_label) for call in home_calls(none)],
    }


def answered(
    question: McpApprovalRequest, *, approve: bool, reason: str | None = None
) -> ResponseInputItemParam:
    """Say yes or no."""
    answer: ResponseInputItemParam = {
        "type": "mcp_approval_response",
        "approval_request_id": question.id,
        "approve": approve,
    }
    return {**answer, "reason": reason} if reason else answer  # type: ignore[return-value]  # one item of many


def approvals() -> dict[str, object]:
    """Have a door unlocked after a yes, left alone after a no; answer twice."""
    words = f"{DOOR}\nthen\nsay Done: {{results}}"
    requested = client.responses.create(model=MODEL, input=words, tools=[HOME])
    [question] = questions(requested)
    yes = [answered(question, approve=True)]
    opened = client.responses.create(
        model=MODEL, input=yes, tools=[HOME], previous_response_id=requested.id
    )
    twice = refused_approval(requested.id, yes)
    again = client.responses.create(
        model=MODEL, input="say Fine.", tools=[HOME], previous_response_id=opened.id
    )

    strict = client.responses.create(
        model=MODEL, input=f"{LIGHT}\nthen\nsay {{results}}", tools=[ASKING_HOME]
    )
    [asked_light] = questions(strict)
    no = [answered(asked_light, approve=False, reason="It is bright.")]
    denied = client.responses.create(
        model=MODEL, input=no, tools=[ASKING_HOME], previous_response_id=strict.id
    )
    return {
        "status": requested.status,
        "asked": [item.type for item in requested.output],
        "question": (
            question.name,
            question.server_label,
            json.loads(question.arguments),
        ),
        "opened": [item.type for item in opened.output],
        "ran": [
            (call.status, call.approval_request_id == question.id)
            for call in home_calls(opened)
        ],
        "twice": twice,
        "again": [item.type for item in again.output],
        "strict": [item.type for item in strict.output],
        "denied": [item.type for item in denied.output],
        "denied_text": denied.output_text,
    }


def refused_approval(
    previous_response_id: str, items: list[ResponseInputItemParam]
) -> str | None:
    """Return the code of the error that an answer ends with."""
    try:
        client.responses.create(
            model=MODEL,
            input=items,
            tools=[HOME],
            previous_response_id=previous_response_id,
        )
    except openai.BadRequestError as error:
        return error.code
    return None


def several() -> dict[str, object]:
    """Say yes to one question and no to another; want more than may be called; want both sides in one message."""
    two = client.responses.create(
        model=MODEL, input=f"{LIGHT}\n{HALL}\nthen\nsay Done.", tools=[ASKING_HOME]
    )
    yes, no = questions(two)
    answers = [answered(yes, approve=True), answered(no, approve=False)]
    mixed_answers = client.responses.create(
        model=MODEL, input=answers, tools=[ASKING_HOME], previous_response_id=two.id
    )
    most = client.responses.create(
        model=MODEL,
        input=f"{LIGHT}\n{HALL}\nthen\nsay Enough.",
        tools=[HOME],
        max_tool_calls=1,
    )
    cut = client.responses.create(model=MODEL, input=f"long\n{LIGHT}", tools=[HOME])
    result = f'{LIGHT}\ncall get_weather {{"city": "Rome"}}\nthen\n{LIGHT}\nthen\nsay {{results}}'
    mixed = client.responses.create(model=MODEL, input=result, tools=[HOME, WEATHER])
    on = client.responses.create(
        model=MODEL,
        input=outputs(mixed),
        tools=[HOME, WEATHER],
        previous_response_id=mixed.id,
    )
    return {
        "mixed_answers": [
            (call.arguments == yes.arguments, call.status)
            for call in home_calls(mixed_answers)
        ],
        "most": [
            most.status,
            most.output_text,
            *(call.status for call in home_calls(most)),
        ],
        "cut": [cut.status, cut.incomplete_details and cut.incomplete_details.reason],
        "cut_calls": [call.status for call in home_calls(cut)],
        "mixed": [(item.type, item.to_dict().get("status")) for item in mixed.output],
        "on": [item.type for item in on.output],
    }


print(
    json.dumps(
        {
            "functions": functions(),
            "home": home(),
            "approvals": approvals(),
            "several": several(),
        }
    )
)
