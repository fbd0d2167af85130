"""`script/confirmations`: measures how well a yes is understood, prints the table and writes its page."""

import argparse
import sys

from .measurement import measure
from .page import PAGE, page, table


def main() -> int:
    """Read the command line and measure; return the exit code."""
    parser = argparse.ArgumentParser(
        prog="script/confirmations", description="Measure how well a spoken yes is understood."
    )
    parser.add_argument("--dry-run", action="store_true", help=f"print the table, but do not write {PAGE.name}")
    arguments = parser.parse_args()
    measurements = measure()
    sys.stdout.write(table(measurements))
    if not arguments.dry_run:
        PAGE.write_text(page(measurements), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
