"""The fields of a home file for every entity, whatever its kind: ids, names and places.

Knows the form of an entity in the file; must not know any kind of entity.
"""

from typing import Annotated

from pydantic import Field, model_validator

from .fields import Written


class HomeEntity(Written):
    """The fields of every kind of entity: its id, its name, where it is and what else it is called."""

    id: Annotated[str, Field(pattern=r"^[a-z_]+\.[a-z0-9_]+$")]
    name: str
    area: str | None = None
    device: str | None = None
    aliases: tuple[str, ...] = ()
    exposed: bool = True
    """Whether Assist may see and use it."""
    was: tuple[tuple[int, str], ...] = ()
    """Its earlier states, each with the minutes since it began, oldest first."""

    @model_validator(mode="before")
    @classmethod
    def _lift_attributes(cls, written: object) -> object:
        """Let `attributes:` be a part of the file's looks only."""
        if not isinstance(written, dict) or not isinstance(
            attributes := written.get("attributes"), dict
        ):
            return written
        rest = {key: value for key, value in written.items() if key != "attributes"}
        if both := rest.keys() & attributes.keys():
            raise ValueError(f"{', '.join(sorted(both))} cannot be an attribute")
        return rest | attributes
