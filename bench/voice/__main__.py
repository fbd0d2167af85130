"""Prints what is heard of an answer as it is written, and as it is spoken on satellites; run by `script/voice`."""

import argparse
import json
import os
import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

from custom_components.chatterbox.speech.text import speakable

WRITTEN: Final = (
    "The wind is 5 km/h.",
    "There are 12 µg/m³ of dust.",
    "Take 3/4 of a cup.",
    "The score was 3:2.",
    "Turn the A/C on.",
    "It costs €12.50.",
    "It takes approx. 5 min. on foot.",
    "Your appt. is at noon.",
    "See vol. 3 of the book.",
    "I called light.turn_on for you.",
    "The lamp uses 80 W.",
)
_REPOSITORY: Final = Path(__file__).parents[2]


def heard(texts: Sequence[str]) -> list[str]:
    """Return what is heard of each text, on one processor."""
    result = subprocess.run(  # noqa: S603  # a file of ours
        [
            _REPOSITORY / ".venv-voice" / "bin" / "python",
            Path(__file__).with_name("engines.py"),
        ],
        input="".join(json.dumps(text) + "\n" for text in texts),
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )
    return [json.loads(line) for line in result.stdout.splitlines()]


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table of the page."""
    return "".join(
        f"| {' | '.join(row)} |\n" for row in (head, ["---"] * len(head), *rows)
    )


def words(text: str) -> list[str]:
    """Return the words of a text, without capitals and punctuation."""
    return re.findall(r"[\w']+", text.casefold())


def notations() -> str:
    """Return the table on what is written out."""
    spoken = [speakable(text, "en") for text in WRITTEN]
    found = heard([*WRITTEN, *spoken])
    rows = zip(WRITTEN, found[: len(WRITTEN)], found[len(WRITTEN) :], strict=True)
    return table(
        ["the model writes", "heard of that", "heard of what a satellite speaks"], rows
    )


def corpus(path: Path, most: int) -> str:
    """Return how many English texts of a file are heard word for word, by their kind."""
    texts: defaultdict[str, dict[str, None]] = defaultdict(dict)
    for line in path.read_text("utf-8").splitlines():
        entry = json.loads(line)
        if entry["lang"] == "en" and entry["text"]:
            texts[entry["kind"]][entry["text"]] = None
    rows: list[list[str]] = []
    for kind, of_kind in texts.items():
        texts_of_kind = list(of_kind)[:most]
        right = sum(
            words(text) == words(again)
            for text, again in zip(texts_of_kind, heard(texts_of_kind), strict=True)
        )
        rows.append([kind, str(len(texts_of_kind)), str(right)])
    return table(["kind", "texts", "heard word for word"], rows)


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--corpus", type=Path, help="JSON lines with `kind`, `lang` and `text`"
    )
    parser.add_argument(
        "--most", type=int, default=1_000, help="texts of each kind, at most"
    )
    arguments = parser.parse_args()
    sys.stdout.write(notations())
    if arguments.corpus:
        sys.stdout.write("\n" + corpus(arguments.corpus, arguments.most))


if __name__ == "__main__":
    main()
