"""Nothing in the product is without a use: each function, class and constant is named outside of its definition.

Tests are no use. Names that are in use elsewhere hide an unused one, so this finds some
dead code, and no false ones.
"""

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from tests.repository.test_size import modules

_CALLED_FROM_OUTSIDE: Final = frozenset(
    {
        "async_setup",
        "async_setup_entry",
        "async_unload_entry",
        "async_remove_entry",
        "async_migrate_entry",
        "CONFIG_SCHEMA",
        "async_pre_backup",
        "async_post_backup",
        "async_describe_events",
        "async_create_fix_flow",
        "async_get_config_entry_diagnostics",
        "async_get_device_diagnostics",
        "PARALLEL_UPDATES",
        "ChatterboxConfigFlow",
        "add_result",  # by those who use `chatterbox_agent`
    }
)

type _Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.AnnAssign


def _uses(tree: ast.Module) -> Iterator[tuple[str, int]]:
    """Yield the names that a module uses, with their lines; imports are no use."""
    for node in ast.walk(tree):
        match node:
            case (
                ast.Name(id=name, ctx=ast.Load())
                | ast.Attribute(attr=name, ctx=ast.Load())
            ):
                yield name, node.lineno
            case ast.Constant(value=str(name)):
                yield name, node.lineno
            case _:
                pass


def _definitions(tree: ast.Module) -> Iterator[tuple[str, _Definition]]:
    for node in ast.walk(tree):
        match node:
            case (
                ast.FunctionDef(name=name)
                | ast.AsyncFunctionDef(name=name)
                | ast.ClassDef(name=name)
            ):
                if not any(
                    ast.unparse(one) == "override" for one in node.decorator_list
                ):
                    yield name, node
            case _:
                pass
    for constant in tree.body:
        match constant:
            case ast.AnnAssign(value=ast.Call(func=ast.Name(id="Reliance"))):
                pass  # `runtime/moved_parts.py` collects them
            case ast.AnnAssign(target=ast.Name(id=name)):
                yield name, constant
            case _:
                pass


def test_everything_is_used() -> None:
    uses: dict[str, set[tuple[Path, int]]] = {}
    for module, tree in modules().items():
        for name, line in _uses(tree):
            uses.setdefault(name, set()).add((module, line))
    unused = {
        f"{module}:{node.lineno} {name}"
        for module, tree in modules().items()
        for name, node in _definitions(tree)
        if not name.startswith(("__", "async_step_"))
        and name not in _CALLED_FROM_OUTSIDE
        and all(
            used == module and node.lineno <= line <= (node.end_lineno or 0)
            for used, line in uses.get(name, ())
        )
    }
    assert unused == set()
