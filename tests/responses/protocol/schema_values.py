"""Hypothesis strategies: values that fit the schemas of the OpenResponses specification, and values that nearly do.

Knows as much of JSON Schema as these schemas use.
"""

from hypothesis import strategies as st

from custom_components.chatterbox.agent.messages import JsonObject, JsonValue
from tests.agent.json_values import json_objects, json_values

from .open_responses import schemas

_TEXTS = st.text(st.characters(codec="utf-8"), max_size=12)
_PICTURES = st.sampled_from(
    ["data:image/png;base64,iVBORw0KGgo=", "https://example.com/a.png", "data:,x", ""]
)
_FILES = st.sampled_from(["JVBERi0xLjc=", "data:text/plain;base64,SGk=", "?", "/w=="])
_KNOWN: dict[str, st.SearchStrategy[JsonValue]] = {
    "model": st.just("conversation.kitchen"),
    "image_url": _PICTURES,
    "file_data": _FILES,
    "call_id": st.sampled_from(["call_1", "call_2", "call_3"]),
}
"""Fields that say more than their schemas do."""


def values_of(name: str) -> st.SearchStrategy[JsonValue]:
    """Return values that fit a schema."""
    return _of(schemas()[name])


def bodies() -> st.SearchStrategy[JsonObject]:
    """Return bodies of requests, as the specification has them."""
    return values_of("CreateResponseBody").map(
        lambda body: body if isinstance(body, dict) else {}
    )


@st.composite
def changed(draw: st.DrawFn, value: JsonValue) -> JsonValue:
    """Return a value in which some part is another one, is missing, or is one too many."""
    goes_deeper, is_left_out = draw(st.integers(0, 3)) > 0, draw(st.booleans())
    match value:
        case dict() if value and goes_deeper:
            key = draw(st.sampled_from(list(value)))
            return {**value, key: draw(changed(value[key]))}
        case list() if value and goes_deeper:
            index = draw(st.integers(0, len(value) - 1))
            return [*value[:index], draw(changed(value[index])), *value[index + 1 :]]
        case dict() if value and is_left_out:
            gone = draw(st.sampled_from(list(value)))
            return {key: one for key, one in value.items() if key != gone}
        case dict():
            return {**value, draw(_TEXTS): draw(json_values())}
        case _:
            return draw(
                json_values()
                | _TEXTS.map(lambda text: text * 20)
                | st.floats()
                | st.just("half \ud83d")
            )


def _of(schema: JsonObject) -> st.SearchStrategy[JsonValue]:
    if isinstance(reference := schema.get("$ref"), str):
        return st.deferred(lambda: values_of(reference.rpartition("/")[2]))
    for key in ("anyOf", "oneOf"):
        if choices := _objects(schema.get(key)):
            return st.one_of(*map(_of, choices))
    if demands := _objects(schema.get("allOf")):
        return _of(next(demand for demand in demands if demand))
    match schema:
        case {"enum": list(words)}:
            return st.sampled_from(words)
        case {"type": "object"}:
            return _object(schema)
        case {"type": "array"}:
            (items,) = _objects([schema["items"]])
            return st.lists(
                _of(items), min_size=_int(schema.get("minItems"), 0), max_size=4
            ).map(lambda made: [*made])
        case _:
            return _scalar(schema)


def _object(schema: JsonObject) -> st.SearchStrategy[JsonValue]:
    properties, required = schema.get("properties", {}), schema.get("required", [])
    assert isinstance(properties, dict)
    assert isinstance(required, list)
    if isinstance(rest := schema.get("additionalProperties"), dict):
        return st.dictionaries(_TEXTS, _of(rest), max_size=3).map(lambda made: {**made})
    if not properties:
        return json_objects().map(lambda made: {**made})
    fields = {
        name: _KNOWN.get(name, _of(part))
        for name, part in properties.items()
        if isinstance(part, dict)
    }
    needed = {
        name: made
        for name, made in fields.items()
        if name in required or name in {"model", "input", "type"}
    }
    others = {name: made for name, made in fields.items() if name not in needed}
    return st.fixed_dictionaries(needed, optional=others).map(lambda made: {**made})


def _scalar(schema: JsonObject) -> st.SearchStrategy[JsonValue]:
    match schema.get("type"):
        case "null":
            return st.none()
        case "boolean":
            return st.booleans()
        case "integer":
            return st.integers(
                _int(schema.get("minimum"), -5), _int(schema.get("maximum"), 500)
            )
        case "number":
            return st.floats(0, 1)
        case _ if schema.get("pattern"):
            return st.from_regex("[a-zA-Z0-9_-]{1,10}", fullmatch=True)
        case _:
            most = _int(schema.get("maxLength"), 12)
            return _TEXTS.filter(
                lambda text: (
                    _int(schema.get("minLength"), 0) <= len(text) <= max(most, 1)
                )
            )


def _objects(value: JsonValue) -> list[JsonObject]:
    return (
        [one for one in value if isinstance(one, dict)]
        if isinstance(value, list)
        else []
    )


def _int(value: JsonValue, default: int) -> int:
    return value if isinstance(value, int) else default
