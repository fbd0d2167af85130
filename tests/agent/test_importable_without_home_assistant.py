"""The agent package works in a plain Python: every module of it loads where Home Assistant cannot be imported.

It is loaded as the top-level package ``agent``, so an import that reaches up into the integration fails here as well,
and from a folder where nothing else is: a module of the integration may have the name of one of Python's own.
"""

import subprocess
import sys
from pathlib import Path

import custom_components

_INTEGRATION = Path(custom_components.__file__).parent / "chatterbox"

_LOAD_EVERYTHING = """
import importlib, pkgutil, sys

class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {"homeassistant", "voluptuous", "probatio", "custom_components"}:
            raise ImportError(f"{name} must not be imported here")

sys.meta_path.insert(0, Refuse())
sys.path.insert(0, sys.argv[1])
import agent
for module in pkgutil.walk_packages(agent.__path__, "agent."):
    importlib.import_module(module.name)
    print(module.name)
"""


def test_every_module_of_the_agent_loads_without_home_assistant(tmp_path: Path) -> None:
    (tmp_path / "agent").symlink_to(_INTEGRATION / "agent")
    loading = subprocess.run(
        [sys.executable, "-W", "error", "-c", _LOAD_EVERYTHING, str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )

    assert loading.returncode == 0, loading.stderr
    files = {path for path in (_INTEGRATION / "agent").rglob("*.py") if path.name != "__init__.py"}
    expected = {".".join(path.relative_to(_INTEGRATION).with_suffix("").parts) for path in files}
    assert expected <= set(loading.stdout.split())
