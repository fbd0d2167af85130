"""Screenshots of what a test shows, for the README and the docs; taken only when somebody asks for them.

`script/screenshots` asks; an ordinary test run leaves docs/images/ alone. Must not know what is shown.
"""

import os
from dataclasses import dataclass
from pathlib import Path

from playwright.async_api import FloatRect, Locator, Page

FOLDER_VARIABLE = "CHATTERBOX_SCREENSHOTS"
"""The environment variable that names the folder to save to."""
_LEAVE_FOCUS = """() => {
  let focused = document.activeElement;
  while (focused?.shadowRoot?.activeElement) focused = focused.shadowRoot.activeElement;
  focused?.blur();
}"""
_MARGIN = 12
"""How many pixels of its surroundings are seen on each side of a dialog."""


@dataclass(frozen=True, slots=True)
class Camera:
    """Takes pictures into a folder, or none without one."""

    folder: Path | None

    @classmethod
    def from_environment(cls) -> Camera:
        """Return the camera that the environment asks for."""
        folder = os.environ.get(FOLDER_VARIABLE)
        return cls(Path(folder) if folder else None)

    async def take_page(self, page: Page, name: str) -> None:
        """Save the whole page as `name`.png, nothing focused: a focused button shows its tooltip."""
        await page.evaluate(_LEAVE_FOCUS)
        await self._save(page, name, None)

    async def take_dialog(self, dialog: Locator, name: str) -> None:
        """Save a dialog, with a little of what is around it, as `name`.png."""
        box = await dialog.get_by_role("dialog").first.bounding_box()
        if box is None:
            raise AssertionError(f"there is no dialog to take for {name}.png")
        left, top = max(box["x"] - _MARGIN, 0), max(box["y"] - _MARGIN, 0)
        await self._save(
            dialog.page,
            name,
            {"x": left, "y": top, "width": box["width"] + 2 * _MARGIN, "height": box["height"] + 2 * _MARGIN},
        )

    async def _save(self, page: Page, name: str, clip: FloatRect | None) -> None:
        if self.folder is not None:
            await page.mouse.move(0, 0)
            await page.screenshot(path=self.folder / f"{name}.png", clip=clip, animations="disabled", caret="hide")
