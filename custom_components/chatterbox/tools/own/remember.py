"""The tool that remembers a fact about the speaker."""

from typing import Final

from ...agent.messages import ToolDefinition
from ...const import REDACTED_PIN
from ...memory.facts import Keeper, Memories
from .memories import CHANGES, FACT, MEMORIES, async_memory_effects, fact_for_model, of_known_person
from .own_tool import Need, OwnCall, OwnTool, ToolAnswer, error_answer, own_name, parameters

_PIN: Final = "Not remembered: a PIN is never kept. Say so."


@of_known_person
async def _async_remember(call: OwnCall, memories: Memories, keeper: Keeper) -> ToolAnswer:
    text = str(call.arguments.get(FACT, ""))
    if REDACTED_PIN in text:
        return error_answer(_PIN)
    return ToolAnswer({"remembered": fact_for_model(await memories.async_add(keeper, text, call.speaker.name or ""))})


REMEMBER: Final = OwnTool(
    definition=ToolDefinition(
        own_name("remember"),
        "Remembers a fact about the person who speaks, in all later conversations with them. Only when they ask for it "
        "in their own words, and never a password or a PIN.",
        parameters({FACT: ("string", "The fact as one short sentence that makes sense by itself.")}, FACT),
        CHANGES,
    ),
    run=_async_remember,
    needs=Need.MEMORIES,
    effects=async_memory_effects,
    targets=MEMORIES,
    done="remembered",
)
