"""What is said around a question, in every language."""

import string
from collections.abc import Mapping

import pytest
from homeassistant.core import HomeAssistant

from custom_components.chatterbox.approvals.questions import QuestionState
from custom_components.chatterbox.approvals.wording import ApprovalSentences
from custom_components.chatterbox.speech.sentences import async_get_sentences
from tests.repository.test_translations import LANGUAGES


def all_of(said: ApprovalSentences) -> Mapping[str, str]:
    """Return every sentence, by what it is for."""
    return {
        "declined": said.declined,
        "dropped": said.dropped,
        "expired": said.expired,
        "asked again": said.asked_again,
        "nobody": said.nobody_to_ask,
        "rules": said.not_allowed,
        "rights": said.not_permitted,
        "PIN missing": said.pin_missing,
        "PIN not set": said.pin_not_set,
        "PIN unclear": said.pin_unclear,
        **{f"PIN wrong, {left} left": said.pin_wrong(left) for left in (1, 2, 4)},
        **{f"PIN locked, {seconds} s left": said.pin_locked(seconds) for seconds in (3.0, 91.0, 600.0)},
        "title": said.title,
        "yes": said.yes,
        "no": said.no,
        **{state: said.outcome(state) for state in QuestionState if said.outcome(state)},
    }


async def test_every_sentence_is_there_in_every_language_and_is_another_one(hass: HomeAssistant) -> None:
    for language in LANGUAGES:
        sentences = all_of(ApprovalSentences(await async_get_sentences(hass, language)))
        assert len(set(sentences.values())) == len(sentences), language
        for purpose, text in sentences.items():
            assert [part for _, *part in string.Formatter().parse(text) if part[0]] == [], (language, purpose)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(20.0, "in a minute"), (89.0, "in a minute"), (100.0, "in 2 minutes"), (600.0, "in 10 minutes")],
)
async def test_a_wait_is_said_in_minutes(hass: HomeAssistant, seconds: float, text: str) -> None:
    said = ApprovalSentences(await async_get_sentences(hass, "en"))

    assert said.pin_locked(seconds).endswith(f"{text}.")


async def test_tries_are_counted(hass: HomeAssistant) -> None:
    said = ApprovalSentences(await async_get_sentences(hass, "en"))

    assert "2 attempts" in said.pin_wrong(2)
    assert "one attempt" in said.pin_wrong(1)


async def test_what_became_of_a_question_is_told_once_something_did(hass: HomeAssistant) -> None:
    said = ApprovalSentences(await async_get_sentences(hass, "en"))

    silent = {state for state in QuestionState if not said.outcome(state)}

    assert silent == {QuestionState.WAITING, QuestionState.CONCLUDED}
