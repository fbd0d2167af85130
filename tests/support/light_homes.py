"""Makes a home cheap to start and to forget: a test often needs more time for its home than for what it tests.

Homes share what each would read anew and none changes. Functions that do nothing stand
for those that Home Assistant's test plugin replaces with mocks, which note each call
with all that it was given. A home that has stopped is taken apart, so that the garbage
collector need not find that nothing refers to its parts. A PIN is hashed with little
work, but where its hash itself is tested, which needs no home.
"""

import hashlib
from collections.abc import Callable
from functools import lru_cache
from inspect import iscoroutinefunction, isfunction
from pathlib import Path
from pkgutil import resolve_name
from types import ModuleType
from typing import Any, get_type_hints, override
from unittest import mock
from zoneinfo import ZoneInfo

import aiozoneinfo
from homeassistant import components, loader
from homeassistant.core import HomeAssistant
from homeassistant.helpers import service
from homeassistant.helpers.script import DATA_SCRIPTS
from homeassistant.loader import DATA_INTEGRATIONS, Integration, Manifest
from homeassistant.util.hass_dict import HassDict
from probatio.codecs import openapi
from pytest_homeassistant_custom_component import common
from sqlalchemy import Dialect, Engine
from sqlalchemy.dialects.sqlite.base import SQLiteDDLCompiler
from sqlalchemy.dialects.sqlite.pysqlite import SQLiteDialect_pysqlite
from sqlalchemy.util import LRUCache

type _Read = tuple[str, Path, Manifest, set[str]]
"""The parts of an integration: its package, its folder, its manifest and its files."""

_ZONE_OF_TESTS = "US/Pacific"
_loaded: dict[str, _Read] = {}
_homes: list[HomeAssistant] = []
_schemas: dict[tuple[str, ...], Any] = {}
_statements = LRUCache[Any, Any](500)
_ddl = dict[object, SQLiteDDLCompiler]()
_scrypt = hashlib.scrypt
_resolve, _set_up_loader = Integration.resolve_from_root, loader.async_setup
_schema_of, _hints_of = (
    vars(service)["_validate_entity_service_schema"],
    lru_cache(maxsize=256)(get_type_hints),
)


class _Integrations(dict[str, Any]):
    """The integrations of a home; those that an earlier home has loaded come when they are looked up."""

    def __init__(self, hass: HomeAssistant) -> None:
        super().__init__()
        self._hass = hass

    @override
    def get(self, domain: str, default: Any = None) -> Any:
        """Return an integration, or what stands for it while it is read."""
        if domain not in self and domain in _loaded:
            self[domain] = Integration(self._hass, *_loaded[domain])
        return super().get(domain, default)


class _Patch:
    """Does as `unittest.mock.patch`, without mocks where a function does."""

    def __call__(self, target: str, *new: Any, **options: Any) -> Any:
        """Replace the object at a path."""
        stand_in = _stand_in(resolve_name(target), new, options)
        if stand_in is None:
            return mock.patch(target, *new, **options)
        return mock.patch(target, stand_in)

    def object(self, owner: object, name: str, *new: Any, **options: Any) -> Any:
        """Replace an attribute."""
        stand_in = _stand_in(getattr(owner, name), new, options)
        if stand_in is None:
            return mock.patch.object(owner, name, *new, **options)
        return mock.patch.object(owner, name, stand_in)


def do_nothing(*_values: object, **_options: object) -> None:
    """Stand for a function."""


async def async_do_nothing(*_values: object, **_options: object) -> None:
    """Stand for a coroutine function."""


def scrypt_with_little_work(
    password: bytes, *, salt: bytes, n: int, **parameters: int
) -> bytes:
    """Stand for `hashlib.scrypt`, which takes long unless `n` is small: other parameters give another digest."""
    little = min(n, 16)
    if n > little:
        salt += f"{n} {parameters}".encode()
        parameters["p"] = 1
    return _scrypt(password, salt=salt, n=little, **parameters)


def share() -> None:
    """Let all homes from now on share what they read, and have no mocks."""
    zones = {_ZONE_OF_TESTS: ZoneInfo(_ZONE_OF_TESTS)}
    vars(loader).update(async_setup=_set_up)
    vars(common).update(patch=_Patch())
    vars(service).update(_validate_entity_service_schema=_shared_schema)
    vars(openapi).update(get_type_hints=_shared_hints)
    Integration.resolve_from_root = _resolve_and_keep  # type: ignore[assignment,method-assign]
    SQLiteDialect_pysqlite.__eq__ = lambda one, other: type(one) is type(other)  # type: ignore[method-assign]
    SQLiteDialect_pysqlite.__hash__ = lambda _: 0  # type: ignore[assignment,method-assign]
    SQLiteDialect_pysqlite.ddl_compiler = staticmethod(_shared_ddl)  # type: ignore[assignment]
    Engine._compiled_cache = property(lambda _: _statements, do_nothing)  # type: ignore[assignment]  # noqa: SLF001  # there is no public one
    aiozoneinfo.CachedZoneInfo.get_cached_zone_info = zones.get  # type: ignore[assignment,method-assign]


def forget_homes() -> None:
    """Take the homes apart that have stopped, but for their scripts, which look themselves up when they are deleted."""
    while _homes:
        home = _homes.pop()
        scripts = home.data.get(DATA_SCRIPTS, {})
        vars(home).clear()
        home.data = HassDict()
        home.data[DATA_SCRIPTS] = scripts


def _set_up(hass: HomeAssistant) -> None:
    _set_up_loader(hass)
    hass.data[DATA_INTEGRATIONS] = _Integrations(hass)
    _homes.append(hass)


def _resolve_and_keep(
    hass: HomeAssistant, root: ModuleType, domain: str
) -> Integration | None:
    """Read an integration, and keep what was read of those that come with Home Assistant."""
    integration = _resolve(hass, root, domain)
    if integration and root is components:
        _loaded[domain] = (
            integration.pkg_path,
            integration.file_path,
            integration.manifest,
            vars(integration)["_top_level_files"],
        )
    return integration


def _shared_schema(schema: Any, of_service: str) -> Any:
    """Return the schema of a service of entities, which is compiled once."""
    if not isinstance(schema, dict):
        return _schema_of(schema, of_service)
    key = (of_service, *map(str, schema))
    if key not in _schemas:
        _schemas[key] = _schema_of(schema, of_service)
    return _schemas[key]


def _shared_hints(value: Any) -> dict[str, Any]:
    """Return the annotations of a function, which are evaluated once."""
    return _hints_of(value) if isfunction(value) else get_type_hints(value)


def _shared_ddl(dialect: Dialect, element: Any, **options: Any) -> SQLiteDDLCompiler:
    """Return the statement that creates or drops a table or an index, which is written once."""
    key = type(element), getattr(element, "element", None)
    if key not in _ddl:
        _ddl[key] = SQLiteDDLCompiler(dialect, element, **options)
    return _ddl[key]


def _stand_in(
    original: object, new: tuple[Any, ...], options: dict[str, Any]
) -> Callable[..., object] | None:
    """Return the function that does what a mock with these options would do; None if there is none."""
    if new or not isfunction(original):
        return None
    if options.keys() == {"side_effect", "autospec"}:
        effect = options["side_effect"]
        return effect if isfunction(effect) else None
    if options in ({}, {"return_value": None}):
        return async_do_nothing if iscoroutinefunction(original) else do_nothing
    return None
