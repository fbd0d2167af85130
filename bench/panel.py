"""How quick the page of the side bar is with 10,000 turns, in a real browser on a real Home Assistant.

Run it with `python -m bench.panel`, on a machine that does nothing else. It prints
milliseconds, the median and the longest of several:

- opening: from a click on the tab until the first turns can be read;
- filtering: from a letter in the search until the turns that match can be read, the
  pause for typing included;
- scrolling: between two pictures, while the list is moved by a screen at each of them;
- the far end: from the first turn to the last one, with all that is between.

`--check` ends with status 1 when opening takes longer than a second, or filtering
longer than 300 ms.
"""

import argparse
import asyncio
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import Final

from playwright.async_api import Page, async_playwright

from bench.history_store import opened
from bench.household import Household
from demo.configuration import Configuration, write_configuration
from demo.home import set_up_home
from demo.home_assistant import free_port, running_home_assistant
from demo.owner import Owner, create_owner
from demo.show import show_entries
from demo.web_api import HomeAssistantClient

OPENING: Final = 1_000.0
FILTERING: Final = 300.0
"""Milliseconds that are allowed."""

_BROWSER: Final = Path(__file__).resolve().parents[1] / "script" / "browser"
_TURNS: Final = 10_000
_EVERY: Final = 240.0
"""Seconds between two turns, so that all are kept."""
_REPETITIONS: Final = 7
_AGENT: Final = "01K0DEMO0SHOW0BUTLER000000"
_NO_SERVER: Final = "http://127.0.0.1:9/"
_GO: Final = "path => { history.pushState(null, '', path); dispatchEvent(new CustomEvent('location-changed')); }"
_SCROLL: Final = """async view => {
  const list = view.renderRoot.querySelector(".scroller"), times = [];
  for (let at = 1, last = performance.now(); at <= 120; at++) {
    list.scrollTop = at * list.clientHeight;
    await new Promise(requestAnimationFrame);
    times.push(performance.now() - last);
    last = performance.now();
  }
  return times;
}"""
_CHANGED: Final = """(shown, before) => new Promise((done) => {
  const look = () => (shown.innerText && shown.innerText !== before ? done() : requestAnimationFrame(look));
  look();
})"""
_END: Final = "view => { view.renderRoot.querySelector('.scroller').scrollTop = 1e9; }"


async def fill(folder: Path) -> None:
    """Store the turns of a household, which end now."""
    store, household, now = opened(folder / "chatterbox.db"), Household(), time.time()
    for begin in range(0, _TURNS, 500):
        turns = [household.turn(number) for number in range(begin, begin + 500)]
        answers = [
            store.record(
                replace(
                    turn,
                    began_at=now - (_TURNS - begin - place) * _EVERY,
                    origin=replace(turn.origin, agent=_AGENT),
                    timings={},
                )
            )
            for place, turn in enumerate(turns)
        ]
        if not all([await answer.stored() for answer in answers]):
            raise RuntimeError("a turn was not stored")
    await store.close(60)


async def measure(page: Page) -> dict[str, Sequence[float]]:
    """Return milliseconds, by what was done."""
    panel = page.locator("chatterbox-panel")
    await page.evaluate(_GO, "/chatterbox/now")
    await panel.locator("nav").wait_for()
    opening, filtering = list[float](), list[float]()
    for number in range(_REPETITIONS):
        began = time.perf_counter()
        await page.evaluate(_GO, "/chatterbox/turns")
        await panel.locator("[role=listitem]").first.wait_for()
        opening.append(1_000 * (time.perf_counter() - began))
        count = panel.get_by_role("status").first
        before = await count.inner_text()
        began = time.perf_counter()
        await panel.get_by_role("searchbox").fill(
            ("the house", "noon", "light", "Schlafzimmer")[number % 4]
        )
        await count.evaluate(_CHANGED, before)
        filtering.append(1_000 * (time.perf_counter() - began))
        await page.evaluate(_GO, "/chatterbox/now")
        await panel.locator("chatterbox-now").wait_for()
    await page.evaluate(_GO, "/chatterbox/turns")
    await panel.locator("[role=listitem]").first.wait_for()
    view = panel.locator("chatterbox-turns")
    scrolling: list[float] = await view.evaluate(_SCROLL)
    began = time.perf_counter()
    await view.evaluate(_END)
    await panel.locator(f"[aria-posinset='{_TURNS}']").wait_for()
    far_end = [1_000 * (time.perf_counter() - began)]
    return {
        "opening": opening,
        "filtering": filtering,
        "scrolling": scrolling,
        "the far end": far_end,
    }


async def run(chromium: str) -> dict[str, Sequence[float]]:
    """Fill a home, start it, and measure its page."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as temporary:
        folder, port = Path(temporary), free_port()
        write_configuration(
            folder, Configuration(port=port, entries=show_entries(_NO_SERVER))
        )
        await fill(folder)
        async with running_home_assistant(
            folder, port, folder / "log"
        ) as home_assistant:
            url = home_assistant.url
            async with HomeAssistantClient.connected(
                url, await create_owner(url, Owner())
            ) as client:
                await set_up_home(client)
            async with async_playwright() as playwright:
                browser = await playwright.chromium.launch(
                    executable_path=chromium, args=["--headless", "--no-sandbox"]
                )
                page = await browser.new_page(viewport={"width": 1_200, "height": 800})
                await page.goto(url)
                await page.get_by_text("Welcome").first.wait_for()
                measured = await measure(page)
                await browser.close()
    return measured


def main() -> None:
    """Measure, and print what was measured."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--check",
        action="store_true",
        help="end with status 1 when it takes longer than is allowed",
    )
    options = parser.parse_args()
    found = subprocess.run([_BROWSER], check=True, stdout=subprocess.PIPE, text=True)  # noqa: S603  # of this repository
    measured = asyncio.run(run(found.stdout.strip()))
    for name, values in measured.items():
        sys.stdout.write(
            f"{name}: {median(values):.0f} ms, at most {max(values):.0f} ms\n"
        )
    if options.check and (
        median(measured["opening"]) > OPENING
        or median(measured["filtering"]) > FILTERING
    ):
        sys.exit(1)


if __name__ == "__main__":
    main()
