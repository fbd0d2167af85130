"""Recognizes answers that report an action which no tool result confirms.

A model sometimes says "I've turned on the light" without having called a tool. Whether an answer claims an action is
decided by its words, without a model; the recorded tool results decide whether the claim is true. Each language is a
file in `languages/`. `docs/receipts.md` shows how well each of them works.
"""

from .check import CHECKED_LANGUAGES, changed_something, claims_action
from .filter import UnverifiedActionFilter

__all__ = ["CHECKED_LANGUAGES", "UnverifiedActionFilter", "changed_something", "claims_action"]
