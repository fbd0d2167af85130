"""The reports of Home Assistant's tools about what they have done, and why not."""

import json

from homeassistant.helpers import intent, llm

from custom_components.chatterbox.agent.messages import JsonObject, ToolResult
from custom_components.chatterbox.records.turn_record import entities_done, error_text


def result_of(content: JsonObject | str, native: object = None) -> ToolResult:
    text = content if isinstance(content, str) else json.dumps(content)
    return ToolResult("a-call", "a_tool", text, native=native)


def test_an_intent_names_the_entities_it_acted_on() -> None:
    response = intent.IntentResponse("en")
    area = intent.IntentResponseTarget(
        "Kitchen", intent.IntentResponseTargetType.AREA, "kitchen"
    )
    lamp = intent.IntentResponseTarget(
        "Lamp", intent.IntentResponseTargetType.ENTITY, "light.lamp"
    )
    broken = intent.IntentResponseTarget(
        "Spot", intent.IntentResponseTargetType.ENTITY, "light.spot"
    )
    response.async_set_results([area, lamp], [broken])

    assert entities_done(llm.ToolResult(llm.IntentResponseDict(response))) == {
        "light.lamp"
    }


def test_another_tool_names_none() -> None:
    assert entities_done(llm.ToolResult({"light.lamp": "on"})) == frozenset()
    assert entities_done(llm.ToolResult(llm.IntentResponseDict({}))) == frozenset()


def test_the_reason_of_a_failure_is_as_short_as_it_is_given() -> None:
    response = intent.IntentResponse("en")
    response.async_set_error(
        intent.IntentResponseErrorCode.NO_VALID_TARGETS, "No such lamp."
    )
    result = llm.ToolResult(llm.IntentResponseDict(response), error=True)

    assert error_text(result_of({"speech": {}}, result)) == "No such lamp."
    assert error_text(result_of({"error": "Broken."})) == "Broken."
    assert error_text(result_of({"error": {"code": 5}})) == '{"error": {"code": 5}}'
    assert error_text(result_of("Not JSON.")) == "Not JSON."
