"""What Ollama sends: the parts that we read, and how much of them we trust.

Knows the JSON of chunks, of the list of models and of a model's description; nothing of events.
Source: Ollama's API documentation, "Generate a chat completion", "List local models", "Show
model information", "List running models"; Home Assistant's `ollama` integration.
"""

import re
from typing import Final

from pydantic import JsonValue, NonNegativeInt, PositiveInt, TypeAdapter

from ..messages import Usage
from .received import Lenient, Received, parse_plain, parse_received

_NUM_CTX: Final = re.compile(r"^num_ctx\s+(\d+)\s*$", re.MULTILINE)


class Function(Received):
    """Name and arguments of a call, complete."""

    name: Lenient[str] = None
    arguments: JsonValue = None
    """An object; servers that imitate Ollama also send JSON text."""


class SentCall(Received):
    """A call; Ollama before 0.12 gives it no id."""

    id: Lenient[str] = None
    function: Function = Function()


class Message(Received):
    """What a chunk adds to the message."""

    content: str | None = None
    thinking: Lenient[str] = None
    tool_calls: list[SentCall] | None = None


class Chunk(Received):
    """One line of a stream, or a whole answer."""

    message: Message | None = None
    done: Lenient[bool] = None
    """True in the last line, which alone has the fields below."""
    done_reason: Lenient[str] = None
    prompt_eval_count: Lenient[NonNegativeInt] = None
    eval_count: Lenient[NonNegativeInt] = None
    error: JsonValue = None
    """A text: the service failed after it had begun to answer."""

    def usage(self) -> Usage:
        """Return the counts in our words; what came from the cache is not told."""
        return Usage(input_tokens=self.prompt_eval_count or 0, output_tokens=self.eval_count or 0)


def plain_text(sent: bytes) -> str:
    """Return the text of a line of the usual kind: it brings a piece of the answer and nothing else.

    Empty for any other, which `parse_chunk` reads. It would read this one alike, and take longer.
    """
    chunk = parse_plain(sent)
    message = chunk.get("message")
    if not isinstance(message, dict) or chunk.get("done") is not False or chunk.get("error"):
        return ""
    text = ""
    for name, value in message.items():
        if name == "content" and isinstance(value, str):
            text = value
        elif name != "role" and value is not None:
            return ""
    return text


class _ListedModel(Received):
    name: str


class _ModelList(Received):
    models: list[_ListedModel]


class _RunningModel(Received):
    name: Lenient[str] = None
    context_length: Lenient[PositiveInt] = None


class _RunningModels(Received):
    models: list[_RunningModel]


class ModelDescription(Received):
    """What a model is, as `POST /api/show` tells."""

    capabilities: Lenient[frozenset[str]] = None
    """Such as `completion`, `tools`, `vision`, `thinking`; None from a server too old to tell."""
    model_info: Lenient[dict[str, JsonValue]] = None
    parameters: Lenient[str] = None
    """Lines of a name and a value."""

    @property
    def context_window(self) -> int | None:
        """The most tokens that the model can look at; the server may be set to fewer."""
        info = self.model_info or {}
        length = info.get(f"{info.get('general.architecture')}.context_length")
        return length if isinstance(length, int) and not isinstance(length, bool) and length > 0 else None

    @property
    def num_ctx(self) -> int | None:
        """The tokens that the model looks at where no request says otherwise, when its author set them."""
        found = _NUM_CTX.search(self.parameters or "")
        return int(found[1]) if found else None


_CHUNK: Final = TypeAdapter(Chunk)
_MODEL_LIST: Final = TypeAdapter(_ModelList)
_RUNNING: Final = TypeAdapter(_RunningModels)
_DESCRIPTION: Final = TypeAdapter(ModelDescription)


def parse_chunk(sent: str | bytes) -> Chunk:
    """Read one line of a stream, or the body of a whole answer.

    Raises `ProviderReplyInvalid`, which says where the text is wrong and quotes none of it.
    """
    return parse_received(_CHUNK, sent, "an answer")


def parse_model_list(text: str) -> list[str]:
    """Read the answer to `GET /api/tags`: the names, sorted, each once.

    Raises `ProviderReplyInvalid` for anything but a list of models.
    """
    listed = parse_received(_MODEL_LIST, text, "a list of models")
    return sorted({model.name for model in listed.models}, key=lambda name: (name.casefold(), name))


def parse_running_window(text: str, model: str) -> int | None:
    """Read the answer to `GET /api/ps`: the tokens of context that `model` is loaded with; None when it is not loaded.

    Raises `ProviderReplyInvalid` for anything but a list of models.
    """
    running = parse_received(_RUNNING, text, "a list of running models").models
    return next((each.context_length for each in running if each.name in {model, f"{model}:latest"}), None)


def parse_model_description(text: str) -> ModelDescription:
    """Read the answer to `POST /api/show`. Raises `ProviderReplyInvalid` for anything but an object."""
    return parse_received(_DESCRIPTION, text, "a description of a model")
