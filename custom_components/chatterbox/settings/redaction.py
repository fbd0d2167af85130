"""Redacts secrets: private fields, credentials in addresses, and known secrets wherever they occur.

A key may occur anywhere: in a title, in the name of a tool, in an answer of a server.
So all texts are searched for known secrets.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Final
from urllib.parse import unquote

from homeassistant.components.diagnostics import REDACTED
from homeassistant.const import CONF_API_KEY, CONF_PROMPT
from homeassistant.core import HomeAssistant
from yarl import URL

from ..agent.messages import JsonValue
from ..const import CONF_EXTRA_PARAMETERS, CONF_PIN, CONF_WEB_SEARCH_KEY, DOMAIN
from .rules import async_get_home_rules, home_rules_to_json

PRIVATE_FIELDS: Final = frozenset(
    {
        CONF_API_KEY,
        CONF_PROMPT,
        CONF_EXTRA_PARAMETERS,
        CONF_PIN,
        CONF_WEB_SEARCH_KEY,
    }
)
"""Fields of entries and agents that are never shown: secrets, fields that may hold some, and prompts."""

_SECRET_FIELDS: Final = PRIVATE_FIELDS - {CONF_PROMPT}
"""Fields whose values are searched for in all texts."""

_SHORTEST: Final = 6
"""Length of a secret that is searched for in all texts: a shorter one, such as `low`, is part of many words."""

_CREDENTIALS: Final = re.compile(
    r"(?P<scheme>[\w+.\-]+)://[^:/@]*:(?P<password>[^@]*)@"
)
"""The beginning of a database address. Source: `_parse_url` in sqlalchemy/engine/url.py"""

_ADDRESS: Final = re.compile(r"(?<![A-Za-z0-9+.\-])[A-Za-z0-9+.\-]++://[^\s\"'<>]*")


_SECRET_FIELD: Final = re.compile(
    r"token|code|pass|secret|auth|credential|key$|(?<![a-z])pin(?![a-z])", re.IGNORECASE
)


def known_secrets(hass: HomeAssistant) -> frozenset[str]:
    """Return the secrets of the home and of all services: an agent may have one of another service as a fallback."""
    entries = hass.config_entries.async_entries(DOMAIN)
    fields: list[Mapping[str, object]] = [
        home_rules_to_json(async_get_home_rules(hass).stored)
    ]
    fields += [one for entry in entries for one in (entry.data, entry.options)]
    fields += [agent.data for entry in entries for agent in entry.subentries.values()]
    return frozenset[str]().union(*map(secrets_in, fields))


def secrets_in(fields: Mapping[str, object]) -> frozenset[str]:
    """Return the secrets in the data of an entry or an agent."""
    secret = [text for name in _SECRET_FIELDS for text in _texts(fields.get(name))]
    secret += [
        part for text in _texts(fields) if "://" in text for part in _secrets_of(text)
    ]
    return frozenset(text for text in secret if len(text) >= _SHORTEST)


def without_secrets(
    value: object,
    secrets: Iterable[str],
) -> JsonValue:
    """Return plain data as JSON, without private fields, credentials in addresses, and `secrets`."""
    longest_first = sorted(
        secrets,
        key=len,
        reverse=True,
    )
    if longest_first:
        found = re.compile("|".join(map(re.escape, longest_first)))
    else:
        found = None
    return _cleared(value, found)


def without_secret_fields(value: JsonValue) -> JsonValue:
    """Return the arguments or the result of a call; values of fields that are named as secrets are redacted."""
    match value:
        case dict():
            return {
                name: REDACTED
                if _SECRET_FIELD.search(name)
                else without_secret_fields(one)
                for name, one in value.items()
            }
        case list():
            return [without_secret_fields(one) for one in value]
        case _:
            return value


def _cleared(
    value: object,
    secrets: re.Pattern[str] | None,
) -> JsonValue:
    match value:
        case Mapping():
            return {
                str(_cleared(str(key), secrets)): REDACTED
                if key in PRIVATE_FIELDS and one
                else _cleared(one, secrets)
                for key, one in value.items()
            }
        case str():
            text = _ADDRESS.sub(
                lambda address: _public_address(address[0]),
                value,
            )
            if secrets:
                return secrets.sub(REDACTED, text)
            return text
        case bool() | int() | float() | None:
            return value
        case list() | tuple() | set() | frozenset():
            return [_cleared(one, secrets) for one in value]
        case _:
            return _cleared(str(value), secrets)


def _public_address(address: str) -> str:
    """Return an address without credentials, which end at the last `@`, and without its query.

    A database accepts a password with a slash or a question mark.
    """
    scheme, _, rest = address.partition("://")
    credentials, _, place = rest.rpartition("@")
    place, mark, _ = place.partition("?")
    return (
        f"{scheme}://"
        + (f"{REDACTED}@" if credentials else "")
        + place
        + (f"?{REDACTED}" if mark else "")
    )


def _secrets_of(text: str) -> Iterator[str]:
    """Yield the secrets of an address, both quoted and unquoted."""
    credentials = _CREDENTIALS.match(text)
    if credentials:
        yield from (credentials["password"], unquote(credentials["password"]))
        text = f"{credentials['scheme']}://{text[credentials.end() :]}"
    with suppress(ValueError):
        yield from URL(text).query.values()


def _texts(value: object) -> Iterator[str]:
    match value:
        case str():
            yield value
        case Mapping():
            for one in value.values():
                yield from _texts(one)
        case list() | tuple():
            for one in value:
                yield from _texts(one)
        case _:
            pass
