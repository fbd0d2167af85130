"""What is said around a question whether something may be done, and written where it is shown.

Knows the keys of the sentences, and which one fits. Must not know how a question is worded, who answers it, or when.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from math import ceil
from typing import Final

from .approvals import QuestionState

_LONG_WAIT: Final = 90.0
"""Seconds from which on minutes are counted."""
_ANSWERS: Final = frozenset(
    {QuestionState.APPROVED, QuestionState.DENIED, QuestionState.DROPPED, QuestionState.EXPIRED}
)


@dataclass(frozen=True, slots=True)
class ApprovalSentences:
    """The sentences of one language, as `error_bridge.async_get_sentences` returns them."""

    sentences: Mapping[str, str]

    @property
    def declined(self) -> str:
        """Say that nothing is done, after a no."""
        return self.sentences["spoken_declined"]

    @property
    def dropped(self) -> str:
        """Say that nothing was done, because something else was said; comes before the answer to that."""
        return self.sentences["spoken_question_dropped"]

    @property
    def expired(self) -> str:
        """Say that an answer came too late."""
        return self.sentences["spoken_question_expired"]

    @property
    def asked_again(self) -> str:
        """Say why it is asked again after a yes: what would be done is something else by now."""
        return self.sentences["spoken_asked_again"]

    @property
    def nobody_to_ask(self) -> str:
        """Say that a yes is needed, and nobody can give it."""
        return self.sentences["spoken_nobody_to_ask"]

    @property
    def not_allowed(self) -> str:
        """Say that the rules of the household are against it."""
        return self.sentences["spoken_not_allowed"]

    @property
    def not_permitted(self) -> str:
        """Say that the person who asks has no right to control it."""
        return self.sentences["spoken_not_permitted"]

    @property
    def pin_missing(self) -> str:
        """Say that a yes is not enough, and ask for the PIN."""
        return self.sentences["spoken_pin_missing"]

    @property
    def pin_not_set(self) -> str:
        """Say that a PIN is needed, and there is none."""
        return self.sentences["spoken_pin_not_set"]

    @property
    def pin_unclear(self) -> str:
        """Say that something like a PIN was not understood, and ask for it again."""
        return self.sentences["spoken_pin_unclear"]

    def pin_wrong(self, tries_left: int) -> str:
        """Say that a PIN was wrong, when at least one try is left."""
        if tries_left == 1:
            return self.sentences["spoken_pin_wrong_one_left"]
        return self.sentences["spoken_pin_wrong"].format_map({"count": str(tries_left)})

    def pin_locked(self, seconds_left: float) -> str:
        """Say that no PIN is taken for a while."""
        if seconds_left < _LONG_WAIT:
            return self.sentences["spoken_pin_locked_briefly"]
        return self.sentences["spoken_pin_locked"].format_map({"minutes": str(ceil(seconds_left / 60))})

    @property
    def title(self) -> str:
        """What stands above a question that is shown."""
        return self.sentences["question_title"]

    @property
    def yes(self) -> str:
        """What stands on the button that approves."""
        return self.sentences["answer_yes"]

    @property
    def no(self) -> str:
        """What stands on the button that denies."""
        return self.sentences["answer_no"]

    def outcome(self, state: QuestionState) -> str:
        """Tell, where a question is still shown, what became of it; empty as long as that is nothing."""
        return self.sentences[f"question_{state}"] if state in _ANSWERS else ""
