"""How the pages of users read: the words of a sentence, and the sentences that are instructions.

Run it with `python -m bench.instructions`; with `--list PAGE`, it prints the sentences of
a page. Counted are whole sentences of paragraphs and lists. Headings, tables, code and
dialogs are looked up, so they are not counted.
"""

import argparse
import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Final

from tests.support.page_tables import DOCS

_FOR_OTHERS: Final = {"API and Python", "Contribute"}
"""Sections of the site that are for developers."""
_REFERENCE: Final = {"actions.md", "events.md", "performance.md"}
"""Pages of the other sections in which data or figures are looked up."""
_LOOKED_UP: Final = re.compile(
    r"^ *```.*?^ *```|^ *[|#>!].*?$", re.DOTALL | re.MULTILINE
)
_BLOCK: Final = re.compile(r"\n\s*\n|\n(?= *(?:-|\d+\.) )")
_BULLET: Final = re.compile(r"^\s*(?:-|\d+\.) ")
_LABEL: Final = re.compile(r"^(?:\*\*[^*]+\*\*|(?:`[^`]+`(?:, )?)+)(?: \([^)]*\))?: ")
"""A symptom, a message or a name, of which the rest of its line tells."""
_QUOTED: Final = re.compile(r'`[^`]*`|"[^"]*"|(?<!\*)\*[^*]+\*(?!\*)')
_END: Final = re.compile(r"(?<=[.?!])[\"*]?\s+(?=[A-Z\"*`])")
_LEAD_IN: Final = re.compile(r"^(?:To|For) [^,]*:$")
"""Words above steps, which are no sentence by themselves."""
_CLAUSE: Final = re.compile(
    r"^(?:(?:After|As|At|Before|For|From|If|In|On|Once|To|When|Where|While|With|Without)"
    r"\b[^,:]*[,:] |(?:Also|Else|First|Or|Otherwise|Please|So|Then),? )+",
    re.IGNORECASE,
)
_VERBS: Final = frozenset(
    (
        "add",
        "agree",
        "allow",
        "annotate",
        "answer",
        "ask",
        "begin",
        "buy",
        "call",
        "change",
        "check",
        "choose",
        "configure",
        "connect",
        "continue",
        "copy",
        "correct",
        "create",
        "delete",
        "do",
        "don't",
        "download",
        "drag",
        "enable",
        "enter",
        "export",
        "expose",
        "fill",
        "find",
        "free",
        "get",
        "give",
        "ignore",
        "install",
        "keep",
        "know",
        "leave",
        "let",
        "look",
        "lower",
        "make",
        "mend",
        "move",
        "name",
        "open",
        "paste",
        "pull",
        "put",
        "raise",
        "read",
        "remove",
        "repeat",
        "report",
        "require",
        "restart",
        "restore",
        "review",
        "run",
        "save",
        "say",
        "search",
        "see",
        "send",
        "set",
        "show",
        "speak",
        "start",
        "state",
        "submit",
        "switch",
        "take",
        "tell",
        "tick",
        "top",
        "trust",
        "try",
        "turn",
        "type",
        "uninstall",
        "unpack",
        "update",
        "use",
        "wait",
        "write",
    )
)
"""Those that instructions of these pages begin with."""


@dataclass(frozen=True, slots=True)
class Counts:
    """The counts of one page, or of several."""

    sentences: int
    words: int
    instructions: int

    @property
    def words_each(self) -> float:
        """The average length of a sentence."""
        return self.words / self.sentences

    @property
    def share(self) -> float:
        """The share of instructions."""
        return self.instructions / self.sentences


def user_pages() -> list[str]:
    """Return the pages of the site that are for users, in its order."""
    section = ""
    pages: list[str] = []
    for title, page in re.findall(
        r"^ +- ([^:\n]+):(?: ([\w-]+\.md))?$",
        (DOCS.parent / "mkdocs.yml").read_text("utf-8"),
        re.MULTILINE,
    ):
        if not page:
            section = title
        elif section and section not in _FOR_OTHERS and page not in _REFERENCE:
            pages.append(page)
    return pages


def sentences_of(text: str) -> Iterator[str]:
    """Yield the sentences of a page, without markup."""
    for block in _BLOCK.split(_LOOKED_UP.sub("", text)):
        prose = _LABEL.sub("", _BULLET.sub("", " ".join(block.split())))
        prose = re.sub(r"\[([^]]+)\]\([^)]*\)", r"\1", prose)
        prose = _QUOTED.sub(lambda quoted: re.sub(r"[.?!](?=..)", "", quoted[0]), prose)
        for sentence in _END.split(prose.replace("**", "")):
            if re.search(r"[.?!:][\"*)]?$", sentence) and not _LEAD_IN.match(sentence):
                yield sentence


def is_instruction(sentence: str) -> bool:
    """Return whether a sentence tells its reader to do something."""
    return _CLAUSE.sub("", sentence).lower().split()[0].strip(",:.") in _VERBS


def count(sentences: Iterable[str]) -> Counts:
    """Count sentences, their words and the instructions among them."""
    all_of_them = [*sentences]
    return Counts(
        len(all_of_them),
        sum(
            bool(re.search(r"\w", word)) for one in all_of_them for word in one.split()
        ),
        sum(map(is_instruction, all_of_them)),
    )


def main() -> None:
    """Print the counts of each page and of all, or the sentences of one page."""
    parser = argparse.ArgumentParser(prog="bench.instructions", description=__doc__)
    parser.add_argument("--list", metavar="PAGE", help="print the sentences of a page")
    if page := parser.parse_args().list:
        for sentence in sentences_of((DOCS / page).read_text("utf-8")):
            mark = "*" if is_instruction(sentence) else " "
            sys.stdout.write(f"{mark} {sentence}\n")
        return
    sentences = {
        page: [*sentences_of((DOCS / page).read_text("utf-8"))] for page in user_pages()
    }
    sentences["all"] = [*chain.from_iterable(sentences.values())]
    for name, some in sentences.items():
        counts = count(some)
        sys.stdout.write(
            f"{name:24}{counts.sentences:5} sentences{counts.words_each:6.1f} words each"
            f"{counts.instructions:5} instructions{counts.share:6.0%}\n"
        )


if __name__ == "__main__":
    main()
