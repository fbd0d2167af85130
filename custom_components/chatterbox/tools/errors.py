"""What went wrong in one of Home Assistant's tools → a short text from which a model can do better.

Knows Home Assistant's errors and registries. Must not know how a tool is called, and never passes on or logs the
message of an error that nobody foresaw: it may quote what a person said.
"""

import asyncio
import difflib
import traceback
from collections.abc import Iterable
from itertools import islice
from typing import Final

import voluptuous as vol
from homeassistant.core import HomeAssistant, callback
from homeassistant.exceptions import HomeAssistantError
from homeassistant.helpers import area_registry as ar, floor_registry as fr, intent

from ..const import LOGGER
from ..home.exposed_entities import exposed_names

_MAX_NAMES: Final = 20
_MAX_GUESSES: Final = 3
_SIMILAR: Final = 0.5


@callback
def explain_failure(hass: HomeAssistant, assistant: str, tool: str, error: Exception | asyncio.CancelledError) -> str:
    """Say in a sentence or two why a call failed, and what was expected where that is known.

    `assistant` is whose exposed entities may be named. An error that nobody foresaw is logged with its traceback.
    """
    match error:
        case vol.Invalid():
            return _explain_invalid(error)
        case intent.InvalidSlotInfo(__cause__=vol.Invalid() as cause):
            return _explain_invalid(cause)
        case intent.MatchFailedError():
            return _explain_no_match(hass, assistant, error)
        case TimeoutError():
            return "The tool took too long and was stopped."
        case intent.IntentUnexpectedError() | HomeAssistantError():
            return str(error) or f"The tool failed: {type(error).__name__}."
        case asyncio.CancelledError():
            return "The tool was interrupted before it was done."
        case _:
            LOGGER.error("The tool %s failed unexpectedly:\n%s", tool, _traceback_without_messages(error))
            return f"The tool failed unexpectedly ({type(error).__name__}). Trying the same again will not help."


def _explain_invalid(error: vol.Invalid) -> str:
    errors = error.errors if isinstance(error, vol.MultipleInvalid) else [error]
    problems = [f"{_argument(problem)}{problem.error_message or problem.msg}" for problem in errors]
    return f"The arguments do not fit: {'; '.join(problems)}."


def _argument(error: vol.Invalid) -> str:
    """Name the argument that an error is about; an intent wraps each one in a `value`."""
    path = [str(step) for step in error.path if str(step) != "value"]
    return f"{'.'.join(path)}: " if path else ""


def _explain_no_match(hass: HomeAssistant, assistant: str, error: intent.MatchFailedError) -> str:
    """Tell what was not found, and which names there are instead."""
    constraints = error.constraints
    match error.result.no_match_reason:
        case intent.MatchFailedReason.INVALID_AREA:
            hint = _listed("The areas are", sorted(area.name for area in ar.async_get(hass).async_list_areas()))
        case intent.MatchFailedReason.INVALID_FLOOR:
            hint = _listed("The floors are", sorted(floor.name for floor in fr.async_get(hass).async_list_floors()))
        case intent.MatchFailedReason.DUPLICATE_NAME:
            hint = "Give the area too."
        case _ if constraints.name:
            names = {name.casefold(): name for name in exposed_names(hass, assistant, constraints.domains)}
            similar = difflib.get_close_matches(constraints.name.casefold(), names, _MAX_GUESSES, _SIMILAR)
            hint = _listed("Similar names are", (names[name] for name in similar))
        case _:
            hint = ""
    return f"{error}. {hint}".rstrip()


def _listed(introduction: str, names: Iterable[str]) -> str:
    shown = list(islice(names, _MAX_NAMES))
    return f"{introduction}: {', '.join(shown)}." if shown else ""


def _traceback_without_messages(error: BaseException) -> str:
    """Write where an error came from, without its message, which may quote arguments."""
    links: list[str] = []
    link: BaseException | None = error
    while link is not None:
        links.append("".join(traceback.format_tb(link.__traceback__)) + type(link).__qualname__)
        link = link.__cause__
    return "\ncaused by:\n".join(links)
