"""Prices and context windows of models: the owner's settings, else a snapshot of known models.

`script/prices` writes the snapshot, `prices.json`. It is read on first use, off the
event loop.
"""

import re
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Final

from homeassistant.core import HomeAssistant
from pydantic import BaseModel
from yarl import URL

from ..agent.providers.profiles import ServerProfile
from ..const import CONF_BASE_URL
from ..settings.agent import AgentSettings, EntryData
from ..settings.service_address import is_local_address
from .tracker import FREE, ModelPrice, Rates

_FILE: Final = Path(__file__).with_suffix(".json")
_FOLDER: Final = "models/"
"""Prefix of model names in the list of one service, which accepts them without it."""


class _Priced(BaseModel):
    input: float | None = None
    """US dollars for a million tokens, as are the next two; None for an unknown price."""
    cached: float | None = None
    output: float | None = None

    @property
    def usual(self) -> Rates | None:
        """Its rates, with those of other tokens for cached ones; None if one is unknown."""
        if self.input is None or self.output is None:
            return None
        return Rates(
            self.input,
            _or(self.cached, self.input),
            self.output,
        )

    def rates(
        self,
        usual: Rates,
        factor: float,
    ) -> Rates:
        """Return its rates, the `usual` ones for those that it does not have, multiplied by `factor`."""
        return Rates(
            factor * _or(self.input, usual.input),
            factor * _or(self.cached, usual.cached),
            factor * _or(self.output, usual.output),
        )


class _Longer(_Priced):
    than: int


class KnownModel(_Priced):
    """A model, or several of the same price."""

    names: tuple[str, ...]
    """A name, with a star at one end or both for anything, or a regular expression between slashes."""
    longer: tuple[_Longer, ...] = ()
    window: int | None = None
    """Its context window in tokens."""
    tiers: dict[str, float] = {}
    """Factors of the price in service tiers, for those with another price."""

    def fits(self, name: str) -> bool:
        """Return whether a model, in lower case, is this one."""
        return any(_fits(pattern, name) for pattern in self.names)

    def price(self, service_tier: str | None = None) -> ModelPrice | None:
        """Return its price in a service tier, None for the usual one; None for an unknown price."""
        usual = self.usual
        if usual is None:
            return None
        factor = self.tiers.get(service_tier or "", 1)
        return ModelPrice(
            self.rates(usual, factor),
            tuple((one.than, one.rates(usual, factor)) for one in self.longer),
        )


class _Service(BaseModel):
    hosts: tuple[str, ...]
    models: tuple[KnownModel, ...]

    def is_at(self, host: str) -> bool:
        """Return whether the service has this host."""
        return any(host == known or host.endswith(f".{known}") for known in self.hosts)


class KnownModels(BaseModel):
    """The snapshot."""

    source: str
    licence: str
    date: str
    services: tuple[_Service, ...]

    def find(
        self,
        base_url: str,
        model: str,
    ) -> KnownModel | None:
        """Return a model of the service at an address; None for an unknown one."""
        host = URL(base_url).host or ""
        name = model.strip().lower().removeprefix(_FOLDER)
        theirs = (service.models for service in self.services if service.is_at(host))
        return next(
            (one for one in next(theirs, ()) if one.fits(name)),
            None,
        )


def _fits(pattern: str, name: str) -> bool:
    if pattern.startswith("/"):
        return re.search(pattern[1:-1], name) is not None
    return fnmatchcase(name, pattern)


def _or(
    price: float | None,
    default: float,
) -> float:
    return default if price is None else price


@cache
def read_known_models() -> KnownModels:
    """Return the snapshot. The first call reads the file, and blocks."""
    return KnownModels.model_validate_json(_FILE.read_bytes())


async def async_known_model(
    hass: HomeAssistant, base_url: str, model: str
) -> KnownModel | None:
    """Return a model of the service at an address; None for an unknown one, and for a local service."""
    if is_local_address(
        base_url
    ):  # no home without a service on the internet reads the file
        return None
    return (await hass.async_add_executor_job(read_known_models)).find(
        base_url,
        model,
    )


async def async_known_price(
    hass: HomeAssistant,
    service: EntryData,
    server: ServerProfile,
    settings: AgentSettings,
) -> ModelPrice | None:
    """Return the price of a model for which the owner has entered none; None for an unknown price.

    `service` is the data of an entry, `server` its profile. A local server is free,
    unless it forwards requests.
    """
    base_url = service[CONF_BASE_URL]
    if is_local_address(base_url):
        if server.passes_on:
            return None
        return ModelPrice(FREE)
    found = await async_known_model(
        hass,
        base_url,
        settings.model,
    )
    if found is None:
        return None
    return found.price(settings.service_tier)


def entered_price(
    settings: AgentSettings, known: ModelPrice | None
) -> ModelPrice | None:
    """Return the price of a model, with the owner's rates in place of those that are `known`.

    None if a rate is missing. Without a rate of their own, cached tokens cost as much
    as others.
    """
    entered = _Priced(
        input=settings.price_input,
        cached=settings.price_cached,
        output=settings.price_output,
    )
    if entered == _Priced():
        return known
    usual = known.usual if known else entered.usual
    if usual is None:
        return None
    return ModelPrice(entered.rates(usual, 1))
