"""How services say that a prompt does not fit the window of the model, and by how much.

Knows the words of their error messages. Must not know statuses, or where in a body the words
stand: that is `failures.py`. Sources: the documentation and the source of the services named below.
"""

import re
from dataclasses import dataclass
from typing import Final

_N: Final = r"(\d[\d,]{0,12})"
"""A number of tokens."""


def _any_of(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(patterns), re.IGNORECASE)


_SAYS_SO: Final = _any_of(
    r"context[_ ](?:length|window)[_ ]exceeded",  # OpenAI, Groq, Cerebras; the finish of Z.ai
    r"exceed_context_size",  # llama.cpp
    r"exceed(?:s|ed)?\b[\w' ]{0,40}\bcontext[ _](?:size|length|window|limit)",  # OpenAI, Anthropic, llama.cpp, Ollama
    r"prompt (?:is )?too long",  # Anthropic, Ollama
    r"longer than the (?:model'?s? context|maximum model) length",  # SGLang, vLLM
    r"context length (?:is|of) (?:only )?\d",  # OpenAI, vLLM, DeepSeek, OpenRouter, LM Studio
    r"maximum prompt length is \d",  # xAI
    r"input token count .{0,20}exceeds the maximum",  # Gemini
    r"too large for model with \d+ maximum context",  # Mistral
    r"greater than the context length",  # LM Studio
    r"exceeded model token limit",  # Moonshot
    r"range of input length should be",  # Alibaba
    r"request too large for .{0,200}tokens per min|tokens_limit_reached",  # Groq and OpenAI; GitHub
    r"(?:prompt )?token count of \d+ exceeds the limit",  # GitHub
    r"`inputs` tokens .{0,60}must be <=",  # Text Generation Inference
    r"reduce the length of the (?:messages|input|prompt)",  # Groq, and others beside their numbers
    r"input is too long for requested model",  # Bedrock
)

_WINDOWS: Final = _any_of(
    rf"context[ _](?:length|size|window) (?:is|of)(?: only)? {_N}",
    rf"context (?:size|length) \({_N}",
    rf"> {_N} maximum",
    rf"context limit: [\d,]+ \+ [\d,]+ > {_N}",
    rf"tokens allowed \({_N}\)",
    rf"model with {_N} maximum",
    rf"maximum prompt length is {_N}",
    rf"maximum model length of {_N}",
    rf"token limit: {_N}",
    rf"\bn_ctx: {_N}",
    rf"length should be \[\d+, {_N}\]",
    rf"exceeds the limit of {_N}",
    rf"\blimit(?: is)? {_N}",
    rf"max size: {_N} tokens",
    rf"must be <= {_N}",
)

_PROMPTS: Final = (
    _any_of(
        rf"\({_N} in (?:the|your) (?:messages|prompt)",
        rf"{_N} tokens from the input messages",
        rf"resulted in {_N} tokens",
        rf"\b(?:request|input|prompt) \((?:length )?{_N}(?: tokens)?\)",
        rf"\b(?:has|passed|contains) {_N} (?:input )?tokens",
        rf"too long: {_N} tokens",
        rf"context limit: {_N} \+",
        rf"token count (?:of {_N}|\({_N}\))",
        rf"input length \(?{_N}",
        rf"keep the first {_N} tokens",
        rf"\bn_keep: {_N}",
        rf"current length is {_N}",
        rf"given: {_N} `inputs`",
        rf"\brequested:? {_N}\b(?! tokens)",
    ),
    _any_of(rf"requested (?:about |a total of )?{_N} tokens"),
)
"""The prompt itself before the sum of prompt and answer."""

_PARTS_OF_PROMPT: Final = re.compile(r"(\d{1,9}) of \w+ input")
"""OpenRouter names the parts: of text, of tools."""


@dataclass(frozen=True, slots=True)
class ContextOverflow:
    """A prompt that does not fit; its length and that of the window in tokens, None where the words do not tell."""

    prompt_tokens: int | None
    window_tokens: int | None


def find_overflow(words: str) -> ContextOverflow | None:
    """Return what an error message says about a prompt that does not fit; None when it speaks of something else."""
    if not _SAYS_SO.search(words):
        return None
    if parts := _PARTS_OF_PROMPT.findall(words):
        return ContextOverflow(sum(map(int, parts)), _number(_WINDOWS, words))
    prompts = (_number(pattern, words) for pattern in _PROMPTS)
    return ContextOverflow(next((prompt for prompt in prompts if prompt is not None), None), _number(_WINDOWS, words))


def _number(pattern: re.Pattern[str], words: str) -> int | None:
    """Return the number in the first match."""
    match = pattern.search(words)
    return int(match[match.lastindex or 0].replace(",", "")) if match else None
