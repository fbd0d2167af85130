"""Model options that are independent of a service; each provider translates them."""

from dataclasses import dataclass, field, replace
from typing import Final

from ..messages import JsonObject
from ..protocols import NO_WISHES, AnswerOptions, ReasoningEffort


@dataclass(frozen=True, slots=True)
class ModelOptions:
    """Options of a model. None is not sent: the service's default applies."""

    temperature: float | None = None
    """From 0; the maximum depends on the service (1 or 2)."""
    top_p: float | None = None
    """Above 0, up to 1."""
    max_tokens: int | None = None
    """Limit of one answer, including reasoning if the service counts it."""
    reasoning_effort: ReasoningEffort | None = None
    extra: JsonObject = field(default_factory=dict)
    """Replaces top-level fields of the request at the very end; null removes a field."""


DEFAULT_OPTIONS: Final = ModelOptions()


def with_answer_options(options: ModelOptions, wishes: AnswerOptions) -> ModelOptions:
    """Return the options of the owner with those of one turn; of two limits, the lower one applies."""
    if wishes == NO_WISHES:
        return options
    lengths = [length for length in (options.max_tokens, wishes.max_output_tokens) if length is not None]
    return replace(
        options,
        temperature=options.temperature if wishes.temperature is None else wishes.temperature,
        top_p=options.top_p if wishes.top_p is None else wishes.top_p,
        max_tokens=min(lengths, default=None),
        reasoning_effort=wishes.reasoning_effort or options.reasoning_effort,
    )


def with_wishes(payload: JsonObject, wishes: JsonObject) -> JsonObject:
    """Return `payload` with the fields of `wishes`; objects in both are merged."""
    merged = dict(payload)
    for name, wish in wishes.items():
        own = merged.get(name)
        merged[name] = {**own, **wish} if isinstance(own, dict) and isinstance(wish, dict) else wish
    return merged


def lay_over(payload: JsonObject, extra: JsonObject) -> JsonObject:
    """Return `payload` with the fields of `extra` replacing its own; null removes a field."""
    return {name: value for name, value in {**payload, **extra}.items() if value is not None}
