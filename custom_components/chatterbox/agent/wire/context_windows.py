"""The context window of a model, as servers report it: in their lists of models, or on a page of its own.

Sources: the documentation of vLLM and SGLang
(`max_model_len`), OpenRouter and Together (`context_length`), Groq (`context_window`), Mistral (`max_context_length`),
Anthropic (`max_input_tokens`), LM Studio's own interface (`loaded_context_length`) and llama.cpp (`meta.n_ctx` in its
list, and `/props`).
"""

from typing import Final

from pydantic import PositiveInt, TypeAdapter

from .parts import Lenient, WireModel, parse_as


class _Meta(WireModel):
    n_ctx: Lenient[PositiveInt] = None


class _TopProvider(WireModel):
    context_length: Lenient[PositiveInt] = None


class _Model(WireModel):
    id: Lenient[str] = None
    state: Lenient[str] = None
    meta: Lenient[_Meta] = None
    top_provider: Lenient[_TopProvider] = None
    loaded_context_length: Lenient[PositiveInt] = None
    max_model_len: Lenient[PositiveInt] = None
    context_length: Lenient[PositiveInt] = None
    context_window: Lenient[PositiveInt] = None
    max_context_length: Lenient[PositiveInt] = None
    max_input_tokens: Lenient[PositiveInt] = None

    @property
    def window(self) -> int | None:
        """The context length in use; the maximum only where no smaller one can be configured."""
        maximum = (
            None if self.state else self.max_context_length
        )  # LM Studio, which reports a state, may load it with less
        reported = (
            self.meta.n_ctx if self.meta else None,
            self.top_provider.context_length if self.top_provider else None,
            self.loaded_context_length,
            self.max_model_len,
            self.context_length,
            self.context_window,
            maximum,
            self.max_input_tokens,
        )
        return next((tokens for tokens in reported if tokens), None)


class _Settings(WireModel):
    n_ctx: Lenient[PositiveInt] = None


class _Page(_Model):
    data: Lenient[list[Lenient[_Model]]] = None
    default_generation_settings: Lenient[_Settings] = None


_PAGE: Final = TypeAdapter(_Page)


def parse_context_window(text: str, model: str) -> int | None:
    """Parse a page about one model, several, or a server that has one; None if it does not say.

    Raises `ProviderReplyInvalid`.
    """
    page = parse_as(_PAGE, text, "a page about its models")
    if page.data is not None:
        return next((each.window for each in page.data if each and each.id == model), None)
    if page.default_generation_settings is not None:
        return page.default_generation_settings.n_ctx
    return page.window
