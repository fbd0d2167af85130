"""How much of what a model can read a request has taken, by what it is made of.

Knows numbers only; must not know what was said, or who asks.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PromptSize:
    """The tokens of one request to a model."""

    tools: int
    instructions: int
    """What the model is told of itself and of the home."""
    history: int
    """The conversation, as far as it was sent, with the words of this turn and what came of them."""
    window: int
    """What the model can read at once, its answer included, as far as anybody knows."""
    dropped: int = 0
    """Messages of the conversation, from its first one, that were not sent."""
    is_reported: bool = False
    """Whether the service has told the sum. Otherwise it is estimated, as the parts always are."""

    @property
    def prompt(self) -> int:
        """All of it."""
        return self.tools + self.instructions + self.history

    @property
    def share(self) -> float:
        """Which part of the window the prompt takes; above 1 where it does not fit."""
        return self.prompt / self.window

    def as_reported(self, tokens: int) -> PromptSize:
        """Return the same parts of a prompt that took `tokens`, as its service has counted."""
        estimated = self.prompt
        if tokens <= 0 or not estimated:
            return self
        tools, instructions = (part * tokens // estimated for part in (self.tools, self.instructions))
        history = tokens - tools - instructions
        return PromptSize(tools, instructions, history, self.window, self.dropped, is_reported=True)
