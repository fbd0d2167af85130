"""Break lines that matter, one at a time, and count how many of them the tests notice.

Run it with `python -m bench.mutations`: 40 lines, picked at random from the state
machine, approvals, effects, the history store, the wire formats, repairs of calls,
sentences, plans and turns, are changed in copies of the working tree, and the tests of
each module run against its mutants. It prints the survivors with a diff and ends with
status 1 when fewer than 38 are caught. `--seed` picks other lines, `--number` more of
them, `--area` those of one area alone. A mutant is caught, too, when its tests take
three times as long as without it. Forty mutants take about half an hour of two
processors.

`mutmut` and `cosmic-ray` do not fit: both want to run one command for all mutants, or
change the working tree.
"""

import argparse
import ast
import asyncio
import difflib
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

_REPOSITORY: Final = Path(__file__).resolve().parents[1]
_PRODUCT: Final = Path("custom_components/chatterbox")
_NUMBER: Final = 40
_ENOUGH: Final = 0.95
"""Of the mutants have to be caught."""
_AT_ONCE: Final = 2
_TIME: Final = 600.0
"""Seconds that the tests may take without a mutant."""
_TEST_TIME: Final = 60
"""Seconds that one test may take."""


@dataclass(frozen=True, slots=True)
class Area:
    """Modules of the product, and the tests that have to notice when one of them is broken."""

    modules: tuple[str, ...]
    """Patterns of paths in the product."""
    tests: tuple[str, ...]
    """Patterns of paths below `tests/`; tests of a module's own name run first."""


AREAS: Final = {
    "next_step": Area(
        ("agent/loop/next_step.py",),
        ("agent/loop/**/test_*.py",),
    ),
    "approvals": Area(
        ("approvals/guard.py", "approvals/policy.py", "approvals/questions.py"),
        (
            "approvals/**/test_*.py",
            "actions/test_answers.py",
            "behaviour/confirmation/test_*.py",
            "behaviour/hostile/test_one_yes.py",
            "behaviour/test_missed_plans.py",
            "behaviour/test_what_has*.py",
            "later/test_acting.py",
        ),
    ),
    "effects": Area(
        ("effects/*.py",),
        (
            "effects/**/test_*.py",
            "tools/**/test_*dispatch.py",
            "tools/dispatch/test_*.py",
            "offline/dispatcher/test_dispatcher.py",
            "approvals/guard/test_*.py",
            "approvals/**/test_policy.py",
            "approvals/policy/test_*.py",
            "behaviour/test_what_has*.py",
            "home/name_index/test_items_of_lists.py",
        ),
    ),
    "history": Area(("history/store/*.py",), ("history/store/**/test_*.py",)),
    "wire": Area(
        ("agent/wire/*.py",),
        ("agent/wire/**/test_*.py", "agent/providers/**/test_*.py"),
    ),
    "repair": Area(
        ("agent/repair/*.py", "agent/joined_tools.py", "tools/repair/*.py"),
        (
            "agent/repair/**/test_*.py",
            "agent/test_joined_tools.py",
            "agent/loop/calls/test_*.py",
            "tools/**/test_*.py",
            "behaviour/recorded_runs/test_*.py",
        ),
    ),
    "sentences": Area(
        ("nlu/*.py", "offline/*.py"),
        ("nlu/**/test_*.py", "offline/**/test_*.py", "effects/**/test_*.py"),
    ),
    "later": Area(
        ("later/*.py",), ("later/**/test_*.py", "behaviour/test_missed_plans.py")
    ),
    "turns": Area(("turns/*.py",), ("turns/**/test_*.py", "test_conversation.py")),
}

_COMPARISONS: Final[dict[type[ast.cmpop], type[ast.cmpop]]] = {
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}


