"""Sets up an integration as a person does in the UI: through the dialogs of its config flow.

Knows the interface behind those dialogs
(`homeassistant/components/config/config_entries.py`, "Data entry flow" of the REST
API); must not know any integration.
"""

from collections.abc import Mapping
from typing import Literal

from pydantic import BaseModel, JsonValue

from demo.errors import DemoError
from demo.web_api import HomeAssistantClient

_FLOWS = "/api/config/config_entries/flow"


class CreatedEntry(BaseModel):
    """The config entry that a flow made."""

    entry_id: str
    state: str = "loaded"
    reason: str | None = None


class _Option(BaseModel):
    value: str


class _Select(BaseModel):
    options: tuple[str | _Option, ...]


class _Selector(BaseModel):
    select: _Select | None = None


class Field(BaseModel):
    """One field of a form; of the many things that describe it, only its name and what its list offers."""

    name: str
    selector: _Selector | None = None


class Step(BaseModel):
    """The state of a flow: a form, a menu, or its end."""

    type: Literal["form", "menu", "create_entry", "abort", "progress", "external"]
    flow_id: str
    step_id: str | None = None
    errors: dict[str, str] | None = None
    description_placeholders: dict[str, JsonValue] | None = None
    data_schema: tuple[Field, ...] | None = None
    reason: str | None = None
    result: CreatedEntry | None = None


class _Translations(BaseModel):
    resources: dict[str, str]


async def open_flow(client: HomeAssistantClient, integration: str) -> Step:
    """Open the dialog that adds `integration`."""
    return await client.post(_FLOWS, {"handler": integration}, Step)


async def answer(
    client: HomeAssistantClient, step: Step, fields: Mapping[str, JsonValue]
) -> Step:
    """Fill in the form that `step` shows and send it."""
    return await client.post(f"{_FLOWS}/{step.flow_id}", fields, Step)


async def choose(client: HomeAssistantClient, step: Step, option: str) -> Step:
    """Choose `option` from the menu that `step` shows."""
    return await client.post(f"{_FLOWS}/{step.flow_id}", {"next_step_id": option}, Step)


def offered_values(step: Step, field: str) -> list[str]:
    """Return what the list of `field` offers in the form that `step` shows."""
    for form in step.data_schema or ():
        if (
            form.name == field
            and form.selector is not None
            and form.selector.select is not None
        ):
            return [
                option if isinstance(option, str) else option.value
                for option in form.selector.select.options
            ]
    return []


async def entry_of(
    client: HomeAssistantClient,
    integration: str,
    step: Step,
    words: Mapping[str, str] | None = None,
) -> CreatedEntry:
    """Return the entry that the flow ended with.

    Raises `DemoError` when it shows an error or gave up: with its own words, or with
    those of `words`, by the key of the error, where its own speak of a dialog.
    """
    if step.result is not None:
        return step.result
    problems = [f"error.{key}" for key in (step.errors or {}).values()]
    if step.reason is not None:
        problems.append(f"abort.{step.reason}")
    own, placeholders = words or {}, step.description_placeholders or {}
    spoken_text = [
        own.get(key) or await _in_english(client, integration, key, placeholders)
        for key in problems
    ]
    raise DemoError(
        " ".join(spoken_text)
        or f"Setting up {integration} stopped at its step {step.step_id!r}."
    )


async def _in_english(
    client: HomeAssistantClient,
    integration: str,
    key: str,
    placeholders: Mapping[str, JsonValue],
) -> str:
    """Return the sentence that the UI would show."""
    translations = await client.command(
        "frontend/get_translations",
        _Translations,
        language="en",
        category="config",
        integration=[integration],
    )
    sentence = translations.resources.get(f"component.{integration}.config.{key}", key)
    for name, value in placeholders.items():
        sentence = sentence.replace(f"{{{name}}}", str(value))
    return sentence
