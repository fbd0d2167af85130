"""How much of a service's JSON is believed: the tools that the schemas of all wire formats are made of.

Strict where an answer could be lost, lenient where a service may be odd without harm: a
lenient value that does not fit reads as not sent. Knows pydantic; no format.
"""

import json
from typing import Annotated

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError, ValidatorFunctionWrapHandler, WrapValidator

from ..errors import ProviderReplyInvalid


def _none_unless_valid(value: object, validate: ValidatorFunctionWrapHandler) -> object:
    try:
        return validate(value)
    except ValidationError:
        return None


type Lenient[T] = Annotated[T | None, WrapValidator(_none_unless_valid)]
"""The value, or None when what was sent is something else. Give such a field the default None."""


class Received(BaseModel):
    """Base of what services send; fields that are not named are ignored."""

    model_config = ConfigDict(frozen=True, extra="ignore")


def parse_received[T](kind: TypeAdapter[T] | type[T], text: str, what: str) -> T:
    """Read JSON text as `kind`, a model or an adapter of a union; `what` names it, as in "an answer".

    Raises `ProviderReplyInvalid`, which says where the text is wrong and quotes none of it.
    Uses Python's own parser: it lets single surrogates through, as JavaScript servers send them.
    """
    adapter = kind if isinstance(kind, TypeAdapter) else TypeAdapter(kind)
    try:
        return adapter.validate_python(json.loads(text))
    except ValidationError as err:
        where = ".".join(str(part) for part in err.errors(include_url=False)[0]["loc"]) or "its top level"
        raise ProviderReplyInvalid(f"the service sent {what} of the wrong shape, at {where}") from None
    except ValueError, RecursionError:
        raise ProviderReplyInvalid(f"the service sent {what} that is not JSON") from None