@dataclass(frozen=True, slots=True)
class Mutant:
    """A module with one change."""

    area: Area
    path: Path
    """Of the module, in the repository."""
    line: int
    original: str
    source: str
    """Of the changed module."""

    @property
    def diff(self) -> str:
        """The change."""
        before, after = (
            text.splitlines(keepends=True) for text in (self.original, self.source)
        )
        return "".join(
            difflib.unified_diff(before, after, str(self.path), "mutant", "", "", 2)
        )

    def tests(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return the test files of the module's own name, and the other files of its area."""
        found = (
            path
            for pattern in self.area.tests
            for path in sorted((_REPOSITORY / "tests").glob(pattern))
        )
        files = [*dict.fromkeys(path.relative_to(_REPOSITORY) for path in found)]
        stem = self.path.stem
        own = [
            path
            for path in files
            if path.match(f"test_{stem}*.py") or path.parent.name == stem
        ]
        return tuple(map(str, own)), tuple(
            str(path) for path in files if path not in own
        )


def _replacements(node: ast.AST) -> Iterator[ast.AST]:
    """Yield what may stand in the place of a node."""
    match node:
        case ast.Compare(left=left, ops=[operator, *more], comparators=others) if (
            type(operator) in _COMPARISONS
        ):
            yield ast.Compare(left, [_COMPARISONS[type(operator)](), *more], others)
        case ast.BoolOp(op=operator, values=values):
            yield ast.BoolOp(
                ast.Or() if isinstance(operator, ast.And) else ast.And(), values
            )
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield operand
        case ast.IfExp(test=test, body=body, orelse=other):
            yield ast.IfExp(test, other, body)
        case ast.Constant(value=bool(value)):
            yield ast.Constant(not value)
        case ast.Constant(value=int(value)):
            yield ast.Constant(value + 1)
        case ast.Return(value=ast.expr() as value) if not isinstance(
            value, ast.Constant
        ):
            yield ast.Return(ast.Constant(None))
        case ast.Expr(value=ast.Call() | ast.Await()) | ast.AugAssign():
            yield ast.Pass()
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            yield ast.BinOp(left, ast.Sub(), right)
        case _:
            pass


def _is_out_of_scope(node: ast.AST) -> bool:
    """Return whether no test has to notice a change in a node: logs, annotations, texts of errors, type checks."""
    match node:
        case ast.Expr(
            value=ast.Call(func=ast.Attribute(value=ast.Name(id="LOGGER" | "_LOGGER")))
        ):
            return True
        case (
            ast.If(test=ast.Name(id="TYPE_CHECKING"))
            | ast.AnnAssign()
            | ast.Raise()
            | ast.Assert()
        ):
            return True
        case (
            ast.Call(func=ast.Name(id=name))
            | ast.Expr(value=ast.Call(func=ast.Name(id=name)))
        ):
            return name in {"assert_never", "dataclass", "field"}
        case _:
            return False


def _nodes(node: ast.AST) -> Iterator[ast.expr | ast.stmt]:
    """Yield the statements and expressions in the bodies of functions."""
    for child in ast.iter_child_nodes(node):
        if _is_out_of_scope(child):
            continue
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
            for statement in child.body:
                if not _is_out_of_scope(statement):
                    yield from _below(statement)
        else:
            yield from _nodes(child)


def _below(node: ast.AST) -> Iterator[ast.expr | ast.stmt]:
    if isinstance(node, ast.expr | ast.stmt):
        yield node
    for child in ast.iter_child_nodes(node):
        if not _is_out_of_scope(child):
            yield from _below(child)


def mutants(area: Area, path: Path, source: str) -> Iterator[Mutant]:
    """Yield every mutant of a module; what stands over several lines is left alone."""
    lines = source.splitlines(keepends=True)
    for node in _nodes(ast.parse(source)):
        if node.lineno != node.end_lineno or node.end_col_offset is None:
            continue
        for new in _replacements(node):
            line = lines[node.lineno - 1].encode()
            text = ast.unparse(ast.fix_missing_locations(new))
            if isinstance(node, ast.expr):
                text = f"({text})"
            changed = (
                line[: node.col_offset] + text.encode() + line[node.end_col_offset :]
            )
            after = [*lines[: node.lineno - 1], changed.decode(), *lines[node.lineno :]]
            yield Mutant(area, path, node.lineno, source, "".join(after))


def picked(names: Sequence[str], number: int, seed: int) -> list[Mutant]:
    """Return a mutant each of that many lines, as many of each area as of the others."""
    chance = random.Random(seed)  # noqa: S311  # picks lines, no secrets
    chosen: list[Mutant] = []
    for position, name in enumerate(names):
        area = AREAS[name]
        by_line: dict[tuple[Path, int], list[Mutant]] = {}
        for path in sorted(
            {
                path
                for pattern in area.modules
                for path in (_REPOSITORY / _PRODUCT).glob(pattern)
            }
        ):
            relative = path.relative_to(_REPOSITORY)
            for mutant in mutants(area, relative, path.read_text()):
                by_line.setdefault((relative, mutant.line), []).append(mutant)
        share = number // len(names) + (position < number % len(names))
        chosen += [
            chance.choice(by_line[line])
            for line in chance.sample([*by_line], min(share, len(by_line)))
        ]
    return chosen


def copy_to(folder: Path) -> None:
    """Copy the working tree: what git knows or would take."""
    listed = subprocess.run(
        ("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"),  # noqa: S607  # the git of the developer
        cwd=_REPOSITORY,
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    for name in filter(None, listed.split("\0")):
        if (source := _REPOSITORY / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, folder / name)


async def complaints(folder: Path, tests: Sequence[str], seconds: float) -> str:
    """Run tests in a copy; return nothing when all pass in time, or else what is told of the first that does not."""
    process = await asyncio.create_subprocess_exec(
        *(
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-x",
            "-n",
            "0",
            "--show-capture=no",
            "-p",
            "no:cacheprovider",
        ),
        *(f"--timeout={_TEST_TIME}", "-o", "timeout_func_only=true", *tests),
        cwd=folder,
        env={**os.environ, "PYTHONPATH": ""},
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        start_new_session=True,
    )
    try:
        async with asyncio.timeout(seconds):
            message, _ = await process.communicate()
        return message.decode() if process.returncode else ""
    except TimeoutError:
        return f"not done after {seconds:g} seconds"
    finally:
        if process.returncode is None:
            os.killpg(process.pid, signal.SIGKILL)  # with what the tests have started
            await process.wait()


class UnchangedTestsFail(Exception):
    """Tests do not pass without a mutant."""


@dataclass(slots=True)
class Run:
    """The mutants that are left to try, and those that no test noticed."""

    waiting: list[Mutant]
    tell: Callable[[str], object]
    survivors: list[Mutant] = field(default_factory=list)
    seconds: dict[tuple[str, ...], float] = field(default_factory=dict)
    """How long tests took without a mutant."""

    async def work(self, folder: Path) -> None:
        """Try one mutant after the other in a copy."""
        while self.waiting:
            mutant = self.waiting.pop()
            began = time.perf_counter()
            is_caught = await self.is_caught(mutant, folder)
            if not is_caught:
                self.survivors.append(mutant)
            took = f"{time.perf_counter() - began:.0f} s"
            self.tell(
                f"{'caught  ' if is_caught else 'SURVIVED'} {mutant.path}:{mutant.line} ({took})\n"
            )

    async def is_caught(self, mutant: Mutant, folder: Path) -> bool:
        """Return whether a test notices a mutant: first one of its module's own, then one of its area."""
        path = folder / mutant.path
        source = path.read_text()
        for tests in filter(None, mutant.tests()):
            seconds = self.seconds.get(tests) or await self._time(folder, tests)
            path.write_text(mutant.source)
            message = await complaints(folder, tests, 3 * seconds + _TEST_TIME)
            path.write_text(source)
            for compiled in path.parent.glob(f"__pycache__/{path.stem}.*.pyc"):
                compiled.unlink()  # Python looks at whole seconds, and at the size
            if message:
                return True
        return False

    async def _time(self, folder: Path, tests: tuple[str, ...]) -> float:
        began = time.perf_counter()
        if message := await complaints(folder, tests, _TIME):
            raise UnchangedTestsFail(message)
        return self.seconds.setdefault(tests, time.perf_counter() - began)


async def try_all(
    chosen: Sequence[Mutant], tell: Callable[[str], object]
) -> list[Mutant]:
    """Try mutants, some at a time; return those that no test noticed."""
    run = Run([*reversed(chosen)], tell)
    with tempfile.TemporaryDirectory(prefix="mutations-") as base:
        folders = [Path(base, str(number)) for number in range(_AT_ONCE)]
        for folder in folders:
            await asyncio.to_thread(copy_to, folder)
        async with asyncio.TaskGroup() as workers:
            for folder in folders:
                workers.create_task(run.work(folder))
    return run.survivors


def main() -> int:
    """Read the command line, try the mutants, and judge."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.mutations", description=__doc__
    )
    parser.add_argument(
        "--number", type=int, default=_NUMBER, help="of mutants (default: %(default)s)"
    )
    parser.add_argument(
        "--seed", type=int, default=1, help="which lines (default: %(default)s)"
    )
    parser.add_argument(
        "--area", choices=AREAS, help="of the lines (default: all of them)"
    )
    parser.add_argument("--list", action="store_true", help="only print the mutants")
    arguments = parser.parse_args()
    chosen = picked(
        [arguments.area] if arguments.area else [*AREAS],
        arguments.number,
        arguments.seed,
    )
    if arguments.list:
        sys.stdout.writelines(f"{mutant.diff}\n\n" for mutant in chosen)
        return 0
    try:
        survivors = asyncio.run(try_all(chosen, sys.stdout.write))
    except* UnchangedTestsFail as failed:
        sys.exit(
            f"The tests have to pass without a change first.\n{failed.exceptions[0]}"
        )
    sys.stdout.writelines(
        f"\nNo test noticed:\n{mutant.diff}\n" for mutant in survivors
    )
    sys.stdout.write(
        f"\n{len(chosen) - len(survivors)} of {len(chosen)} mutants were caught\n"
    )
    return int(len(chosen) - len(survivors) < _ENOUGH * len(chosen))


if __name__ == "__main__":
    sys.exit(main())
