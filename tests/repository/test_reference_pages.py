"""The reference pages list the actions, events and sensors of the product.

`pytest tests/repository/test_reference_pages.py --write-pages` writes the data of actions.
"""

import json
import re
from pathlib import Path

import pytest
from homeassistant.util.yaml import load_yaml_dict

import custom_components.chatterbox
from custom_components.chatterbox.agent.wire.model_lists import (
    ChatModel,
    by_usefulness,
)
from tests.repository.test_public_names import FILE
from tests.repository.test_translations import texts_of
from tests.support.page_tables import DOCS, MEASURED

_PRODUCT = Path(custom_components.chatterbox.__file__).parent
_ACTIONS = load_yaml_dict(str(_PRODUCT / "services.yaml"))
_TEXTS = texts_of("en")
_NAMES = json.loads(FILE.read_text("utf-8"))
_PAGE = DOCS / "actions.md"
_DATA = re.compile(r"(?m)^Data:\n\n(?:- .*\n)+")


def _data_of(action: str) -> str:
    """Return the list of the fields of an action, without those of `purge` for `export`."""
    fields = _ACTIONS[action]["fields"]
    shared = _ACTIONS["purge"]["fields"] if action == "export" else {}
    items = [
        f"- `{name}`{' (needed)' if field.get('required') else ''}: "
        f"{_TEXTS[f'services.{action}.fields.{name}.description']}\n"
        for name, field in fields.items()
        if name not in shared
    ]
    return "".join(["Data:\n\n", *items])


def test_the_actions_and_their_fields_are_those_of_the_product(
    pytestconfig: pytest.Config,
) -> None:
    parts = re.split(r"(?m)^(?=## )", _PAGE.read_text("utf-8"))
    found: set[str] = set()
    for index, part in enumerate(parts):
        actions = re.findall(r"chatterbox\.(\w+)", part.partition("\n")[0])
        found |= {*actions}
        for action in actions:
            if pytestconfig.getoption("--write-pages"):
                written = _data_of(action)
                parts[index] = _DATA.sub(lambda _, new=written: new, part, count=1)
            else:
                assert _data_of(action) in part, "run it with --write-pages"
    if pytestconfig.getoption("--write-pages"):
        _PAGE.write_text("".join(parts), encoding="utf-8")
    assert found == {*_ACTIONS}


def test_each_event_has_its_part_with_all_of_its_data() -> None:
    parts = dict(
        re.findall(
            r"^## (.+)\n((?:(?!## ).*\n)*)",
            (DOCS / "events.md").read_text("utf-8"),
            re.MULTILINE,
        )
    )
    common = parts["Data of all events"]
    assert _NAMES["events"] != {}
    assert {
        f"{event}: {field}"
        for event, fields in _NAMES["events"].items()
        for field in fields
        if f"`{field.rpartition('.')[2]}`" not in parts[event] + common
    } == set()


def test_each_sensor_of_an_agent_is_on_the_page_about_costs() -> None:
    page = (DOCS / "costs.md").read_text("utf-8")
    sensors = {
        text
        for key, text in _TEXTS.items()
        if re.fullmatch(r"entity\.sensor\.\w+\.name", key)
    }
    assert len(sensors) > 10
    assert {name for name in sensors if name not in page} == {"Waiting questions"}


def test_the_models_that_setting_up_names_have_the_figures_of_the_pages_about_them() -> (
    None
):
    start, runs, costs = (
        page.read_text("utf-8")
        for page in (
            DOCS / "start.md",
            MEASURED / "recorded-runs.md",
            DOCS / "costs.md",
        )
    )
    named = re.findall(r"^\| (\S+) \| (\d+) \|$", start, re.MULTILINE)
    recorded = r"^\| ([^* ]+) \| 196 \| \d+ \| \d+ \| (\d+) \|"
    assert [*named] == re.findall(recorded, runs, re.MULTILINE)
    months = re.findall(r"`(.+)` \| ([\d.]+) USD \| [\d.]+ USD \|", costs)
    assert [model for model, _ in months if f"`{model}`" not in start] == []
    prices = sorted((price for _, price in months), key=float)
    assert f"costs {prices[0]} to {prices[-1]} USD in a home of 50 entities" in start
    models = [ChatModel(name) for name, _ in named + months]
    assert {*by_usefulness([*models, ChatModel("a-model")])[:-1]} == {*models}
