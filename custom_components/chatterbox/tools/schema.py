"""Converts the arguments of tools to JSON Schema that every provider accepts, and caches the results."""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, TypedDict

import probatio
from homeassistant.const import ATTR_DEVICE_CLASS
from homeassistant.helpers.json import json_dumps
from homeassistant.util.json import json_loads_object
from lru import LRU

from ..agent.json.coercion import bare_name
from ..agent.messages import JsonObject, JsonValue
from ..agent.text import read_data_file

type CustomSerializer = Callable[[object], object]
"""Returns the JSON Schema of a validator, or `probatio.UNSUPPORTED`."""

_OPENAPI_VERSION: Final = "3.1.0"
"""The version whose schemas are JSON Schema."""


class _Facts(TypedDict):
    """The facts about keywords in `schema.toml`."""

    keywords: dict[str, frozenset[str]]
    defaults: JsonObject


_FACTS: Final = read_data_file(__file__, _Facts)
_KEYWORDS: Final = _FACTS["keywords"]


class UnusableSchema(ValueError):
    """The arguments of a tool are not an object."""


@dataclass(frozen=True, slots=True)
class ToolSchema:
    """The arguments of a tool as a model is told about them."""

    parameters: JsonObject
    """JSON Schema, with an object at the top level."""
    remarks: tuple[str, ...]
    """Sentences for rules that the top level of the schema must not contain."""
    short: JsonObject | None = None
    """The parameters without what no model needs in a home."""


def convert_schema(
    schema: probatio.Schema, custom_serializer: CustomSerializer | None = None
) -> ToolSchema:
    """Convert the arguments of a tool. Raises `UnusableSchema`, and whatever the engine and the serializer raise."""
    converted = probatio.to_openapi(
        schema, custom_serializer=custom_serializer, openapi_version=_OPENAPI_VERSION
    )
    if (
        schema.extra == probatio.REMOVE_EXTRA
    ):  # what would be ignored may mean something
        converted["additionalProperties"] = False
    return _with_object_on_top(_tidied(json_loads_object(json_dumps(converted))))


def _tidied(schema: JsonObject) -> JsonObject:
    """Remove redundant keywords, and make the order of values independent of the process."""
    tidied: JsonObject = {}
    for keyword, value in schema.items():
        match value:
            case _ if (
                value is None
                or keyword in _KEYWORDS["comments"]
                or value == _FACTS["defaults"].get(keyword)
            ):
                continue
            case dict() if keyword in _KEYWORDS["maps"]:
                tidied[keyword] = {
                    name: _tidied_value(_titled(name, part))
                    for name, part in value.items()
                }
            case dict() if keyword in _KEYWORDS["schemas"]:
                tidied[keyword] = _tidied(value)
            case list() if keyword in _KEYWORDS["lists"]:
                tidied[keyword] = [_tidied_value(part) for part in value]
            case list() if keyword == "enum":
                tidied[keyword] = _sorted_texts(value)
            case _:
                tidied[keyword] = value
    properties = tidied.get("properties")
    if isinstance(properties, dict):
        required = _list(tidied.get("required"))
        for name, part in properties.items():
            if isinstance(part, dict) and name not in required:
                properties[name] = _without_null(part)
    return _merged(tidied)


def _merged(schema: JsonObject) -> JsonObject:
    """Merge plain branches that hold together, unless they say something different of the same."""
    merged = {keyword: value for keyword, value in schema.items() if keyword != "allOf"}
    for branch in _list(schema.get("allOf")):
        if not isinstance(branch, dict) or not branch.keys() <= _KEYWORDS["plain"]:
            return schema
        for keyword, value in branch.items():
            known = merged.get(keyword, value)
            is_whole = keyword == "type" and {str(known), str(value)} == {
                "integer",
                "number",
            }
            if known != value and not is_whole:
                return schema
            merged[keyword] = "integer" if is_whole else value
    return merged


def _tidied_value(value: JsonValue) -> JsonValue:
    if isinstance(value, dict):
        return _tidied(value)
    return value


def _titled(name: str, schema: JsonValue) -> JsonValue:
    """Remove a title that repeats the name."""
    if isinstance(schema, dict):
        title = schema.get("title")
    else:
        title = None
    if (
        not isinstance(schema, dict)
        or not isinstance(title, str)
        or bare_name(title) != bare_name(name)
    ):
        return schema
    return {keyword: value for keyword, value in schema.items() if keyword != "title"}


def _sorted_texts(values: list[JsonValue]) -> list[JsonValue]:
    """Sort a choice of texts, which often comes from a set."""
    texts = [value for value in values if isinstance(value, str)]
    if len(texts) == len(values):
        return [*sorted(texts)]
    return values


