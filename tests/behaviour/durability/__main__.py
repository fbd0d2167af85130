"""Kills a real Home Assistant in the middle of turns: `python -m tests.behaviour.durability --kills 100`.

Ends with status 1 when anything that a person was answered is lost, or anything else
does not hold.
"""

import argparse
import asyncio
import sys
import tempfile
from pathlib import Path

from tests.behaviour.durability.killing import Findings, kill_often


def _tell(found: Findings) -> None:
    talk = found.talk
    sys.stderr.write(
        f"\r{found.kills} kills, {len(talk.answered)} answered, {len(found.lost)} lost "
    )
    sys.stderr.flush()


def main() -> int:
    """Kill, and print."""
    parser = argparse.ArgumentParser(
        description="Kills Home Assistant in the middle of turns."
    )
    parser.add_argument("--kills", type=int, default=100, help="default: %(default)s")
    parser.add_argument(
        "--seed", type=int, default=1, help="of the moments (default: %(default)s)"
    )
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(
        prefix="chatterbox-durability-", ignore_cleanup_errors=True
    ) as folder:
        found = asyncio.run(
            kill_often(Path(folder), options.kills, options.seed, _tell)
        )
    talk = found.talk
    sys.stdout.write(
        f"\n{found.kills} kills: {len(talk.sentences)} sentences,"
        f" {len(talk.answered)} answered, {found.cut_off} cut off, "
        f"{len(talk.failed)} failed; {found.stored} stored\n"
        f"answered and lost: {len(found.lost)}; stored twice: {len(found.doubled)}; damaged files: "
        f"{len(found.damaged)}\n"
        f"{found.requests} requests to the model, up to {found.longest} turns long, "
        f"{found.orphans} with a call without its result\n"
    )
    sys.stdout.writelines(
        f"{line}\n" for line in (*found.damaged, *found.lost, *talk.failed)
    )
    return 0 if found.all_hold else 1


if __name__ == "__main__":
    sys.exit(main())
