"""The costs of a month with models of internet services, from their built-in prices.

Run it with `python -m bench.month`: it writes the table in docs/costs.md. Counted are
sentences that need a model, each with two requests: the second finds the prompt of the
first in the cache of the service.
"""

import re
from typing import Final

from custom_components.chatterbox.agent.providers.profiles import PROFILES
from custom_components.chatterbox.usage.prices import read_known_models
from tests.support.page_tables import DOCS, MEASURED, table, write_table

PAGE: Final = DOCS / "costs.md"
_MODELS: Final = (
    ("openai", "gpt-5-mini"),
    ("anthropic", "claude-haiku-4-5"),
    ("gemini", "gemini-3.7-flash"),
    ("mistral", "mistral-small-latest"),
    ("deepseek", "deepseek-chat"),
    ("groq", "openai/gpt-oss-120b"),
)
_SENTENCES: Final = 20 * 30
_WRITTEN: Final = 120
"""Tokens of a call and of an answer."""
_HOMES: Final = {
    "50 entities": "home of `script/demo`",
    "400 entities": "eight such homes, each with names of its own",
}


def prompt_of(home: str) -> int:
    """Return the tokens of the first request in a home, as `script/first_word` has counted them."""
    page = (MEASURED / "performance.md").read_text("utf-8")
    found = re.search(
        rf"^\| {re.escape(home)}: tokens.*\n.*\n\| first turn after a start \| \d+ \| (\d+) \|",
        page,
        re.MULTILINE,
    )
    if found is None:
        raise ValueError(f"no tokens of {home}")
    return int(found[1])


def month_of(server: str, model: str, prompt: int) -> float:
    """Return the US dollars of a month."""
    known = read_known_models().find(PROFILES[server].base_url, model)
    rates = known and known.usual
    if not rates:
        raise ValueError(f"no price of {model}")
    sentence = prompt * (rates.input + rates.cached) + _WRITTEN * rates.output
    return _SENTENCES * sentence / 1_000_000


def month_table() -> str:
    """Return the table of the page."""
    rows = [
        [
            f"{PROFILES[server].name}, `{model}`",
            *(
                f"{month_of(server, model, prompt_of(home)):.2f} USD"
                for home in _HOMES.values()
            ),
        ]
        for server, model in _MODELS
    ]
    return table(["20 sentences a day for a month", *_HOMES], rows)


if __name__ == "__main__":
    write_table("bench.month", PAGE, month_table)
