"""Setting up a demo house in the UI: asks where its home file is."""

from pathlib import Path
from typing import override

import voluptuous as vol
from homeassistant.config_entries import ConfigFlow, ConfigFlowResult

from .const import CONF_HOME_FILE, DOMAIN
from .home import HomeFileError, read_home

_FORM = vol.Schema({vol.Required(CONF_HOME_FILE): str})


class DemoHouseConfigFlow(ConfigFlow, domain=DOMAIN):
    """Asks for the path of a home file, and takes only one that describes a home."""

    @override
    async def async_step_user(
        self, user_input: dict[str, str] | None = None
    ) -> ConfigFlowResult:
        """Ask for the home file until there is one that can be built."""
        problem = ""
        if user_input is not None:
            path = user_input[CONF_HOME_FILE]
            self._async_abort_entries_match({CONF_HOME_FILE: path})
            try:
                await self.hass.async_add_executor_job(_check, path)
            except (HomeFileError, OSError) as error:
                problem = str(error)
            else:
                return self.async_create_entry(
                    title="Demo house", data={CONF_HOME_FILE: path}
                )
        return self.async_show_form(
            step_id="user",
            data_schema=self.add_suggested_values_to_schema(_FORM, user_input),
            errors={CONF_HOME_FILE: "home_file_invalid"} if problem else {},
            description_placeholders={"problem": problem},
        )


def _check(path: str) -> None:
    """Raise what makes the file at `path` no home file. Touches the disk."""
    read_home(Path(path).read_text(encoding="utf-8"))
