"""Nothing wrong is done after what was misheard, no answer is lost, and most requests are done or offered."""

from collections.abc import Awaitable, Callable

import pytest
from homeassistant.core import HomeAssistant

from tests.behaviour.heard.counting import (
    LANGUAGES,
    PAGE,
    AnswerCount,
    answers_table,
    count_answers_with_a_model,
    count_answers_without_a_model,
    count_requests,
    requests_table,
)
from tests.support.thorough import some

pytestmark = [pytest.mark.usefixtures("socket_enabled", "hass_storage")]

type CountAnswers = Callable[[HomeAssistant, str, int], Awaitable[AnswerCount]]

SHARE = 5
"""Of how many words the quick run says one; the page has all of them."""
LEAST = {"en": 90, "de": 40}
"""Percent of the requests with at most one wrong word that are done or offered."""


def last_row(table: str) -> str:
    return table.splitlines()[-1]


@pytest.mark.parametrize("language", some(LANGUAGES, ["en"]))
async def test_requests_are_done_or_offered_and_nothing_else(
    hass: HomeAssistant, pytestconfig: pytest.Config, language: str
) -> None:
    is_thorough = pytestconfig.option.thorough
    count = await count_requests(hass, language, 1 if is_thorough else SHARE)

    assert count.wrong == 0
    assert 100 * count.near_right >= LEAST[language] * count.near, count.missed
    assert 100 * count.right >= 40 * count.requests, count.missed
    assert not is_thorough or last_row(requests_table([count])) in PAGE.read_text(
        encoding="utf-8"
    ), f"run script/heard: {count.missed}"


@pytest.mark.parametrize("language", some(LANGUAGES, ["en"]))
@pytest.mark.parametrize(
    ("way", "count_answers"),
    [
        ("without a model", count_answers_without_a_model),
        ("with a model", count_answers_with_a_model),
    ],
    ids=["alone", "with a model"],
)
async def test_no_answer_is_lost_and_none_becomes_a_yes(
    hass: HomeAssistant,
    pytestconfig: pytest.Config,
    language: str,
    way: str,
    count_answers: CountAnswers,
) -> None:
    is_thorough = pytestconfig.option.thorough
    count = await count_answers(hass, language, 1 if is_thorough else SHARE)

    assert (count.lost, count.wrong_yes, count.lost_tries) == (0, 0, 0), count.missed
    row = last_row(answers_table({f"{language}, {way}": count}))
    assert not is_thorough or row in PAGE.read_text(encoding="utf-8"), (
        "run script/heard"
    )
