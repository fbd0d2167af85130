"""Chatterbox without Home Assistant: the agentic loop, its seams and its providers.

Everything below this package can be imported, tested and used on its own. It must never
import `homeassistant`, `voluptuous` or `probatio`. `__init__.pyi` lists the names for
users of the library; a module is imported when one of its names is first used.
"""

from importlib import import_module

_MODULES = {
    "errors": (
        "InvalidToolbox",
        "MaxIterationsExceeded",
        "ProviderError",
    ),
    "events": (
        "Answer",
        "TextDelta",
        "ToolFinished",
        "ToolStarted",
        "TurnEvent",
        "TurnFinished",
    ),
    "loop.loop": ("AgenticLoop",),
    "loop.turn": ("Limits", "Turn"),
    "messages": (
        "AssistantMessage",
        "NamedTool",
        "ToolCall",
        "ToolChoiceMode",
        "ToolDefinition",
        "ToolOutcome",
        "ToolResult",
        "Usage",
        "UserMessage",
    ),
    "protocols": (
        "AnswerOptions",
        "Ask",
        "Deny",
        "Hooks",
        "LLMProvider",
        "Rewrite",
        "ToolDispatcher",
    ),
    "providers.anthropic_messages": ("AnthropicMessagesProvider",),
    "providers.ollama_chat": ("OllamaChatProvider",),
    "providers.openai_chat": ("OpenAIChatProvider",),
    "providers.openai_responses": ("OpenAIResponsesProvider",),
    "providers.profiles": ("ModelOptions",),
    "session": ("Session",),
    "toolbox": (
        "Tool",
        "Toolbox",
        "tool",
    ),
    "transcript": ("has_outside_content",),
}


def __getattr__(name: str) -> object:
    for module, names in _MODULES.items():
        if name in names:
            return getattr(
                import_module(f"{__name__}.{module}"),
                name,
            )
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(name for names in _MODULES.values() for name in names)
