"""Pages of services about their models: which can be talked to, and their context windows."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated, Final

from pydantic import BeforeValidator, JsonValue as AnyJson, PositiveInt, TypeAdapter

from ..messages import JsonObject, JsonValue
from .reply_reader import Lenient, WireModel, at, parse_as

_WINDOW_FIELDS: Final = (
    ("meta", "n_ctx"),
    ("top_provider", "context_length"),
    ("loaded_context_length",),
    ("max_model_len",),
    ("context_length",),
    ("context_window",),
    ("max_context_length",),
    ("max_input_tokens",),
)
_BARE_LIST: Final = BeforeValidator(
    lambda sent: {"data": sent} if sent and isinstance(sent, list) else sent
)
"""Together sends the list without an object around it; an empty one may be anything."""
_PAGE: Final[TypeAdapter[JsonObject]] = TypeAdapter(Annotated[JsonObject, _BARE_LIST])
_TOKENS: Final[TypeAdapter[int | None]] = TypeAdapter(Lenient[PositiveInt])


def parse_context_window(
    text: str,
    model: str,
) -> int | None:
    """Return the context window that a page tells, about one model, several, or a server; None if it does not say.

    Raises `ProviderReplyInvalid`. Sources: the documentation of vLLM and SGLang
    (`max_model_len`), OpenRouter and Together (`context_length`), Groq
    (`context_window`), Mistral (`max_context_length`), Anthropic (`max_input_tokens`),
    LM Studio's own interface (`loaded_context_length`) and llama.cpp (`meta.n_ctx` in
    its list, and `/props`).
    """
    match parse_as(_PAGE, text, "a page about its models"):
        case {"data": list(listed)}:
            models = [
                each
                for each in listed
                if isinstance(each, dict) and each.get("id") == model
            ]
            if models:
                return _window(models[0])
            return None
        case {"default_generation_settings": {"n_ctx": tokens}}:
            return _TOKENS.validate_python(tokens)
        case page:
            return _window(page)


def _window(model: JsonObject) -> int | None:
    """Return the context length in use; the maximum only where no smaller one can be configured."""
    for path in _WINDOW_FIELDS:
        if path == ("max_context_length",) and model.get(
            "state"
        ):  # LM Studio may load the model with less
            continue
        value: JsonValue = model
        for name in path:
            if isinstance(value, dict):
                value = value.get(name)
            else:
                value = None
        tokens = _TOKENS.validate_python(value)
        if tokens is not None:
            return tokens
    return None


_NOT_FOR_CHAT: Final = re.compile(
    r"embed|whisper|tts|speech|transcri|audio|realtime|dall-e|image|imagen|diffusion|flux|sora|veo-|moderation|rerank"
    r"|(^|[/-])(bge|e5|gte|minilm|clip|aqa)-",
    re.IGNORECASE,
)
"""In names of models that make or read something else than text."""


@dataclass(frozen=True, slots=True)
class ChatModel:
    """A model that one can talk to."""

    name: str
    uses_tools: bool | None = None
    """Whether it can call tools; None if the service does not say."""


class _ListedModel(WireModel):
    name: Annotated[str, at("id", "name")]
    type: Lenient[str] = None
    """LM Studio: `llm`, `vlm` or `embeddings`; other services have other words."""
    capabilities: AnyJson = None
    """LM Studio and LocalAI: a list of names, each of its own; Mistral: an object of switches."""
    supported_parameters: Lenient[list[str]] = None
    """OpenRouter."""

    def chat_model(self) -> ChatModel | None:
        """Return it as a model that one can talk to, None if it is for something else."""
        if self.supported_parameters is None:
            uses_tools = None
        else:
            uses_tools = "tools" in self.supported_parameters
        match self.capabilities:
            case {"completion_chat": False}:
                return None
            case {"function_calling": bool(calls)}:
                uses_tools = calls
            case list(names) if self.type in {"llm", "vlm"} or "tool_use" in names:
                uses_tools = "tool_use" in names
            case [_, *_] as names if "chat" not in names:
                return None
            case _:
                pass
        if self.type == "embeddings" or not is_for_chat(self.name):
            return None
        return ChatModel(self.name, uses_tools)


class _ModelList(WireModel):
    models: Annotated[list[Lenient[_ListedModel]], at("data", "models")]


_MODEL_LIST: Final[TypeAdapter[_ModelList]] = TypeAdapter(
    Annotated[_ModelList, _BARE_LIST]
)


def is_for_chat(name: str) -> bool:
    """Return whether a model is none for embeddings, images or speech, as far as its name tells."""
    return _NOT_FOR_CHAT.search(name) is None


_RECOMMENDED: Final = re.compile(
    r"qwen-?3(?!.*(embed|coder)).*\b(4|8|14|30|32)b|gemma-?4|ministral-3|gpt-oss|glm-4\.[5-9]"
    r"|gpt-[5-9](\.\d)?-mini|claude-haiku-[4-9]|gemini-[2-9](\.\d)?-flash(?!-lite)|mistral-(small|medium)|deepseek-chat",
    re.IGNORECASE,
)
"""In names of models that are fast and call tools well; `bench/pages/recorded-runs.md` has some."""
_BILLIONS: Final = re.compile(r"(?<![\d.])(\d+(?:\.\d+)?)b(?![a-z\d])", re.IGNORECASE)
"""The number of parameters in the name of a model."""
_LEAST_BILLIONS: Final = 3.0
"""Smaller models often call the wrong tool."""


def by_usefulness(models: Iterable[ChatModel]) -> list[ChatModel]:
    """Return models sorted: those first that call tools, of these the recommended ones, then all but the small ones."""
    return sorted(models, key=_unfitness)


def _unfitness(model: ChatModel) -> tuple[int, int, str, str]:
    size = _BILLIONS.search(model.name)
    is_small = size is not None and float(size[1]) < _LEAST_BILLIONS
    if is_small:
        by_name = 2
    elif _RECOMMENDED.search(model.name):
        by_name = 0
    else:
        by_name = 1
    return (
        {True: 0, None: 1, False: 2}[model.uses_tools],
        by_name,
        model.name.casefold(),
        model.name,
    )


def parse_chat_models(text: str) -> list[ChatModel]:
    """Parse the same answer as `parse_model_list`: the models that one can talk to, the most useful first.

    Raises `ProviderReplyInvalid`. Sources: the documentation of LM Studio's own
    interface, OpenRouter and Mistral, and LocalAI's `list_capabilities.go`.
    """
    return by_usefulness(
        {model for each in _listed(text) if (model := each.chat_model())}
    )


def parse_model_list(text: str) -> list[str]:
    """Parse the answer to `GET /models`, or to Ollama's `GET /api/tags`: the unique names, sorted.

    Raises `ProviderReplyInvalid`.
    """
    return sorted(
        {model.name for model in _listed(text)},
        key=lambda name: (name.casefold(), name),
    )


def _listed(text: str) -> list[_ListedModel]:
    """Return the models that have a name."""
    sent = parse_as(_MODEL_LIST, text, "a list of models").models
    return [model for model in sent if model and model.name.strip()]
