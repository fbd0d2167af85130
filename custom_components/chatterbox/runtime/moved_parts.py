"""Finds out at start what Home Assistant has moved, and tells the owner which abilities are off for it."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, Final

from homeassistant.core import HomeAssistant

from ..const import LOGGER
from ..internals import (
    assist_pipeline,
    calendar,
    conversation,
    frontend,
    homeassistant,
    http,
    intent,
    llm,
    mobile_app,
    recorder,
    script,
    todo,
    trace,
)
from ..internals.reliance import Ability, Reliance
from ..repairs import async_report_moved_parts
from ..speech.sentences import async_get_sentences

_COMPONENTS: Final = (
    assist_pipeline,
    calendar,
    conversation,
    frontend,
    homeassistant,
    http,
    intent,
    llm,
    mobile_app,
    recorder,
    script,
    todo,
    trace,
)
RELIANCES: Final[Sequence[Reliance[Any]]] = (
    *(
        one
        for component in _COMPONENTS
        for one in vars(component).values()
        if isinstance(one, Reliance)
    ),
    *intent.CLASSES,
    *llm.TOOLS,
    *script.ENTITIES,
)
"""All that Chatterbox relies on inside Home Assistant."""


async def async_find_moved(hass: HomeAssistant) -> Mapping[Ability, Sequence[str]]:
    """Return the abilities that are off, each with the names that are missing."""
    moved: dict[Ability, list[str]] = defaultdict(list)
    for reliance in RELIANCES:
        names = await reliance.async_missing(hass)
        if names:
            moved[reliance.ability] += [f"{reliance.module}: {name}" for name in names]
    return moved


async def async_report_moved(hass: HomeAssistant) -> None:
    """Report what is off, if anything is. Call it once all components of the home are loaded."""
    moved = await async_find_moved(hass)
    if moved:
        names = ", ".join(name for found in moved.values() for name in found)
        abilities = ", ".join(moved)
        LOGGER.warning(
            "Update Chatterbox: this Home Assistant does not have %s, so this is off: %s",
            names,
            abilities,
        )
        sentences = await async_get_sentences(hass)
        async_report_moved_parts(
            hass, [sentences[f"ability_{ability}"] for ability in moved]
        )
