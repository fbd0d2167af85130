"""People of a home besides its owner: made as an owner makes them, signed in as they sign in themselves.

Knows Home Assistant's users, groups and tokens; must not know what they do then.
"""

from dataclasses import dataclass

import aiohttp
from pydantic import BaseModel, RootModel

from demo.web_api import ANSWER_TIMEOUT_SECONDS, HomeAssistantClient, post_json

LIVES_HERE = "system-users"
LOOKS_ONLY = "system-read-only"
"""The group whose members may see all and change nothing."""
_TOKEN_DAYS = 1


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody with a name and a password."""

    name: str
    group: str

    @property
    def username(self) -> str:
        """What is typed to sign in."""
        return self.name.lower()

    @property
    def password(self) -> str:
        """It opens a home that exists for some minutes, on the loopback address."""
        return f"{self.username}-{self.username}"


class _User(BaseModel):
    id: str


class _Created(BaseModel):
    user: _User


class _Ignored(RootModel[object]):
    """An answer that says nothing but that it was done."""


class _Token(RootModel[str]):
    """A token that outlives the process."""


class _Flow(BaseModel):
    flow_id: str


class _SignedIn(BaseModel):
    result: str


async def token_of(client: HomeAssistantClient) -> str:
    """Return a long-lived token of who is signed in, as their profile page makes one."""
    token = await client.command("auth/long_lived_access_token", _Token, client_name="A program", lifespan=_TOKEN_DAYS)
    return token.root


async def token_of_new_person(owner: HomeAssistantClient, url: str, person: Person) -> str:
    """Let the owner add a person, sign in as that person, and return a long-lived token of theirs."""
    created = await owner.command("config/auth/create", _Created, name=person.name, group_ids=[person.group])
    await owner.command(
        "config/auth_provider/homeassistant/create",
        _Ignored,
        user_id=created.user.id,
        username=person.username,
        password=person.password,
    )
    async with HomeAssistantClient.connected(url, await _sign_in(url, person)) as client:
        return await token_of(client)


async def _sign_in(url: str, person: Person) -> str:
    """Return the one-time code that the page for signing in gives."""
    timeout = aiohttp.ClientTimeout(total=ANSWER_TIMEOUT_SECONDS)
    async with aiohttp.ClientSession(timeout=timeout) as session:
        flow = await post_json(
            session,
            f"{url}/auth/login_flow",
            {"client_id": f"{url}/", "handler": ["homeassistant", None], "redirect_uri": f"{url}/"},
            _Flow,
        )
        typed = {"client_id": f"{url}/", "username": person.username, "password": person.password}
        signed_in = await post_json(session, f"{url}/auth/login_flow/{flow.flow_id}", typed, _SignedIn)
    return signed_in.result
