"""Token estimates without the model's tokenizer, corrected by the usage that its service reports.

Characters are counted by script: tokenizers keep whole English words, break words with
accents, and spend a token or more on a Chinese character or an emoji. The estimate errs
on the high side.
"""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final, assert_never

from ..messages import (
    AssistantMessage,
    Attachment,
    JsonValue,
    Message,
    ToolDefinition,
    ToolResult,
    Usage,
    UserMessage,
    canonical_json,
    described_tools,
)
from ..text import read_data_file

_HUNDREDTHS: Final = 100
_LETTERS: Final = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ "
_DIGITS: Final = b"0123456789"
_LETTER: Final = 28
"""Weights are hundredths of a token. OpenAI counts about four letters of English to a token; other languages take
more."""
_DIGIT: Final = 60
"""Some tokenizers join three digits, some none."""
_SIGN: Final = 50
"""Punctuation, line breaks and brackets, of which tokenizers join some."""
_SCRIPTS: Final = [
    (bytes(range(first, after)), weight)
    for first, after, weight in read_data_file(
        __file__, dict[str, tuple[int, int, int]]
    ).values()
]
"""Weights by the first byte of a character in UTF-16: they are counted a hundred times as fast as characters."""

_MESSAGE: Final = 6
"""Tokens of the marks that a chat template puts around a message."""
_CALL: Final = 12
"""Tokens of the marks and the id of a call, and of its result."""
_ATTACHMENT: Final = 1_600
"""Tokens of the largest picture that Anthropic's services read, and of a page of a document at most services."""
_BYTES_PER_TOKEN: Final = 32
"""Of a document."""

_UNSEEN_INPUT: Final = 20_000
"""Tokens that a service may add to a prompt: its template, and descriptions of tools."""
_UNSEEN_OUTPUT: Final = 200_000
"""Tokens that a model may think without a word of it being sent."""

_LEAST: Final = 0.5
_MOST: Final = 4.0
_STEPS: Final = 4
"""Scales between one and its double."""
_SLACK: Final = 1.25
_AGREEING: Final = 8
"""Reports in a row that have to ask for a lower scale before it is lowered; twice as many each further time."""


@dataclass(frozen=True, slots=True)
class TokenEstimate:
    """Estimates tokens. `scale` is how many there really are to one that is counted here."""

    scale: float = 1.0

    def of_text(self, text: str) -> int:
        """Estimate the tokens of a text; 0 for none."""
        if text:
            return self._scaled(_weight(text))
        return 0

    def of_message(self, message: Message) -> int:
        """Estimate the tokens of a message with reasoning, calls and attachments.

        Signed reasoning repeats the text of the reasoning, so only the longer of the
        two counts.
        """
        match message:
            case UserMessage():
                attachments = sum(map(_attachment_tokens, message.attachments))
                return self._scaled(
                    _weight(message.prompt),
                    _MESSAGE + attachments,
                )
            case AssistantMessage():
                items = sum(
                    _weight(canonical_json(item.data))
                    for item in message.provider_items
                )
                thought = max(_weight(message.reasoning), items)
                written = message.text + "".join(
                    [call.name + call.arguments for call in message.tool_calls]
                )
                return self._scaled(
                    _weight(written) + thought,
                    _MESSAGE + _CALL * len(message.tool_calls),
                )
            case ToolResult():
                return self._scaled(
                    _weight(message.name + message.content),
                    _CALL,
                )
            case _:
                assert_never(message)

    def of_tools(self, tools: Iterable[ToolDefinition]) -> int:
        """Estimate the tokens of tools, as they are described to a model."""
        described: list[JsonValue] = [*described_tools(tools)]
        if described:
            return self.of_text(canonical_json(described))
        return 0

    def corrected(
        self,
        estimated: int,
        reported: int,
    ) -> TokenEstimate:
        """Return the estimate that fits the reported `Usage.input_tokens` of a request.

        The scale moves in steps, and stays while it is too high by less than a quarter:
        each move also moves the window, which costs the service its prompt cache.
        Reports that no tokenizer explains, such as of uncached tokens only, are
        followed from half to four times the count.
        """
        exact = min(
            max(self.scale * reported / estimated, _LEAST),
            _MOST,
        )
        if exact <= self.scale <= exact * _SLACK:
            return self
        return TokenEstimate(2 ** (math.ceil(_STEPS * math.log2(exact)) / _STEPS))

    def _scaled(
        self,
        weight: int,
        tokens: int = 0,
    ) -> int:
        return math.ceil((weight / _HUNDREDTHS + tokens) * self.scale)


class TokenScale:
    """Keeps the `TokenEstimate` of one model.

    It is raised at once where it was too low, and lowered only when many reports in a
    row agree: each move costs the service its prompt cache.
    """

    def __init__(self) -> None:
        """Start with the default estimate."""
        self.estimate = TokenEstimate()
        self._least = 0.0
        """The scale below which a prompt was refused."""
        self._lower: list[float] = []
        """Scales of the latest reports in a row that asked for a lower one."""
        self._needed = _AGREEING

    def reported(
        self,
        estimated: int,
        tokens: int,
    ) -> None:
        """Correct the estimate by a request that was `estimated` and took `tokens`; 0 is unknown."""
        if estimated <= 0 or tokens <= 0:
            return
        corrected = self.estimate.corrected(estimated, tokens)
        scale = max(corrected.scale, self._least)
        if scale >= self.estimate.scale:
            self._lower.clear()
            if scale > self.estimate.scale:
                self.estimate = TokenEstimate(scale)
            return
        self._lower.append(scale)
        if len(self._lower) == self._needed:
            self.estimate = TokenEstimate(max(self._lower))
            self._lower.clear()
            self._needed *= 2

    def refused(
        self,
        estimated: int,
        tokens: int,
    ) -> None:
        """Correct the estimate by a prompt that was rejected as too long; it is never lowered below that again."""
        self.reported(estimated, tokens)
        self._least = max(
            self._least,
            self.estimate.scale,
        )


def plausible_usage(
    usage: Usage,
    sent: Callable[[], bytes],
    received: int,
) -> Usage:
    """Return a reported usage if it is possible, else the estimate of what was `sent`, without counting any output.

    No tokenizer makes more than a token of a byte. `received` is in bytes.
    """
    is_suspect = (
        usage.input_tokens > _UNSEEN_INPUT
        and usage.input_tokens > len(sent()) + _UNSEEN_INPUT
    )
    if (
        not is_suspect
        and max(usage.output_tokens, usage.reasoning_tokens)
        <= received + _UNSEEN_OUTPUT
    ):
        return usage
    return Usage(
        TokenEstimate().of_text(sent().decode(errors="replace")), is_estimated=True
    )


def _attachment_tokens(attachment: Attachment) -> int:
    if attachment.mime_type.startswith("image/"):
        return _ATTACHMENT
    return max(_ATTACHMENT, len(attachment.data) // _BYTES_PER_TOKEN)


def _weight(text: str) -> int:
    """Return the hundredths of a token of a text."""
    if not text:
        return 0
    plain = text.encode("ascii", "ignore")
    rest = plain.translate(None, _LETTERS)
    signs = len(rest.translate(None, _DIGITS))
    weight = (
        (len(plain) - len(rest)) * _LETTER
        + (len(rest) - signs) * _DIGIT
        + signs * _SIGN
    )
    if len(plain) < len(text):
        first = text.encode("utf-16-be", "surrogatepass")[::2]
        weight += sum(
            (len(first) - len(first.translate(None, of))) * each
            for of, each in _SCRIPTS
        )
        weight -= len(plain) * _SCRIPTS[0][1]
    return weight
