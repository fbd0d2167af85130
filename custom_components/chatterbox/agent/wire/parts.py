"""Parts that the wire formats share: what may be sent to a service, how a reply is read, and what a model can read.

A schema is strict where an answer could be lost (text, calls) and lenient where a server may be odd without harm
(counts, indexes, reasoning): a lenient value that does not fit reads as not sent.
"""

import json
import re
from base64 import b64encode
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from hashlib import blake2b
from typing import Annotated, Final
from uuid import uuid4

import orjson
from pydantic import (
    AliasChoices,
    AliasPath,
    BaseModel,
    ConfigDict,
    GetCoreSchemaHandler,
    JsonValue as AnyJson,
    NonNegativeInt,
    PositiveInt,
    TypeAdapter,
    ValidationError,
    with_config,
)
from pydantic.fields import FieldInfo
from pydantic_core.core_schema import CoreSchema, with_default_schema

from ..errors import ProviderReplyInvalid
from ..json.text import parse_json
from ..messages import AssistantMessage, Attachment, JsonObject, JsonValue, ProviderItem, Transcript, canonical_json
from ..text import without_tokens

ANY_ID: Final = ".+"
"""Pattern of a service that accepts any id of a call."""
IMAGE_TYPES: Final = frozenset({"image/jpeg", "image/png", "image/gif", "image/webp"})
"""Images that every multimodal service accepts."""
PDF: Final = "application/pdf"

_NAME_LENGTH: Final = 64


def payload_to_bytes(payload: JsonObject) -> bytes:
    """Serialize a payload: compact, fields in their order, UTF-8."""
    try:
        return orjson.dumps(payload)
    except TypeError:  # a lone surrogate, or a number of more than 64 bits
        return json.dumps(payload, ensure_ascii=False, separators=(",", ":")).encode(errors="replace")


def is_json_object(text: str) -> bool:
    """Return whether `text` is one JSON object, as `parse_json` reads it."""
    try:
        return isinstance(parse_json(text), dict)
    except ValueError:
        return False


def arguments_text(arguments: JsonValue) -> str:
    """Return the arguments of a call as text; some servers send the object itself."""
    if isinstance(arguments, str):
        return arguments
    return "" if arguments is None else canonical_json(arguments)


def sendable_name(name: str) -> str:
    """Return the name of a tool in the characters and the length that every service accepts."""
    return re.sub("[^A-Za-z0-9_-]", "_", name)[:_NAME_LENGTH] or "unnamed"


def sendable_arguments(arguments: str) -> str:
    """Return the arguments of a call, or an empty object if they are none."""
    return arguments if is_json_object(arguments) else "{}"


def sendable_text(text: str) -> str:
    """Replace lone surrogates, which UTF-8 cannot encode."""
    if text.isascii():
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def sendable_call_id(call_id: str, pattern: str) -> str:
    """Return an id that matches `pattern`, else nine letters or digits derived from it.

    The same id always gives the same result: calls and results keep matching, and requests keep their bytes.
    """
    if re.fullmatch(pattern, call_id):
        return call_id
    return blake2b(call_id.encode(errors="replace"), digest_size=5).hexdigest()[:9]


def base64_data(attachment: Attachment) -> str:
    """Return the content in base64 (RFC 4648, 4)."""
    return b64encode(attachment.data).decode("ascii")


def data_url(attachment: Attachment) -> str:
    """Return the content as a data URL (RFC 2397)."""
    return f"data:{attachment.mime_type};base64,{base64_data(attachment)}"


def attachment_note(attachment: Attachment) -> str:
    """Return the text that stands for an attachment that the model cannot read."""
    named = f" named {sendable_text(attachment.name)}" if attachment.name else ""
    return f"[A file of type {attachment.mime_type}{named} was attached here. You cannot see it: say so if it matters.]"


_NOT_JSON = frozenset({"json_invalid", "string_unicode"})
"""Errors of pydantic's JSON parser, as opposed to those of validation."""


class _NoneUnlessValid:
    @classmethod
    def __get_pydantic_core_schema__(cls, source: object, handler: GetCoreSchemaHandler) -> CoreSchema:
        return with_default_schema(handler(source), default=None, on_error="default")


type Lenient[T] = Annotated[T | None, _NoneUnlessValid]
"""The value, or None if something else was sent. Give such a field the default None."""


class WireModel(BaseModel):
    """Base of everything that is parsed from a service; unknown fields are ignored."""

    model_config = ConfigDict(frozen=True, extra="ignore")


def parse_as[T](kind: TypeAdapter[T], sent: str | bytes, what: str) -> T:
    """Parse JSON, text or UTF-8, as `kind`; `what` names it in errors, as in "an answer".

    Raises `ProviderReplyInvalid`, which says where the JSON is wrong and quotes none of it.
    """
    try:
        return kind.validate_json(sent)
    except ValidationError as err:
        if err.errors(include_url=False)[0]["type"] not in _NOT_JSON:
            raise _wrong_shape(err, what) from None
    text = sent if isinstance(sent, str) else sent.decode(errors="replace")
    try:  # Python's parser accepts lone surrogates, as JavaScript servers send them
        return kind.validate_python(json.loads(text))
    except ValidationError as err:
        raise _wrong_shape(err, what) from None
    except ValueError, RecursionError:
        raise ProviderReplyInvalid(f"the service sent {what} that is not JSON") from None


def _wrong_shape(err: ValidationError, what: str) -> ProviderReplyInvalid:
    where = ".".join(str(part) for part in err.errors(include_url=False)[0]["loc"]) or "its top level"
    return ProviderReplyInvalid(f"the service sent {what} of the wrong shape, at {where}")


