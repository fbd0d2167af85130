"""What one of Home Assistant's tools says it has done, and why not, from the result of a call.

Knows intent responses and our results. Must not know who wants to know.
"""

from homeassistant.helpers import intent, llm
from homeassistant.helpers.json import json_dumps

from ..agent.messages import ToolResult
from .turn_record import parsed_content


def entities_done(result: ToolResult) -> frozenset[str]:
    """Return the ids of the entities that an intent says it has acted on; none for a tool that does not say."""
    return native_entities_done(result.native)


def native_entities_done(native: object) -> frozenset[str]:
    """Return the same of a native result."""
    if (response := _intent_response(native)) is None:
        return frozenset()
    entity = intent.IntentResponseTargetType.ENTITY
    return frozenset([target.id for target in response.success_results if target.type is entity and target.id])


def error_text(result: ToolResult) -> str:
    """Return what a call that failed says about it, as short as it has it."""
    response = _intent_response(result.native)
    speech: object = response.speech.get("plain", {}).get("speech") if response else None
    match speech, parsed_content(result):
        case str() as said, _ if said:
            return said
        case _, {"error": str() as error}:
            return error
        case _:
            return result.content


def _intent_response(native: object) -> intent.IntentResponse | None:
    match native:
        case llm.ToolResult(data=llm.IntentResponseDict() as data):
            # Home Assistant leaves the attribute out when the dict was not made from a response.
            response: object = getattr(data, "original", None)
            return response if isinstance(response, intent.IntentResponse) else None
        case _:
            return None


def result_content(result: llm.ToolResult) -> str:
    """Write a result as the model reads it, in the turn as well as when it comes back from the ChatLog.

    The JSON of its data; that of a failure always says that it is one. It is whole: what is too much for a model is
    left out when that is asked (`agent/conversation/large_results.py`). Raises TypeError or ValueError when the data is
    not JSON.
    """
    data: object = result.data
    says_so = isinstance(data, dict) and ("error" in data or data.get("response_type") == "error")
    return json_dumps({"error": data} if result.error and not says_so else data)
