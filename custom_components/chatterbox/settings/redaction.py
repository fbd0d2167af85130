"""Takes secrets out of what is shown to others: by the names of fields, by addresses, and wherever a known one stands.

Pure but for the list of names that Home Assistant redacts by. Must not know what is shown, or to whom. A key may stand
where nobody expects it: in a title, in a name of somebody else's tool, in what a server has said. So whatever is known
to be secret is looked for in every text.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Final
from urllib.parse import unquote

from homeassistant.components.diagnostics import REDACTED
from homeassistant.const import CONF_API_KEY, CONF_PROMPT
from yarl import URL

from ..agent.messages import JsonValue
from ..const import CONF_EXTRA_PARAMETERS, CONF_PIN

PRIVATE_FIELDS: Final = frozenset({CONF_API_KEY, CONF_PROMPT, CONF_EXTRA_PARAMETERS, CONF_PIN})
"""Fields of entries and agents that are never shown: secrets, what may hold some, and what somebody wrote."""

_SECRET_FIELDS: Final = frozenset({CONF_API_KEY, CONF_EXTRA_PARAMETERS, CONF_PIN})
"""Those of them whose texts are looked for everywhere."""

_SHORTEST: Final = 6
"""Characters of a text that is looked for everywhere: a shorter one, such as `low`, stands in many words."""

_CREDENTIALS: Final = re.compile(r"(?P<scheme>[\w+.\-]+)://[^:/@]*:(?P<password>[^@]*)@")
"""How an address of a database begins. Source: `_parse_url` in sqlalchemy/engine/url.py"""

_ADDRESS: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]*://[^\s\"'<>]*")


def secrets_in(fields: Mapping[str, object]) -> frozenset[str]:
    """Return what is secret of the data of an entry or an agent, as texts that must stand nowhere."""
    secret = [text for name in _SECRET_FIELDS for text in _texts(fields.get(name))]
    secret += [part for text in _texts(fields) if "://" in text for part in _secrets_of(text)]
    return frozenset(text for text in secret if len(text) >= _SHORTEST)


def without_secrets(value: object, secrets: Iterable[str]) -> JsonValue:
    """Return plain data as JSON, without private fields, without the secrets of addresses, and without `secrets`."""
    longest_first = sorted(secrets, key=len, reverse=True)
    found = re.compile("|".join(map(re.escape, longest_first))) if longest_first else None
    return _cleared(value, found)


def _cleared(value: object, secrets: re.Pattern[str] | None) -> JsonValue:
    match value:
        case Mapping():
            return {
                str(_cleared(str(key), secrets)): REDACTED if key in PRIVATE_FIELDS and one else _cleared(one, secrets)
                for key, one in value.items()
            }
        case str():
            shown = _ADDRESS.sub(lambda address: _public_address(address[0]), value)
            return secrets.sub(REDACTED, shown) if secrets else shown
        case bool() | int() | float() | None:
            return value
        case list() | tuple() | set() | frozenset():
            return [_cleared(one, secrets) for one in value]
        case _:
            return _cleared(str(value), secrets)


def _public_address(address: str) -> str:
    """Return an address without who may use it: all that stands before the last `@`, and after a question mark.

    A password may hold a slash or a question mark, and a database still takes it.
    """
    scheme, _, rest = address.partition("://")
    credentials, _, place = rest.rpartition("@")
    place, mark, _ = place.partition("?")
    return f"{scheme}://" + (f"{REDACTED}@" if credentials else "") + place + (f"?{REDACTED}" if mark else "")


def _secrets_of(text: str) -> Iterator[str]:
    """Yield what is secret of a text that is an address, both as it is written and as it is meant."""
    if credentials := _CREDENTIALS.match(text):
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
