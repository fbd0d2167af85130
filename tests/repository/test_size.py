"""The product, its page and its tests stay as small as they are, or shrink.

A feature raises a ceiling by the lines that it adds; whoever gets below a ceiling lowers it in the same change. Counts
are lines of code: docstrings, comments, imports and blank lines are free, so that explaining costs nothing.
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
LINES_OF_A_FRAGMENT: Final = 60
"""A shorter module with a single importer is a fragment: it might better be a part of its importer."""

CEILINGS: Final = {
    "lines of code of the product": 38_918,
    "modules of the product": 298,
    "lines of code of the tests": 71_529,
    "fragments": 4,
    "lines of code of the page": 2_763,
}

_NO_CODE: Final = frozenset(
    {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}
)


@cache
def modules() -> Mapping[Path, ast.Module]:
    """Return the modules of the product, by their path in it."""
    return {path.relative_to(PRODUCT): ast.parse(path.read_bytes()) for path in sorted(PRODUCT.rglob("*.py"))}


def lines(path: Path) -> int:
    """Return the number of lines of a file."""
    return path.read_bytes().count(b"\n")


def lines_of_code(path: Path) -> int:
    """Return the number of lines of a file without docstrings, comments, imports and blank lines."""
    source = path.read_text(encoding="utf-8")
    free: set[int] = set()
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Import() | ast.ImportFrom() | ast.Expr(value=ast.Constant(value=str())):
                free.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
            case _:
                pass
    tokens = tokenize.generate_tokens(StringIO(source).readline)
    code = (token for token in tokens if token.type not in _NO_CODE)
    return len({line for token in code for line in range(token.start[0], token.end[0] + 1)} - free)


_TYPESCRIPT_FREE: Final = re.compile(r"^\s*(/\*.*?\*/|//[^\n]*|import\b[^;]*;)\s*$", re.MULTILINE | re.DOTALL)


def lines_of_typescript(path: Path) -> int:
    """Return the number of lines of a file without comments, imports and blank lines. Markup and styles are code."""
    code = _TYPESCRIPT_FREE.sub("", path.read_text(encoding="utf-8"))
    return sum(bool(line.strip()) for line in code.splitlines())


def imported(module: Path, tree: ast.Module) -> Iterator[Path]:
    """Yield the modules of the product that a module imports."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.level:
            folder = module.parents[node.level - 1].joinpath(*(node.module or "").split("."))
            for name in node.names:
                choices = [folder / f"{name.name}.py", folder / name.name / "__init__.py", folder / "__init__.py"]
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
        if len(by) == 1 and module.name != "__init__.py" and lines(PRODUCT / module) < LINES_OF_A_FRAGMENT
    ]


def test_lines_modules_and_fragments_stay_below_their_ceilings() -> None:
    counts = {
        "lines of code of the product": sum(lines_of_code(PRODUCT / module) for module in modules()),
        "modules of the product": len(modules()),
        "lines of code of the tests": sum(map(lines_of_code, (REPOSITORY / "tests").rglob("*.py"))),
        "fragments": len(fragments()),
        "lines of code of the page": sum(map(lines_of_typescript, PAGE.glob("*.ts"))),
    }
    too_many = {what: count for what, count in counts.items() if count > CEILINGS[what]}
    assert not too_many, "\n".join(sorted(fragments()))


def test_folders_can_be_taken_in_at_a_glance() -> None:
    folders = Counter(module.parent.as_posix() for module in modules())
    ceilings = {".": MODULES_AT_ROOT}
    assert {
        folder: count for folder, count in folders.items() if count > ceilings.get(folder, MODULES_IN_A_FOLDER)
    } == {}


def test_functions_fit_on_a_screen() -> None:
    functions = (
        (f"{module}: {node.name}", node.end_lineno - node.lineno + 1)
        for module, tree in modules().items()
        for node in ast.walk(tree)
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.end_lineno
    )
    assert {name: length for name, length in functions if length > LINES_OF_A_FUNCTION} == {}


NAMED_ALIKE: Final = {"async_setup_entry", "request_to_payload"}
"""Functions that Home Assistant looks up by their name, and one that each wire format has."""


def public_names(tree: ast.Module) -> set[str]:
    """Return the public names of the classes, type aliases and functions that a module defines."""
    names: set[str] = set()
    for node in tree.body:
        match node:
            case ast.ClassDef(name=name) | ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                names.add(name)
            case ast.TypeAlias(name=ast.Name(id=name)):
                names.add(name)
            case _:
                pass
    return {name for name in names if not name.startswith("_")} - NAMED_ALIKE


def test_a_public_name_is_defined_once() -> None:
    names = Counter(name for tree in modules().values() for name in public_names(tree))
    assert {name: count for name, count in names.items() if count > 1} == {}
