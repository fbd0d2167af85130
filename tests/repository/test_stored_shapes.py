"""Each stored file has a version, which rises with each change that an earlier version would misread.

If a shape changes, raise the version of its file and record the new shape. Only for a
change that every earlier version reads as it is meant, such as one more name of a
model, record it under the same version.
"""

import hashlib
import json
import re
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any, Final

import pytest
from pydantic import TypeAdapter

from custom_components.chatterbox import const
from custom_components.chatterbox.approvals.pin.pin_guard import Tries
from custom_components.chatterbox.evaluate.grading import Grade, TrialRequest
from custom_components.chatterbox.history.store import schema
from custom_components.chatterbox.history.store.records import (
    AuditRecord,
    ResponseRecord,
    StoredTurn,
    TurnOrigin,
)
from custom_components.chatterbox.later import plans
from custom_components.chatterbox.memory import facts
from custom_components.chatterbox.runtime import earlier_agents
from custom_components.chatterbox.settings import rules
from custom_components.chatterbox.settings.agent import AgentSettings
from custom_components.chatterbox.settings.options import options_of
from custom_components.chatterbox.settings.pin_hash import PinHash
from custom_components.chatterbox.usage.tracker import UsageTotals

RECORDED: Final = Path(__file__).with_name("stored_shapes.json")
VERSION: Final = 1
"""Of files that give none; see `StoredFile`."""


def adapted(*adapters: TypeAdapter[Any]) -> object:
    """Return the JSON schemas of what is read, without their prose."""
    return [_bare(adapter.json_schema()) for adapter in adapters]


def _bare(part: object) -> object:
    match part:
        case dict():
            return {
                key: _bare(value)
                for key, value in part.items()
                if key not in {"description", "title"}
            }
        case list():
            return [*map(_bare, part)]
        case _:
            return part


def named(*classes: type) -> object:
    """Return the fields of dataclasses, with their types."""
    return [
        [
            (field.name, re.sub(" at 0x[0-9a-f]+", "", str(field.type)))
            for field in fields(one)
        ]
        for one in classes
    ]


def constants(*prefixes: str) -> list[str]:
    """Return the values of the constants of the integration whose names begin so."""
    return sorted(
        value for name, value in vars(const).items() if name.startswith(prefixes)
    )


def options() -> set[str]:
    """Return the names of the options of agents and AI tasks."""
    groups = [
        options_of(kind, one)
        for kind in const.ServiceKind
        for one in (const.SUBENTRY_CONVERSATION, const.SUBENTRY_AI_TASK)
    ]
    return {name for group in groups for names in group.values() for name in names}


SHAPES: Final[dict[str, tuple[int, Callable[[], object]]]] = {
    "entries": (
        const.ENTRY_VERSION,
        lambda: [
            sorted({*constants("CONF_", "SUBENTRY_"), *options()}),
            sorted(const.ServiceKind),
            adapted(TypeAdapter(AgentSettings)),
        ],
    ),
    "home_rules": (
        VERSION,
        lambda: [
            sorted(rules.HOME_RULE_KEYS),
            named(rules.Rule, rules.ToolSource, PinHash),
        ],
    ),
    "later": (plans.VERSION, lambda: adapted(TypeAdapter(plans.Stored))),
    "memories": (facts.VERSION, lambda: named(facts.Fact, facts.Keeper)),
    "usage": (VERSION, lambda: adapted(TypeAdapter(UsageTotals))),
    "pin_tries": (VERSION, lambda: named(Tries)),
    "assistants": (VERSION, lambda: named(earlier_agents.Takeover)),
    "evaluations": (
        VERSION,
        lambda: [sorted(Grade), named(TrialRequest)],
    ),
    "history": (
        schema.VERSION,
        lambda: [
            named(StoredTurn, AuditRecord, ResponseRecord, TurnOrigin),
            [
                [str(column) + str(column.type) for column in table.columns]
                for table in schema.metadata.sorted_tables
            ],
        ],
    ),
}


def hash_of(shape: object) -> str:
    return hashlib.sha256(
        json.dumps(shape, sort_keys=True, default=str).encode()
    ).hexdigest()[:16]


@pytest.mark.parametrize("name", SHAPES)
def test_a_shape_changes_with_its_version(name: str) -> None:
    version, shape = SHAPES[name]
    recorded = json.loads(RECORDED.read_text(encoding="utf-8"))

    assert recorded[name] == {str(version): hash_of(shape())}, (
        f"see the first lines of {Path(__file__).name}"
    )


def test_every_stored_file_is_among_them() -> None:
    product = Path(const.__file__).parent
    stored = {
        name
        for path in product.rglob("*.py")
        for name in re.findall(
            r'StoredFile\(\s*hass,\s*"(\w+)"', path.read_text("utf-8")
        )
    }
    assert stored == SHAPES.keys() - {"entries", "history"}
