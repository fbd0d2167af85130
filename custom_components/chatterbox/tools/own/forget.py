"""The tool that forgets a fact about the speaker."""

from collections.abc import Sequence
from typing import Final

from ...agent.messages import ToolDefinition
from ...agent.text import plain_name
from ...memory.facts import Fact, Keeper, Memories
from .memories import CHANGES, FACT, MEMORIES, async_memory_effects, fact_for_model, facts_for_model, of_known_person
from .own_tool import Need, OwnCall, OwnTool, ToolAnswer, own_name, parameters


@of_known_person
async def _async_forget(call: OwnCall, memories: Memories, keeper: Keeper) -> ToolAnswer:
    facts = memories.facts(keeper)
    if (fact := _find_fact(facts, plain_name(str(call.arguments.get(FACT, ""))))) is None:
        known = {"error": "There is no such fact. Give the id of one of these.", **facts_for_model(facts)}
        return ToolAnswer(known, is_error=True)
    await memories.async_forget(keeper, [fact.id])
    return ToolAnswer({"forgotten": fact_for_model(fact)})


def _find_fact(facts: Sequence[Fact], meant: str) -> Fact | None:
    """Return the fact with this id or text, or else the only one whose text contains it."""
    exact = [fact for fact in facts if meant in (fact.id, plain_name(fact.text))]
    found = exact or [fact for fact in facts if meant and meant in plain_name(fact.text)]
    return found[0] if len(found) == 1 else None


FORGET: Final = OwnTool(
    definition=ToolDefinition(
        own_name("forget"),
        "Forgets a fact that you remember of the person who speaks. Only when they ask for it in their own words.",
        parameters({FACT: ("string", "Id of the fact.")}, FACT),
        CHANGES,
    ),
    run=_async_forget,
    needs=Need.MEMORIES,
    effects=async_memory_effects,
    targets=MEMORIES,
    done="forgotten",
)
