"""A conversation with everything in it, which each dialect writes down as its service wants it."""

from custom_components.chatterbox.agent.messages import (
    AssistantMessage,
    Attachment,
    FinishReason,
    JsonObject,
    ProviderItem,
    ToolCall,
    ToolDefinition,
    ToolResult,
    UserMessage,
)
from custom_components.chatterbox.agent.protocols import (
    CompletionRequest,
    ReasoningEffort,
)
from custom_components.chatterbox.agent.providers.profiles import ModelOptions

from .dialect import Answer

LIGHT: JsonObject = {
    "type": "object",
    "properties": {"name": {"type": "string"}},
    "required": ["name"],
}
TURN_ON = ToolDefinition("turn_on", "Turns things on.", LIGHT)
WEATHER = ToolDefinition(
    "weather", "Tells the weather.", {"type": "object", "properties": {}}
)
FOREIGN = ProviderItem("another_format", {"id": "of another provider"})


def conversation(*items: ProviderItem) -> CompletionRequest:
    """Return the conversation; `items` came with the message that has two calls."""
    return CompletionRequest(
        instructions="Be brief.",
        transcript=(
            UserMessage("Turn on the light, and what's the weather?"),
            AssistantMessage(
                "One moment.",
                "Two things are wanted.",
                (
                    ToolCall("call00001", "turn_on", '{"name":"Früh 💡"}'),
                    ToolCall("call00002", "weather", "{}"),
                ),
                (FOREIGN, *items),
            ),
            ToolResult("call00001", "turn_on", '{"done":true}', native=object()),
            ToolResult(
                "call00002", "weather", "the weather is not known", is_error=True
            ),
            AssistantMessage("", "", (ToolCall("call00003", "weather", "{}"),)),
            ToolResult("call00003", "weather", "sunny"),
            AssistantMessage("It is on."),
            UserMessage("Thanks"),
        ),
        tools=(TURN_ON, WEATHER),
        directive="Answer now.",
    )


LAMPS: JsonObject = {
    "type": "object",
    "properties": {
        "lamps": {"type": "integer", "minimum": 0},
        "note": {"type": "string"},
    },
    "required": ["lamps"],
    "additionalProperties": False,
}
STRICT_LAMPS: JsonObject = {
    "type": "object",
    "properties": {
        "lamps": {"type": "integer", "minimum": 0},
        "note": {"anyOf": [{"type": "string"}, {"type": "null"}]},
    },
    "required": ["lamps", "note"],
    "additionalProperties": False,
}
"""As OpenAI wants it."""
FREE: JsonObject = {"type": "object", "properties": {"any": {}}}

OPTIONS = ModelOptions(
    temperature=0.5,
    top_p=0.9,
    max_tokens=300,
    reasoning_effort=ReasoningEffort.LOW,
    extra={"custom": {"a": [1]}},
)

SHOWN = UserMessage(
    "What is this?",
    (
        Attachment("image/png", b"\x89PNG", "door.png"),
        Attachment("application/pdf", b"%PDF-1.7", "bill.pdf"),
        Attachment("audio/wav", b"RIFF", "noise.wav"),
    ),
)

ROUND_TRIP = Answer(
    text=("One ", "moment."),
    reasoning=("Two things ", "are wanted."),
    calls=(
        ToolCall("call00001", "turn_on", '{"name":"hall"}'),
        ToolCall("call00002", "weather", "{}"),
    ),
    finish=FinishReason.TOOL_CALLS,
)
ROUND_TRIP_RESULTS = {"turn_on": '{"done":true}', "weather": "sunny"}
"""The answers of the tools."""