def _without_null(schema: JsonObject) -> JsonObject:
    """Remove null from an optional argument, because the argument can be left out instead."""
    result = dict(schema)
    types = result.get("type")
    if isinstance(types, list) and "null" in types:
        others = [kind for kind in types if kind != "null"]
        result["type"] = others[0] if len(others) == 1 else others
    values = result.get("enum")
    if isinstance(values, list) and None in values:
        result["enum"] = _sorted_texts([value for value in values if value is not None])
    branches = result.get("anyOf")
    if isinstance(branches, list) and {"type": "null"} in branches:
        others = [branch for branch in branches if branch != {"type": "null"}]
        del result["anyOf"]
        match others:
            case [dict(only)]:
                return {
                    **only,
                    **result,
                }
            case _:
                result["anyOf"] = others
    return result


@dataclass(slots=True)
class _Requirements:
    """The combined requirements of an object schema and its branches."""

    properties: JsonObject = field(default_factory=dict)
    required: list[str] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)

    def absorb(self, schema: JsonObject) -> None:
        """Add the requirements of a schema."""
        properties = schema.get("properties")
        if isinstance(properties, dict):
            for name, part in properties.items():
                self._add_property(name, part)
        self._require(_texts(schema.get("required")))
        for branch in _object_schemas(schema.get("allOf")):
            self.absorb(branch)
        for keyword, quantity in (("anyOf", "at least one"), ("oneOf", "exactly one")):
            self._absorb_alternatives(
                _object_schemas(schema.get(keyword)),
                quantity,
            )
        for together in _excluded(schema.get("not")):
            self.remarks.append(f"Do not give {' and '.join(together)} together.")

    def _absorb_alternatives(
        self, branches: Sequence[JsonObject], quantity: str
    ) -> None:
        alternatives: list[_Requirements] = []
        for branch in branches:
            alternative = _Requirements()
            alternative.absorb(branch)
            alternatives.append(alternative)
            for name, part in alternative.properties.items():
                self._add_property(name, part)
        if not alternatives:
            return
        common = set.intersection(
            *(set(alternative.required) for alternative in alternatives)
        )
        self._require(name for name in alternatives[0].required if name in common)
        choices = [
            [name for name in alternative.required if name not in common]
            for alternative in alternatives
        ]
        if len(choices) > 1 and all(choices):
            self.remarks.append(
                f"Give {quantity} of: {'; '.join(' with '.join(choice) for choice in choices)}."
            )

    def _add_property(
        self,
        name: str,
        part: JsonValue,
    ) -> None:
        known = self.properties.get(name, part)
        self.properties[name] = known if known == part else {"anyOf": [known, part]}

    def _require(self, names: Iterable[str]) -> None:
        self.required += [
            name for name in dict.fromkeys(names) if name not in self.required
        ]


def _with_object_on_top(schema: JsonObject) -> ToolSchema:
    """Make the top level a plain object. Other keywords become remarks."""
    if not _describes_object(schema):
        message = f"the arguments of a tool are an object, not {schema.get('type')}"
        raise UnusableSchema(message)
    requirements = _Requirements()
    requirements.absorb(schema)
    own = _KEYWORDS["refused_at_the_top"] | {"type", "properties", "required"}
    parameters: JsonObject = {
        "type": "object",
        "properties": requirements.properties,
    }
    if requirements.required:
        parameters["required"] = [*requirements.required]
    parameters |= {
        keyword: value for keyword, value in schema.items() if keyword not in own
    }
    return ToolSchema(
        parameters,
        tuple(dict.fromkeys(requirements.remarks)),
    )


def _describes_object(schema: JsonObject) -> bool:
    match schema.get("type"):
        case None:
            branches = [
                branch
                for keyword in ("anyOf", "oneOf", "allOf")
                for branch in _list(schema.get(keyword))
            ]
            return not branches or any(
                isinstance(branch, dict) and _describes_object(branch)
                for branch in branches
            )
        case list() as types:
            return "object" in types
        case kind:
            return kind == "object"


def _object_schemas(branches: JsonValue) -> list[JsonObject]:
    return [
        branch
        for branch in _list(branches)
        if isinstance(branch, dict) and _describes_object(branch)
    ]


def _excluded(schema: JsonValue) -> list[list[str]]:
    """Return the groups of names that a negation forbids to be given together."""
    if not isinstance(schema, dict):
        return []
    groups = [_texts(schema.get("required"))]
    groups += [
        group for branch in _list(schema.get("anyOf")) for group in _excluded(branch)
    ]
    return [group for group in groups if len(group) > 1]


def _texts(values: JsonValue) -> list[str]:
    return [value for value in _list(values) if isinstance(value, str)]


