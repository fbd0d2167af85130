"""Packages that work in a plain Python: every module of them loads where Home Assistant cannot be imported.

The agent is loaded as the top-level package ``agent``, so an import that reaches up
into the integration fails here as well, and from a folder where nothing else is: a
module of the integration may have the name of one of Python's own. The others are
loaded below an empty ``chatterbox``.
"""

import subprocess
import sys
from pathlib import Path

import pytest

import custom_components

_INTEGRATION = Path(custom_components.__file__).parent / "chatterbox"
_BELOW = "chatterbox."
_PACKAGES = (
    "history.store",
    "responses.protocol",
    "speech.text",
    "approvals.answers",
    "approvals.pin",
)

_LOAD_EVERYTHING = """
import importlib, pkgutil, sys

class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {"homeassistant", "voluptuous", "probatio", "custom_components"}:
            raise ImportError(f"{name} must not be imported here")

sys.meta_path.insert(0, Refuse())
sys.path.insert(0, sys.argv[1])
for name in sys.argv[2:]:
    package = importlib.import_module(name)
    for module in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
        importlib.import_module(module.name)
        print(module.name)
"""


@pytest.mark.parametrize(
    "names", [("agent",), tuple(_BELOW + name for name in _PACKAGES)]
)
def test_every_module_of_a_package_loads_without_home_assistant(
    tmp_path: Path, names: tuple[str, ...]
) -> None:
    within = tmp_path / "chatterbox"
    within.mkdir()
    (within / "__init__.py").touch()
    for name in ("agent", "history", "responses", "speech", "approvals", "settings"):
        (within / name).symlink_to(_INTEGRATION / name)
    (tmp_path / "agent").symlink_to(_INTEGRATION / "agent")
    loading = subprocess.run(
        [sys.executable, "-W", "error", "-c", _LOAD_EVERYTHING, str(tmp_path), *names],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )

    assert loading.returncode == 0, loading.stderr
    modules = {
        ".".join(path.relative_to(_INTEGRATION).with_suffix("").parts)
        for name in names
        for path in _INTEGRATION.joinpath(*name.removeprefix(_BELOW).split(".")).rglob(
            "*.py"
        )
        if path.name != "__init__.py"
    }
    assert modules <= {loaded.removeprefix(_BELOW) for loaded in loading.stdout.split()}
