"""Names that the modules of the demo house share: its domain and the keys of its config entry."""

from typing import Final

DOMAIN: Final = "demo_house"

CONF_HOME: Final = "home"
"""The home file's text itself."""

CONF_HOME_FILE: Final = "home_file"
"""The path of the home file; read again at every setup."""

CONF_SETUP: Final = "setup"
"""The differences from the home file: `entity_id → {"state": …, "attributes": {…}}`, merged into it."""
