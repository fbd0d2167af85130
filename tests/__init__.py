"""The tests. Both folders of custom integrations are one package here: the released one and that of the demo."""

from pathlib import Path

import custom_components

REPOSITORY = Path(__file__).resolve().parent.parent

custom_components.__path__.append(
    str(REPOSITORY / "demo" / "config" / "custom_components")
)
