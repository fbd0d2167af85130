"""How much of a service's JSON is believed: the tools that the schemas of all wire formats are made of.

Strict where an answer could be lost, lenient where a service may be odd without harm: a
lenient value that does not fit reads as not sent. Knows pydantic; no format.
"""

import json
from typing import Annotated

import orjson
from pydantic import BaseModel, ConfigDict, GetCoreSchemaHandler, TypeAdapter, ValidationError
from pydantic_core.core_schema import CoreSchema, with_default_schema

from ..errors import ProviderReplyInvalid
from ..messages import JsonObject, JsonValue

_NOT_READ: frozenset[str] = frozenset({"json_invalid", "string_unicode"})
"""What the parser of pydantic says of text that is no JSON for it."""


class _NoneUnlessValid:
    """Has pydantic itself put None in place of what does not fit: a function of ours would be called for each value."""

    @classmethod
    def __get_pydantic_core_schema__(cls, source: object, handler: GetCoreSchemaHandler) -> CoreSchema:
        return with_default_schema(handler(source), default=None, on_error="default")


type Lenient[T] = Annotated[T | None, _NoneUnlessValid]
"""The value, or None when what was sent is something else. Give such a field the default None."""


class Received(BaseModel):
    """Base of what services send; fields that are not named are ignored."""

    model_config = ConfigDict(frozen=True, extra="ignore")


def parse_received[T](kind: TypeAdapter[T], sent: str | bytes, what: str) -> T:
    """Read JSON, text or UTF-8, as `kind`; `what` names it, as in "an answer". Make the adapter once: that is slow.

    Raises `ProviderReplyInvalid`, which says where the JSON is wrong and quotes none of it.
    """
    try:
        read: T = kind.validator.validate_json(sent)  # what the adapter does, without its own wrapping
    except ValidationError as err:
        if err.errors(include_url=False)[0]["type"] not in _NOT_READ:
            raise _misshapen(err, what) from None
    else:
        return read
    text = sent if isinstance(sent, str) else sent.decode(errors="replace")
    try:  # Python's own parser lets single surrogates through, as JavaScript servers send them
        return kind.validate_python(json.loads(text))
    except ValidationError as err:
        raise _misshapen(err, what) from None
    except ValueError, RecursionError:
        raise ProviderReplyInvalid(f"the service sent {what} that is not JSON") from None


def parse_plain(sent: bytes) -> JsonObject:
    """Read a JSON object without looking at what is in it; empty for all else, which `parse_received` can tell apart.

    For what comes with every token: whoever recognises the usual shape in it needs no model of the others.
    """
    try:
        read: JsonValue = orjson.loads(sent)
    except orjson.JSONDecodeError:
        return {}
    return read if isinstance(read, dict) else {}


def _misshapen(err: ValidationError, what: str) -> ProviderReplyInvalid:
    where = ".".join(str(part) for part in err.errors(include_url=False)[0]["loc"]) or "its top level"
    return ProviderReplyInvalid(f"the service sent {what} of the wrong shape, at {where}")
