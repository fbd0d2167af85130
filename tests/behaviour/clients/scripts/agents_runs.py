"""Runs agents to their end with the `openai-agents` package: functions, the home, approvals, limits, a WebSocket."""

import asyncio
import json
import os

from agents import (
    Agent,
    HostedMCPTool,
    MaxTurnsExceeded,
    MCPToolApprovalFunctionResult,
    MCPToolApprovalRequest,
    ModelSettings,
    OpenAIConversationsSession,
    RunConfig,
    Runner,
    RunResult,
    RunResultStreaming,
    function_tool,
    responses_websocket_session,
    set_tracing_disabled,
)
from openai.types.shared import Reasoning

MODEL = os.environ["MODEL"]
LIGHT = 'call intent__HassTurnOn {"area": "Kitchen", "domain": ["light"]}'
DOOR = 'call intent__HassTurnOff {"name": "Front Door"}'
WEATHER = 'call get_weather {"city": "Rome"}'

set_tracing_disabled(disabled=True)
asked_about: list[str] = []


@function_tool
def get_weather(city: str) -> str:
    """Get the weather of a city."""
    return f"sunny in {city}"


def on_approval(request: MCPToolApprovalRequest) -> MCPToolApprovalFunctionResult:
    """Let doors be opened and leave the lights alone."""
    asked_about.append(request.data.name)
    if "Front Door" in request.data.arguments:
        return {"approve": True}
    return {"approve": False, "reason": "It is bright."}


caretaker = Agent(
    name="Caretaker",
    instructions="Be brief.",
    model=MODEL,
    tools=[
        get_weather,
        HostedMCPTool(
            tool_config={
                "type": "mcp",
                "server_label": "assist",
                "require_approval": "never",
            },
            on_approval_request=on_approval,
        ),
    ],
)
careful = Agent(
    name="Careful",
    model=MODEL,
    tools=[
        get_weather,
        HostedMCPTool(
            tool_config={"type": "mcp", "server_label": "assist"},
            on_approval_request=on_approval,
        ),
    ],
)

waiting = Agent(
    name="Waiting",
    model=MODEL,
    tools=[HostedMCPTool(tool_config={"type": "mcp", "server_label": "assist"})],
)


def kinds(result: RunResult | RunResultStreaming) -> list[str]:
    """Return what happened in a run."""
    return [item.type for item in result.new_items]


async def plain() -> dict[str, object]:
    """Run to the end with a function and the home."""
    result = await Runner.run(
        caretaker, f"{LIGHT}\nthen\n{WEATHER}\nthen\nsay {{results}}"
    )
    return {"output": result.final_output, "kinds": kinds(result)}


async def streamed() -> dict[str, object]:
    """The same, as it happens."""
    result = Runner.run_streamed(
        caretaker, f"{LIGHT}\nthen\n{WEATHER}\nthen\nsay {{results}}"
    )
    deltas = [
        event.data.delta
        async for event in result.stream_events()
        if event.type == "raw_response_event"
        and event.data.type == "response.output_text.delta"
    ]
    return {
        "output": result.final_output,
        "kinds": kinds(result),
        "deltas": "".join(deltas),
    }


async def approved() -> dict[str, object]:
    """Have a door opened that the home asks about, once by id and once by items."""
    message = f"{DOOR}\nthen\nsay Open."
    by_items = await Runner.run(caretaker, message)
    by_id = await Runner.run(caretaker, message, auto_previous_response_id=True)
    return {
        "by_items": [by_items.final_output, kinds(by_items)],
        "by_id": [by_id.final_output, kinds(by_id)],
    }


async def from_outside() -> dict[str, object]:
    """Switch a light after something was read that the home does not know."""
    result = await Runner.run(
        caretaker, f"{WEATHER}\nthen\n{LIGHT}\nthen\nsay {{results}}"
    )
    return {"output": result.final_output, "kinds": kinds(result)}


async def denied() -> dict[str, object]:
    """Have a light left alone."""
    result = await Runner.run(careful, f"{LIGHT}\nthen\nsay {{results}}")
    return {"output": result.final_output, "kinds": kinds(result)}


async def asked_twice() -> dict[str, object]:
    """Say no to a light and yes to a door in one run, after a function that was called beside the light."""
    result = f"{WEATHER}\n{LIGHT}\nthen\n{LIGHT}\nthen\n{DOOR}\nthen\nsay {{results}}"
    return {
        "by_items": (await Runner.run(careful, result)).final_output,
        "by_id": (
            await Runner.run(careful, result, auto_previous_response_id=True)
        ).final_output,
        "in_conversation": (
            await Runner.run(careful, result, conversation_id="asked-twice")
        ).final_output,
    }


