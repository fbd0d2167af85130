"""The wire formats that the contract is tested over."""

from .anthropic_messages import AnthropicMessagesDialect
from .dialect import Dialect
from .ollama_chat import OllamaChatDialect
from .openai_chat import OpenAIChatDialect
from .openai_responses import OpenAIResponsesDialect

DIALECTS: tuple[Dialect, ...] = (
    OpenAIChatDialect(),
    OpenAIResponsesDialect(),
    AnthropicMessagesDialect(),
    OllamaChatDialect(),
)