def _list(value: JsonValue) -> list[JsonValue]:
    if isinstance(value, list):
        return value
    return []


_DOMAIN: Final = "domain"
"""A filter of intents, which may name the only domain that they act on."""
_AREA: Final = "area"
_FLOOR: Final = "floor"


def short_parameters(
    parameters: JsonObject, telling: frozenset[str] = frozenset()
) -> JsonObject:
    """Return parameters without what no model needs.

    That are filters that tell nothing in the home apart, the floor, which may be given
    as the area, the one domain that a tool has, that filters may be lists, the classes,
    which the prompt lists, and words on a range.
    """
    short = {
        keyword: value
        for keyword, value in parameters.items()
        if keyword != "additionalProperties"
    }
    parts: JsonObject = {}
    properties = parameters.get("properties")
    if isinstance(properties, dict):
        needed = {
            *_texts(parameters.get("required")),
            *(() if _AREA in properties else (_FLOOR,)),
        }
        for name, part in properties.items():
            shortened = _short_parameter(
                name,
                part,
                telling,
            )
            if shortened is not None or name in needed:
                parts[name] = part if shortened is None else shortened
        short["properties"] = parts
    return short


def without_arguments(
    parameters: JsonObject,
    names: Collection[str],
) -> JsonObject:
    """Return parameters without some arguments."""
    properties = parameters.get("properties")
    if not names or not isinstance(properties, dict):
        return parameters
    others = {name: part for name, part in properties.items() if name not in names}
    return {
        **parameters,
        "properties": others,
    }


def _short_parameter(
    name: str, schema: JsonValue, telling: frozenset[str]
) -> JsonValue:
    """Return the schema of one parameter; None for one that no model needs if it is optional."""
    match schema:
        case {"items": {"enum": [_]}} if name == _DOMAIN:
            return None
        case _ if name == _FLOOR:
            return None
        case {"items": {"enum": list(classes)}} if name == ATTR_DEVICE_CLASS:
            is_present = not telling.isdisjoint(_texts(classes))
            if is_present:
                return {"type": "string"}
            return None
        case {"items": dict(items)} if name == _DOMAIN:
            return items
        case {"anyOf": [one, {"type": "array", "items": items} as several]} if (
            one == items
        ):
            return one if name == _DOMAIN else several
        case dict() if {"minimum", "maximum"} <= schema.keys():
            return {
                keyword: value
                for keyword, value in schema.items()
                if keyword != "description"
            }
        case _:
            return schema


MAX_SCHEMAS: Final = 512
"""Conversions that are cached. The least recently used is removed first."""


class SchemaCache:
    """An LRU cache of conversions.

    Home Assistant builds the schema of an intent anew for each turn, and some of its
    markers, around the same validators. So the key of a schema has the ids of its
    parts, and the parts are kept alive with the conversion. A choice, such as between
    the lists of the home, is built anew as well, and known by its words.
    """

    def __init__(self) -> None:
        """Begin empty."""
        self._converted: LRU[
            tuple[object, ...], tuple[tuple[object, ...], ToolSchema]
        ] = LRU(MAX_SCHEMAS)

    def __len__(self) -> int:
        """Return the number of cached conversions."""
        return len(self._converted)

    def convert(
        self,
        schema: probatio.Schema,
        custom_serializer: CustomSerializer | None = None,
        telling: frozenset[str] | None = None,
    ) -> ToolSchema:
        """Return `convert_schema(schema, custom_serializer)`, from the cache if possible.

        It has `short_parameters` if the `telling` device classes of the home are given.
        """
        parts = (custom_serializer, *_parts(schema))
        identity = (telling, *map(_identity, parts))
        if identity in self._converted:
            return self._converted[identity][1]
        converted = convert_schema(schema, custom_serializer)
        if telling is not None:
            converted = replace(
                converted, short=short_parameters(converted.parameters, telling)
            )
        self._converted[identity] = (parts, converted)
        return converted


def _identity(part: object) -> object:
    if (
        type(part) is probatio.In
        and isinstance(part.container, list)
        and {*map(type, part.container)} == {str}
    ):
        return (
            part.msg,
            part.fold_case,
            part.space,
            *part.container,
        )
    return id(part)


def _parts(schema: probatio.Schema) -> Iterator[object]:
    """Yield the parts of a schema, down to the validators of its arguments."""
    yield from (
        type(schema),
        schema.required,
        schema.extra,
    )
    match schema.schema:
        case dict() as arguments:
            for marker, validator in arguments.items():
                yield from (
                    (type(marker), *vars(marker).values())
                    if isinstance(marker, probatio.Marker)
                    else (marker,)
                )
                yield validator
        case other:
            yield other
