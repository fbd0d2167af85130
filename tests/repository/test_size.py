"""The product, its page and its tests stay as small as they are, or shrink.

A feature raises a ceiling by what it adds; whoever gets below a ceiling lowers it in the
same change. Counts are tokens of code: docstrings, comments and imports are free, so that
neither explaining nor a line of its own costs anything. Decision 65.
"""

import ast
import re
import tokenize
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from functools import cache
from io import StringIO
from pathlib import Path
from typing import Final

REPOSITORY: Final = Path(__file__).parents[2]
PRODUCT: Final = REPOSITORY / "custom_components" / "chatterbox"
PAGE: Final = REPOSITORY / "frontend" / "src"

MODULES_AT_ROOT: Final = 15
MODULES_IN_A_FOLDER: Final = 20
LINES_OF_A_FUNCTION: Final = 50
PATHS_OF_A_FUNCTION: Final = 15
"""The McCabe number, with `and`, `or`, conditional expressions and comprehensions."""
MOST_PATHS: Final = 20
"""Of the few functions that are above."""
TOKENS_OF_A_LINE: Final = 6.5
"""On average, of lines with code; Home Assistant's own have 5.3 to 6.1."""
LINES_OF_A_FRAGMENT: Final = 60
"""A shorter module with a single importer is a fragment: it might better be a part of it."""

CEILINGS: Final = {
    "tokens of the product": 488_130,
    "modules of the product": 331,
    "tokens of the tests": 847_410,
    "fragments": 1,
    "lines of code of the page": 2_829,
    "functions of the product that are too long": 3,
    "functions of the product with too many paths": 5,
}

_NO_CODE: Final = frozenset(
    {
        tokenize.COMMENT,
        tokenize.NL,
        tokenize.INDENT,
        tokenize.DEDENT,
        tokenize.ENDMARKER,
    }
)


@cache
def modules() -> Mapping[Path, ast.Module]:
    """Return the modules of the product, by their path in it."""
    return {
        path.relative_to(PRODUCT): ast.parse(path.read_bytes())
        for path in sorted(PRODUCT.rglob("*.py"))
    }


def lines(path: Path) -> int:
    """Return the number of lines of a file."""
    return path.read_bytes().count(b"\n")


@cache
def tokens_by_line(path: Path) -> Counter[int]:
    """Return the number of tokens of each line with code: docstrings, comments and imports are none."""
    counts, statement = Counter[int](), list[tokenize.TokenInfo]()
    source = path.read_text(encoding="utf-8")
    for token in tokenize.generate_tokens(StringIO(source).readline):
        if token.type == tokenize.NEWLINE:
            is_import = statement[0].string in {"import", "from"}
            if not is_import and {one.type for one in statement} != {tokenize.STRING}:
                counts.update(one.start[0] for one in statement)
            statement.clear()
        elif token.type not in _NO_CODE:
            statement.append(token)
    return counts


def tokens_of_code(path: Path) -> int:
    """Return the number of tokens of a file without docstrings, comments and imports."""
    return tokens_by_line(path).total()


type Function = ast.FunctionDef | ast.AsyncFunctionDef


def functions() -> Iterator[tuple[str, Function]]:
    """Yield the functions of the product, each with its module and name."""
    for module, tree in modules().items():
        for node in ast.walk(tree):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                yield f"{module}: {node.name}", node


def paths(function: Function) -> int:
    """Return the McCabe number of a function, as `radon cc` counts it."""
    return 1 + sum(map(_branches, ast.walk(function)))


def _branches(node: ast.AST) -> int:
    """Return the number of paths that a node adds."""
    match node:
        case ast.If() | ast.IfExp() | ast.Assert() | ast.Lambda():
            return 1
        case ast.For() | ast.AsyncFor() | ast.While():
            return 1 + bool(node.orelse)
        case ast.BoolOp():
            return len(node.values) - 1
        case ast.Try():
            return len(node.handlers) + bool(node.orelse)
        case ast.comprehension():
            return 1 + len(node.ifs)
        case ast.Match():
            return sum(not _always_matches(case) for case in node.cases)
        case _:
            return 0


def _always_matches(case: ast.match_case) -> bool:
    """Return whether a case is the one for all else."""
    match case.pattern:
        case ast.MatchAs(pattern=None, name=None):
            return case.guard is None
        case _:
            return False


_TYPESCRIPT_FREE: Final = re.compile(
    r"^\s*(/\*.*?\*/|//[^\n]*|import\b[^;]*;)\s*$", re.MULTILINE | re.DOTALL
)


