"""How the owner of an agent wants a model to answer, and who asks it, in words that no service owns.

Knows what can be set and what it means; how a service is told stands with each provider.
"""

from dataclasses import dataclass, field, replace
from typing import Final

from ..messages import JsonObject
from ..protocols import NO_WISHES, AnswerOptions, ReasoningEffort


@dataclass(frozen=True, slots=True)
class ModelOptions:
    """Wishes for the model's answers. What is None is not sent: the service's default holds."""

    temperature: float | None = None
    """0 for the likeliest words; the upper end is the service's (1 or 2)."""
    top_p: float | None = None
    """Above 0, up to 1."""
    max_tokens: int | None = None
    """Most tokens of one answer, reasoning included where the service counts so."""
    reasoning_effort: ReasoningEffort | None = None
    extra: JsonObject = field(default_factory=dict)
    """Laid over the request's top level at the very end, so that it has the last word; null takes a field away."""


DEFAULT_OPTIONS: Final = ModelOptions()


def with_answer_options(options: ModelOptions, wishes: AnswerOptions) -> ModelOptions:
    """Return the owner's options with the wishes for one turn over them. Of two lengths the shorter one holds."""
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
    """Return `payload` with the fields of `wishes`; an object that both have gets the fields of both."""
    merged = dict(payload)
    for name, wish in wishes.items():
        own = merged.get(name)
        merged[name] = {**own, **wish} if isinstance(own, dict) and isinstance(wish, dict) else wish
    return merged


def lay_over(payload: JsonObject, extra: JsonObject) -> JsonObject:
    """Return `payload` with the fields of `extra` in place of its own; null takes a field away."""
    return {name: value for name, value in {**payload, **extra}.items() if value is not None}
