"""The inside of `homeassistant.components.assist_pipeline`, whose pipelines are the assistants of a home."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Final

from homeassistant.core import HomeAssistant

from ..agent.messages import JsonObject
from ..const import LOGGER
from .reliance import Reliance

if TYPE_CHECKING:  # it needs packages of its own
    from homeassistant.components.assist_pipeline.models import Pipeline
    from homeassistant.components.assist_pipeline.pipeline import (
        PipelineData,
        PipelineStorageCollection,
    )

ASSIST_PIPELINE: Final = "assist_pipeline"
_RUNTIME: Final = "homeassistant.components.assist_pipeline.runtime"


def _data(hass: HomeAssistant) -> object:
    return hass.data.get(
        ASSIST_PIPELINE, object() if ASSIST_PIPELINE in hass.config.components else None
    )


_STORE: Final[Reliance[PipelineData]] = Reliance(
    "assistants", _RUNTIME, ("pipeline_store",), _data
)
_DEBUG: Final[Reliance[PipelineData]] = Reliance(
    "pins", _RUNTIME, ("pipeline_debug",), _data
)


def assistants(hass: HomeAssistant) -> PipelineStorageCollection | None:
    """Return the assistants; None if the home has none. Source: `runtime.PipelineData`."""
    found = _STORE.find(hass)
    return found.pipeline_store if found else None


def settings_of_assistant(pipeline: Pipeline) -> JsonObject:
    """Return the settings of an assistant, as they are changed."""
    return {key: value for key, value in pipeline.to_json().items() if key != "id"}


def debug_runs(hass: HomeAssistant) -> Iterable[Mapping[str, dict[str, object]]]:
    """Return the data of the last event of each type of each debug run. Source: `runtime.PipelineRunDebug`."""
    found = _DEBUG.find(hass)
    try:
        pipelines = found.pipeline_debug.values() if found else ()
        return [
            {event.type: event.data for event in run.events if event.data}
            for runs in pipelines
            for run in runs.values()
        ]
    except AttributeError, TypeError:
        LOGGER.warning(
            "A PIN may be in the debug runs of voice pipelines, which could not be redacted"
        )
        return ()


def may_speak(hass: HomeAssistant, conversation_id: str) -> bool:
    """Return whether a pipeline speaks, or has spoken, the answers of a conversation. Source: `PipelineRun.start`."""
    starts = (run.get("run-start", {}) for run in debug_runs(hass))
    return any(
        start.get("conversation_id") == conversation_id and "tts_output" in start
        for start in starts
    )
