"""Base of the schemas by which replies are parsed.

A schema is strict where an answer could be lost (text, calls) and lenient where a server may be odd without harm
(counts, indexes, reasoning): a lenient value that does not fit reads as not sent.
"""

import json
from typing import Annotated

from pydantic import (
    AliasChoices,
    AliasPath,
    BaseModel,
    ConfigDict,
    GetCoreSchemaHandler,
    TypeAdapter,
    ValidationError,
)
from pydantic.fields import FieldInfo
from pydantic_core.core_schema import CoreSchema, with_default_schema

from ..errors import ProviderReplyInvalid
from ..messages import JsonValue, canonical_json

_NOT_JSON = frozenset({"json_invalid", "string_unicode"})
"""Errors of pydantic's JSON parser, as opposed to those of validation."""


class _NoneUnlessValid:
    @classmethod
    def __get_pydantic_core_schema__(cls, source: object, handler: GetCoreSchemaHandler) -> CoreSchema:
        return with_default_schema(handler(source), default=None, on_error="default")


type Lenient[T] = Annotated[T | None, _NoneUnlessValid]
"""The value, or None if something else was sent. Give such a field the default None."""


class WireModel(BaseModel):
    """Base of everything that is parsed from a service; unknown fields are ignored."""

    model_config = ConfigDict(frozen=True, extra="ignore")


def parse_as[T](kind: TypeAdapter[T], sent: str | bytes, what: str) -> T:
    """Parse JSON, text or UTF-8, as `kind`; `what` names it in errors, as in "an answer".

    Raises `ProviderReplyInvalid`, which says where the JSON is wrong and quotes none of it.
    """
    try:
        return kind.validate_json(sent)
    except ValidationError as err:
        if err.errors(include_url=False)[0]["type"] not in _NOT_JSON:
            raise _wrong_shape(err, what) from None
    text = sent if isinstance(sent, str) else sent.decode(errors="replace")
    try:  # Python's parser accepts lone surrogates, as JavaScript servers send them
        return kind.validate_python(json.loads(text))
    except ValidationError as err:
        raise _wrong_shape(err, what) from None
    except ValueError, RecursionError:
        raise ProviderReplyInvalid(f"the service sent {what} that is not JSON") from None


def _wrong_shape(err: ValidationError, what: str) -> ProviderReplyInvalid:
    where = ".".join(str(part) for part in err.errors(include_url=False)[0]["loc"]) or "its top level"
    return ProviderReplyInvalid(f"the service sent {what} of the wrong shape, at {where}")


def at(*paths: str) -> FieldInfo:
    """Annotate a field with the paths at which it is sent, such as `meta.n_ctx`; the first that is there counts."""
    return FieldInfo(validation_alias=AliasChoices(*(AliasPath(*path.split(".")) for path in paths)))


def arguments_text(arguments: JsonValue) -> str:
    """Return the arguments of a call as text; some servers send the object itself."""
    if isinstance(arguments, str):
        return arguments
    return "" if arguments is None else canonical_json(arguments)
