"""How many tokens a text takes, told without the tokenizer of the model.

Counts characters by script: tokenizers keep whole English words, break words with accents, and
spend a token or more on a Chinese character or an emoji. Rather too much than too little, and
corrected by what a service reports of earlier requests. Knows messages and requests; must not
know windows, models or services.
"""

import math
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, assert_never

from ..messages import (
    AssistantMessage,
    Attachment,
    JsonObject,
    Message,
    ToolDefinition,
    ToolResult,
    UserMessage,
    canonical_json,
)
from ..protocols import CompletionRequest

_HUNDREDTHS: Final = 100
_LETTERS: Final = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ "
_DIGITS: Final = b"0123456789"
_LETTER: Final = 28
"""Hundredths of a token, as all weights here. OpenAI counts about four letters to a token of English; other
languages in the same letters take more."""
_DIGIT: Final = 60
"""Some tokenizers write three digits as one token, some each digit."""
_SIGN: Final = 50
"""Punctuation, line breaks and the brackets of JSON, of which tokenizers join some."""
_ASCII: Final = re.compile(r"[\x00-\x7f]+")
_SCRIPTS: Final = (
    (0x0080, 100),  # Latin letters with marks: they break the word that they stand in
    (0x0370, 40),  # Greek, Cyrillic, Hebrew, Arabic
    (0x0700, 80),  # the scripts of India and of South East Asia
    (0x1E00, 100),  # Latin letters with two marks, signs and arrows
    (0x2E80, 90),  # Chinese and Japanese
    (0xAC00, 80),  # Korean
    (0xD7B0, 100),
    (0x10000, 250),  # emoji, and scripts that tokenizers spell byte by byte
)
_STARTS: Final = [start for start, _ in _SCRIPTS]

_MESSAGE: Final = 6
"""Tokens of the marks that a chat template puts around a message."""
_CALL: Final = 12
"""Tokens of the marks and the id of a call, and of its result."""
_ATTACHMENT: Final = 1_600
"""Tokens of the largest picture that Anthropic's services read, and of a page of a document at most services."""
_BYTES_PER_TOKEN: Final = 32
"""Of a document."""

_LEAST: Final = 0.5
_MOST: Final = 4.0
_STEPS: Final = 4
"""Scales between one and its double."""
_SLACK: Final = 1.25


@dataclass(frozen=True, slots=True)
class TokenEstimate:
    """Estimates tokens. `scale` is how many there really are to one that is counted here."""

    scale: float = 1.0

    def of_text(self, text: str) -> int:
        """Estimate the tokens of a text; 0 for none."""
        return self._scaled(_weight(text)) if text else 0

    def of_message(self, message: Message) -> int:
        """Estimate the tokens of a message with all that belongs to it.

        Reasoning counts as if it were always sent back, and attachments as if they were shown. Signed reasoning
        repeats what is written of it, so of these two the longer one counts.
        """
        match message:
            case UserMessage():
                shown = sum(map(_attachment_tokens, message.attachments))
                return self._scaled(_weight(message.prompt), _MESSAGE + shown)
            case AssistantMessage():
                items = sum(_weight(canonical_json(item.data)) for item in message.provider_items)
                thought = max(_weight(message.reasoning), items)
                written = message.text + "".join([call.name + call.arguments for call in message.tool_calls])
                return self._scaled(_weight(written) + thought, _MESSAGE + _CALL * len(message.tool_calls))
            case ToolResult():
                return self._scaled(_weight(message.name + message.content), _CALL)
            case _:
                assert_never(message)

    def of_request(self, request: CompletionRequest) -> int:
        """Estimate the input tokens of an inference, tools and instructions included."""
        texts = self.of_text(request.instructions) + self.of_text(request.directive)
        return self.of_tools(request.tools) + texts + sum(map(self.of_message, request.transcript))

    def of_tools(self, tools: Iterable[ToolDefinition]) -> int:
        """Estimate the tokens of tools, as they are described to a model."""
        tokens = 0
        for tool in tools:
            described: JsonObject = {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
            tokens += self.of_text(canonical_json(described))
        return tokens

    def corrected(self, estimated: int, reported: int) -> TokenEstimate:
        """Return the estimate that fits what a service reported of a request that was estimated by this one.

        `reported` is its `Usage.input_tokens`. The scale moves in steps, and stays where it is while it counts too
        much by less than a quarter: a window moves with it, and a window that moves loses its place in the service's
        cache. Numbers that no tokenizer explains, such as a service that counts only what it had not cached, move it
        no further than to half and to four times what is counted here.
        """
        if estimated <= 0 or reported <= 0:
            return self
        exact = min(max(self.scale * reported / estimated, _LEAST), _MOST)
        if exact <= self.scale <= exact * _SLACK:
            return self
        return TokenEstimate(2 ** (math.ceil(_STEPS * math.log2(exact)) / _STEPS))

    def _scaled(self, weight: int, tokens: int = 0) -> int:
        return math.ceil((weight / _HUNDREDTHS + tokens) * self.scale)


def _attachment_tokens(attachment: Attachment) -> int:
    if attachment.mime_type.startswith("image/"):
        return _ATTACHMENT
    return max(_ATTACHMENT, len(attachment.data) // _BYTES_PER_TOKEN)


def _weight(text: str) -> int:
    """Return the hundredths of a token that a text weighs. Long texts are English or JSON: those are counted fast."""
    if not text:
        return 0
    plain = text.encode("ascii", "ignore")
    rest = plain.translate(None, _LETTERS)
    signs = len(rest.translate(None, _DIGITS))
    weight = (len(plain) - len(rest)) * _LETTER + (len(rest) - signs) * _DIGIT + signs * _SIGN
    if len(plain) < len(text):
        for character, times in Counter(_ASCII.sub("", text)).items():
            weight += times * _SCRIPTS[bisect_right(_STARTS, ord(character)) - 1][1]
    return weight
