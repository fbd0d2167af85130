"""The picture of the layers shows the import contracts as they are, and few files know a capability."""

import runpy
from pathlib import Path
from typing import Final

from tests.repository.test_size import imported, modules

REPOSITORY = Path(__file__).parents[2]
KNOWN_TO: Final = {
    "evaluate": {"__init__.py"},
    "panel": {"__init__.py", "evaluate/commands.py"},
    "calendars": {"__init__.py"},
    "later": {"__init__.py", "panel/now.py", "todo.py"},
    "memory": {"__init__.py", "actions/history.py", "todo.py"},
    "offline": {
        *(
            "approvals/request_check.py",
            "calendars/__init__.py",
            "calendars/sentences.py",
            "later/__init__.py",
            "later/broadcast.py",
            "later/sentences.py",
            "memory/__init__.py",
            "memory/sentences.py",
        ),
        *(
            "runtime/agents.py",
            "runtime/composition.py",
            "tools/own/guest_mode.py",
            "tools/turn_tools.py",
            "turns/run.py",
        ),
    },
    "responses": {"__init__.py"},
    "usage": {
        *(
            "__init__.py",
            "evaluate/trials.py",
            "flows/model_flow.py",
            "flows/service_checks.py",
            "panel/now.py",
            "panel/turn_view.py",
        ),
        *("runtime/composition.py", "sensor.py"),
    },
}
"""The files that change if a capability is deleted: those outside of its package that import from it."""


def test_the_picture_is_drawn_from_the_contracts() -> None:
    script = runpy.run_path(str(REPOSITORY / "script" / "architecture_picture.py"))
    assert script["PICTURE"].read_text() == script["draw"](), "run script/architecture"


def test_a_capability_is_known_to_few_files() -> None:
    known_to: dict[str, set[str]] = {capability: set() for capability in KNOWN_TO}
    for module, tree in modules().items():
        for other in imported(module, tree):
            if (capability := other.parts[0]) in known_to and module.parts[
                0
            ] != capability:
                known_to[capability].add(str(module))
    assert known_to == KNOWN_TO
