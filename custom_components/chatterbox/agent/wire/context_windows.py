"""How servers tell what a model can read at once: in their lists of models, or on a page of their own.

Knows the JSON of such pages; must not know where they are. Sources: the documentation of vLLM and SGLang
(`max_model_len`), OpenRouter and Together (`context_length`), Groq (`context_window`), Mistral (`max_context_length`),
Anthropic (`max_input_tokens`), LM Studio's own interface (`loaded_context_length`) and llama.cpp (`meta.n_ctx` in its
list, and `/props`).
"""

from typing import Final

from pydantic import PositiveInt, TypeAdapter

from .received import Lenient, Received, parse_received


class _Meta(Received):
    n_ctx: Lenient[PositiveInt] = None


class _TopProvider(Received):
    context_length: Lenient[PositiveInt] = None


class _Model(Received):
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
        """The tokens that it reads now; what it could read at most only where nobody can set less."""
        could = None if self.state else self.max_context_length  # LM Studio, which has a state, may load it with less
        told = (
            self.meta.n_ctx if self.meta else None,
            self.top_provider.context_length if self.top_provider else None,
            self.loaded_context_length,
            self.max_model_len,
            self.context_length,
            self.context_window,
            could,
            self.max_input_tokens,
        )
        return next((tokens for tokens in told if tokens), None)


class _Settings(Received):
    n_ctx: Lenient[PositiveInt] = None


class _Page(_Model):
    data: Lenient[list[Lenient[_Model]]] = None
    default_generation_settings: Lenient[_Settings] = None


_PAGE: Final = TypeAdapter(_Page)


def parse_context_window(text: str, model: str) -> int | None:
    """Read a page about one model, about several, or about a server that has one; None where it does not say.

    Raises `ProviderReplyInvalid` for anything but an object.
    """
    page = parse_received(_PAGE, text, "a page about its models")
    if page.data is not None:
        return next((each.window for each in page.data if each and each.id == model), None)
    if page.default_generation_settings is not None:
        return page.default_generation_settings.n_ctx
    return page.window