def lines_of_typescript(path: Path) -> int:
    """Return the number of lines of a file without comments, imports and blank lines. Markup and styles are code."""
    code = _TYPESCRIPT_FREE.sub("", path.read_text(encoding="utf-8"))
    return sum(bool(line.strip()) for line in code.splitlines())


def imported(module: Path, tree: ast.Module) -> Iterator[Path]:
    """Yield the modules of the product that a module imports."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.level:
            folder = module.parents[node.level - 1].joinpath(
                *(node.module or "").split(".")
            )
            for name in node.names:
                choices = [
                    folder / f"{name.name}.py",
                    folder / name.name / "__init__.py",
                    folder / "__init__.py",
                ]
                choices += [folder.with_suffix(".py")] if folder.name else []
                yield from [choice for choice in choices if choice in modules()][:1]


def fragments() -> list[str]:
    """Return the paths of the fragments."""
    importers: defaultdict[Path, set[Path]] = defaultdict(set)
    for module, tree in modules().items():
        for other in imported(module, tree):
            importers[other].add(module)
    return [
        str(module)
        for module, by in importers.items()
        if len(by) == 1
        and module.name != "__init__.py"
        and lines(PRODUCT / module) < LINES_OF_A_FRAGMENT
    ]


def too_long() -> list[str]:
    """Return the functions of the product that do not fit on a screen."""
    return [
        f"{name}: {length} lines"
        for name, node in functions()
        if (length := (node.end_lineno or node.lineno) - node.lineno + 1)
        > LINES_OF_A_FUNCTION
    ]


def too_branched() -> list[str]:
    """Return the functions of the product that are not understood in one reading."""
    return [
        f"{name}: {number} paths"
        for name, node in functions()
        if (number := paths(node)) > PATHS_OF_A_FUNCTION
    ]


def test_everything_stays_below_its_ceiling() -> None:
    found = {
        "fragments": fragments(),
        "functions of the product that are too long": too_long(),
        "functions of the product with too many paths": too_branched(),
    }
    tests = (REPOSITORY / "tests").rglob("*.py")
    counts = {name: len(places) for name, places in found.items()} | {
        "tokens of the product": sum(
            tokens_of_code(PRODUCT / path) for path in modules()
        ),
        "modules of the product": len(modules()),
        "tokens of the tests": sum(map(tokens_of_code, tests)),
        "lines of code of the page": sum(map(lines_of_typescript, PAGE.glob("*.ts"))),
    }
    too_many = {name: counts[name] for name in counts if counts[name] > CEILINGS[name]}
    places = [
        place for name in found.keys() & too_many for place in sorted(found[name])
    ]
    assert too_many == {}, "\n".join(places)


def test_no_function_has_more_paths_than_a_reader_can_follow() -> None:
    worst = {
        name: number
        for name, node in functions()
        if (number := paths(node)) > MOST_PATHS
    }
    assert worst == {}


def test_code_is_read_line_by_line() -> None:
    by_line = [tokens_by_line(PRODUCT / path) for path in modules()]
    tokens = sum(map(Counter.total, by_line))
    assert tokens <= TOKENS_OF_A_LINE * sum(map(len, by_line))


def test_folders_can_be_taken_in_at_a_glance() -> None:
    folders = Counter(module.parent.as_posix() for module in modules())
    ceilings = {".": MODULES_AT_ROOT}
    assert {
        folder: count
        for folder, count in folders.items()
        if count > ceilings.get(folder, MODULES_IN_A_FOLDER)
    } == {}


NAMED_ALIKE: Final = {"async_setup_entry", "request_to_payload"}
"""Functions that Home Assistant looks up by their name, and one that each wire format has."""


def public_names(tree: ast.Module) -> set[str]:
    """Return the public names of the classes, type aliases and functions that a module defines."""
    names: set[str] = set()
    for node in tree.body:
        match node:
            case (
                ast.ClassDef(name=name)
                | ast.FunctionDef(name=name)
                | ast.AsyncFunctionDef(name=name)
            ):
                names.add(name)
            case ast.TypeAlias(name=ast.Name(id=name)):
                names.add(name)
            case _:
                pass
    return {name for name in names if not name.startswith("_")} - NAMED_ALIKE


def test_a_public_name_is_defined_once() -> None:
    names = Counter(name for tree in modules().values() for name in public_names(tree))
    assert {name: count for name, count in names.items() if count > 1} == {}
