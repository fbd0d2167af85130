"""Token counts of a request by its parts."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PromptSize:
    """The tokens of one request to a model."""

    tools: int
    instructions: int
    """The system prompt, the description of the home included."""
    history: int
    """The messages that were sent, those of this turn included."""
    window: int
    """Context window of the model, the answer included."""
    dropped: int = 0
    """Messages at the beginning of the conversation that were not sent."""
    is_reported: bool = False
    """Whether the service reported the sum; the parts are always estimates."""

    @property
    def prompt(self) -> int:
        """Tokens of the whole prompt."""
        return self.tools + self.instructions + self.history

    @property
    def share(self) -> float:
        """Prompt tokens divided by the window; above 1 where it does not fit."""
        return self.prompt / self.window

    def as_reported(self, tokens: int) -> PromptSize:
        """Scale the parts to the `tokens` that the service reported."""
        estimated = self.prompt
        if tokens <= 0 or not estimated:
            return self
        tools, instructions = (part * tokens // estimated for part in (self.tools, self.instructions))
        history = tokens - tools - instructions
        return PromptSize(tools, instructions, history, self.window, self.dropped, is_reported=True)
