"""Finds retired terms, and names the standard term that replaces each of them.

`script/terms.py` prints how often each retired term is still in use, by folder: in identifiers, docstrings and comments
of Python files, in documentation, and in `translations/en.json`. `--list` prints the places, with the standard term
(`--list link` those of one term). `--strict` ends with status 1 when there are any; `script/lint` decides which it is.

A term is retired by a row of `TERMS`. Records of decisions and the change log keep the words of their day.
"""

import argparse
import ast
import io
import json
import re
import sys
import tokenize
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Final

_REPOSITORY: Final = Path(__file__).resolve().parents[1]
_PRODUCT: Final = Path("custom_components/chatterbox")


@dataclass(frozen=True)
class Term:
    """A retired term; its patterns are looked for in lower case, with the words of an identifier set apart."""

    retired: str
    standard: str
    identifiers: str = ""
    """What identifiers may not contain; whole words."""
    prose: str = ""
    """What docstrings, comments and pages may not contain; whole words."""
    names: frozenset[str] = frozenset()
    """What no identifier may be."""
    elsewhere: tuple[str, ...] = ()
    """Folders in which the term means something else."""

    @cached_property
    def in_identifiers(self) -> re.Pattern[str] | None:
        """Return the pattern for identifiers."""
        return re.compile(rf"\b(?:{self.identifiers})\b") if self.identifiers else None

    @cached_property
    def in_prose(self) -> re.Pattern[str] | None:
        """Return the pattern for prose."""
        return re.compile(rf"\b(?:{self.prose})\b") if self.prose else None


TERMS: Final = (
    Term("taking up", "resume", "tak(?:e|es|en|ing) up|took up|go on", "tak(?:es|en|ing) up|took up"),
    Term("tally", "usage, UsageTracker", "tall(?:y|ies)(?: keeper)?", "tall(?:y|ies)"),
    Term("upkeep", "retention, storage", "upkeep", "upkeep"),
    Term("question notice", "approval notification", "question notices?", "question notices?"),
    Term(
        "link",
        "provider, health monitor",
        "links?|link watch",
        "links? of (?:a|the) chain|link watch",
        elsewhere=("custom_components/chatterbox/speech/text", "tests/speech/text", "tests/repository"),
    ),
    Term("patience", "timeouts", "patien(?:ce|t)", "patience"),
    Term("drive", "TurnRunner.run", "drives?|driving", "drives a turn"),
    Term("beginning", "TurnInput", "(?:turn )?beginnings?", "turn beginnings?"),
    Term("deed", "ActionSummary", "deeds?", "deeds?"),
    Term("spot", "ApprovalScope", "spots?", "spots?"),
    Term("program", "API client, API turn", "(?<!access )programs?", "programs?"),
    Term("house", "Backend (protocol); home (building)", "(?<!demo )houses?", "(?<!demo )houses?"),
    Term("told name", "name resolver", "told names?", "told names?"),
    Term("large home", "entity search", "large homes?|thing ranking", "thing ranking"),
    Term("thing", "ExposedEntity", "things?"),
    Term("claim hold", "what was not done", "claims?|claim hold", "claims?"),
    Term("receipt", "tool result", "receipts?", "receipts?"),
    Term("hidden words", "PIN redaction", "hidden words?", "hidden words?"),
    Term("consent", "spoken confirmation", "consents?", "consents?"),
    Term("known reply", "canned reply", "known repl(?:y|ies)", "known repl(?:y|ies)"),
    Term("kept offer", "tool cache", "kept offers?", "kept offers?"),
    Term("hanging API", "unresponsive API", "hanging apis?", "hanging apis?"),
    Term("gated", "NeedsApproval", "gated", "gated"),
    Term("settled", "Resolved", "settle[ds]?|settling", "settled calls?"),
    Term("for client", "ClientCall", names=frozenset({"ForClient"})),
    Term("frame", "batch", "frames?", "frames?", elsewhere=("custom_components/chatterbox/offline",)),
    Term("seal", "encrypted content", "seal(?:s|ed|ing)?|carriers?", "seal(?:s|ed|ing)?|carriers?"),
    Term(
        "participle as a noun",
        "a noun that says what it is",
        names=frozenset({"Said", "Told", "Shown", "Wanted", "Seen", "Gathered", "Words", "Ways", "Asked", "Taken"}),
    ),
)
"""The Words table of the redraw."""

_OF_OTHERS: Final = frozenset(
    {"sys", "_getframe", "f_back", "ag_frame", "FrameType", "frame", "stack_info", "seal_all", "async_clean_spot"}
)
"""Identifiers that are not ours to name."""
_HISTORY: Final = ("docs/decisions/", "CHANGELOG.md")


