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


def parse_received[T](kind: TypeAdapter[T], text: str, what: str) -> T:
    """Read JSON text as `kind`; `what` names it, as in "an answer". Make the adapter once: that is slow.

    Raises `ProviderReplyInvalid`, which says where the text is wrong and quotes none of it.
    Uses Python's own parser: it lets single surrogates through, as JavaScript servers send them.
    """
    try:
        return kind.validate_python(json.loads(text))
    except ValidationError as err:
        where = ".".join(str(part) for part in err.errors(include_url=False)[0]["loc"]) or "its top level"
        raise ProviderReplyInvalid(f"the service sent {what} of the wrong shape, at {where}") from None
    except ValueError, RecursionError:
        raise ProviderReplyInvalid(f"the service sent {what} that is not JSON") from None
