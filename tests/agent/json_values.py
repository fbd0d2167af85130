"""Hypothesis strategies: JSON values, and schemas together with values that fit them."""

from hypothesis import strategies as st

from custom_components.chatterbox.agent.messages import JsonObject, JsonValue

type SchemaAndValue = tuple[JsonObject, JsonValue]

_WHOLE_TEXT = st.text(st.characters(codec="utf-8"), max_size=20)
_NUMBERS = st.integers(-(10**18), 10**18) | st.floats(
    allow_nan=False, allow_infinity=False
)


def json_values() -> st.SearchStrategy[JsonValue]:
    """Any JSON value, a few levels deep."""
    scalars = st.none() | st.booleans() | _NUMBERS | _WHOLE_TEXT
    return st.recursive(
        scalars,
        lambda inner: (
            st.lists(inner, max_size=4)
            | st.dictionaries(_WHOLE_TEXT, inner, max_size=4)
        ),
        max_leaves=12,
    )


def json_objects() -> st.SearchStrategy[JsonObject]:
    """Any JSON object."""
    return st.dictionaries(_WHOLE_TEXT, json_values(), max_size=5)


@st.composite
def _numbers_in_a_range(draw: st.DrawFn) -> SchemaAndValue:
    low, value, high = sorted(draw(st.tuples(*[st.integers(-1000, 1000)] * 3)))
    kind = draw(st.sampled_from(["integer", "number"]))
    return {"type": kind, "minimum": low, "maximum": high}, value


@st.composite
def _choices(draw: st.DrawFn) -> SchemaAndValue:
    words = draw(st.lists(_WHOLE_TEXT, min_size=1, max_size=4, unique=True))
    return {"type": "string", "enum": [*words]}, draw(st.sampled_from(words))


@st.composite
def _lists(draw: st.DrawFn, inner: st.SearchStrategy[SchemaAndValue]) -> SchemaAndValue:
    schema, value = draw(inner)
    return {"type": "array", "items": schema}, [value] * draw(st.integers(0, 3))


@st.composite
def _objects(
    draw: st.DrawFn, inner: st.SearchStrategy[SchemaAndValue]
) -> SchemaAndValue:
    members = draw(st.dictionaries(_WHOLE_TEXT, inner, max_size=4))
    present = [key for key in members if draw(st.booleans())]
    required: list[JsonValue] = [key for key in present if draw(st.booleans())]
    schema: JsonObject = {
        "type": "object",
        "properties": {key: member[0] for key, member in members.items()},
        "required": required,
        "additionalProperties": draw(st.booleans()),
    }
    return schema, {key: members[key][1] for key in present}


def _nullable(pair: SchemaAndValue) -> st.SearchStrategy[SchemaAndValue]:
    schema, value = pair
    return st.sampled_from([value, None]).map(
        lambda chosen: ({"anyOf": [schema, {"type": "null"}]}, chosen)
    )


def _with_type_list(pair: SchemaAndValue) -> SchemaAndValue:
    schema, value = pair
    return {
        **schema,
        "type": [schema["type"], "null"],
    } if "enum" not in schema else schema, value


def schemas_and_values() -> st.SearchStrategy[SchemaAndValue]:
    """Return a schema as tools have them, and a value that fits it."""
    scalars: st.SearchStrategy[SchemaAndValue] = st.one_of(
        _WHOLE_TEXT.map(lambda text: ({"type": "string"}, text)),
        st.booleans().map(lambda flag: ({"type": "boolean"}, flag)),
        _NUMBERS.map(lambda number: ({"type": "number"}, number)),
        st.integers().map(lambda number: ({"type": "integer"}, number)),
        st.just(({"type": "null"}, None)),
        _WHOLE_TEXT.map(lambda text: ({"const": text}, text)),
        json_values().map(lambda value: ({}, value)),
        _numbers_in_a_range(),
        _choices(),
    )
    return st.recursive(
        scalars,
        lambda inner: (
            _lists(inner)
            | _objects(inner)
            | inner.flatmap(_nullable)
            | inner.filter(lambda pair: isinstance(pair[0].get("type"), str)).map(
                _with_type_list
            )
        ),
        max_leaves=6,
    )


def objects_that_fit() -> st.SearchStrategy[tuple[JsonObject, JsonObject]]:
    """Return the schema of an object, and an object that fits it."""
    return _objects(schemas_and_values()).map(
        lambda pair: (pair[0], pair[1] if isinstance(pair[1], dict) else {})
    )
