"""The owner of a fresh Home Assistant, made through the real onboarding.

Knows the onboarding's first step (`homeassistant/components/onboarding/views.py`); must
not know what the owner does next.
"""

from dataclasses import dataclass

import aiohttp
from pydantic import BaseModel

from demo.web_api import ANSWER_TIMEOUT_SECONDS, post_json


class _Onboarded(BaseModel):
    auth_code: str


@dataclass(frozen=True, slots=True)
class Owner:
    """The user who signs in; everything stays on this machine, so the password is no secret."""

    name: str = "Demo"
    username: str = "demo"
    password: str = "demo"  # noqa: S105 - it opens a home that exists for a few minutes, on the loopback address


async def create_owner(url: str, owner: Owner) -> str:
    """Create the first user of the Home Assistant at `url`; return a one-time code that signs in as that user."""
    timeout = aiohttp.ClientTimeout(total=ANSWER_TIMEOUT_SECONDS)
    async with aiohttp.ClientSession(timeout=timeout) as session:
        onboarded = await post_json(
            session,
            f"{url}/api/onboarding/users",
            {
                "name": owner.name,
                "username": owner.username,
                "password": owner.password,
                "client_id": f"{url}/",
                "language": "en",
            },
            _Onboarded,
        )
    return onboarded.auth_code
