"""The cost of the start: the import of an agent's code, and its set-up in a Home Assistant that has just started.

Each time in a process of its own, because an import happens once. Must not know what an
agent is for.
"""

import importlib
import time
from pathlib import Path
from typing import Final

from bench.side_by_side.agents import lead_to, participants, set_up
from bench.side_by_side.cost import Samples
from bench.side_by_side.home import started_home
from bench.side_by_side.results import Figure
from bench.side_by_side.server_client import model_server
from bench.side_by_side.setting import resident_bytes
from bench.side_by_side.targets import OURS

_MIB: Final = 1024 * 1024


def measure_import(name: str) -> list[Figure]:
    """Import an agent's code, with Home Assistant and what every agent needs of it there already."""
    for needed in (
        "bootstrap",
        "components.assist_pipeline",
        "components.conversation",
        "components.http",
    ):
        importlib.import_module(f"homeassistant.{needed}")
    package = (
        f"custom_components.{OURS}"
        if name == OURS
        else f"homeassistant.components.{name}"
    )
    memory, began = resident_bytes(), time.perf_counter()
    for module in ("", ".config_flow", ".conversation"):
        importlib.import_module(f"{package}{module}")
    samples = Samples("start")
    samples.add(name, "import_s", time.perf_counter() - began)
    samples.add(name, "import_mib", (resident_bytes() - memory) / _MIB)
    return list(samples.figures(0))


async def measure_set_up(folder: Path, name: str, entities: int) -> list[Figure]:
    """Set one agent up in a home where nothing like it was set up before."""
    samples = Samples("start")
    async with model_server() as server, started_home(folder, entities) as hass:
        lead_to(hass, server)
        participant = next(one for one in participants(server) if one.name == name)
        began = time.perf_counter()
        await set_up(hass, participant)
        samples.add(name, "setup_s", time.perf_counter() - began)
    return list(samples.figures(0))
