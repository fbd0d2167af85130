"""Screenshots of what a test shows, for the README and the docs; taken only when somebody asks for them.

`script/screenshots` asks; an ordinary test run leaves docs/images/ alone. Must not know what is shown.
"""

import os
from dataclasses import dataclass
from pathlib import Path

from playwright.async_api import Locator, Page

FOLDER_VARIABLE = "CHATTERBOX_SCREENSHOTS"
"""The environment variable that names the folder to save to."""


@dataclass(frozen=True, slots=True)
class Camera:
    """Takes pictures into a folder, or none without one."""

    folder: Path | None

    @classmethod
    def from_environment(cls) -> Camera:
        """Return the camera that the environment asks for."""
        folder = os.environ.get(FOLDER_VARIABLE)
        return cls(Path(folder) if folder else None)

    async def take(self, subject: Page | Locator, name: str) -> None:
        """Save what is seen as `name`.png, with every animation at its end."""
        if self.folder is not None:
            await subject.screenshot(path=self.folder / f"{name}.png", animations="disabled", caret="hide")
