"""Errors of a demo, in words for the person who started it."""


class DemoError(Exception):
    """The demo cannot go on; the text says what happened and what to do."""
