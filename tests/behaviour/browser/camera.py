"""Screenshots of what a test shows, for the README and the docs; taken only when somebody asks for them.

`script/screenshots` asks; an ordinary test run leaves docs/images/ alone. Must not know
what is shown.
"""

import os
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from typing import Literal

from PIL import Image
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
_SCHEMES: dict[str, Literal["light", "dark"]] = {"": "light", "-dark": "dark"}
_IS_IN_SCHEME = """(scheme) => {
  const probe = document.body.appendChild(document.createElement('i'));
  probe.style.color = 'var(--primary-background-color)';
  const [red, green, blue] = getComputedStyle(probe).color.match(/\\d+/g).map(Number);
  probe.remove();
  return (red + green + blue < 384) === (scheme === 'dark');
}"""
_STILL_MILLISECONDS = 1_800
_LAST_STILL_MILLISECONDS = 5_000


@dataclass(frozen=True, slots=True)
class Camera:
    """Takes pictures into a folder, or none without one."""

    folder: Path | None
    _stills: dict[str, list[Image.Image]] = field(default_factory=dict)
    """By the end of the name of their film."""

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
            {
                "x": left,
                "y": top,
                "width": box["width"] + 2 * _MARGIN,
                "height": box["height"] + 2 * _MARGIN,
            },
        )

    async def film(self, dialog: Locator) -> None:
        """Take a dialog as the next still of a moving picture, in light and in dark."""
        box = await dialog.get_by_role("dialog").first.bounding_box()
        if self.folder is None or box is None:
            return
        page = dialog.page
        for ending, scheme in _SCHEMES.items():
            await page.emulate_media(color_scheme=scheme)
            await page.wait_for_function(_IS_IN_SCHEME, arg=scheme)
            taken = await page.screenshot(clip=box, animations="disabled", caret="hide")
            self._stills.setdefault(ending, []).append(
                Image.open(BytesIO(taken)).convert("RGB")
            )
        await page.emulate_media(color_scheme="light")

    def save_film(self, name: str) -> None:
        """Save the stills as `name`.webp and `name`-dark.webp, each of the size of the first."""
        for ending, (first, *others) in self._stills.items():
            durations = [_STILL_MILLISECONDS] * len(others) + [_LAST_STILL_MILLISECONDS]
            stills = [still.resize(first.size) for still in others]
            path = Path(self.folder or "") / f"{name}{ending}.webp"
            first.save(
                path, save_all=True, append_images=stills, duration=durations, loop=0
            )

    async def _save(self, page: Page, name: str, clip: FloatRect | None) -> None:
        if self.folder is not None:
            await page.mouse.move(0, 0)
            taken = await page.screenshot(
                clip=clip, animations="disabled", caret="hide"
            )
            (self.folder / f"{name}.png").write_bytes(taken)
