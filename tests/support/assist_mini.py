"""The ten homes of the `assist-mini` fixtures, the tasks in them, and which changes of states a task is right with.

Knows the files' format and what a state looks like; must not know how a home is built
or who acts in it.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import yaml
from homeassistant.core import State
from pydantic import BaseModel, ConfigDict, JsonValue
from slugify import slugify

HOMES = Path(__file__).parents[1] / "fixtures" / "homes" / "assist-mini"

_FOLLOWS_FROM_STATE = {"is_closed", "is_closing", "is_opening"}
"""Attributes of covers and valves that no task names, since their state and position say the same."""

type Snapshot = Mapping[str, Mapping[str, object]]
"""Every entity's attributes, and its state under `state`, by entity id."""


class Change(BaseModel):
    """A state, or a part of one."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    state: JsonValue = None
    attributes: dict[str, JsonValue] = {}

    def as_attributes(self) -> dict[str, JsonValue]:
        """Return what is named, the state among the attributes."""
        return (
            self.attributes
            if self.state is None
            else {"state": self.state, **self.attributes}
        )


class Task(BaseModel):
    """A sentence in a home that is in some state, and the outcome that it has to have."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    sentences: tuple[str, ...]
    setup: dict[str, Change] = {}
    expect_changes: dict[str, Change]
    ignore_changes: dict[str, tuple[str, ...]] = {}

    def initial_states(self) -> dict[str, JsonValue]:
        """Return the states to begin with, as a demo house takes them."""
        return {
            entity_id: change.model_dump() for entity_id, change in self.setup.items()
        }

    def wrong_states(self, before: Snapshot, after: Snapshot) -> dict[str, set[str]]:
        """Return which attributes (and `state`) are not as they have to be, by entity id; nothing for a success.

        Everything that no expected change names has to be as it was before.
        """
        wrong: dict[str, set[str]] = {}
        for entity_id in before.keys() | after.keys():
            change = self.expect_changes.get(entity_id, Change())
            wanted = {**before.get(entity_id, {}), **change.as_attributes()}
            ignored = {*self.ignore_changes.get(entity_id, ()), *_FOLLOWS_FROM_STATE}
            if different := _different(wanted, after.get(entity_id, {})) - ignored:
                wrong[entity_id] = different
        return wrong


class _TaskFile(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    category: str
    tests: tuple[Task, ...]


@dataclass(frozen=True, slots=True)
class Home:
    """One home and its tasks."""

    name: str
    description: str
    """The text of its home file."""
    tasks: tuple[Task, ...]


def read_homes() -> tuple[Home, ...]:
    """Read the homes, in the order of their names."""
    return tuple(
        _read_home(folder) for folder in sorted(HOMES.iterdir()) if folder.is_dir()
    )


def tasks_by_id(homes: Iterable[Home]) -> dict[str, tuple[Home, Task]]:
    """Return home and task by the id that recorded runs give a sentence.

    Where a home has one sentence in two tasks, only the last one has kept its record.
    """
    return {
        f"{_task_file_id(home.name)}-{slugify(sentence, separator='_')}": (home, task)
        for home in homes
        for task in home.tasks
        for sentence in task.sentences
    }


def snapshot(states: Iterable[State]) -> Snapshot:
    """Return what there is to compare of `states`."""
    return {
        state.entity_id: {**state.attributes, "state": state.state} for state in states
    }


def _read_home(folder: Path) -> Home:
    task_file = _TaskFile.model_validate(
        yaml.load(_task_path(folder).read_text(encoding="utf-8"), yaml.CSafeLoader)
    )
    return Home(
        folder.name,
        (folder / "_fixtures.yaml").read_text(encoding="utf-8"),
        task_file.tests,
    )


def _task_path(folder: Path) -> Path:
    (path,) = (path for path in folder.glob("*.yaml") if path.name != "_fixtures.yaml")
    return path


def _task_file_id(home_name: str) -> str:
    path = _task_path(HOMES / home_name)
    return slugify(f"{home_name} {path.stem}", separator="_")


def _different(wanted: Mapping[str, object], found: Mapping[str, object]) -> set[str]:
    """Return the keys whose values differ, read as a person would: 1 and `1` are the same, so are none and nothing."""
    return {
        key
        for key in wanted.keys() | found.keys()
        if str(wanted.get(key)) != str(found.get(key))
    }
