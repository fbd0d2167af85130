"""The switch of guest mode: one for the whole home, whatever its services are."""

from typing import Any, override

from homeassistant.components.switch import SwitchEntity
from homeassistant.const import EntityCategory
from homeassistant.core import Context, HomeAssistant, callback
from homeassistant.helpers.device_registry import DeviceEntryType, DeviceInfo
from homeassistant.helpers.dispatcher import async_dispatcher_connect
from homeassistant.helpers.entity import Entity
from homeassistant.helpers.entity_platform import AddConfigEntryEntitiesCallback

from .const import DOMAIN
from .entity import async_show_in_home
from .people.guests import GUEST_MODE, async_set_guest_mode
from .runtime.agents import ChatterboxConfigEntry
from .settings.rules import SIGNAL_HOME_RULES, async_get_home_rules

PARALLEL_UPDATES = 0


async def async_setup_entry(
    hass: HomeAssistant,
    entry: ChatterboxConfigEntry,
    async_add_entities: AddConfigEntryEntitiesCallback,
) -> None:
    """Add the switch, unless another service has it."""

    @callback
    def show(present: set[type[Entity]]) -> None:
        if GuestModeSwitch not in present:
            async_add_entities([GuestModeSwitch(hass)])

    async_show_in_home(
        hass,
        entry,
        show,
    )


class GuestModeSwitch(SwitchEntity):
    """Whether guests are at home. It is kept with the rules of the home, so that they hold from the first turn on."""

    _attr_has_entity_name = True
    _attr_should_poll = False
    _attr_entity_category = EntityCategory.CONFIG
    """So that assistants do not see it; no agent may end guest mode anyway."""
    _attr_translation_key = "guest_mode"
    _attr_unique_id = GUEST_MODE

    def __init__(self, hass: HomeAssistant) -> None:
        """Take the rules of the home."""
        self._rules = async_get_home_rules(hass)
        self._attr_device_info = DeviceInfo(
            configuration_url=f"homeassistant://{DOMAIN}/permissions",
            entry_type=DeviceEntryType.SERVICE,
            identifiers={(DOMAIN, DOMAIN)},
            manufacturer="Chatterbox",
            translation_key="home",
        )

    @override
    async def async_added_to_hass(self) -> None:
        """Follow the rules of the home."""
        self.async_on_remove(
            async_dispatcher_connect(
                self.hass, SIGNAL_HOME_RULES, self.async_write_ha_state
            )
        )

    @property
    @override
    def available(self) -> bool:
        """Return whether the rules can be read."""
        return self._rules.current is self._rules.stored

    @property
    @override
    def is_on(self) -> bool:
        """Return whether guest mode is on."""
        return self._rules.current.guests_since is not None

    @override
    async def async_turn_on(self, **kwargs: Any) -> None:
        """Switch guest mode on."""
        await async_set_guest_mode(
            self.hass,
            self._context or Context(),
            is_on=True,
        )

    @override
    async def async_turn_off(self, **kwargs: Any) -> None:
        """Switch guest mode off."""
        await async_set_guest_mode(
            self.hass,
            self._context or Context(),
            is_on=False,
        )
