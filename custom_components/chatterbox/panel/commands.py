"""The WebSocket commands of the page: their form, who may send them, and their errors.

An error quotes nothing of what was sent: it may be a PIN.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, cast

import voluptuous as vol
from homeassistant.auth.models import User
from homeassistant.components import websocket_api
from homeassistant.core import Context, HomeAssistant
from homeassistant.exceptions import HomeAssistantError
from homeassistant.helpers.typing import VolSchemaType

from ..const import DOMAIN
from ..history.store.records import StoreUnavailable
from ..people.speakers import Speaker, person_id_of, speaker_of
from ..settings.rules import async_get_home_rules
from ..speech.sentences import async_closest_language

UNAUTHORIZED: Final = "unauthorized"
NOT_FOUND: Final = "not_found"
REFUSED: Final = "refused"
_SHARED_KEYS: Final = ("id", "type")
"""Fields of every message."""


class CommandRefused(HomeAssistantError):
    """A command is not carried out. The code tells why, and a translated exception or a text may, too."""

    def __init__(
        self,
        code: str,
        key: str = "",
        *,
        text: str = "",
        **placeholders: str,
    ) -> None:
        """Take a code, and the translation key of an exception with its placeholders, or a text."""
        # Home Assistant sends no placeholders without a key.
        where = {
            "translation_domain": DOMAIN,
            "translation_key": key or code,
        }
        super().__init__(
            *([] if key else [text or code]),
            **where,
            translation_placeholders=placeholders,
        )
        self.code = code


@dataclass(frozen=True, slots=True)
class Viewer:
    """The user of a connection, and what they may see."""

    hass: HomeAssistant
    connection: websocket_api.ActiveConnection
    number: int
    """Of the message with their command."""

    @property
    def user(self) -> User:
        """The user."""
        return self.connection.user

    @property
    def is_admin(self) -> bool:
        """Whether they see everything."""
        return self.user.is_admin

    @property
    def is_allowed(self) -> bool:
        """Whether they may use the page now."""
        return (
            self.is_admin or async_get_home_rules(self.hass).current.shows_page_to_all
        )

    @property
    def person_id(self) -> str:
        """The id of their person, or else of the user."""
        return person_id_of(self.hass, self.user.id)

    @property
    def people(self) -> frozenset[str] | None:
        """The ids of the people whose turns they see; None for all turns. Older turns have the id of the user."""
        if self.is_admin:
            return None
        return frozenset({self.person_id, self.user.id})

    def sees(self, person_id: str | None) -> bool:
        """Return whether they see a turn of a person."""
        return self.people is None or person_id in self.people

    @property
    def speaker(self) -> Speaker:
        """The speaker of what they do here, for whom nobody is asked."""
        return speaker_of(self.hass, self.user.id)

    @property
    def context(self) -> Context:
        """A new context of theirs."""
        return Context(user_id=self.user.id)

    async def async_language(self, data: CommandData) -> str:
        """Return the language of ours that fits the one that a command names best, or else that of the home."""
        language = data.get("language", self.hass.config.language)
        return await async_closest_language(self.hass, language)

    def send(self, event: object) -> None:
        """Send an event of what they follow by their command."""
        self.connection.send_event(self.number, event)

    def follow(self, end: Callable[[], None]) -> None:
        """Let them follow something, which a function ends."""
        self.connection.subscriptions[self.number] = end


def text_field(most: int, least: int = 0) -> object:
    """Return the schema of a text with so many characters."""
    return vol.All(str, vol.Length(least, most))


NO_FIELDS: Final = vol.Schema({})
IN_LANGUAGE: Final = {vol.Optional("language"): text_field(35)}
ID_FIELD: Final = text_field(100, 1)


type CommandData = Mapping[str, Any]
"""Fields of a command, checked by its schema."""
type CommandAnswer = Callable[[Viewer, CommandData], Awaitable[object]]
"""Answers a command with dataclasses or JSON; raises `HomeAssistantError`."""


def async_register_command(
    hass: HomeAssistant,
    name: str,
    schema: vol.Schema,
    answer: CommandAnswer,
    *,
    for_users: bool = False,
) -> None:
    """Register the command `chatterbox/…`; only `for_users`, other users than administrators may send it."""

    @websocket_api.async_response
    async def handle(
        hass: HomeAssistant,
        connection: websocket_api.ActiveConnection,
        msg: dict[str, Any],
    ) -> None:
        number = msg["id"]
        try:
            viewer = Viewer(hass, connection, number)
            if not (viewer.is_admin or (for_users and viewer.is_allowed)):
                raise CommandRefused(UNAUTHORIZED)
            data = schema(
                {key: value for key, value in msg.items() if key not in _SHARED_KEYS}
            )
            result = await answer(viewer, data)
        except vol.Invalid as error:
            where = ".".join(map(str, error.path)) or "?"
            connection.send_error(
                number, websocket_api.ERR_INVALID_FORMAT, f"{where} is invalid"
            )
        except HomeAssistantError as error:
            if isinstance(error, CommandRefused):
                code = error.code
            else:
                code = REFUSED
            key = error.translation_key
            domain = error.translation_domain
            connection.send_error(
                number, code, str(error), key, domain, error.translation_placeholders
            )
        except StoreUnavailable as error:
            connection.send_error(number, "history_down", str(error))
        else:
            connection.send_result(number, result)

    websocket_api.async_register_command(hass, f"{DOMAIN}/{name}", handle, _UNCHECKED)


_UNCHECKED: Final = cast("VolSchemaType", lambda message: message)
"""Home Assistant would quote an invalid message in its log."""
