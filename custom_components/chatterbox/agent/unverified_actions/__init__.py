"""Recognizes answers that report an action which no tool result confirms.

A model sometimes says "I've turned on the light" without having called a tool. Whether an answer reports an action is
decided by its words, without a model; the recorded tool results decide whether the report is true. Each language is a
file in `languages/`. `docs/unverified-actions.md` shows how well each of them works.
"""

from .check import CHECKED_LANGUAGES, UnverifiedActionFilter, changed_something, reports_action

__all__ = ["CHECKED_LANGUAGES", "UnverifiedActionFilter", "changed_something", "reports_action"]
