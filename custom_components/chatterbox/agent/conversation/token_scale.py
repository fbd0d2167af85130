"""The token estimate of one model, which learns from what its service reports.

Knows estimates and reports; must not know what was counted. A window moves with the estimate, and a window that moves
loses its place in the service's cache: so it grows at once where it was too small, and shrinks only when many reports
in a row agree that it is too large.
"""

from typing import Final

from .token_estimate import TokenEstimate

_AGREEING: Final = 8
"""Reports in a row that say the estimate is too large, until it is believed; twice as many each further time."""


class TokenScale:
    """Keeps the one `TokenEstimate` of a model."""

    def __init__(self) -> None:
        """Begin with what most services count."""
        self.estimate = TokenEstimate()
        self._least = 0.0
        """The scale below which a prompt was refused."""
        self._lower: list[float] = []
        """The scales of the last reports that asked for a lower one."""
        self._needed = _AGREEING

    def reported(self, estimated: int, tokens: int) -> None:
        """Learn from a request that was `estimated` by the present estimate, and took `tokens`; 0 is unknown."""
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

    def refused(self, estimated: int, tokens: int) -> None:
        """Learn from a prompt that was too long: from now on at least so much is counted."""
        self.reported(estimated, tokens)
        self._least = max(self._least, self.estimate.scale)
