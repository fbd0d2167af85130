"""How often the entity that somebody means is among those that a model is told of, and what it takes to find them.

Run it with `python -m bench.entity_ranking`. For each language with a home of 2,000
entities and sentences that are said in it (`tests/support/spoken_homes`), it prints the
number of entities and of sentences, for which part the entity that is meant comes among
the first 40, 10 and 1, and the milliseconds of processor time: to make the index, which
is kept until the home changes, and to find what one sentence may mean, when it is said
for the first time, and later. `-v` names the sentences that are not understood.
"""

import tests.support.early_plugin  # noqa: F401  # isort: skip  # before what it is for

import argparse
import asyncio
import time
from statistics import median
from typing import Final

from homeassistant.core import HomeAssistant
from homeassistant.helpers import frame
from pytest_homeassistant_custom_component.common import async_test_home_assistant

from custom_components.chatterbox.home.entity_index import EntityIndex
from custom_components.chatterbox.home.search import async_kind_names
from tests.support.spoken_homes.spoken_home import LANGUAGES, SpokenHome

_PLACES: Final = (40, 10, 1)
_ROW: Final = "{:10}{:>8}{:>11}{:>8}{:>8}{:>8}{:>10}{:>10}{:>10}"


async def _measure(hass: HomeAssistant, language: str, *, is_verbose: bool) -> None:
    spoken = SpokenHome.read(language)
    words = await async_kind_names(hass, (language,), spoken.kinds.values())
    began = time.process_time()
    index = EntityIndex(
        spoken.home,
        {entity_id: words[kind] for entity_id, kind in spoken.kinds.items()},
    )
    built = time.process_time() - began
    places: list[int] = []
    times: tuple[list[float], list[float]] = ([], [])
    for spent in times:
        for saying in spoken.sayings:
            began = time.process_time()
            found = index.find(saying.query, max(_PLACES))
            spent.append(time.process_time() - began)
            ids = [entity.entity_id for entity in found]
            place = (
                ids.index(saying.means) + 1 if saying.means in ids else max(_PLACES) + 1
            )
            places.append(place)
            if is_verbose and place > max(_PLACES):
                print(  # noqa: T201
                    "   ", saying.query.words, [entity.names[0] for entity in found][:8]
                )
    shares = [
        f"{sum(place <= most for place in places) / len(places):.1%}"
        for most in _PLACES
    ]
    numbers = [f"{1000 * one:.2f}" for one in (built, *map(median, times))]
    print(  # noqa: T201
        _ROW.format(
            language, len(spoken.home.entities), len(spoken.sayings), *shares, *numbers
        )
    )


async def _main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("-v", "--verbose", action="store_true")
    is_verbose = parser.parse_args().verbose
    async with async_test_home_assistant() as hass:
        frame.async_setup(hass)
        heads = (
            "language",
            "entities",
            "sentences",
            *(f"in {most}" for most in _PLACES),
            "index",
            "first",
            "later",
        )
        print(_ROW.format(*heads))  # noqa: T201
        for language in LANGUAGES:
            await _measure(hass, language, is_verbose=is_verbose)
        await hass.async_stop(force=True)


if __name__ == "__main__":
    asyncio.run(_main())
