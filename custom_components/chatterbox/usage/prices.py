"""What models cost, and how much they can read, as far as it is known: a snapshot that comes with us.

Knows the file that `script/prices` writes, and the addresses of services in it. Must not know agents, or what a person
has entered instead. The file is read when somebody first asks, off the event loop.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Final

from homeassistant.core import HomeAssistant
from pydantic import BaseModel, ConfigDict
from yarl import URL

from ..agent.messages import Usage

_FILE: Final = Path(__file__).with_suffix(".json")
_MILLION: Final = 1_000_000
_FOLDER: Final = "models/"
"""Stands before the names of models in the list of one service, which does without it as well."""


@dataclass(frozen=True, slots=True)
class Rates:
    """US dollars for a million tokens."""

    input: float
    cached: float
    """Of input that the service has kept from before."""
    output: float

    def cost(self, usage: Usage) -> float:
        """Return the US dollars that tokens cost."""
        cached = min(usage.cached_tokens, usage.input_tokens)
        fresh = usage.input_tokens - cached
        return (fresh * self.input + cached * self.cached + usage.output_tokens * self.output) / _MILLION

    def times(self, factor: float) -> Rates:
        """Return rates that are so many times as high."""
        return Rates(self.input * factor, self.cached * factor, self.output * factor)


FREE: Final = Rates(0, 0, 0)


@dataclass(frozen=True, slots=True)
class ModelPrice:
    """What a model costs, perhaps more where it is given a lot to read."""

    usual: Rates
    longer: tuple[tuple[int, Rates], ...] = ()
    """For requests of more input tokens than these, in rising order, the rates of the whole request."""

    def cost(self, usage: Usage) -> float:
        """Return the US dollars that one request costs."""
        rates = self.usual
        for than, dearer in self.longer:
            if usage.input_tokens > than:
                rates = dearer
        return rates.cost(usage)

    def times(self, factor: float) -> ModelPrice:
        """Return a price that is so many times as high."""
        return ModelPrice(self.usual.times(factor), tuple((than, one.times(factor)) for than, one in self.longer))


class _Longer(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    than: int
    input: float | None = None
    cached: float | None = None
    output: float | None = None

    def rates(self, usual: Rates) -> Rates:
        """Return what a long request costs; what is not told is as usual."""
        return Rates(
            usual.input if self.input is None else self.input,
            usual.cached if self.cached is None else self.cached,
            usual.output if self.output is None else self.output,
        )


class KnownModel(BaseModel):
    """What the snapshot holds of a model, or of several of the same price."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    names: tuple[str, ...]
    """A name, with a star at one end or both for anything, or a regular expression between slashes."""
    input: float | None = None
    """US dollars for a million tokens, as are the next two; None where nobody knows."""
    cached: float | None = None
    output: float | None = None
    longer: tuple[_Longer, ...] = ()
    window: int | None = None
    """Tokens that it can read at once."""
    tiers: dict[str, float] = {}
    """How many times as much a service tier costs, for those that do not cost the same."""

    def fits(self, name: str) -> bool:
        """Tell whether a model, in lower case, is this one."""
        return any(_fits(pattern, name) for pattern in self.names)

    def price(self, service_tier: str | None = None) -> ModelPrice | None:
        """Return what it costs in a service tier, None for the usual one; None where nobody knows."""
        if self.input is None or self.output is None:
            return None
        usual = Rates(self.input, self.input if self.cached is None else self.cached, self.output)
        longer = tuple((one.than, one.rates(usual)) for one in self.longer)
        return ModelPrice(usual, longer).times(self.tiers.get(service_tier or "", 1))


class _Service(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    hosts: tuple[str, ...]
    models: tuple[KnownModel, ...]


class KnownModels(BaseModel):
    """The snapshot."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    source: str
    licence: str
    date: str
    services: tuple[_Service, ...]

    def find(self, base_url: str, model: str) -> KnownModel | None:
        """Return what is known of a model of the service at an address; None for nothing."""
        name = model.strip().lower().removeprefix(_FOLDER)
        return next((one for one in self._at(base_url) if one.fits(name)), None)

    def context_window(self, base_url: str, model: str) -> int | None:
        """Return how many tokens a model can read at once; None where nobody knows."""
        found = self.find(base_url, model)
        return None if found is None else found.window

    def _at(self, base_url: str) -> Sequence[KnownModel]:
        host = URL(base_url).host or ""
        for service in self.services:
            if any(host == known or host.endswith(f".{known}") for known in service.hosts):
                return service.models
        return ()


def _fits(pattern: str, name: str) -> bool:
    return re.search(pattern[1:-1], name) is not None if pattern.startswith("/") else fnmatchcase(name, pattern)


async def async_get_known_models(hass: HomeAssistant) -> KnownModels:
    """Return the snapshot."""
    return await hass.async_add_executor_job(read_known_models)


@cache
def read_known_models() -> KnownModels:
    """Read the file; blocks."""
    return KnownModels.model_validate_json(_FILE.read_bytes())
