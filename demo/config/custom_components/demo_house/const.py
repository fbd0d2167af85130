"""Names that the modules of the demo house share: its domain and the keys of its config entry."""

from typing import Final

DOMAIN: Final = "demo_house"

CONF_HOUSE: Final = "house"
"""The house file's text itself."""

CONF_HOUSE_FILE: Final = "house_file"
"""The path of the house file; read again at every setup."""

CONF_SETUP: Final = "setup"
"""What differs from the house file: `entity_id → {"state": …, "attributes": {…}}`, merged into it."""
