"""Finds retired terms, and names the standard term that replaces each of them.

`script/terms.py` prints how often each retired term is still in use, by folder: in
identifiers, docstrings and comments of Python files, in documentation, and in
`translations/en.json`. `--list` prints the places, with the standard term (`--list
link` those of one term). `--strict`, as in `script/lint`, ends with status 1 when a
retired term is in use.

A term is retired by a row of `TERMS`. Records of decisions and the change log keep the
words of their day.
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
    things: frozenset[str] = frozenset()
    """What no variable, parameter or attribute may be called, apart from underscores."""
    are_verbs: bool = False
    """Whether functions may be called like `things`."""
    openings: str = ""
    """What no docstring may begin with; whole words."""
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

    @cached_property
    def in_openings(self) -> re.Pattern[str] | None:
        """Return the pattern for the first words of docstrings."""
        return re.compile(rf"(?:{self.openings})\b") if self.openings else None


TERMS: Final = (
    Term(
        "taking up",
        "resume",
        "tak(?:e|es|en|ing) up|took up|go on",
        "tak(?:es|en|ing) up|took up",
    ),
    Term("tally", "usage, UsageTracker", "tall(?:y|ies)(?: keeper)?", "tall(?:y|ies)"),
    Term("upkeep", "retention, storage", "upkeep", "upkeep"),
    Term(
        "question notice",
        "approval notification",
        "question notices?",
        "question notices?",
    ),
    Term(
        "link",
        "provider, health monitor",
        "links?|link watch",
        "links? of (?:a|the) chain|link watch",
        elsewhere=(
            "custom_components/chatterbox/speech/text",
            "tests/speech/text",
            "tests/repository",
        ),
    ),
    Term("patience", "timeouts", "patien(?:ce|t)", "patience"),
    Term("drive", "TurnRunner.run", "drives?|driving", "drives a turn"),
    Term("beginning", "TurnInput", "(?:turn )?beginnings?", "turn beginnings?"),
    Term("deed", "ActionSummary", "deeds?", "deeds?"),
    Term("spot", "ApprovalScope", "spots?", "spots?"),
    Term("program", "API client, API turn", "(?<!access )programs?", "programs?"),
    Term(
        "house",
        "Backend (protocol); home (building)",
        "(?<!demo )houses?",
        "(?<!demo )houses?",
    ),
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
    Term(
        "frame",
        "batch",
        "frames?",
        "frames?",
        elsewhere=("custom_components/chatterbox/offline",),
    ),
    Term(
        "seal",
        "encrypted content",
        "seal(?:s|ed|ing)?|carriers?",
        "seal(?:s|ed|ing)?|carriers?",
    ),
    Term(
        "participle as a noun",
        "a noun that says what it is",
        names=frozenset(
            {
                "Said",
                "Told",
                "Shown",
                "Wanted",
                "Seen",
                "Gathered",
                "Words",
                "Ways",
                "Asked",
                "Taken",
            }
        ),
    ),
    *(
        Term(
            participle,
            noun,
            things=frozenset({participle}),
            are_verbs=participle == "read",
        )
        for participle, noun in (
            ("said", "words, spoken_text, sentence"),
            ("read", "turn_input, parsed"),
            ("shown", "page, form, content, display"),
            ("asked", "request, question"),
            ("kept", "stored, remaining, retained"),
            ("told", "message, answer, notice"),
        )
    ),
    Term("What, Who", "a subject that says what the thing is", openings="what|who"),
    Term(
        "others their turn",
        "yield to the event loop",
        prose=r"(?:giv(?:e|es|ing)|let) others (?:have )?their turn",
    ),
    Term(
        "wish of a model",
        "call",
        prose=r"wish(?:es)? of (?:a|the) model|models?'s? wish(?:es)?",
    ),
    Term("the same of", "the same for", prose=r"the same of an? \w+"),
)
"""The Words table of the redraw."""

_THINGS: Final = {name: term for term in TERMS for name in term.things}
_OF_OTHERS: Final = frozenset(
    {
        "sys",
        "_getframe",
        "f_back",
        "ag_frame",
        "FrameType",
        "frame",
        "stack_info",
        "seal_all",
        "async_clean_spot",
    }
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
            return (
                "/".join(
                    self.path.parts[2 : depth if len(self.path.parts) > depth else -1]
                )
                or "chatterbox"
            )
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
        if identifier in term.names
        or (term.in_identifiers and term.in_identifiers.search(apart))
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
        if (
            isinstance(node, ast.Expr)
            and isinstance(node.value, ast.Constant)
            and isinstance(node.value.value, str)
        ):
            yield node.lineno, node.value.value


def definitions(tree: ast.Module) -> Iterator[tuple[int, str, bool]]:
    """Yield where a name is given, the name, and whether it is that of a function."""
    for node in ast.walk(tree):
        match node:
            case (
                ast.Name(id=name, ctx=ast.Store())
                | ast.Attribute(attr=name, ctx=ast.Store())
                | ast.arg(arg=name)
            ):
                yield node.lineno, name, False
            case (
                ast.MatchAs(name=str(name))
                | ast.MatchStar(name=str(name))
                | ast.ExceptHandler(name=str(name))
            ):
                yield node.lineno, name, False
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                yield node.lineno, name, True
            case _:
                pass


def in_things(path: Path, tree: ast.Module) -> Iterator[Place]:
    """Yield the names of things that are retired; a name counts where it is given."""
    for line, name, is_function in definitions(tree):
        if (term := _THINGS.get(name.strip("_"))) is not None and not (
            term.are_verbs and is_function
        ):
            yield Place(term, path, line, name)


def in_openings(path: Path, line: int, text: str) -> Iterator[Place]:
    """Yield the retired first words of a docstring."""
    for term in TERMS:
        if term.in_openings and term.in_openings.match(text.lower()):
            yield Place(term, path, line, text.splitlines()[0])


def in_python(path: Path, source: str) -> Iterator[Place]:
    """Yield the retired terms of a module; an identifier counts wherever it is used."""
    yield from in_identifier(path, 0, path.stem)
    tree = ast.parse(source)
    yield from in_things(path, tree)
    for line, text in docstrings(tree):
        yield from in_prose(path, line, text)
        yield from in_openings(path, line, text)
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
                yield from in_python(
                    path.relative_to(_REPOSITORY), path.read_text(encoding="utf-8")
                )
    for path in sorted(
        [*_REPOSITORY.glob("*.md"), *(_REPOSITORY / "docs").rglob("*.md")]
    ):
        relative = path.relative_to(_REPOSITORY)
        if not relative.as_posix().startswith(_HISTORY):
            yield from in_prose(relative, 1, path.read_text(encoding="utf-8"))
    english = _PRODUCT / "translations" / "en.json"
    for text in texts(json.loads((_REPOSITORY / english).read_text(encoding="utf-8"))):
        yield from (
            Place(place.term, english, 0, text) for place in in_prose(english, 1, text)
        )


def table(found: Sequence[Place]) -> str:
    """Return the counts of each term: of all folders, and of those that hold most of them."""
    rows: list[str] = []
    for term, count in Counter(place.term for place in found).most_common():
        folders = Counter(
            place.folder for place in found if place.term is term
        ).most_common()
        rows.append(
            f"{count:6}  {term.retired} → {term.standard}: "
            + ", ".join(f"{name} {number}" for name, number in folders)
        )
    return "\n".join([*rows, f"{len(found):6}  in all", ""])


def main() -> int:
    """Print what is found, and judge."""
    parser = argparse.ArgumentParser(prog="script/terms.py", description=__doc__)
    parser.add_argument(
        "--strict",
        action="store_true",
        help="end with status 1 when a retired term is in use",
    )
    parser.add_argument(
        "--list",
        nargs="?",
        const="",
        metavar="TERM",
        help="print the places, of one term or of all",
    )
    arguments = parser.parse_args()
    found = [*places()]
    if arguments.list is not None:
        for place in found:
            if arguments.list in {"", place.term.retired}:
                print(
                    f"{place.path}:{place.line}: {place.term.retired} → {place.term.standard}: {place.text}"
                )
    else:
        sys.stdout.write(table(found))
    return int(arguments.strict and bool(found))


if __name__ == "__main__":
    sys.exit(main())
