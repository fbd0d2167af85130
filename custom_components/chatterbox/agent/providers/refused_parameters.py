"""A parameter that a model refuses is left out, and the request is sent again without it.

Knows payloads and what error bodies name; nothing of connections, nor of any one format.
What helped is remembered by name and value for as long as the provider lives, and logged once for each name.
"""

import logging
import re
from collections.abc import Collection, Iterator, Mapping
from typing import Final

from ..messages import JsonObject, JsonValue, canonical_json

_LOGGER = logging.getLogger(__name__)

_STATUSES: Final = frozenset({400, 404, 422, 500, 501})
"""How parameters are refused. 404 is OpenRouter's, when no endpoint supports one; 500 that of older local servers."""

_MENTION: Final = r"([\"'`]?)(?<![\w.]){}(?![\w.]*\w)"
"""A name, perhaps quoted, that is no part of another."""

OUTPUT_REFUSALS: Final = ("json_schema", "structured outputs", "structured output", "output_format")
"""Words by which services refuse to keep a model to the shape of its answer, whatever the parameter is called."""

_MOST_VALUES: Final = 64
"""Refused values of one parameter that are remembered, the latest ones: callers may wish for any number."""

type _Path = tuple[str, ...]


class RefusedParameters:
    """What the model of one provider has refused so far."""

    def __init__(
        self, model: str, required: Collection[str], also_called: Mapping[str, Collection[str]] | None = None
    ) -> None:
        """Never leave out the top-level fields `required`, without which a request means something else.

        `also_called` gives parameters (`think`, `reasoning.effort`) the other words that error messages use for them.
        """
        self._model = model
        self._required = frozenset(required)
        self._also_called = also_called or {}
        self._remembered: dict[_Path, dict[str, None]] = {}

    def trial(self, payload: JsonObject) -> Trial:
        """Begin to ask for one reply, without what is known to be refused."""
        for path, value in list(_parameters(payload)) if self._remembered else ():
            if path in self._remembered and canonical_json(value) in self._remembered[path]:
                payload = _without(payload, path)
        return Trial(self, payload)

    def named(self, payload: JsonObject, body: bytes) -> _Path | None:
        """Return the parameter of `payload` that an error body names first, quoted names before others."""
        text = body.decode(errors="replace")
        mentions = [
            (not mention[1], mention.start(), path)
            for path, _ in _parameters(payload)
            if path[0] not in self._required
            for name in (".".join(path), *self._also_called.get(".".join(path), ()))
            for mention in re.finditer(_MENTION.format(re.escape(name)), text)
        ]
        return min(mentions)[-1] if mentions else None

    def remember(self, path: _Path, value: JsonValue) -> None:
        """Leave this value of a parameter out from now on."""
        level = logging.DEBUG if path in self._remembered else logging.WARNING
        values = self._remembered.setdefault(path, {})
        values[canonical_json(value)] = None
        if len(values) > _MOST_VALUES:
            del values[next(iter(values))]
        _LOGGER.log(level, "%s refuses the parameter %s; it is left out from now on", self._model, ".".join(path))


class Trial:
    """One request, and what is left out of it until it is accepted."""

    def __init__(self, refused: RefusedParameters, payload: JsonObject) -> None:
        """Start with `payload`."""
        self.payload = payload
        """What to send now."""
        self._refused = refused
        self._left_out: list[tuple[_Path, JsonValue]] = []

    def leave_out(self, status: int, body: bytes) -> bool:
        """Take the parameter that a refusal names out of `payload`; False when it names none."""
        path = self._refused.named(self.payload, body) if status in _STATUSES else None
        if path is None:
            return False
        self._left_out.append((path, dict(_parameters(self.payload))[path]))
        self.payload = _without(self.payload, path)
        return True

    def accepted(self) -> None:
        """Remember what had to be left out: it helped."""
        for path, value in self._left_out:
            self._refused.remember(path, value)
        self._left_out.clear()


def _parameters(payload: JsonObject) -> Iterator[tuple[_Path, JsonValue]]:
    """Yield every field, and every field of an object in it."""
    for field, value in payload.items():
        yield (field,), value
        if isinstance(value, dict):
            for inner, inner_value in value.items():
                yield (field, inner), inner_value


def _without(payload: JsonObject, path: _Path) -> JsonObject:
    """Return `payload` without one field; an object that this leaves empty goes too."""
    field, *inner = path
    rest = {name: value for name, value in payload.items() if name != field}
    outer = payload.get(field)
    if inner and isinstance(outer, dict) and (left := {name: outer[name] for name in outer if name != inner[0]}):
        return {name: left if name == field else value for name, value in payload.items()}
    return rest
