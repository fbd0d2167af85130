"""`script/heard`: counts what comes of recognized words, prints what was missed and the tables, and writes them."""

import tests.support.early_plugin  # isort: skip  # noqa: F401  # before what it mends

import logging
import sys
from functools import partial

from tests.behaviour.heard.counting import (
    LANGUAGES,
    PAGE,
    answers_table,
    count_answers_with_a_model,
    count_answers_without_a_model,
    count_requests,
    requests_table,
)
from tests.support.own_home import run_in_own_home
from tests.support.page_tables import write_table


def _requests() -> str:
    counts = [
        run_in_own_home(partial(count_requests, language=language))
        for language in LANGUAGES
    ]
    sys.stdout.writelines(f"{line}\n" for one in counts for line in one.missed)
    return requests_table(counts)


def _answers() -> str:
    ways = {
        "without a model": count_answers_without_a_model,
        "with a model": count_answers_with_a_model,
    }
    counts = {
        f"{language}, {way}": run_in_own_home(partial(count, language=language))
        for way, count in ways.items()
        for language in LANGUAGES
    }
    sys.stdout.writelines(
        f"{way}: {line}\n" for way, one in counts.items() for line in one.missed
    )
    return answers_table(counts)


if __name__ == "__main__":
    logging.disable(logging.ERROR)
    write_table("script/heard", PAGE, _requests)
    write_table("script/heard", PAGE, _answers)
