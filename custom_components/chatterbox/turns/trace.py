"""Shows how a turn went to people who look into their voice assistant: its times, tokens and errors, no word of it.

Knows where Home Assistant keeps such things. It keeps traces of the last three conversations, which tests and debuggers
read and no page of it shows. What a page does show, under **Debug → Raw** of a voice assistant, is what the agent has
returned; there the same stands as a text beside the speech. It has to be a text: Home Assistant's app for Android takes
nothing else there.
"""

from homeassistant.components.conversation import ChatLog

from ..records.facts import InferenceFacts, ToolFacts, TurnFacts


def trace_turn(chat_log: ChatLog, facts: TurnFacts) -> None:
    """Add how a turn went to the trace of its conversation; its tokens also as other agents of Home Assistant do."""
    usage = facts.usage
    stats = {
        "input_tokens": usage.input_tokens,
        "cached_input_tokens": usage.cached_tokens,
        "output_tokens": usage.output_tokens,
    }
    chat_log.async_trace({"stats": stats, "turn": facts.as_json()})


def times_of(facts: TurnFacts) -> str:
    """Return how a turn went, a line for each request, tool and handover, in milliseconds."""
    turn = f"turn: {_ms(facts.duration)}, first words after {_ms(facts.first_words)}"
    requests = [f"request {number}: {_inference(inference)}" for number, inference in enumerate(facts.inferences, 1)]
    tools = [f"tool {tool.name}: {_tool(tool)}" for tool in facts.tools]
    handovers = [f"taken over by {one.to} at {_ms(one.at)}: {one.reason}" for one in facts.handed_over]
    end = f"end: {facts.stop_reason or 'interrupted'} {facts.error}".strip()
    return "\n".join((turn, *requests, *tools, *handovers, end))


def _inference(facts: InferenceFacts) -> str:
    first = f"{_ms(facts.duration)}, began at {_ms(facts.began)}, first token after {_ms(facts.first_token)}"
    usage = facts.usage
    if usage is None:
        return f"{first}, no answer"
    return f"{first}, {usage.input_tokens} tokens read, {usage.cached_tokens} cached, {usage.output_tokens} written"


def _tool(facts: ToolFacts) -> str:
    if facts.began is None:
        return "did not run"
    return f"{_ms(facts.duration)}, began at {_ms(facts.began)}" + (", error" if facts.is_error else "")


def _ms(seconds: float | None) -> str:
    return "-" if seconds is None else f"{seconds * 1000:.0f} ms"
