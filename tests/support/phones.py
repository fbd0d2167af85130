"""Phones with Home Assistant's app: registered over HTTP, told over a push service on loopback, tapped by a webhook."""

import asyncio
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from http import HTTPStatus

from aiohttp import web
from homeassistant.auth.models import User
from homeassistant.core import HomeAssistant
from homeassistant.helpers import entity_registry as er
from pydantic import JsonValue, TypeAdapter
from pytest_homeassistant_custom_component.common import CLIENT_ID
from pytest_homeassistant_custom_component.typing import ClientSessionGenerator

from tests.support.servers.in_process import serving

_OBJECT: TypeAdapter[dict[str, JsonValue]] = TypeAdapter(dict[str, JsonValue])


@dataclass(slots=True)
class PushService:
    """The push service between Home Assistant and the phones of a maker. Keeps what each was sent."""

    address: str = ""
    inboxes: dict[str, asyncio.Queue[dict[str, JsonValue]]] = field(
        default_factory=dict
    )
    """By the token of the phone."""
    refuses: bool = False
    held: dict[str, asyncio.Event] = field(default_factory=dict)
    """The event that the next notice for a phone waits for, by its token."""

    async def answer(self, request: web.Request) -> web.Response:
        """Take a notice for a phone."""
        notice = _OBJECT.validate_python(await request.json())
        token = str(notice.pop("push_token"))
        if held := self.held.pop(token, None):
            await held.wait()
        if self.refuses:
            return web.json_response(
                {"message": "No such phone"}, status=HTTPStatus.NOT_FOUND
            )
        self.inboxes[token].put_nowait(notice)
        return web.json_response({}, status=HTTPStatus.CREATED)


@dataclass(slots=True)
class Phone:
    """A phone that somebody holds in their hand."""

    hass: HomeAssistant
    entity_id: str
    webhook_id: str
    inbox: asyncio.Queue[dict[str, JsonValue]]
    without_login: ClientSessionGenerator

    async def next(self) -> ShownNotification:
        """Wait for the next notice."""
        return ShownNotification(await self.inbox.get())

    async def tap(self, action: str) -> None:
        """Tap a button: the app tells Home Assistant."""
        await self.fire("mobile_app_notification_action", {"action": action})

    async def fire(self, event_type: str, data: Mapping[str, JsonValue]) -> None:
        """Have the app fire an event, as every user of it can."""
        client = await self.without_login()
        event = {"event_type": event_type, "event_data": dict(data)}
        response = await client.post(
            f"/api/webhook/{self.webhook_id}",
            json={"type": "fire_event", "data": event},
        )
        assert response.status == HTTPStatus.OK
        await self.hass.async_block_till_done(wait_background_tasks=True)


@dataclass(frozen=True, slots=True)
class ShownNotification:
    """A notice on a phone."""

    payload: Mapping[str, JsonValue]

    @property
    def message(self) -> str:
        """Return its words."""
        return str(self.payload["message"])

    @property
    def data(self) -> dict[str, JsonValue]:
        """Return what else the app is told."""
        return _OBJECT.validate_python(self.payload["data"])

    @property
    def buttons(self) -> dict[str, str]:
        """Return what its buttons send, by what is written on them."""
        actions = self.data.get("actions") or []
        assert isinstance(actions, list)
        parsed = [_OBJECT.validate_python(action) for action in actions]
        return {str(action["title"]): str(action["action"]) for action in parsed}


@asynccontextmanager
async def push_service() -> AsyncGenerator[PushService]:
    """Run a push service until the block is left."""
    service = PushService()
    application = web.Application()
    application.router.add_post("/push", service.answer)
    async with serving(application, "/push") as service.address:
        yield service


@dataclass(slots=True)
class PhoneShop:
    """Hands out phones."""

    hass: HomeAssistant
    push: PushService
    login: ClientSessionGenerator
    without_login: ClientSessionGenerator

    async def phone_of(self, user: User, name: str) -> Phone:
        """Register a phone as a user does who logs in with the app."""
        token = await self.hass.auth.async_create_refresh_token(user, CLIENT_ID)
        client = await self.login(self.hass.auth.async_create_access_token(token))
        registration = {
            "app_data": {"push_token": name, "push_url": self.push.address},
            "app_id": "an-app",
            "app_name": "An app",
            "app_version": "1.0",
            "device_id": f"device of {name}",
            "device_name": name,
            "manufacturer": "A maker",
            "model": "A model",
            "os_name": "An OS",
            "os_version": "1.0",
            "supports_encryption": False,
        }
        response = await client.post("/api/mobile_app/registrations", json=registration)
        assert response.status == HTTPStatus.CREATED
        webhook_id = str((await response.json())["webhook_id"])
        await self.hass.async_block_till_done()
        entity_id = er.async_get(self.hass).async_get_entity_id(
            "notify", "mobile_app", f"device of {name}"
        )
        assert entity_id is not None
        inbox = self.push.inboxes[name] = asyncio.Queue()
        return Phone(self.hass, entity_id, webhook_id, inbox, self.without_login)
