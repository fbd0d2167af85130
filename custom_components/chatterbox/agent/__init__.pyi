from .errors import (
    InvalidToolbox as InvalidToolbox,
    MaxIterationsExceeded as MaxIterationsExceeded,
    ProviderError as ProviderError,
)
from .events import (
    Answer as Answer,
    TextDelta as TextDelta,
    ToolFinished as ToolFinished,
    ToolStarted as ToolStarted,
    TurnEvent as TurnEvent,
    TurnFinished as TurnFinished,
)
from .loop.loop import AgenticLoop as AgenticLoop
from .loop.turn import Limits as Limits, Turn as Turn
from .messages import (
    AssistantMessage as AssistantMessage,
    NamedTool as NamedTool,
    ToolCall as ToolCall,
    ToolChoiceMode as ToolChoiceMode,
    ToolDefinition as ToolDefinition,
    ToolOutcome as ToolOutcome,
    ToolResult as ToolResult,
    Usage as Usage,
    UserMessage as UserMessage,
)
from .protocols import (
    AnswerOptions as AnswerOptions,
    Ask as Ask,
    Deny as Deny,
    Hooks as Hooks,
    LLMProvider as LLMProvider,
    Rewrite as Rewrite,
    ToolDispatcher as ToolDispatcher,
)
from .providers.anthropic_messages import (
    AnthropicMessagesProvider as AnthropicMessagesProvider,
)
from .providers.ollama_chat import OllamaChatProvider as OllamaChatProvider
from .providers.openai_chat import OpenAIChatProvider as OpenAIChatProvider
from .providers.openai_responses import (
    OpenAIResponsesProvider as OpenAIResponsesProvider,
)
from .providers.profiles import ModelOptions as ModelOptions
from .session import Session as Session
from .toolbox import Tool as Tool, Toolbox as Toolbox, tool as tool
from .transcript import has_outside_content as has_outside_content
