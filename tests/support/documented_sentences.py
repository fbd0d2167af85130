"""The sentences that the documentation says people can say: all that stands in quotation marks, as readers are told."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from html import unescape
from pathlib import Path
from typing import Final

import custom_components

PAGES: Final = (
    "README.md",
    "docs/start.md",
    "docs/talking.md",
    "docs/later.md",
    "docs/past.md",
    "docs/calendar.md",
)
_REPOSITORY: Final = Path(custom_components.__file__).parents[1]
_PICTURE: Final = re.compile(r'!\[([^]]*)\]\([^)]*\)|<img alt="([^"]*)"[^>]*>')
_NO_PROSE: Final = re.compile(r"```.*?```|<[^>]*>|`[^`\n]*`", re.DOTALL)
_COMMAND: Final = re.compile(r'script/demo((?: --say "[^"]+")+)')
_QUOTED: Final = re.compile(r'"([^"]+)"')
_NEEDS_MODEL: Final = "needs a model"
"""The heading of the last column of a table, in whose rows stand yes or no."""


@dataclass(frozen=True, slots=True)
class DocumentedSentence:
    """A sentence of a page."""

    page: str
    text: str
    needs_model: bool = False


def documented_sentences() -> Iterator[DocumentedSentence]:
    """Yield the sentences in quotation marks."""
    for page in PAGES:
        has_column = False
        for block in _blocks(page):
            last = (
                block.strip("| ").rpartition(" | ")[2] if block.startswith("|") else ""
            )
            has_column = last == _NEEDS_MODEL or (has_column and bool(last))
            for text in _QUOTED.findall(block):
                yield DocumentedSentence(
                    page, text, needs_model=has_column and last != "no"
                )


def _blocks(page: str) -> Iterator[str]:
    """Yield the rows of tables, and the paragraphs in one line each."""
    prose = _NO_PROSE.sub("", _PICTURE.sub("", _text(page)))
    for paragraph in re.split(r"\n\s*\n", prose):
        lines = paragraph.splitlines()
        yield from (
            lines
            if lines and lines[0].startswith("|")
            else [" ".join(paragraph.split())]
        )


def documented_talks(page: str) -> list[list[str]]:
    """Return what people say one after the other in the dialogs of a page, and in the commands that start the demo."""
    dialogs = [
        re.findall(r"\*\*You:\*\* (.+?)(?:<br>)?$", one, re.MULTILINE)
        for one in _text(page).split("\n\n")
    ]
    commands = [_QUOTED.findall(one) for one in _COMMAND.findall(_text(page))]
    return [*filter(None, dialogs), *commands]


def pictured_talk(page: str) -> Iterator[tuple[str, str]]:
    """Yield the sentences in the first picture of a conversation on a page, each with its answer."""
    titles = [
        unescape(markdown or html) for markdown, html in _PICTURE.findall(_text(page))
    ]
    sentences = _QUOTED.findall(next(title for title in titles if "Assist: " in title))
    return zip(sentences[::2], sentences[1::2], strict=True)


def _text(page: str) -> str:
    return (_REPOSITORY / page).read_text("utf-8")
