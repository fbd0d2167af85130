"""Findings about a tool before it is called: whether it reads or changes something, and why."""

from collections.abc import Mapping
from enum import StrEnum
from typing import NamedTuple

from homeassistant.core import HomeAssistant
from homeassistant.helpers import llm

from ..effects.actions import bounded
from ..effects.intents import is_foreign_intent
from ..settings.rules import ToolSource
from .annotations import annotations_of, is_reading_by_name, unwrapped
from .dispatch import call_effects
from .llm_apis import context_without_speaker


class Finding(StrEnum):
    """A reason for a finding. The values are parts of translation keys."""

    READS = "reads"
    """It says so."""
    READS_BY_NAME = "reads_by_name"
    ACTS = "acts"
    """It changes entities that its arguments name, which are known when it is called."""
    CHANGES = "changes"
    """It says so."""
    CHANGES_BY_NAME = "changes_by_name"
    """It declares itself read-only."""
    STEPS = "steps"
    """The steps of a script are known."""
    REACHES = "reaches"
    """A script changes no other entities than these, as its steps or its owner say."""
    SILENT = "silent"
    """It says nothing of itself, and could do anything."""
    OPAQUE = "opaque"
    """A step of a script could do anything."""


class FoundTool(NamedTuple):
    """A tool, and what is known about it."""

    name: str
    finding: Finding
    entity_ids: tuple[str, ...] = ()
    """The entities that a script may change, sorted."""


def find_out(
    hass: HomeAssistant, tool: llm.Tool, sources: Mapping[str, ToolSource]
) -> FoundTool:
    """Return what is known about a tool. `sources` holds what the owner has said about scripts."""
    own = unwrapped(tool)
    name = own.title or own.name
    if annotations_of(tool).read_only:
        return FoundTool(
            name, Finding.READS_BY_NAME if is_reading_by_name(tool) else Finding.READS
        )
    if isinstance(own, llm.IntentTool):
        return FoundTool(
            name,
            Finding.SILENT
            if is_foreign_intent(hass, own.intent_type)
            else Finding.ACTS,
        )
    effects = bounded(
        hass, call_effects(hass, context_without_speaker(hass), tool, {}), sources
    )
    if effects.annotations and tool.annotations.read_only:
        return FoundTool(name, Finding.CHANGES_BY_NAME)
    if effects.annotations:
        silent = tool.annotations == llm.ToolAnnotations()
        return FoundTool(name, Finding.SILENT if silent else Finding.CHANGES)
    if not isinstance(own, llm.ActionTool):
        return FoundTool(name, Finding.ACTS)
    actions = effects.possible_actions
    if actions is None:
        return FoundTool(name, Finding.OPAQUE)
    if effects.is_known:
        finding = Finding.STEPS
    else:
        finding = Finding.REACHES
    changed = {action.entity_id for action in actions if action.domain != "script"}
    return FoundTool(
        name,
        finding,
        tuple(sorted(changed)),
    )


def is_web_search(tool: llm.Tool) -> bool:
    """Return whether a tool searches the web, going by its name and its description."""
    own = unwrapped(tool)
    words = f"{own.name} {own.description or ''}".casefold()
    return (
        annotations_of(tool).open_world
        and "search" in words
        and ("web" in words or "internet" in words)
    )
