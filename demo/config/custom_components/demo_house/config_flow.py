"""Setting up a demo house in the UI: asks where its house file is."""

from pathlib import Path
from typing import override

import voluptuous as vol
from homeassistant.config_entries import ConfigFlow, ConfigFlowResult

from .const import CONF_HOUSE_FILE, DOMAIN
from .house import HouseFileError, read_house

_FORM = vol.Schema({vol.Required(CONF_HOUSE_FILE): str})


class DemoHouseConfigFlow(ConfigFlow, domain=DOMAIN):
    """Asks for the path of a house file, and takes only one that describes a house."""

    @override
    async def async_step_user(self, user_input: dict[str, str] | None = None) -> ConfigFlowResult:
        """Ask for the house file until there is one that can be built."""
        problem = ""
        if user_input is not None:
            path = user_input[CONF_HOUSE_FILE]
            self._async_abort_entries_match({CONF_HOUSE_FILE: path})
            try:
                await self.hass.async_add_executor_job(_check, path)
            except (HouseFileError, OSError) as error:
                problem = str(error)
            else:
                return self.async_create_entry(title="Demo house", data={CONF_HOUSE_FILE: path})
        return self.async_show_form(
            step_id="user",
            data_schema=self.add_suggested_values_to_schema(_FORM, user_input),
            errors={CONF_HOUSE_FILE: "house_file_invalid"} if problem else {},
            description_placeholders={"problem": problem},
        )


def _check(path: str) -> None:
    """Raise what makes the file at `path` no house file. Touches the disk."""
    read_house(Path(path).read_text(encoding="utf-8"))
