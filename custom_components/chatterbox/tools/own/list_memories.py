"""The tool that lists the facts that are remembered about the speaker."""

from typing import Final

from ...agent.messages import ToolDefinition
from ...memory.facts import Keeper, Memories
from .memories import LIST_NAME, facts_for_model, of_known_person
from .own_tool import READS, Need, OwnCall, OwnTool, ToolAnswer, parameters


@of_known_person
async def _async_list(_call: OwnCall, memories: Memories, keeper: Keeper) -> ToolAnswer:
    return ToolAnswer(facts_for_model(memories.facts(keeper)))


LIST_MEMORIES: Final = OwnTool(
    definition=ToolDefinition(
        LIST_NAME,
        "Lists everything that the person who speaks has asked you to remember. The newest facts stand beside their "
        "words already.",
        parameters({}),
        READS,
    ),
    run=_async_list,
    needs=Need.MEMORIES,
)
