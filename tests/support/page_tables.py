"""Tables of pages that commands measure and write; the text around them is the page's own."""

import argparse
import re
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

DOCS = Path(__file__).resolve().parents[2] / "docs"
MEASURED = DOCS.parent / "bench" / "pages"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table as pages write it."""
    return "".join(
        f"| {' | '.join(row)} |\n" for row in (head, ["---"] * len(head), *rows)
    )


def with_table(page: str, written: str) -> str:
    """Return a page with a table in place of that with the same head; raise `ValueError` for a page without it."""
    head = written.partition("\n")[0]
    found, count = re.subn(
        rf"^{re.escape(head)}\n(?:\|.*\n)+", lambda _: written, page, flags=re.MULTILINE
    )
    if not count:
        raise ValueError(f"the page has no table with the head {head}")
    return found


def write_table(script: str, page: Path, measure: Callable[[], str]) -> None:
    """Read the command line of a script, print its table, and write it into its page unless that is not wanted."""
    parser = argparse.ArgumentParser(
        prog=script, description=f"Measure the table of {page.name}."
    )
    parser.add_argument(
        "--dry-run",
        action="store_true",
        help=f"print the table, but do not write {page.name}",
    )
    is_dry_run = parser.parse_args().dry_run
    written = measure()
    sys.stdout.write(written)
    if not is_dry_run:
        page.write_text(
            with_table(page.read_text(encoding="utf-8"), written), encoding="utf-8"
        )