@dataclass(frozen=True, slots=True)
class Place:
    """Where a retired term stands."""

    term: Term
    path: Path
    line: int
    text: str

    @property
    def folder(self) -> str:
        """Return the folder that a count is given for: a package of the product, or a folder of the repository."""
        if self.path.is_relative_to(_PRODUCT):
            depth = 4 if self.path.is_relative_to(_PRODUCT / "agent") else 3
            return "/".join(self.path.parts[2 : depth if len(self.path.parts) > depth else -1]) or "chatterbox"
        return self.path.parts[0]


def words(identifier: str) -> str:
    """Set the words of an identifier apart: `TurnInput` and `turn_input` become `turn input`."""
    apart = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", " ", identifier)
    return re.sub(r"[_\s]+", " ", apart).strip().lower()


@cache
def terms_of(identifier: str) -> tuple[Term, ...]:
    """Return the retired terms of an identifier."""
    apart = words(identifier)
    return tuple(
        term
        for term in TERMS
        if identifier in term.names or (term.in_identifiers and term.in_identifiers.search(apart))
    )


def in_identifier(path: Path, line: int, identifier: str) -> Iterator[Place]:
    """Yield where an identifier contains retired terms."""
    yield from (Place(term, path, line, identifier) for term in terms_of(identifier))


def in_prose(path: Path, line: int, text: str) -> Iterator[Place]:
    """Yield the retired terms of a text that begins on a line."""
    for number, row in enumerate(text.splitlines(), line):
        for term in TERMS:
            for _ in term.in_prose.finditer(row.lower()) if term.in_prose else ():
                yield Place(term, path, number, row.strip())


def docstrings(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Yield docstrings, those of attributes too, with their first lines."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            yield node.lineno, node.value.value


def in_python(path: Path, source: str) -> Iterator[Place]:
    """Yield the retired terms of a module; an identifier counts wherever it is used."""
    yield from in_identifier(path, 0, path.stem)
    for line, text in docstrings(ast.parse(source)):
        yield from in_prose(path, line, text)
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.NAME and token.string not in _OF_OTHERS:
            yield from in_identifier(path, token.start[0], token.string)
        elif token.type == tokenize.COMMENT:
            yield from in_prose(path, token.start[0], token.string)


def texts(translations: Mapping[str, object]) -> Iterator[str]:
    """Yield the texts of a file of translations."""
    for value in translations.values():
        if isinstance(value, dict):
            yield from texts(value)
        else:
            yield str(value)


def places() -> Iterator[Place]:
    """Yield every place of a retired term in the repository."""
    for place in candidates():
        if not place.path.as_posix().startswith(place.term.elsewhere):
            yield place


def candidates() -> Iterator[Place]:
    """Yield every place where a pattern of a retired term fits."""
    for folder in (_PRODUCT, *map(Path, ("bench", "demo", "script", "tests"))):
        for path in sorted((_REPOSITORY / folder).rglob("*.py")):
            if path != Path(__file__).resolve():
                yield from in_python(path.relative_to(_REPOSITORY), path.read_text(encoding="utf-8"))
    for path in sorted([*_REPOSITORY.glob("*.md"), *(_REPOSITORY / "docs").rglob("*.md")]):
        relative = path.relative_to(_REPOSITORY)
        if not relative.as_posix().startswith(_HISTORY):
            yield from in_prose(relative, 1, path.read_text(encoding="utf-8"))
    english = _PRODUCT / "translations" / "en.json"
    for text in texts(json.loads((_REPOSITORY / english).read_text(encoding="utf-8"))):
        yield from (Place(place.term, english, 0, text) for place in in_prose(english, 1, text))


def table(found: Sequence[Place]) -> str:
    """Return the counts of each term: of all folders, and of those that hold most of them."""
    rows: list[str] = []
    for term, count in Counter(place.term for place in found).most_common():
        folders = Counter(place.folder for place in found if place.term is term).most_common()
        rows.append(
            f"{count:6}  {term.retired} → {term.standard}: " + ", ".join(f"{name} {number}" for name, number in folders)
        )
    return "\n".join([*rows, f"{len(found):6}  in all", ""])


def main() -> int:
    """Print what is found, and judge."""
    parser = argparse.ArgumentParser(prog="script/terms.py", description=__doc__)
    parser.add_argument("--strict", action="store_true", help="end with status 1 when a retired term is in use")
    parser.add_argument("--list", nargs="?", const="", metavar="TERM", help="print the places, of one term or of all")
    arguments = parser.parse_args()
    found = [*places()]
    if arguments.list is not None:
        for place in found:
            if arguments.list in {"", place.term.retired}:
                print(f"{place.path}:{place.line}: {place.term.retired} → {place.term.standard}: {place.text}")
    else:
        sys.stdout.write(table(found))
    return int(arguments.strict and bool(found))


if __name__ == "__main__":
    sys.exit(main())
