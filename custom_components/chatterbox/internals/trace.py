"""The inside of `homeassistant.components.trace`: how scripts and automations ran."""

from collections.abc import Mapping
from typing import Final

from homeassistant.core import HomeAssistant

from .reliance import Reliance

_TRACES: Final = Reliance(
    "script_errors", "homeassistant.components.trace.const", ("DATA_TRACE",)
)


_MODELS: Final = Reliance(
    "script_errors",
    "homeassistant.components.trace.models",
    ("ActionTrace.as_extended_dict", "TraceBuckets.runs"),
)


def exception_of(trace: object) -> BaseException | None:
    """Return the exception that ended a run; None if there is none. Source: `models.ActionTrace.set_error`."""
    error: object = getattr(
        trace,
        "_error",
        None,
    )
    if isinstance(error, BaseException):
        return error
    return None


def traces_of(
    hass: HomeAssistant,
    key: str,
) -> list[object]:
    """Return the stored traces of a script's runs, the latest last. Source: `models.TraceBuckets`."""
    found = _TRACES.find(hass)
    if found is None:
        return []
    buckets: Mapping[str, object] = hass.data.get(found.DATA_TRACE, {})
    runs: object = getattr(buckets.get(key), "runs", None)
    if isinstance(runs, Mapping):
        return list(runs.values())
    return []