def at(*paths: str) -> FieldInfo:
    """Annotate a field with the paths at which it is sent, such as `meta.n_ctx`; the first that is there counts."""
    return FieldInfo(validation_alias=AliasChoices(*(AliasPath(*path.split(".")) for path in paths)))


def new_call_id() -> str:
    """Return a new id of a call: nine letters or digits, which every server accepts (Mistral's rule)."""
    return uuid4().hex[:9]


class CallIds:
    """Hands out ids of calls that are unique in a conversation."""

    def __init__(self, transcript: Transcript, new_id: Callable[[], str] = new_call_id) -> None:
        """Reserve the ids of `transcript`."""
        said = (message for message in transcript if isinstance(message, AssistantMessage))
        self._taken = {call.id for message in said for call in message.tool_calls}
        self._new_id = new_id

    def unique(self, sent: str) -> str:
        """Return the id that a service sent, or a new one if it is empty or taken."""
        sent = without_tokens(sent)
        while not sent or sent in self._taken:
            sent = self._new_id()
        self._taken.add(sent)
        return sent


@with_config(extra="forbid")
@dataclass(frozen=True, slots=True)
class CarriedBlock:
    """A block of a message that its service wants back unchanged, such as signed reasoning.

    A service may check that a block stands where it stood, so each is stored with its position.
    """

    block: JsonObject
    text: NonNegativeInt
    """Characters of the message's text before it."""
    calls: NonNegativeInt
    """Calls of the message before it."""
    skip: NonNegativeInt = 0
    """Characters after it that we added to separate two texts."""

    def as_item(self, wire_format: str) -> ProviderItem:
        """Return the block as a transcript stores it."""
        return ProviderItem(wire_format, asdict(self))


_CARRIED: Final = TypeAdapter(CarriedBlock)


def carried_by(message: AssistantMessage, wire_format: str) -> Iterator[CarriedBlock]:
    """Yield the blocks of `wire_format` in a message, in order; items of another shape are skipped."""
    for item in message.provider_items:
        if item.format == wire_format:
            try:
                yield _CARRIED.validate_python(item.data)
            except ValidationError:
                continue


_WINDOW_FIELDS: Final = (
    *(("meta", "n_ctx"), ("top_provider", "context_length"), ("loaded_context_length",), ("max_model_len",)),
    *(("context_length",), ("context_window",), ("max_context_length",), ("max_input_tokens",)),
)
_PAGE: Final[TypeAdapter[JsonObject]] = TypeAdapter(JsonObject)
_TOKENS: Final[TypeAdapter[int | None]] = TypeAdapter(Lenient[PositiveInt])


def parse_context_window(text: str, model: str) -> int | None:
    """Return the context window that a page tells, about one model, several, or a server; None if it does not say.

    Raises `ProviderReplyInvalid`. Sources: the documentation of vLLM and SGLang (`max_model_len`), OpenRouter and
    Together (`context_length`), Groq (`context_window`), Mistral (`max_context_length`), Anthropic
    (`max_input_tokens`), LM Studio's own interface (`loaded_context_length`) and llama.cpp (`meta.n_ctx` in its list,
    and `/props`).
    """
    match parse_as(_PAGE, text, "a page about its models"):
        case {"data": list(listed)}:
            models = [each for each in listed if isinstance(each, dict) and each.get("id") == model]
            return _window(models[0]) if models else None
        case {"default_generation_settings": {"n_ctx": tokens}}:
            return _TOKENS.validate_python(tokens)
        case page:
            return _window(page)


def _window(model: JsonObject) -> int | None:
    """Return the context length in use; the maximum only where no smaller one can be configured."""
    for path in _WINDOW_FIELDS:
        if path == ("max_context_length",) and model.get("state"):  # LM Studio may load the model with less
            continue
        value: JsonValue = model
        for name in path:
            value = value.get(name) if isinstance(value, dict) else None
        if (tokens := _TOKENS.validate_python(value)) is not None:
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
        uses_tools = None if self.supported_parameters is None else "tools" in self.supported_parameters
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
        return None if self.type == "embeddings" or not is_for_chat(self.name) else ChatModel(self.name, uses_tools)


class _ModelList(WireModel):
    models: Annotated[list[Lenient[_ListedModel]], at("data", "models")]


_MODEL_LIST: Final = TypeAdapter(_ModelList)


def is_for_chat(name: str) -> bool:
    """Return whether a model is none for embeddings, images or speech, as far as its name tells."""
    return _NOT_FOR_CHAT.search(name) is None


def by_usefulness(models: Iterable[ChatModel]) -> list[ChatModel]:
    """Return models sorted by name, those first that call tools, those last that do not."""
    order = {True: 0, None: 1, False: 2}
    return sorted(models, key=lambda model: (order[model.uses_tools], model.name.casefold(), model.name))


def parse_chat_models(text: str) -> list[ChatModel]:
    """Parse the same answer as `parse_model_list`: the models that one can talk to, the most useful first.

    Raises `ProviderReplyInvalid`. Sources: the documentation of LM Studio's own interface, OpenRouter and
    Mistral, and LocalAI's `list_capabilities.go`.
    """
    return by_usefulness({model for each in _listed(text) if (model := each.chat_model())})


def parse_model_list(text: str) -> list[str]:
    """Parse the answer to `GET /models`, or to Ollama's `GET /api/tags`: the unique names, sorted.

    Raises `ProviderReplyInvalid`.
    """
    return sorted({model.name for model in _listed(text)}, key=lambda name: (name.casefold(), name))


def _listed(text: str) -> list[_ListedModel]:
    """Return the models that have a name."""
    sent = parse_as(_MODEL_LIST, text, "a list of models").models
    return [model for model in sent if model and model.name.strip()]
