"""What went wrong with a task → an error that whoever runs the automation can read, in their language.

Knows the ends of turns and the error tree. Must not know how a task is run, and holds no sentence: the keys are those
of `exceptions` in `translations/<lang>.json`.
"""

from typing import Final

from homeassistant.exceptions import HomeAssistantError

from .agent.errors import ProviderError
from .agent.events import StopReason, TurnFinished
from .const import DOMAIN
from .error_bridge import error_key

_WITH_AN_ANSWER: Final = frozenset({StopReason.COMPLETED, StopReason.UNKNOWN_FINISH})


def task_error(key: str, **placeholders: str) -> HomeAssistantError:
    """Return the error of a translation key."""
    return HomeAssistantError(
        translation_domain=DOMAIN, translation_key=key, translation_placeholders=placeholders or None
    )


def service_error(error: ProviderError, service: str) -> HomeAssistantError:
    """Return what a service has said, as it is told everywhere else."""
    return task_error(error_key(error), service=service)


def error_of_end(finished: TurnFinished | None, task: str, service: str) -> HomeAssistantError | None:
    """Return why a turn ended, if it did, without what the task wants; None when it is there.

    What was done before is part of it: an automation that goes on should not do that again.
    """
    match finished:
        case TurnFinished(stop_reason=StopReason.OUTPUT_UNFIT, misfit=misfit):
            return task_error("task_output_unfit", task=task, problem=misfit)
        case TurnFinished(error=ProviderError() as error, receipts=()):
            return service_error(error, service)
        case TurnFinished(stop_reason=reason, composed=False) if reason in _WITH_AN_ANSWER:
            return None
        case TurnFinished(stop_reason=reason, receipts=(_, *_)) if reason in _WITH_AN_ANSWER:
            return None
        case _:
            return task_error("task_not_done", task=task, why=finished.text if finished else "")
