"""The cameras of a demo house."""

from pathlib import Path
from typing import Final, override

from homeassistant.components.camera import Camera
from homeassistant.core import HomeAssistant
from homeassistant.helpers.entity_platform import AddConfigEntryEntitiesCallback

from . import DemoHouseConfigEntry
from .entity import DemoHouseEntity
from .home_information import HomeCamera

_PICTURES: Final = Path(__file__).with_name("pictures")


async def async_setup_entry(
    _hass: HomeAssistant,
    entry: DemoHouseConfigEntry,
    async_add_entities: AddConfigEntryEntitiesCallback,
) -> None:
    """Add the cameras of the home."""
    async_add_entities(
        DemoCamera(entry, camera)
        for camera in entry.runtime_data.entities_of(HomeCamera)
    )


class DemoCamera(DemoHouseEntity, Camera):
    """A camera that always sees the same."""

    def __init__(self, entry: DemoHouseConfigEntry, camera: HomeCamera) -> None:
        """Take the picture of the home file."""
        Camera.__init__(self)
        DemoHouseEntity.__init__(self, entry, camera)
        self._picture = _PICTURES / camera.picture

    @override
    def camera_image(
        self, width: int | None = None, height: int | None = None
    ) -> bytes | None:
        """Return the picture, as JPEG."""
        return self._picture.read_bytes()
