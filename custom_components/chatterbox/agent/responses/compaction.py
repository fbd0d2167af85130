"""Says a conversation in few words, for a client to go on with in place of it.

Knows what a compaction looks like. The words are the house's; nothing of them is stored.
"""

from collections.abc import Callable

from ..messages import JsonObject, JsonValue
from ..transcript import has_outside_content, repair
from .backend import Backend, Caller
from .errors import invalid
from .identifiers import ItemIds, new_response_id
from .items.carriers import sealed_summary
from .items.sealed_content import Seal
from .items.shapes import compaction_item
from .model_list import chosen
from .preparation import Preparation
from .request_reading import read_compact
from .resource import usage_json


class Compaction:
    """Compacts conversations."""

    def __init__(self, backend: Backend, preparation: Preparation, seal: Seal, clock: Callable[[], float]) -> None:
        """Let a house find the words. The clock tells seconds since the epoch."""
        self._backend = backend
        self._preparation = preparation
        self._seal = seal
        self._clock = clock

    async def compact(self, caller: Caller, body: JsonValue) -> JsonObject:
        """Return a compaction, as `POST responses/compact` has it. Raises `ApiError`."""
        response_id = new_response_id()
        new_id = ItemIds(response_id)
        request = read_compact(body, new_id)
        agent = chosen(self._backend, request.model)
        ground = await self._preparation.ground(caller, request.previous_response_id, response_id)
        read = await self._preparation.read(caller, request.items, ground)
        transcript = repair(ground.transcript + read.messages)
        if not transcript:
            raise invalid("There is nothing to compact.", "input")
        instructions = "\n\n".join(filter(None, (request.instructions, read.instructions)))
        text, usage = await self._backend.compact(agent.id, transcript, instructions)
        sealed = sealed_summary(text, has_outside_content=has_outside_content(transcript), seal=self._seal)
        return {
            "id": response_id,
            "object": "response.compaction",
            "created_at": int(self._clock()),
            "output": [compaction_item(new_id("cmp"), sealed)],
            "usage": usage_json(usage),
        }
