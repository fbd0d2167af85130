"""The time that reading a sentence takes in homes of two sizes, for each language.

Run it with `python -m bench.sentence_reading`: for homes of 300 and 2,000 entities it
prints the milliseconds of processor time to index the names, which is done once until
the home changes, and those to understand a sentence: the median of all sentences in
`tests/nlu/sentences`, and the slowest of a hundred. Ends with status 1 when a median is
above what is allowed. Languages without a home of that size are read in the English one.
"""

import argparse
import sys
import time
import tomllib
from collections.abc import Sequence
from pathlib import Path
from statistics import median, quantiles
from typing import Final

from custom_components.chatterbox.nlu.lexicon import Lexicon, lexicon
from custom_components.chatterbox.nlu.requests import Surroundings
from custom_components.chatterbox.nlu.understanding import understand
from custom_components.chatterbox.nlu.vocabulary import (
    HomeVocabulary,
    KnownEntity,
    NamedPlace,
)
from tests.support.spoken_homes.spoken_home import LANGUAGES, SpokenHome

ALLOWED: Final = {300: 2.0, 2_000: 4.0}
"""Milliseconds of the median sentence, by the entities of the home."""
_SENTENCES: Final = Path(__file__).parents[1] / "tests" / "nlu" / "sentences"
_ROW: Final = "{:10}{:>10}{:>11}{:>12}{:>10}{:>12}"
_PERCENT: Final = 100


def sentences_in(language: str) -> list[str]:
    """Return all sentences that are tested in a language."""
    tables = tomllib.loads((_SENTENCES / f"{language}.toml").read_text("utf-8"))
    found: list[str] = []
    for table in tables.values():
        for listed in table.values() if isinstance(table, dict) else [table]:
            found += listed
    return found


def names_of(language: str, entities: int, words: Lexicon) -> HomeVocabulary:
    """Return the names of a home of so many entities."""
    spoken = SpokenHome.read(language if language in LANGUAGES else "en")
    home = spoken.home
    known = tuple(
        KnownEntity(
            one.entity_id,
            one.domain,
            one.names,
            spoken.kinds[one.entity_id][1],
            one.area_id,
        )
        for one in home.entities[:: max(1, len(home.entities) // entities)]
        if one.names
    )[:entities]
    areas = {entity.area_id for entity in known}
    rooms = tuple(
        NamedPlace((room.name, *room.aliases), frozenset({room.area_id}))
        for room in home.rooms
        if room.area_id in areas
    )
    return HomeVocabulary(known, rooms, words)


def milliseconds(
    sentences: Sequence[str], names: HomeVocabulary
) -> tuple[float, list[float]]:
    """Return the time to index the names, and the times to understand each sentence."""
    began = time.process_time()
    understand("", names, Surroundings())
    next(names.found(["-"], 0), None)
    indexed = time.process_time() - began
    taken: list[float] = []
    for sentence in sentences:
        began = time.process_time()
        understand(sentence, names, Surroundings())
        taken.append((time.process_time() - began) * 1_000)
    return indexed * 1_000, taken


def main() -> int:
    """Print a line for each language and size; return 1 if a median is above what is allowed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--language", help="only this one")
    only: str | None = parser.parse_args().language
    heads = ("language", "entities", "sentences", "index, ms", "median", "slowest 1 %")
    sys.stdout.write(f"{_ROW.format(*heads)}\n")
    is_quick = True
    for language in sorted(file.stem for file in _SENTENCES.glob("*.toml")):
        words = lexicon(language)
        if words is None or only not in {None, language}:
            continue
        sentences = sentences_in(language)
        for entities, allowed in ALLOWED.items():
            names = names_of(language, entities, words)
            indexed, taken = milliseconds(sentences, names)
            slowest = quantiles(taken, n=_PERCENT)[-1]
            numbers = (f"{one:.2f}" for one in (indexed, median(taken), slowest))
            row = _ROW.format(language, len(names.entities), len(sentences), *numbers)
            sys.stdout.write(f"{row}\n")
            is_quick &= median(taken) <= allowed
    return 0 if is_quick else 1


if __name__ == "__main__":
    sys.exit(main())
