"""The screens on which the frontend is looked at: of a desktop and of a phone, in light and in dark."""

from enum import Enum
from typing import Literal

from playwright.async_api import ViewportSize


class Look(Enum):
    """A screen, and the colours that its owner prefers."""

    DESKTOP_LIGHT = 1200, 800, "light"
    DESKTOP_DARK = 1200, 800, "dark"
    PHONE_LIGHT = 390, 844, "light"
    PHONE_DARK = 390, 844, "dark"
    SMALL_PHONE_LIGHT = 320, 640, "light"
    SMALL_PHONE_DARK = 320, 640, "dark"

    def __init__(
        self, width: int, height: int, scheme: Literal["light", "dark"]
    ) -> None:
        """Take the size in CSS pixels."""
        self.size: ViewportSize = {"width": width, "height": height}
        self.scheme: Literal["light", "dark"] = scheme

    @property
    def is_phone(self) -> bool:
        """Whether it is a phone, held upright."""
        return self.size["width"] < self.size["height"]
