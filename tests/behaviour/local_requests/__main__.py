"""`script/local`: counts the requests that need no model, prints the tables and writes them into their page."""

import tests.support.early_plugin  # noqa: F401  # isort: skip  # before what it is for

import logging
from functools import partial

from tests.behaviour.local_requests.counting import (
    PAGE,
    count_local,
    count_offline,
    local_table,
    offline_table,
    try_locally,
)
from tests.behaviour.recorded_runs.runs import read_runs
from tests.support.assist_mini import read_homes
from tests.support.own_home import run_in_own_home
from tests.support.page_tables import write_table


def _local() -> str:
    runs = read_runs()
    return local_table(
        {
            home.name: count_local(
                run_in_own_home(partial(try_locally, home=home)), runs
            )
            for home in read_homes()
        }
    )


def _offline() -> str:
    return offline_table(
        {
            home.name: run_in_own_home(partial(count_offline, home=home))
            for home in read_homes()
        }
    )


if __name__ == "__main__":
    logging.disable(logging.WARNING)
    write_table("script/local", PAGE, _local)
    write_table("script/local", PAGE, _offline)
