"""The configuration folder of a demo, as Home Assistant finds it at its first start.

Knows which files Home Assistant reads (`homeassistant/config.py`,
`homeassistant/components/http/config.py`,
`homeassistant/components/onboarding/__init__.py`); must not know how Home Assistant is
started or what is said to it.

Nothing in it needs a network: the integrations of `default_config` that look for
devices, ask for updates or download anything are left out.
"""

import json
import os
import socket
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum, auto
from pathlib import Path

from pydantic import JsonValue

REPOSITORY = Path(__file__).resolve().parent.parent
LOOPBACK = "127.0.0.1"
_LOOPBACK_INTERFACES = {"lo", "lo0"}

_CONFIGURATION = """\
homeassistant:
  name: Demo home
  country: GB
  currency: GBP
  language: {language}
  unit_system: metric
  latitude: 51.48
  longitude: 0.0
  elevation: 30
  time_zone: {time_zone}
  auth_providers:
{auth_providers}

assist_pipeline:
config:
conversation:
frontend:
history:
logbook:
sun:

logger:
  default: warning
  logs:
    # A demo plays no sound and turns no picture; that it lacks the libraries for that is no news.
    haffmpeg: critical
    homeassistant.components.camera.img_util: critical

recorder:
  commit_interval: 1
"""

_SIGNED_IN_ON_LOOPBACK = f"""\
    - type: trusted_networks
      trusted_networks: [{LOOPBACK}/32]
      allow_bypass_login: true
"""
_BY_NAME_AND_WORD = """\
    - type: homeassistant
"""


class SignIn(Enum):
    """How a browser on this machine signs in."""

    AUTOMATIC = auto()
    """The page opens as the owner: whoever reaches the loopback address of this machine is trusted."""
    PASSWORD = auto()
    """The page asks for a name and a password, as Home Assistant does by default."""


@dataclass(frozen=True, slots=True)
class Configuration:
    """The differences between one demo and another."""

    port: int
    sign_in: SignIn = SignIn.AUTOMATIC
    custom_components: tuple[Path, ...] = (
        REPOSITORY / "custom_components" / "chatterbox",
        REPOSITORY / "demo" / "config" / "custom_components" / "demo_house",
    )
    """Folders of custom integrations; they are linked, so that the running code is the code of the repository."""
    entries: tuple[dict[str, JsonValue], ...] = ()
    """Config entries that are there from the start, as Home Assistant stores them."""
    home_rules: Mapping[str, JsonValue] = field(default_factory=dict)
    """Those of Chatterbox, as it stores them."""
    language: str = "en"


def write_configuration(folder: Path, configuration: Configuration) -> None:
    """Fill the empty `folder` with everything Home Assistant needs for a first start."""
    providers = (
        _SIGNED_IN_ON_LOOPBACK if configuration.sign_in is SignIn.AUTOMATIC else ""
    ) + _BY_NAME_AND_WORD
    text = _CONFIGURATION.format(
        time_zone=local_time_zone(),
        language=configuration.language,
        auth_providers=providers.rstrip(),
    )
    if configuration.entries:
        _write_storage(
            folder,
            "core.config_entries",
            version=1,
            minor_version=5,
            data={"entries": [*configuration.entries]},
        )
        _write_storage(
            folder,
            "chatterbox.home_rules",
            version=1,
            data={**configuration.home_rules},
        )
    (folder / "configuration.yaml").write_text(text, encoding="utf-8")
    _write_storage(
        folder,
        "http",
        version=2,
        minor_version=2,
        data={
            "stable": _http_settings(configuration.port),
            "pending": None,
            "yaml_migration_done": True,
        },
    )
    # Creating the owner is left to do, through the real onboarding; the other steps
    # would ask the internet.
    _write_storage(
        folder,
        "onboarding",
        version=4,
        data={"done": ["core_config", "analytics", "integration"]},
    )
    interfaces = [name for _, name in socket.if_nameindex()]
    if set(interfaces) <= _LOOPBACK_INTERFACES:
        # Told that there is no way out, Home Assistant does not fail in looking for
        # one.
        _write_storage(
            folder, "core.network", version=1, data={"configured_adapters": interfaces}
        )
    linked = folder / "custom_components"
    linked.mkdir()
    for component in configuration.custom_components:
        (linked / component.name).symlink_to(component, target_is_directory=True)


def local_time_zone() -> str:
    """Return the IANA name of this machine's time zone, UTC if it has none: the home tells its owner's time."""
    candidates = (
        os.environ.get("TZ", ""),
        str(Path("/etc/localtime").resolve()).partition("zoneinfo/")[2],
    )
    return next(
        (
            name
            for name in candidates
            if "/" in name and not name.startswith((":", "/"))
        ),
        "UTC",
    )


def _http_settings(port: int) -> dict[str, object]:
    """Return the `stable` HTTP settings: only processes of this machine can reach the demo."""
    return {
        "server_host": [LOOPBACK],
        "server_port": port,
        "cors_allowed_origins": [],
        "login_attempts_threshold": -1,
        "ip_ban_enabled": False,
        "ssl_profile": "modern",
        "use_x_frame_options": True,
        "created_at": "2026-01-01T00:00:00+00:00",
        "error": None,
        "error_message": None,
    }


def _write_storage(
    folder: Path,
    key: str,
    *,
    version: int,
    data: Mapping[str, object],
    minor_version: int = 1,
) -> None:
    """Write one store as `homeassistant.helpers.storage.Store` would have saved it."""
    storage = folder / ".storage"
    storage.mkdir(exist_ok=True)
    (storage / key).write_text(
        json.dumps(
            {
                "version": version,
                "minor_version": minor_version,
                "key": key,
                "data": data,
            }
        ),
        encoding="utf-8",
    )
