"""How a home file writes values: no unknown keys, features and enumerations by name, open and closed.

Knows pydantic; must not know any kind of entity.
"""

from collections.abc import Callable
from enum import IntFlag
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, PlainValidator

type Percentage = Annotated[int, Field(ge=0, le=100)]

_OPENNESS = {"open": True, "closed": False}


class Written(BaseModel):
    """A mapping in a home file: unchangeable, without unknown keys; a number may stand where a text is wanted."""

    model_config = ConfigDict(frozen=True, extra="forbid", coerce_numbers_to_str=True)


def _value_of_member(written: object) -> object:
    """Read `cover.CoverDeviceClass.GARAGE` as `garage`, and a list of one mode as that mode."""
    if isinstance(written, list) and len(written) == 1:
        return _value_of_member(written[0])
    if isinstance(written, str):
        return written.rpartition(".")[2].lower()
    return written


type Named[EnumT] = Annotated[EnumT, BeforeValidator(_value_of_member)]
"""A member of a string enumeration: its value, or its dotted name in Home Assistant."""


def _read_openness(written: object) -> object:
    return _OPENNESS.get(written, written) if isinstance(written, str) else written


type IsOpen = Annotated[bool, BeforeValidator(_read_openness)]
"""`open` or `closed`; a plain truth value says whether it is open."""


def features_of[FlagT: IntFlag](kind: type[FlagT]) -> PlainValidator:
    """Return the reader of a list of feature names such as `OPEN` or `cover.CoverEntityFeature.OPEN`.

    An unknown name is an error that lists the names there are.
    """
    return PlainValidator(_features_reader(kind))


def _features_reader[FlagT: IntFlag](kind: type[FlagT]) -> Callable[[object], FlagT]:
    def read(written: object) -> FlagT:
        features = kind(0)
        for name in written if isinstance(written, list) else [written]:
            member = kind.__members__.get(str(name).rpartition(".")[2].upper())
            if member is None:
                raise ValueError(
                    f"{name!r} is no {kind.__name__}; there are {', '.join(kind.__members__)}"
                )
            features |= member
        return features

    return read