async def approved_by_hand() -> dict[str, object]:
    """Stop at the question, and go on when somebody has said yes."""
    message = f"{LIGHT}\nthen\nsay Lit."
    stopped = await Runner.run(waiting, message)
    state = stopped.to_state()
    [question] = stopped.interruptions
    state.approve(question)
    return {
        "asked": question.name,
        "before": stopped.final_output,
        "after": (await Runner.run(waiting, state)).final_output,
    }


async def not_stored() -> dict[str, object]:
    """Have nothing stored, and send the reasoning back."""
    settings = ModelSettings(
        store=False,
        response_include=["reasoning.encrypted_content"],
        reasoning=Reasoning(effort="low", summary="auto"),
    )
    thoughtful = Agent(
        name="Thoughtful", model=MODEL, tools=[get_weather], model_settings=settings
    )
    result = await Runner.run(
        thoughtful, f"think Where is it?\n{WEATHER}\nthen\nthink Fine.\nsay {{results}}"
    )
    return {"output": result.final_output, "kinds": kinds(result)}


async def over_a_socket() -> dict[str, object]:
    """The same, over one WebSocket."""
    async with responses_websocket_session() as session:
        result = session.run_streamed(
            caretaker, f"{LIGHT}\nthen\n{WEATHER}\nthen\nsay {{results}}"
        )
        async for _ in result.stream_events():
            pass
    return {"output": result.final_output, "kinds": kinds(result)}


async def endless() -> dict[str, object]:
    """Never come to an end."""
    try:
        await Runner.run(caretaker, "\nthen\n".join([WEATHER] * 20), max_turns=3)
    except MaxTurnsExceeded as error:
        return {"raised": type(error).__name__}
    return {"raised": None}


async def talk() -> dict[str, object]:
    """Hold a conversation: by items that are sent again, and by the id of the last response."""
    first = await Runner.run(caretaker, "I am Ada.")
    by_items = await Runner.run(
        caretaker, [*first.to_input_list(), {"role": "user", "content": "recall"}]
    )
    by_id = await Runner.run(
        caretaker, "recall", previous_response_id=first.last_response_id
    )
    return {"by_items": by_items.final_output, "by_id": by_id.final_output}


async def handed_over() -> dict[str, object]:
    """Hand a conversation to another agent, as its items and as one message."""
    weatherman = Agent(name="Weatherman", model=MODEL, tools=[get_weather])
    clerk = Agent(name="Clerk", model=MODEL, handoffs=[weatherman])
    result = f"call transfer_to_weatherman {{}}\nthen\n{WEATHER}\nthen\nsay {{results}}"
    plain = await Runner.run(clerk, result)
    nested = await Runner.run(
        clerk, result, run_config=RunConfig(nest_handoff_history=True)
    )
    return {
        "plain": [plain.last_agent.name, plain.final_output],
        "nested": [nested.last_agent.name, nested.final_output],
    }


async def in_a_session() -> dict[str, object]:
    """Hold a conversation whose items are kept at home, as the package keeps them at OpenAI."""
    session = OpenAIConversationsSession()
    await Runner.run(
        caretaker,
        f"I am Ada.\n{LIGHT}\n{WEATHER}\nthen\nsay {{results}}",
        session=session,
    )
    second = await Runner.run(caretaker, "recall", session=session)
    items = await session.get_items()
    newest = await session.get_items(limit=1)
    popped = await session.pop_item()
    left = await session.get_items()
    await session.clear_session()
    return {
        "output": second.final_output,
        "kinds": [item.get("type", item.get("role")) for item in items],
        "popped": newest == [popped] and left == items[:-1],
        "after": await session.get_items(),
    }


async def main() -> None:
    """Run all, one after the other."""
    message: dict[str, object] = {
        "plain": await plain(),
        "streamed": await streamed(),
        "approved": await approved(),
        "from_outside": await from_outside(),
        "denied": await denied(),
        "approved_by_hand": await approved_by_hand(),
        "not_stored": await not_stored(),
        "over_a_socket": await over_a_socket(),
        "endless": await endless(),
        "talk": await talk(),
        "asked_twice": await asked_twice(),
        "handed_over": await handed_over(),
        "in_a_session": await in_a_session(),
    }
    print(json.dumps(message | {"asked_about": asked_about}))


asyncio.run(main())
