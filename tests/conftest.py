"""What every test with a real `hass` needs: our integrations can be found, and nothing else is pretended.

Both folders of custom integrations are one package, `custom_components`: the released one and that of the demo.
"""

from pathlib import Path

import pytest

import custom_components

REPOSITORY = Path(__file__).resolve().parent.parent

custom_components.__path__.append(str(REPOSITORY / "demo" / "config" / "custom_components"))


@pytest.fixture(autouse=True)
def _find_custom_integrations(request: pytest.FixtureRequest) -> None:
    """Let a test that starts Home Assistant find the custom integrations; leave the others alone."""
    if "hass" in request.fixturenames:
        request.getfixturevalue("enable_custom_integrations")


@pytest.fixture
def hass_config_dir(tmp_path: Path) -> str:
    """Give every test a configuration folder of its own."""
    return str(tmp_path)
